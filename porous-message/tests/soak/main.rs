//! Reliable-ordered messages and blocks under conditions that no player would bear: everything
//! arrives, once, in order.

#![expect(clippy::unwrap_used, reason = "a test")]

mod bare;
mod porous;
mod talk;

use core::time::Duration;

use porous_proto::congestion::Congestion;
use porous_sim::{LinkConfig, Seed};

/// 1000 ms each way, 100 ms of jitter, a quarter lost, a quarter doubled.
fn terrible() -> LinkConfig {
    LinkConfig::new()
        .delay(Duration::from_millis(1000))
        .jitter(Duration::from_millis(100))
        .jitter_reorders(true)
        .loss(25.0)
        .duplicate(25.0)
}

#[test]
fn over_porous_everything_arrives_in_order() {
    let seed = Seed::from_env(Seed::new(9));
    let resend = porous::ARTICLE;
    let settings = porous::Settings {
        resend,
        ..porous::Settings::new()
    };
    porous::soak(seed, terrible(), settings, 20_000);
}

#[test]
fn over_porous_everything_arrives_in_order_and_is_sent_again_once_a_round_trip() {
    let seed = Seed::from_env(Seed::new(10));
    porous::soak(seed, terrible(), porous::Settings::new(), 20_000);
}

/// With the default congestion controller of a host.
#[test]
fn over_porous_as_it_comes_everything_arrives_in_order() {
    let seed = Seed::from_env(Seed::new(12));
    let settings = porous::Settings {
        congestion: Congestion::Lean,
        ..porous::Settings::new()
    };
    porous::soak(seed, terrible(), settings, 20_000);
}

#[test]
fn over_porous_64_messages_arrive_at_90_percent_loss() {
    let seed = Seed::from_env(Seed::new(90));
    porous::at_90_percent(seed);
}

#[test]
fn in_packets_of_its_own_everything_arrives_in_order() {
    let seed = Seed::from_env(Seed::new(19));
    bare::soak(seed, terrible(), &talk::config(), 20_000);
}

#[test]
fn in_packets_of_its_own_64_messages_arrive_at_90_percent_loss() {
    for number in 0..20 {
        let seed = Seed::from_env(Seed::new(number));
        bare::at_90_percent(seed, &talk::config());
    }
}

/// The carrier acknowledges packets that come too late for their order, and drops them: so some receipts
/// are wrong.
#[test]
fn on_an_ordered_channel_that_drops_what_is_late_everything_arrives_all_the_same() {
    let seed = Seed::from_env(Seed::new(11));
    let late = terrible()
        .reorder(20.0)
        .reorder_by(Duration::from_millis(600));
    porous::on_an_ordered_channel(seed, late);
}
