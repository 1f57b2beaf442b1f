//! Checks that a configuration can work.

use core::fmt;

use super::config::MessageChannel;
use super::echo;
use super::fragment::Shape;
use super::id::ID_BITS;
use super::space::Space;

/// The most channels: each costs every packet a bit or two.
const CHANNELS_MAX: usize = 64;

/// What is wrong with a configuration. Channels are named by their position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageConfigError {
    /// There are 1 to 64 channels.
    Channels,
    /// Packets are too short for what the channels say in each packet, before any message.
    Packet,
    /// A [fragment](MessageChannel::fragment) of this channel's blocks fits into no packet, or not
    /// into the channel's [budget](MessageChannel::budget) of one.
    Fragment {
        /// The position of the channel.
        channel: usize,
    },
    /// The [budget](MessageChannel::budget) of this channel has no room for any message.
    Budget {
        /// The position of the channel.
        channel: usize,
    },
    /// An unreliable channel carries no [blocks](MessageChannel::blocks).
    Blocks {
        /// The position of the channel.
        channel: usize,
    },
}

impl fmt::Display for MessageConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Channels => f.write_str("declare 1 to 64 channels"),
            Self::Packet => f.write_str("packet: too short for what the channels say in each"),
            Self::Fragment { channel } => write!(
                f,
                "fragment of channel {channel}: longer than a packet has room for, or its budget"
            ),
            Self::Budget { channel } => {
                write!(f, "budget of channel {channel}: no message fits into it")
            }
            Self::Blocks { channel } => {
                write!(f, "blocks of channel {channel}: it is not reliable")
            }
        }
    }
}

impl core::error::Error for MessageConfigError {}

/// Checks that all of these channels get on in packets of this length, in bytes.
pub(super) fn check(channels: &[MessageChannel], packet: usize) -> Result<(), MessageConfigError> {
    if channels.is_empty() || channels.len() > CHANNELS_MAX {
        return Err(MessageConfigError::Channels);
    }
    let overhead: u64 = channels.iter().map(MessageChannel::overhead).sum();
    let left = (8 * packet as u64).checked_sub(overhead);
    let left = left.ok_or(MessageConfigError::Packet)?;
    for (position, channel) in channels.iter().enumerate() {
        channel.check(position, left)?;
    }
    Ok(())
}

impl MessageChannel {
    /// The most bits that the channel takes in any packet besides its content.
    pub(super) const fn overhead(&self) -> u64 {
        match (self.is_reliable, self.max_block) {
            (false, _) => 1,
            (true, 0) => 1 + echo::bits(true),
            (true, _) => 2 * (1 + echo::bits(true)),
        }
    }

    pub(super) const fn shape(&self) -> Shape {
        Shape {
            max_block: self.max_block,
            fragment: self.fragment,
        }
    }

    /// Checks that the channel gets on if packets have `bits` for the content of all channels.
    fn check(&self, channel: usize, bits: u64) -> Result<(), MessageConfigError> {
        let space = Space { bits, items: 0 };
        let room = space.share(self.budget, self.overhead()).bits;
        // A bit before a message, its id if it has one, and one bit of content.
        let least = if self.is_reliable { 1 + ID_BITS + 1 } else { 2 };
        if bits < least {
            return Err(MessageConfigError::Packet);
        }
        if room < least {
            return Err(MessageConfigError::Budget { channel });
        }
        if self.max_block == 0 {
            return Ok(());
        }
        if !self.is_reliable {
            return Err(MessageConfigError::Blocks { channel });
        }
        let length = self.max_block as usize;
        if self.shape().bits((0, None), length, 0) > room {
            return Err(MessageConfigError::Fragment { channel });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
