//! A peer that lies in its acknowledgements to be sent more than its path carries, with every
//! controller: it gets next to nothing for it.

use alloc::collections::VecDeque;
use core::time::Duration;
use std::sync::OnceLock;

use porous_proto::congestion::Congestion;
use porous_proto::{Instant, Mode};
use porous_tests::config::by_policy;
use porous_tests::encoder::{Ack, Offer};
use porous_tests::remote::Remote;

use crate::peers::{ack_of, all_up_to, hear};
use crate::scene::{Cost, ENEMY, Scene, case_of_many, config, offer};

const MS: Duration = Duration::from_millis(1);
/// How long both ways of the path are.
const WAY: Duration = Duration::from_millis(20);
/// What passes it in a millisecond, in bytes.
const RATE: u64 = 100;
/// What waits in front of it for longer than that does not get in.
const QUEUE: Duration = Duration::from_millis(150);
/// In ms.
const TIME: u32 = 12000;

/// What an enemy does with what it has heard.
type Lie = fn(&Remote<u32>, &Wire, heard: &[u32]) -> Vec<Ack>;

/// The way from the host to the enemy.
#[derive(Default)]
struct Wire {
    /// What is on it, and when it arrives.
    passing: VecDeque<(Instant, Vec<u8>)>,
    free: Instant,
    now: Instant,
    /// The datagrams that the host has sent, and their bytes.
    sent: u32,
    bytes: u64,
}

impl Wire {
    fn take(&mut self, datagram: Vec<u8>) {
        let now = self.now;
        let len = datagram.len() as u64;
        self.bytes += len;
        self.sent += 1;
        let free = self.free.max(now);
        if free <= now + QUEUE {
            self.free = free + Duration::from_micros(len * 1000 / RATE);
            self.passing.push_back((self.free + WAY, datagram));
        }
    }

    fn arrived(&mut self) -> Vec<Vec<u8>> {
        let now = self.now;
        let count = self.passing.iter().take_while(|(at, _)| *at <= now).count();
        let arrived = self.passing.drain(..count);
        arrived.map(|(_, datagram)| datagram).collect()
    }
}

/// What the host sends to an enemy that hears it over the wire, and says this each time that it has
/// heard something.
fn run(scene: &mut Scene, offer: &Offer, lie: Lie) -> u64 {
    let mut enemy = scene.enemy_at(ENEMY, offer);
    let mut wire = Wire::default();
    let mut back: VecDeque<(Instant, Vec<u8>)> = VecDeque::new();
    for _ in 0..TIME {
        while scene.stats().queued_bytes < 20_000 {
            assert_eq!(scene.queue(0, Mode::Unreliable, 1000), Ok(()));
        }
        scene.flush();
        wire.now = scene.now;
        for (to, datagram) in core::mem::take(&mut scene.said) {
            if to == ENEMY {
                wire.take(datagram);
            }
        }
        let arrived = wire.arrived();
        let arrived: Vec<&[u8]> = arrived.iter().map(|datagram| &datagram[..]).collect();
        let heard: Vec<u32> = hear(&mut enemy, &arrived)
            .iter()
            .map(|frame| frame.id)
            .collect();
        for ack in lie(&enemy, &wire, &heard) {
            let said = enemy.short(Some(ack), Vec::new()).encode(&enemy.shape);
            back.push_back((scene.now + WAY, said));
        }
        while back.front().is_some_and(|(at, _)| *at <= scene.now) {
            if let Some((_, said)) = back.pop_front() {
                scene.deliver(ENEMY, &said);
            }
        }
        scene.pass(MS);
    }
    wire.bytes
}

/// What an honest peer is sent, by controller.
fn fair(cost: Cost) -> [u64; 6] {
    static FAIR: OnceLock<[u64; 6]> = OnceLock::new();
    *FAIR.get_or_init(|| Congestion::BUILT_IN.map(|congestion| sent(cost, congestion, honest)))
}

fn sent(cost: Cost, congestion: Congestion, lie: Lie) -> u64 {
    let mut offer = offer();
    offer.windows = [12, 14];
    let config = config().windows(4096, 16_384).unwrap();
    let (config, mut bytes) = (config.congestion(congestion), 0);
    case_of_many(config, cost, |scene| bytes = run(scene, &offer, lie));
    bytes
}

/// With each controller, a liar is sent three quarters more than an honest peer at most, in the first
/// twelve seconds: by one slow start that nothing tells to end. The paper's policy believes what
/// it is told.
#[track_caller]
fn assert_in_vain(cost: Cost, lie: Lie) {
    if by_policy(false, true) {
        return;
    }
    for (congestion, fair) in Congestion::BUILT_IN.into_iter().zip(fair(cost)) {
        let got = sent(cost, congestion, lie);
        // An application that has given a host rates has given them away.
        let given = if let Congestion::Fixed { rate } | Congestion::Binary { good: rate, .. } =
            congestion
        {
            u64::from(rate)
        } else {
            0
        };
        let most = (fair + fair / 2).max(given * u64::from(TIME) / 1000 * 5 / 4);
        assert!(
            got <= most,
            "{}: {got}, but {fair} are honest",
            congestion.name()
        );
    }
}

/// Everything that has come, once in a while.
fn honest(enemy: &Remote<u32>, _: &Wire, heard: &[u32]) -> Vec<Ack> {
    heard
        .last()
        .map(|_| all_up_to(enemy, enemy.newest.0))
        .into_iter()
        .collect()
}

/// What was sent and has not come is acknowledged, with a guess at its nonces.
fn early(enemy: &Remote<u32>, wire: &Wire, _: &[u32]) -> Vec<Ack> {
    let newest = enemy.heard.keys().next().unwrap_or(&0) + wire.sent;
    vec![Ack {
        map: u32::MAX,
        ..ack_of(newest.saturating_sub(1))
    }]
}

/// What was lost is acknowledged as if it had come.
fn everything(enemy: &Remote<u32>, _: &Wire, heard: &[u32]) -> Vec<Ack> {
    let all = Ack {
        map: u32::MAX,
        ..ack_of(enemy.newest.0)
    };
    heard.last().map(|_| all).into_iter().collect()
}

/// Each frame has an acknowledgement for itself, and the one before once more.
fn divided(_: &Remote<u32>, _: &Wire, heard: &[u32]) -> Vec<Ack> {
    let each = heard.iter().flat_map(|&id| [id, id.saturating_sub(1), id]);
    each.map(ack_of).collect()
}

fn repeated(enemy: &Remote<u32>, wire: &Wire, heard: &[u32]) -> Vec<Ack> {
    honest(enemy, wire, heard)
        .into_iter()
        .cycle()
        .take(10 * heard.len().min(1))
        .collect()
}

/// A fifth of a second passes before an acknowledgement, which says that none did.
fn withheld(enemy: &Remote<u32>, wire: &Wire, _: &[u32]) -> Vec<Ack> {
    let all = || Ack {
        delay: Some(0),
        ..all_up_to(enemy, enemy.newest.0)
    };
    let is_time = wire.now.as_micros() / 1000 % 200 == 0 && !enemy.heard.is_empty();
    is_time.then(all).into_iter().collect()
}

fn with_delay(enemy: &Remote<u32>, wire: &Wire, heard: &[u32], delay: u8) -> Vec<Ack> {
    let all = honest(enemy, wire, heard).into_iter();
    all.map(|ack| Ack {
        delay: Some(delay),
        ..ack
    })
    .collect()
}

/// `[X8 R22]` Frames are acknowledged when they leave the host, before they come. T26.
#[test]
fn acknowledgements_that_are_early_get_no_more() {
    let cost = Cost {
        bytes: 560_000,
        steps: 2000,
    };
    assert_in_vain(cost, early);
}

/// `[X8 R22]` Frames are acknowledged that the path has lost.
#[test]
fn losses_that_are_hidden_get_no_more() {
    let cost = Cost {
        bytes: 560_000,
        steps: 2000,
    };
    assert_in_vain(cost, everything);
}

/// `[X8]` Each frame is acknowledged alone, and those before again: bytes count, and not datagrams.
#[test]
fn acknowledgements_that_are_divided_get_no_more() {
    let cost = Cost {
        bytes: 560_000,
        steps: 2000,
    };
    assert_in_vain(cost, divided);
}

/// `[X8 X16]` Each acknowledgement comes ten times.
#[test]
fn acknowledgements_that_are_repeated_get_no_more() {
    let cost = Cost {
        bytes: 560_000,
        steps: 2000,
    };
    assert_in_vain(cost, repeated);
}

/// `[X8 X9]` Acknowledgements come late and say that they did not wait.
#[test]
fn acknowledgements_that_are_withheld_get_no_more() {
    let cost = Cost {
        bytes: 560_000,
        steps: 2000,
    };
    assert_in_vain(cost, withheld);
}

/// `[X8 X9]` Acknowledgements say that they waited for seconds: the path seems to have no queue.
#[test]
fn delays_that_are_too_long_get_no_more() {
    let cost = Cost {
        bytes: 560_000,
        steps: 2000,
    };
    assert_in_vain(cost, |enemy, wire, heard| {
        with_delay(enemy, wire, heard, u8::MAX)
    });
}

/// `[X8 X9]` Acknowledgements wait for a quarter of a second, and say so: nothing is seen of the path.
#[test]
fn acknowledgements_that_wait_for_long_get_no_more() {
    let cost = Cost {
        bytes: 560_000,
        steps: 2000,
    };
    assert_in_vain(cost, |enemy, wire, heard| {
        let held = withheld(enemy, wire, heard).into_iter();
        held.map(|ack| Ack {
            delay: Some(0xDF),
            ..ack
        })
        .collect()
    });
}

/// `[X8 X9]` Acknowledgements say that they did not wait at all.
#[test]
fn delays_of_nothing_get_no_more() {
    let cost = Cost {
        bytes: 560_000,
        steps: 2000,
    };
    assert_in_vain(cost, |enemy, wire, heard| with_delay(enemy, wire, heard, 0));
}

/// `[X8]` All frames are said to have come with marks.
#[test]
fn marks_on_everything_get_no_more() {
    let cost = Cost {
        bytes: 560_000,
        steps: 2000,
    };
    assert_in_vain(cost, |enemy, wire, heard| {
        let count = u32::try_from(enemy.heard.len()).unwrap_or(u32::MAX);
        let all = honest(enemy, wire, heard).into_iter();
        all.map(|ack| Ack {
            marks: (true, count),
            ..ack
        })
        .collect()
    });
}
