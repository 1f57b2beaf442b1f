//! Programs are killed and started again at every moment of a handshake and of a disconnection, at
//! the same address (C5, C7). A always wants to be connected to B, which listens. Between the two a
//! datagram takes 20 ms.

use core::time::Duration;

use porous_proto::{Config, Disconnect, DisconnectReason, Event, Instant, Listen, PeerId};
use porous_sim::{LinkConfig, Pair, Seed, World};
use porous_tests::{Ends, assert_talk, config, line};

const A: u32 = Pair::A;
const B: u32 = Pair::B;
const STEP: Duration = Duration::from_millis(5);

/// A program at one address, and the events since it was started.
#[derive(Default)]
struct Program {
    told: Vec<Event<u32>>,
}

impl Program {
    /// The contract (C11): each peer has at most one `Connected`, then one `Disconnected`, and nothing
    /// after it. Returns the peers that are connected.
    fn connected(&self, context: &str) -> Vec<PeerId> {
        let mut connected: Vec<PeerId> = Vec::new();
        let mut over: Vec<PeerId> = Vec::new();
        for event in &self.told {
            let context = format!("{event:?} in {:?}; {context}", self.told);
            if let Event::Connected { peer, .. } = *event {
                let fresh = !connected.contains(&peer) && !over.contains(&peer);
                assert!(fresh, "{context}");
                connected.push(peer);
            }
            if let Event::Disconnected { peer, .. } = *event {
                assert!(!over.contains(&peer), "{context}");
                connected.retain(|&other| other != peer);
                over.push(peer);
            }
        }
        connected
    }

    fn ended_as(&self, reason: DisconnectReason) -> usize {
        let same = |event: &&Event<u32>| matches!(event, Event::Disconnected { reason: r, .. } if *r == reason);
        self.told.iter().filter(same).count()
    }
}

/// Both programs, and what they do.
struct Story {
    world: World,
    programs: [Program; 2],
    context: String,
}

impl Story {
    fn new(seed: Seed, links: LinkConfig, context: String) -> Self {
        let world = Pair::new(seed, links, client(), config::new()).world;
        let mut story = Self {
            world,
            programs: Default::default(),
            context: format!("{context}; {seed}"),
        };
        story.begin(A);
        story.begin(B);
        story
    }

    /// Each program begins: B listens, A connects.
    fn begin(&mut self, address: u32) {
        if address == A {
            assert!(self.world.connect(A, B).is_ok(), "{}", self.context);
        } else {
            assert_eq!(self.world.host_mut(B).listen(Listen::Open), Ok(()));
        }
    }

    /// A connects again whenever a connection has ended.
    fn run_until(&mut self, limit: Instant) {
        while self.world.now() < limit {
            let next = (self.world.now() + STEP).min(limit);
            self.world.run_until(next);
            for (address, program) in [A, B].into_iter().zip(&mut self.programs) {
                while let Some(event) = self.world.poll_event(address) {
                    program.told.push(event);
                    if let (A, Event::Disconnected { .. }) = (address, event) {
                        assert!(self.world.connect(A, B).is_ok(), "{}", self.context);
                    }
                }
            }
        }
    }

    fn run_for(&mut self, time: Duration) {
        self.run_until(self.world.now() + time);
    }

    /// These programs are killed, and started again after `pause`.
    fn restart(&mut self, who: &[u32], pause: Duration) {
        for &address in who {
            assert!(self.world.remove_host(address), "{}", self.context);
        }
        self.world.run_for(pause);
        for &address in who {
            let config = if address == A {
                client()
            } else {
                config::new()
            };
            self.world.add_host(address, config);
            self.programs[usize::from(address == B)] = Program::default();
            self.begin(address);
        }
    }

    /// At the end there is one connection, and it works.
    fn assert_one_connection(&mut self) {
        let ends: Ends = [A, B].map(|address| {
            let program = &self.programs[usize::from(address == B)];
            let connected = program.connected(&self.context);
            let host = self.world.host(address);
            let live: Vec<_> = host
                .peers()
                .filter(|(_, peer)| peer.channels() > 0)
                .map(|(id, _)| id)
                .collect();
            let context = format!("{address}: {:?}; {}", program.told, self.context);
            assert_eq!(connected.len(), 1, "{context}");
            assert_eq!(live, connected, "{context}");
            connected[0]
        });
        assert_talk(&mut self.world, ends, &self.context);
    }
}

fn client() -> Config {
    config::client()
}

fn millis(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

const ANYBODY: [&[u32]; 3] = [&[A], &[B], &[A, B]];
const PAUSES: [Duration; 4] = [
    Duration::ZERO,
    Duration::from_millis(30),
    Duration::from_millis(700),
    Duration::from_secs(12),
];

/// C5.
#[test]
fn anybody_restarts_at_any_moment_of_a_handshake() {
    for who in ANYBODY {
        for pause in PAUSES {
            for at in (0..160).step_by(5) {
                let context = format!("{who:?} restart at {at} ms for {pause:?}");
                let mut story = Story::new(Seed::new(1), line(), context);
                story.run_for(millis(at));
                story.restart(who, pause);
                story.run_for(Duration::from_secs(40));
                story.assert_one_connection();
            }
        }
    }
}

/// C5.
#[test]
fn anybody_restarts_at_any_moment_of_a_disconnection() {
    for leaves in [A, B] {
        for who in ANYBODY {
            for pause in PAUSES {
                for at in (0..70).step_by(5) {
                    let context = format!("{leaves} leaves, {who:?} at {at} ms for {pause:?}");
                    let mut story = Story::new(Seed::new(2), line(), context);
                    story.run_for(millis(1003));
                    let peer = story.programs[usize::from(leaves == B)].connected("")[0];
                    let how = Disconnect::Now { reason: 5 };
                    assert_eq!(story.world.disconnect(leaves, peer, how), Ok(()));
                    story.run_for(millis(at));
                    story.restart(who, pause);
                    story.run_for(Duration::from_secs(40));
                    story.assert_one_connection();
                }
            }
        }
    }
}

#[test]
fn anybody_restarts_again_and_again_on_a_bad_line() {
    for number in 0..30_u64 {
        let seed = Seed::from_env(Seed::new(number));
        let bad = line().loss(20.0).jitter(millis(10)).reorder(20.0);
        let mut story = Story::new(seed, bad, String::from("a bad line"));
        for n in 0..20 {
            story.run_for(millis(10 + (number * 37 + n * 91) % 900));
            let who = ANYBODY[usize::try_from((number + n * n) % 3).expect("a digit")];
            story.restart(who, millis((n * 53) % 200));
        }
        story.world.network_mut().set_all(line());
        story.run_for(Duration::from_secs(60));
        story.assert_one_connection();
    }
}

/// C5.
#[test]
fn a_client_that_was_killed_is_told_of_as_restarted_exactly_once() {
    // Before the client is back, the server may have found out by itself that it is gone.
    for (pause, restarted) in [(0, 1), (200, 1), (900, 1), (15_000, 0)] {
        for loss in [0.0, 20.0] {
            let context = format!("{pause} ms, {loss} %");
            let mut story = Story::new(Seed::new(4), line(), context);
            story.run_for(Duration::from_secs(1));
            story.world.network_mut().set_all(line().loss(loss));
            story.restart(&[A], millis(pause));
            story.run_for(Duration::from_secs(20));
            story.assert_one_connection();
            let told = &story.programs[1];
            let context = format!("{:?}; {}", told.told, story.context);
            assert_eq!(
                told.ended_as(DisconnectReason::Restarted),
                restarted,
                "{context}"
            );
            let timed_out = told.ended_as(DisconnectReason::Silent);
            assert_eq!(timed_out, 1 - restarted, "{context}");
        }
    }
}
