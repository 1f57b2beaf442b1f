//! Why a message was not sent.

use core::fmt;

use crate::error::Error;

/// Why a message was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The configuration has no channel at this position.
    NoChannel,
    /// As many messages as the channel's [queue](super::MessageChannel::queue) takes wait already: try
    /// again when some have arrived, or send fewer.
    Full,
    /// The message would not fit into any packet, or not into the channel's
    /// [budget](super::MessageChannel::budget) of one; or the block is larger than the channel's
    /// [blocks](super::MessageChannel::blocks) may be.
    TooLarge,
    /// The message has a block, and the channel carries [none](super::MessageChannel::blocks).
    NoBlocks,
    /// The message cannot be written: a value is outside of the bounds that its type declares.
    Invalid(Error),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoChannel => f.write_str("no such channel: declare it in the configuration"),
            Self::Full => f.write_str("the channel's queue is full: try again later"),
            Self::TooLarge => f.write_str("too large: send less, or as a block"),
            Self::NoBlocks => f.write_str("the channel carries no blocks: declare their size"),
            Self::Invalid(error) => write!(f, "it cannot be written: {error}"),
        }
    }
}

impl core::error::Error for Reason {}

/// A message that was not sent, given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsent<M> {
    /// The message.
    pub message: M,
    /// Why the message was not sent.
    pub reason: Reason,
}

impl<M> fmt::Display for Unsent<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl<M: fmt::Debug> core::error::Error for Unsent<M> {}

impl<M> From<Unsent<M>> for Reason {
    fn from(unsent: Unsent<M>) -> Self {
        unsent.reason
    }
}
