//! The last outcome of a receipt is right, for every combination of options of a packet: the table of
//! [`Outcome`] (`docs/deviations.md` D2).

#![expect(clippy::unwrap_used, reason = "a test")]

use alloc::collections::BTreeMap;
use core::time::Duration;

use porous_proto::{Channel, ChannelId, Event, Mode, Outcome, Priority, SendOptions};
use porous_sim::{LinkConfig, Pair, Seed};
use porous_tests::config;

const MS: Duration = Duration::from_millis(1);

/// A combination of options, and whether the packet is cancelled.
#[derive(Clone, Copy, Debug)]
struct Cell {
    mode: Mode,
    unordered: bool,
    copies: bool,
    ttl: bool,
    key: bool,
    cancel: bool,
}

impl Cell {
    fn all() -> impl Iterator<Item = Self> {
        let modes = [Mode::Unreliable, Mode::Reliable, Mode::Passive];
        modes.into_iter().flat_map(|mode| {
            (0..32_u8).map(move |bits| Self {
                mode,
                unordered: bits & 1 != 0,
                copies: bits & 2 != 0,
                ttl: bits & 4 != 0,
                key: bits & 8 != 0,
                cancel: bits & 16 != 0,
            })
        })
    }

    fn options(self, number: u64) -> SendOptions {
        let mut options = SendOptions::new(self.mode).receipt(number);
        if self.copies {
            options = options.redundancy(2);
        }
        if self.ttl {
            options = options.ttl(70 * MS);
        }
        if self.key {
            // With other keys between two packets with one, and in pairs.
            let pairs = if self.copies { 2 } else { 1 };
            options = options.key(number / pairs % 3);
        }
        options
    }

    /// True if the table has this outcome in the combination's column.
    fn can_be(self, outcome: Outcome) -> bool {
        let reliable = self.mode == Mode::Reliable;
        match outcome {
            Outcome::Delivered => true,
            // No packet is late by a whole report here, and there is room for all.
            Outcome::Skipped => (!reliable || self.key) && !self.unordered,
            Outcome::Lost => !reliable,
            Outcome::Expired => self.ttl || self.mode == Mode::Unreliable,
            Outcome::Cancelled => self.key || self.cancel,
            _ => false,
        }
    }
}

/// What became of the packets of one combination.
struct Story {
    pair: Pair,
    cell: Cell,
    /// By packet number: the outcomes of the receipt, and the number of times that the packet was
    /// delivered.
    packets: BTreeMap<u64, (Vec<Outcome>, u32)>,
}

impl Story {
    fn new(cell: Cell, seed: u64) -> Self {
        let channel = Channel::new(Priority::Low);
        let receiver = config::new().channels(&[Priority::Low; 2]).unwrap();
        let sender = receiver.clone();
        let receiver = if cell.unordered {
            receiver.channel(ChannelId(1), channel.unordered()).unwrap()
        } else {
            receiver
        };
        let line = LinkConfig::new().delay(30 * MS);
        let mut pair = Pair::new(Seed::new(seed), line, sender, receiver);
        pair.connect_to_listener();
        Self {
            pair,
            cell,
            packets: BTreeMap::new(),
        }
    }

    fn send(&mut self, number: u64) {
        let len = if number % 16 == 7 { 3000 } else { 60 };
        let mut packet = vec![0; len];
        packet[..8].copy_from_slice(&number.to_le_bytes());
        let options = self.cell.options(number);
        self.pair.send(Pair::A, 1, options, packet).unwrap();
        self.packets.insert(number, (Vec::new(), 0));
        if self.cell.cancel && number % 4 == 0 {
            let peer = self.pair.peer(Pair::A);
            let old = number.saturating_sub(number / 4 % 12);
            self.pair
                .world
                .host_mut(Pair::A)
                .cancel(peer, ChannelId(1), old);
        }
    }

    fn hear(&mut self) {
        for packet in self.pair.receive_all(Pair::B) {
            let number = u64::from_le_bytes(packet.payload[..8].try_into().unwrap());
            self.packets.get_mut(&number).unwrap().1 += 1;
        }
        while let Some(event) = self.pair.world.poll_event(Pair::A) {
            if let Event::Receipt { token, outcome, .. } = event {
                self.packets.get_mut(&token).unwrap().0.push(outcome);
            }
        }
    }

    fn run(&mut self) {
        let bad = LinkConfig::new().delay(30 * MS).jitter(15 * MS).loss(15.0);
        let bad = bad.duplicate(10.0).reorder(20.0).reorder_by(60 * MS);
        self.pair.world.network_mut().set_all(bad);
        for number in 0..300 {
            self.send(number);
            self.pair.world.run_for(5 * MS);
            self.hear();
        }
        let good = LinkConfig::new().delay(30 * MS);
        self.pair.world.network_mut().set_all(good);
        // A receipt is final only for packets that the window has passed.
        let last = SendOptions::new(Mode::Reliable).receipt(1000);
        self.packets.insert(1000, (Vec::new(), 0));
        let packet = 1000_u64.to_le_bytes().to_vec();
        self.pair.send(Pair::A, 1, last, packet).unwrap();
        for _ in 0..400 {
            self.pair.world.run_for(10 * MS);
            self.hear();
        }
    }
}

/// D2.
#[test]
fn the_last_word_is_right_in_every_combination() {
    let mut seen = BTreeMap::new();
    for (seed, cell) in (0..).zip(Cell::all()) {
        let mut story = Story::new(cell, seed);
        story.run();
        for (number, (words, times)) in &story.packets {
            let context = format!("seed {seed}: {cell:?}: {number} {words:?}, {times} times");
            let last = *words.last().unwrap_or_else(|| panic!("{context}"));
            assert!(*times <= 1, "{context}");
            assert_eq!(last == Outcome::Delivered, *times == 1, "{context}");
            assert!(cell.can_be(last), "{context}");
            assert!(words.windows(2).all(|two| two[0] != two[1]), "{context}");
            let corrected = words.len() > 1;
            *seen.entry((format!("{last:?}"), corrected)).or_insert(0) += 1;
        }
        let _ = story.pair.world.host(Pair::A).audit();
        let _ = story.pair.world.host(Pair::B).audit();
    }
    // Each outcome occurs, and each of them corrects another one.
    for outcome in ["Delivered", "Skipped", "Lost", "Expired", "Cancelled"] {
        let count = |corrected| seen.get(&(outcome.to_owned(), corrected)).copied();
        assert!(count(false).unwrap_or(0) > 10, "{outcome}: {seen:?}");
    }
    assert!(seen[&("Skipped".to_owned(), true)] > 10, "{seen:?}");
    assert!(seen[&("Delivered".to_owned(), true)] > 10, "{seen:?}");
}

/// A large passive packet beside unreliable ones on its channel is overtaken, and its receipt says so. On
/// a channel of its own it is not. D2.
#[test]
fn a_large_passive_packet_is_skipped_beside_small_ones_and_is_not_on_its_own_channel() {
    for (channel, least, most) in [(1, 0, 19), (0, 20, 20)] {
        let two = config::new().channels(&[Priority::Low; 2]).unwrap();
        let line = LinkConfig::new().delay(30 * MS);
        let mut pair = Pair::new(Seed::new(1), line, two.clone(), two);
        pair.connect_to_listener();
        pair.world.network_mut().set_all(line.loss(5.0));
        let (mut told, mut got) = (BTreeMap::new(), 0);
        for n in 0..6000_u64 {
            if n % 100 == 0 && n < 2000 {
                let large = SendOptions::new(Mode::Passive).receipt(n);
                pair.send(Pair::A, channel, large, vec![0; 100_000])
                    .unwrap();
            }
            if n < 2500 {
                let _ = pair.send(Pair::A, 1, Mode::Unreliable, vec![1; 20]);
            }
            pair.world.run_for(10 * MS);
            let received = pair.receive_all(Pair::B);
            got += received.iter().filter(|p| p.payload.len() > 20).count();
            while let Some(event) = pair.world.poll_event(Pair::A) {
                if let Event::Receipt { token, outcome, .. } = event {
                    told.insert(token, outcome);
                }
            }
        }
        let delivered = told.values().filter(|&&o| o == Outcome::Delivered);
        assert_eq!((told.len(), delivered.count()), (20, got), "{told:?}");
        assert!((least..=most).contains(&got), "channel {channel}: {got}");
    }
}
