//! A configuration as text has it (feature `serde`): the names of the setters, with numbers and words.

use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::path::Followed;
use super::{Channel, Config, Order, Policy, Priority};
use crate::congestion::Congestion;
use crate::error::ConfigError;
use crate::frame::{Integrity, Suites};
use crate::ids::ChannelId;

/// All values of a configuration but [`Config::first_id`], which only tests set. What a text leaves out is as
/// [`Config::new`] has it.
#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Plain {
    application_id: u64,
    max_packet: u32,
    receive_budget: u32,
    frame_window: u32,
    packet_window: u32,
    send_rate: u32,
    receive_rate: u32,
    integrity: Integrity,
    max_datagram: u16,
    request_size: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_mtu_discovery: Option<u16>,
    ecn: bool,
    roaming: Roaming,
    send_budget: u32,
    host_receive_budget: u64,
    host_send_rate: u32,
    max_peers: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_peers_per_source: Option<u32>,
    replies_per_address: u32,
    replies: u32,
    connect_timeout_ms: u64,
    timeout_ms: u64,
    disconnect_timeout_ms: u64,
    unreliable_age_ms: u64,
    keepalive_ms: u64,
    policy: Policy,
    #[serde(skip_serializing_if = "Option::is_none")]
    congestion: Option<Controller>,
    connection_id_len: u8,
    may_listen: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suites: Vec<u8>,
    // The last one, as formats in which lists of maps come after all values want it.
    channels: Vec<PlainChannel>,
}

/// A [`Channel`].
#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PlainChannel {
    priority: Priority,
    order: Order,
    weight: u8,
    rate: u32,
}

/// The peers that are followed: see [`Config::roaming`].
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Roaming {
    None,
    Sealed,
    All,
}

/// A [`Congestion`] but for the application's own, which is code.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Controller {
    Paper,
    Lean,
    Reno,
    Cubic,
    Fixed { rate: u32 },
    Binary { good: u32, bad: u32 },
}

impl Default for Plain {
    fn default() -> Self {
        Self::of(&Config::new(), None)
    }
}

impl Default for PlainChannel {
    fn default() -> Self {
        Self::of(&Channel::new(Priority::Low))
    }
}

impl PlainChannel {
    fn of(channel: &Channel) -> Self {
        let Channel {
            priority,
            order,
            weight,
            rate,
        } = *channel;
        Self {
            priority,
            order,
            weight,
            rate,
        }
    }

    fn channel(&self) -> Channel {
        let mut channel = Channel::new(self.priority);
        channel.order = self.order;
        channel.weight(self.weight).rate(self.rate)
    }
}

impl Controller {
    /// `None` for the application's own.
    fn of(congestion: Congestion) -> Option<Self> {
        Some(match congestion {
            Congestion::Paper => Self::Paper,
            Congestion::Lean => Self::Lean,
            Congestion::Reno => Self::Reno,
            Congestion::Cubic => Self::Cubic,
            Congestion::Fixed { rate } => Self::Fixed { rate },
            Congestion::Binary { good, bad } => Self::Binary { good, bad },
            Congestion::Custom(_) => return None,
        })
    }

    fn congestion(&self) -> Congestion {
        match *self {
            Self::Paper => Congestion::Paper,
            Self::Lean => Congestion::Lean,
            Self::Reno => Congestion::Reno,
            Self::Cubic => Congestion::Cubic,
            Self::Fixed { rate } => Congestion::Fixed { rate },
            Self::Binary { good, bad } => Congestion::Binary { good, bad },
        }
    }
}

/// Whole milliseconds, at least one: nothing shorter is a time to wait. At most as many as every format can hold.
fn ms(time: Duration) -> u64 {
    let whole = time.as_nanos().div_ceil(1_000_000).max(1);
    u64::try_from(whole)
        .unwrap_or(u64::MAX)
        .min(i64::MAX as u64)
}

impl Plain {
    fn of(config: &Config, congestion: Option<Controller>) -> Self {
        let (offered, path) = (&config.offered, &config.path);
        let (budgets, timeouts) = (&config.budgets, &config.timeouts);
        let channels = config.channels.as_slice().iter();
        Self {
            application_id: offered.application_id,
            max_packet: offered.max_packet,
            receive_budget: offered.receive_budget,
            frame_window: 1 << offered.frame_window_log2,
            packet_window: 1 << offered.packet_window_log2,
            send_rate: offered.send_rate,
            receive_rate: offered.receive_rate,
            integrity: offered.integrity,
            max_datagram: path.max_datagram,
            request_size: path.request_size,
            path_mtu_discovery: path.path_mtu,
            ecn: path.ecn,
            roaming: match path.followed {
                Followed::None => Roaming::None,
                Followed::Sealed => Roaming::Sealed,
                Followed::All => Roaming::All,
            },
            send_budget: budgets.send_budget,
            host_receive_budget: budgets.host_receive_budget,
            host_send_rate: budgets.host_send_rate,
            max_peers: budgets.max_peers,
            max_peers_per_source: budgets.max_peers_per_source,
            replies_per_address: budgets.replies_per_address,
            replies: budgets.replies,
            connect_timeout_ms: ms(timeouts.connect_timeout),
            timeout_ms: ms(timeouts.timeout),
            disconnect_timeout_ms: ms(timeouts.disconnect_timeout),
            unreliable_age_ms: ms(timeouts.unreliable_age),
            keepalive_ms: ms(timeouts.keepalive),
            policy: config.policy,
            congestion,
            connection_id_len: config.connection_id_len,
            may_listen: config.listen_allowed,
            suites: config.suites.as_bytes().to_vec(),
            channels: channels.map(PlainChannel::of).collect(),
        }
    }

    fn config(&self) -> Result<Config, Wrong> {
        let mut config = self.offered(Config::new())?;
        config = self.channels(config)?;
        config = self.path(config)?;
        config = self.budgets(config)?;
        config = self.timeouts(config)?.policy(self.policy);
        config.congestion = self.congestion.as_ref().map(Controller::congestion);
        config = named(
            "connection_id_len",
            config.connection_id_len(self.connection_id_len),
        )?;
        config.listen_allowed = self.may_listen;
        if !self.suites.is_empty() {
            let name = match cfg!(feature = "seal") {
                true => "suites",
                false => "suites, of a program without the feature `seal`",
            };
            let suites = Suites::of(&self.suites).filter(|_| cfg!(feature = "seal"));
            config.suites = named(name, suites.ok_or(ConfigError::Suites))?;
        }
        Ok(config)
    }

    fn offered(&self, config: Config) -> Result<Config, Wrong> {
        let config = config.application_id(self.application_id);
        let config = named(
            "receive_budget",
            config.receive_budget(self.max_packet, self.receive_budget),
        )?;
        let config = named(
            "frame_window or packet_window",
            config.windows(self.frame_window, self.packet_window),
        )?;
        let config = named(
            "send_rate or receive_rate",
            config.bandwidth(self.send_rate, self.receive_rate),
        )?;
        Ok(config.integrity(self.integrity))
    }

    fn channels(&self, config: Config) -> Result<Config, Wrong> {
        let priorities = self.channels.iter().map(|channel| channel.priority);
        let priorities = priorities.collect::<Vec<_>>();
        let mut config = named("channels", config.channels(&priorities))?;
        for (id, channel) in (0..=u8::MAX).zip(&self.channels) {
            config = named("channels", config.channel(ChannelId(id), channel.channel()))?;
        }
        Ok(config)
    }

    fn path(&self, config: Config) -> Result<Config, Wrong> {
        let config = named("max_datagram", config.max_datagram(self.max_datagram))?;
        let mut config = named("request_size", config.request_size(self.request_size))?;
        if let Some(most) = self.path_mtu_discovery {
            config = named("path_mtu_discovery", config.path_mtu_discovery(most))?;
        }
        config.path.followed = match self.roaming {
            Roaming::None => Followed::None,
            Roaming::Sealed => Followed::Sealed,
            Roaming::All => Followed::All,
        };
        Ok(config.ecn(self.ecn))
    }

    fn budgets(&self, config: Config) -> Result<Config, Wrong> {
        let mut config = named("send_budget", config.send_budget(self.send_budget))?
            .host_receive_budget(self.host_receive_budget)
            .host_send_rate(self.host_send_rate)
            .max_peers(self.max_peers);
        if let Some(most) = self.max_peers_per_source {
            config = config.max_peers_per_source(most);
        }
        named(
            "replies_per_address or replies",
            config.reply_limits(self.replies_per_address, self.replies),
        )
    }

    fn timeouts(&self, config: Config) -> Result<Config, Wrong> {
        let ms = Duration::from_millis;
        let config = named(
            "connect_timeout_ms",
            config.connect_timeout(ms(self.connect_timeout_ms)),
        )?;
        let config = named("timeout_ms", config.timeout(ms(self.timeout_ms)))?;
        let config = named(
            "disconnect_timeout_ms",
            config.disconnect_timeout(ms(self.disconnect_timeout_ms)),
        )?;
        let config = named(
            "unreliable_age_ms",
            config.unreliable_age(ms(self.unreliable_age_ms)),
        )?;
        named("keepalive_ms", config.keepalive(ms(self.keepalive_ms)))
    }
}

/// A value out of its range, with its name.
struct Wrong(&'static str, ConfigError);

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(name, error) = self;
        write!(f, "{name}: {error}")
    }
}

fn named<T>(name: &'static str, value: Result<T, ConfigError>) -> Result<T, Wrong> {
    value.map_err(|error| Wrong(name, error))
}

/// Feature `serde`: a map of the names of the setters. Times are whole milliseconds (`timeout_ms`), rounded up.
///
/// # Errors
///
/// Of a controller of the application's own, which is code.
///
/// ```
/// use porous_proto::Config;
///
/// let text = serde_json::to_string_pretty(&Config::new())?;
/// assert!(text.contains("\"max_peers\": 1024"));
/// # Ok::<(), serde_json::Error>(())
/// ```
impl Serialize for Config {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let congestion = self.congestion.map(|congestion| {
            let error = "congestion: a controller of the application's own cannot be written";
            Controller::of(congestion).ok_or_else(|| S::Error::custom(error))
        });
        Plain::of(self, congestion.transpose()?).serialize(serializer)
    }
}

/// Feature `serde`: values that are left out are as [`Config::new`] has them.
///
/// # Errors
///
/// Names that are unknown, and values that the setter refuses: the message names both.
///
/// ```
/// use porous_proto::Config;
///
/// let text = r#"{
///     "max_peers": 64,
///     "timeout_ms": 8000,
///     "congestion": { "fixed": { "rate": 256000 } },
///     "channels": [{ "priority": "high" }, { "order": "unordered", "weight": 3 }]
/// }"#;
/// let config: Config = serde_json::from_str(text)?;
/// # let _ = config;
///
/// let error = serde_json::from_str::<Config>(r#"{ "max_datagram": 100 }"#).unwrap_err();
/// assert!(error.to_string().starts_with("max_datagram: datagrams must have 512 to 65507 bytes"));
/// # Ok::<(), serde_json::Error>(())
/// ```
impl<'de> Deserialize<'de> for Config {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Plain::deserialize(deserializer)?
            .config()
            .map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_up_and_end_somewhere() {
        assert_eq!(ms(Duration::from_micros(1)), 1);
        assert_eq!(ms(Duration::from_micros(2001)), 3);
        assert_eq!(ms(Duration::MAX), i64::MAX as u64);
    }
}
