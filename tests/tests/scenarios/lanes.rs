//! Channels share a line by priority, weight and cap (`docs/deviations.md` T21).
#![expect(clippy::unwrap_used, reason = "a test")]

use core::time::Duration;

use porous_proto::{Channel, ChannelId, Config, Instant, Mode, Policy, Priority, Received};
use porous_sim::{LinkConfig, Pair, Service};
use porous_tests::{config, line, receive_for, seed, sent_at, stamped};

const MS: Duration = Duration::from_millis(1);
const KIB: usize = 1024;

/// The configuration of a host with these channels.
fn channels(base: Config, settings: &[Channel]) -> Config {
    let all = vec![Priority::Low; settings.len()];
    let mut config = base.channels(&all).unwrap();
    for (id, channel) in (0..).map(ChannelId).zip(settings) {
        config = config.channel(id, *channel).unwrap();
    }
    config
}

fn modern(settings: &[Channel]) -> Config {
    channels(config::new().policy(Policy::Modern), settings)
}

fn pair(links: LinkConfig, config: &Config) -> Pair {
    let mut pair = Pair::new(seed(), links, config.clone(), config.clone());
    pair.connect_to_listener();
    pair.world.run_for(1000 * MS);
    pair
}

fn low() -> Channel {
    Channel::new(Priority::Low)
}

fn bytes_of(got: &[(Instant, Received)], channel: u8) -> usize {
    let here = got.iter().filter(|(_, r)| r.channel.0 == channel);
    here.map(|(_, r)| r.payload.len()).sum()
}

/// As the lanes of other libraries: 128 packets of 1 KiB on each of four channels, at 128 KiB a second.
/// P10.
#[test]
fn what_is_urgent_goes_first_and_the_rest_shares_by_weight() {
    let urgent = |weight| Channel::new(Priority::High).weight(weight);
    let settings = [
        low().weight(25),
        urgent(1),
        low().weight(75),
        urgent(1),
        low().weight(100),
    ];
    let rate = 128 * 1024;
    let config = modern(&settings).bandwidth(rate, rate).unwrap();
    let mut pair = pair(line(), &config);
    let context = pair.world.seed();
    for channel in [0, 2, 1, 3] {
        for _ in 0..128 {
            let sent = pair.send(Pair::A, channel, Mode::Reliable, vec![channel; KIB]);
            assert_eq!(sent, Ok(()), "{context}");
        }
    }
    let got = receive_for(&mut pair, &[Pair::B], 20_000 * MS);
    assert_eq!(got.len(), 4 * 128, "{context}");
    let (urgent, rest) = got.split_at(2 * 128);
    let is_urgent = |(_, r): &(Instant, Received)| r.channel.0 % 2 == 1;
    assert!(urgent.iter().all(is_urgent), "{context}");
    let half = &urgent[..128];
    assert!(bytes_of(half, 1).abs_diff(64 * KIB) <= 2 * KIB, "{context}");
    // Counted while both have packets to send: until the heavier one is done.
    let end = rest.iter().rposition(|(_, r)| r.channel.0 == 2).unwrap();
    let (light, heavy) = (bytes_of(&rest[..=end], 0), bytes_of(&rest[..=end], 2));
    let off = (3 * light).abs_diff(heavy);
    assert!(100 * off <= 5 * heavy, "{light} and {heavy}; {context}");
}

/// P10.
#[test]
fn nobody_starves_beside_a_channel_that_is_always_full() {
    let config = modern(&[low().weight(255), low(), low()]);
    let mut pair = pair(line(), &config.bandwidth(100_000, 100_000).unwrap());
    let context = pair.world.seed();
    let mut got = Vec::new();
    for n in 0..200_u32 {
        while pair
            .world
            .host(Pair::A)
            .peer(pair.peer(Pair::A))
            .unwrap()
            .queued_bytes()
            < 200_000
        {
            assert_eq!(
                pair.send(Pair::A, 0, Mode::Unreliable, vec![0; 5000]),
                Ok(())
            );
        }
        let channel = 1 + u8::try_from(n % 2).unwrap();
        let stamp = stamped(pair.world.now(), 8);
        assert_eq!(pair.send(Pair::A, channel, Mode::Reliable, stamp), Ok(()));
        got.extend(receive_for(&mut pair, &[Pair::B], 50 * MS));
    }
    got.extend(receive_for(&mut pair, &[Pair::B], 2000 * MS));
    let small: Vec<_> = got.iter().filter(|(_, r)| r.channel.0 > 0).collect();
    assert_eq!(small.len(), 200, "{context}");
    for (at, received) in small {
        let took = at.as_micros() - sent_at(received).as_micros();
        // A packet takes 20 ms, and a round trip in which the window was full.
        assert!(took < 75_000, "{took}; {context}");
    }
}

/// P10.
#[test]
fn a_megabyte_does_not_hold_up_small_packets_of_another_channel() {
    for policy in [Policy::Paper, Policy::Modern] {
        let config = channels(config::new().policy(policy), &[low(), low()]);
        let mut pair = pair(line(), &config);
        let context = format!("{policy:?}; {}", pair.world.seed());
        assert_eq!(
            pair.send(Pair::A, 0, Mode::Reliable, vec![7; 1 << 20]),
            Ok(())
        );
        let start = pair.world.now();
        let mut got = Vec::new();
        for _ in 0..20 {
            let stamp = stamped(pair.world.now(), 8);
            assert_eq!(pair.send(Pair::A, 1, Mode::Reliable, stamp), Ok(()));
            got.extend(receive_for(&mut pair, &[Pair::B], 10 * MS));
        }
        got.extend(receive_for(&mut pair, &[Pair::B], 30_000 * MS));
        let large = got.iter().find(|(_, r)| r.channel.0 == 0).unwrap();
        let took = large.0.saturating_duration_since(start);
        assert!(took > 120 * MS, "{took:?}; {context}");
        let small: Vec<_> = got.iter().filter(|(_, r)| r.channel.0 == 1).collect();
        assert_eq!(small.len(), 20, "{context}");
        for (at, received) in small {
            let took = at.as_micros() - sent_at(received).as_micros();
            assert!(took < 75_000, "{took}; {context}");
        }
    }
}

/// The most bytes of payload in any second that B got on a channel.
fn most(got: &[(Instant, Received)], channel: u8) -> usize {
    let here: Vec<_> = got.iter().filter(|(_, r)| r.channel.0 == channel).collect();
    let within = |from: usize| {
        let end = here[from].0 + 1000 * MS;
        let second = here[from..].iter().take_while(|(at, _)| *at < end);
        second.map(|(_, r)| r.payload.len()).sum()
    };
    (0..here.len()).map(within).max().unwrap_or(0)
}

/// P10.
#[test]
fn no_second_has_more_than_a_cap_and_it_is_used() {
    for policy in [Policy::Paper, Policy::Modern] {
        for service in [None, Some(Duration::from_micros(16_667))] {
            for (cap, len) in [(100_000, 1000), (20_000, 200), (500_000, 5000)] {
                let base = config::new().policy(policy);
                let config = channels(base, &[low().rate(cap), low()]);
                let mut pair = pair(line(), &config);
                let context = format!("{policy:?} {service:?} {cap}; {}", pair.world.seed());
                if let Some(tick) = service {
                    pair.world.set_service(Pair::A, Service::tick(tick));
                }
                let cap = usize::try_from(cap).unwrap();
                for _ in 0..5 * cap / len {
                    let sent = pair.send(Pair::A, 0, Mode::Reliable, vec![7; len]);
                    assert_eq!(sent, Ok(()), "{context}");
                }
                let got = receive_for(&mut pair, &[Pair::B], 5000 * MS);
                let most = most(&got, 0);
                assert!(100 * most <= 102 * cap, "{most}; {context}");
                let all = bytes_of(&got, 0);
                assert!(100 * all >= 94 * 5 * cap, "{all}; {context}");
            }
        }
    }
}

/// P10.
#[test]
fn a_cap_of_a_byte_a_second_stalls_nothing_and_can_be_lifted() {
    let mut pair = pair(line(), &modern(&[low().rate(1), low()]));
    let context = pair.world.seed();
    for n in 0..4 {
        assert_eq!(pair.send(Pair::A, 0, Mode::Reliable, vec![n; 12]), Ok(()));
    }
    // One packet at once, and one each 20 s.
    let got = receive_for(&mut pair, &[Pair::B], 50_000 * MS);
    assert_eq!(got.len(), 3, "{context}");
    let peer = pair.peer(Pair::A);
    let host = pair.world.host_mut(Pair::A);
    assert_eq!(host.set_channel_rate(peer, ChannelId(0), u32::MAX), Ok(()));
    pair.world.flush(Pair::A);
    assert_eq!(
        receive_for(&mut pair, &[Pair::B], 100 * MS).len(),
        1,
        "{context}"
    );
}
