//! What the client and the server of the arena agree to when a page plays: the arena's rules, and channels for the
//! latency of each mode.

use porous_arena::configured;
use porous_proto::{Channel, ChannelId, Config, ConfigError, Mode, Priority};

/// The modes whose latency is measured, each on a channel of its own, so that none waits for another.
pub const MEASURED: [(ChannelId, Mode); 3] = [
    (ChannelId(3), Mode::Unreliable),
    (ChannelId(4), Mode::Reliable),
    (ChannelId(5), Mode::Passive),
];

/// The configuration of both hosts: that of the arena, and three channels more.
///
/// # Errors
///
/// None for the two configurations of [`Config::new`] and [`Config::client`].
///
/// ```
/// use porous_play::rules::played;
///
/// assert!(played(porous_proto::Config::client()).is_ok());
/// ```
pub fn played(config: Config) -> Result<Config, ConfigError> {
    let [high, low] = [Priority::High, Priority::Low];
    configured(config)?
        .channels(&[high, high, low, high, high, high])?
        // As the arena has it: a late snapshot is still good to refer to.
        .channel(ChannelId(0), Channel::new(high).unordered())
}

/// True if the server sends packets of this channel back as they came.
///
/// ```
/// use porous_play::rules::is_echoed;
/// use porous_proto::ChannelId;
///
/// assert!(is_echoed(ChannelId(3)) && !is_echoed(ChannelId(0)));
/// ```
#[must_use]
pub fn is_echoed(channel: ChannelId) -> bool {
    MEASURED.iter().any(|(measured, _)| *measured == channel)
}
