//! Recovery from loss, delay and reordering, under the modern policy.

use core::time::Duration;

use porous_proto::{Mode, PeerStats, Policy};
use porous_sim::{LinkConfig, Pair, Seed, Service};
use porous_tests::{config, sent_at, stamped};

const MS: Duration = Duration::from_millis(1);
const TICK: Duration = Duration::from_micros(16_667);

/// Traffic both ways: each host sends a reliable packet of 64 bytes each tick.
struct Play {
    pair: Pair,
    /// By sender: the time at which each packet was sent, and its latency.
    took: [Vec<(u64, u64)>; 2],
}

impl Play {
    fn new(seed: u64, line: LinkConfig, tick: Duration) -> Self {
        let config = config::new().policy(Policy::Modern);
        let mut pair = Pair::new(Seed::new(seed), line, config.clone(), config);
        for host in [Pair::A, Pair::B] {
            pair.world.set_service(host, Service::tick(tick));
        }
        pair.connect_to_listener();
        Self {
            pair,
            took: [Vec::new(), Vec::new()],
        }
    }

    fn send(&mut self, from: u32, len: usize, mode: Mode) {
        let packet = stamped(self.pair.world.now(), len);
        assert_eq!(self.pair.send(from, 0, mode, packet), Ok(()));
    }

    fn receive(&mut self) {
        for to in [Pair::A, Pair::B] {
            let now = self.pair.world.now().as_micros();
            for packet in self.pair.receive_all(to) {
                let at = sent_at(&packet).as_micros();
                self.took[usize::from(to == Pair::A)].push((at, now - at));
            }
        }
    }

    /// Both send for `time`, a packet each tick of 1/60 s.
    fn run(&mut self, time: Duration) {
        let end = self.pair.world.now() + time;
        while self.pair.world.now() < end {
            self.send(Pair::A, 64, Mode::Reliable);
            self.send(Pair::B, 64, Mode::Reliable);
            let left = end.saturating_duration_since(self.pair.world.now());
            self.pair.world.run_for(TICK.min(left));
            self.receive();
        }
    }

    fn stats(&self, host: u32) -> PeerStats {
        let peer = self.pair.peer(host);
        let peer = self.pair.world.host(host).peer(peer);
        peer.expect("it is connected").stats()
    }

    /// The longest latency of the packets that either host sent from this time on.
    fn worst(&self, from: u64) -> u64 {
        let all = self.took.iter().flatten().filter(|&&(at, _)| at >= from);
        all.map(|&(_, took)| took).max().unwrap_or_default()
    }

    /// A burst of datagrams from A to B each tick of 1/60 s, for `time`.
    fn bursts(&mut self, time: Duration) {
        let end = self.pair.world.now() + time;
        while self.pair.world.now() < end {
            for _ in 0..3 {
                self.send(Pair::A, 700, Mode::Unreliable);
            }
            self.pair.world.run_for(TICK);
            self.receive();
        }
    }

    fn set_links(&mut self, links: &[(u32, u32)], line: LinkConfig) {
        for &(from, to) in links {
            self.pair.world.network_mut().set_link(from, to, line);
        }
    }
}

const BOTH: [(u32, u32); 2] = [(Pair::A, Pair::B), (Pair::B, Pair::A)];

/// T3, P6. Packets are ordered: all packets that were sent meanwhile wait for the first one.
#[test]
fn a_blackout_costs_itself_and_two_round_trips() {
    let line = LinkConfig::new().delay(30 * MS);
    for links in [&BOTH[..], &BOTH[..1], &BOTH[1..]] {
        for (service, offset) in [(TICK, 0), (TICK, 3), (TICK, 7), (MS, 1), (MS, 6)] {
            let mut play = Play::new(offset.into(), line, service);
            play.run(2000 * MS + offset * Duration::from_micros(2083));
            let usual = play.worst(1_000_000);
            play.set_links(links, line.down(true));
            play.run(500 * MS);
            play.set_links(links, line);
            play.run(1500 * MS);
            let more = (play.worst(1_000_000) - usual) / 1000;
            assert!(more >= 500, "there was none");
            // Two round trips, and the step in which the receiver looks.
            assert!(more <= 500 + 2 * 60 + 17, "{more} ms, {links:?}, {offset}");
        }
    }
}

/// P6.
#[test]
fn timers_do_not_cut_the_window() {
    let line = LinkConfig::new().delay(30 * MS);
    let mut play = Play::new(1, line, TICK);
    play.run(3000 * MS);
    play.set_links(&BOTH, line.down(true));
    play.run(100 * MS); // datagrams that are under way arrive
    let before = play.stats(Pair::A);
    play.run(5000 * MS);
    let after = play.stats(Pair::A);
    assert_eq!(
        (after.window, after.frames_lost),
        (before.window, before.frames_lost)
    );
    assert!(after.datagrams_sent > before.datagrams_sent);
}

/// P5: after a while frames that are only late no longer count as lost, and the window is as before.
#[test]
fn reordering_is_learnt() {
    let line = LinkConfig::new().delay(30 * MS);
    for line in [
        line.jitter(5 * MS).jitter_reorders(true),
        line.reorder(5.0).reorder_by(5 * MS),
    ] {
        for (seed, service) in [(1, TICK), (2, MS)] {
            let mut play = Play::new(seed, line, service);
            play.bursts(10_000 * MS);
            let before = play.stats(Pair::A);
            let (mut lost, mut events) = (before.frames_lost, 0);
            for _ in 0..60 {
                play.bursts(1000 * MS);
                let now = play.stats(Pair::A).frames_lost;
                events += u32::from(now > lost);
                lost = now;
            }
            let after = play.stats(Pair::A);
            assert!(events <= 1, "{events}, {service:?}, {}", Seed::new(seed));
            assert_eq!(
                lost - before.frames_lost,
                after.frames_spurious - before.frames_spurious,
                "{service:?}"
            );
            // Jitter makes the window a little smaller; a loss would halve it.
            assert!(after.window > 6000, "{service:?} {}", after.window);
        }
    }
}

/// T1: each frame is acknowledged in many blocks.
#[test]
fn lost_acknowledgements_are_not_losses() {
    let line = LinkConfig::new().delay(30 * MS);
    for (seed, service) in [(1, TICK), (2, MS)] {
        let mut play = Play::new(seed, line, service);
        play.set_links(&BOTH[1..], line.loss(30.0));
        play.bursts(30_000 * MS);
        let stats = play.stats(Pair::A);
        assert_eq!(stats.frames_lost, 0, "of {}", stats.frames_sent);
        assert!(stats.window >= 12_000, "{}", stats.window);
    }
}

/// P5: a frame is lost once, whatever repeats its messages.
#[test]
fn each_lost_frame_counts_once() {
    let line = LinkConfig::new().delay(30 * MS);
    for (seed, service) in [(1, TICK), (2, MS)] {
        let mut play = Play::new(seed, line, service);
        play.set_links(&BOTH[..1], line.loss(10.0));
        let network = |play: &Play| play.pair.world.network().link_stats(Pair::A, Pair::B);
        let before = network(&play).lost;
        play.run(30_000 * MS);
        let dropped = network(&play).lost - before;
        let lost = play.stats(Pair::A).frames_lost;
        // Bare acknowledgements and pings do not count as frames with data, and some frames are under
        // way.
        assert!(lost <= dropped && lost + 20 >= dropped, "{lost} {dropped}");
    }
}

/// A frame that is late because a host or a line is slow is not lost.
#[test]
fn nothing_is_lost_because_it_is_late() {
    let line = LinkConfig::new().delay(30 * MS);
    for service in [TICK, MS] {
        let mut hitches = Play::new(1, line, service);
        hitches.run(5000 * MS);
        for n in 0..10 {
            let host = [Pair::A, Pair::B][n % 2];
            hitches.pair.world.hitch(host, 200 * MS);
            hitches.run(1000 * MS);
        }
        let mut slower = Play::new(2, line, service);
        slower.run(5000 * MS);
        slower.set_links(&BOTH, line.delay(250 * MS));
        slower.run(10_000 * MS);
        for play in [hitches, slower] {
            let stats = play.stats(Pair::A);
            assert_eq!(stats.frames_lost, 0);
            // 15 s of 60 datagrams a second, and some probes and acknowledgements.
            let sent = stats.datagrams_sent;
            assert!((800..1000).contains(&sent), "{sent}");
        }
    }
}

/// P6: the probes become rarer as well. Hosts with ticks hold acknowledgements back for longer than a
/// round trip in a local network takes. P7.
#[test]
fn needless_probes_make_later_probes_rarer() {
    let line = LinkConfig::new().delay(MS / 2);
    for service in [TICK, MS] {
        let mut play = Play::new(3, line, service);
        play.run(15_000 * MS);
        for host in [Pair::A, Pair::B] {
            let stats = play.stats(host);
            // A datagram each tick, and few others.
            let sent = stats.datagrams_sent;
            assert!((900..960).contains(&sent), "{sent}, {service:?}");
            assert_eq!(stats.frames_lost, 0);
        }
    }
}

/// With long round trips and losses everything arrives.
#[test]
fn a_satellite_is_slow_but_sure() {
    let line = LinkConfig::new().delay(400 * MS).loss(2.0);
    let mut play = Play::new(1, line, TICK);
    play.run(30_000 * MS);
    play.pair.world.run_for(5000 * MS);
    play.receive();
    let arrived = play.took.each_ref().map(Vec::len);
    assert!(arrived.iter().all(|&count| count >= 1800), "{arrived:?}");
    let worst = play.worst(0) / 1000;
    assert!(worst < 8000, "{worst} ms");
}
