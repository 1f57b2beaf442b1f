//! The most memory that one peer may cost, measured: the documentation of `Config` states it.
#![expect(clippy::cast_possible_truncation, reason = "small numbers")]

use core::time::Duration;

use allocation_counter::measure;
use porous_proto::{
    ChannelId, Config, Ecn, Host, Ignored, Instant, Listen, Mode, PeerId, Priority, SendError,
};
use porous_sim::{ChaCha8Rng, Seed};
use porous_tests::encoder::{Offer, Packet};
use porous_tests::remote::Remote;
use porous_tests::{again, config};

const SEED: Seed = Seed::new(1);
const MAX_PACKET: u32 = 16 * 1024;
const BUDGET: u32 = 256 * 1024;
const CHANNELS: u8 = 8;
/// N_P and N_Q.
const WINDOW: u32 = 1024;

/// The bytes that the windows of a peer may cost.
const WINDOWS: i64 = 128 * WINDOW as i64 * (1 + CHANNELS as i64);

fn configured() -> Config {
    let config = config::new().send_budget(BUDGET);
    let config = config.and_then(|config| config.receive_budget(MAX_PACKET, BUDGET));
    let channels = [Priority::Low; CHANNELS as usize];
    let config = config.and_then(|config| config.channels(&channels));
    config
        .and_then(|config| config.windows(WINDOW, WINDOW))
        .expect("a valid configuration")
}

type Peer = Host<ChaCha8Rng, u8>;

/// A host, and the bytes that it holds.
struct Metered {
    host: Peer,
    live: i64,
    peak: i64,
}

impl Metered {
    fn new(config: Config, index: u64) -> Self {
        Self {
            host: Host::new(config, SEED.stream("host", index)),
            live: 0,
            peak: 0,
        }
    }

    fn call<T>(&mut self, act: impl FnOnce(&mut Peer) -> T) -> T {
        let mut result = None;
        let host = &mut self.host;
        let memory = measure(|| result = Some(act(host)));
        let most = i64::try_from(memory.bytes_max).expect("not that much");
        self.peak = self.peak.max(self.live + most);
        self.live += memory.bytes_current;
        result.expect("it was called")
    }
}

/// A sends to B, over a wire that may lose and change datagrams.
struct Wire {
    a: Metered,
    b: Metered,
    now: Instant,
    there: PeerId,
    back: PeerId,
    /// Tells which datagrams from A are lost.
    lose: fn(&[u8]) -> bool,
    /// The bytes that each host may hold.
    cap: i64,
}

/// The packets that A sends, by number.
type Packets = fn(u32) -> (Mode, usize);

impl Wire {
    /// If `lie` is true, A believes that B's receive budget is the largest number.
    fn new(a: Config, b: Config, lie: bool) -> Self {
        let (mut a, mut b) = (Metered::new(a, 0), Metered::new(b, 1));
        assert_eq!(b.host.listen(Listen::Open), Ok(()));
        let there = a.call(|a| a.connect(Instant::ZERO, 2).expect("a free address"));
        for _ in 0..10 {
            carry(&mut a, &mut b, 1, Instant::ZERO, |_| true);
            carry(&mut b, &mut a, 2, Instant::ZERO, |datagram| {
                if lie {
                    raise_budget(datagram);
                }
                true
            });
        }
        let back = b.host.peers().next().expect("it is connected").0;
        Self {
            a,
            b,
            now: Instant::ZERO,
            there,
            back,
            lose: |_| false,
            cap: 4 * i64::from(BUDGET) + WINDOWS,
        }
    }

    /// Five milliseconds pass, and both hosts send what they have to send.
    fn step(&mut self) {
        self.now = self.now + Duration::from_millis(5);
        let lose = self.lose;
        carry(&mut self.a, &mut self.b, 1, self.now, |d| !lose(d));
        carry(&mut self.b, &mut self.a, 2, self.now, |_| true);
        for host in [&mut self.a, &mut self.b] {
            host.call(|host| while host.poll_event().is_some() {});
        }
    }

    /// A sends as much as it may in each of `steps`, and B does not read.
    fn press(&mut self, steps: u32, packet: Packets) {
        let mut number = 0;
        for _ in 0..steps {
            for _ in 0..2000 {
                let (mode, len) = packet(number);
                let channel = ChannelId((number % u32::from(CHANNELS)) as u8);
                let there = self.there;
                let send = |a: &mut Peer| a.send(there, channel, vec![7; len], mode);
                match self.a.call(send) {
                    Ok(()) => number += 1,
                    Err(error) => {
                        assert_eq!(error, SendError::Full);
                        break;
                    }
                }
            }
            self.step();
            self.check();
        }
    }

    /// B reads, and all traffic comes to an end.
    fn drain(&mut self) -> u64 {
        let mut read = 0;
        for _ in 0..4000 {
            let back = self.back;
            read += self
                .b
                .call(|b| core::iter::from_fn(|| b.receive(back)).count() as u64);
            self.step();
            self.check();
        }
        read
    }

    fn check(&self) {
        for (name, host) in [("A", &self.a), ("B", &self.b)] {
            assert!(
                host.peak <= self.cap,
                "{name}: {} of {}; {SEED}",
                host.peak,
                self.cap
            );
        }
    }

    fn over_budget(&self) -> u64 {
        self.b.host.stats().ignored(Ignored::OverBudget)
    }
}

/// Carries the datagrams for which `pass` returns true.
fn carry(
    from: &mut Metered,
    to: &mut Metered,
    address: u8,
    now: Instant,
    mut pass: impl FnMut(&mut [u8]) -> bool,
) {
    let mut buf = [0; 1200];
    loop {
        let len = from.call(|from| {
            from.handle_timeout(now);
            from.poll_transmit(now, &mut buf)
                .map(|transmit| transmit.datagram.len())
        });
        let Some(len) = len else { return };
        let datagram = &mut buf[..len];
        if pass(datagram) {
            to.call(|to| to.handle_datagram(now, address, Ecn::NotEct, datagram));
        }
    }
}

/// Raises the receive budget in the parameters of a handshake.
fn raise_budget(datagram: &mut [u8]) {
    let mut honest = vec![5, 4];
    honest.extend(BUDGET.to_le_bytes());
    let place = datagram.windows(6).position(|bytes| bytes == honest);
    if let Some(place) = place {
        datagram[place + 2..place + 6].fill(0xFF);
    }
}

const MODES: [Mode; 3] = [Mode::Unreliable, Mode::Reliable, Mode::Passive];

/// Packets whose cost is mostly their content.
const LARGE: [Packets; 5] = [
    |n| (MODES[n as usize % 3], (n * 37 % 5000) as usize),
    |_| (Mode::Reliable, MAX_PACKET as usize),
    |_| (Mode::Unreliable, MAX_PACKET as usize),
    |_| (Mode::Passive, 1800),
    |_| (Mode::Unreliable, 1800),
];

/// Packets whose cost is hardly their content.
const SMALL: [Packets; 4] = [
    |n| (MODES[n as usize % 3], 0),
    |_| (Mode::Unreliable, 0),
    |_| (Mode::Reliable, 1),
    |_| (Mode::Passive, 0),
];

/// True for short forms that end a packet of more than one fragment, or hold small packets.
fn is_last_fragment(datagram: &[u8]) -> bool {
    datagram[0] & 0xC0 == 0x40 && (100..1100).contains(&datagram.len())
}

fn stalled_reader(packets: Packets, factor: u32, lose: fn(&[u8]) -> bool) {
    let mut wire = Wire::new(configured(), configured(), false);
    wire.cap = i64::from(factor * BUDGET) + WINDOWS;
    wire.lose = lose;
    wire.press(400, packets);
    wire.lose = |_| false;
    // All unreliable packets may have expired: then more are needed.
    wire.press(400, packets);
    assert!(wire.drain() > 0, "{SEED}");
    assert_eq!(wire.over_budget(), 0, "{SEED}");
    for host in [&wire.a, &wire.b] {
        // Queued and kept packets are given back; the memory of the windows may stay.
        assert!(host.live <= WINDOWS, "{} left; {SEED}", host.live);
    }
}

#[test]
fn a_reader_that_stops_costs_no_more_than_is_said_and_gives_it_back() {
    for packets in LARGE {
        stalled_reader(packets, 2, |_| false);
        stalled_reader(packets, 2, is_last_fragment);
    }
    for packets in SMALL {
        stalled_reader(packets, 4, |_| false);
        stalled_reader(packets, 4, is_last_fragment);
    }
}

/// A sends as if B kept everything that comes.
fn hostile_sender(packets: Packets, factor: u32, lose: fn(&[u8]) -> bool) -> Wire {
    let mut wire = Wire::new(configured(), configured(), true);
    wire.cap = i64::from(factor * BUDGET) + WINDOWS;
    wire.lose = lose;
    wire.press(400, packets);
    wire
}

#[test]
fn a_sender_that_exceeds_the_budget_costs_no_more_than_one_that_keeps_to_it() {
    let mut refused = 0;
    for packets in LARGE {
        refused += hostile_sender(packets, 2, |_| false).over_budget();
    }
    for packets in SMALL {
        refused += hostile_sender(packets, 4, |_| false).over_budget();
    }
    assert!(refused > 500, "{refused}; {SEED}");
}

#[test]
fn a_sender_of_first_fragments_costs_no_more_than_is_said() {
    for mode in MODES {
        let packets: Packets = match mode {
            Mode::Unreliable => |_| (Mode::Unreliable, 1800),
            Mode::Reliable => |_| (Mode::Reliable, 1800),
            Mode::Passive => |_| (Mode::Passive, 1800),
        };
        let mut wire = hostile_sender(packets, 2, is_last_fragment);
        let kept = wire.b.live;
        assert!(kept > 5000, "{mode:?} {kept}; {SEED}");
        if mode == Mode::Unreliable {
            // At most 32 of these are kept for each channel, and not for long.
            assert!(kept <= 32 * 2 * 1152 * i64::from(CHANNELS) + WINDOWS);
            wire.lose = |_| true;
            wire.press(500, |_| (Mode::Unreliable, 1));
            let incomplete = wire.b.host.peer(wire.back);
            let incomplete = incomplete.map(|peer| peer.stats().packets_incomplete);
            assert!(incomplete > Some(0), "{incomplete:?}; {SEED}");
            // All packets are given back: the memory of the windows stays, which has grown as they were used.
            assert!(wire.b.live < kept / 4, "{} left; {SEED}", wire.b.live);
        }
    }
}

/// Fragments of one byte that announce a packet of 65 MB each.
#[test]
fn what_a_fragment_announces_costs_nothing() {
    const HUGE: u32 = 65_000_000;
    let config = configured()
        .receive_budget(HUGE, HUGE + 64)
        .expect("a valid budget");
    let mut host = Metered::new(config, 1);
    assert_eq!(host.host.listen(Listen::Open), Ok(()));
    let offer = Offer {
        application: 0,
        channels: 1,
        datagram: 1200,
        packet: HUGE,
        budget: HUGE + 64,
        windows: [12, u8::try_from(WINDOW.ilog2()).expect("a byte")],
        rates: [u32::MAX; 2],
        integrity: 0,
        extensions: 0,
        path_mtu: None,
        sealed: &[],
        timeout: None,
    };
    let mut remote = None;
    host.call(|host| remote = Some(Remote::connect(host, Instant::ZERO, 9, &offer)));
    let mut remote = remote.expect("it connected");
    let before = host.live;
    for number in 1..WINDOW {
        let last = Packet::whole(2, 0, number, 0, vec![0]).part(HUGE - 1, HUGE);
        let frame = remote.short(None, vec![last.into()]);
        let frame = frame.encode(&remote.shape);
        let taken = host.call(|host| host.handle_datagram(Instant::ZERO, 9, Ecn::NotEct, &frame));
        assert!(
            matches!(taken, porous_proto::Disposition::Handled(_)),
            "{taken:?}"
        );
    }
    let cost = (host.live - before) / i64::from(WINDOW - 1);
    assert!(cost <= 4 * 65 + 128, "{cost} bytes each; {SEED}");
}

#[test]
fn a_peer_costs_no_more_under_the_policy_of_the_paper() {
    again::run_with(&[(config::PAPER, 1)], &["_under_the_policy_of_the_paper"]);
}
