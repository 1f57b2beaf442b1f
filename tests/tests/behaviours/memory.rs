//! All allocated memory is given back, and large packets are not copied.

use core::time::Duration;

use allocation_counter::measure;
use bytes::Bytes;
use porous_proto::{ChannelId, Config, Disconnect, Ecn, Host, Instant, Listen, Mode, PeerId};
use porous_sim::{ChaCha8Rng, Seed};
use porous_tests::config;

use crate::MODES;

const SEED: Seed = Seed::new(1);

type Peer = Host<ChaCha8Rng, u8>;

/// A sends to B over a wire without delay, which may lose A's datagrams.
struct Wire {
    a: Peer,
    b: Peer,
    now: Instant,
}

impl Wire {
    fn new(config: &Config) -> Self {
        let host = |index| Host::new(config.clone(), SEED.stream("host", index));
        let (a, mut b) = (host(0), host(1));
        assert_eq!(b.listen(Listen::Open), Ok(()));
        Self {
            a,
            b,
            now: Instant::ZERO,
        }
    }

    /// Connects A to B. Returns the peer ids that they have for each other.
    fn connect(&mut self) -> [PeerId; 2] {
        let there = self.a.connect(self.now, 2).expect("a free address");
        for _ in 0..10 {
            self.step(5, |_| true);
        }
        let live = |(peer, state): (PeerId, &porous_proto::Peer)| {
            (state.state() == porous_proto::PeerState::Connected).then_some(peer)
        };
        let back = self.b.peers().find_map(live).expect("it is connected");
        [there, back]
    }

    /// `ms` milliseconds pass, and both hosts send what they have to send.
    fn step(&mut self, ms: u64, mut arrives: impl FnMut(&[u8]) -> bool) {
        self.now = self.now + Duration::from_millis(ms);
        carry(&mut self.a, &mut self.b, 1, self.now, &mut arrives);
        carry(&mut self.b, &mut self.a, 2, self.now, &mut |_| true);
        for host in [&mut self.a, &mut self.b] {
            while host.poll_event().is_some() {}
        }
    }
}

fn carry(
    from: &mut Peer,
    to: &mut Peer,
    address: u8,
    now: Instant,
    arrives: &mut impl FnMut(&[u8]) -> bool,
) {
    let mut buf = [0; 1200];
    from.handle_timeout(now);
    to.handle_timeout(now);
    while let Some(transmit) = from.poll_transmit(now, &mut buf) {
        if arrives(transmit.datagram) {
            to.handle_datagram(now, address, Ecn::NotEct, transmit.datagram);
        }
    }
}

/// 41: a connection that ends with half of many packets received gives back every byte; so do the hosts
/// when they are dropped.
#[test]
fn half_of_a_packet_costs_nothing_after_the_end() {
    // given: two hosts that have had one quiet connection, which is forgotten
    let all = measure(|| {
        let mut wire = Wire::new(&config::new());
        let quiet = |wire: &mut Wire, load: fn(&mut Wire, PeerId)| {
            let [there, _] = wire.connect();
            load(wire, there);
            let now = Disconnect::Now { reason: 0 };
            assert_eq!(wire.a.disconnect(wire.now, there, now), Ok(()));
            for _ in 0..100 {
                wire.step(1000, |_| true);
            }
            assert_eq!((wire.a.all_peers().count(), wire.b.peers().count()), (0, 0));
        };
        quiet(&mut wire, |_, _| {});

        // when: another connection ends while the last fragments of 30 packets of each mode are missing
        let live = measure(|| quiet(&mut wire, leave_halves));

        // then: it has taken much memory, and all of it was given back
        assert!(live.bytes_max > 100_000, "{live:?}");
        assert_eq!(live.bytes_current, 0, "{live:?}");
    });
    assert_eq!((all.bytes_current, all.count_current), (0, 0), "{all:?}");
}

/// The last fragment of each packet, which is shorter than the others, is lost.
fn leave_halves(wire: &mut Wire, there: PeerId) {
    for n in 0..90 {
        let mode = MODES[n % 3];
        let sent = wire.a.send(there, ChannelId(0), vec![7; 3000], mode);
        assert_eq!(sent, Ok(()));
        wire.step(1, |datagram| datagram.len() > 1100);
    }
}

/// 44: a packet of 1.5 MiB is copied neither by the call that sends it nor by the call that receives it.
/// There is no pipe for hosts in one process: they exchange datagrams, and each fragment is copied into
/// one.
#[test]
fn a_large_packet_is_copied_by_neither_send_nor_receive() {
    const LEN: usize = 3 << 19;
    // given: hosts that take a packet of this length, and one such packet
    let config = config::new().receive_budget(3 << 19, 4 << 20);
    let mut wire = Wire::new(&config.expect("a valid configuration"));
    let [there, back] = wire.connect();
    let packet: Vec<u8> = (0..LEN).map(|n| (n * 31).to_le_bytes()[1]).collect();
    let packet = Bytes::from(packet);

    // when: it is sent, crosses a wire without delay, and is received
    let copy = packet.clone();
    let mut sent = Ok(());
    let sending = measure(|| sent = wire.a.send(there, ChannelId(0), copy, Mode::Reliable));
    assert_eq!(sent, Ok(()));
    for _ in 0..200 {
        wire.step(5, |_| true);
    }
    let mut got = None;
    let receiving = measure(|| got = wire.b.receive(back));

    // then: nothing was allocated but queues and the counts of references
    assert_eq!(got.expect("it has arrived").payload, packet);
    assert!(sending.bytes_total < 4096, "{sending:?}");
    assert!(receiving.bytes_total < 4096, "{receiving:?}");
}

/// 64: once all queues have their size, a million packets without fragments allocate nothing.
#[test]
fn a_million_packets_allocate_nothing() {
    const BATCH: usize = 100;
    const PACKETS: usize = 1_000_000;
    // given: hosts that have exchanged 100,000 packets
    let mut wire = Wire::new(&config::new());
    let [there, back] = wire.connect();
    let mut received = 0;
    let mut exchange = |wire: &mut Wire, count: usize| {
        for n in 0..count / BATCH {
            let mode = MODES[n % 3];
            for _ in 0..BATCH {
                let sent = wire.a.send(there, ChannelId(0), &[7; 64], mode);
                assert_eq!(sent, Ok(()), "{SEED}");
            }
            wire.step(5, |_| true);
            while wire.b.receive(back).is_some() {
                received += 1;
            }
        }
    };
    exchange(&mut wire, PACKETS / 10);

    // when: a million more follow
    let memory = measure(|| exchange(&mut wire, PACKETS));

    // then
    assert_eq!(received, PACKETS + PACKETS / 10, "{SEED}");
    assert_eq!(memory.count_total, 0, "{memory:?}; {SEED}");
    assert_eq!(memory.bytes_current, 0, "{memory:?}; {SEED}");
}
