//! What a host holds over time: events, replies, places, deadlines.

use core::time::Duration;

use porous_proto::{ChannelId, Disposition, Ecn, Event, Mode, SendError};
use porous_tests::encoder::{Ack, Packet};

use crate::forge::{STATELESS, disconnection, first, second};
use crate::scene::{ENEMY, STRANGER, Scene, case, case_with, config, offer};

const SECOND: Duration = Duration::from_secs(1);
const PACE: Duration = Duration::from_millis(50);

/// The application does not look: a datagram comes, and what is to be sent leaves.
fn unattended(scene: &mut Scene, from: u32, datagram: &[u8]) -> Disposition {
    let now = scene.now;
    let taken = scene
        .host
        .call(|host| host.handle_datagram(now, from, Ecn::NotEct, datagram));
    let mut buf = [0; 1200];
    loop {
        let next = scene.host.call(|host| {
            let transmit = host.poll_transmit(now, &mut buf);
            transmit.map(|transmit| (transmit.to, transmit.datagram.len()))
        });
        let Some((to, len)) = next else { return taken };
        scene.said.push((to, buf[..len].to_vec()));
    }
}

/// The number of events that wait.
fn waiting(scene: &mut Scene) -> usize {
    core::iter::from_fn(|| scene.host.call(porous_proto::Host::poll_event)).count()
}

/// A newcomer comes and goes, while the application does not look. True if it is let in.
fn visit(scene: &mut Scene, from: u32, nonce: u64) -> bool {
    scene.said.clear();
    assert_eq!(unattended(scene, from, &first(nonce, &offer())), STATELESS);
    let answer = &scene.said.last().unwrap().1;
    if answer[0] == 0xE0 {
        return false;
    }
    let nonces = [nonce, porous_tests::remote::nonce(answer)];
    scene.trust(from);
    let taken = unattended(scene, from, &second(nonces, &offer()));
    assert!(matches!(taken, Disposition::Accepted(_)), "{taken:?}");
    unattended(scene, from, &disconnection(nonces));
    true
}

/// `[R16]` An application that does not look at its events lets 4096 of them wait, and a few for each
/// peer; then no newcomer is let in until it looks.
#[test]
fn nobody_is_let_in_while_4096_events_wait() {
    case_with(config().max_peers(2048), |scene| {
        let mut visits = 0;
        while visit(scene, STRANGER + visits, u64::from(STRANGER + visits)) {
            visits += 1;
            scene.now = scene.now + Duration::from_micros(50);
        }
        assert_eq!(visits, 2048, "two events each");
        assert!(!visit(scene, STRANGER, 10));
        assert_eq!(waiting(scene), 4096);
        assert!(visit(scene, STRANGER + visits, 10));
        scene.tables = 4096 * 64;
    });
}

/// `[R16 X25]` An application that reads and does not look at its events is told once that there is
/// something to read.
#[test]
fn an_application_that_only_reads_has_few_events() {
    case(|scene| {
        let mut enemy = scene.settle(ENEMY, 9, &offer());
        let (peer, _) = scene.host.host.peers().last().unwrap();
        for n in 0..10_000 {
            let packet = Packet::whole(1, 0, n & 0xFFFF, u32::from(n > 0), vec![7]);
            let frame = enemy.short(None, vec![packet.into()]).encode(&enemy.shape);
            let taken = unattended(scene, ENEMY, &frame);
            assert!(matches!(taken, Disposition::Handled(_)), "{n}: {taken:?}");
            let read = |scene: &mut Scene| scene.host.call(|host| host.receive(peer).is_some());
            assert!(read(scene) && !read(scene), "{n}");
        }
        let events = waiting(scene);
        assert!(events <= 10, "{events}");
    });
}

/// `[R16 R10]` An application that sends and does not look is told once that there is room again.
#[test]
fn an_application_that_only_sends_has_few_events() {
    case_with(config().send_budget(1000).unwrap(), |scene| {
        let mut enemy = scene.settle(ENEMY, 9, &offer());
        let (peer, _) = scene.host.host.peers().last().unwrap();
        for _ in 0..2000 {
            let send = |scene: &mut Scene| {
                scene
                    .host
                    .call(|host| host.send(peer, ChannelId(0), &[7; 100][..], Mode::Unreliable))
            };
            while send(scene) == Ok(()) {}
            assert_eq!(send(scene), Err(SendError::Full));
            scene.said.clear();
            let ack: Option<Ack> = None;
            let frame = enemy.short(ack, Vec::new()).encode(&enemy.shape);
            unattended(scene, ENEMY, &frame);
            scene.now = scene.now + Duration::from_millis(1);
            for (_, said) in &scene.said {
                enemy.hear(said);
            }
            let ack = scene.acknowledgement(&enemy);
            let frame = enemy.short(Some(ack), Vec::new()).encode(&enemy.shape);
            unattended(scene, ENEMY, &frame);
        }
        let events = waiting(scene);
        assert!(events <= 10, "{events}");
    });
}

/// `[R3 R1]` Under, at and over the number of places.
#[test]
fn as_many_are_let_in_as_there_are_places() {
    case(|scene| {
        for n in 0..1000 {
            let nonce = u64::from(STRANGER + n);
            let taken = scene.deliver(STRANGER + n, &first(nonce, &offer()));
            assert_eq!(taken, STATELESS);
            let answer = &scene.said_to(STRANGER + n)[0];
            if n < 7 {
                let nonces = [nonce, porous_tests::remote::nonce(answer)];
                let taken = scene.deliver(STRANGER + n, &second(nonces, &offer()));
                assert!(matches!(taken, Disposition::Accepted(_)), "{n}: {taken:?}");
                scene.trust(STRANGER + n);
            } else {
                assert_eq!(answer[0], 0xE0, "{n}");
            }
        }
        assert_eq!(scene.others(), 7);
    });
}

/// `[R3 R18]` Places of silent peers are free again in time.
#[test]
fn silent_ones_leave_their_places() {
    case(|scene| {
        for round in 0..5 {
            for n in 0..7 {
                scene.join(
                    STRANGER + 10 * round + n,
                    u64::from(STRANGER + 10 * round + n),
                    &offer(),
                );
            }
            let late = STRANGER + 10 * round + 8;
            assert_eq!(scene.deliver(late, &first(9, &offer())), STATELESS);
            assert_eq!(scene.said_to(late)[0][0], 0xE0);
            scene.pass(11 * SECOND);
        }
    });
}

/// `[R3 R4]` Peers that the host connects to take no places, and neither kind keeps the other out.
#[test]
fn attempts_take_no_places() {
    case(|scene| {
        for n in 0..100 {
            let (now, to) = (scene.now, STRANGER + n);
            scene.trust(to);
            assert!(scene.host.call(|host| host.connect(now, to)).is_ok());
        }
        scene.flush();
        for n in 0..7 {
            scene.settle(STRANGER + 500 + n, u64::from(STRANGER + 500 + n), &offer());
        }
        assert_eq!(scene.others(), 107);
        scene.pass(11 * SECOND);
        let end = |event: &&Event<u32>| matches!(event, Event::Disconnected { .. });
        assert_eq!(scene.events.iter().filter(end).count(), 107);
    });
}

/// `[R18]` Whatever comes, the time at which the host wants to be called next is to come.
#[test]
fn deadlines_are_to_come_whatever_has_come() {
    case(|scene| {
        scene.attempt();
        for n in 1..=400 {
            scene.pass(PACE);
            let enemy = scene.settle(STRANGER, n, &offer());
            match n % 4 {
                0 => drop(scene.deliver(STRANGER, &disconnection(enemy.nonces))),
                1 => drop(scene.deliver(STRANGER, &second(enemy.nonces, &offer()))),
                2 => drop(scene.deliver(ENEMY, &first(n, &offer()))),
                _ => drop(scene.deliver(STRANGER + 1, &[0x40, 1, 2, 3, 4, 5])),
            }
            let now = scene.now;
            scene.host.call(|host| host.handle_timeout(now));
            scene.flush();
            let due = scene.host.host.poll_timeout();
            assert!(due.is_some_and(|due| due > now), "{n}: {due:?} at {now:?}");
        }
    });
}
