//! Configurations and statistics as text: the feature `serde` of the core.

extern crate alloc;

use core::time::Duration;

use porous_proto::congestion::Congestion;
use porous_proto::seal::Suite;
use porous_proto::{Channel, ChannelId, Config, Integrity, Mode, Policy, Priority};
use porous_sim::{LinkConfig, Pair, Seed};
use serde_json::{json, to_value};

/// Every field of one differs from the default.
fn unlike() -> Config {
    let channel = Channel::new(Priority::High)
        .unordered()
        .weight(7)
        .rate(9000);
    Config::client()
        .application_id(u64::MAX)
        .channels(&[Priority::Low, Priority::High])
        .and_then(|config| config.channel(ChannelId(0), channel))
        .and_then(|config| config.receive_budget(5000, 6000))
        .and_then(|config| config.windows(32, 64))
        .and_then(|config| config.bandwidth(1, 2))
        .and_then(|config| config.max_datagram(700))
        .and_then(|config| config.request_size(600))
        .and_then(|config| config.path_mtu_discovery(1400))
        .and_then(|config| config.send_budget(9))
        .and_then(|config| config.reply_limits(3, 4))
        .and_then(|config| config.connect_timeout(Duration::from_millis(1)))
        .and_then(|config| config.timeout(Duration::from_millis(2)))
        .and_then(|config| config.disconnect_timeout(Duration::from_millis(3)))
        .and_then(|config| config.unreliable_age(Duration::from_millis(4)))
        .and_then(|config| config.keepalive(Duration::from_secs(5)))
        .and_then(|config| config.connection_id_len(20))
        .expect("values in their ranges")
        .policy(Policy::Paper)
        .integrity(Integrity::Crc32c)
        .ecn(false)
        .roaming(true)
        .host_receive_budget(1)
        .host_send_rate(2)
        .max_peers(3)
        .max_peers_per_source(4)
        .congestion(Congestion::Binary { good: 5, bad: 6 })
}

fn read(text: &str) -> Result<Config, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[test]
fn a_configuration_comes_back_from_its_text() {
    let mut all = [
        Config::new(),
        Config::client(),
        Config::paper(),
        Config::embedded(),
        unlike(),
    ]
    .to_vec();
    let congestions = [
        Congestion::Paper,
        Congestion::Lean,
        Congestion::Reno,
        Congestion::Cubic,
        Congestion::Fixed { rate: 7 },
    ];
    all.extend(congestions.map(|congestion| Config::new().congestion(congestion)));
    all.push(Config::new().sealed(&[Suite::AES_GCM]).expect("a suite"));
    let most = Config::new().channels(&[Priority::High; 255]);
    all.push(most.expect("as many as there can be"));
    for expected in all {
        let text = serde_json::to_string(&expected).expect("no code");
        assert_eq!(
            format!("{:?}", read(&text).expect("as it was written")),
            format!("{expected:?}")
        );
    }
}

#[test]
fn what_is_left_out_is_the_default() {
    assert_eq!(
        format!("{:?}", read("{}").expect("nothing is needed")),
        format!("{:?}", Config::new())
    );
    let channels = read(r#"{ "channels": [{}, { "weight": 0 }] }"#).expect("two channels");
    let expected = Config::new()
        .channels(&[Priority::Low; 2])
        .expect("two channels");
    assert_eq!(format!("{channels:?}"), format!("{expected:?}"));
}

#[test]
fn what_is_wrong_is_named() {
    for (text, words) in [
        (r#"{ "max_peer": 1 }"#, "unknown field `max_peer`"),
        (r#"{ "channels": [] }"#, "channels: a host has 1 to 255"),
        (
            r#"{ "channels": [{ "order": "any" }] }"#,
            "unknown variant `any`",
        ),
        (
            r#"{ "request_size": 100 }"#,
            "request_size: connection requests must",
        ),
        (
            r#"{ "path_mtu_discovery": 3 }"#,
            "path_mtu_discovery: datagrams",
        ),
        (
            r#"{ "receive_budget": 9 }"#,
            "receive_budget: the receive budget",
        ),
        (r#"{ "packet_window": 17 }"#, "packet_window: windows must"),
        (r#"{ "send_rate": 0 }"#, "send_rate or receive_rate: "),
        (r#"{ "send_budget": 0 }"#, "send_budget: "),
        (r#"{ "replies": 0 }"#, "replies: reply limits must"),
        (r#"{ "timeout_ms": 0 }"#, "timeout_ms: "),
        (r#"{ "timeout_ms": -1 }"#, "invalid value: integer `-1`"),
        (r#"{ "keepalive_ms": 0 }"#, "keepalive_ms: "),
        (
            r#"{ "connection_id_len": 21 }"#,
            "connection_id_len: connection ids",
        ),
        (r#"{ "suites": [0] }"#, "suites: "),
        (r#"{ "congestion": "fast" }"#, "unknown variant `fast`"),
        (
            r#"{ "congestion": { "fixed": {} } }"#,
            "missing field `rate`",
        ),
    ] {
        let error = read(text).expect_err(text);
        assert!(error.contains(words), "{text}: {error}");
    }
    let many = ["{}"; 256].join(",");
    let error = read(&format!(r#"{{ "channels": [{many}] }}"#)).expect_err("256 channels");
    assert!(error.contains("channels: a host has 1 to 255"), "{error}");
}

#[test]
fn code_cannot_be_written() {
    let custom = Congestion::Custom(|_| unreachable!("no peer is made"));
    let error = serde_json::to_string(&Config::new().congestion(custom)).expect_err("code");
    assert!(error.to_string().contains("application's own"), "{error}");
}

#[test]
fn statistics_have_names_and_units() {
    const MS: Duration = Duration::from_millis(1);
    let links = LinkConfig::new().delay(20 * MS);
    let mut pair = Pair::new(Seed::new(1), links, Config::client(), Config::new());
    pair.connect_to_listener();
    let sent = pair.send(Pair::A, 0, Mode::Reliable, b"a packet".to_vec());
    assert_eq!(sent, Ok(()));
    pair.world
        .inject(66, Pair::B, b"no datagram of ours".to_vec());
    pair.world.run_for(500 * MS);

    let host = pair.world.host(Pair::A);
    let peer = host.peer(pair.peer(Pair::A)).expect("connected");
    let told = to_value(peer.stats()).expect("a map");
    // Both links take 20 ms, and the remote host answers at once or after 25 ms.
    let rtt = told["rtt_us"].as_u64().expect("microseconds");
    assert!((40_000..66_000).contains(&rtt), "{told}");
    let modes = json!({ "unreliable": 0, "reliable": 1, "passive": 0 });
    assert_eq!(told["packets_sent"], modes);

    let told = to_value(pair.world.host(Pair::B).stats()).expect("a map");
    assert_eq!(told["ignored"]["malformed"], json!(1), "{told}");
    let causes = told["ignored"].as_object().expect("a map");
    assert_eq!(causes.len(), 17);
    assert_eq!(told["connected"], json!(1));
    assert_eq!(told["tokens_refused"]["expired"], json!(0));
}
