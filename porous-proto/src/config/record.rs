//! A configuration as numbers, for recorders (`docs/trace.md`, "Settings").

use alloc::vec::Vec;
use core::time::Duration;

use super::path::Followed;
use super::{
    Budgets, Channel, ChannelList, Config, Offered, Order, PathSettings, Policy, Priority, Timeouts,
};
use crate::congestion::Congestion;
use crate::frame::Integrity;
use crate::frame::Suites;
use crate::ids::ChannelId;

/// One value of a [`Config`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Which one: see [`NAMES`].
    pub number: u8,
    /// Of settings with several values the number of the value, from 0 on; else 0.
    pub part: u8,
    /// The value.
    pub value: u64,
}

/// The names of the settings; the number of each is its place.
pub const NAMES: [&str; 37] = [
    "",
    "application_id",
    "max_packet",
    "receive_budget",
    "log2_frame_window",
    "log2_packet_window",
    "send_rate",
    "receive_rate",
    "integrity",
    "channels",
    "priority",
    "order",
    "weight",
    "channel_rate",
    "max_datagram",
    "request_size",
    "path_mtu_discovery",
    "ecn",
    "roaming",
    "send_budget",
    "host_receive_budget",
    "host_send_rate",
    "max_peers",
    "max_peers_per_source",
    "replies_per_address",
    "replies",
    "connect_timeout",
    "timeout",
    "disconnect_timeout",
    "unreliable_age",
    "keepalive",
    "policy",
    "congestion",
    "connection_id_len",
    "may_listen",
    "suites",
    "first_id",
];

/// The most settings of a configuration: four of each of 255 channels, and fewer than 100 others.
pub const MOST: usize = 4 * 255 + 100;

/// The number of a controller of the application's own, which nobody else can make.
const CUSTOM: u64 = 255;

/// Settings while they are written.
struct Out(Vec<Setting>);

impl Out {
    fn one(&mut self, name: &str, value: impl Into<u64>) {
        self.part(name, 0, value);
    }

    fn part(&mut self, name: &str, part: u8, value: impl Into<u64>) {
        let number = NAMES.iter().zip(0..).find(|(known, _)| **known == name);
        let number = number.map_or(0, |(_, number)| number);
        let value = value.into();
        self.0.push(Setting {
            number,
            part,
            value,
        });
    }

    fn time(&mut self, name: &str, time: Duration) {
        self.one(name, time.as_secs());
        self.part(name, 1, time.subsec_nanos());
    }
}

/// Settings while they are read. Those that are not there have their defaults.
struct In<'a>(&'a [Setting]);

impl In<'_> {
    fn part(&self, name: &str, part: u8) -> Option<u64> {
        let is_it = |setting: &&Setting| {
            setting.part == part && NAMES.get(usize::from(setting.number)) == Some(&name)
        };
        self.0.iter().find(is_it).map(|setting| setting.value)
    }

    fn one(&self, name: &'static str) -> Result<u64, &'static str> {
        self.part(name, 0).ok_or(name)
    }

    fn small<T: TryFrom<u64>>(&self, name: &'static str) -> Result<T, &'static str> {
        T::try_from(self.one(name)?).map_err(|_| name)
    }

    fn bool(&self, name: &'static str) -> Result<bool, &'static str> {
        match self.one(name)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(name),
        }
    }

    fn time(&self, name: &'static str) -> Result<Duration, &'static str> {
        let nanos = self.part(name, 1).map_or(Ok(0), u32::try_from);
        let nanos = nanos.ok().filter(|nanos| *nanos < 1_000_000_000);
        Ok(Duration::new(self.one(name)?, nanos.ok_or(name)?))
    }
}

/// All values of a configuration.
#[must_use]
#[doc(hidden)]
pub fn settings(config: &Config) -> Vec<Setting> {
    let mut out = Out(Vec::new());
    // Without `..`, so that none can be forgotten.
    let Config {
        offered,
        channels,
        path,
        budgets,
        timeouts,
        policy,
        congestion,
        connection_id_len,
        listen_allowed,
        suites,
        first_id,
    } = config;
    write_offered(offered, &mut out);
    write_channels(channels, &mut out);
    write_path(path, &mut out);
    write_budgets(budgets, &mut out);
    write_timeouts(timeouts, &mut out);
    out.one("policy", u8::from(*policy == Policy::Modern));
    if let Some(congestion) = congestion {
        write_congestion(*congestion, &mut out);
    }
    out.one("connection_id_len", *connection_id_len);
    out.one("may_listen", *listen_allowed);
    for (part, suite) in (0..).zip(suites.as_bytes()) {
        out.part("suites", part, *suite);
    }
    out.one("first_id", *first_id);
    out.0
}

/// The kind, and then its rates.
fn write_congestion(congestion: Congestion, out: &mut Out) {
    let (kind, rates) = match congestion {
        Congestion::Paper => (0, [0; 2]),
        Congestion::Lean => (1, [0; 2]),
        Congestion::Reno => (2, [0; 2]),
        Congestion::Cubic => (3, [0; 2]),
        Congestion::Fixed { rate } => (4, [rate, 0]),
        Congestion::Binary { good, bad } => (5, [good, bad]),
        Congestion::Custom(_) => (CUSTOM, [0; 2]),
    };
    out.one("congestion", kind);
    for (part, rate) in (1..).zip(rates).filter(|(_, rate)| *rate > 0) {
        out.part("congestion", part, rate);
    }
}

fn read_congestion(from: &In<'_>) -> Result<Option<Congestion>, &'static str> {
    let rate = |part| {
        let rate = from.part("congestion", part).map_or(Ok(0), u32::try_from);
        rate.map_err(|_| "congestion")
    };
    Ok(Some(match from.part("congestion", 0) {
        None => return Ok(None),
        Some(0) => Congestion::Paper,
        Some(1) => Congestion::Lean,
        Some(2) => Congestion::Reno,
        Some(3) => Congestion::Cubic,
        Some(4) => Congestion::Fixed { rate: rate(1)? },
        Some(5) => Congestion::Binary {
            good: rate(1)?,
            bad: rate(2)?,
        },
        Some(_) => return Err("congestion"),
    }))
}

fn write_offered(offered: &Offered, out: &mut Out) {
    let Offered {
        application_id,
        max_packet,
        receive_budget,
        frame_window_log2,
        packet_window_log2,
        send_rate,
        receive_rate,
        integrity,
    } = offered;
    out.one("application_id", *application_id);
    out.one("max_packet", *max_packet);
    out.one("receive_budget", *receive_budget);
    out.one("log2_frame_window", *frame_window_log2);
    out.one("log2_packet_window", *packet_window_log2);
    out.one("send_rate", *send_rate);
    out.one("receive_rate", *receive_rate);
    out.one("integrity", u8::from(*integrity == Integrity::Crc32c));
}

fn write_channels(channels: &ChannelList, out: &mut Out) {
    let all = channels.as_slice();
    out.one("channels", all.len() as u64);
    for (part, channel) in (0..=u8::MAX).zip(all) {
        let Channel {
            priority,
            order,
            weight,
            rate,
        } = channel;
        out.part("priority", part, u8::from(*priority == Priority::High));
        out.part("order", part, u8::from(*order == Order::Unordered));
        out.part("weight", part, *weight);
        out.part("channel_rate", part, *rate);
    }
}

fn write_path(path: &PathSettings, out: &mut Out) {
    let PathSettings {
        max_datagram,
        request_size,
        path_mtu,
        ecn,
        followed,
    } = path;
    out.one("max_datagram", *max_datagram);
    out.one("request_size", *request_size);
    if let Some(mtu) = path_mtu {
        out.one("path_mtu_discovery", *mtu);
    }
    out.one("ecn", *ecn);
    out.one(
        "roaming",
        match followed {
            Followed::None => 0_u8,
            Followed::Sealed => 1,
            Followed::All => 2,
        },
    );
}

fn write_budgets(budgets: &Budgets, out: &mut Out) {
    let Budgets {
        send_budget,
        host_receive_budget,
        host_send_rate,
        max_peers,
        max_peers_per_source,
        replies_per_address,
        replies,
    } = budgets;
    out.one("send_budget", *send_budget);
    out.one("host_receive_budget", *host_receive_budget);
    out.one("host_send_rate", *host_send_rate);
    out.one("max_peers", *max_peers);
    if let Some(most) = max_peers_per_source {
        out.one("max_peers_per_source", *most);
    }
    out.one("replies_per_address", *replies_per_address);
    out.one("replies", *replies);
}

fn write_timeouts(timeouts: &Timeouts, out: &mut Out) {
    let Timeouts {
        connect_timeout,
        timeout,
        disconnect_timeout,
        unreliable_age,
        keepalive,
    } = timeouts;
    out.time("connect_timeout", *connect_timeout);
    out.time("timeout", *timeout);
    out.time("disconnect_timeout", *disconnect_timeout);
    out.time("unreliable_age", *unreliable_age);
    out.time("keepalive", *keepalive);
}

/// The configuration with these values.
///
/// # Errors
///
/// The name of a setting that is missing or out of its range, or that only the application can make.
#[doc(hidden)]
pub fn config(settings: &[Setting]) -> Result<Config, &'static str> {
    let from = In(settings);
    if settings.len() > MOST {
        return Err("channels");
    }
    let mut config = read_offered(Config::new(), &from)?;
    config = read_channels(config, &from)?;
    config = read_path(config, &from)?;
    config = read_budgets(config, &from)?;
    config = read_timeouts(config, &from)?;
    let is_modern = from.bool("policy")?;
    config = config.policy(if is_modern {
        Policy::Modern
    } else {
        Policy::Paper
    });
    config.congestion = read_congestion(&from)?;
    config = config
        .connection_id_len(from.small("connection_id_len")?)
        .map_err(|_| "connection_id_len")?;
    config.listen_allowed = from.bool("may_listen")?;
    let suites = (0..=u8::MAX).map_while(|part| from.part("suites", part));
    let suites = suites.map(u8::try_from).collect::<Result<Vec<_>, _>>();
    let suites = suites.map_err(|_| "suites")?;
    if !suites.is_empty() {
        config.suites = Suites::of(&suites).ok_or("suites")?;
    }
    let first_id = from.one("first_id")?;
    // Beyond this no test begins, and the ids of a connection may not come to their end.
    if first_id > 1 << 48 {
        return Err("first_id");
    }
    Ok(config.first_id(first_id))
}

fn read_offered(config: Config, from: &In<'_>) -> Result<Config, &'static str> {
    let window = |name| {
        let log2 = from.one(name)?;
        let log2 = u32::try_from(log2).map_err(|_| name)?;
        1_u32.checked_shl(log2).ok_or(name)
    };
    let config = config.application_id(from.one("application_id")?);
    let config = config
        .receive_budget(from.small("max_packet")?, from.small("receive_budget")?)
        .map_err(|_| "receive_budget")?;
    let config = config
        .windows(window("log2_frame_window")?, window("log2_packet_window")?)
        .map_err(|_| "log2_frame_window")?;
    let config = config
        .bandwidth(from.small("send_rate")?, from.small("receive_rate")?)
        .map_err(|_| "send_rate")?;
    Ok(config.integrity(if from.bool("integrity")? {
        Integrity::Crc32c
    } else {
        Integrity::Header
    }))
}

fn read_channels(config: Config, from: &In<'_>) -> Result<Config, &'static str> {
    let count: u8 = from.small("channels")?;
    let priorities = alloc::vec![Priority::Low; count.into()];
    let mut config = config.channels(&priorities).map_err(|_| "channels")?;
    for id in 0..count {
        let part = |name| from.part(name, id).ok_or(name);
        let mut channel = Channel::new(match part("priority")? {
            0 => Priority::Low,
            1 => Priority::High,
            _ => return Err("priority"),
        });
        channel.order = match part("order")? {
            0 => Order::Ordered,
            1 => Order::Unordered,
            _ => return Err("order"),
        };
        let weight = u8::try_from(part("weight")?).map_err(|_| "weight")?;
        let rate = u32::try_from(part("channel_rate")?).map_err(|_| "channel_rate")?;
        let channel = channel.weight(weight).rate(rate);
        config = config
            .channel(ChannelId(id), channel)
            .map_err(|_| "channels")?;
    }
    Ok(config)
}

fn read_path(config: Config, from: &In<'_>) -> Result<Config, &'static str> {
    let mut config = config
        .max_datagram(from.small("max_datagram")?)
        .map_err(|_| "max_datagram")?
        .request_size(from.small("request_size")?)
        .map_err(|_| "request_size")?
        .ecn(from.bool("ecn")?);
    if from.part("path_mtu_discovery", 0).is_some() {
        config = config
            .path_mtu_discovery(from.small("path_mtu_discovery")?)
            .map_err(|_| "path_mtu_discovery")?;
    }
    config.path.followed = match from.one("roaming")? {
        0 => Followed::None,
        1 => Followed::Sealed,
        2 => Followed::All,
        _ => return Err("roaming"),
    };
    Ok(config)
}

fn read_budgets(config: Config, from: &In<'_>) -> Result<Config, &'static str> {
    let mut config = config
        .send_budget(from.small("send_budget")?)
        .map_err(|_| "send_budget")?
        .host_receive_budget(from.one("host_receive_budget")?)
        .host_send_rate(from.small("host_send_rate")?)
        .max_peers(from.small("max_peers")?);
    if from.part("max_peers_per_source", 0).is_some() {
        config = config.max_peers_per_source(from.small("max_peers_per_source")?);
    }
    config
        .reply_limits(from.small("replies_per_address")?, from.small("replies")?)
        .map_err(|_| "replies")
}

fn read_timeouts(config: Config, from: &In<'_>) -> Result<Config, &'static str> {
    config
        .connect_timeout(from.time("connect_timeout")?)
        .map_err(|_| "connect_timeout")?
        .timeout(from.time("timeout")?)
        .map_err(|_| "timeout")?
        .disconnect_timeout(from.time("disconnect_timeout")?)
        .map_err(|_| "disconnect_timeout")?
        .unreliable_age(from.time("unreliable_age")?)
        .map_err(|_| "unreliable_age")?
        .keepalive(from.time("keepalive")?)
        .map_err(|_| "keepalive")
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    /// Every field of one differs from the default.
    fn unlike() -> Config {
        let channel = Channel::new(Priority::High)
            .unordered()
            .weight(7)
            .rate(9000);
        let mut config = Config::paper()
            .application_id(77)
            .channels(&[Priority::Low, Priority::High])
            .and_then(|config| config.channel(ChannelId(0), channel))
            .and_then(|config| config.receive_budget(5000, 6000))
            .and_then(|config| config.windows(32, 64))
            .and_then(|config| config.bandwidth(1, 2))
            .and_then(|config| config.max_datagram(700))
            .and_then(|config| config.request_size(600))
            .and_then(|config| config.path_mtu_discovery(1400))
            .and_then(|config| config.send_budget(9))
            .and_then(|config| config.reply_limits(3, 4))
            .and_then(|config| config.connect_timeout(Duration::new(1, 1)))
            .and_then(|config| config.timeout(Duration::MAX))
            .and_then(|config| config.disconnect_timeout(Duration::from_micros(3)))
            .and_then(|config| config.unreliable_age(Duration::from_millis(4)))
            .and_then(|config| config.keepalive(Duration::from_secs(5)))
            .and_then(|config| config.connection_id_len(20))
            .unwrap();
        config.listen_allowed = false;
        config.suites = Suites::of(&[2, 1]).unwrap();
        config
            .integrity(Integrity::Crc32c)
            .ecn(false)
            .roaming(true)
            .host_receive_budget(1)
            .host_send_rate(2)
            .max_peers(3)
            .max_peers_per_source(4)
            .congestion(Congestion::Binary { good: 5, bad: 6 })
            .first_id(1 << 32)
    }

    #[test]
    fn a_configuration_comes_back_from_its_settings() {
        let all = [
            Config::new(),
            Config::client(),
            Config::paper(),
            Config::embedded(),
            Config::new().channels(&[Priority::High; 255]).unwrap(),
            unlike(),
        ];
        for expected in all {
            let settings = settings(&expected);
            assert!(settings.len() <= MOST);
            assert!(settings.iter().all(|setting| setting.number > 0));
            let read = config(&settings).unwrap();
            assert_eq!(format!("{read:?}"), format!("{expected:?}"));
        }
    }

    #[test]
    fn what_is_missing_or_out_of_range_is_named() {
        let good = settings(&unlike());
        assert_eq!(config(&[]).err(), Some("application_id"));
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at].value = u64::MAX;
            // Of some settings any value is one.
            let name = NAMES[usize::from(bad[at].number)];
            let any = [
                "application_id",
                "host_receive_budget",
                "connect_timeout",
                "timeout",
                "disconnect_timeout",
                "unreliable_age",
                "keepalive",
            ];
            let read = config(&bad);
            assert_eq!(
                read.is_ok(),
                any.contains(&name) && bad[at].part == 0,
                "{name}"
            );
        }
    }

    #[test]
    fn a_controller_of_the_application_cannot_be_made_again() {
        let custom = Congestion::Custom(|_| unreachable!("no peer is made"));
        let settings = settings(&Config::new().congestion(custom));
        assert_eq!(config(&settings).err(), Some("congestion"));
    }
}
