//! The messages that two ends send each other, and checks of their arrival.

use porous_message::{
    Endpoint, Error, MessageChannel, MessageConfig, Reason, Serialize, Stream, measure,
};
use porous_sim::rand_core::Rng;
use porous_sim::{ChaCha8Rng, Seed};

/// A message that tells its number, and whose length follows from the number.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Numbered {
    pub(crate) number: u32,
    filling: Vec<u8>,
}

impl Numbered {
    pub(crate) fn new(number: u32) -> Self {
        let length = number % 37;
        let filling = (0..length).map(|at| fill(number, at)).collect();
        Self { number, filling }
    }
}

impl Serialize for Numbered {
    fn blank() -> Self {
        Self::default()
    }

    fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
        stream.varint(&mut self.number)?;
        stream.list(&mut self.filling, 0..=36, |byte, stream| {
            stream.ranged(byte, 0..=100)
        })
    }
}

fn fill(number: u32, at: u32) -> u8 {
    u8::try_from(number.wrapping_mul(31).wrapping_add(at * 7) % 101).unwrap()
}

/// The block with this number: its bytes follow from the number.
fn block(number: u32) -> Vec<u8> {
    let length = number.wrapping_mul(2_654_435_761) % MAX_BLOCK;
    (0..length).map(|at| fill(number, at)).collect()
}

const MAX_BLOCK: u32 = 10 * 1024;

/// The channels of both ends: reliable messages, unreliable messages, and blocks.
pub(crate) fn config() -> MessageConfig {
    let channels = [
        MessageChannel::reliable().budget(600),
        MessageChannel::unreliable().priority(1).budget(200),
        MessageChannel::reliable().blocks(MAX_BLOCK),
    ];
    MessageConfig::new(&channels).unwrap()
}

/// One end: the messages that it sends, and those that it has received from the other.
pub(crate) struct Speaker {
    rng: ChaCha8Rng,
    /// Messages, blocks, and unreliable messages that were sent.
    pub(crate) sent: [u32; 3],
    /// Messages, blocks, and unreliable messages that were received.
    pub(crate) heard: [u32; 3],
    /// For each block, true once it was received. Blocks may overtake each other.
    blocks: Vec<bool>,
    last_unreliable: Vec<bool>,
}

impl Speaker {
    pub(crate) fn new(seed: Seed, name: &str) -> Self {
        Self {
            rng: seed.stream(name, 0),
            sent: [0; 3],
            heard: [0; 3],
            blocks: Vec::new(),
            last_unreliable: Vec::new(),
        }
    }

    fn below(&mut self, n: u32) -> u32 {
        self.rng.next_u32() % n
    }

    /// Now and then a burst of up to 64 messages, of which one in a hundred is a block.
    pub(crate) fn speak(&mut self, endpoint: &mut Endpoint<Numbered>) {
        if self.below(10) > 0 {
            return;
        }
        for _ in 0..=self.below(64) {
            let kind = match self.below(100) {
                0 => 1,
                1..=5 => 2,
                _ => 0,
            };
            let number = self.sent[kind];
            let message = Numbered::new(number);
            let done = match kind {
                0 => endpoint.send(0, message),
                1 => endpoint.send_block(2, message, block(number)),
                _ => endpoint.send(1, message),
            };
            match done {
                Ok(()) => self.sent[kind] += 1,
                Err(unsent) => {
                    assert_eq!(unsent.reason, Reason::Full);
                    assert_eq!(unsent.message, Numbered::new(number), "it is given back");
                }
            }
        }
    }

    /// Takes out what has come: messages in order, each block once, and each unreliable message at most
    /// once.
    pub(crate) fn hear(&mut self, endpoint: &mut Endpoint<Numbered>) {
        while let Some(arrival) = endpoint.receive() {
            let number = arrival.message.number;
            assert_eq!(arrival.message, Numbered::new(number));
            match (arrival.channel, arrival.block) {
                (0, None) => {
                    assert_eq!(number, self.heard[0], "in order");
                    self.heard[0] += 1;
                }
                (2, Some(bytes)) => {
                    assert_eq!(bytes, block(number), "block {number}");
                    once(&mut self.blocks, number);
                    self.heard[1] += 1;
                }
                _ => {
                    once(&mut self.last_unreliable, number);
                    self.heard[2] += 1;
                }
            }
        }
    }
}

fn once(seen: &mut Vec<bool>, number: u32) {
    let number = number as usize;
    seen.resize(seen.len().max(number + 1), false);
    assert!(
        !core::mem::replace(&mut seen[number], true),
        "twice: {number}"
    );
}

/// True if each end has received every reliable message of the other.
pub(crate) fn all_was_heard(a: &Speaker, b: &Speaker) -> bool {
    a.sent[..2] == b.heard[..2] && b.sent[..2] == a.heard[..2]
}

/// Lets both ends send for `ticks` ticks, and then wait until all messages were received, for at most
/// `patience` ticks. The argument of `tick` is true if the ends send; it returns true if all messages were
/// received.
pub(crate) fn talk(seed: Seed, ticks: u32, patience: u32, mut tick: impl FnMut(bool) -> bool) {
    for _ in 0..ticks {
        tick(true);
    }
    let is_heard = (0..=patience).any(|_| tick(false));
    assert!(is_heard, "it never ends; replay with {seed}");
}

#[test]
fn the_lengths_differ() {
    let bits = |number| measure(&mut Numbered::new(number)).unwrap();
    assert!(bits(0) < 20 && bits(36) > 250);
}
