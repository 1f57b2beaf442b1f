//! An application that sends small messages both ways at the ticks of a game, and notes when each
//! arrives.

use core::time::Duration;
use std::collections::VecDeque;

use porous_sim::rand_core::Rng as _;
use porous_sim::{ChaCha8Rng, Chance, Seed};

use crate::peer::Endpoint;
use crate::run::Application;

/// Ticks in a second.
const RATE: u128 = 60;

/// The time after the last message was sent in which reliable ones may still arrive.
const GRACE: Duration = Duration::from_secs(10);

/// The number that every unreliable message carries.
const STATE: u64 = u64::MAX;

/// A message of a given length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) channel: u8,
    pub(crate) len: usize,
    pub(crate) reliable: bool,
}

/// The messages of a tick.
pub(crate) type Plan = fn(tick: u64, dice: &mut ChaCha8Rng) -> Vec<Message>;

/// At each tick a state, and with a chance of 20 percent an event.
pub(crate) fn game(_: u64, dice: &mut ChaCha8Rng) -> Vec<Message> {
    let state = Message {
        channel: 0,
        len: 200,
        reliable: false,
    };
    let event = Message {
        channel: 1,
        len: 24,
        reliable: true,
    };
    if Chance::percent(20.0).happens(dice.next_u64()) {
        vec![state, event]
    } else {
        vec![state]
    }
}

/// Every other tick a message on each of four channels.
pub(crate) fn channels(tick: u64, _: &mut ChaCha8Rng) -> Vec<Message> {
    let message = |channel| Message {
        channel,
        len: 100,
        reliable: true,
    };
    if tick.is_multiple_of(2) {
        (0..4).map(message).collect()
    } else {
        Vec::new()
    }
}

/// The application at both ends.
pub(crate) struct Messages {
    plan: Plan,
    duration: Duration,
    ends: [End; 2],
}

struct End {
    dice: ChaCha8Rng,
    ticks: u64,
    /// When each reliable message was sent; `None` for those that have arrived.
    sent: Vec<Option<Duration>>,
    /// Reliable messages that found no room yet.
    waiting: VecDeque<(Message, u64)>,
    /// The time that each reliable message from the other end took, in microseconds.
    latencies: Vec<u64>,
    states_sent: u64,
    /// Unreliable messages of the other end that arrived.
    states_arrived: u64,
}

impl Messages {
    pub(crate) fn new(plan: Plan, duration: Duration, seed: u64) -> Self {
        let end = |index| End {
            dice: Seed::new(seed).stream("application", index),
            ticks: 0,
            sent: Vec::new(),
            waiting: VecDeque::new(),
            latencies: Vec::new(),
            states_sent: 0,
            states_arrived: 0,
        };
        Self {
            plan,
            duration,
            ends: [end(0), end(1)],
        }
    }

    /// The time that each reliable message took which arrived, in microseconds.
    pub(crate) fn latencies(&self) -> impl Iterator<Item = u64> {
        self.ends.iter().flat_map(|end| &end.latencies).copied()
    }

    /// Reliable messages that did not arrive.
    pub(crate) fn missing(&self) -> u64 {
        let missing = |end: &End| end.sent.iter().flatten().count() as u64;
        self.ends.iter().map(missing).sum()
    }

    /// Unreliable messages that were sent, and those that arrived.
    pub(crate) fn states(&self) -> [u64; 2] {
        let sum = |of: fn(&End) -> u64| self.ends.iter().map(of).sum();
        [sum(|end| end.states_sent), sum(|end| end.states_arrived)]
    }

    fn arrived(&mut self, end: usize, elapsed: Duration, message: &[u8]) {
        let number = message
            .first_chunk()
            .map(|bytes| u64::from_le_bytes(*bytes));
        let number = number.expect("as long as it was sent");
        if number == STATE {
            self.ends[end].states_arrived += 1;
            return;
        }
        let sent = self.ends[1 - end].sent[number as usize].take();
        let took = elapsed - sent.expect("each arrives once");
        self.ends[end].latencies.push(took.as_micros() as u64);
    }
}

impl Application for Messages {
    fn step(&mut self, end: usize, elapsed: Duration, endpoint: &mut dyn Endpoint) {
        while let Some(message) = endpoint.received() {
            self.arrived(end, elapsed, &message);
        }
        let plan = self.plan;
        let end = &mut self.ends[end];
        let ticks = (elapsed.min(self.duration).as_micros() * RATE / 1_000_000) as u64;
        while end.ticks < ticks {
            for message in plan(end.ticks, &mut end.dice) {
                if message.reliable {
                    end.waiting.push_back((message, end.sent.len() as u64));
                    end.sent.push(Some(elapsed));
                } else {
                    end.states_sent += 1;
                    send(endpoint, message, STATE);
                }
            }
            end.ticks += 1;
        }
        while let Some(&(message, number)) = end.waiting.front() {
            if !send(endpoint, message, number) {
                return;
            }
            end.waiting.pop_front();
        }
    }

    fn is_over(&self, elapsed: Duration) -> bool {
        let all_arrived = self.missing() == 0;
        elapsed > self.duration && (all_arrived || elapsed > self.duration + GRACE)
    }
}

fn send(endpoint: &mut dyn Endpoint, message: Message, number: u64) -> bool {
    let mut bytes = vec![0; message.len];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    endpoint.send(message.channel, &bytes, message.reliable)
}
