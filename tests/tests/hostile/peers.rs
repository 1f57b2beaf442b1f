//! What cases of connected enemies need beyond the scene.
//!
//! Signalling to send and to read, and an enemy that answers at once.

use core::time::Duration;

use porous_proto::{
    ChannelId, Disposition, Ignored, Malformed, Mode, PeerId, PeerStats, SendError, SendOptions,
};
use porous_sim::rand_core::Rng;
use porous_sim::{ChaCha8Rng, below};
use porous_tests::encoder::{Ack, Message, Packet, Shape, varint};
use porous_tests::remote::Remote;

use crate::scene::{ENEMY, Scene};

/// A number below this one.
pub(crate) fn any(random: &mut ChaCha8Rng, end: u32) -> u32 {
    u32::try_from(below(random.next_u64(), end.into())).unwrap()
}

/// Flags of a frame: an acknowledgement follows, and it wants one.
pub(crate) const A: u8 = 4;
pub(crate) const R: u8 = 1;

/// Modes of packets, as the wire has them.
pub(crate) const UNRELIABLE: u8 = 0;
pub(crate) const RELIABLE: u8 = 1;
pub(crate) const PASSIVE: u8 = 2;

/// Refused for this.
pub(crate) const fn malformed(how: Malformed) -> Disposition {
    Disposition::Ignored(Ignored::Malformed(how))
}

/// Names something that cannot be.
pub(crate) const BAD: Disposition = Disposition::Ignored(Ignored::BadMessage);
pub(crate) const BAD_ACK: Disposition = Disposition::Ignored(Ignored::BadAck);
pub(crate) const OLD: Disposition = Disposition::Ignored(Ignored::TooOld);
pub(crate) const TWICE: Disposition = Disposition::Ignored(Ignored::Duplicate);
pub(crate) const FULL: Disposition = Disposition::Ignored(Ignored::OverBudget);

#[track_caller]
pub(crate) fn assert_taken(taken: Disposition) {
    assert!(matches!(taken, Disposition::Handled(_)), "{taken:?}");
}

/// True if the datagram was taken; otherwise the budget is full.
#[track_caller]
pub(crate) fn fits(disposition: Disposition) -> bool {
    let fits = disposition != FULL;
    if fits {
        assert_taken(disposition);
    }
    fits
}

pub(crate) fn control(subtype: u8, fields: &[u8]) -> Message {
    Message::Control([&[subtype], fields].concat())
}

pub(crate) fn noop() -> Message {
    control(0, &[])
}

pub(crate) fn ping(id: u16) -> Message {
    control(1, &id.to_le_bytes())
}

pub(crate) fn pong(id: u16) -> Message {
    control(2, &id.to_le_bytes())
}

/// The window of this channel has passed this packet.
pub(crate) fn window(channel: u8, id: u32) -> Message {
    control(3, &[&[channel], &id.to_le_bytes()[..]].concat())
}

/// A sentinel (4) or a tombstone (5).
pub(crate) fn marker(subtype: u8, channel: u8, id: u16, dependency: u32) -> Message {
    let mut fields = vec![channel];
    fields.extend(id.to_le_bytes());
    varint(&mut fields, dependency);
    control(subtype, &fields)
}

pub(crate) fn sentinel(channel: u8, id: u16, dependency: u32) -> Message {
    marker(4, channel, id, dependency)
}

pub(crate) fn tombstone(channel: u8, id: u16, dependency: u32) -> Message {
    marker(5, channel, id, dependency)
}

pub(crate) fn limits(serial: u16, rate: u32) -> Message {
    control(
        6,
        &[&serial.to_le_bytes()[..], &rate.to_le_bytes()].concat(),
    )
}

pub(crate) fn challenge(data: u64) -> Message {
    control(7, &data.to_le_bytes())
}

pub(crate) fn response(data: u64) -> Message {
    control(8, &data.to_le_bytes())
}

/// A packet of `len` bytes that depends on nothing.
pub(crate) fn packet(mode: u8, channel: u8, id: u32, len: usize) -> Packet {
    Packet::whole(mode, channel, id, 0, vec![7; len])
}

/// What the host has said to the enemy in one datagram.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// The frame's id; its low bytes, where nothing more is known.
    pub(crate) id: u32,
    /// How many bytes of the id are sent.
    pub(crate) width: u8,
    /// Subtypes and fields of the signalling that leads the messages.
    pub(crate) controls: Vec<(u8, Vec<u8>)>,
    /// The bytes of packets that follow.
    pub(crate) data: usize,
}

/// The length of the check at the end.
const CHECK: usize = 4;

/// Reads what a host writes: signalling before packets.
pub(crate) fn read_frame(datagram: &[u8]) -> Option<Heard> {
    let first = *datagram.first().filter(|&&first| first >> 6 == 1)?;
    let width = (first >> 4 & 3) + 1;
    let body = datagram.get(5..datagram.len() - CHECK)?;
    let (low, mut rest) = body.split_at_checked(width.into())?;
    if first & 4 != 0 {
        rest = behind_ack(rest)?;
    }
    let id = low
        .iter()
        .rev()
        .fold(0, |id, &byte| id << 8 | u32::from(byte));
    let mut heard = Heard {
        id,
        width,
        ..Heard::default()
    };
    while let [0xC0, subtype, fields @ ..] = rest {
        let lengths = [0, 2, 2, 5, 0, 0, 6, 8, 8, 0, 3, 7];
        let len = lengths.get(usize::from(*subtype))?;
        heard
            .controls
            .push((*subtype, fields.get(..*len)?.to_vec()));
        rest = &fields[*len..];
    }
    heard.data = rest.len();
    Some(heard)
}

/// The distance from `id` back to the newest id with these low bytes.
fn behind(id: u32, low: u32, width: u8) -> u32 {
    id.wrapping_sub(low) & u32::MAX >> (32 - 8 * u32::from(width))
}

/// The enemy hears these datagrams, as far as it has not heard them before: what they say. The last
/// of them is no older than what was acknowledged, which was heard (`docs/wire.md`, "Frame ids").
pub(crate) fn hear(enemy: &mut Remote<u32>, datagrams: &[&[u8]]) -> Vec<Heard> {
    let frames = datagrams.iter().rev();
    let frames = frames.filter_map(|datagram| Some((read_frame(datagram)?, *datagram)));
    let mut frames: Vec<_> = frames.collect();
    let Some(&(Heard { id: low, width, .. }, newest)) = frames.first() else {
        return Vec::new();
    };
    let edge = enemy.newest.0.wrapping_add(1 << (8 * u32::from(width) - 2));
    let mut above = edge.wrapping_sub(behind(edge, low, width)).wrapping_add(1);
    for (frame, _) in &mut frames {
        above = above.wrapping_sub(1);
        above = above.wrapping_sub(behind(above, frame.id, frame.width));
        frame.id = above;
    }
    for (frame, datagram) in frames.iter().rev() {
        if !enemy.heard.contains_key(&frame.id) {
            enemy.hear(datagram);
        }
    }
    enemy.hear(newest);
    frames.into_iter().rev().map(|(frame, _)| frame).collect()
}

fn behind_ack(block: &[u8]) -> Option<&[u8]> {
    let head = *block.first()?;
    let [width, map, delay] = [(head >> 6) + 1, head >> 3 & 7, head >> 2 & 1].map(usize::from);
    let mut rest = block.get(1 + width + map + delay..)?;
    if head & 2 != 0 {
        let varints = 2 * usize::from(*rest.first()?);
        rest = &rest[1..];
        for _ in 0..varints {
            let end = rest.iter().position(|byte| byte & 0x80 == 0)?;
            rest = &rest[end + 1..];
        }
    }
    Some(rest)
}

impl Scene {
    /// The enemy at [`ENEMY`] as the host knows it.
    pub(crate) fn peer(&self) -> PeerId {
        let host = &self.host.host;
        let mut peers = host.all_peers().map(|(id, _)| id);
        peers.find(|id| host.address(*id) == Some(ENEMY)).unwrap()
    }

    pub(crate) fn stats(&self) -> PeerStats {
        self.host.host.peer(self.peer()).unwrap().stats()
    }

    /// What an acknowledgement has a say in: round trips, windows, what was lost and what waits.
    pub(crate) fn judged(&self) -> PeerStats {
        let mut stats = self.stats();
        (stats.datagrams_sent, stats.datagrams_received) = (0, 0);
        (
            stats.bytes_sent,
            stats.bytes_received,
            stats.answers_withheld,
        ) = (0, 0, 0);
        // Counters of all frames, which the acknowledgement itself moves.
        (stats.frames_received, stats.frames_missing) = (0, 0);
        (stats.send_rate, stats.receive_rate) = (0, 0);
        (stats.loss_received, stats.quality) = (0, 0);
        stats
    }

    /// The host queues a packet of `len` bytes for the enemy.
    pub(crate) fn queue(
        &mut self,
        channel: u8,
        options: impl Into<SendOptions>,
        len: usize,
    ) -> Result<(), SendError> {
        let peer = self.peer();
        // What the application makes counts, since the host holds it.
        self.host
            .call(|host| host.send(peer, ChannelId(channel), vec![5; len], options))
    }

    /// The host sends `packets` of 1000 bytes, as far as it may; returns the frames that left.
    pub(crate) fn chatter(&mut self, enemy: &mut Remote<u32>, packets: usize) -> Vec<Heard> {
        for _ in 0..packets {
            assert_eq!(self.queue(0, Mode::Reliable, 1000), Ok(()));
        }
        self.flush();
        self.overhear(enemy)
    }

    /// The enemy sends its next frame with these flags and these bytes behind its id.
    pub(crate) fn send_raw(
        &mut self,
        enemy: &mut Remote<u32>,
        flags: u8,
        rest: &[u8],
    ) -> Disposition {
        let shape = Shape {
            check: None,
            ..enemy.shape
        };
        let frame = enemy.short(None, Vec::new());
        let mut datagram = frame.encode(&shape);
        datagram[0] |= flags;
        datagram.extend(rest);
        // The newest id that a block acknowledges leads it.
        let acked = rest.split_first().filter(|_| flags & 4 != 0);
        let acked = acked.and_then(|(head, rest)| rest.get(..usize::from(head >> 6) + 1));
        let low = |bytes: &[u8]| {
            bytes
                .iter()
                .rev()
                .fold(0, |id, &byte| id << 8 | u64::from(byte))
        };
        if let Some(check) = enemy.shape.check {
            check.append(frame.id, acked.map(low), &mut datagram);
        }
        self.deliver(enemy.address, &datagram)
    }

    /// What was said to the enemy since it last listened.
    pub(crate) fn overhear(&mut self, enemy: &mut Remote<u32>) -> Vec<Heard> {
        let mut said = core::mem::take(&mut self.said);
        said.retain(|(to, _)| *to == enemy.address);
        let said: Vec<_> = said.iter().map(|(_, said)| &said[..]).collect();
        hear(enemy, &said)
    }

    /// Everything that the enemy was sent by [`chatter`](Self::chatter) has arrived and was read, it
    /// says.
    pub(crate) fn agree(&mut self, enemy: &mut Remote<u32>) -> Disposition {
        self.overhear(enemy);
        let (ack, stats) = (all_up_to(enemy, enemy.newest.0), self.stats());
        // A packet of 1000 bytes has a frame for itself.
        let packets = u32::try_from(stats.frames_sent - stats.frames_lost).unwrap();
        let passed = packets.checked_sub(1).map(|newest| window(0, newest));
        self.send(enemy, Some(ack), passed.into_iter().collect())
    }

    /// Lets time pass. Whenever the host has said something the enemy may do something about it.
    pub(crate) fn live(
        &mut self,
        enemy: &mut Remote<u32>,
        time: Duration,
        mut act: impl FnMut(&mut Self, &mut Remote<u32>, Vec<Heard>),
    ) {
        let end = self.now + time;
        while self.now < end {
            let due = self.host.host.poll_timeout().unwrap_or(end).min(end);
            self.pass(due.saturating_duration_since(self.now));
            let mut rounds = 0..10_000;
            loop {
                let heard = self.overhear(enemy);
                if heard.is_empty() {
                    break;
                }
                assert!(rounds.next().is_some(), "talk without end in no time");
                act(self, enemy, heard);
            }
        }
    }
}

/// Pongs for all pings.
pub(crate) fn pongs(heard: &[Heard]) -> Vec<Message> {
    let controls = heard.iter().flat_map(|frame| &frame.controls);
    let pings = controls.filter(|(subtype, _)| *subtype == 1);
    pings.map(|(_, fields)| control(2, fields)).collect()
}

/// An acknowledgement of one frame and nothing else.
pub(crate) const fn ack_of(largest: u32) -> Ack {
    Ack {
        largest,
        width: 4,
        map: if largest < 32 {
            // What is below the first frame counts as received.
            u32::MAX << largest
        } else {
            0
        },
        delay: None,
        ranges: Vec::new(),
        marks: (false, 0),
        nonces: false,
    }
}

/// An acknowledgement of this frame and of those before it that the enemy has heard, as far as a host
/// keeps them in mind.
pub(crate) fn all_up_to(enemy: &Remote<u32>, largest: u32) -> Ack {
    let mut ack = ack_of(largest);
    let heard = |id: &u32| enemy.heard.contains_key(id);
    for (bit, id) in (0..largest).rev().take(32).enumerate() {
        ack.map |= u32::from(heard(&id)) << bit;
    }
    let oldest = largest.saturating_sub(255);
    let mut end = largest.saturating_sub(32).max(oldest);
    while let Some((&newest, _)) = enemy.heard.range(oldest..end).next_back() {
        let mut older = (oldest..newest).rev();
        let first = older.find(|id| !heard(id)).map_or(oldest, |id| id + 1);
        if ack.ranges.len() < 16 {
            ack.ranges.push((end - 1 - newest, newest + 1 - first));
        }
        end = first;
    }
    ack
}
