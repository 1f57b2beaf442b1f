//! Peers that do one thing only, for ever.

use core::time::Duration;

use porous_proto::{Disposition, Mode, SendError};
use porous_sim::Seed;
use porous_sim::rand_core::Rng;
use porous_tests::config::{by_policy, has_window};
use porous_tests::encoder::{Ack, Message, Packet, Short};

use crate::peers::{
    RELIABLE, UNRELIABLE, ack_of, any, assert_taken, noop, packet, ping, sentinel, tombstone,
    window,
};
use crate::scene::{ENEMY, FRAGMENT, case};

/// `[R9 X8 R10]` It never acknowledges: what is on its way stays within the window, but for probes,
/// everything else waits within the send budget, and less and less is sent.
#[test]
fn a_peer_that_never_acknowledges() {
    if !has_window() {
        return;
    }
    case(|scene| {
        let mut enemy = scene.enemy();
        // Each frame is repeated once, and at each of 16 timeouts two are.
        let flight = by_policy(2 * 12_000 + 32 * 1200, 12_000);
        let (mut full, mut datagrams) = (0, Vec::new());
        for _ in 0..120 {
            for _ in 0..100 {
                match scene.queue(0, Mode::Reliable, 1000) {
                    Ok(()) => {}
                    Err(error) => {
                        assert_eq!(error, SendError::Full);
                        full += 1;
                    }
                }
            }
            scene.pass(Duration::from_millis(500));
            let stats = scene.stats();
            assert!(stats.flight <= stats.window.max(flight), "{stats:?}");
            datagrams.push(scene.said.len());
            assert_taken(scene.send(&mut enemy, None, vec![noop()]));
            scene.said.clear();
        }
        assert!(full > 1000, "{full}");
        // Nothing is lost by time under the modern policy, and half a minute on there are pings only.
        assert_eq!(scene.stats().window, by_policy(12_000, 1200));
        let last: usize = datagrams[60..].iter().sum();
        assert!(last <= by_policy(60, 220), "{datagrams:?}");
    });
}

/// `[R22 R7]` It only ever acknowledges, and says nothing else, for an hour: nothing is sent to it but pings.
#[test]
fn a_peer_that_only_acknowledges() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let mut heard = 0;
        for _ in 0..3600 {
            scene.pass(Duration::from_secs(1));
            heard += scene.said.len();
            assert_taken(scene.agree(&mut enemy));
        }
        let pings = by_policy(880..=920, 3500..=3700);
        assert!(pings.contains(&heard), "{heard}");
    });
}

/// `[R11 R13 R25]` It sends on one channel only, so much that others are full, and the others get their turn.
#[test]
fn a_peer_that_sends_on_one_channel_only() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for round in 0..100_u32 {
            for n in 0..200 {
                let message = packet(UNRELIABLE, 2, (200 * round + n) & 0xFFFF, 100).into();
                assert_taken(scene.send(&mut enemy, None, vec![message]));
            }
            let other = packet(UNRELIABLE, 1, round, 1).into();
            assert_taken(scene.send(&mut enemy, None, vec![other]));
            let peer = scene.peer();
            let mut channels = (0..2).map(|_| {
                scene
                    .host
                    .call(|host| host.receive(peer).map(|got| got.channel.0))
            });
            assert!(channels.any(|channel| channel == Some(1)), "{round}");
            scene.read(ENEMY);
            scene.said.clear();
        }
    });
}

/// `[R11 X25]` All channels wait for one reliable packet each that never comes: within the budget, and
/// a reader gets nothing, in next to no steps.
#[test]
fn a_peer_that_keeps_everything_waiting() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for id in 1..256 {
            for channel in 0..4 {
                let waits = Packet {
                    dependency: id,
                    ..packet(RELIABLE, channel, id, 150)
                };
                let _ = scene.send(&mut enemy, None, vec![waits.into()]);
                assert_eq!(scene.read(ENEMY), 0);
            }
            scene.said.clear();
        }
        let kept = scene.host.host.audit().kept;
        assert!(kept > 4 * 250 * 200, "{kept}");
        let events = core::mem::take(&mut scene.events);
        assert!(events.is_empty(), "{events:?}");
    });
}

/// Something at random of what there is to say.
fn at_random(random: &mut impl Rng, n: u32) -> Message {
    let mut any = |end: u32| any_of(random, end);
    let (channel, id) = (any(5).to_le_bytes()[0], (n / 40 + any(300)) & 0xFFFF);
    let low = u16::try_from(id).unwrap();
    match any(12) {
        0 => noop(),
        1 => ping(low),
        2 => window(channel, any(40)),
        3 => sentinel(channel, low | 31, any(40)),
        4 => tombstone(channel, low, any(40)),
        5 => crate::peers::limits(low, any(u32::MAX)),
        6 => crate::peers::challenge(u64::from(any(9))),
        7 | 8 => {
            let whole = 1200 + any(60_000);
            let offset = 256 * any(whole / 256);
            let full = u32::try_from(FRAGMENT).unwrap();
            let len = (256 + any(full - 255)).min(whole - offset);
            let mode = any(3).to_le_bytes()[0];
            packet(mode, channel, id, len as usize)
                .part(offset, whole)
                .into()
        }
        _ => Packet {
            dependency: any(256),
            ..packet(any(3).to_le_bytes()[0], channel, id, any(200) as usize)
        }
        .into(),
    }
}

fn any_of(random: &mut impl Rng, end: u32) -> u32 {
    u32::try_from(porous_sim::below(random.next_u64(), end.max(1).into())).unwrap()
}

/// `[X24 R25]` It says whatever there is to say, at random, for 100,000 datagrams; the reader reads now and
/// then, and the host sends.
#[test]
fn a_peer_that_speaks_at_random() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let mut random = Seed::new(41).stream("habits", 0);
        let mut taken = 0;
        for n in 0..100_000_u32 {
            let messages = (0..1 + any(&mut random, 2))
                .map(|_| at_random(&mut random, n))
                .collect();
            let newest = enemy.newest.0;
            let ack = (n % 3 == 0).then(|| Ack {
                map: u32::MAX << any(&mut random, 32),
                ..ack_of(newest.saturating_sub(any(&mut random, 9)))
            });
            let mut frame = enemy.short(ack, messages);
            frame.id += u64::from(any(&mut random, 3));
            taken += u32::from(matches!(
                scene.send_frame(&mut enemy, &frame),
                Disposition::Handled(_)
            ));
            scene.said.clear();
            if n % 10 == 0 {
                let mode = [Mode::Reliable, Mode::Unreliable, Mode::Passive][(n / 10 % 3) as usize];
                let _ = scene.queue((n % 4) as u8, mode, (n % 3000) as usize);
            }
            if n % 500 == 0 {
                scene.read(ENEMY);
                scene.pass(Duration::from_millis(200));
            }
        }
        assert!(taken > 30_000, "{taken}");
        assert!(scene.state(ENEMY).is_some());
    });
}

/// `[X16 X24]` It repeats everything that it has ever sent, over and over: each is known, or too old.
#[test]
fn a_peer_that_repeats_all_that_it_has_ever_sent() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let mut all: Vec<Short> = Vec::new();
        for n in 0..600 {
            let messages = vec![packet(RELIABLE, 0, n, 20).into(), noop()];
            all.push(enemy.short(None, messages));
            let mut taken = 0;
            for frame in all.iter().rev().step_by(1 + all.len() / 20) {
                let disposition = scene.send_frame(&mut enemy, frame);
                taken += u32::from(matches!(disposition, Disposition::Handled(_)));
            }
            assert_eq!((taken, scene.read(ENEMY)), (1, 1), "{n}");
            scene.said.clear();
        }
    });
}

/// `[X24]` Bytes at random behind the connection's id, 50,000 times.
#[test]
fn a_peer_that_speaks_gibberish() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let mut random = Seed::new(43).stream("gibberish", 0);
        for _ in 0..50_000 {
            let mut bytes = vec![0; any(&mut random, 60) as usize];
            random.fill_bytes(&mut bytes);
            let flags = any(&mut random, 8).to_le_bytes()[0];
            scene.send_raw(&mut enemy, flags, &bytes);
            scene.said.clear();
        }
        scene.read(ENEMY);
        assert!(scene.state(ENEMY).is_some());
    });
}
