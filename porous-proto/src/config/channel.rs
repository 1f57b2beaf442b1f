//! What a host wants of each of its channels, beyond how many there are.

use super::{Config, Priority, positive};
use crate::error::ConfigError;
use crate::frame::Channels;
use crate::ids::ChannelId;

/// The order in which packets of a channel are given to the application that receives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum Order {
    /// In the order in which they were sent: a packet that comes late is skipped, and no packet overtakes
    /// a reliable one (§3.2.3).
    #[default]
    Ordered,
    /// In the order in which they are complete: each at most once, and reliable packets exactly once.
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
    pub(crate) weight: u8,
    pub(crate) rate: u32,
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
            weight: 1,
            rate: u32::MAX,
        }
    }

    /// Delivers what this host receives on the channel as it is complete. No packet waits for a reliable
    /// one that is missing, and a packet that comes late is not skipped unless it is very late: half a
    /// [window](Config::windows) of packets, or half a second. Where the application reads fast, it is also skipped once
    /// half of the [receive budget](Config::receive_budget) was read meanwhile, on all channels together. The receiver
    /// alone decides on the order; the sender need not know.
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

    /// The share of this channel while others of its priority have something to send as well: of
    /// two channels with the weights 1 and 3 the second one sends three bytes for each byte of the first.
    /// The others share what a channel does not use. 1 to 255, 0 counts as 1. Default 1.
    ///
    /// Weights divide what is sent for the first time; what was lost goes before it. Under
    /// [`Policy::Paper`](crate::Policy::Paper) there are no weights: channels take turns by message.
    ///
    /// ```
    /// use porous_proto::{Channel, Priority};
    ///
    /// let (_map, _voice) = (Channel::new(Priority::Low), Channel::new(Priority::Low).weight(3));
    /// ```
    #[must_use]
    pub const fn weight(mut self, weight: u8) -> Self {
        self.weight = if weight > 0 { weight } else { 1 };
        self
    }

    /// The most that this host sends on the channel to each peer, in bytes a second. A message counts 8
    /// bytes more than its payload; a packet is one message, or one for each fragment of about
    /// [`max_datagram`](Config::max_datagram). 0 counts as 1. Default `u32::MAX`: no cap.
    ///
    /// In any second leave at most the cap and one message, and what a host that is stepped seldom sends
    /// in one step. Time that is not used is not saved up: after silence one message leaves at once, the
    /// next one when that is paid for. What was lost is sent again without being counted. Caps hold
    /// under both policies, and can be [changed](crate::Host::set_channel_rate) at any time.
    ///
    /// ```
    /// use porous_proto::{Channel, Priority};
    ///
    /// let _downloads = Channel::new(Priority::Low).rate(50_000);
    /// ```
    #[must_use]
    pub const fn rate(mut self, bytes_a_second: u32) -> Self {
        self.rate = positive(bytes_a_second);
        self
    }
}

/// An ordered channel of low priority, without a cap.
impl Default for Channel {
    fn default() -> Self {
        Self::new(Priority::Low)
    }
}

/// The channels of a host.
#[derive(Clone, Debug)]
pub(crate) struct ChannelList {
    channel_count: u8,
    /// The channels from `channel_count` on are not used.
    channels: [Channel; 255],
}

impl ChannelList {
    /// One of low priority.
    pub(super) const DEFAULT: Self = Self {
        channel_count: 1,
        channels: [Channel::new(Priority::Low); 255],
    };

    /// The channels, or none of them if none has more than a priority.
    pub(crate) fn settings(&self) -> &[Channel] {
        // Most hosts set nothing else: their peers need no memory for it.
        let is_plain = |channel: &Channel| *channel == Channel::new(channel.priority);
        let all = self.as_slice();
        if all.iter().all(is_plain) { &[] } else { all }
    }

    pub(super) fn as_slice(&self) -> &[Channel] {
        &self.channels[..usize::from(self.channel_count)]
    }

    /// The number of channels and their priorities, as the handshake tells them.
    pub(super) fn offered(&self) -> Channels {
        let mut offered = Channels::new(self.channel_count);
        for (number, channel) in (0..=u8::MAX).zip(self.as_slice()) {
            offered.set_high(number, channel.priority == Priority::High);
        }
        offered
    }
}

impl Config {
    /// The channels, each by the priority with which this host sends on it. A connection has as many
    /// channels as the host with fewer. Default: one of low priority. [`channel`](Self::channel)
    /// sets more of one of them.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Channels`] unless there are 1 to 255 priorities.
    ///
    /// ```
    /// use porous_proto::{Config, Priority};
    ///
    /// assert!(Config::new().channels(&[Priority::High; 3]).is_ok());
    /// assert!(Config::new().channels(&[]).is_err());
    /// ```
    #[expect(clippy::cast_possible_truncation, reason = "checked to be at most 255")]
    pub const fn channels(mut self, priorities: &[Priority]) -> Result<Self, ConfigError> {
        if priorities.is_empty() || priorities.len() > 255 {
            return Err(ConfigError::Channels);
        }
        self.channels.channel_count = priorities.len() as u8;
        let mut channel = 0;
        // A `const fn` has no iterators.
        while channel < priorities.len() {
            self.channels.channels[channel] = Channel::new(priorities[channel]);
            channel += 1;
        }
        Ok(self)
    }

    /// Changes all settings of one channel, its priority included. Set the
    /// [`channels`](Self::channels) first: that call sets all of them anew.
    ///
    /// # Errors
    ///
    /// [`ConfigError::UnknownChannel`] if there are fewer channels.
    ///
    /// ```
    /// use porous_proto::{Channel, ChannelId, Config, Priority};
    ///
    /// let channel = Channel::new(Priority::High).unordered();
    /// assert!(Config::new().channel(ChannelId(0), channel).is_ok());
    /// assert!(Config::new().channel(ChannelId(1), channel).is_err());
    /// ```
    pub const fn channel(mut self, id: ChannelId, channel: Channel) -> Result<Self, ConfigError> {
        if id.0 >= self.channels.channel_count {
            return Err(ConfigError::UnknownChannel);
        }
        self.channels.channels[id.0 as usize] = channel;
        Ok(self)
    }
}
