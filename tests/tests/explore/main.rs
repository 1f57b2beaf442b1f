//! All that an attacker on the path can do to the first datagrams of a sealed handshake, within a bound: each
//! schedule of its choices is run, and whatever it does, nothing false comes of it (`docs/testing.md`, "Sealed
//! connections").
//!
//! An attacker decides about each of the first [`DECISIONS`] datagrams, whichever host sends them. Most bugs of
//! protocols need few interventions, so that a schedule has at most a number of decisions that are not to let the
//! datagram pass: [`INTERVENTIONS`], or what the environment variable `POROUS_EXPLORE` says.
#![expect(clippy::unwrap_used, reason = "tests")]

extern crate alloc;

mod attacker;
mod scene;

use core::time::Duration;
use std::env;

use attacker::{Attacker, DECISIONS, Loss};
use porous_sim::explore::Schedule;
use scene::{End, Past, Proof};

/// Decisions of a schedule that are not to let the datagram pass.
const INTERVENTIONS: usize = 3;

/// Schedules by the most interventions: a change of the handshake changes them, and so does a choice that the
/// attacker has lost.
const COUNTS: [(usize, u64); 3] = [(1, 58), (2, 1471), (3, 20_624)];

/// An attempt that lost nothing is through after this time, at which a host has repeated a datagram that is held.
const SOON: Duration = Duration::from_secs(1);

/// What has come of all schedules.
#[derive(Debug, Default)]
struct Tally {
    schedules: u64,
    /// Schedules after which the client is connected.
    connected: u64,
    /// Schedules in which the server made a connection of the earlier handshake.
    revived: u64,
    /// Schedules that lost nothing.
    lossless: u64,
    /// The longest time that an attempt took that lost nothing.
    slowest: Duration,
}

impl Tally {
    fn add(&mut self, proof: Proof, attacker: &Attacker, end: &End) {
        self.schedules += 1;
        self.connected += u64::from(end.took.is_some());
        self.revived += u64::from(end.is_revived);
        // The earlier handshake uses the token up, and takes nothing else.
        let is_lossless = match proof {
            Proof::Psk => attacker.loss < Loss::Datagram,
            Proof::Token => attacker.loss == Loss::Nothing,
        };
        let took = end.took.unwrap_or(Duration::MAX);
        if is_lossless {
            self.lossless += 1;
            self.slowest = self.slowest.max(took);
            assert!(took <= SOON, "connected after {took:?}");
        }
        let has_used_the_token = proof == Proof::Token && end.is_revived && attacker.has_spent;
        assert!(
            end.took.is_some() || has_used_the_token,
            "the attacker lets all pass, and they do not connect"
        );
    }
}

/// Runs all schedules with at most this number of interventions.
fn explore(proof: Proof, interventions: usize) -> Tally {
    let past = Past::new(proof);
    let mut schedule = Schedule::new(interventions);
    let mut tally = Tally::default();
    loop {
        let (attacker, end) = scene::run(&past, &mut schedule);
        tally.add(proof, &attacker, &end);
        if !schedule.advance() {
            return tally;
        }
    }
}

/// The number of interventions, and of schedules if it is known.
fn bound() -> (usize, Option<u64>) {
    let set = env::var("POROUS_EXPLORE").ok();
    let set = set.map(|number| number.parse().expect("POROUS_EXPLORE is a number"));
    let interventions = set.unwrap_or(INTERVENTIONS);
    let count = COUNTS.iter().find(|(of, _)| *of == interventions);
    (interventions, count.map(|&(_, count)| count))
}

/// Explores, and sees to it that the space is the whole one, and is worth it.
#[expect(clippy::print_stdout, reason = "for those who explore further")]
fn check(proof: Proof) {
    let (interventions, count) = bound();
    let tally = explore(proof, interventions);
    println!("{proof:?}, {interventions} interventions in {DECISIONS} decisions: {tally:?}");
    assert!(count.is_none_or(|count| count == tally.schedules));
    assert!(tally.connected > 0 && tally.lossless > 0 && tally.revived > 0);
}

#[test]
fn whatever_an_attacker_schedules_a_psk_and_a_server_key_prove_what_they_should() {
    check(Proof::Psk);
}

#[test]
fn whatever_an_attacker_schedules_a_token_proves_what_it_should() {
    check(Proof::Token);
}
