//! Replicon's channels as those of a connection.

use bevy_replicon::prelude::{Channel, RepliconChannels};
use porous_std::{Channel as Settings, ChannelId, Config, ConfigError, Mode, Priority};

/// The replication of entities has the first two channels of the server.
const REPLICATION: usize = 2;

/// Makes configurations from the channels that the messages and events of a game ask for.
///
/// Call it when all of them are registered: once the app is [finished](bevy::prelude::App::finish), in a system, say.
/// Both sides have to register the same ones, as replicon asks.
pub trait PorousChannelsExt {
    /// The configuration of a server.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Channels`] if the game has more than 255 channels in one direction.
    ///
    /// ```
    /// use bevy_replicon::prelude::*;
    /// use bevy_replicon_porous::PorousChannelsExt;
    ///
    /// let config = RepliconChannels::default().server_config()?.max_peers(32);
    /// # let _ = config;
    /// # Ok::<(), porous_std::ConfigError>(())
    /// ```
    fn server_config(&self) -> Result<Config, ConfigError>;

    /// The configuration of a client.
    ///
    /// # Errors
    ///
    /// As [`server_config`](Self::server_config).
    ///
    /// ```
    /// use bevy_replicon::prelude::*;
    /// use bevy_replicon_porous::PorousChannelsExt;
    ///
    /// let config = RepliconChannels::default().client_config()?.application_id(7);
    /// # let _ = config;
    /// # Ok::<(), porous_std::ConfigError>(())
    /// ```
    fn client_config(&self) -> Result<Config, ConfigError>;
}

impl PorousChannelsExt for RepliconChannels {
    fn server_config(&self) -> Result<Config, ConfigError> {
        // Worlds can be large, and no message of the game should wait for them.
        let mut priorities = vec![Priority::High; self.server_channels().len()];
        for priority in priorities.iter_mut().take(REPLICATION) {
            *priority = Priority::Low;
        }
        configured(Config::new(), &priorities, self.client_channels())
    }

    fn client_config(&self) -> Result<Config, ConfigError> {
        let priorities = vec![Priority::High; self.client_channels().len()];
        configured(Config::client(), &priorities, self.server_channels())
    }
}

/// A host that sends with these priorities, and receives from these channels. One number stands for two channels of
/// replicon, one for each direction: the sender decides about priority and mode, and the receiver alone about order.
fn configured(
    config: Config,
    priorities: &[Priority],
    received: &[Channel],
) -> Result<Config, ConfigError> {
    let count = priorities.len().max(received.len());
    let mut all = priorities.to_vec();
    all.resize(count, Priority::High);
    let mut config = config.channels(&all)?;
    for ((number, channel), priority) in (0..=u8::MAX).zip(received).zip(&all) {
        if is_unordered(*channel) {
            let settings = Settings::new(*priority).unordered();
            config = config.channel(ChannelId(number), settings)?;
        }
    }
    Ok(config)
}

const fn is_unordered(channel: Channel) -> bool {
    match channel {
        Channel::Unreliable | Channel::Unordered => true,
        Channel::Ordered => false,
    }
}

/// How a message on this channel is sent.
pub(crate) const fn mode(channel: Channel) -> Mode {
    match channel {
        Channel::Unreliable => Mode::Unreliable,
        Channel::Unordered | Channel::Ordered => Mode::Reliable,
    }
}

/// The channel with this number of replicon. `None` is a mistake of the code that made the number: a connection has at most 255.
pub(crate) fn numbered(number: usize) -> Option<ChannelId> {
    u8::try_from(number).ok().map(ChannelId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_channel_of_replicon_is_as_it_says() {
        for (channel, unordered, expected) in [
            (Channel::Unreliable, true, Mode::Unreliable),
            (Channel::Unordered, true, Mode::Reliable),
            (Channel::Ordered, false, Mode::Reliable),
        ] {
            assert_eq!(is_unordered(channel), unordered, "{channel:?}");
            assert_eq!(mode(channel), expected, "{channel:?}");
        }
    }

    #[test]
    fn the_longer_list_counts_and_each_direction_has_its_own_kinds() {
        let high = [Priority::High; 3];
        let config = configured(Config::new(), &high, &[Channel::Unordered]).expect("few channels");
        let expected = Config::new().channels(&high).expect("few channels");
        let unordered = Settings::new(Priority::High).unordered();
        let expected = expected.channel(ChannelId(0), unordered);
        assert_eq!(
            format!("{config:?}"),
            format!("{:?}", expected.expect("it is there"))
        );
    }

    #[test]
    fn too_many_channels_are_an_error() {
        let many = [Channel::Ordered; 256];
        let refused = configured(Config::new(), &[], &many).err();
        assert_eq!(refused, Some(ConfigError::Channels));
    }
}
