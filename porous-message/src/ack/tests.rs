//! Packet acks over bad networks.

mod article;
mod figures;
mod hostile;
mod soak;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use porous_proto::Instant;
use porous_sim::rand_core::Rng;
use porous_sim::{ChaCha8Rng, Seed, below};

use super::*;

/// Sequence numbers in a turn.
const TURN: u64 = 1 << 16;

const fn wrapped(number: u64) -> u16 {
    (number & 0xFFFF) as u16
}

fn seed() -> Seed {
    Seed::from_env(Seed::new(1))
}

/// The conditions of packets in one direction.
#[derive(Clone, Copy)]
struct Way {
    /// The chance of a loss, in percent.
    loss: u64,
    copies: u64,
    /// The longest delay of a packet, in steps. Each packet is delayed by 1 to `steps`, independently.
    steps: u64,
}

/// One direction between two sides. Time is counted in steps.
struct Line<T> {
    way: Way,
    rng: ChaCha8Rng,
    /// Packets by the step in which they arrive, and the order in which they were sent.
    packets: BTreeMap<(u64, u64), T>,
    sent: u64,
}

impl<T: Clone> Line<T> {
    fn new(way: Way, name: &str) -> Self {
        Self {
            way,
            rng: seed().stream(name, 0),
            packets: BTreeMap::new(),
            sent: 0,
        }
    }

    fn happens(&mut self, percent: u64) -> bool {
        below(self.rng.next_u64(), 100) < percent
    }

    fn send(&mut self, step: u64, packet: &T) {
        if self.happens(self.way.loss) {
            return;
        }
        let copies = 1 + u64::from(self.happens(self.way.copies));
        for _ in 0..copies {
            let arrival = step + 1 + below(self.rng.next_u64(), self.way.steps);
            self.packets.insert((arrival, self.sent), packet.clone());
            self.sent += 1;
        }
    }

    /// Returns the packets that arrive in this step.
    fn receive(&mut self, step: u64) -> Vec<T> {
        let later = self.packets.split_off(&(step + 1, 0));
        let arrived = core::mem::replace(&mut self.packets, later);
        arrived.into_values().collect()
    }
}
