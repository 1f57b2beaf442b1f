//! Godot's transfer modes and channels as channels of a connection.

use porous_std::{Channel, ChannelId, Config, ConfigError, Mode, Priority, SendOptions};

/// The channel on which the server tells a client its id.
pub(crate) const CONTROL: ChannelId = ChannelId(0);

/// Channels of a connection for each channel of Godot: one for each mode.
const MODES: u8 = 3;

/// The most channels of Godot: 3 × 84, and one for the ids, are 253 of the 255 channels of a connection.
pub const MOST_CHANNELS: u8 = 84;

/// How a packet is sent, with the numbers of Godot's `MultiplayerPeer.TransferMode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TransferMode {
    /// May get lost, and may be overtaken.
    Unreliable = 0,
    /// May get lost. One that comes too late for its order is dropped.
    UnreliableOrdered = 1,
    /// Comes, and in order.
    #[default]
    Reliable = 2,
}

impl TransferMode {
    /// Every mode, by its number.
    pub const ALL: [Self; 3] = [Self::Unreliable, Self::UnreliableOrdered, Self::Reliable];

    pub(crate) const fn options(self) -> SendOptions {
        SendOptions::new(match self {
            Self::Unreliable | Self::UnreliableOrdered => Mode::Unreliable,
            Self::Reliable => Mode::Reliable,
        })
    }
}

/// The channels of a connection for `channels` channels of Godot, each with all three modes: for the configuration of
/// a server and of its clients alike. The smaller number of both sides counts.
///
/// # Errors
///
/// [`ConfigError::Channels`] unless there are 1 to [`MOST_CHANNELS`].
///
/// ```
/// use porous_godot_core::{MOST_CHANNELS, with_channels};
/// use porous_std::Config;
///
/// assert!(with_channels(Config::new(), 8).is_ok());
/// assert!(with_channels(Config::new(), 0).is_err());
/// assert!(with_channels(Config::new(), MOST_CHANNELS + 1).is_err());
/// ```
pub fn with_channels(config: Config, channels: u8) -> Result<Config, ConfigError> {
    if channels == 0 || channels > MOST_CHANNELS {
        return Err(ConfigError::Channels);
    }
    // All alike, as Godot has no priorities, but for the ids: nothing can be said before a client has its own.
    let mut priorities = vec![Priority::Low; usize::from(channels * MODES) + 1];
    priorities[usize::from(CONTROL.0)] = Priority::High;
    let mut config = config.channels(&priorities)?;
    for channel in 0..channels {
        let unordered = Channel::new(Priority::Low).unordered();
        config = config.channel(number(channel, TransferMode::Unreliable), unordered)?;
    }
    Ok(config)
}

const fn number(channel: u8, mode: TransferMode) -> ChannelId {
    ChannelId(1 + channel * MODES + mode as u8)
}

/// The channel of a connection for this channel of Godot; `None` if the connection, which has `count` channels, has
/// none.
pub(crate) fn to_connection(channel: i32, mode: TransferMode, count: u8) -> Option<ChannelId> {
    let channel = u8::try_from(channel)
        .ok()
        .filter(|it| *it < MOST_CHANNELS)?;
    Some(number(channel, mode)).filter(|it| it.0 < count)
}

/// The channel of Godot and the mode of a packet; `None` if it is on the channel of the ids.
pub(crate) fn to_godot(channel: ChannelId) -> Option<(i32, TransferMode)> {
    let rest = channel.0.checked_sub(1)?;
    let mode = TransferMode::ALL[usize::from(rest % MODES)];
    Some((i32::from(rest / MODES), mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_channel_and_mode_is_a_channel_of_its_own() {
        let mut next = 1;
        for channel in 0..i32::from(MOST_CHANNELS) {
            for mode in TransferMode::ALL {
                let there = to_connection(channel, mode, 253);
                assert_eq!(there, Some(ChannelId(next)));
                assert_eq!(to_godot(ChannelId(next)), Some((channel, mode)));
                next += 1;
            }
        }
        assert_eq!(to_godot(CONTROL), None);
    }

    #[test]
    fn a_channel_that_the_connection_has_not_is_none() {
        let mode = TransferMode::Reliable;
        assert_eq!(to_connection(-1, mode, 253), None);
        assert_eq!(to_connection(84, mode, 255), None);
        assert_eq!(to_connection(1, mode, 7), Some(ChannelId(6)));
        assert_eq!(to_connection(1, mode, 6), None);
        assert_eq!(to_connection(i32::MAX, mode, 255), None);
    }
}
