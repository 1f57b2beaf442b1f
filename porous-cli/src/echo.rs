//! The packets between `porous ping` and `porous serve`, and the channels that they take.
//!
//! | kind | packet | after the kind, lowest byte first |
//! |---|---|---|
//! | 1, 2 | a probe; 2 wants an echo of the same length | serial (8), time (8), filling |
//! | 3 | the echo of a probe | serial (8), time (8), probes counted (8), filling |
//! | 4 | the question what was counted | |
//! | 5 | the counts | for each mode probes counted (8) and echoes (8) |
//!
//! The serials of each mode begin at 0. The time is that of the host that probes, in microseconds, and nobody
//! else makes anything of it: so the clocks of both machines may differ. A probe and its echo have the same
//! channel and mode; questions and counts are reliable packets of channel 0.

use porous_std::{Bytes, ChannelId, Config, Instant, Mode, Priority};

use crate::net::keys::sealed;

/// The application id, so that no other program connects by mistake: "porous-m".
pub(crate) const APPLICATION: u64 = u64::from_be_bytes(*b"porous-m");

/// The modes in the order in which counts have them.
pub(crate) const MODES: [Mode; 3] = [Mode::Reliable, Mode::Unreliable, Mode::Passive];

/// The most channels of one mode.
pub(crate) const CHANNELS: u8 = 16;

/// The channel of questions and counts.
pub(crate) const CONTROL: ChannelId = ChannelId(0);

/// The bytes of the shortest probe: an echo has as many, and its count.
pub(crate) const SHORTEST: u16 = 25;

/// The bytes of the longest probe.
pub(crate) const LONGEST: u16 = 60_000;

/// The silence after which a connection is over.
const TIMEOUT: core::time::Duration = core::time::Duration::from_secs(5);

/// How long a goodbye waits for its answer.
const GOODBYE: core::time::Duration = core::time::Duration::from_secs(1);

/// The channel on which packets of a mode are sent, the `number`th of [`CHANNELS`].
pub(crate) fn channel(mode: Mode, number: u8) -> ChannelId {
    let before = match mode {
        Mode::Reliable => 0,
        Mode::Unreliable => CHANNELS,
        Mode::Passive => 2 * CHANNELS,
    };
    ChannelId(1 + before + number % CHANNELS)
}

/// The place of a mode in [`MODES`].
pub(crate) const fn place(mode: Mode) -> usize {
    match mode {
        Mode::Reliable => 0,
        Mode::Unreliable => 1,
        Mode::Passive => 2,
    }
}

/// The configuration of both ends, on top of `base`.
pub(crate) fn config(base: Config, is_sealed: bool) -> std::io::Result<Config> {
    let channels = [Priority::High; 1 + 3 * CHANNELS as usize];
    let config = base
        .application_id(APPLICATION)
        .connect_timeout(TIMEOUT)
        .and_then(|config| config.timeout(TIMEOUT))
        .and_then(|config| config.disconnect_timeout(GOODBYE))
        .and_then(|config| config.channels(&channels))
        .map_err(std::io::Error::other)?;
    if is_sealed {
        sealed(config)
    } else {
        Ok(config)
    }
}

/// What was counted of one mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    /// Probes that came.
    pub(crate) probes: u64,
    /// Echoes that were sent.
    pub(crate) echoes: u64,
}

/// What was counted of each mode, in the order of [`MODES`].
pub(crate) type Counts = [Count; 3];

/// One packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Probe {
        /// True if the echo is to be as long as the probe.
        is_long: bool,
        serial: u64,
        sent: Instant,
    },
    Echo {
        /// The serial and the time of the probe.
        serial: u64,
        sent: Instant,
        /// Probes of this mode that have come, this one included.
        counted: u64,
    },
    Question,
    Counts(Counts),
}

impl Message {
    /// The bytes of a packet, filled up to `len`.
    pub(crate) fn to_bytes(self, len: usize) -> Bytes {
        let mut bytes = Vec::with_capacity(len);
        match self {
            Self::Probe {
                is_long,
                serial,
                sent,
            } => {
                bytes.push(1 + u8::from(is_long));
                push(&mut bytes, [serial, sent.as_micros()]);
            }
            Self::Echo {
                serial,
                sent,
                counted,
            } => {
                bytes.push(3);
                push(&mut bytes, [serial, sent.as_micros(), counted]);
            }
            Self::Question => bytes.push(4),
            Self::Counts(counts) => {
                bytes.push(5);
                push(&mut bytes, counts.map(|count| count.probes));
                push(&mut bytes, counts.map(|count| count.echoes));
            }
        }
        bytes.resize(bytes.len().max(len), 0);
        bytes.into()
    }

    /// Reads a packet; `None` if it is none of these.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let (&kind, rest) = bytes.split_first()?;
        match kind {
            1 | 2 => {
                let [serial, sent] = numbers(rest)?;
                Some(Self::Probe {
                    is_long: kind == 2,
                    serial,
                    sent: Instant::from_micros(sent),
                })
            }
            3 => {
                let [serial, sent, counted] = numbers(rest)?;
                Some(Self::Echo {
                    serial,
                    sent: Instant::from_micros(sent),
                    counted,
                })
            }
            4 => Some(Self::Question),
            5 => {
                let all: [u64; 6] = numbers(rest)?;
                let count = |mode: usize| Count {
                    probes: all[mode],
                    echoes: all[mode + 3],
                };
                Some(Self::Counts([count(0), count(1), count(2)]))
            }
            _ => None,
        }
    }
}

fn push<const N: usize>(bytes: &mut Vec<u8>, numbers: [u64; N]) {
    for number in numbers {
        bytes.extend(number.to_le_bytes());
    }
}

/// The first numbers of these bytes.
fn numbers<const N: usize>(bytes: &[u8]) -> Option<[u64; N]> {
    let mut numbers = [0; N];
    for (number, bytes) in numbers.iter_mut().zip(bytes.chunks(8)) {
        *number = u64::from_le_bytes(bytes.try_into().ok()?);
    }
    (bytes.len() >= 8 * N).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages() -> [Message; 5] {
        let sent = Instant::from_micros(1 << 40);
        let count = |n| Count {
            probes: n,
            echoes: n + 1,
        };
        let probe = |is_long| Message::Probe {
            is_long,
            serial: 7,
            sent,
        };
        let echo = Message::Echo {
            serial: 7,
            sent,
            counted: 5,
        };
        let counts = Message::Counts([count(1), count(3), count(u64::MAX - 1)]);
        [probe(false), probe(true), echo, Message::Question, counts]
    }

    #[test]
    fn what_is_written_is_read() {
        for message in messages() {
            for len in [0, 25, 1000] {
                let bytes = message.to_bytes(len);
                assert!(bytes.len() >= len);
                assert_eq!(Message::parse(&bytes), Some(message));
            }
        }
        assert_eq!(messages()[2].to_bytes(0).len(), usize::from(SHORTEST));
    }

    #[test]
    fn what_is_cut_off_or_unknown_is_no_packet() {
        for message in messages() {
            let bytes = message.to_bytes(0);
            for len in 0..bytes.len() {
                assert_eq!(Message::parse(&bytes[..len]), None, "{message:?} {len}");
            }
        }
        assert_eq!(Message::parse(&[0; 100]), None);
        assert_eq!(Message::parse(&[6; 100]), None);
    }

    #[test]
    fn each_mode_has_channels_of_its_own() {
        let mut all: Vec<u8> = MODES
            .iter()
            .flat_map(|&mode| (0..CHANNELS).map(move |number| channel(mode, number).0))
            .collect();
        all.push(CONTROL.0);
        all.sort_unstable();
        let expected: Vec<u8> = (0..=3 * CHANNELS).collect();
        assert_eq!(all, expected);
        assert!(config(Config::new(), true).is_ok());
    }
}
