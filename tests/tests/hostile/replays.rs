//! Whole conversations between honest hosts, replayed: nothing is taken twice.

use core::time::Duration;

use porous_proto::{
    ChannelId, Config, Disconnect, Disposition, Ecn, Event, Host, Instant, Integrity, Listen, Mode,
    PeerState,
};
use porous_sim::Seed;
use porous_sim::rand_core::Rng;

use crate::forge::chance;
use crate::guest::{GUEST, Guest};
use crate::metered::Victim;
use crate::scene::{Cost, HOST, STRANGER, Scene, case, case_with, config};

const SECOND: Duration = Duration::from_secs(1);

/// A guest comes and says ten words, which are read.
fn talk(scene: &mut Scene, config: Config, seed: u64) -> Guest {
    let mut guest = Guest::arrive_with(scene, config, seed);
    guest.stay(scene, SECOND);
    assert!(guest.is_connected());
    for n in 0..10 {
        guest.send(vec![n; 2000]);
        guest.stay(scene, SECOND / 10);
    }
    assert_eq!(scene.read(GUEST), 10);
    guest
}

/// A whole conversation: what its guest has said.
fn conversation(scene: &mut Scene) -> Vec<Vec<u8>> {
    let mut guest = talk(scene, config(), 3);
    guest.leave(scene);
    assert!(guest.said.len() > 20, "{}", guest.said.len());
    scene.said.clear();
    scene.events.clear();
    guest.said
}

/// The same with a host of which nothing is left: this one has drawn other keys.
fn earlier_conversation() -> Vec<Vec<u8>> {
    let mut tape = Vec::new();
    let mut hosts = [(77, HOST), (3, GUEST)].map(|(seed, address)| {
        let host: Victim = Host::new(config(), Seed::new(seed).stream("host", 0));
        (address, host)
    });
    assert_eq!(hosts[0].1.listen(Listen::Open), Ok(()));
    let peer = hosts[1].1.connect(Instant::ZERO, HOST).unwrap();
    for step in 0..300 {
        let now = Instant::from_micros(step * 10_000);
        let guest = &mut hosts[1].1;
        let _ = guest.send(peer, ChannelId(0), vec![7; 100], Mode::Reliable);
        if step == 250 {
            let how = Disconnect::Now { reason: 3 };
            assert_eq!(guest.disconnect(now, peer, how), Ok(()));
        }
        for (here, there) in [(0, 1), (1, 0)] {
            let mut buf = [0; 1200];
            hosts[here].1.handle_timeout(now);
            while let Some(transmit) = hosts[here].1.poll_transmit(now, &mut buf) {
                let datagram = transmit.datagram.to_vec();
                let from = hosts[here].0;
                hosts[there]
                    .1
                    .handle_datagram(now, from, Ecn::NotEct, &datagram);
                if here == 1 {
                    tape.push(datagram);
                }
            }
        }
    }
    assert!(tape.len() > 100, "{}", tape.len());
    tape
}

/// All of it comes again from there, `pause` apart. Nobody comes to be, nothing is told, and what
/// is said is less than what has come.
fn replay(scene: &mut Scene, from: u32, tape: &[Vec<u8>], pause: Duration) {
    let accepted = scene.host.host.stats().accepted;
    let (others, events) = (scene.others(), scene.events.len());
    let before: usize = scene.said_to(from).iter().map(|said| said.len()).sum();
    for datagram in tape {
        scene.now = scene.now + pause;
        let taken = scene.deliver(from, datagram);
        assert!(!matches!(taken, Disposition::Accepted(_)), "{taken:?}");
    }
    let after: usize = scene.said_to(from).iter().map(|said| said.len()).sum();
    let received: usize = tape.iter().map(Vec::len).sum();
    assert!(after - before <= received, "{after} bytes for {received}");
    assert_eq!(scene.host.host.stats().accepted, accepted);
    assert_eq!((scene.others(), scene.events.len()), (others, events));
    assert_eq!(scene.read(from), 0, "a word again");
}

/// `[R23]` Replayed at once, while it goes on, a conversation brings nothing.
#[test]
fn a_conversation_replayed_while_it_goes_on_brings_nothing() {
    let cost = Cost {
        bytes: 48_000,
        steps: 390,
    };
    case(cost, |scene| {
        let mut guest = talk(scene, config(), 3);
        scene.events.clear();
        let tape = guest.said.clone();
        for _ in 0..10 {
            replay(scene, GUEST, &tape, Duration::ZERO);
        }
        guest.stay(scene, SECOND);
        guest.send(vec![7; 100]);
        guest.stay(scene, SECOND);
        assert_eq!(scene.read(GUEST), 1, "it goes on");
        guest.leave(scene);
    });
}

/// `[R23 X18]` Replayed from other addresses it brings nothing, while it goes on and when it is over.
#[test]
fn a_conversation_replayed_from_other_addresses_changes_nothing() {
    let cost = Cost {
        bytes: 48_000,
        steps: 110,
    };
    case(cost, |scene| {
        let mut guest = talk(scene, config(), 3);
        scene.events.clear();
        let tape = guest.said.clone();
        for from in STRANGER..STRANGER + 20 {
            replay(scene, from, &tape, Duration::from_millis(1));
        }
        guest.leave(scene);
        scene.events.clear();
        for from in STRANGER..STRANGER + 20 {
            replay(scene, from, &tape, Duration::from_millis(1));
        }
    });
}

/// `[R23 R4]` Replayed when it is over, ten times, it brings nothing.
#[test]
fn a_conversation_replayed_after_its_end_brings_nothing() {
    let cost = Cost {
        bytes: 48_000,
        steps: 110,
    };
    case(cost, |scene| {
        let tape = conversation(scene);
        for _ in 0..10 {
            replay(scene, GUEST, &tape, Duration::from_millis(1));
        }
    });
}

/// `[R23 X3]` Replayed when it is forgotten, at every age of its cookie, it brings nothing.
#[test]
fn a_conversation_replayed_after_a_while_brings_nothing() {
    let cost = Cost {
        bytes: 48_000,
        steps: 110,
    };
    case(cost, |scene| {
        let tape = conversation(scene);
        for _ in 0..50 {
            scene.now = scene.now + SECOND;
            replay(scene, GUEST, &tape, Duration::from_millis(1));
        }
        for age in [40, 400, 4000] {
            scene.pass(age * SECOND);
            replay(scene, GUEST, &tape, Duration::from_millis(1));
        }
    });
}

/// `[R23 X24]` Replayed backwards, and in any order, it brings nothing.
#[test]
fn a_conversation_replayed_in_another_order_brings_nothing() {
    let cost = Cost {
        bytes: 48_000,
        steps: 110,
    };
    case(cost, |scene| {
        let mut tape = conversation(scene);
        tape.reverse();
        replay(scene, GUEST, &tape, Duration::from_millis(1));
        let mut chance = chance("order");
        for _ in 0..10 {
            for last in (1..tape.len()).rev() {
                let other = usize::try_from(chance.next_u64() % (last as u64 + 1)).unwrap();
                tape.swap(last, other);
            }
            replay(scene, GUEST, &tape, Duration::from_millis(1));
        }
    });
}

/// `[R23 X18]` Replayed to a host that was started again it brings nothing.
#[test]
fn a_conversation_with_an_earlier_host_brings_nothing() {
    let cost = Cost {
        bytes: 200,
        steps: 50,
    };
    case(cost, |scene| {
        let tape = earlier_conversation();
        for _ in 0..10 {
            replay(scene, GUEST, &tape, Duration::from_millis(1));
        }
    });
}

/// `[R23]` What the host has said itself is nothing when it comes back, from the guest or others.
#[test]
fn what_the_host_has_said_brings_nothing() {
    let cost = Cost {
        bytes: 48_000,
        steps: 110,
    };
    case(cost, |scene| {
        let mut guest = talk(scene, config(), 3);
        scene.events.clear();
        let tape = guest.heard.clone();
        for from in [GUEST, STRANGER, STRANGER + 1] {
            replay(scene, from, &tape, Duration::from_millis(1));
        }
        guest.leave(scene);
        scene.events.clear();
        for from in [GUEST, STRANGER, STRANGER + 1] {
            replay(scene, from, &tape, Duration::from_millis(1));
        }
    });
}

/// `[R23 X18]` Replayed in the middle of a new conversation of the same two it brings nothing.
#[test]
fn a_conversation_replayed_into_the_next_one_brings_nothing() {
    let cost = Cost {
        bytes: 48_000,
        steps: 110,
    };
    case(cost, |scene| {
        let tape = conversation(scene);
        let mut next = Guest::arrive_with(scene, config(), 4);
        next.stay(scene, SECOND);
        scene.events.clear();
        for _ in 0..3 {
            replay(scene, GUEST, &tape, Duration::from_millis(1));
            next.stay(scene, SECOND);
            assert!(next.is_connected());
        }
        next.send(vec![7; 100]);
        next.stay(scene, SECOND);
        assert_eq!(scene.read(GUEST), 1);
        next.leave(scene);
    });
}

/// `[R23 X19 X23]` Frames of another lap of their short ids are known for what they are: none is taken,
/// 700 frames later. P15.
#[test]
fn frames_of_another_lap_are_known_by_their_check() {
    let cost = Cost {
        bytes: 48_000,
        steps: 110,
    };
    for integrity in [Integrity::Header, Integrity::Crc32c] {
        another_lap(cost, integrity);
    }
}

fn another_lap(cost: Cost, integrity: Integrity) {
    case_with(config().integrity(integrity), cost, |scene| {
        let mut guest = talk(scene, config(), 3);
        let tape = guest.said.clone();
        for n in 0..700_u32 {
            guest.send(n.to_le_bytes().to_vec());
            guest.stay(scene, SECOND / 50);
            assert_eq!(scene.read(GUEST), 1, "{n}");
        }
        scene.events.clear();
        let (peer, _) = scene.host.host.peers().last().unwrap();
        let heard = |scene: &Scene| {
            let stats = scene.host.host.peer(peer).map(porous_proto::Peer::stats);
            stats.unwrap().datagrams_received
        };
        let frames: Vec<_> = tape.into_iter().filter(|said| said[0] < 0x80).collect();
        let before = heard(scene);
        for _ in 0..3 {
            replay(scene, GUEST, &frames, Duration::ZERO);
        }
        assert_eq!(heard(scene), before, "a frame was taken");
        guest.leave(scene);
    });
}

/// `[R23]` A guest that hears its own conversation again takes nothing twice either.
#[test]
fn a_guest_that_hears_it_all_again_stays() {
    let cost = Cost {
        bytes: 48_000,
        steps: 110,
    };
    case(cost, |scene| {
        let mut guest = talk(scene, config(), 3);
        for _ in 0..10 {
            for datagram in guest.heard.clone() {
                guest.hear_from_nobody(scene, &datagram);
            }
            guest.meet(scene);
        }
        guest.stay(scene, SECOND);
        assert!(guest.is_connected());
        let end = |event: &Event<u32>| matches!(event, Event::Disconnected { .. });
        assert!(!scene.events.iter().any(end));
        assert_eq!(scene.states(GUEST), [PeerState::Connected]);
        guest.leave(scene);
    });
}
