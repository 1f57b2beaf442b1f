//! What an end brings to a connection (§2.3): a request and its acknowledgement carry it in full,
//! as a list of typed parameters, each exactly once and in ascending order.

use crate::wire::{NoRoom, ReadError, Reader, Writer};

use super::{Integrity, Malformed};

/// The complete offer of one end. Both ends apply the same function to the two offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    /// Which application, and which version of its protocol: both ends must agree.
    pub(crate) application: u64,
    pub(crate) channels: Channels,
    /// The longest datagram that this end will receive, at least 512.
    pub(crate) max_datagram: u16,
    /// The longest packet that this end will receive, at least 1.
    pub(crate) max_packet: u32,
    /// Memory for received packets in bytes, each charged [`PACKET_CHARGE`] more than its length.
    pub(crate) receive_budget: u32,
    /// log₂ N_P (1), 4 to 16.
    pub(crate) frame_window_log2: u8,
    /// log₂ N_Q (16), 4 to 16.
    pub(crate) packet_window_log2: u8,
    /// The most that this end will send, in bytes a second; `u32::MAX` for no limit, never 0.
    pub(crate) send_rate: u32,
    /// The most that this end wants to receive, likewise.
    pub(crate) receive_rate: u32,
    pub(crate) integrity: Integrity,
    /// Optional extensions, a bit each. Unknown ones are simply never agreed on.
    pub(crate) features: u32,
    /// The longest datagram that this end will receive if the path turns out to carry it (RFC 8899):
    /// longer than `max_datagram`. None: nothing longer than that is to be tried.
    pub(crate) path_mtu: Option<u16>,
}

/// What a packet costs a receiver beyond its bytes.
pub(crate) const PACKET_CHARGE: u32 = 64;

/// Every path carries a datagram of this length.
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

impl Offer {
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
        let Some(path_mtu) = self.path_mtu else {
            return Ok(());
        };
        writer.bytes(&[PATH_MTU, 2])?;
        writer.u16(path_mtu)
    }

    /// Reads an offer to the end of `reader`.
    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let application = parameter(reader, APPLICATION, Reader::u64)?;
        let channels = Channels::decode(&mut value(reader, CHANNELS)?)?;
        let max_datagram = parameter(reader, MAX_DATAGRAM, Reader::u16)?;
        let max_packet = parameter(reader, MAX_PACKET, Reader::u32)?;
        let receive_budget = parameter(reader, RECEIVE_BUDGET, Reader::u32)?;
        let [frame_window_log2, packet_window_log2] =
            parameter(reader, WINDOWS, Reader::u16)?.to_le_bytes();
        let offer = Self {
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
            path_mtu: match reader.remaining() {
                0 => None,
                _ => Some(parameter(reader, PATH_MTU, Reader::u16)?),
            },
        };
        if reader.remaining() != 0 {
            return Err(Malformed::UnknownType);
        }
        if offer.is_sane() {
            Ok(offer)
        } else {
            Err(Malformed::BadValue)
        }
    }

    /// Whether every field is in its range.
    pub(crate) fn is_sane(&self) -> bool {
        let window = 4..=16;
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

/// The value of the next parameter, which must be of this type.
fn value<'a>(reader: &mut Reader<'a>, kind: u8) -> Result<Reader<'a>, Malformed> {
    if reader.u8()? != kind {
        return Err(Malformed::UnknownType);
    }
    let length = usize::from(reader.u8()?);
    Ok(Reader::new(reader.bytes(length)?))
}

/// A parameter that is one integer.
fn parameter<'a, T>(
    reader: &mut Reader<'a>,
    kind: u8,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, ReadError>,
) -> Result<T, Malformed> {
    let mut value = value(reader, kind)?;
    let read = read(&mut value).map_err(|_| Malformed::BadValue)?;
    if value.remaining() == 0 {
        Ok(read)
    } else {
        Err(Malformed::BadValue)
    }
}

/// The channels of an end, and the priority at which it sends on each (§3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Channels {
    count: u8,
    /// A bit a channel: set for high priority. Zero beyond `count`.
    high: [u32; 8],
}

impl Channels {
    /// `count` channels of low priority; at least one.
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

    /// Sets the priority of a channel; nothing happens to a channel that does not exist.
    pub(crate) fn set_high(&mut self, channel: u8, high: bool) {
        if channel >= self.count {
            return;
        }
        if let Some(word) = self.high.get_mut(usize::from(channel >> 5)) {
            let bit = 1_u32.wrapping_shl(u32::from(channel));
            *word = if high { *word | bit } else { *word & !bit };
        }
    }

    /// A byte for the count, then one for every four channels: 65 at most.
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
