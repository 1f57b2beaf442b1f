//! Once a connection has settled, nothing is allocated, however packets are sent, as long as a datagram carries
//! each and the application does not keep all that it receives.

use allocation_counter::measure;
use bytes::Bytes;
use porous_proto::{ChannelId, Config, Ecn, Host, Instant, Listen, Mode, Payload, PeerId};
use porous_sim::{ChaCha8Rng, Seed};

const SEED: Seed = Seed::new(1);
/// Packets, each in a datagram of its own, that let every queue reach its size. When the last one grows depends on what
/// the hosts draw: after 2000 packets one grew once more under three of the seeds 1 to 4.
const WARM_UP: u64 = 8000;
const PACKETS: u64 = 1000;

/// Allocations of each activity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counts {
    send: u64,
    poll_transmit: u64,
    handle_data: u64,
    handle_acknowledgement: u64,
    receive: u64,
}

/// A sends to B over a perfect wire.
struct Wire {
    a: Host<ChaCha8Rng, u8>,
    b: Host<ChaCha8Rng, u8>,
    now: Instant,
    counts: Counts,
    received: u64,
}

impl Wire {
    fn new() -> (Self, PeerId, PeerId) {
        let host = |index| Host::new(Config::new(), SEED.stream("host", index));
        let (mut a, mut b) = (host(0), host(1));
        assert_eq!(b.listen(Listen::Open), Ok(()));
        let there = a.connect(Instant::ZERO, 2).expect("a free address");
        let mut wire = Self {
            a,
            b,
            now: Instant::ZERO,
            counts: Counts::default(),
            received: 0,
        };
        for _ in 0..10 {
            wire.step(there);
        }
        let back = wire.b.peers().next().expect("it is connected").0;
        (wire, there, back)
    }

    /// Five milliseconds pass, and both hosts send what they have to send.
    fn step(&mut self, reader: PeerId) {
        self.now = self.now + core::time::Duration::from_millis(5);
        let (counts, now) = (&mut self.counts, self.now);
        carry(&mut self.a, &mut self.b, 1, now, |poll, handle| {
            counts.poll_transmit += poll;
            counts.handle_data += handle;
        });
        carry(&mut self.b, &mut self.a, 2, now, |poll, handle| {
            counts.poll_transmit += poll;
            counts.handle_acknowledgement += handle;
        });
        let received = &mut self.received;
        let reading = measure(|| {
            while self.b.receive(reader).is_some() {
                *received += 1;
            }
            while self.a.poll_event().is_some() || self.b.poll_event().is_some() {}
        });
        self.counts.receive += reading.count_total;
    }
}

/// Carries all datagrams, and returns the allocations that sending and handling each took.
fn carry(
    from: &mut Host<ChaCha8Rng, u8>,
    to: &mut Host<ChaCha8Rng, u8>,
    address: u8,
    now: Instant,
    mut count: impl FnMut(u64, u64),
) {
    let mut buf = [0; 1200];
    loop {
        let mut len = None;
        let polling = measure(|| {
            from.handle_timeout(now);
            let transmit = from.poll_transmit(now, &mut buf);
            len = transmit.map(|transmit| transmit.datagram.len());
        });
        let Some(len) = len else {
            count(polling.count_total, 0);
            return;
        };
        let handling = measure(|| {
            to.handle_datagram(now, address, Ecn::NotEct, &buf[..len]);
        });
        count(polling.count_total, handling.count_total);
    }
}

/// How a test hands packets over.
#[derive(Clone, Copy, Debug)]
enum Form {
    Slice,
    Shared,
}

/// Sends packets of these lengths by turns.
fn nothing_is_allocated(mode: Mode, form: Form, len: impl Fn(u64) -> usize) {
    static BYTES: [u8; 20_000] = [7; 20_000];
    let (mut wire, there, back) = Wire::new();
    for n in 0..WARM_UP + PACKETS {
        if n == WARM_UP {
            (wire.counts, wire.received) = (Counts::default(), 0);
        }
        let bytes = &BYTES[..len(n)];
        let packet = match form {
            Form::Slice => Payload::from(bytes),
            Form::Shared => Bytes::from_static(bytes).into(),
        };
        let mut sent = Ok(());
        let sending = measure(|| sent = wire.a.send(there, ChannelId(0), packet, mode));
        assert_eq!(sent, Ok(()), "{SEED}");
        wire.counts.send += sending.count_total;
        wire.step(back);
    }
    assert_eq!(wire.received, PACKETS, "{mode:?} {form:?}; {SEED}");
    let expected = Counts::default();
    assert_eq!(wire.counts, expected, "{mode:?} {form:?}; {SEED}");
}

const ALL: [(Mode, Form); 6] = [
    (Mode::Unreliable, Form::Slice),
    (Mode::Reliable, Form::Slice),
    (Mode::Passive, Form::Slice),
    (Mode::Unreliable, Form::Shared),
    (Mode::Reliable, Form::Shared),
    (Mode::Passive, Form::Shared),
];

#[test]
fn a_warm_host_allocates_nothing() {
    for (mode, form) in ALL {
        // Of all lengths that a datagram carries, in an order in which neighbours differ.
        nothing_is_allocated(mode, form, |n| {
            usize::try_from(n * 397 % 1100).expect("a length")
        });
    }
}

#[test]
fn a_warm_host_allocates_nothing_for_packets_that_are_cut_into_fragments() {
    for (mode, form) in ALL {
        nothing_is_allocated(mode, form, |n| {
            [1300, 20_000, 3000, 9000][usize::try_from(n % 4).expect("a place")]
        });
    }
}
