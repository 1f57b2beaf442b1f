//! Peers whose datagrams are more work than their bytes are worth.

use core::time::Duration;

use porous_proto::{Disposition, Ignored};

use crate::peers::packet;
use crate::scene::{ENEMY, Scene, case, case_with, config, offer};
use porous_tests::encoder::Message;

const SECOND: Duration = Duration::from_secs(1);

/// The enemy sends such datagrams at this rate for three seconds: the number that is taken of each
/// second. What it sends next depends on how many were taken.
fn taken(
    scene: &mut Scene,
    enemy: &mut porous_tests::remote::Remote<u32>,
    rate: u32,
    mut next: impl FnMut(u32) -> Vec<Message>,
) -> Vec<u32> {
    let mut all = Vec::new();
    for _ in 0..3 {
        let mut count = 0;
        for _ in 0..rate {
            scene.now = scene.now + SECOND / rate;
            let frame = enemy.short(None, next(all.iter().sum::<u32>() + count));
            let taken = scene.send_frame(enemy, &frame);
            let too_much = taken == Disposition::Ignored(Ignored::TooMuchWork);
            assert!(
                too_much || matches!(taken, Disposition::Handled(_)),
                "{taken:?}"
            );
            count += u32::from(!too_much);
            scene.said.clear();
            scene.read(ENEMY);
        }
        all.push(count);
    }
    all
}

/// `[X17 R25]` 128 empty packets in each datagram, 9000 times a second: 50,000 packets a second are
/// taken beyond those that the bytes pay for, and as many once.
#[test]
fn empty_packets_at_a_high_rate_are_more_than_their_bytes_are_worth() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let mut id = 0;
        let packets = |_| {
            (0..128)
                .map(|_| {
                    id += 1;
                    packet(0, 0, (id - 1) % 65_536, 0).into()
                })
                .collect()
        };
        let taken = taken(scene, &mut enemy, 9000, packets);
        assert!((800..1300).contains(&taken[0]), "{taken:?}");
        assert!(
            taken[1..].iter().all(|&count| (400..700).contains(&count)),
            "{taken:?}"
        );
    });
}

/// `[X13 R25]` Windows of 65,536 packets and 255 channels: in each datagram a packet at the far end of
/// the windows of 120 channels, for each of which a whole window is looked through.
#[test]
fn leaps_in_many_channels_are_more_than_their_bytes_are_worth() {
    let wide = config().windows(256, 65_536).unwrap();
    let wide = wide.channels(&[porous_proto::Priority::Low; 255]).unwrap();
    case_with(wide, |scene| {
        let mut offer = offer();
        (offer.windows[1], offer.channels) = (16, 255);
        let mut enemy = scene.enemy_at(ENEMY, &offer);
        // Of two frames that leap as far, the second is believed.
        let packets = |n: u32| {
            let far = 65_536 * (1 + n / 2) - 2 + n % 2;
            let channels = 0..120_u8;
            channels
                .map(|channel| packet(0, channel, far % (1 << 24), 0).into())
                .collect()
        };
        let taken = taken(scene, &mut enemy, 200, packets);
        assert!(taken.iter().all(|&count| count < 30), "{taken:?}");
    });
}
