//! Fragments that lie about the packet that they belong to, from a connected peer.

use core::time::Duration;

use porous_proto::{Disposition, Ignored};
use porous_tests::encoder::Packet;

use crate::scene::{Cost, ENEMY, FRAGMENT, case, offer};

const RELIABLE: u8 = 1;

/// `[X4 R12]` One byte of a packet of 57 fragments is kept as one byte, and not for its packet.
#[test]
fn the_end_of_a_great_packet_costs_what_has_come() {
    let cost = Cost {
        bytes: 5000,
        steps: 100,
    };
    case(cost, |scene| {
        let mut enemy = scene.enemy();
        let packet = Packet::whole(RELIABLE, 0, 0, 0, vec![7]);
        let taken = scene.send(&mut enemy, None, vec![packet.part(56, 57).into()]);
        assert!(matches!(taken, Disposition::Handled(_)), "{taken:?}");
        scene.pass(Duration::from_secs(5));
        assert_eq!(scene.read(ENEMY), 0);
    });
}

/// `[X4 B1 R12]` A fragment of a packet that would be larger than the agreed maximum is refused.
#[test]
fn a_fragment_that_announces_too_great_a_packet_is_refused() {
    let cost = Cost {
        bytes: 2000,
        steps: 100,
    };
    case(cost, |scene| {
        for (address, (index, count)) in
            (ENEMY..).zip([(57, 58), (0, 58), (65_534, 65_535), (0, 65_535)])
        {
            let mut enemy = scene.enemy_at(address, &offer());
            let packet = Packet::whole(RELIABLE, 0, 0, 0, vec![7; FRAGMENT]);
            let message = packet.part(index, count).into();
            let taken = scene.send(&mut enemy, None, vec![message]);
            let refused = Disposition::Ignored(Ignored::BadMessage);
            assert_eq!(taken, refused, "{index} of {count}");
        }
    });
}
