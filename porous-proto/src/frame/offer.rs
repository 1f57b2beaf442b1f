//! Offers: what a host brings to a connection. A request and its acknowledgement carry an offer in full, as a
//! list of typed parameters, each at most once and in ascending order (§2.3).

use core::num::NonZeroU32;

use super::{Integrity, Malformed};
use crate::wire::{NoRoom, ReadError, Reader, Writer};

/// The complete offer of a host. Both hosts apply the same function to the two offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    /// Names the application and the version of its protocol: both hosts must have the same.
    pub(crate) application: u64,
    pub(crate) channels: Channels,
    /// The longest datagram that this host receives, in bytes, at least 512.
    pub(crate) max_datagram: u16,
    /// The longest packet that this host receives, in bytes, at least 1.
    pub(crate) max_packet: u32,
    /// Bytes that this host keeps of received packets, each charged [`PACKET_CHARGE`] more than its length.
    pub(crate) receive_budget: u32,
    /// log₂ N_P (1), 4 to 16.
    pub(crate) frame_window_log2: u8,
    /// log₂ N_Q (16), 4 to 16.
    pub(crate) packet_window_log2: u8,
    /// The most that this host sends, in bytes a second; `u32::MAX` for no limit, never 0.
    pub(crate) send_rate: u32,
    /// The most that this host wants to receive, in bytes a second; `u32::MAX` for no limit, never 0.
    pub(crate) receive_rate: u32,
    pub(crate) integrity: Integrity,
    /// Optional extensions, a bit each. Both hosts must have set a bit to agree on its extension, so that
    /// unknown ones are never agreed on.
    pub(crate) features: u32,
    /// The longest datagram in bytes that this host receives if the path turns out to carry it: longer than
    /// `max_datagram`. `None` if nothing longer is to be tried (RFC 8899).
    pub(crate) path_mtu: Option<u16>,
    /// The suites with which this host can seal; none if it does not.
    pub(crate) sealed: Suites,
    /// The silence after which this host ends the connection, in milliseconds (§2.2).
    pub(crate) timeout_ms: Option<NonZeroU32>,
}

/// Bits 24 to 31 of the extensions from a random number. They never get a meaning: random bits keep other
/// hosts from demanding that unknown ones be 0.
pub(crate) fn grease(random: u64) -> u32 {
    let [.., last] = random.to_le_bytes();
    u32::from(last).wrapping_shl(24)
}

/// The most bytes of a greeting.
pub(crate) const GREETING_MAX: usize = u8::MAX as usize;

/// Bytes that a packet takes of a budget beside its own.
pub(crate) const PACKET_CHARGE: u32 = 64;

/// Every path carries a datagram of this length in bytes.
pub(crate) const MIN_MAX_DATAGRAM: u16 = 512;

const APPLICATION: u8 = 1;
const CHANNELS: u8 = 2;
const MAX_DATAGRAM: u8 = 3;
const MAX_PACKET: u8 = 4;
const RECEIVE_BUDGET: u8 = 5;
const WINDOWS: u8 = 6;
const SEND_RATE: u8 = 7;
const RECEIVE_RATE: u8 = 8;
const INTEGRITY: u8 = 9;
const FEATURES: u8 = 10;
const PATH_MTU: u8 = 11;
const SEALED: u8 = 12;
const TIMEOUT: u8 = 13;
const GREETING: u8 = 14;

impl Offer {
    /// The offer of a host whose driver adds this number of bytes to each datagram of the connection, and
    /// whose path carries no more than before. No less than every path carries.
    pub(crate) fn within(mut self, envelope: u8) -> Self {
        let shorter = |bytes: u16| bytes.saturating_sub(envelope.into()).max(MIN_MAX_DATAGRAM);
        let (first, most) = (shorter(self.max_datagram), self.path_mtu.map(shorter));
        self.max_datagram = first;
        self.path_mtu = most.filter(|most| *most > first);
        self
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) -> Result<(), NoRoom> {
        writer.bytes(&[APPLICATION, 8])?;
        writer.u64(self.application)?;
        writer.bytes(&[CHANNELS, self.channels.encoded_length()])?;
        self.channels.encode(writer)?;
        writer.bytes(&[MAX_DATAGRAM, 2])?;
        writer.u16(self.max_datagram)?;
        write_u32(writer, MAX_PACKET, self.max_packet)?;
        write_u32(writer, RECEIVE_BUDGET, self.receive_budget)?;
        writer.bytes(&[WINDOWS, 2, self.frame_window_log2, self.packet_window_log2])?;
        write_u32(writer, SEND_RATE, self.send_rate)?;
        write_u32(writer, RECEIVE_RATE, self.receive_rate)?;
        writer.bytes(&[INTEGRITY, 1, self.integrity.encode()])?;
        write_u32(writer, FEATURES, self.features)?;
        // What may be absent comes last: a host that does not know it skips it.
        if let Some(path_mtu) = self.path_mtu {
            writer.bytes(&[PATH_MTU, 2])?;
            writer.u16(path_mtu)?;
        }
        if !self.sealed.is_empty() {
            write_bytes(writer, SEALED, self.sealed.as_bytes())?;
        }
        if let Some(timeout) = self.timeout_ms {
            write_u32(writer, TIMEOUT, timeout.get())?;
        }
        Ok(())
    }

    /// Bytes of the encoded offer.
    pub(super) fn encoded_length(&self) -> usize {
        // Types 1 and 3 to 10 with a type and a length each, and the two bytes of type 2.
        const FIXED: usize = 10 + 4 + 6 + 6 + 4 + 6 + 6 + 3 + 6;
        let channels = usize::from(self.channels.encoded_length());
        let optional = |there: bool, length: usize| if there { length } else { 0 };
        let suites = self.sealed.as_bytes().len();
        let parts = [
            channels.saturating_add(2),
            optional(self.path_mtu.is_some(), 4),
            optional(suites > 0, suites.saturating_add(2)),
            optional(self.timeout_ms.is_some(), 6),
        ];
        parts.into_iter().fold(FIXED, usize::saturating_add)
    }

    /// Reads an offer to the end of `reader`, and the greeting behind it, which is empty if there is none.
    pub(super) fn decode<'a>(reader: &mut Reader<'a>) -> Result<(Self, &'a [u8]), Malformed> {
        let application = parameter(reader, APPLICATION, Reader::u64)?;
        let channels = Channels::decode(&mut value(reader, CHANNELS)?)?;
        let max_datagram = parameter(reader, MAX_DATAGRAM, Reader::u16)?;
        let max_packet = parameter(reader, MAX_PACKET, Reader::u32)?;
        let receive_budget = parameter(reader, RECEIVE_BUDGET, Reader::u32)?;
        let [frame_window_log2, packet_window_log2] =
            parameter(reader, WINDOWS, Reader::u16)?.to_le_bytes();
        let mut offer = Self {
            application,
            channels,
            max_datagram,
            max_packet,
            receive_budget,
            frame_window_log2,
            packet_window_log2,
            send_rate: parameter(reader, SEND_RATE, Reader::u32)?,
            receive_rate: parameter(reader, RECEIVE_RATE, Reader::u32)?,
            integrity: Integrity::decode(parameter(reader, INTEGRITY, Reader::u8)?)?,
            features: parameter(reader, FEATURES, Reader::u32)?,
            path_mtu: None,
            sealed: Suites::default(),
            timeout_ms: None,
        };
        let greeting = offer.decode_optional(reader)?;
        if offer.is_sane() {
            Ok((offer, greeting))
        } else {
            Err(Malformed::BadValue)
        }
    }

    /// Reads the parameters that may be absent, and the greeting.
    fn decode_optional<'a>(&mut self, reader: &mut Reader<'a>) -> Result<&'a [u8], Malformed> {
        let mut last = FEATURES;
        let mut greeting: &[u8] = &[];
        while reader.remaining() != 0 {
            let (kind, mut value) = any_value(reader)?;
            // Ascending order gives each offer one spelling, and each type at most once.
            if kind <= last {
                return Err(Malformed::UnknownType);
            }
            last = kind;
            match kind {
                PATH_MTU => self.path_mtu = Some(all_of(value, Reader::u16)?),
                SEALED => self.sealed = Suites::decode(value.rest())?,
                TIMEOUT => {
                    let timeout = NonZeroU32::new(all_of(value, Reader::u32)?);
                    self.timeout_ms = Some(timeout.ok_or(Malformed::BadValue)?);
                }
                // An empty greeting is told by leaving it out: one spelling.
                GREETING if value.remaining() == 0 => return Err(Malformed::BadValue),
                GREETING => greeting = value.rest(),
                // A type that is not known yet tells what its receiver can do without (`docs/wire.md`, "What
                // may change"; `deviations.md` D14).
                _ => {}
            }
        }
        Ok(greeting)
    }

    /// Whether every field is in its range.
    pub(crate) fn is_sane(&self) -> bool {
        let window = 4..=16;
        // The longest packet must fit into the budget, or it would be sent and never taken.
        let least_budget = self.max_packet.checked_add(PACKET_CHARGE);
        self.channels.count() > 0
            && self.max_datagram >= MIN_MAX_DATAGRAM
            && self.max_packet > 0
            && least_budget.is_some_and(|least| self.receive_budget >= least)
            && window.contains(&self.frame_window_log2)
            && window.contains(&self.packet_window_log2)
            && self.send_rate > 0
            && self.receive_rate > 0
            && self.path_mtu.is_none_or(|mtu| mtu > self.max_datagram)
    }
}

fn write_u32(writer: &mut Writer<'_>, kind: u8, value: u32) -> Result<(), NoRoom> {
    writer.bytes(&[kind, 4])?;
    writer.u32(value)
}

/// Writes a parameter with a value of up to 255 bytes, the most that its length can tell.
fn write_bytes(writer: &mut Writer<'_>, kind: u8, value: &[u8]) -> Result<(), NoRoom> {
    let length = u8::try_from(value.len()).map_err(|_| NoRoom)?;
    writer.bytes(&[kind, length])?;
    writer.bytes(value)
}

/// Writes the greeting behind an offer, if it is not empty.
pub(super) fn encode_greeting(writer: &mut Writer<'_>, greeting: &[u8]) -> Result<(), NoRoom> {
    if greeting.is_empty() {
        return Ok(());
    }
    write_bytes(writer, GREETING, greeting)
}

/// Bytes of the encoded greeting.
pub(super) const fn greeting_length(greeting: &[u8]) -> usize {
    match greeting.len() {
        0 => 0,
        length => length.saturating_add(2),
    }
}

/// Reads the next parameter: its type and its value.
fn any_value<'a>(reader: &mut Reader<'a>) -> Result<(u8, Reader<'a>), Malformed> {
    let kind = reader.u8()?;
    let length = usize::from(reader.u8()?);
    Ok((kind, Reader::new(reader.bytes(length)?)))
}

/// Reads the value of the next parameter, which must be of this type.
fn value<'a>(reader: &mut Reader<'a>, kind: u8) -> Result<Reader<'a>, Malformed> {
    if reader.u8()? != kind {
        return Err(Malformed::UnknownType);
    }
    let length = usize::from(reader.u8()?);
    Ok(Reader::new(reader.bytes(length)?))
}

/// Reads a parameter of this type that is one integer.
fn parameter<'a, T>(
    reader: &mut Reader<'a>,
    kind: u8,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, ReadError>,
) -> Result<T, Malformed> {
    all_of(value(reader, kind)?, read)
}

/// Reads a value that is one integer and nothing else.
fn all_of<'a, T>(
    mut value: Reader<'a>,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, ReadError>,
) -> Result<T, Malformed> {
    // Too short a value is a bad one: the datagram itself does not end too early.
    let read = read(&mut value).map_err(|_| Malformed::BadValue)?;
    if value.remaining() == 0 {
        Ok(read)
    } else {
        Err(Malformed::BadValue)
    }
}

/// The channels that a host offers, and the priority at which it sends on each (§3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Channels {
    /// 1 to 255.
    count: u8,
    /// A bit for each channel, set for high priority. 0 beyond `count`, so that equality can be derived.
    high: [u32; 8],
}

impl Channels {
    /// This number of channels, at least one, of low priority.
    pub(crate) const fn new(count: u8) -> Self {
        Self {
            count,
            high: [0; 8],
        }
    }

    pub(crate) const fn count(&self) -> u8 {
        self.count
    }

    pub(crate) fn is_high(&self, channel: u8) -> bool {
        let word = self.high.get(usize::from(channel >> 5));
        word.is_some_and(|word| word.wrapping_shr(u32::from(channel)) & 1 == 1)
    }

    /// Sets the priority of a channel. Does nothing for a channel that does not exist.
    pub(crate) fn set_high(&mut self, channel: u8, high: bool) {
        if channel >= self.count {
            return;
        }
        if let Some(word) = self.high.get_mut(usize::from(channel >> 5)) {
            let bit = 1_u32.wrapping_shl(u32::from(channel));
            *word = if high { *word | bit } else { *word & !bit };
        }
    }

    /// Bytes of the encoding, 65 at most: one for the count, and one for each four channels.
    fn encoded_length(&self) -> u8 {
        self.count.div_ceil(4).saturating_add(1)
    }

    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), NoRoom> {
        writer.u8(self.count)?;
        for first in (0..self.count).step_by(4) {
            // Four channels of two bits each, from the low bits up.
            let bits = [(0, 0x01), (1, 0x04), (2, 0x10), (3, 0x40)];
            writer.u8(bits.iter().fold(0, |byte, (step, bit)| {
                let high = self.is_high(first.saturating_add(*step));
                if high { byte | bit } else { byte }
            }))?;
        }
        Ok(())
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let count = reader.u8().map_err(|_| Malformed::BadValue)?;
        let mut channels = Self::new(count);
        if count == 0 || reader.remaining() != usize::from(count.div_ceil(4)) {
            return Err(Malformed::BadValue);
        }
        for first in (0..count).step_by(4) {
            let mut byte = reader.u8()?;
            for channel in first..=first.saturating_add(3) {
                // `channel < first` where the sum has saturated: beyond channel 254.
                let spare = channel >= count || channel < first;
                // The upper bit of each pair is kept for channels without order.
                if byte & 0b10 != 0 || (spare && byte & 0b01 != 0) {
                    return Err(Malformed::Reserved);
                }
                channels.set_high(channel, byte & 0b01 != 0);
                byte >>= 2;
            }
        }
        Ok(channels)
    }
}

/// The numbers of up to four suites, the best first, each once and none 0. Empty if the sender does not seal:
/// then the parameter is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Suites {
    /// 0 beyond the last suite.
    numbers: [u8; Self::MAX],
}

impl Suites {
    pub(crate) const MAX: usize = 4;

    /// Those of a host that does not seal.
    pub(crate) const NONE: Self = Self {
        numbers: [0; Self::MAX],
    };

    /// Reads the suites of a parameter, at least one.
    pub(super) fn decode(value: &[u8]) -> Result<Self, Malformed> {
        let mut suites = Self::default();
        for (place, &number) in value.iter().enumerate() {
            let seen = suites.numbers.contains(&number); // 0 is, while there is room
            // No place is left for a fifth suite.
            let free = suites.numbers.get_mut(place).filter(|_| !seen);
            *free.ok_or(Malformed::BadValue)? = number;
        }
        if suites.is_empty() {
            return Err(Malformed::BadValue);
        }
        Ok(suites)
    }

    /// These suites; `None` if they are none, too many, or not distinct.
    #[cfg(any(feature = "seal", feature = "serde"))]
    pub(crate) fn of(numbers: &[u8]) -> Option<Self> {
        Self::decode(numbers).ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.as_bytes().is_empty()
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        let end = self.numbers.iter().position(|&number| number == 0);
        let end = end.unwrap_or(Self::MAX);
        self.numbers.get(..end).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_are_one_to_four_each_once_and_none_0() {
        for good in [&[1][..], &[255], &[2, 1], &[4, 3, 2, 1]] {
            assert_eq!(Suites::decode(good).unwrap().as_bytes(), good);
        }
        for bad in [
            &[][..],
            &[0],
            &[0, 1],
            &[1, 0],
            &[1, 2, 3, 0],
            &[1, 1],
            &[1, 2, 1],
            &[1, 2, 3, 4, 5],
            &[1, 2, 3, 4, 0],
            &[1, 2, 3, 4, 1],
        ] {
            assert_eq!(Suites::decode(bad), Err(Malformed::BadValue), "{bad:?}");
        }
        assert!(Suites::default().is_empty());
        assert_eq!(Suites::default().as_bytes(), b"");
    }
}
