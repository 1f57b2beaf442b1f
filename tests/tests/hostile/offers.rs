//! Offers that are within their ranges, and as strange as that allows.
//!
//! The host that makes them is let in, is talked with, and harms no other.

use core::time::Duration;

use bytes::Bytes;
use porous_proto::{ChannelId, Disposition, Mode, PeerState, Priority, SendError};
use porous_tests::config::by_policy;
use porous_tests::encoder::{Offer, Packet};

use crate::scene::{ENEMY, Scene, case, case_with, config, offer};

const SECOND: Duration = Duration::from_secs(1);

/// Connects with this offer, and talks: of `len` bytes there and of `len` back.
fn talk(scene: &mut Scene, offer: &Offer, len: usize) {
    let mut enemy = scene.settle(ENEMY, 9, offer);
    let (peer, _) = scene.host.host.peers().last().unwrap();
    let packet = Packet::whole(1, 0, 0, 0, vec![7; len]);
    let taken = scene.send(&mut enemy, None, vec![packet.into()]);
    assert!(matches!(taken, Disposition::Handled(_)), "{taken:?}");
    assert_eq!(scene.read(ENEMY), 1);
    let word = Bytes::from(vec![7; len]);
    let sent = scene
        .host
        .call(|host| host.send(peer, ChannelId(0), word, Mode::Reliable));
    assert_eq!(sent, Ok(()));
    scene.pass(5 * SECOND);
    assert_eq!(scene.state(ENEMY), Some(PeerState::Connected));
}

/// `[X10 R13]` One channel is enough.
#[test]
fn a_peer_may_have_one_channel() {
    case(|scene| {
        talk(
            scene,
            &Offer {
                channels: 1,
                ..offer()
            },
            9,
        );
        let (peer, _) = scene.host.host.peers().last().unwrap();
        let beyond = scene
            .host
            .call(|host| host.send(peer, ChannelId(1), &b"x"[..], Mode::Reliable));
        assert_eq!(beyond, Err(SendError::UnknownChannel));
    });
}

/// `[X10 R13]` 255 channels with the largest windows cost memory when something comes on them.
#[test]
fn a_peer_with_255_channels_costs_what_it_uses() {
    let config = config().channels(&[Priority::Low; 255]).unwrap();
    let config = config.windows(65_536, 65_536).unwrap();
    case_with(config, |scene| {
        let offer = Offer {
            channels: 255,
            windows: [16, 16],
            ..offer()
        };
        let enemy = scene.join(ENEMY, 9, &offer);
        assert_eq!(enemy.shape.window, 65_536);
        assert_eq!(scene.host.host.peers().last().unwrap().1.channels(), 255);
    });
}

/// `[X10]` A host that keeps one packet of one byte gets such packets, and no others.
#[test]
fn a_peer_may_keep_65_bytes() {
    case(|scene| {
        talk(
            scene,
            &Offer {
                packet: 1,
                budget: 65,
                ..offer()
            },
            1,
        );
        let (peer, _) = scene.host.host.peers().last().unwrap();
        let sent = scene
            .host
            .call(|host| host.send(peer, ChannelId(0), &b"xy"[..], Mode::Reliable));
        assert_eq!(sent, Err(SendError::TooLarge));
        for _ in 0..1000 {
            let sent = scene
                .host
                .call(|host| host.send(peer, ChannelId(0), &b"x"[..], Mode::Unreliable));
            assert_eq!(sent, Ok(()));
        }
        scene.pass(5 * SECOND);
    });
}

/// `[X10]` A host that keeps 4 GiB is not sent more for that, and may send no more.
#[test]
fn a_peer_may_keep_four_gigabytes() {
    case(|scene| {
        let offer = Offer {
            packet: u32::MAX - 64,
            budget: u32::MAX,
            ..offer()
        };
        talk(scene, &offer, 1000);
        assert_eq!(
            scene.host.host.peers().last().unwrap().1.max_packet(),
            65_536
        );
    });
}

/// `[X10 B5]` For one byte a second the host sends a datagram again and again, ever less often.
#[test]
fn a_peer_may_want_one_byte_a_second() {
    case(|scene| {
        talk(
            scene,
            &Offer {
                rates: [1, 1],
                ..offer()
            },
            1000,
        );
        let bytes: usize = scene.said_to(ENEMY).iter().map(|said| said.len()).sum();
        // Probes whether the path still carries the size, one a second, are among them (D16).
        assert!(
            bytes < by_policy(20_000, 15_000),
            "{bytes} bytes in five seconds"
        );
    });
}

/// `[X10]` Windows of 16 frames and 16 packets are enough.
#[test]
fn a_peer_may_have_the_smallest_windows() {
    case(|scene| {
        talk(
            scene,
            &Offer {
                windows: [4, 4],
                ..offer()
            },
            9,
        )
    });
}

/// `[X10]` Windows of 65,536 are cut to what the host has.
#[test]
fn a_peer_may_have_the_largest_windows() {
    case(|scene| {
        let mut enemy = scene.settle(
            ENEMY,
            9,
            &Offer {
                windows: [16, 16],
                ..offer()
            },
        );
        enemy.shape.window = 256;
        let packet = Packet::whole(1, 0, 256, 0, vec![7]);
        let taken = scene.send(&mut enemy, None, vec![packet.into()]);
        assert!(matches!(taken, Disposition::Handled(_)), "{taken:?}");
        assert_eq!(scene.read(ENEMY), 0, "beyond the window");
    });
}

/// `[X10]` Datagrams of 512 bytes are the shortest that there are, those of 65,535 no longer ours.
#[test]
fn a_peer_gets_datagrams_as_long_as_it_wants() {
    case(|scene| {
        for (address, datagram, most) in [(ENEMY, 512, 512), (ENEMY + 1, u16::MAX, 1200)] {
            scene.settle(
                address,
                u64::from(address),
                &Offer {
                    datagram,
                    ..offer()
                },
            );
            let (peer, _) = scene.host.host.peers().last().unwrap();
            let sent = scene
                .host
                .call(|host| host.send(peer, ChannelId(0), vec![7; 60_000], Mode::Reliable));
            assert_eq!(sent, Ok(()));
            scene.said.clear();
            scene.pass(SECOND);
            let longest = scene.said_to(address).iter().map(|said| said.len()).max();
            assert!(
                longest.is_some_and(|len| len <= most && len > most - 48),
                "{longest:?}"
            );
        }
    });
}

/// `[X10]` All at their least, and a checksum is used if one of two wants it.
#[test]
fn a_peer_may_want_the_least_of_everything() {
    case(|scene| {
        let least = Offer {
            application: 0,
            channels: 1,
            datagram: 512,
            packet: 1,
            budget: 65,
            windows: [4, 4],
            rates: [1, 1],
            integrity: 1,
            extensions: 0,
            path_mtu: None,
            sealed: &[],
            timeout: None,
        };
        talk(scene, &least, 1);
    });
}

/// `[X10]` All at their most, and bits of unknown extensions.
#[test]
fn a_peer_may_offer_the_most_of_everything() {
    case(|scene| {
        let most = Offer {
            application: 0,
            channels: 255,
            datagram: u16::MAX - 1,
            packet: u32::MAX - 64,
            budget: u32::MAX,
            windows: [8, 8],
            rates: [u32::MAX; 2],
            integrity: 1,
            extensions: u32::MAX,
            path_mtu: Some(u16::MAX),
            sealed: &[],
            timeout: Some(u32::MAX),
        };
        talk(scene, &most, 1000);
        assert_eq!(scene.host.host.peers().last().unwrap().1.channels(), 4);
    });
}

/// `[X10 R3]` Connection ids of 0 to 20 bytes are the caller's choice, the same one for all too.
#[test]
fn peers_may_want_any_connection_id() {
    case(|scene| {
        for (len, id) in [&[][..], &[0], &[0; 2], &[0; 4], &[0; 8], &[0; 20]]
            .into_iter()
            .enumerate()
        {
            let (address, body) = (ENEMY + u32::try_from(len).unwrap(), offer().body(id));
            let ask = porous_tests::remote::request([9, 0], &body);
            scene.deliver(address, &ask);
            let cookie = porous_tests::remote::nonce(&scene.said.last().unwrap().1);
            let again = porous_tests::remote::request([9, cookie], &body);
            let taken = scene.deliver(address, &again);
            assert!(
                matches!(taken, Disposition::Accepted(_)),
                "{len}: {taken:?}"
            );
            scene.trust(address);
        }
        scene.pass(SECOND);
        assert_eq!(scene.others(), 6);
    });
}
