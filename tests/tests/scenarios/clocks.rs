//! Hosts that are stepped seldom, very often, or not at all for a while, and clocks that jump at any
//! moment. Between A and B a datagram takes 20 ms.

use core::time::Duration;

use porous_proto::{
    Disconnect, DisconnectReason, Ecn, Event, Host, Instant, Listen, Mode, PeerState,
};
use porous_sim::{ChaCha8Rng, Pair, Seed, Service};
use porous_tests::{
    Traffic, assert_told, config, disconnect, ended, events, flush, line, queue, quiet_pair, seed,
};

const A: u32 = Pair::A;
const B: u32 = Pair::B;

const HOUR: Duration = Duration::from_secs(3600);

fn set_services(pair: &mut Pair, services: [Service; 2]) {
    for (host, service) in [A, B].into_iter().zip(services) {
        pair.world.set_service(host, service);
    }
}

/// A connection whose hosts are called at these intervals from the beginning.
fn stepped(every: [Duration; 2]) -> Pair {
    let mut pair = Pair::new(seed(), line(), config::client(), config::new());
    set_services(&mut pair, every.map(Service::tick));
    pair.connect_to_listener();
    pair
}

/// No host was told of an end.
fn assert_connected(pair: &mut Pair, context: &str) {
    for address in [A, B] {
        let told = events(&mut pair.world, address);
        let seed = pair.world.seed();
        assert!(ended(&told).is_empty(), "{told:?}; {context}; {seed}");
    }
}

fn frames_lost(pair: &Pair, address: u32) -> u64 {
    let peer = pair.world.host(address).peer(pair.peer(address));
    peer.expect("it is connected").stats().frames_lost
}

#[test]
fn hosts_of_any_pace_transfer_all_and_stay_connected() {
    let paces = [
        Duration::from_secs(1),
        Duration::from_millis(16),
        Duration::from_micros(100),
    ];
    for a in paces {
        for b in paces {
            let context = format!("every {a:?} and {b:?}; {}", seed());
            let mut pair = stepped([a, b]);
            for from in [A, B] {
                let packets = (0..50_u8).map(|n| (0, Mode::Reliable, vec![n; 2000]));
                let got = pair.exchange(from, packets, Duration::from_secs(100));
                assert_eq!(got.len(), 50, "{context}");
            }
            pair.world.run_for(Duration::from_secs(30));
            assert_connected(&mut pair, &context);
            // Half a minute without packets costs pings, their answers and the acknowledgements of these.
            let before = pair.world.network().link_stats(A, B).sent;
            pair.world.run_for(Duration::from_secs(30));
            let idle = pair.world.network().link_stats(A, B).sent - before;
            assert!(idle <= 30 * 31, "{idle} datagrams; {context}");
        }
    }
}

/// With one step a second and no other traffic, T_step,avg and the pings set T_rto (7).
#[test]
fn seldom_steps_are_not_taken_for_losses() {
    let mut pair = stepped([Duration::from_secs(1); 2]);
    pair.world.run_for(Duration::from_secs(60));
    let before = frames_lost(&pair, A);
    for n in 0..60 {
        assert_eq!(pair.send(A, 0, Mode::Reliable, vec![n; 100]), Ok(()));
        pair.world.run_for(Duration::from_secs(1));
    }
    assert_eq!(pair.receive_all(B).len(), 59, "{}", seed());
    assert_eq!(frames_lost(&pair, A), before, "{}", seed());
}

/// A loading screen: one or both programs do not call their hosts for longer than the timeout of 10 s
/// (T23). A paused host does not blame the other, and a transfer goes on where it was.
#[test]
fn a_loading_screen_of_both_ends_nothing() {
    for traffic in [false, true] {
        for later in [0, 1, 3] {
            let context = format!("{traffic}, {later} s later; {}", seed());
            let mut pair = quiet_pair(seed(), line());
            if traffic {
                queue(&mut pair, A, 100);
                pair.world.run_for(Duration::from_millis(30));
            }
            // Both are called next in 15 s, or one a little later than the other.
            let until = pair.world.now() + Duration::from_secs(15);
            let away = |more: u64| Service::Tick {
                every: Duration::from_secs(1000),
                offset: Duration::from_micros(until.as_micros()) + Duration::from_secs(more),
            };
            set_services(&mut pair, [away(0), away(later)]);
            let back = Duration::from_secs(15 + later);
            pair.world.run_for(back);
            set_services(&mut pair, [Service::Event; 2]);
            pair.world.run_for(Duration::from_secs(20));
            assert_connected(&mut pair, &context);
            let got = pair.receive_all(B).len();
            assert_eq!(got, if traffic { 100 } else { 0 }, "{context}");
        }
    }
}

/// The host that is not paused hears nothing for 15 s, which is silence by its timeout of 10 s. With a
/// longer timeout the connection survives. The paused host never ends the connection by itself.
#[test]
fn a_loading_screen_of_one_is_for_the_other_to_judge() {
    for (timeout, survives) in [(10, false), (20, true)] {
        for away in [A, B] {
            let context = format!("{timeout} s, {away} is away; {}", seed());
            let config = config::new().timeout(Duration::from_secs(timeout)).unwrap();
            let mut pair = Pair::new(seed(), line(), config.clone(), config);
            pair.connect_to_listener();
            pair.world.run_for(Duration::from_secs(1));
            let screen = Service::Tick {
                every: Duration::from_secs(1000),
                offset: Duration::from_secs(16),
            };
            pair.world.set_service(away, screen);
            pair.world.run_for(Duration::from_secs(15));
            pair.world.set_service(away, Service::Event);
            pair.world.run_for(Duration::from_secs(1));
            if survives {
                pair.world.run_for(Duration::from_secs(60));
                assert_connected(&mut pair, &context);
                continue;
            }
            let other = Pair::other(away);
            let end = (DisconnectReason::Silent, 0);
            assert_told(&mut pair, other, end, &context);
        }
    }
}

/// A datagram that is under way while a clock jumps seems to have taken an hour, so T_rtt,avg is wrong.
/// Pings still go on at least once a second (T24), and lost packets are soon sent again.
#[test]
fn a_clock_that_jumps_does_not_silence_a_connection() {
    let config = config::new().timeout(Duration::from_secs(5)).unwrap();
    let mut pair = Pair::new(seed(), line(), config.clone(), config);
    pair.connect_to_listener();
    // The pings that are under way are answered one by one.
    pair.world
        .network_mut()
        .set_all(line().delay(Duration::from_millis(400)));
    pair.world.run_for(Duration::from_secs(1));
    for address in [A, B] {
        pair.world.jump_clock(address, 3_600_000_000);
    }
    pair.world.run_for(Duration::from_secs(60));
    assert_connected(&mut pair, "both clocks have jumped");
}

/// Two hosts and a wire without delay; the test sets their clocks.
struct Jumper {
    hosts: [Host<ChaCha8Rng, usize>; 2],
    clocks: [Instant; 2],
}

impl Jumper {
    fn new(start: Instant) -> Self {
        let seed = Seed::new(8);
        let host = |index| Host::new(config::new(), seed.stream("host", index));
        let mut hosts = [host(0), host(1)];
        assert_eq!(hosts[1].listen(Listen::Open), Ok(()));
        assert!(hosts[0].connect(start, 1).is_ok());
        Self {
            hosts,
            clocks: [start; 2],
        }
    }

    /// One datagram passes, or both hosts are stepped. Returns false if neither host has anything to
    /// send.
    fn step(&mut self) -> bool {
        let mut buf = [0; 1200];
        for (from, to) in [(0, 1), (1, 0)] {
            let (now, then) = (self.clocks[from], self.clocks[to]);
            self.hosts[from].handle_timeout(now);
            if let Some(transmit) = self.hosts[from].poll_transmit(now, &mut buf) {
                let datagram = transmit.datagram.to_vec();
                self.hosts[to].handle_datagram(then, from, Ecn::NotEct, &datagram);
                return true;
            }
        }
        false
    }

    fn settle(&mut self) {
        let steps = (0..10_000).take_while(|_| self.step()).count();
        assert!(steps < 10_000, "no end at {:?}", self.clocks);
    }

    fn ends(&mut self, side: usize) -> Vec<DisconnectReason> {
        let host = &mut self.hosts[side];
        let mut reasons = Vec::new();
        while let Some(event) = host.poll_event() {
            if let Event::Disconnected { reason, .. } = event {
                reasons.push(reason);
            }
        }
        reasons
    }

    fn is_connected(&self, side: usize) -> bool {
        let mut peers = self.hosts[side].peers();
        peers.any(|(_, peer)| peer.state() == PeerState::Connected)
    }
}

/// One clock or both jump once, before each datagram of a handshake, of a transfer and of a
/// disconnection. T23.
#[test]
fn an_hour_passes_in_the_middle_of_anything() {
    for jump in [[HOUR, HOUR], [HOUR, Duration::ZERO], [Duration::ZERO, HOUR]] {
        for moment in 0..100 {
            let start = Instant::from_micros(moment * 1000);
            let context = format!("{jump:?}, before step {moment}");
            let mut wire = Jumper::new(start);
            let mut steps = 0;
            let mut run = |wire: &mut Jumper| {
                loop {
                    if steps == moment {
                        for (clock, jump) in wire.clocks.iter_mut().zip(jump) {
                            *clock = *clock + jump;
                        }
                    }
                    steps += 1;
                    if !wire.step() {
                        return;
                    }
                }
            };
            run(&mut wire);
            assert!(wire.is_connected(0), "{context}");
            let peer = wire.hosts[0].peers().next().expect("B").0;
            for n in 0..20 {
                let packet = vec![n; 3000];
                let sent = wire.hosts[0].send(peer, 0.into(), packet, Mode::Reliable);
                assert_eq!(sent, Ok(()), "{context}");
            }
            run(&mut wire);
            let there = wire.hosts[1].peers().next().expect("A").0;
            let host = &mut wire.hosts[1];
            let got = core::iter::from_fn(|| host.receive(there)).count();
            assert_eq!(got, 20, "{context}");
            let how = Disconnect::Now { reason: 3 };
            assert_eq!(wire.hosts[0].disconnect(wire.clocks[0], peer, how), Ok(()));
            run(&mut wire);
            for _ in 0..60 {
                wire.clocks = wire.clocks.map(|clock| clock + Duration::from_millis(100));
                wire.settle();
            }
            let ends = [wire.ends(0), wire.ends(1)];
            assert_eq!(ends[1], [DisconnectReason::ByPeer(3)], "{context}");
            // After an hour B may have forgotten what it was about to acknowledge.
            let forgotten = jump[1] == HOUR && ends[0] == [DisconnectReason::GoodbyeUnanswered];
            assert!(
                forgotten || ends[0] == [DisconnectReason::ByUs(3)],
                "{context}"
            );
        }
    }
}

/// A clock near its end: deadlines beyond it never come, and nothing overflows.
#[test]
fn near_the_end_of_time_connections_are_made_and_ended() {
    for left in [0, 1, 1000, 50_000, 500_000, 20_000_000] {
        let mut wire = Jumper::new(Instant::from_micros(u64::MAX - left));
        wire.settle();
        assert!(wire.is_connected(0) && wire.is_connected(1), "{left}");
        let peer = wire.hosts[0].peers().next().expect("B").0;
        let sent = wire.hosts[0].send(peer, 0.into(), vec![1; 5000], Mode::Reliable);
        assert_eq!(sent, Ok(()), "{left}");
        wire.settle();
        let there = wire.hosts[1].peers().next().expect("A").0;
        assert!(wire.hosts[1].receive(there).is_some(), "{left}");
        wire.clocks = [Instant::from_micros(u64::MAX); 2];
        wire.settle();
        let how = Disconnect::Now { reason: 3 };
        assert_eq!(wire.hosts[0].disconnect(wire.clocks[0], peer, how), Ok(()));
        wire.settle();
        assert_eq!(wire.ends(0), [DisconnectReason::ByUs(3)], "{left}");
        assert_eq!(wire.ends(1), [DisconnectReason::ByPeer(3)], "{left}");
    }
}

/// T_step,avg measures steps, not pauses: a second without a step does not raise T_rto (7).
#[test]
fn a_pause_is_no_step() {
    let mut wire = Jumper::new(Instant::ZERO);
    let mut after = |pause: u64| {
        wire.clocks = wire
            .clocks
            .map(|clock| clock + Duration::from_millis(pause));
        wire.settle();
        let (_, peer) = wire.hosts[0].peers().next().expect("B");
        peer.stats().resend_timeout
    };
    // A silent connection is measured once a second.
    for _ in 0..1000 {
        after(200);
    }
    let expected = Duration::from_millis(200);
    let timeout = after(200);
    assert!(timeout.abs_diff(expected) < Duration::from_millis(2));
    after(1000);
    assert_eq!(after(200), timeout);
}

/// The flush of a host that is called seldom ends by its deadline, not earlier.
#[test]
fn a_flush_of_a_slow_host_is_a_flush() {
    let mut pair = stepped([Duration::from_millis(500), Duration::from_millis(16)]);
    events(&mut pair.world, B);
    queue(&mut pair, A, 40);
    disconnect(&mut pair, A, flush(6));
    pair.world.run_for(Duration::from_secs(29));
    let end = (DisconnectReason::ByPeer(6), 0);
    assert_told(&mut pair, B, end, "flushed");
    assert_eq!(pair.receive_all(B).len(), 40, "{}", seed());
}

/// Hosts whose paces change all the time keep every promise on a bad line.
#[test]
fn uneven_steps_break_no_promise() {
    for number in 0..4 {
        let seed = Seed::new(number);
        let mut pair = quiet_pair(seed, line());
        pair.world.network_mut().set_all(line().loss(10.0));
        let mut traffic = Traffic::new(&pair, A, 3000, number + 1);
        let b = pair.peer(B);
        for n in 0..600_u64 {
            let millis = |salt: u64| 1 + (n * 7919 + salt * 104_729 + number) % 900;
            let tick = |salt| Service::tick(Duration::from_millis(millis(salt)));
            set_services(&mut pair, [tick(1), tick(2)]);
            traffic.send(&mut pair.world);
            pair.world.run_for(Duration::from_millis(100));
            traffic.receive(&mut pair.world, b);
        }
        set_services(&mut pair, [Service::Event; 2]);
        pair.world.network_mut().set_all(line());
        pair.world.run_for(Duration::from_secs(10));
        traffic.receive(&mut pair.world, b);
        assert!(traffic.model.is_complete(), "{seed}");
        assert_connected(&mut pair, "uneven steps");
    }
}

/// Steps may be far apart with a deadline in each interval: that is no pause of the host. T23.
#[test]
fn a_dead_remote_is_noticed_at_any_pace() {
    for every in [100, 300, 1000, 3000, 9000, 20_000] {
        for traffic in [false, true] {
            let context = format!("every {every} ms, {traffic}; {}", seed());
            let mut pair = stepped([Duration::from_millis(every), Duration::from_millis(10)]);
            events(&mut pair.world, A);
            if traffic {
                queue(&mut pair, A, 100);
            }
            pair.world.remove_host(B);
            // Steps a second apart are no pauses; three longer ones excuse a peer.
            let limit = if every <= 1000 { 13 } else { 100 };
            pair.world.run_for(Duration::from_secs(limit));
            let ends = ended(&events(&mut pair.world, A));
            assert_eq!(ends.len(), 1, "{context}");
            assert_eq!(ends[0].1, DisconnectReason::Silent, "{context}");
        }
    }
}
