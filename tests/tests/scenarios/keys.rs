//! Packets with a key: only the latest one is of use (`docs/deviations.md` D3).

#![expect(clippy::unwrap_used, reason = "a test")]

use alloc::collections::BTreeMap;
use core::time::Duration;

use porous_proto::{Channel, ChannelId, Config, Mode, Priority, SendOptions};
use porous_sim::{LinkConfig, Pair, Seed};
use porous_tests::config;

const MS: Duration = Duration::from_millis(1);
const MODES: [Mode; 3] = [Mode::Unreliable, Mode::Reliable, Mode::Passive];

fn line() -> LinkConfig {
    LinkConfig::new().delay(50 * MS)
}

/// Channel 0 is ordered, channel 1 is not.
fn two_channels() -> Config {
    let two = config::new().channels(&[Priority::Low; 2]).unwrap();
    let unordered = Channel::new(Priority::Low).unordered();
    two.channel(ChannelId(1), unordered).unwrap()
}

fn pair(seed: u64, config: &Config) -> Pair {
    let mut pair = Pair::new(Seed::new(seed), line(), config.clone(), config.clone());
    pair.connect_to_listener();
    pair.world.run_for(1000 * MS);
    pair
}

/// Everything that is sent meanwhile is lost.
fn lose(pair: &mut Pair, send: impl FnOnce(&mut Pair)) {
    pair.world.network_mut().set_all(line().loss(100.0));
    send(pair);
    pair.world.run_for(5 * MS);
    pair.world.network_mut().set_all(line());
}

/// The first byte of each packet that B gets in this time, and when it came.
fn receive_for(pair: &mut Pair, time: Duration) -> Vec<(u8, Duration)> {
    let began = pair.world.now();
    let got = porous_tests::receive_for(pair, &[Pair::B], time);
    got.iter()
        .map(|(at, packet)| (packet.payload[0], at.saturating_duration_since(began)))
        .collect()
}

/// D3.
#[test]
fn a_lost_state_is_not_repeated_once_a_newer_one_has_left_and_nobody_waits_for_it() {
    for channel in 0..2 {
        for mode in MODES {
            for copies in [0, 2] {
                let mut pair = pair(1, &two_channels());
                let state = SendOptions::new(mode).key(7).redundancy(copies);
                let send = |pair: &mut Pair, n| pair.send(Pair::A, channel, state, vec![n]);
                lose(&mut pair, |pair| send(pair, 1).unwrap());
                send(&mut pair, 2).unwrap();
                let got = receive_for(&mut pair, 3000 * MS);
                let context = format!("{channel} {mode:?} {copies}: {got:?}");
                assert_eq!(got.len(), 1, "{context}");
                let (number, at) = got[0];
                assert!(number == 2 && at <= 52 * MS, "{context}");
                let peer = pair.peer(Pair::A);
                let state = pair.world.host(Pair::A).peer(peer).unwrap();
                assert_eq!(state.queued_bytes(), 0, "{context}");
            }
        }
    }
}

/// Packets that were sent after an outdated state wait for it, as they would for any other reliable
/// packet, until it is known to be lost: then none waits for it any more. D3.
#[test]
fn packets_behind_an_outdated_state_go_on_as_soon_as_its_loss_is_known() {
    let mut pair = pair(2, &two_channels());
    let state = |key| SendOptions::new(Mode::Reliable).key(key);
    lose(&mut pair, |pair| {
        pair.send(Pair::A, 0, state(1), vec![1]).unwrap();
    });
    for (key, n) in [(2, 2), (1, 3), (2, 4)] {
        pair.send(Pair::A, 0, state(key), vec![n]).unwrap();
        pair.world.run_for(15 * MS);
    }
    let got = receive_for(&mut pair, 3000 * MS);
    let numbers: Vec<_> = got.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [2, 3, 4]);
    // The loss is known after a round trip, and the tombstone takes half of one.
    assert!(got[2].1 <= 150 * MS, "{got:?}");
}

/// A packet that was sent between two states waits for the first of them. The second one waits with it: a remote
/// host would take it for damaged if it did not. D3.
#[test]
fn a_state_does_not_contradict_what_waits_for_an_older_one() {
    for channel in 0..2 {
        for between in [Mode::Unreliable, Mode::Passive] {
            for (is_lost, apart) in [(true, 0), (true, 15), (false, 0), (false, 15)] {
                let mut pair = pair(3, &two_channels());
                let ignored = |pair: &Pair| pair.world.host(Pair::B).stats().ignored_total();
                let before = ignored(&pair);
                let state = SendOptions::new(Mode::Reliable).key(7);
                let first = |pair: &mut Pair| pair.send(Pair::A, channel, state, vec![1]);
                if is_lost {
                    lose(&mut pair, |pair| first(pair).unwrap());
                } else {
                    first(&mut pair).unwrap();
                }
                let plain = |mode| SendOptions::new(mode);
                let rest = [plain(between), state, plain(Mode::Reliable)];
                for (n, options) in (2..).zip(rest) {
                    pair.world.run_for(apart * MS);
                    pair.send(Pair::A, channel, options, vec![n]).unwrap();
                }
                // The application of B looks late, so that all of it waits there.
                pair.world.run_for(1000 * MS);
                let got = receive_for(&mut pair, 3000 * MS);
                let numbers: Vec<_> = got.iter().map(|(number, _)| *number).collect();
                let expected = if is_lost {
                    &[2, 3, 4][..]
                } else {
                    &[1, 2, 3, 4]
                };
                let context = format!("{channel} {between:?} {is_lost} {apart}");
                assert_eq!(numbers, expected, "{context}");
                assert_eq!(ignored(&pair), before, "{context}");
            }
        }
    }
}

/// On a path that loses datagrams and keeps their order, an older state never comes after a newer one:
/// that would mean that it was sent again. The last state of each key comes if it is reliable. D3.
#[test]
fn no_older_state_comes_after_a_newer_one_and_the_last_one_comes() {
    for seed in 0..8 {
        for copies in [0, 2] {
            let mut pair = pair(seed, &two_channels());
            pair.world.network_mut().set_all(line().loss(20.0));
            let (mut sent, mut newest) = (BTreeMap::new(), BTreeMap::new());
            for n in 0..1000_u32 {
                let (channel, key) = (u8::from(n % 2 == 0), n % 7);
                let mode = MODES[1 + (n / 14 % 2) as usize];
                let state = SendOptions::new(mode)
                    .key(key.into())
                    .redundancy(copies)
                    .receipt(n.into());
                let packet = n.to_le_bytes().to_vec();
                pair.send(Pair::A, channel, state, packet).unwrap();
                sent.insert((channel, key), (n, mode));
                pair.world.run_for(5 * MS);
                note(&mut pair, &mut newest, seed);
            }
            pair.world.network_mut().set_all(line());
            for _ in 0..1000 {
                pair.world.run_for(5 * MS);
                note(&mut pair, &mut newest, seed);
            }
            for (which, (n, mode)) in sent {
                let got = newest.get(&which).copied();
                let certain = mode == Mode::Reliable || which.0 == 1;
                assert!(!certain || got == Some(n), "{which:?}: {n} {got:?}; {seed}");
            }
            let _ = pair.world.host(Pair::A).audit();
        }
    }
}

fn note(pair: &mut Pair, newest: &mut BTreeMap<(u8, u32), u32>, seed: u64) {
    for packet in pair.receive_all(Pair::B) {
        let n = u32::from_le_bytes(packet.payload[..4].try_into().unwrap());
        let before = newest.insert((packet.channel.0, n % 7), n);
        assert!(before < Some(n), "{n} after {before:?}; {seed}");
    }
}
