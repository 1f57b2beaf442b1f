//! A host that stands still for a while, on a line that loses nothing, finds every datagram that came
//! meanwhile in its socket: all are taken.
#![expect(clippy::unwrap_used, reason = "a test")]

use core::time::Duration;

use porous_proto::{Config, Mode};
use porous_sim::{LinkConfig, Pair, Seed};
use porous_tests::config;

const MS: Duration = Duration::from_millis(1);
const BOTH: [u32; 2] = [Pair::A, Pair::B];

fn config() -> Config {
    config::new().timeout(Duration::from_secs(30)).unwrap()
}

/// Both hosts send a packet at each `interval`, for `duration`.
fn talk(pair: &mut Pair, interval: Duration, duration: Duration) {
    let end = pair.world.now() + duration;
    for n in 0_u32.. {
        for host in BOTH {
            // While the other host stands still there may be no room.
            let _: Result<_, _> = pair.send(host, 0, Mode::Passive, n.to_le_bytes().to_vec());
            pair.receive_all(host);
        }
        if pair.world.now() >= end {
            return;
        }
        pair.world.run_for(interval);
    }
}

fn refused(pair: &Pair) -> [u64; 2] {
    BOTH.map(|host| pair.world.host(host).stats().ignored_total())
}

/// The sender's ids get shorter again after the pause, as they do while nothing pauses; how short, the
/// time tells by which the newest is ahead of what was acknowledged.
fn assert_nothing_is_refused(line: LinkConfig, interval: u64, pause: u64) {
    let mut pair = Pair::new(Seed::new(pause + interval), line, config(), config());
    // What does not fit there is lost.
    pair.world.set_socket_buffer(Pair::B, 16 << 20);
    pair.connect_to_listener();
    pair.world.run_for(500 * MS);
    let before = refused(&pair);
    let interval = Duration::from_millis(interval);
    let pause = Duration::from_millis(pause);
    talk(&mut pair, interval, 3000 * MS);
    pair.world.hitch(Pair::B, pause);
    talk(&mut pair, interval, pause + 5000 * MS);
    let context = format!("{interval:?} apart, {pause:?}; {}", pair.world.seed());
    assert_eq!(refused(&pair), before, "{context}");
    for host in BOTH {
        assert_eq!(pair.world.host(host).peers().count(), 1, "{context}");
    }
}

#[test]
fn nothing_is_refused_after_a_pause() {
    for rtt in [2, 60, 300] {
        for interval in [1, 3, 8, 16, 50] {
            for pause in (100..=5000).step_by(700) {
                assert_nothing_is_refused(LinkConfig::new().delay(rtt * MS / 2), interval, pause);
            }
        }
    }
}
