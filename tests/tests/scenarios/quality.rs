//! The figures that an application is told about its connection are true.
#![expect(clippy::unwrap_used, reason = "a test")]

use core::time::Duration;

use porous_proto::{Channel, ChannelId, ChannelStats, Mode, PeerStats, Policy, Priority};
use porous_sim::{LinkConfig, Pair, Service};
use porous_tests::{config, line, seed};

const MS: Duration = Duration::from_millis(1);
const TICK: Duration = Duration::from_micros(16_667);
const PACKETS: u32 = 10_000;

fn stats(pair: &Pair, address: u32) -> PeerStats {
    let peer = pair.world.host(address).peer(pair.peer(address));
    peer.unwrap().stats()
}

fn channel(pair: &Pair, id: u8) -> ChannelStats {
    let peer = pair.world.host(Pair::A).peer(pair.peer(Pair::A));
    peer.unwrap().channel_stats(ChannelId(id))
}

/// Two hosts in game loops, connected over good lines; then the lines from A to B and back become these.
fn games(policy: Policy, links: [LinkConfig; 2]) -> Pair {
    let config = config::new().policy(policy);
    let mut pair = Pair::new(seed(), line(), config.clone(), config);
    for host in [Pair::A, Pair::B] {
        pair.world.set_service(host, Service::tick(TICK));
    }
    pair.connect_to_listener();
    let network = pair.world.network_mut();
    network.set_link(Pair::A, Pair::B, links[0]);
    network.set_link(Pair::B, Pair::A, links[1]);
    pair
}

/// Both hosts send `packets` packets, one each tick.
fn play(pair: &mut Pair, packets: u32, mode: Mode) {
    for _ in 0..packets {
        for host in [Pair::A, Pair::B] {
            assert_eq!(pair.send(host, 0, mode, vec![7; 64]), Ok(()));
        }
        pair.world.run_for(TICK);
        for host in [Pair::A, Pair::B] {
            pair.receive_all(host);
        }
    }
}

/// `part` of `whole`, in hundredths of a percent.
fn share(part: u64, whole: u64) -> u64 {
    part * 10_000 / whole
}

#[test]
fn loss_is_told_each_way_within_a_percent_of_the_truth() {
    for policy in [Policy::Paper, Policy::Modern] {
        for percent in [[3.0, 8.0], [0.0, 5.0]] {
            let lines = percent.map(|percent| line().loss(percent));
            let mut pair = games(policy, lines);
            let context = format!("{policy:?} {percent:?}; {}", pair.world.seed());
            let link = |pair: &Pair, from, to| pair.world.network().link_stats(from, to);
            let before = [(Pair::A, Pair::B), (Pair::B, Pair::A)].map(|(a, b)| link(&pair, a, b));
            play(&mut pair, PACKETS, Mode::Unreliable);
            pair.world.run_for(2000 * MS);
            for (from, to, before) in [(Pair::A, Pair::B, before[0]), (Pair::B, Pair::A, before[1])]
            {
                let now = link(&pair, from, to);
                let (sent, came) = (now.sent - before.sent, now.delivered - before.delivered);
                let truth = share(sent.saturating_sub(came), sent);
                let (here, there) = (stats(&pair, from), stats(&pair, to));
                let lost = share(here.frames_lost - here.frames_spurious, here.frames_sent);
                let all = there.frames_received + there.frames_missing;
                let missing = share(there.frames_missing, all);
                let told = format!("{truth}: {lost}, {missing}; {context}");
                // The first figure does not count frames without data, the second not the last frames.
                assert!(lost.abs_diff(truth) <= 5, "{told}");
                // One id in 512 may be left out.
                assert!(missing.abs_diff(truth) <= 25, "{told}");
                // The loss among 600 to 1200 frames varies by three percent at most.
                assert!(
                    u64::from(here.loss_sent).abs_diff(truth) <= 300,
                    "{here:?}; {told}"
                );
                assert!(
                    u64::from(there.loss_received).abs_diff(truth) <= 300,
                    "{there:?}; {told}"
                );
            }
        }
    }
}

#[test]
fn reordering_alone_is_no_loss() {
    for policy in [Policy::Paper, Policy::Modern] {
        let lines = [line().reorder(5.0).reorder_by(120 * MS), line()];
        let mut pair = games(policy, lines);
        let context = format!("{policy:?}; {}", pair.world.seed());
        play(&mut pair, 2000, Mode::Unreliable);
        pair.world.run_for(2000 * MS);
        let (here, there) = (stats(&pair, Pair::A), stats(&pair, Pair::B));
        assert!(here.frames_spurious > 0, "{here:?}; {context}");
        assert_eq!(
            here.frames_spurious, here.frames_lost,
            "{here:?}; {context}"
        );
        // One id in 512 may be left out.
        let left_out = 1 + there.frames_received / 512;
        let most = if policy == Policy::Paper { 0 } else { left_out };
        assert!(there.frames_missing <= most, "{there:?}; {context}");
    }
}

#[test]
fn round_trips_jitter_and_rates_are_those_of_the_line() {
    // The line from B to A does not vary.
    let lines = [line().delay(20 * MS).jitter(10 * MS), line().delay(30 * MS)];
    let mut pair = games(Policy::Modern, lines);
    let context = pair.world.seed();
    for host in [Pair::A, Pair::B] {
        pair.world.set_service(host, Service::tick(MS));
    }
    play(&mut pair, 1200, Mode::Unreliable);
    let told = stats(&pair, Pair::A);
    let context = format!("{told:?}; {context}");
    // 10 to 30 ms one way and 30 ms back, and up to a millisecond at either end.
    assert!((40 * MS..46 * MS).contains(&told.rtt_minimum), "{context}");
    assert!((48 * MS..55 * MS).contains(&told.rtt), "{context}");
    // The mean difference of two random numbers between 0 and 20 is a third of 20.
    assert!((4 * MS..9 * MS).contains(&told.jitter), "{context}");
    let sent = told.bytes_sent / told.datagrams_sent * 60;
    assert!(
        u64::from(told.send_rate).abs_diff(sent) < sent / 10,
        "{context}"
    );
    assert!(
        u64::from(told.receive_rate).abs_diff(sent) < sent / 10,
        "{context}"
    );
    assert!(told.quality > 95, "{context}");
}

#[test]
fn quality_falls_with_loss_and_with_delay() {
    let quality = |line: LinkConfig| {
        let mut pair = games(Policy::Modern, [line, line]);
        play(&mut pair, 1200, Mode::Unreliable);
        stats(&pair, Pair::A).quality
    };
    let far = line().delay(150 * MS);
    let qualities = [line(), line().loss(5.0), far, far.loss(10.0)].map(quality);
    let [good, lossy, far, bad] = qualities;
    assert!(good >= 95, "{qualities:?}");
    // The quality falls by 2 for each percent of loss, both ways, and by 1 for each 10 ms above 60.
    assert!((65..90).contains(&lossy), "{qualities:?}");
    assert!((65..77).contains(&far), "{qualities:?}");
    assert!(bad < 50, "{qualities:?}");
}

#[test]
fn queue_times_are_those_of_each_channel() {
    let config = config::new().channels(&[Priority::Low; 2]).unwrap();
    let capped = Channel::new(Priority::Low).rate(1080);
    let config = config.channel(ChannelId(1), capped).unwrap();
    for mode in [Mode::Unreliable, Mode::Reliable, Mode::Passive] {
        let mut pair = Pair::new(seed(), line(), config.clone(), config.clone());
        pair.connect_to_listener();
        let context = format!("{mode:?}; {}", pair.world.seed());
        for id in [0, 1] {
            for _ in 0..10 {
                assert_eq!(
                    pair.send(Pair::A, id, mode, vec![7; 100]),
                    Ok(()),
                    "{context}"
                );
            }
        }
        pair.world.flush(Pair::A);
        assert_eq!(channel(&pair, 0), ChannelStats::default(), "{context}");
        assert_eq!(channel(&pair, 1).waiting, 9, "{context}");
        pair.world.run_for(1500 * MS);
        let told = channel(&pair, 1);
        // Each takes a tenth of a second, and the time of a sentinel.
        let context = format!("{told:?}; {context}");
        let longest = told.queue_time_longest;
        assert!((900 * MS..925 * MS).contains(&longest), "{context}");
        assert_eq!(told.waiting, 0, "{context}");
        assert!((400 * MS..600 * MS).contains(&told.queue_time), "{context}");
    }
}

#[test]
fn packets_that_wait_for_the_window_wait_in_the_queue() {
    let mut pair = Pair::new(seed(), line(), config::new(), config::new());
    pair.connect_to_listener();
    let context = pair.world.seed();
    pair.world.run_for(1000 * MS);
    pair.world.network_mut().partition(&[Pair::A], &[Pair::B]);
    for _ in 0..200 {
        assert_eq!(pair.send(Pair::A, 0, Mode::Reliable, vec![7; 1000]), Ok(()));
    }
    pair.world.run_for(1000 * MS);
    pair.world.network_mut().mend();
    pair.world.run_for(10_000 * MS);
    let told = channel(&pair, 0);
    assert!(told.queue_time_longest >= 1000 * MS, "{told:?}; {context}");
    assert_eq!(told.waiting, 0, "{told:?}; {context}");
}
