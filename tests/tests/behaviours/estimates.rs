//! A host's measurements of a connection: acknowledgements over any time, round-trip times, losses, and
//! nothing of an earlier connection.

use core::time::Duration;

use porous_proto::{Config, Disconnect, Mode};
use porous_sim::{LinkConfig, Pair, Seed};
use porous_tests::{config, disconnect, line, seed};

use crate::{A, B, MS, numbers, stats};

/// 22: acknowledgements go on where the ids of the wire wrap, and for 70,000 packets after that, which
/// are more than two bytes can number.
#[test]
fn acknowledgements_go_on_where_ids_wrap() {
    const PACKETS: u32 = 70_000;
    for first in [(1 << 16) - 1, (1 << 32) - 1] {
        // given: one id before the wrap
        let from = |config: Config| config.first_id(first);
        let (a, b) = (from(config::client()), from(config::new()));
        let mut pair = Pair::new(Seed::new(first), LinkConfig::new(), a, b);
        pair.connect_to_listener();

        // when: 70,000 packets pass, each in a datagram of its own
        for n in 0..PACKETS {
            let mode = [Mode::Unreliable, Mode::Reliable][n as usize % 2];
            let sent = pair.send(A, 0, mode, n.to_le_bytes().to_vec());
            assert_eq!(sent, Ok(()), "{first}");
            pair.world.run_for(MS);
            assert_eq!(numbers(&mut pair, B), [n], "{first}");
        }

        // then: all of them were acknowledged, and none was taken for lost
        pair.world.run_for(Duration::from_secs(1));
        let stats = stats(&pair, A);
        assert!(stats.frames_sent >= PACKETS.into(), "{stats:?}");
        let open = (stats.frames_lost, stats.flight, stats.queued_bytes);
        assert_eq!(open, (0, 0, 0), "{first}; {stats:?}");
    }
}

/// 27: on a line of constant delay, 100 samples give the delay to within 5 %, and no jitter.
#[test]
fn a_constant_delay_is_measured_and_has_no_jitter() {
    for delay in [5, 20, 100, 250] {
        // given: a line of this delay
        let links = LinkConfig::new().delay(delay * MS);
        let mut pair = Pair::new(seed(), links, config::client(), config::new());
        pair.connect_to_listener();

        // when: data flows for 100 pings, one in each round trip, but ten a second at most
        for n in 0..10 * (2 * delay).max(100) {
            for from in [A, B] {
                let packet = n.to_le_bytes().to_vec();
                assert_eq!(pair.send(from, 0, Mode::Unreliable, packet), Ok(()));
            }
            pair.world.run_for(10 * MS);
            for address in [A, B] {
                pair.receive_all(address);
            }
        }

        // then
        for address in [A, B] {
            let stats = stats(&pair, address);
            let off = stats.rtt.abs_diff(2 * delay * MS);
            assert!(off * 20 <= 2 * delay * MS, "{delay} ms: {stats:?}");
            assert!(
                stats.rtt_variance <= delay * MS / 50,
                "{delay} ms: {stats:?}"
            );
        }
    }
}

/// 28: a new connection begins with the estimates of a first one, whatever an earlier connection has
/// measured.
#[test]
fn a_new_connection_remembers_nothing_of_the_one_before() {
    // given: the estimates of a first connection, and then a bad line for it
    let mut pair = Pair::new(seed(), line(), config::client(), config::new());
    pair.connect_to_listener();
    let first = [A, B].map(|address| stats(&pair, address));
    pair.world
        .network_mut()
        .set_all(line().delay(200 * MS).loss(20.0));
    for n in 0..500_u32 {
        for from in [A, B] {
            let sent = pair.send(from, 0, Mode::Reliable, vec![0; n as usize]);
            assert_eq!(sent, Ok(()), "{}", seed());
        }
        pair.world.run_for(10 * MS);
    }
    for address in [A, B] {
        let bad = stats(&pair, address);
        assert!(bad.frames_lost > 10 && bad.rtt > 300 * MS, "{bad:?}");
    }

    // when: the hosts disconnect, and connect again over a line that is as good as at first
    disconnect(&mut pair, A, Disconnect::Now { reason: 0 });
    pair.world.network_mut().set_all(line());
    pair.world.run_for(Duration::from_secs(8));
    while pair
        .world
        .poll_event(A)
        .or_else(|| pair.world.poll_event(B))
        .is_some()
    {}
    pair.connect_to_listener();

    // then: all counters and estimates are those of a first connection
    let again = [A, B].map(|address| stats(&pair, address));
    assert_eq!(again, first, "{}", seed());
}

/// 29: the counted loss is that of the line, to within one in a hundred of the frames sent, after 10,000
/// packets.
#[test]
fn reported_loss_is_the_loss_of_the_line() {
    for percent in [0_u32, 1, 10, 30] {
        // given: this much loss, one way
        let mut pair = Pair::new(seed(), line(), config::client(), config::new());
        pair.connect_to_listener();
        pair.world.run_for(Duration::from_secs(5));
        let lossy = line().loss(percent.into());
        pair.world.network_mut().set_link(A, B, lossy);
        let before = stats(&pair, A);

        // when: 10,000 packets are sent, each in a datagram of its own
        for n in 0..10_000_u32 {
            let packet = n.to_le_bytes().to_vec();
            assert_eq!(pair.send(A, 0, Mode::Unreliable, packet), Ok(()));
            pair.world.run_for(10 * MS);
            pair.receive_all(B);
        }
        pair.world.run_for(Duration::from_secs(5));

        // then
        let after = stats(&pair, A);
        let lost = after.frames_lost - before.frames_lost;
        let sent = after.frames_sent - before.frames_sent;
        let permille = 1000 * lost / sent;
        let expected = 10 * u64::from(percent);
        assert!(
            sent >= 10_000 && permille.abs_diff(expected) <= 10,
            "{percent} %: {lost} of {sent}; {}",
            seed()
        );
    }
}
