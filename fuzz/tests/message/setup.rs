//! The configuration of two endpoints, the operations on them, and their messages.

use core::time::Duration;

use bolero::TypeGenerator;
use porous_message::{
    Error, MessageChannel, MessageConfig, MessageConfigError, Resend, Serialize, Stream,
};

/// The length of the largest block, in bytes.
pub(crate) const MAX_BLOCK: u16 = 600;
/// A message that tells its number, and its own length.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Numbered {
    pub(crate) number: u16,
    pub(crate) filling: Vec<u8>,
}

impl Numbered {
    pub(crate) fn new(number: u16, len: u8) -> Self {
        let filling = vec![number.to_le_bytes()[0] % 101; usize::from(len) % 40];
        Self { number, filling }
    }

    pub(crate) fn is_whole(&self) -> bool {
        let len = self.filling.len().try_into().unwrap_or(u8::MAX);
        *self == Self::new(self.number, len)
    }
}

impl Serialize for Numbered {
    fn blank() -> Self {
        Self::default()
    }

    fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
        stream.varint(&mut self.number)?;
        stream.list(&mut self.filling, 0..=39, |byte, stream| {
            stream.ranged(byte, 0..=100)
        })
    }
}

/// The bytes of a block, which follow from its number and its length.
pub(crate) fn block(number: u16, len: u16) -> Vec<u8> {
    let byte = |at: u16| at.wrapping_mul(31).wrapping_add(number).to_le_bytes()[0];
    (0..len).map(byte).collect()
}

/// The configuration of both ends. Channel 0 is reliable, 1 unreliable, 2 reliable with blocks.
#[derive(Clone, Copy, Debug, TypeGenerator)]
pub(crate) struct Setup {
    #[generator(16..300_usize)]
    pub(crate) packet: usize,
    #[generator(1..40_u32)]
    pub(crate) per_packet: u32,
    priorities: [u8; 3],
    budgets: [Option<u8>; 3],
    #[generator([1..20_u16, 1..20_u16])]
    queues: [u16; 2],
    #[generator([1..20_u16, 1..20_u16])]
    windows: [u16; 2],
    #[generator(1..4_u16)]
    block_window: u16,
    fragment: u8,
    by_round_trip: bool,
}

impl Setup {
    /// This setup, or the next one that is valid.
    pub(crate) fn valid(self) -> Self {
        match self.try_config() {
            Ok(_) => self,
            Err(_) => Self {
                packet: 300,
                budgets: [None; 3],
                ..self
            },
        }
    }

    pub(crate) fn config(&self) -> MessageConfig {
        self.try_config().expect("it was made valid")
    }

    fn try_config(&self) -> Result<MessageConfig, MessageConfigError> {
        let [queue, other] = self.queues;
        let [window, wide] = self.windows;
        let mut channels = [
            MessageChannel::reliable().queue(queue).window(window),
            MessageChannel::unreliable().queue(other),
            MessageChannel::reliable().queue(other).window(wide),
        ];
        channels[2] = channels[2]
            .blocks(MAX_BLOCK.into())
            .fragment(self.fragment.into())
            .block_window(self.block_window);
        for (position, channel) in channels.iter_mut().enumerate() {
            *channel = channel.priority(self.priorities[position]);
            if let Some(budget) = self.budgets[position] {
                *channel = channel.budget(budget.into());
            }
        }
        let config = MessageConfig::with_packet(&channels, self.packet)?;
        let config = config.messages_per_packet(self.per_packet);
        Ok(match self.by_round_trip {
            true => config.resend(Resend::ByRoundTrip),
            false => config.resend(Resend::After(Duration::from_millis(100))),
        })
    }
}

/// An operation. The first bool is true for one end, false for the other. Numbers choose among the packets
/// that there are.
#[derive(Clone, Debug, TypeGenerator)]
pub(crate) enum Op {
    Send(
        bool,
        #[generator(0..4_usize)] usize,
        u8,
        #[generator(1..6_u8)] u8,
    ),
    Block(bool, u16, u8),
    /// This many packets are sent.
    Write(bool, #[generator(1..5_u8)] u8),
    /// A packet arrives; the sender is told so if the last value is true.
    Deliver(bool, u8, bool),
    /// A packet is reported to have arrived, or to be lost, whether or not that is true.
    Acked(bool, u8),
    Lost(bool, u8),
    Receive(bool, u8),
    Pass(u8),
    RoundTrip(bool, u16),
}
