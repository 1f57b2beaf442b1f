//! The two ends without a network: what the server believes, and what happens when it is wrong.

use alloc::collections::BTreeMap;

use porous_sim::Seed;
use proptest::prelude::*;

use crate::client::Client;
use crate::history::GROUPS;
use crate::part::Unusable;
use crate::server::Server;
use crate::witness::Witness;
use crate::world::World;

/// No limit of the number of parts.
const ALL: usize = usize::MAX;

struct Ends {
    world: World,
    server: Server,
    client: Client,
    tick: u32,
}

impl Ends {
    fn new() -> Self {
        Self {
            world: World::new(Seed::new(1)),
            server: Server::new(),
            client: Client::new(),
            tick: 0,
        }
    }

    /// The next snapshot.
    fn snapshot(&mut self, most_parts: usize) -> Vec<(u64, Vec<u8>)> {
        for _ in 0..3 {
            self.world.step();
        }
        self.next(most_parts)
    }

    fn next(&mut self, most_parts: usize) -> Vec<(u64, Vec<u8>)> {
        self.tick += 3;
        let world = self.world.quantised();
        let snapshot = self.server.snapshot(self.tick, &world, most_parts);
        snapshot.expect("within its bounds").parts
    }

    fn is_same(&self) -> bool {
        let world = self.world.quantised();
        (0..).zip(world).all(|(index, group)| {
            let shown = self.client.shown(index);
            shown.is_some_and(|(_, shown)| *shown == group)
        })
    }
}

fn bytes(parts: &[(u64, Vec<u8>)]) -> usize {
    parts.iter().map(|(_, part)| part.len()).sum()
}

#[test]
fn only_delivered_states_become_baselines() {
    let mut ends = Ends::new();
    let first = ends.snapshot(ALL);
    let second = ends.snapshot(ALL);
    // No part was delivered, so all groups are sent whole.
    assert!(bytes(&second) > bytes(&first) * 9 / 10);
    for (id, part) in second {
        assert!(ends.client.receive(&part).is_ok());
        ends.server.delivered(id);
    }
    assert!(ends.is_same());
    let third = ends.snapshot(ALL);
    assert!(bytes(&third) < bytes(&first) / 4);
    for (_, part) in third {
        assert!(ends.client.receive(&part).is_ok());
    }
    assert!(ends.is_same());
}

#[test]
fn groups_that_did_not_fit_lead_the_next_snapshot() {
    let mut ends = Ends::new();
    let mut indices = Vec::new();
    while indices.len() < GROUPS {
        let parts = ends.snapshot(1);
        assert_eq!(parts.len(), 1);
        let part = ends.client.receive(&parts[0].1).expect("in full");
        indices.extend(
            part.header
                .entries
                .iter()
                .map(|entry| usize::from(entry.index)),
        );
    }
    assert!(
        indices
            .iter()
            .copied()
            .eq((0..GROUPS).cycle().take(indices.len()))
    );
}

#[test]
fn what_is_known_is_not_sent_again_but_for_once_a_second() {
    let mut ends = Ends::new();
    for (id, part) in ends.next(ALL) {
        assert!(ends.client.receive(&part).is_ok());
        ends.server.delivered(id);
    }
    let sent: Vec<usize> = (0..60).map(|_| bytes(&ends.next(ALL))).collect();
    let times = sent.iter().filter(|bytes| **bytes > 0).count();
    // No receipt says that the group was delivered, so it is sent until the baseline is too old to
    // refer to.
    assert_eq!(sent[..19], [0; 19]);
    assert!(times > 0, "{sent:?}");
}

#[test]
fn receipts_of_what_nobody_could_read_are_not_believed() {
    let mut ends = Ends::new();
    // The client sees none of these parts.
    for (id, _) in ends.snapshot(ALL) {
        ends.server.delivered(id);
    }
    // A second later all groups are sent again, and once more before any receipt comes.
    ends.tick += 60;
    let mut in_vain = ends.snapshot(ALL);
    let refused = in_vain.len();
    in_vain.extend(ends.snapshot(ALL));
    for (id, part) in &in_vain {
        let unusable = Unusable::NoBaseline { id: *id };
        assert_eq!(ends.client.receive(part), Err(unusable));
    }
    for (id, _) in &in_vain[..refused] {
        ends.server.refused(*id);
    }
    // The receipts of all of these parts come afterwards.
    for (id, _) in &in_vain {
        ends.server.delivered(*id);
    }
    for _ in 0..2 {
        for (id, part) in ends.snapshot(ALL) {
            assert!(ends.client.receive(&part).is_ok());
            ends.server.delivered(id);
        }
        assert!(ends.is_same());
    }
}

#[test]
fn lost_groups_are_sent_again_with_the_next_snapshot() {
    let mut ends = Ends::new();
    for (id, part) in ends.snapshot(ALL) {
        assert!(ends.client.receive(&part).is_ok());
        ends.server.delivered(id);
    }
    assert!(!ends.snapshot(ALL).is_empty());
    assert!(!ends.is_same());
    // The groups are sent although nothing has changed since.
    for (_, part) in ends.next(ALL) {
        assert!(ends.client.receive(&part).is_ok());
    }
    assert!(ends.is_same());
}

#[test]
fn the_newest_that_was_delivered_is_referred_to_in_whatever_order_that_is_heard() {
    let mut ends = Ends::new();
    let mut sent = ends.snapshot(ALL);
    sent.extend(ends.snapshot(ALL));
    for (id, part) in sent.iter().rev() {
        assert!(ends.client.receive(part).is_ok());
        ends.server.delivered(*id);
    }
    for (_, part) in ends.snapshot(ALL) {
        let part = ends.client.receive(&part).expect("known");
        assert!(part.header.entries.iter().all(|entry| entry.age == 3));
    }
}

#[test]
fn strange_ids_are_no_matter() {
    let mut ends = Ends::new();
    for (id, part) in ends.snapshot(ALL) {
        assert!(ends.client.receive(&part).is_ok());
        ends.server.delivered(id + 1000);
        ends.server.refused(id + 1000);
        ends.server.refused(u64::MAX);
    }
    assert!(ends.is_same());
}

/// A part, a receipt or a refusal under way.
enum Way {
    Part(u64, Vec<u8>, bool),
    Receipt(u64),
    Refusal(u64),
}

/// Parts and receipts that get lost, are late, or lie.
struct Chaos {
    ends: Ends,
    witness: Witness,
    under_way: BTreeMap<(u32, usize), Way>,
    delay: u32,
    count: usize,
}

impl Chaos {
    fn new(delay: u32) -> Self {
        Self {
            ends: Ends::new(),
            witness: Witness::default(),
            under_way: BTreeMap::new(),
            delay,
            count: 0,
        }
    }

    /// Lets something arrive after `delays` delays.
    fn later(&mut self, delays: u32, way: Way) {
        self.count += 1;
        let due = self.ends.tick + delays * self.delay;
        self.under_way.insert((due, self.count), way);
    }

    fn send(&mut self, parts: Vec<(u64, Vec<u8>)>, mut fates: impl Iterator<Item = u8>) {
        let world = self.ends.world.quantised();
        self.witness.sent(self.ends.tick, &world, parts.len());
        for (id, part) in parts {
            let fate = fates.next().unwrap_or(0);
            // 1: the part is lost; 2: it is late; 3: the client does not see it; 4: its receipt is
            // lost; 5: the refusal is lost; otherwise all is well.
            match fate {
                1 | 3 => {}
                2 => self.later(3, Way::Part(id, part, true)),
                _ => self.later(1, Way::Part(id, part, fate != 5)),
            }
            match fate {
                1 | 4 => {}
                2 => self.later(4, Way::Receipt(id)),
                _ => self.later(2, Way::Receipt(id)),
            }
        }
    }

    fn receive(&mut self) {
        let later = self.under_way.split_off(&(self.ends.tick + 1, 0));
        for way in core::mem::replace(&mut self.under_way, later).into_values() {
            match way {
                Way::Receipt(id) => self.ends.server.delivered(id),
                Way::Refusal(id) => self.ends.server.refused(id),
                Way::Part(id, part, is_heard) => match self.ends.client.receive(&part) {
                    Ok(part) => self.witness.shown(&part, &self.ends.client),
                    Err(Unusable::NoBaseline { .. }) if !is_heard => {}
                    Err(unusable) => {
                        assert_eq!(unusable, Unusable::NoBaseline { id });
                        self.later(1, Way::Refusal(id));
                    }
                },
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    /// Whatever happened, the worlds are the same within seconds once the network is good again.
    #[test]
    fn the_client_sees_nothing_wrong_and_in_the_end_everything(
        fates in prop::collection::vec(0_u8..8, 1..400),
        most_parts in 1_usize..12,
        delay in 0_u32..20,
    ) {
        let mut chaos = Chaos::new(delay);
        let mut fates = fates.into_iter().peekable();
        while fates.peek().is_some() {
            let parts = chaos.ends.snapshot(most_parts);
            chaos.send(parts, &mut fates);
            chaos.receive();
        }
        for _ in 0..150 {
            let parts = chaos.ends.next(most_parts);
            chaos.send(parts, core::iter::empty());
            chaos.receive();
        }
        prop_assert_eq!(chaos.witness.different, 0);
        prop_assert!(chaos.ends.is_same());
    }
}
