//! The ranges of all values, and what the handshake tells of them.

use super::*;

/// Whether a setter takes each of these values.
fn taken<T: Copy, const N: usize>(
    values: [T; N],
    set: impl Fn(Config, T) -> Result<Config, ConfigError>,
) -> [bool; N] {
    values.map(|value| set(Config::new(), value).is_ok())
}

#[test]
fn every_value_has_its_range() {
    let sizes = [0, 511, 512, 1200, 65_507, 65_508];
    assert_eq!(
        taken(sizes, Config::max_datagram),
        [false, false, true, true, true, false]
    );
    let requests = [0, 511, 512, 1200, 1201, u16::MAX];
    assert_eq!(
        taken(requests, Config::request_size),
        [false, false, true, true, false, false]
    );
    let windows = [0, 8, 16, 100, 65_536, 131_072];
    let expected = [false, false, true, false, true, false];
    assert_eq!(taken(windows, |c, n| c.windows(n, 16)), expected);
    assert_eq!(taken(windows, |c, n| c.windows(16, n)), expected);
    let rates = [0, 1, u32::MAX];
    let expected = [false, true, true];
    assert_eq!(taken(rates, |c, n| c.bandwidth(n, 1)), expected);
    assert_eq!(taken(rates, |c, n| c.bandwidth(1, n)), expected);
    let limits = [0, 1, 1_000_000, 1_000_001];
    let expected = [false, true, true, false];
    assert_eq!(taken(limits, |c, n| c.reply_limits(n, 1)), expected);
    assert_eq!(taken(limits, |c, n| c.reply_limits(1, n)), expected);
    let lengths = [0, 8, 20, 21];
    assert_eq!(
        taken(lengths, Config::connection_id_len),
        [true, true, true, false]
    );
    let counts = [0, 1, 255, 256];
    let channels = |c: Config, n: usize| c.channels(&alloc::vec![Priority::High; n]);
    assert_eq!(taken(counts, channels), [false, true, true, false]);
}

/// A time of 0 would end everything at once, and a budget of 0 hold a single packet: no application
/// means that.
#[test]
fn what_must_not_be_zero_is_an_error_that_names_it() {
    use core::time::Duration;
    let zero = |set: fn(Config) -> Result<Config, ConfigError>| set(Config::new()).unwrap_err();
    let all = [
        (
            zero(|c| c.connect_timeout(Duration::ZERO)),
            "connect_timeout",
        ),
        (zero(|c| c.timeout(Duration::ZERO)), "timeout"),
        (
            zero(|c| c.disconnect_timeout(Duration::ZERO)),
            "disconnect_timeout",
        ),
        (zero(|c| c.keepalive(Duration::ZERO)), "keepalive"),
        (zero(|c| c.unreliable_age(Duration::ZERO)), "unreliable_age"),
        (zero(|c| c.send_budget(0)), "send_budget"),
        (zero(|c| c.receive_budget(0, 64)), "max_packet"),
        (zero(|c| c.bandwidth(0, 1)), "bandwidth: send"),
        (zero(|c| c.bandwidth(1, 0)), "bandwidth: receive"),
        // Time counts in microseconds.
        (zero(|c| c.timeout(Duration::from_nanos(999))), "timeout"),
    ];
    for (error, name) in all {
        assert_eq!(error, ConfigError::Zero(name));
        assert_eq!(
            alloc::format!("{error}"),
            alloc::format!("{name} must not be zero")
        );
    }
    let least = Duration::from_micros(1);
    let config = Config::new().timeout(least).unwrap();
    let config = config.unreliable_age(Duration::MAX).unwrap();
    let config = config.send_budget(1).unwrap();
    // No peer at all may be what an application means. Rates and weights of 0 count as 1.
    let config = config.max_peers(0).host_send_rate(0);
    let budgets = config.budgets;
    assert_eq!((budgets.max_peers, budgets.host_send_rate), (0, 1));
    assert_eq!(
        Channel::new(Priority::Low).rate(0),
        Channel::new(Priority::Low).rate(1)
    );
}

#[test]
fn the_largest_packet_is_set_alone_within_the_budget() {
    let config = Config::new().receive_budget(100, 1064).unwrap();
    let larger = config.clone().max_packet(1000).unwrap().offer();
    assert_eq!((larger.max_packet, larger.receive_budget), (1000, 1064));
    let refused = |bytes| config.clone().max_packet(bytes).unwrap_err();
    assert_eq!(refused(1001), ConfigError::ReceiveBudget);
    assert_eq!(refused(0), ConfigError::Zero("max_packet"));
}

#[test]
fn the_receive_budget_holds_the_largest_packet_and_its_overhead() {
    let budgets = [
        (0, 1000),
        (1, 64),
        (1, 65),
        (u32::MAX - 64, u32::MAX),
        (u32::MAX, u32::MAX - 1),
    ];
    assert_eq!(
        taken(budgets, |c, (packet, budget)| c
            .receive_budget(packet, budget)),
        [false, false, true, true, false]
    );
}

#[test]
fn channels_have_the_priorities_that_they_were_given() {
    let is_high = |channel: u8| [0, 31, 32, 40, 254].contains(&channel);
    let priorities: [Priority; 255] = core::array::from_fn(|channel| {
        if u8::try_from(channel).is_ok_and(is_high) {
            Priority::High
        } else {
            Priority::Low
        }
    });
    let config = Config::new().channels(&[Priority::High; 255]).unwrap();
    let offer = config.channels(&priorities).unwrap().offer();
    assert_eq!(offer.channels.count(), 255);
    for channel in 0..255 {
        assert_eq!(
            offer.channels.is_high(channel),
            is_high(channel),
            "{channel}"
        );
    }
}

#[test]
fn a_channel_has_what_it_was_given_last() {
    let two = Config::new().channels(&[Priority::Low; 2]).unwrap();
    let urgent = Channel::new(Priority::High).unordered();
    let config = two.channel(crate::ChannelId(1), urgent).unwrap();
    let low = Channel::new(Priority::Low);
    assert_eq!(config.channels.as_slice(), [low, urgent]);
    assert!(config.offer().channels.is_high(1) && !config.offer().channels.is_high(0));
    assert!(config.clone().channel(crate::ChannelId(2), low).is_err());
    let again = config.channels(&[Priority::Low; 2]).unwrap();
    assert_eq!(again.channels.as_slice(), [low, low]);
}

#[test]
fn no_datagram_is_offered_at_once_that_is_longer_than_a_request() {
    let offered = |datagram, request, search| {
        let config = Config::new().max_datagram(datagram).unwrap();
        let config = config.request_size(request).unwrap();
        let offer = config.path_mtu_discovery(search).unwrap().offer();
        (offer.max_datagram, offer.path_mtu)
    };
    assert_eq!(offered(1200, 1200, 0), (1200, None));
    assert_eq!(offered(512, 1200, 0), (512, None));
    assert_eq!(offered(512, 512, 0), (512, None));
    assert_eq!(offered(1200, 512, 0), (512, Some(1200)));
    assert_eq!(offered(1200, 512, 600), (512, Some(1200)));
    assert_eq!(offered(1200, 512, 1452), (512, Some(1452)));
    assert_eq!(offered(1452, 1200, 0), (1200, Some(1452)));
    assert_eq!(offered(1200, 1200, 1452), (1200, Some(1452)));
}

#[test]
fn a_default_configuration_is_the_recommended_one() {
    assert_eq!(Config::default().offer(), Config::new().offer());
    let papers = Config::new().windows(65_536, 65_536).unwrap();
    assert_eq!(Config::paper().offer(), papers.offer());
}

#[test]
fn a_host_may_listen_unless_it_is_a_client_or_its_connection_ids_are_empty() {
    let may_listen = |config: Config, len| config.connection_id_len(len).unwrap().may_listen();
    assert!(may_listen(Config::new(), 1) && !may_listen(Config::new(), 0));
    assert!(!may_listen(Config::client(), 4));
    // The last call counts.
    let nameless = Config::new().connection_id_len(0).unwrap();
    assert!(may_listen(nameless, 4));
}

#[test]
fn a_driver_may_search_the_path_unless_the_application_has_chosen() {
    let offered = |config: Config| config.with_path_mtu_discovery().offer().path_mtu;
    assert_eq!(Config::new().offer().path_mtu, None);
    assert_eq!(offered(Config::new()), Some(1452));
    assert_eq!(offered(Config::paper()), None);
    assert_eq!(offered(Config::new().max_datagram(1000).unwrap()), None);
    for (chosen, expected) in [(0, None), (1300, Some(1300)), (9000, Some(9000))] {
        let config = Config::new().path_mtu_discovery(chosen).unwrap();
        assert_eq!(offered(config), expected);
    }
    assert_eq!(offered(Config::new().without_path_mtu_discovery()), None);
}

#[test]
fn hosts_on_one_port_divide_the_answers_to_all_strangers() {
    let replies = |all, hosts| {
        let config = Config::new().reply_limits(20, all).unwrap();
        let budgets = config.divided_among(hosts).budgets;
        (budgets.replies_per_address, budgets.replies)
    };
    assert_eq!(replies(20_000, 4), (20, 5000));
    assert_eq!(replies(20_000, 0), (20, 20_000));
    assert_eq!(replies(3, 4), (20, 1), "none is no limit that a host takes");
}
