//! Links, packets and keys by chance.

use porous_proto::{Config, Mode};
use porous_sim::LinkConfig;

use crate::scene::{CLIENT, MS, Packet, Plan, SERVER, SUITES};

/// Numbers that follow from one number.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from(self.0 >> 32).unwrap() % end
    }

    fn percent(&mut self, most: u32) -> f64 {
        f64::from(self.below(most + 1))
    }
}

fn link(dice: &mut Dice) -> LinkConfig {
    let link = LinkConfig::new().delay(dice.below(100) * MS);
    let link = link.jitter(dice.below(20) * MS).loss(dice.percent(30));
    let link = link
        .reorder(dice.percent(20))
        .reorder_by(dice.below(500) * MS);
    let link = link.duplicate(dice.percent(20)).corrupt(dice.percent(5));
    link.truncate(dice.percent(5)).udp_checksum(false)
}

fn packets(dice: &mut Dice) -> Vec<Packet> {
    let count = 20 + dice.below(100);
    let packets = (0..count).map(|n| {
        let mode = [Mode::Unreliable, Mode::Reliable, Mode::Passive][n as usize % 3];
        let length = 1_usize << dice.below(12);
        let bytes = [&n.to_le_bytes()[..], &vec![7; length]].concat();
        Packet::new(0, mode, bytes)
    });
    packets.collect()
}

#[test]
fn whatever_the_links_do_reliable_packets_come_in_order() {
    for seed in 1..=50 {
        let mut dice = Dice(u64::wrapping_mul(seed, 0x9E37_79B9_7F4A_7C15) | 1);
        let suite = SUITES[usize::from(dice.below(2) == 0)];
        let mut plan = Plan::new(seed, suite).link(link(&mut dice));
        plan.rekey_after = 1 << dice.below(10);
        let length = u8::try_from(1 + dice.below(20)).unwrap();
        plan.client = Config::new().connection_id_len(length).unwrap();
        let mut scene = plan.connected();
        let packets = packets(&mut dice);
        scene.talk(&packets, (1 + dice.below(20)) * MS);
        scene.check();
        assert_eq!(scene.ended(CLIENT), []);
        assert_eq!(scene.ended(SERVER), []);
    }
}
