//! What a host wants of each of its channels, beyond how many there are.

use super::{Config, Priority};
use crate::ChannelId;
use crate::error::ConfigError;

/// In which order packets of a channel are given to the application that receives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Order {
    /// As they were sent (§3.2.3): who comes late is skipped, and nothing overtakes what is
    /// reliable.
    #[default]
    Ordered,
    /// As they are complete, each at most once and reliable ones exactly once.
    Unordered,
}

/// The settings of one channel, for [`Config::channel`].
///
/// ```
/// use porous_proto::{Channel, ChannelId, Config, Priority};
///
/// let both = Config::new().channels(&[Priority::High; 2])?;
/// let _config = both.channel(ChannelId(1), Channel::new(Priority::Low).unordered())?;
/// # Ok::<(), porous_proto::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    pub(crate) priority: Priority,
    pub(crate) order: Order,
}

impl Channel {
    /// A channel that is ordered, on which this host sends with this priority.
    ///
    /// ```
    /// use porous_proto::{Channel, Priority};
    ///
    /// let _urgent = Channel::new(Priority::High);
    /// ```
    #[must_use]
    pub const fn new(priority: Priority) -> Self {
        Self {
            priority,
            order: Order::Ordered,
        }
    }

    /// What this host receives on the channel is delivered as it is complete. Nobody waits for a
    /// reliable packet that is missing, and who comes late is not skipped unless it is very late:
    /// half a window of packets, or half a second. The receiver alone decides; the sender need not
    /// know.
    ///
    /// ```
    /// use porous_proto::{Channel, Priority};
    ///
    /// let _sounds = Channel::new(Priority::Low).unordered();
    /// ```
    #[must_use]
    pub const fn unordered(mut self) -> Self {
        self.order = Order::Unordered;
        self
    }
}

impl Config {
    /// Changes the settings of one of the [`channels`](Self::channels), which are to be given
    /// first: that sets all of them anew.
    ///
    /// # Errors
    ///
    /// [`ConfigError::UnknownChannel`] if there are fewer.
    ///
    /// ```
    /// use porous_proto::{Channel, ChannelId, Config, Priority};
    ///
    /// let channel = Channel::new(Priority::High).unordered();
    /// assert!(Config::new().channel(ChannelId(0), channel).is_ok());
    /// assert!(Config::new().channel(ChannelId(1), channel).is_err());
    /// ```
    pub const fn channel(mut self, id: ChannelId, channel: Channel) -> Result<Self, ConfigError> {
        if id.0 >= self.channel_count {
            return Err(ConfigError::UnknownChannel);
        }
        self.channels[id.0 as usize] = channel;
        Ok(self)
    }

    /// The channels that this host has.
    pub(crate) fn channel_settings(&self) -> &[Channel] {
        &self.channels[..usize::from(self.channel_count)]
    }
}
