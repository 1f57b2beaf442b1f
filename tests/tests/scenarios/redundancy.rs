//! Copies of packets in the spare bytes of later datagrams: the latency that they save, and their cost.

use core::time::Duration;

use porous_proto::congestion::Congestion;
use porous_proto::{ChannelId, Config, Mode, Policy, Priority, SendOptions};
use porous_sim::{LinkConfig, Pair, Seed, Service};
use porous_tests::{config, sent_at, stamped};

const MS: Duration = Duration::from_millis(1);
const TICK: Duration = Duration::from_micros(16_667);

/// The round trip takes 60 ms, and both hosts step 60 times a second.
fn ticking(seed: u64, line: LinkConfig, config: Config) -> Pair {
    let channels = [Priority::High, Priority::Low];
    let config = config.channels(&channels).expect("two are allowed");
    let line = line.delay(30 * MS);
    let mut pair = Pair::new(Seed::new(seed), line, config.clone(), config);
    for host in [Pair::A, Pair::B] {
        pair.world.set_service(host, Service::tick(TICK));
    }
    pair.connect_to_listener();
    pair.world.run_for(1000 * MS);
    pair
}

/// A sends a state of 100 bytes each tick, and an event of 64 bytes each eighth tick, for two minutes.
/// Returns the latencies in milliseconds of the events whose first datagram was lost.
fn late_events(policy: Policy, event: SendOptions) -> Vec<u64> {
    let mut pair = ticking(1, LinkConfig::new().loss(5.0), config::new().policy(policy));
    let (a, b) = (pair.peer(Pair::A), pair.peer(Pair::B));
    let mut late = Vec::new();
    for tick in 0..7200 {
        let now = pair.world.now();
        let host = pair.world.host_mut(Pair::A);
        assert_eq!(
            host.send(a, ChannelId(1), vec![0; 100], Mode::Unreliable),
            Ok(())
        );
        if tick % 8 == 0 {
            let sent = host.send(a, ChannelId(0), stamped(now, 64), event);
            assert_eq!(sent, Ok(()));
        }
        pair.world.run_for(TICK);
        while let Some(packet) = pair.world.host_mut(Pair::B).receive(b) {
            if packet.channel == ChannelId(0) {
                let at = sent_at(&packet).as_micros();
                let took = (pair.world.now().as_micros() - at) / 1000;
                late.extend(Some(took).filter(|&took| took > 51));
            }
        }
    }
    late
}

/// P8. Without loss an event takes 50 ms here: 30 ms under way, and a tick at each end.
#[test]
fn a_lost_packet_with_a_copy_comes_a_tick_later() {
    for policy in [Policy::Paper, Policy::Modern] {
        let middle_and_mean = |copies| {
            let options = SendOptions::new(Mode::Reliable).redundancy(copies);
            let mut late = late_events(policy, options);
            assert!(late.len() > 30, "{policy:?}: {}", late.len());
            late.sort_unstable();
            let mean = late.iter().sum::<u64>() / late.len() as u64;
            (late[late.len() / 2], mean)
        };
        let (none, one) = (middle_and_mean(0), middle_and_mean(1));
        assert!(none.0 >= 115 && none.1 >= 115, "{policy:?}: {none:?} ms");
        assert!(one.0 <= 67 && one.1 <= 90, "{policy:?}: {one:?} ms");
    }
}

/// P8: with nothing asked for.
#[test]
fn a_small_packet_is_copied_by_itself_while_frames_get_lost() {
    let event = SendOptions::new(Mode::Reliable);
    let [mut by_itself, mut never] = [event, event.redundancy(0)].map(|event| {
        let mut late = late_events(Policy::Modern, event);
        late.sort_unstable();
        late
    });
    let middle = |late: &mut Vec<u64>| late[late.len() / 2];
    let (with, without) = (middle(&mut by_itself), middle(&mut never));
    assert!(with <= 67 && without >= 115, "{with} and {without} ms");
    // The paper's policy stays what it is.
    let paper = |event| late_events(Policy::Paper, event);
    assert_eq!(paper(event), paper(event.redundancy(0)));
}

/// P8.
#[test]
fn unreliable_packets_with_copies_are_seldom_lost() {
    for policy in [Policy::Paper, Policy::Modern] {
        let got = [0, 1, 3].map(|copies| {
            let mut pair = ticking(
                1,
                LinkConfig::new().loss(10.0),
                config::new().policy(policy),
            );
            let (a, b) = (pair.peer(Pair::A), pair.peer(Pair::B));
            let options = SendOptions::new(Mode::Unreliable).redundancy(copies);
            let mut got = 0;
            for _ in 0..3600 {
                let host = pair.world.host_mut(Pair::A);
                assert_eq!(host.send(a, ChannelId(0), vec![0; 64], options), Ok(()));
                pair.world.run_for(TICK);
                while pair.world.host_mut(Pair::B).receive(b).is_some() {
                    got += 1;
                }
            }
            got
        });
        let [none, one, three] = got;
        assert!(none < 3330 && one > 3530 && three > 3585, "{got:?}");
    }
}

/// The bytes that arrive in 20 s if there is always more to send than the line carries.
fn goodput(policy: Policy, options: SendOptions, packets: &[usize]) -> usize {
    let mut sum = 0;
    for seed in 1..=6 {
        // At a fixed rate, so that nothing but copies makes a difference.
        let line = LinkConfig::new().loss(5.0);
        let fixed = Congestion::Fixed { rate: 100_000 };
        let mut pair = ticking(seed, line, config::new().policy(policy).congestion(fixed));
        let (a, b) = (pair.peer(Pair::A), pair.peer(Pair::B));
        for _ in 0..1200 {
            for &len in packets {
                let host = pair.world.host_mut(Pair::A);
                let _ = host.send(a, ChannelId(0), vec![0; len], options);
            }
            pair.world.run_for(TICK);
            while let Some(packet) = pair.world.host_mut(Pair::B).receive(b) {
                sum += packet.payload.len();
            }
        }
    }
    sum
}

/// P8.
#[test]
fn copies_of_everything_cost_a_full_line_next_to_nothing() {
    for policy in [Policy::Paper, Policy::Modern] {
        // Many small packets; and packets that leave a large part of each datagram spare.
        let mixes = [&[64; 40][..], &[700, 64, 700, 64, 700, 64, 64]];
        let options = SendOptions::new(Mode::Reliable);
        let wishes = [options.redundancy(0), options.redundancy(3), options];
        let [none, three, by_itself] = wishes.map(|options| {
            let each = mixes.map(|packets| goodput(policy, options, packets));
            each.iter().sum::<usize>()
        });
        assert!(none > 2 * 6 * 20 * 55_000, "{policy:?}: not full, {none}");
        assert!(three * 100 >= none * 97, "{policy:?}: {three} of {none}");
        assert!(
            by_itself * 100 >= none * 98,
            "{policy:?}: {by_itself} of {none}"
        );
    }
}
