//! The configuration of a host, as one struct.

use porous_proto::congestion::Congestion;
use porous_proto::{Channel, ChannelId, Config, Integrity, Policy, Priority};

use crate::panic::guard;
use crate::pointers::array;
use crate::sized::{init_sized, read_sized, sized, zeroed};
use crate::status::{
    POROUS_ERR_CONFIG_CHANNELS, POROUS_ERR_VALUE, POROUS_OK, check, number, porous_status,
};
use crate::time::duration;

/// What we recommend: for servers, and for hosts that do both.
pub const POROUS_PRESET_DEFAULT: u32 = 0;
/// For a host that only connects: connection ids of 2 bytes, and it cannot listen.
pub const POROUS_PRESET_CLIENT: u32 = 1;
/// The paper's rules and windows.
pub const POROUS_PRESET_PAPER: u32 = 2;
/// For a microcontroller: a few dozen kilobytes.
pub const POROUS_PRESET_EMBEDDED: u32 = 3;

/// Our own rules: the paper's, improved.
pub const POROUS_POLICY_MODERN: u8 = 1;
/// The paper's rules, as printed.
pub const POROUS_POLICY_PAPER: u8 = 2;

/// The paper's slow start and congestion avoidance.
pub const POROUS_CONGESTION_PAPER: u8 = 1;
/// Follows the delay of the queue on the path.
pub const POROUS_CONGESTION_LEAN: u8 = 2;
/// Half of the window after a loss, as TCP's NewReno.
pub const POROUS_CONGESTION_RENO: u8 = 3;
/// As TCP's CUBIC.
pub const POROUS_CONGESTION_CUBIC: u8 = 4;
/// Always congestion_rate: for controlled networks only.
pub const POROUS_CONGESTION_FIXED: u8 = 5;
/// congestion_rate in good conditions, congestion_rate_bad in bad ones: for controlled networks only.
pub const POROUS_CONGESTION_BINARY: u8 = 6;

/// The check at the end of a datagram covers its head.
pub const POROUS_INTEGRITY_HEADER: u8 = 1;
/// The check covers all of the datagram, by CRC-32C.
pub const POROUS_INTEGRITY_CRC32C: u8 = 2;

/// ChaCha20-Poly1305, for processors without instructions for AES.
pub const POROUS_SUITE_CHACHA_POLY: u8 = 1;
/// AES-256-GCM, for processors with instructions for it.
pub const POROUS_SUITE_AES_GCM: u8 = 2;

/// A switch of the configuration that is on.
pub const POROUS_ON: u8 = 1;
/// A switch of the configuration that is off.
pub const POROUS_OFF: u8 = 2;

/// For connection_id_len: connection ids of 0 bytes. Such a host knows its peers by their addresses alone, and
/// cannot listen.
pub const POROUS_NO_CONNECTION_IDS: u8 = 255;
/// For path_mtu: larger datagrams than max_datagram are not searched for.
pub const POROUS_PATH_MTU_OFF: u16 = 1;

/// The settings of one channel. All of them 0: an ordered channel of low priority.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct porous_channel {
    /// 0 low, for bulk; 1 high: it leaves first. As far as this host sends.
    pub priority: u8,
    /// 1: packets that this host receives are given as soon as they are complete. 0: in their order.
    pub unordered: u8,
    /// The share of the channel while others of its priority have something to send; 0 counts as 1.
    pub weight: u8,
    /// 0.
    pub reserved: u8,
    /// The most that is sent on the channel to each peer, in bytes a second; 0: no limit.
    pub rate: u32,
}

/// The configuration of a host. Set it up by porous_config_init, and change what you like. 0 in any field means:
/// as the preset has it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct porous_config {
    /// sizeof(porous_config).
    pub size: u32,
    /// One of POROUS_PRESET_.
    pub preset: u8,
    /// One of POROUS_POLICY_: the rules where the paper can be improved. Other hosts need not have the same.
    pub policy: u8,
    /// One of POROUS_CONGESTION_: what decides how many bytes may be in flight; 0: that of the policy.
    pub congestion: u8,
    /// One of POROUS_INTEGRITY_. A connection has the stricter one of both hosts.
    pub integrity: u8,
    /// The channels, channel_count of them; NULL: ordered ones of low priority. It is read during the call only.
    pub channels: *const porous_channel,
    /// Names the application and its version: hosts with different ones refuse each other.
    pub application_id: u64,
    /// The most bytes that received packets of all peers together may take until they are received.
    pub host_receive_budget: u64,
    /// For how long the host tries to connect, and for how long POROUS_EVENT_REQUEST waits for its answer.
    pub connect_timeout_us: u64,
    /// The silence after which a connection ends.
    pub timeout_us: u64,
    /// For how long a goodbye waits for its acknowledgement.
    pub disconnect_timeout_us: u64,
    /// The silence after which a peer is sent a ping: a quarter of timeout_us, if that is less.
    pub keepalive_us: u64,
    /// For how long an unreliable packet may wait to be sent; UINT64_MAX: for ever.
    pub unreliable_age_us: u64,
    /// How many channels there are, 1 to 255. A connection has as many as the host with fewer.
    pub channel_count: u32,
    /// The most peers that have connected to this host.
    pub max_peers: u32,
    /// The most of them from one IP address; 0: a quarter of max_peers, and at least 16.
    pub max_peers_per_source: u32,
    /// The largest packet to send or receive, in bytes. The smaller one of both hosts counts.
    pub max_packet: u32,
    /// The most bytes that received packets of one peer may take until they are received: at least 64 more than
    /// max_packet.
    pub receive_budget: u32,
    /// The most bytes of packets to one peer that may wait to be sent or acknowledged.
    pub send_budget: u32,
    /// The most frames on their way to a peer: a power of two from 16 to 65,536.
    pub frame_window: u32,
    /// The most packets of a channel on their way: a power of two from 16 to 65,536.
    pub packet_window: u32,
    /// The most to send to one peer, in bytes a second; 0: no limit.
    pub send_rate: u32,
    /// The most to receive from one peer, in bytes a second; 0: no limit.
    pub receive_rate: u32,
    /// The most to send to all peers together, in bytes a second; 0: no limit.
    pub host_send_rate: u32,
    /// The most answers a second to one address of a stranger, up to 1,000,000.
    pub replies_per_address: u32,
    /// The most answers a second to all strangers, up to 1,000,000.
    pub replies: u32,
    /// In bytes a second, for POROUS_CONGESTION_FIXED and POROUS_CONGESTION_BINARY.
    pub congestion_rate: u32,
    /// In bytes a second, for POROUS_CONGESTION_BINARY.
    pub congestion_rate_bad: u32,
    /// The longest datagram to send or receive, 512 to 65,507 bytes.
    pub max_datagram: u16,
    /// The length of a connection request, 512 to 1200 bytes: less only for carriers of shorter datagrams.
    pub request_size: u16,
    /// Up to how many bytes longer datagrams are searched for, 512 to 65,507; 0: up to 1452 where the system
    /// allows a search, and not at all without a socket; POROUS_PATH_MTU_OFF: not at all.
    pub path_mtu: u16,
    /// The bytes of connection ids, 1 to 20, or POROUS_NO_CONNECTION_IDS.
    pub connection_id_len: u8,
    /// POROUS_ON or POROUS_OFF: routers may mark datagrams instead of dropping them.
    pub ecn: u8,
    /// POROUS_ON: peers are followed to other addresses. POROUS_OFF: they are not. 0: sealed ones are.
    pub roaming: u8,
    /// The suites to seal with, the best first, each one of POROUS_SUITE_; all 0: the host does not seal.
    pub suites: [u8; 4],
    /// 0.
    pub reserved: [u8; 7],
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<porous_config>() == 152);
const _: () = assert!(size_of::<porous_channel>() == 8);
// By its last field, as a pointer has 4 bytes on some machines.
sized!(
    porous_config,
    core::mem::offset_of!(porous_config, reserved) + 7
);

/// The preset with this number.
fn preset(number: u32) -> Result<Config, porous_status> {
    match number {
        POROUS_PRESET_DEFAULT => Ok(Config::new()),
        POROUS_PRESET_CLIENT => Ok(Config::client()),
        POROUS_PRESET_PAPER => Ok(Config::paper()),
        POROUS_PRESET_EMBEDDED => Ok(Config::embedded()),
        _ => Err(POROUS_ERR_VALUE),
    }
}

/// The values of a preset, to be seen and changed.
fn initial(number: u32) -> Result<porous_config, porous_status> {
    preset(number)?;
    let new = porous_config {
        preset: u8::try_from(number).unwrap_or(0),
        policy: POROUS_POLICY_MODERN,
        integrity: POROUS_INTEGRITY_HEADER,
        host_receive_budget: 256 << 20,
        connect_timeout_us: 10_000_000,
        timeout_us: 10_000_000,
        disconnect_timeout_us: 5_000_000,
        keepalive_us: 15_000_000,
        unreliable_age_us: 2_000_000,
        channel_count: 1,
        max_peers: 1024,
        max_packet: 1 << 20,
        receive_budget: 4 << 20,
        send_budget: 4 << 20,
        frame_window: 4096,
        packet_window: 4096,
        replies_per_address: 20,
        replies: 20_000,
        max_datagram: 1200,
        request_size: 1200,
        connection_id_len: 4,
        ecn: POROUS_ON,
        ..zeroed()
    };
    Ok(match number {
        POROUS_PRESET_CLIENT => porous_config {
            connection_id_len: 2,
            ..new
        },
        POROUS_PRESET_PAPER => porous_config {
            policy: POROUS_POLICY_PAPER,
            frame_window: 1 << 16,
            packet_window: 1 << 16,
            ..new
        },
        POROUS_PRESET_EMBEDDED => porous_config {
            frame_window: 64,
            packet_window: 64,
            max_packet: 4 << 10,
            receive_budget: 8 << 10,
            send_budget: 8 << 10,
            max_peers: 2,
            replies_per_address: 10,
            replies: 100,
            ..new
        },
        _ => new,
    })
}

/// The value that a program gives, or that of the preset, if it gives none.
fn or<T: Default + PartialEq>(given: T, preset: T) -> T {
    if given == T::default() { preset } else { given }
}

/// A rate, of which 0 means that there is no limit.
pub(crate) fn rate(bytes_a_second: u32) -> u32 {
    or(bytes_a_second, u32::MAX)
}

impl porous_channel {
    fn channel(self) -> Result<Channel, porous_status> {
        let priority = match self.priority {
            0 => Priority::Low,
            1 => Priority::High,
            _ => return Err(POROUS_ERR_VALUE),
        };
        check(self.unordered <= 1 && self.reserved == 0, POROUS_ERR_VALUE)?;
        let channel = Channel::new(priority)
            .weight(self.weight)
            .rate(rate(self.rate));
        Ok(if self.unordered == 1 {
            channel.unordered()
        } else {
            channel
        })
    }
}

impl porous_config {
    /// Reads the configuration that a program gives.
    ///
    /// # Safety
    ///
    /// `from` is NULL, or points to a configuration as the header demands.
    pub(crate) unsafe fn take(from: *const Self) -> Result<Config, porous_status> {
        // SAFETY: as the caller promises.
        let given = unsafe { read_sized(from)? };
        check(given.reserved == [0; 7], POROUS_ERR_VALUE)?;
        let known = initial(given.preset.into())?;
        let config = preset(given.preset.into())?.application_id(given.application_id);
        // SAFETY: as the caller promises.
        let config = unsafe { given.with_channels(config)? };
        let config = given.with_budgets(config, &known)?;
        let config = given.with_times(config, &known)?;
        let config = given.with_path(config, &known)?;
        given.with_rules(config, &known)
    }

    /// # Safety
    ///
    /// `channels` is NULL, or points to `channel_count` channels.
    unsafe fn with_channels(&self, config: Config) -> Result<Config, porous_status> {
        let number = or(self.channel_count, 1) as usize;
        check(number <= 255, POROUS_ERR_CONFIG_CHANNELS)?;
        let low = [Priority::Low; 255];
        let mut config = self::number(config.channels(low.get(..number).unwrap_or(&low)))?;
        if self.channels.is_null() {
            return Ok(config);
        }
        // SAFETY: as the caller promises.
        let given = unsafe { array(self.channels, self.channel_count as usize)? };
        for (id, channel) in (0..=u8::MAX).zip(given) {
            config = self::number(config.channel(ChannelId(id), channel.channel()?))?;
        }
        Ok(config)
    }

    fn with_budgets(&self, config: Config, known: &Self) -> Result<Config, porous_status> {
        let packet = or(self.max_packet, known.max_packet);
        let config =
            number(config.receive_budget(packet, or(self.receive_budget, known.receive_budget)))?;
        let config = number(config.send_budget(or(self.send_budget, known.send_budget)))?;
        let (frames, packets) = (
            or(self.frame_window, known.frame_window),
            or(self.packet_window, known.packet_window),
        );
        let config = number(config.windows(frames, packets))?;
        let config = number(config.bandwidth(rate(self.send_rate), rate(self.receive_rate)))?;
        let (one, all) = (
            or(self.replies_per_address, known.replies_per_address),
            or(self.replies, known.replies),
        );
        let config = number(config.reply_limits(one, all))?
            .host_receive_budget(or(self.host_receive_budget, known.host_receive_budget))
            .host_send_rate(rate(self.host_send_rate))
            .max_peers(or(self.max_peers, known.max_peers));
        Ok(match self.max_peers_per_source {
            0 => config,
            most => config.max_peers_per_source(most),
        })
    }

    fn with_times(&self, config: Config, known: &Self) -> Result<Config, porous_status> {
        let time = |given, preset| duration(or(given, preset));
        let connect = time(self.connect_timeout_us, known.connect_timeout_us);
        let silence = time(self.timeout_us, known.timeout_us);
        let goodbye = time(self.disconnect_timeout_us, known.disconnect_timeout_us);
        let config = number(config.connect_timeout(connect))?;
        let config = number(config.timeout(silence))?;
        let config = number(config.disconnect_timeout(goodbye))?;
        let config = number(config.keepalive(time(self.keepalive_us, known.keepalive_us)))?;
        number(config.unreliable_age(time(self.unreliable_age_us, known.unreliable_age_us)))
    }

    fn with_path(&self, config: Config, known: &Self) -> Result<Config, porous_status> {
        let config = number(config.max_datagram(or(self.max_datagram, known.max_datagram)))?;
        let config = number(config.request_size(or(self.request_size, known.request_size)))?;
        let config = match self.path_mtu {
            0 => config,
            POROUS_PATH_MTU_OFF => config.without_path_mtu_discovery(),
            bytes => number(config.path_mtu_discovery(bytes))?,
        };
        let bytes = match or(self.connection_id_len, known.connection_id_len) {
            POROUS_NO_CONNECTION_IDS => 0,
            bytes => bytes,
        };
        let config = number(config.connection_id_len(bytes))?;
        let config = match or(self.ecn, known.ecn) {
            POROUS_ON => config.ecn(true),
            POROUS_OFF => config.ecn(false),
            _ => return Err(POROUS_ERR_VALUE),
        };
        match self.roaming {
            0 => Ok(config),
            POROUS_ON => Ok(config.roaming(true)),
            POROUS_OFF => Ok(config.roaming(false)),
            _ => Err(POROUS_ERR_VALUE),
        }
    }

    fn with_rules(&self, config: Config, known: &Self) -> Result<Config, porous_status> {
        let config = config.policy(match or(self.policy, known.policy) {
            POROUS_POLICY_MODERN => Policy::Modern,
            POROUS_POLICY_PAPER => Policy::Paper,
            _ => return Err(POROUS_ERR_VALUE),
        });
        let config = config.integrity(match or(self.integrity, known.integrity) {
            POROUS_INTEGRITY_HEADER => Integrity::Header,
            POROUS_INTEGRITY_CRC32C => Integrity::Crc32c,
            _ => return Err(POROUS_ERR_VALUE),
        });
        let config = match self.congestion()? {
            Some(congestion) => config.congestion(congestion),
            None => config,
        };
        self.with_suites(config)
    }

    /// The controller, if it is not that of the policy.
    fn congestion(&self) -> Result<Option<Congestion>, porous_status> {
        let (rate, bad) = (self.congestion_rate, self.congestion_rate_bad);
        let congestion = match self.congestion {
            0 => return Ok(None),
            POROUS_CONGESTION_PAPER => Congestion::Paper,
            POROUS_CONGESTION_LEAN => Congestion::Lean,
            POROUS_CONGESTION_RENO => Congestion::Reno,
            POROUS_CONGESTION_CUBIC => Congestion::Cubic,
            POROUS_CONGESTION_FIXED if rate > 0 => Congestion::Fixed { rate },
            POROUS_CONGESTION_BINARY if rate > 0 && bad > 0 => {
                Congestion::Binary { good: rate, bad }
            }
            _ => return Err(POROUS_ERR_VALUE),
        };
        Ok(Some(congestion))
    }

    #[cfg(not(feature = "seal"))]
    fn with_suites(&self, config: Config) -> Result<Config, porous_status> {
        check(self.suites == [0; 4], crate::status::POROUS_ERR_UNSUPPORTED)?;
        Ok(config)
    }

    #[cfg(feature = "seal")]
    fn with_suites(&self, config: Config) -> Result<Config, porous_status> {
        use porous_proto::seal::Suite;

        let given = self
            .suites
            .split(|&suite| suite == 0)
            .next()
            .unwrap_or_default();
        // A suite behind a gap would be overlooked.
        let rest = self.suites.get(given.len()..).unwrap_or_default();
        check(rest.iter().all(|&suite| suite == 0), POROUS_ERR_VALUE)?;
        if given.is_empty() {
            return Ok(config);
        }
        let mut suites = [Suite::CHACHA_POLY; 4];
        for (to, &from) in suites.iter_mut().zip(given) {
            *to = match from {
                POROUS_SUITE_CHACHA_POLY => Suite::CHACHA_POLY,
                POROUS_SUITE_AES_GCM => Suite::AES_GCM,
                _ => return Err(POROUS_ERR_VALUE),
            };
        }
        number(config.sealed(suites.get(..given.len()).unwrap_or_default()))
    }
}

/// Sets a configuration up with the values of a preset, one of POROUS_PRESET_. `size` is
/// sizeof(porous_config).
///
/// Errors: POROUS_ERR_VALUE for an unknown preset.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_config_init(
    config: *mut porous_config,
    size: usize,
    preset: u32,
) -> porous_status {
    guard(|| {
        // SAFETY: a struct of `size` bytes, as the header demands.
        unsafe { init_sized(config, size, initial(preset)?)? };
        Ok(POROUS_OK)
    })
}

/// Says whether hosts can be made with a configuration, and which rule it breaks.
///
/// Errors: POROUS_ERR_CONFIG_ and POROUS_ERR_VALUE; POROUS_ERR_UNSUPPORTED for suites, in a library that does not
/// seal.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_config_check(config: *const porous_config) -> porous_status {
    guard(|| {
        // SAFETY: a configuration, as the header demands.
        unsafe { porous_config::take(config)? };
        Ok(POROUS_OK)
    })
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn a_configuration_that_was_set_up_is_that_of_the_preset() {
        for number in 0..=3 {
            let shown = |config: &porous_config| {
                // SAFETY: the struct is ours.
                let taken = unsafe { porous_config::take(config) };
                format!("{:?}", taken.unwrap())
            };
            let mut config = initial(number).unwrap();
            config.size = u32::try_from(size_of::<porous_config>()).unwrap();
            let wanted = format!("{:?}", preset(number).unwrap());
            assert_eq!(shown(&config), wanted, "preset {number}, all values");
            let empty = porous_config {
                size: config.size,
                preset: config.preset,
                ..zeroed()
            };
            assert_eq!(shown(&empty), wanted, "preset {number}, no values");
        }
        assert_eq!(initial(4).err(), Some(POROUS_ERR_VALUE));
    }
}
