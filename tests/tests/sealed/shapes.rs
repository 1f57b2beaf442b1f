//! Sealed connections with other configurations, and packets of all sizes.

use porous_proto::{ChannelId, Config, Integrity, Mode, Policy, Priority};
use porous_sim::LinkConfig;

use crate::scene::{CLIENT, DELAY, MS, Packet, Plan, SERVER, SUITES};

/// Two hosts with this configuration talk over a line that loses a tenth.
fn talks(config: &Config) {
    for suite in SUITES {
        let link = LinkConfig::new().delay(DELAY).loss(10.0);
        let plan = Plan::new(1, suite).config(config).link(link);
        let mut scene = plan.connected();
        scene.talk(&Packet::reliable(100), 10 * MS);
        scene.check();
        assert_eq!(scene.unopened(), 0);
    }
}

#[test]
fn the_check_of_plain_datagrams_is_not_asked_for() {
    for integrity in [Integrity::Header, Integrity::Crc32c] {
        talks(&Config::new().integrity(integrity));
    }
}

#[test]
fn connection_ids_may_be_long_or_short() {
    for len in [1, 20] {
        talks(&Config::new().connection_id_len(len).unwrap());
    }
}

#[test]
fn requests_may_be_short() {
    let config = Config::new().request_size(512).unwrap();
    for suite in SUITES {
        let link = LinkConfig::new().delay(DELAY).mtu(512);
        let mut scene = Plan::new(1, suite).config(&config).link(link).connected();
        scene.talk(&Packet::reliable(100), 10 * MS);
    }
}

#[test]
fn the_paper_policy_may_be_sealed() {
    talks(&Config::paper());
    talks(&Config::new().policy(Policy::Paper));
}

#[test]
fn there_may_be_255_channels() {
    let config = Config::new().channels(&[Priority::Low; 255]).unwrap();
    talks(&config);
    for suite in SUITES {
        let mut scene = Plan::new(2, suite).config(&config).connected();
        let packets =
            (0..255).map(|channel| Packet::new(channel, Mode::Reliable, vec![channel; 9]));
        scene.talk(&packets.collect::<Vec<_>>(), MS);
    }
}

#[test]
fn large_packets_come_whole() {
    let large = |length: usize| {
        let bytes = (0..length).map(|n| n.to_le_bytes()[n % 3]).collect();
        Packet::new(0, Mode::Reliable, bytes)
    };
    for (config, mtu) in [
        (Config::new().without_path_mtu_discovery(), 1200),
        (Config::new().with_path_mtu_discovery(), 1472),
    ] {
        for suite in SUITES {
            for loss in [0.0, 5.0] {
                let link = LinkConfig::new().delay(DELAY).loss(loss).mtu(mtu);
                let plan = Plan::new(3, suite).config(&config).link(link);
                let mut scene = plan.connected();
                // All lengths about a datagram's, and the largest of all.
                let mut packets: Vec<_> = (1100..1480).step_by(3).map(large).collect();
                packets.push(large(1 << 20));
                scene.talk(&packets, 5 * MS);
                assert_eq!(scene.unopened(), 0);
            }
        }
    }
}

/// What an application cannot send over a plain connection it cannot send over a sealed one.
#[test]
fn a_sealed_connection_refuses_what_a_plain_one_does() {
    for suite in SUITES {
        let plan = Plan::new(4, suite);
        let errors = [plan.clone(), plan.plain()].map(|plan| {
            let mut scene = plan.connected();
            [CLIENT, SERVER].map(|at| {
                let peer = scene.peer(at);
                let host = scene.world.host_mut(at);
                let wide = vec![0; (1 << 20) + 1];
                let wrong = host.send(peer, ChannelId(99), "", Mode::Reliable);
                let wide = host.send(peer, ChannelId(0), wide, Mode::Reliable);
                assert!(wrong.is_err() && wide.is_err());
                (wrong, wide)
            })
        });
        assert_eq!(errors[0], errors[1]);
    }
}
