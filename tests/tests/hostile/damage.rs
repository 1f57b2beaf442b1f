//! Every datagram that is one bit or one cut away from a good one.

use porous_proto::{Disposition, Ignored, Malformed, PeerStats};
use porous_tests::encoder::{Ack, Message, Offer, Shape, Short};
use porous_tests::remote::Remote;

use crate::peers::{
    PASSIVE, RELIABLE, UNRELIABLE, all_up_to, assert_taken, challenge, limits, malformed, noop,
    packet, ping, pong, sentinel, tombstone, window,
};
use crate::scene::{ENEMY, FRAGMENT, Scene, case, case_of_many, case_with, config, offer};

/// Frames that have everything in them that there is.
fn frames(enemy: &mut Remote<u32>) -> Vec<Short> {
    let newest = enemy.newest.0;
    let delayed = Ack {
        delay: Some(9),
        ..all_up_to(enemy, newest)
    };
    let kinds: [Vec<Message>; 6] = [
        vec![],
        vec![noop(), ping(3), pong(0), challenge(9)],
        vec![
            window(0, 0),
            sentinel(1, 31, 3),
            tombstone(2, 9, 2),
            limits(1, 1000),
        ],
        vec![
            packet(UNRELIABLE, 0, 0, 5).into(),
            packet(RELIABLE, 0, 1, 5).into(),
            packet(PASSIVE, 1, 0, 0).into(),
            packet(UNRELIABLE, 3, 7, 300).into(),
        ],
        vec![
            packet(RELIABLE, 2, 0, FRAGMENT / 8)
                .part(64_512, 64_656)
                .into(),
        ],
        vec![Message::Control(vec![9, 0, 0, 0])],
    ];
    let kinds = kinds.into_iter();
    kinds
        .flat_map(|messages| {
            [None, Some(delayed.clone())].map(|ack| enemy.short(ack, messages.clone()))
        })
        .collect()
}

/// An enemy that was sent something, and knows these offers.
fn sent_to(scene: &mut Scene, offer: &Offer) -> Remote<u32> {
    let mut enemy = scene.enemy_at(ENEMY, offer);
    scene.chatter(&mut enemy, 50);
    enemy
}

/// How many of these datagrams the host takes. None that it refuses has an effect.
fn taken(scene: &mut Scene, datagrams: impl Iterator<Item = Vec<u8>>) -> usize {
    let mut count = 0;
    for datagram in datagrams {
        let before: PeerStats = scene.judged();
        let entries = scene.host.host.audit().entries;
        match scene.deliver(ENEMY, &datagram) {
            Disposition::Handled(_) | Disposition::Accepted(_) => count += 1,
            // One of these with the same id was taken, and what is new in this one is as well.
            Disposition::Ignored(Ignored::Duplicate) => {}
            Disposition::Ignored(cause) => {
                let mut after = scene.judged();
                // A peer that says what cannot be true is trusted with less for a while.
                if cause == Ignored::BadAck {
                    after.window = after.window.max(before.window);
                }
                assert_eq!(after, before, "{cause:?} {datagram:x?}");
                // What two frames contradict is forgotten, whichever of them is true.
                let left = scene.host.host.audit().entries;
                let may_forget = cause == Ignored::BadMessage && left < entries;
                assert!(left == entries || may_forget, "{cause:?} {datagram:x?}");
            }
        }
        scene.said.clear();
    }
    count
}

fn flips(datagram: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    (0..8 * datagram.len()).map(move |bit| {
        let mut flipped = datagram.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        flipped
    })
}

const CHECKED: fn() -> Offer = || Offer {
    integrity: 1,
    ..offer()
};

/// `[X12 X24]` Frames of all kinds, cut off after each byte, with a check behind that: what is taken is
/// well-formed, and what is not has no effect.
#[test]
fn every_truncation_of_a_frame() {
    // Acknowledgements of what is taken have room beside the data.
    case_with(config().windows(1024, 256).unwrap(), |scene| {
        let windows = [10, 8];
        let mut enemy = sent_to(scene, &Offer { windows, ..offer() });
        let shape = enemy.shape;
        let (check, bare) = (
            shape.check.unwrap(),
            Shape {
                check: None,
                ..shape
            },
        );
        for frame in frames(&mut enemy) {
            let whole = frame.encode(&bare);
            let acked = frame.ack.as_ref().map(|ack| ack.largest.into());
            let cuts = (1..whole.len()).map(|len| {
                let mut cut = whole[..len].to_vec();
                check.append(frame.id, acked, &mut cut);
                cut
            });
            taken(scene, cuts);
        }
        scene.read(ENEMY);
    });
}

/// `[X12 X24]` The same without a check of their own, whatever it covers: none is taken.
#[test]
fn no_truncated_frame_is_taken() {
    case_of_many(|scenes| {
        for offer in [offer(), CHECKED()] {
            scenes.attack(config(), |scene| {
                let mut enemy = sent_to(scene, &offer);
                for frame in frames(&mut enemy) {
                    let whole = frame.encode(&enemy.shape);
                    let cuts = (0..whole.len()).map(|len| whole[..len].to_vec());
                    assert_eq!(taken(scene, cuts), 0);
                }
            });
        }
    });
}

/// `[X24 X12]` Frames of all kinds with each bit flipped, where the check covers the head: what is
/// taken is within what a peer may say, and what is not has no effect.
#[test]
fn every_flipped_bit_of_a_frame() {
    case(|scene| {
        let mut enemy = sent_to(scene, &offer());
        let all = frames(&mut enemy);
        for frame in all {
            taken(scene, flips(&frame.encode(&enemy.shape)));
        }
        scene.read(ENEMY);
        assert!(scene.state(ENEMY).is_some());
    });
}

/// `[X24 X12]` The same where it covers all bytes: none is taken, and the frame itself still is.
#[test]
fn no_flipped_bit_of_a_checked_frame_is_taken() {
    case(|scene| {
        let mut enemy = sent_to(scene, &CHECKED());
        for frame in frames(&mut enemy) {
            let whole = frame.encode(&enemy.shape);
            assert_eq!(taken(scene, flips(&whole)), 0);
            assert_taken(scene.deliver(ENEMY, &whole));
        }
        scene.read(ENEMY);
    });
}

/// `[X24]` Checked frames with two bits flipped, with two bytes exchanged, and with a check of nothing,
/// of all ones, or of another frame.
#[test]
fn no_damage_to_a_checked_frame_is_taken() {
    case(|scene| {
        let mut enemy = sent_to(scene, &CHECKED());
        let frame = enemy.short(None, vec![packet(RELIABLE, 0, 0, 20).into()]);
        let whole = frame.encode(&enemy.shape);
        let pairs = flips(&whole).flat_map(|once| flips(&once).step_by(7).collect::<Vec<_>>());
        assert_eq!(taken(scene, pairs.filter(|damaged| *damaged != whole)), 0);
        for at in 1..whole.len() {
            let mut swapped = whole.clone();
            swapped.swap(at - 1, at);
            assert!(swapped == whole || taken(scene, [swapped].into_iter()) == 0);
        }
        let other = enemy.short(None, vec![noop()]).encode(&enemy.shape);
        let len = whole.len() - 4;
        for tag in [&[0; 4], &[0xFF; 4], &other[other.len() - 4..]] {
            let forged = [&whole[..len], tag].concat();
            assert_eq!(
                scene.deliver(ENEMY, &forged),
                malformed(Malformed::Integrity)
            );
        }
        assert_taken(scene.deliver(ENEMY, &whole));
        scene.read(ENEMY);
    });
}
