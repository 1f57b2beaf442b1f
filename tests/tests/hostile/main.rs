//! The hostile catalogue: everything that is known to hurt a transport for games, case by case, with
//! the memory and the work that it may cost (`docs/hostile.md`).
#![expect(clippy::unwrap_used, reason = "tests")]

extern crate alloc;

mod catalogue;
mod cheats;
mod forge;
mod guest;
mod metered;
mod peers;
mod scene;

mod acks;
mod asking;
mod budgets;
mod crowds;
mod damage;
mod effort;
mod endings;
mod ends;
mod fates;
mod fields;
mod floods;
mod fragments;
mod frames;
mod greetings;
mod habits;
mod halfopen;
mod leaps;
mod liars;
mod markers;
mod messages;
mod offers;
mod offpath;
mod packets;
mod ranges;
mod reading;
mod recovery;
mod replays;
mod requests;
mod resources;
mod roaming;
mod round_trips;
mod sending;
mod windows;

use porous_proto::congestion::Congestion;
use porous_tests::{again, config};

/// Every case runs under the policy that hosts have by default, and once more here.
#[test]
fn all_of_it_holds_under_the_policy_of_the_paper() {
    again::run_with(&[(config::PAPER, 1)], "all_of_it_holds");
}

/// And with each of the other controllers, whatever it costs up to twice as much.
#[test]
fn all_of_it_holds_with_every_controller() {
    for number in 1..Congestion::BUILT_IN.len() as u64 {
        again::run_with(&[(config::CONTROLLER, number)], "all_of_it_holds");
    }
}
