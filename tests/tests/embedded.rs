//! The most memory that a peer may cost a host on a microcontroller, measured: the documentation of
//! `Config::embedded` states it. Pointers have 8 bytes here, so a peer costs less there.

use core::time::Duration;

use allocation_counter::measure;
use porous_proto::{ChannelId, Config, Disposition, Ecn, Host, Instant, Listen, Mode, PeerId};
use porous_sim::{ChaCha8Rng, Seed};
use porous_tests::encoder::{Message, Offer, Packet};
use porous_tests::remote::Remote;

const SEED: Seed = Seed::new(1);

/// The bytes that `Config::embedded` states for a host without peers, and for one peer.
const HOST: i64 = 3 * 1024;
const PEER: i64 = 64 * 1024;

/// N_Q.
const WINDOW: u32 = 64;

/// The duration of each case, in steps of 5 ms: shorter than a timeout.
const STEPS: u32 = 1000;

type Board = Host<ChaCha8Rng, u32>;

/// A host, the bytes that it holds, and the most that it has held.
struct Metered {
    host: Board,
    live: i64,
    peak: i64,
}

impl Metered {
    fn new() -> Self {
        let mut host = None;
        let live = measure(|| {
            let host = host.insert(Board::new(Config::embedded(), SEED.stream("board", 0)));
            assert_eq!(host.listen(Listen::Open), Ok(()));
        });
        Self {
            host: host.expect("it was made"),
            live: live.bytes_current,
            peak: live.bytes_current,
        }
    }

    fn call<T>(&mut self, act: impl FnOnce(&mut Board) -> T) -> T {
        let (mut result, host) = (None, &mut self.host);
        let memory = measure(|| result = Some(act(host)));
        let most = i64::try_from(memory.bytes_max).expect("not that much");
        self.peak = self.peak.max(self.live + most);
        self.live += memory.bytes_current;
        result.expect("it was called")
    }
}

/// An offer with every limit at its largest.
fn greedy() -> Offer {
    Offer {
        application: 0,
        channels: 1,
        datagram: 1200,
        packet: 1 << 20,
        budget: u32::MAX,
        windows: [6, 6],
        rates: [u32::MAX; 2],
        integrity: 0,
        extensions: 0,
        path_mtu: None,
        sealed: &[],
        timeout: None,
    }
}

/// The contents of the enemy's `n`-th frame: no complete packet, so that the board keeps the parts, or
/// nothing new, so that the board has much to acknowledge.
type Frame = fn(u32) -> Vec<Message>;

const FRAMES: [Frame; 6] = [
    |n| vec![Message::Control(vec![2, n.to_le_bytes()[0], 0])],
    |n| vec![packet(UNRELIABLE, n, 3)],
    |n| {
        (0..20)
            .map(|k| later(RELIABLE, 20 * n + k, 0).into())
            .collect()
    },
    |n| vec![packet(PASSIVE, n, 1)],
    |n| vec![later(UNRELIABLE, n, PART).part(0, 4000).into()],
    |n| vec![later(RELIABLE, n, PART).part(0, 4000).into()],
];

const UNRELIABLE: u8 = 0;
const RELIABLE: u8 = 1;
const PASSIVE: u8 = 2;

/// The length of a fragment.
const PART: usize = 1152;

fn packet(mode: u8, id: u32, len: usize) -> Message {
    Packet::whole(mode, 0, id % WINDOW, 0, vec![7; len]).into()
}

/// Any packet of the window but the first.
fn later(mode: u8, id: u32, len: usize) -> Packet {
    Packet::whole(mode, 0, 1 + id % (WINDOW - 1), 0, vec![7; len])
}

/// The packets of the board's program: the mode and the length of the `n`-th one.
type Speech = fn(u32) -> (Mode, usize);

const MODES: [Mode; 3] = [Mode::Unreliable, Mode::Reliable, Mode::Passive];

const SPEECHES: [Speech; 5] = [
    |n| (MODES[n as usize % 3], (37 * n % 4000) as usize),
    |_| (Mode::Reliable, 1),
    |_| (Mode::Reliable, 4096),
    |_| (Mode::Unreliable, 0),
    |_| (Mode::Unreliable, 20),
];

/// The most bytes that the board holds while the enemy, which acknowledges nothing, sends these frames,
/// and the board's program sends these packets.
fn cost(frame: Frame, speech: Option<Speech>) -> i64 {
    let mut board = Metered::new();
    let mut now = Instant::from_micros(1_000_000);
    // The draw of the frame ids that are left out decides when slabs double: with some draws they come to
    // 64 KiB.
    let mut enemy = board.call(|board| Remote::connect(board, now, 8, &greedy()));
    let peer = board.host.peers().next().expect("it is connected").0;
    let mut buf = [0; 1200];
    let (mut said, mut taken) = (0, 0);
    for step in 0..STEPS {
        now = now + Duration::from_millis(5);
        if let Some(speech) = speech {
            said = speak(&mut board, peer, speech, said);
        }
        for n in 0..16 {
            let datagram = enemy.short(None, frame(16 * step + n)).encode(&enemy.shape);
            let what = board.call(|board| board.handle_datagram(now, 8, Ecn::NotEct, &datagram));
            taken += u32::from(matches!(what, Disposition::Handled(_)));
        }
        board.call(|board| board.handle_timeout(now));
        while board.call(|board| board.poll_transmit(now, &mut buf).is_some()) {}
        board.call(|board| while board.poll_event().is_some() {});
    }
    assert!(taken > 0, "all of it was refused; {SEED}");
    board.peak
}

/// The board's program sends until there is no room, and at most 200 packets in a step.
fn speak(board: &mut Metered, peer: PeerId, speech: Speech, said: u32) -> u32 {
    let mut number = said;
    for _ in 0..200 {
        let (mode, len) = speech(number);
        let sent = board.call(|board| board.send(peer, ChannelId(0), vec![7; len], mode));
        if sent.is_err() {
            break;
        }
        number += 1;
    }
    number
}

#[test]
fn a_host_that_nobody_talks_to_takes_little() {
    let board = Metered::new();
    assert!(board.peak <= HOST, "{} bytes", board.peak);
}

/// P2.
#[test]
fn a_peer_that_acknowledges_nothing_costs_an_embedded_host_no_more_than_is_said() {
    let speeches = SPEECHES.into_iter().map(Some).chain([None]);
    for (n, speech) in speeches.enumerate() {
        for (m, frame) in FRAMES.into_iter().enumerate() {
            let cost = cost(frame, speech);
            assert!(
                cost <= HOST + PEER,
                "speech {n}, frames {m}: {cost} bytes; {SEED}"
            );
        }
    }
}
