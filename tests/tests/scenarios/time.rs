//! Times as a faulty driver may tell them: they stand still, run backwards, jump, or come too often.

use core::time::Duration;

use porous_proto::{
    ChannelId, Disconnect, DisconnectReason, Ecn, Event, Host, Instant, Listen, Mode, PeerId,
    PeerState, SendError,
};
use porous_sim::rand_core::Rng;
use porous_sim::{ChaCha8Rng, Pair, Seed, Service};
use porous_tests::{Traffic, config, ended, events, line, quiet_pair};

/// Two hosts on a perfect wire, each with a clock of its own.
struct Wire {
    hosts: [Host<ChaCha8Rng, usize>; 2],
    clocks: [Instant; 2],
    seed: Seed,
}

impl Wire {
    fn new(seed: Seed) -> Self {
        let host = |index| Host::new(config::new(), seed.stream("host", index));
        let mut hosts = [host(0), host(1)];
        assert_eq!(hosts[1].listen(Listen::Open), Ok(()));
        assert!(hosts[0].connect(Instant::ZERO, 1).is_ok());
        Self {
            hosts,
            clocks: [Instant::ZERO; 2],
            seed,
        }
    }

    /// Steps both hosts, and carries their datagrams, until both are silent. Returns false if they never
    /// are.
    fn settle(&mut self) -> bool {
        let mut buf = [0; 1200];
        for _ in 0..1000 {
            let mut silent = true;
            for (from, to) in [(0, 1), (1, 0)] {
                self.hosts[from].handle_timeout(self.clocks[from]);
                let (now, then) = (self.clocks[from], self.clocks[to]);
                while let Some(transmit) = self.hosts[from].poll_transmit(now, &mut buf) {
                    silent = false;
                    let datagram = transmit.datagram.to_vec();
                    self.hosts[to].handle_datagram(then, from, Ecn::NotEct, &datagram);
                }
            }
            if silent {
                return true;
            }
        }
        false
    }

    fn peer(&self, side: usize) -> PeerId {
        let mut peers = self.hosts[side].peers();
        let (peer, state) = peers
            .next()
            .unwrap_or_else(|| panic!("nobody at {:?}; {}", self.clocks, self.seed));
        assert_eq!(state.state(), PeerState::Connected, "{}", self.seed);
        peer
    }

    /// A reliable packet each way, of `len` bytes.
    fn talk(&mut self, len: usize) {
        let seed = self.seed;
        for side in [0, 1] {
            let (peer, packet) = (self.peer(side), vec![7; len]);
            let sent = self.hosts[side].send(peer, ChannelId(0), packet, Mode::Reliable);
            assert_eq!(sent, Ok(()), "{seed}");
        }
        assert!(self.settle(), "no end; {seed}");
        for side in [0, 1] {
            let peer = self.peer(side);
            let got = self.hosts[side].receive(peer).map(|got| got.payload.len());
            assert_eq!(got, Some(len), "at {:?}; {seed}", self.clocks);
            assert_eq!(self.hosts[side].receive(peer), None, "{seed}");
        }
    }

    fn assert_nothing_lost(&self) {
        for side in [0, 1] {
            let peer = self.hosts[side].peer(self.peer(side));
            let stats = peer.expect("it is connected").stats();
            assert_eq!(stats.frames_lost, 0, "{stats:?}; {}", self.seed);
        }
    }
}

#[test]
fn hosts_whose_clocks_stand_still_talk() {
    let mut wire = Wire::new(Seed::new(1));
    assert!(wire.settle());
    for n in 0..500 {
        wire.talk(n * 100);
    }
    wire.assert_nothing_lost();
}

#[test]
fn a_clock_that_runs_backwards_does_no_harm() {
    for number in 0..20 {
        let seed = Seed::new(number);
        let (mut wire, mut rng) = (Wire::new(seed), seed.stream("clock", 0));
        assert!(wire.settle(), "{seed}");
        for n in 0..300 {
            for clock in &mut wire.clocks {
                // From 60 ms back to 100 ms ahead, and sometimes far back.
                let back = if rng.next_u32() % 20 == 0 { 5_000 } else { 60 };
                let ahead = clock.as_micros() + u64::from(rng.next_u32() % 160_000);
                *clock = Instant::from_micros(ahead.saturating_sub(back * 1000));
            }
            wire.talk(n * 10);
        }
        wire.assert_nothing_lost();
    }
}

#[test]
fn a_time_before_the_latest_counts_as_the_latest() {
    let run = |back: u64| {
        let mut pair = quiet_pair(Seed::new(2), line());
        for n in 0..100_u8 {
            let now = pair.world.now().as_micros();
            let earlier = Instant::from_micros(now.saturating_sub(back));
            let latest = pair.world.now();
            let host = pair.world.host_mut(Pair::A);
            host.handle_timeout(latest);
            host.handle_timeout(earlier);
            host.handle_datagram(earlier, 99, Ecn::NotEct, b"no datagram of ours");
            assert!(pair.send(Pair::A, 0, Mode::Reliable, vec![n; 700]).is_ok());
            pair.world.run_for(Duration::from_millis(16));
        }
        pair.world.trace().digest()
    };
    assert_eq!(run(0), run(1), "{}", Seed::new(2));
    assert_eq!(run(0), run(3_000_000), "{}", Seed::new(2));
}

#[test]
fn deadlines_count_from_the_latest_time_that_was_heard_of() {
    let latest = Instant::from_micros(100_000_000);
    let (seed, mut buf) = (Seed::new(7), [0; 1200]);
    let mut host = Host::new(config::client(), seed.stream("host", 0));
    host.handle_timeout(latest);
    assert!(host.connect(Instant::ZERO, 7).is_ok(), "{seed}");
    assert!(host.poll_transmit(Instant::ZERO, &mut buf).is_some());
    assert_eq!(host.poll_transmit(Instant::ZERO, &mut buf), None);
    let due = host.poll_timeout();
    assert!(due > Some(latest), "{due:?}; {seed}");
    host.handle_timeout(Instant::ZERO);
    assert_eq!((host.poll_timeout(), host.poll_event()), (due, None));
}

#[test]
fn a_step_that_comes_too_early_changes_nothing() {
    let mut pair = quiet_pair(Seed::new(3), line());
    let peer = pair.peer(Pair::A);
    for _ in 0..200 {
        assert!(pair.send(Pair::A, 0, Mode::Reliable, vec![0; 300]).is_ok());
        pair.world.run_for(Duration::from_millis(7));
        let now = pair.world.now();
        let host = pair.world.host_mut(Pair::A);
        let mut buf = [0; 1200];
        let due = host.poll_timeout();
        assert!(due > Some(now), "{due:?} at {now:?}");
        let before = host.peer(peer).map(|peer| peer.stats());
        for _ in 0..50 {
            host.handle_timeout(now);
            assert_eq!(host.poll_transmit(now, &mut buf), None);
            assert_eq!(host.poll_event(), None);
        }
        assert_eq!(host.poll_timeout(), due, "at {now:?}");
        assert_eq!(host.peer(peer).map(|peer| peer.stats()), before);
    }
}

#[test]
fn hosts_that_are_stepped_far_too_often_do_as_well() {
    for number in 0..5 {
        let seed = Seed::new(number);
        let mut pair = quiet_pair(seed, line());
        pair.world.network_mut().set_all(line().loss(10.0));
        for host in [Pair::A, Pair::B] {
            pair.world.set_service(host, Service::Event);
        }
        let mut traffic = Traffic::new(&pair, Pair::A, 2000, number + 1);
        let b = pair.peer(Pair::B);
        for n in 0..10_000 {
            if n % 20 == 0 {
                assert!(traffic.send(&mut pair.world), "{seed}");
            }
            pair.world.run_for(Duration::from_millis(1));
            for address in [Pair::A, Pair::B] {
                let now = pair.world.now();
                pair.world.host_mut(address).handle_timeout(now);
            }
            traffic.receive(&mut pair.world, b);
        }
        pair.world.network_mut().set_all(line());
        pair.world.run_for(Duration::from_secs(2));
        traffic.receive(&mut pair.world, b);
        assert!(traffic.model.is_complete(), "{seed}");
    }
}

#[test]
fn a_jump_of_centuries_is_a_pause_like_any_other() {
    for jump in [u64::MAX, u64::MAX - 1, u64::MAX / 2, 1 << 53] {
        let mut wire = Wire::new(Seed::new(4));
        assert!(wire.settle(), "{jump}");
        wire.talk(5000);
        let peer = wire.peer(0);
        let sent = wire.hosts[0].send(peer, ChannelId(0), vec![0; 5000], Mode::Reliable);
        assert_eq!(sent, Ok(()), "{jump}");
        wire.clocks = [Instant::from_micros(jump); 2];
        assert!(wire.settle(), "{jump}");
        let got = wire.hosts[1].receive(wire.peer(1));
        assert_eq!(got.map(|got| got.payload.len()), Some(5000), "{jump}");
        wire.talk(100);
        let how = Disconnect::Now { reason: 8 };
        let now = wire.clocks[0];
        assert_eq!(wire.hosts[0].disconnect(now, peer, how), Ok(()), "{jump}");
        assert!(wire.settle(), "{jump}");
        for (side, reason) in [DisconnectReason::ByUs(8), DisconnectReason::ByPeer(8)]
            .into_iter()
            .enumerate()
        {
            let host = &mut wire.hosts[side];
            let told: Vec<Event<usize>> = core::iter::from_fn(|| host.poll_event()).collect();
            let last = told.last();
            let right = matches!(last, Some(&Event::Disconnected { reason: r, .. }) if r == reason);
            assert!(right, "{told:?}, {jump}");
        }
        let sent = wire.hosts[0].send(peer, ChannelId(0), vec![0], Mode::Reliable);
        assert_eq!(sent, Err(SendError::UnknownPeer), "{jump}");
    }
}

#[test]
fn a_world_that_is_late_for_everything_stays_connected() {
    let mut pair = quiet_pair(Seed::new(5), line());
    for host in [Pair::A, Pair::B] {
        // Between two of its frames a host sleeps for longer than its timeout.
        pair.world
            .set_service(host, Service::tick(Duration::from_secs(15)));
    }
    pair.world.run_for(Duration::from_secs(600));
    for address in [Pair::A, Pair::B] {
        let told = events(&mut pair.world, address);
        assert!(ended(&told).is_empty(), "{told:?}; {}", pair.world.seed());
    }
}
