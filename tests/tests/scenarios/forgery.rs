//! Datagrams that are late, repeated or forged, and the damage that they must not do to an honest pair
//! (rows T9 and P15 of `docs/deviations.md`).

use core::num::NonZero;
use core::time::Duration;

use porous_proto::{ChannelId, Config, Ignored, Integrity, Mode, Priority};
use porous_sim::rand_core::Rng;
use porous_sim::{LinkConfig, Pair, Seed};
use porous_tests::encoder::{Ack, Check, Message, Packet, Shape, Short};
use porous_tests::{Kind, Tape, nonce_peer, nonce_self, record, seed};

const A: u32 = Pair::A;
const B: u32 = Pair::B;
const SECOND: Duration = Duration::from_secs(1);
const NOOP: u8 = 0;

fn line() -> LinkConfig {
    LinkConfig::new().delay(Duration::from_millis(25))
}

/// One reliable packet each way in each of these periods, for a minute and a quarter. Meanwhile every
/// tenth datagram of A comes again, up to 60 s late, and some at any time. All packets arrive.
fn with_late_copies(seed: Seed, periods: [u64; 2], integrity: Integrity) {
    let config = || Config::new().integrity(integrity);
    let mut pair = Pair::new(seed, line(), config(), config());
    pair.connect_to_listener();
    let tape = record(&mut pair.world);
    let (mut chance, mut all) = (seed.stream("late", 0), Vec::new());
    let steps = 75_000_000 / periods[0];
    let (mut sent, mut got) = ([0_u32; 2], [0_u32; 2]);
    for step in 0..steps {
        for (index, host) in [A, B].into_iter().enumerate() {
            let is_due =
                step * periods[0] / periods[index] != (step + 1) * periods[0] / periods[index];
            if is_due {
                let packet = sent[index].to_le_bytes().to_vec();
                assert_eq!(pair.send(host, 0, Mode::Reliable, packet), Ok(()), "{seed}");
                sent[index] += 1;
            }
        }
        pair.world.run_for(Duration::from_micros(periods[0]));
        // Now and then all datagrams of four seconds ago come again; one byte of frame id cannot tell
        // them from new ones.
        let now = pair.world.now();
        if step % 200 == 0 {
            let age = |at| now.saturating_duration_since(at).as_millis();
            all = tape.of(A, Kind::Short);
            for old in all.iter().filter(|old| (3200..4300).contains(&age(old.at))) {
                pair.world.inject(A, B, old.datagram.clone());
            }
        }
        if let (0, Some(count)) = (chance.next_u32() % 10, NonZero::new(all.len() as u64)) {
            let old = &all[usize::try_from(chance.next_u64() % count).unwrap_or(0)];
            pair.world.inject(A, B, old.datagram.clone());
        }
        take(&mut pair, &mut got, seed);
    }
    for _ in 0..50 {
        pair.world.run_for(SECOND / 10);
        take(&mut pair, &mut got, seed);
    }
    assert_eq!([got[1], got[0]], sent, "{periods:?} {integrity:?} {seed}");
}

/// The packets that have arrived at A and B are the next ones in order.
fn take(pair: &mut Pair, got: &mut [u32; 2], seed: Seed) {
    for (index, host) in [A, B].into_iter().enumerate() {
        for packet in pair.receive_all(host) {
            assert_eq!(packet.payload, got[index].to_le_bytes()[..], "{seed}");
            got[index] += 1;
        }
    }
}

/// P15.
#[test]
fn what_is_late_or_repeated_makes_no_new_frame_look_old() {
    for (n, periods) in [
        [16_667, 40_000],
        [16_667, 33_333],
        [33_333, 16_667],
        [1_000_000, 1_000_000],
        [100_000, 16_667],
        [2_000, 50_000],
    ]
    .into_iter()
    .enumerate()
    {
        let seed = Seed::from_env(Seed::new(n as u64));
        with_late_copies(seed, periods, Integrity::Header);
    }
    with_late_copies(seed(), [16_667, 40_000], Integrity::Crc32c);
}

/// 600 frames of one direction are lost in a row. The first frame that comes through is not taken alone,
/// the second one is. T9.
#[test]
fn an_outage_of_many_frames_costs_one_more() {
    let mut pair = Pair::new(seed(), line(), Config::new(), Config::new());
    pair.connect_to_listener();
    let play = |pair: &mut Pair, steps: u32| {
        let mut got = 0;
        for _ in 0..steps {
            let sent = pair.send(A, 0, Mode::Unreliable, vec![7; 30]);
            assert_eq!(sent, Ok(()));
            assert_eq!(pair.send(B, 0, Mode::Unreliable, vec![7; 30]), Ok(()));
            pair.world.run_for(Duration::from_millis(5));
            got += pair.receive_all(B).len();
            pair.receive_all(A);
        }
        got
    };
    play(&mut pair, 100);
    pair.world.network_mut().set_link(A, B, line().down(true));
    assert!(play(&mut pair, 600) <= 5, "what was under way");
    pair.world.network_mut().set_link(A, B, line());
    // Five frames are under way at any time.
    assert!(play(&mut pair, 100) >= 93);
    let stats = pair.world.host(B).stats();
    assert_eq!(stats.ignored(Ignored::TooFarAhead), 1);
}

/// A stranger that knows the whole input of A's checks.
struct Forger {
    shape: Shape,
    connection_id: Vec<u8>,
}

impl Forger {
    fn new(tape: &Tape) -> Self {
        let ack = &tape.of(A, Kind::Acknowledge)[0].datagram;
        let nonce =
            |at: core::ops::Range<usize>| u64::from_le_bytes(ack[at].try_into().expect("8 bytes"));
        let theirs = &tape.of(B, Kind::Acknowledge)[0].datagram;
        assert_eq!(theirs[23], 4);
        Self {
            shape: Shape {
                id_bytes: 2,
                window: 4096,
                check: Some(Check {
                    is_crc: false,
                    nonces: [nonce(nonce_self()), nonce(nonce_peer())],
                }),
            },
            connection_id: theirs[24..28].to_vec(),
        }
    }

    /// A frame in A's name.
    fn frame(&self, id: u64, nonce: bool, ack: Option<Ack>, messages: Vec<Message>) -> Vec<u8> {
        let frame = Short {
            connection_id: self.connection_id.clone(),
            id,
            width: 4,
            nonce,
            ack_now: false,
            ack,
            messages,
        };
        frame.encode(&self.shape)
    }
}

fn noop() -> Message {
    Message::Control(vec![NOOP])
}

/// The newest frame id of A.
fn newest(tape: &Tape) -> u64 {
    let frames = tape.of(A, Kind::Short);
    let last = &frames[frames.len() - 1].datagram;
    assert_eq!(last[0] >> 4 & 3, 0, "one byte");
    last[5].into()
}

/// One forged frame passes, wherever it is near the newest: while the hosts talk, and while they are
/// silent. Both directions go on, and what is reliable arrives. P15.
#[test]
fn a_forged_frame_costs_a_connection_nothing() {
    for (ahead, nonce, talks) in [-3_i64, 0, 1, 2, 40, 126].into_iter().flat_map(|ahead| {
        [
            (ahead, false, true),
            (ahead, true, true),
            (ahead, true, false),
        ]
    }) {
        let context = format!("{ahead} ahead, {nonce}, {talks}; {}", seed());
        let mut pair = Pair::new(seed(), line(), Config::new(), Config::new());
        let tape = record(&mut pair.world);
        pair.connect_to_listener();
        let forger = Forger::new(&tape);
        let mut said = 0_u32;
        let mut talk = |pair: &mut Pair, steps: u32| {
            for _ in 0..steps {
                for host in [A, B] {
                    let packet = said.to_le_bytes().to_vec();
                    assert_eq!(pair.send(host, 0, Mode::Reliable, packet), Ok(()));
                }
                said += 1;
                pair.world.run_for(Duration::from_millis(20));
            }
            said
        };
        talk(&mut pair, 30);
        if !talks {
            pair.world.run_for(3 * SECOND);
        }
        let id = newest(&tape).saturating_add_signed(ahead);
        let forged = forger.frame(id, nonce, None, vec![noop()]);
        pair.world.inject(A, B, forged);
        if !talks {
            pair.world.run_for(4 * SECOND);
        }
        let said = talk(&mut pair, 150);
        pair.world.run_for(3 * SECOND);
        for host in [A, B] {
            let got = pair.receive_all(host);
            let numbers = got.iter().map(|packet| packet.payload.clone());
            assert!(
                numbers.eq((0..said).map(|n| n.to_le_bytes().to_vec())),
                "{} of {said}; {context}",
                got.len()
            );
        }
    }
}

/// A forged frame delivers the packets that it holds, and has no other effect: the packets of A arrive as
/// well.
#[test]
fn a_forged_frame_brings_its_packets_and_takes_no_others() {
    let config = || Config::new().channels(&[Priority::Low; 2]);
    let [a, b] = [config(), config()].map(|config| config.expect("two channels"));
    let mut pair = Pair::new(seed(), line(), a, b);
    let tape = record(&mut pair.world);
    pair.connect_to_listener();
    let forger = Forger::new(&tape);
    let id = newest(&tape) + 1;
    let word = Packet::whole(0, 0, 3, 0, b"forged".to_vec());
    let forged = forger.frame(id, true, None, vec![word.into()]);
    pair.world.inject(A, B, forged);
    pair.world.run_for(SECOND);
    let got = pair.receive_all(B);
    assert_eq!(got.len(), 1);
    assert_eq!(
        (got[0].channel, &got[0].payload[..]),
        (ChannelId(0), &b"forged"[..])
    );
    for n in 0..100_u8 {
        assert_eq!(pair.send(A, 1, Mode::Reliable, vec![n]), Ok(()));
    }
    pair.world.run_for(SECOND);
    let got = pair.receive_all(B);
    assert!(got.iter().map(|packet| packet.payload[0]).eq(0..100));
}
