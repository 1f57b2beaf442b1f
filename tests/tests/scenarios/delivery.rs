//! The options of a packet beside its mode: times to live, receipts, keys, cancelling; and channels
//! without an order (`docs/deviations.md` D1 to D5).

#![expect(clippy::unwrap_used, reason = "a test")]

use alloc::collections::{BTreeMap, BTreeSet};
use core::time::Duration;
use std::collections::HashMap;

use porous_proto::{Channel, ChannelId, Config, Event, Mode, Outcome, Priority, SendOptions};
use porous_sim::{LinkConfig, Pair, Seed};
use porous_tests::config;

const MS: Duration = Duration::from_millis(1);
const MODES: [Mode; 3] = [Mode::Unreliable, Mode::Reliable, Mode::Passive];

fn line() -> LinkConfig {
    LinkConfig::new().delay(30 * MS)
}

/// Channel 0 is ordered, channel 1 is not.
fn two_channels() -> Config {
    let two = config::new().channels(&[Priority::Low; 2]).unwrap();
    let unordered = Channel::new(Priority::Low).unordered();
    two.channel(ChannelId(1), unordered).unwrap()
}

fn pair(seed: u64, config: &Config) -> Pair {
    let mut pair = Pair::new(Seed::new(seed), line(), config.clone(), config.clone());
    pair.connect_to_listener();
    while pair.world.poll_event(Pair::A).is_some() {}
    pair
}

/// The receipts that A's application was told.
fn receipts(pair: &mut Pair) -> Vec<(u64, Outcome)> {
    let next = || {
        let event = pair.world.poll_event(Pair::A)?;
        let Event::Receipt { token, outcome, .. } = event else {
            return Some(None);
        };
        Some(Some((token, outcome)))
    };
    core::iter::from_fn(next).flatten().collect()
}

fn numbers(pair: &mut Pair) -> Vec<u8> {
    let packets = pair.receive_all(Pair::B);
    packets.iter().map(|packet| packet.payload[0]).collect()
}

/// D5.
#[test]
fn an_unordered_channel_does_not_wait_for_what_is_lost() {
    let mut pair = pair(1, &two_channels());
    pair.world.network_mut().set_all(line().loss(100.0));
    for channel in 0..2 {
        pair.send(Pair::A, channel, Mode::Reliable, vec![channel])
            .unwrap();
    }
    pair.world.run_for(MS);
    pair.world.network_mut().set_all(line());
    for channel in 0..2 {
        for n in 1..20 {
            let packet = vec![10 * n + channel];
            pair.send(Pair::A, channel, MODES[usize::from(n % 3)], packet)
                .unwrap();
        }
    }
    pair.world.run_for(40 * MS);
    let soon = pair.receive_all(Pair::B);
    assert!(soon.iter().all(|packet| packet.channel == ChannelId(1)));
    assert_eq!(soon.len(), 19);
    pair.world.run_for(2000 * MS);
    let late = pair.receive_all(Pair::B);
    let unordered: Vec<_> = late.iter().filter(|packet| packet.channel.0 == 1).collect();
    assert_eq!((unordered.len(), late.len()), (1, 21));
    assert_eq!(unordered[0].payload[..], [1]);
}

/// D5.
#[test]
fn packets_that_overtake_each_other_all_come_on_an_unordered_channel() {
    let mut pair = pair(2, &two_channels());
    let shaky = LinkConfig::new()
        .delay(30 * MS)
        .jitter(25 * MS)
        .reorder(40.0);
    pair.world.network_mut().set_all(shaky);
    let mut seen = BTreeSet::new();
    for n in 0..1000_u16 {
        let mode = MODES[usize::from(n % 3)];
        pair.send(Pair::A, 1, mode, n.to_le_bytes().to_vec())
            .unwrap();
        pair.world.run_for(3 * MS);
        for packet in pair.receive_all(Pair::B) {
            assert!(seen.insert(packet.payload), "twice; {}", pair.world.seed());
        }
    }
    pair.world.run_for(2000 * MS);
    seen.extend(
        pair.receive_all(Pair::B)
            .into_iter()
            .map(|packet| packet.payload),
    );
    assert_eq!(seen.len(), 1000, "{}", pair.world.seed());
}

/// D1.
#[test]
fn a_packet_that_has_expired_is_passed_over() {
    let mut pair = pair(3, &two_channels());
    pair.world.network_mut().set_all(line().loss(100.0));
    let short = SendOptions::new(Mode::Reliable).ttl(100 * MS).receipt(7);
    pair.send(Pair::A, 0, short, vec![1]).unwrap();
    pair.send(Pair::A, 0, Mode::Reliable, vec![2]).unwrap();
    pair.send(Pair::A, 0, short.receipt(8), vec![0; 100_000])
        .unwrap();
    pair.send(Pair::A, 0, Mode::Reliable, vec![3]).unwrap();
    pair.world.run_for(300 * MS);
    pair.world.network_mut().set_all(line());
    pair.world.run_for(5000 * MS);
    assert_eq!(numbers(&mut pair), [2, 3]);
    let mut told = receipts(&mut pair);
    told.sort_by_key(|receipt| receipt.0);
    assert_eq!(told, [(7, Outcome::Expired), (8, Outcome::Expired)]);
    let peer = pair.peer(Pair::A);
    let state = pair.world.host(Pair::A).peer(peer).unwrap();
    assert_eq!(state.stats().packets_expired, 2);
    assert_eq!(state.queued_bytes(), 0);
}

/// D1.
#[test]
fn a_passive_packet_that_has_expired_in_part_blocks_nobody() {
    let config = two_channels().receive_budget(50_000, 60_000).unwrap();
    let mut pair = pair(4, &config.bandwidth(200_000, 200_000).unwrap());
    let short = SendOptions::new(Mode::Passive).ttl(100 * MS).receipt(1);
    pair.send(Pair::A, 0, short, vec![1; 50_000]).unwrap();
    pair.world.run_for(150 * MS);
    pair.send(Pair::A, 1, Mode::Reliable, vec![2; 50_000])
        .unwrap();
    pair.world.run_for(10_000 * MS);
    assert_eq!(numbers(&mut pair), [] as [u8; 0]);
    pair.world.run_for(10_000 * MS);
    assert_eq!(numbers(&mut pair), [2], "the budget was given back");
    assert_eq!(receipts(&mut pair)[0], (1, Outcome::Expired));
}

/// D3.
#[test]
fn only_the_latest_of_a_key_is_sent() {
    let mut pair = pair(5, &config::new().bandwidth(10_000, 10_000).unwrap());
    for n in 0..100_u8 {
        let state = SendOptions::new(Mode::Reliable).key(u64::from(n % 2));
        let mut packet = vec![0; 900];
        packet[0] = n;
        pair.send(Pair::A, 0, state, packet).unwrap();
    }
    pair.world.run_for(3000 * MS);
    assert_eq!(numbers(&mut pair), [98, 99]);
    let peer = pair.peer(Pair::A);
    let stats = pair.world.host(Pair::A).peer(peer).unwrap().stats();
    assert_eq!((stats.packets_replaced, stats.queued_bytes), (98, 0));
}

/// D4.
#[test]
fn a_cancelled_packet_holds_up_nobody() {
    let mut pair = pair(6, &config::new());
    pair.world.network_mut().set_all(line().loss(100.0));
    for (token, n) in [(1, 1), (2, 2), (1, 3), (3, 4)] {
        let options = SendOptions::new(Mode::Reliable).receipt(token);
        pair.send(Pair::A, 0, options, vec![n]).unwrap();
    }
    pair.world.run_for(5 * MS);
    let peer = pair.peer(Pair::A);
    let host = pair.world.host_mut(Pair::A);
    assert!(host.cancel(peer, ChannelId(0), 1));
    assert!(!host.cancel(peer, ChannelId(0), 9) && !host.cancel(peer, ChannelId(77), 1));
    pair.world.network_mut().set_all(line());
    pair.world.run_for(3000 * MS);
    assert_eq!(numbers(&mut pair), [2, 4]);
    let mut told = receipts(&mut pair);
    told.sort_by_key(|receipt| receipt.0);
    let cancelled = (1, Outcome::Cancelled);
    let expected = [
        cancelled,
        cancelled,
        (2, Outcome::Delivered),
        (3, Outcome::Delivered),
    ];
    assert_eq!(told, expected);
}

/// D2.
#[test]
fn a_connection_that_ends_leaves_no_receipt_open() {
    let mut pair = pair(7, &config::new());
    pair.world.network_mut().set_all(line().loss(100.0));
    for token in 0..30 {
        let mode = MODES[usize::try_from(token % 3).unwrap()];
        let options = SendOptions::new(mode).receipt(token);
        pair.send(Pair::A, 0, options, vec![0; 2000]).unwrap();
    }
    let (mut lost, mut over) = (BTreeSet::new(), false);
    for _ in 0..200 {
        pair.world.run_for(100 * MS);
        while let Some(event) = pair.world.poll_event(Pair::A) {
            assert!(!over, "{event:?} after the end");
            over |= matches!(event, Event::Disconnected { .. });
            if let Event::Receipt { token, outcome, .. } = event {
                let expired = outcome == Outcome::Expired;
                assert!(outcome == Outcome::Lost || expired, "{outcome:?}");
                assert!(lost.insert(token), "{token} twice");
            }
        }
    }
    assert!(over && lost.len() == 30, "{lost:?}");
}

/// A packet that was sent, and what became of it.
#[derive(Debug, Default)]
struct Fate {
    token: u64,
    channel: u8,
    options: Option<SendOptions>,
    told: Vec<Outcome>,
    delivered: bool,
}

impl Fate {
    /// True if the packet has a time to live.
    fn is_mortal(&self) -> bool {
        let plain = SendOptions::new(Mode::Reliable);
        let token = self.token;
        self.options.unwrap() != plain.receipt(token)
    }
}

/// Random numbers.
struct Draws(Seed, u64);

impl Draws {
    fn below(&mut self, n: u64) -> u64 {
        self.1 += 1;
        self.0.child("draw", self.1).get() % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A packet of a random kind. Its token is its number.
    fn kind(&mut self, number: u64) -> (u8, SendOptions) {
        let mode = match self.below(3) {
            0 => Mode::Unreliable,
            1 => Mode::Reliable,
            _ => Mode::Passive,
        };
        let mut options = SendOptions::new(mode).receipt(number);
        if self.one_in(3) {
            options = options.ttl(if self.one_in(2) { 60 * MS } else { 300 * MS });
        }
        (u8::from(self.one_in(2)), options)
    }

    fn packet(&mut self, number: u64) -> Vec<u8> {
        let len = if self.one_in(16) {
            4000
        } else {
            8 + self.below(400)
        };
        let mut packet = vec![0; usize::try_from(len).unwrap()];
        packet[..8].copy_from_slice(&number.to_le_bytes());
        packet
    }
}

/// What became of the packets of several stories.
#[derive(Default)]
struct Sums {
    outcomes: HashMap<Outcome, u32>,
    /// Words that proved wrong.
    corrections: u32,
}

fn assert_true(story: &Story, sums: &mut Sums) {
    let (fates, cancelled) = (&story.fates, &story.cancelled);
    let seed = story.pair.world.seed();
    for (number, fate) in fates {
        let context = format!("{number}: {fate:?}; {seed}");
        assert!(!fate.told.is_empty() && fate.told.len() <= 3, "{context}");
        let outcome = *fate.told.last().unwrap();
        *sums.outcomes.entry(outcome).or_insert(0) += 1;
        sums.corrections += u32::from(fate.told.len() > 1);
        let options = fate.options.unwrap();
        let reliable = options.mode() == Mode::Reliable;
        let delivered = outcome == Outcome::Delivered;
        assert_eq!(delivered, fate.delivered, "{context}");
        match outcome {
            Outcome::Delivered => {}
            Outcome::Skipped | Outcome::Lost => assert!(!reliable, "{context}"),
            Outcome::Cancelled => assert!(cancelled.contains(number), "{context}"),
            Outcome::Expired if reliable => assert!(fate.is_mortal(), "{context}"),
            Outcome::Expired => {}
            _ => panic!("{context}"),
        }
    }
}

/// Packets of all kinds, and what became of them.
struct Story {
    pair: Pair,
    draws: Draws,
    fates: BTreeMap<u64, Fate>,
    cancelled: BTreeSet<u64>,
    newest: Option<u64>,
}

impl Story {
    fn send(&mut self, number: u64) {
        let (channel, options) = self.draws.kind(number);
        let packet = self.draws.packet(number);
        if self.pair.send(Pair::A, channel, options, packet).is_ok() {
            let fate = Fate {
                token: number,
                channel,
                options: Some(options),
                ..Fate::default()
            };
            self.fates.insert(number, fate);
        }
        let old = number.saturating_sub(self.draws.below(20));
        let Some(fate) = self.fates.get(&old).filter(|_| self.draws.one_in(8)) else {
            return;
        };
        let (peer, channel) = (self.pair.peer(Pair::A), ChannelId(fate.channel));
        if self.pair.world.host_mut(Pair::A).cancel(peer, channel, old) {
            self.cancelled.insert(old);
        }
    }

    fn receive(&mut self) {
        let seed = self.pair.world.seed();
        for packet in self.pair.receive_all(Pair::B) {
            let number = u64::from_le_bytes(packet.payload[..8].try_into().unwrap());
            let fate = self.fates.get_mut(&number).unwrap();
            let twice = core::mem::replace(&mut fate.delivered, true);
            assert!(!twice, "{number} twice; {seed}");
            if fate.channel == 0 {
                let newest = self.newest.replace(number);
                assert!(newest < Some(number), "{number} after {newest:?}; {seed}");
            }
        }
        for (token, outcome) in receipts(&mut self.pair) {
            self.fates.get_mut(&token).unwrap().told.push(outcome);
        }
    }
}

/// The last receipt of each packet says what became of it. D2.
#[test]
fn receipts_are_true_on_a_bad_network() {
    let mut sums = Sums::default();
    for seed in 0..4 {
        let config = two_channels().bandwidth(60_000, 60_000).unwrap();
        let mut story = Story {
            pair: pair(seed, &config.windows(4096, 256).unwrap()),
            draws: Draws(Seed::new(seed), 0),
            fates: BTreeMap::new(),
            cancelled: BTreeSet::new(),
            newest: None,
        };
        let bad = line().jitter(15 * MS).loss(15.0);
        let bad = bad.duplicate(20.0).reorder(20.0);
        story.pair.world.network_mut().set_all(bad);
        for round in 0..2000 {
            story.send(round);
            story.pair.world.run_for(5 * MS);
            story.receive();
        }
        story.pair.world.network_mut().set_all(line());
        for _ in 0..1000 {
            story.pair.world.run_for(5 * MS);
            story.receive();
        }
        assert_true(&story, &mut sums);
        let _ = story.pair.world.host(Pair::A).audit();
    }
    // Of all stories together: the rarest kind, what is skipped, is 2 to 27 packets of one.
    let counts = &sums.outcomes;
    let all = counts.len() == 5 && counts.values().all(|&count| count > 10);
    assert!(all, "{counts:?} are not all kinds");
    assert!(sums.corrections > 0, "no word proved wrong");
}
