//! A host that pauses on a line without loss finds every datagram of that time in its socket, and takes
//! all of them.
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
            // While the other host pauses the send budget may be full.
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

/// After the pause the sender's ids get shorter again, as they do without a pause; their width depends on
/// how far the newest id is ahead of the acknowledged ones.
fn assert_nothing_is_refused(line: LinkConfig, interval: u64, pause: u64) {
    let mut pair = Pair::new(Seed::new(pause + interval), line, config(), config());
    // The socket buffer holds everything: a datagram that finds no room in it would be lost.
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
