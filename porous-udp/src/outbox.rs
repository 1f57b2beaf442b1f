//! Datagrams on their way to the socket, in the order in which they were made, and the datagrams that
//! their addresses refused, while the others go on.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::net::SocketAddr;
use core::ops::Range;
use core::time::Duration;

use porous_proto::{Ecn, Instant};

/// The most bytes that one call can send: the largest UDP payload of an IPv4 packet (RFC 768, RFC 791).
pub(crate) const BATCH: usize = 65_507;

/// The most batches that are made before they are sent, so that the end of a call's time is noticed soon.
const BATCHES: usize = 64;

/// The most bytes that may wait for addresses that refuse datagrams: half of the buffer stays for others.
const REFUSED_BYTES: usize = BATCH / 2;

/// Addresses in a row that refuse before the others wait for the next turn: the socket may have no room
/// for any. Also the most addresses in a row whose retries fail in a turn before new datagrams are tried.
const REFUSED_IN_A_ROW: usize = 4;

/// How long a datagram waits for an address that refuses it while others get theirs. An older datagram is
/// of no use to a game, and a close must not wait for it.
const PATIENCE: Duration = Duration::from_millis(100);

/// Datagrams to one address with one mark, one behind the other: all of one length, but for the
/// last.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) to: SocketAddr,
    pub(crate) ecn: Ecn,
    /// The length of each datagram but the last.
    pub(crate) segment: usize,
    /// True if it answers a host that is no peer.
    pub(crate) to_stranger: bool,
    at: Range<usize>,
    /// True while a datagram can still be added: none of them is shorter than the first.
    open: bool,
    /// When its address refused it, or when it was made if that address had refused others before.
    since: Instant,
}

impl Batch {
    /// Datagrams in the batch.
    pub(crate) fn count(&self) -> usize {
        self.at.len().div_ceil(self.segment.max(1)).max(1)
    }
}

#[cfg(test)]
impl Batch {
    /// An empty batch that tells how to send.
    pub(crate) const fn new(to: SocketAddr, ecn: Ecn, segment: usize) -> Self {
        Self {
            to,
            ecn,
            segment,
            to_stranger: false,
            at: 0..0,
            open: false,
            since: Instant::ZERO,
        }
    }
}

/// A datagram that was written into the room of the outbox.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    pub(crate) to: SocketAddr,
    pub(crate) ecn: Ecn,
    pub(crate) to_stranger: bool,
    pub(crate) len: usize,
}

/// Datagrams that were made and not sent yet.
#[derive(Debug)]
pub(crate) struct Outbox {
    buffer: Box<[u8]>,
    used: usize,
    batches: VecDeque<Batch>,
    /// Batches that their addresses refused, and batches that were made for these addresses since: they
    /// must not overtake.
    kept: VecDeque<Batch>,
    /// The addresses of the kept batches.
    refused: BTreeSet<SocketAddr>,
    /// Refused addresses that are to be tried again in this turn.
    retries: usize,
    /// Addresses that refused in this turn since one took a datagram.
    in_a_row: usize,
    /// True if any address took a datagram in this turn.
    has_passed: bool,
    /// Batches that were made since all were sent.
    made: usize,
}

impl Outbox {
    pub(crate) fn new() -> Self {
        Self {
            buffer: vec![0; BATCH].into_boxed_slice(),
            used: 0,
            batches: VecDeque::new(),
            kept: VecDeque::new(),
            refused: BTreeSet::new(),
            retries: 0,
            in_a_row: 0,
            has_passed: false,
            made: 0,
        }
    }

    /// A turn begins: addresses that refused may be tried again.
    pub(crate) fn begin(&mut self) {
        self.retries = self.refused.len();
        (self.in_a_row, self.has_passed) = (0, false);
    }

    /// Room for one more datagram of up to `len` bytes, if there is.
    pub(crate) fn room(&mut self, len: usize) -> Option<&mut [u8]> {
        let room = &mut self.buffer[self.used..];
        (room.len() >= len && self.made < BATCHES).then_some(room)
    }

    /// Takes a datagram that was written to the beginning of the [`room`](Self::room). It joins the last
    /// batch if it fits there and the batch then has at most `max_segments` datagrams. False if the
    /// datagram is lost, because its address refuses datagrams and too many wait already.
    pub(crate) fn push(&mut self, made: Made, max_segments: usize, now: Instant) -> bool {
        let Made {
            to,
            ecn,
            to_stranger,
            len,
        } = made;
        let is_refused = self.refused.contains(&to);
        // An answer to a stranger never waits: a forged request would take room of the peers.
        if is_refused && (to_stranger || self.kept_bytes() > REFUSED_BYTES) {
            return false;
        }
        let at = self.used..self.used + len;
        self.used = at.end;
        if let Some(last) = self.batches.back_mut().filter(|_| !is_refused) {
            if last.open
                && (last.to, last.ecn, last.to_stranger) == (to, ecn, to_stranger)
                && (1..=last.segment).contains(&len)
                && last.count() < max_segments
            {
                // Offload cuts a batch at multiples of one length, so a shorter datagram can only be the
                // last.
                last.open = len == last.segment;
                last.at.end = at.end;
                return true;
            }
        }
        self.made += 1;
        let batch = Batch {
            to,
            ecn,
            segment: len,
            to_stranger,
            // An empty datagram has no length that others could share.
            open: len > 0,
            at,
            since: now,
        };
        if is_refused {
            self.kept.push_back(batch);
        } else {
            self.batches.push_back(batch);
        }
        true
    }

    fn kept_bytes(&self) -> usize {
        self.kept.iter().map(|batch| batch.at.len()).sum()
    }

    /// The batch to be sent next in this turn, and its bytes, if there is one and the socket may have room.
    pub(crate) fn first(&self) -> Option<(&Batch, &[u8])> {
        // Refused datagrams first, as they are the oldest.
        let batch = if self.retries > 0 {
            self.kept.front()
        } else {
            let may_pass = self.in_a_row < REFUSED_IN_A_ROW;
            self.batches.front().filter(|_| may_pass)
        }?;
        Some((batch, &self.buffer[batch.at.clone()]))
    }

    /// From the [first](Self::first) batch on, those of one datagram to a peer with the mark of the first,
    /// and their bytes: one call may send many of them.
    pub(crate) fn singles(&self) -> impl Iterator<Item = (&Batch, &[u8])> {
        let may_pass = self.retries == 0 && self.in_a_row < REFUSED_IN_A_ROW;
        let mark = self.batches.front().map(|first| first.ecn);
        let is_single = move |batch: &&Batch| {
            may_pass && !batch.to_stranger && Some(batch.ecn) == mark && batch.count() == 1
        };
        let batches = self.batches.iter().take_while(is_single);
        batches.map(|batch| (batch, &self.buffer[batch.at.clone()]))
    }

    /// Notes that this number of [singles](Self::singles) were sent.
    pub(crate) fn advance_singles(&mut self, sent: usize) {
        for _ in 0..sent {
            let bytes = self.first().map_or(0, |(_, datagram)| datagram.len());
            self.advance(bytes);
        }
    }

    /// Notes that the next `bytes` of the [first](Self::first) batch were sent, or are lost.
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.has_passed = true;
        if self.retries > 0 {
            self.retries -= 1;
            self.take_back();
        }
        self.in_a_row = 0;
        if let Some(first) = self.batches.front_mut() {
            first.at.start += bytes;
            if first.at.is_empty() {
                self.drop_first();
            }
        }
    }

    /// Puts all kept batches of the first one's address back in front, since the address takes datagrams
    /// again.
    fn take_back(&mut self) {
        let Some(to) = self.kept.front().map(|first| first.to) else {
            return;
        };
        self.refused.remove(&to);
        let (mut back, kept) = split(&mut self.kept, to);
        self.kept = kept;
        back.append(&mut self.batches);
        self.batches = back;
    }

    /// Gives the first batch up. Returns how many datagrams it had.
    pub(crate) fn drop_first(&mut self) -> u64 {
        let count = self.batches.pop_front().map_or(0, |first| first.count());
        if self.is_empty() {
            // Nothing refers to the buffer any more, so there is nothing to pack.
            self.used = 0;
        }
        count as u64
    }

    /// Notes that the address of the [first](Self::first) batch does not take it now. Other batches to this
    /// address are not tried in this turn.
    pub(crate) fn refuse(&mut self, now: Instant) {
        self.in_a_row += 1;
        if self.retries > 0 {
            // To the end of the line: the other refused addresses are tried before this one again.
            if let Some(to) = self.kept.front().map(|first| first.to) {
                let (mut last, kept) = split(&mut self.kept, to);
                self.kept = kept;
                self.kept.append(&mut last);
            }
            self.retries -= 1;
            if self.in_a_row >= REFUSED_IN_A_ROW {
                // Or many addresses that refuse would take the whole turn from those that do not.
                self.retries = 0;
            }
            if self.retries == 0 {
                self.in_a_row = 0;
            }
        } else if let Some(to) = self.batches.front().map(|first| first.to) {
            self.refused.insert(to);
            let (refused, rest) = split(&mut self.batches, to);
            self.batches = rest;
            for mut batch in refused {
                // An answer to a stranger is dropped instead of kept.
                if !batch.to_stranger {
                    batch.since = now;
                    self.kept.push_back(batch);
                }
            }
        }
    }

    /// Moves the datagrams that are left to the beginning of the buffer, after all that can be sent now was
    /// sent.
    pub(crate) fn pack(&mut self) {
        (self.made, self.retries) = (0, 0);
        let batches = self.batches.iter_mut().chain(&mut self.kept);
        let mut places: Vec<_> = batches.map(|batch| &mut batch.at).collect();
        // In the order of the buffer, so that no copy overwrites bytes that were not moved yet.
        places.sort_unstable_by_key(|at| at.start);
        self.used = 0;
        for at in places {
            let (from, len) = (at.clone(), at.len());
            *at = self.used..self.used + len;
            self.buffer.copy_within(from, self.used);
            self.used += len;
        }
    }

    /// How many addresses refuse, or `None` if some were not tried, because the socket seems to have no room.
    pub(crate) fn refused(&self) -> Option<usize> {
        self.batches.is_empty().then_some(self.refused.len())
    }

    /// True if any address took a datagram in this turn.
    pub(crate) const fn has_passed(&self) -> bool {
        self.has_passed
    }

    /// Gives the batches up that have waited too long for addresses that refuse them. Returns how many
    /// datagrams they had.
    pub(crate) fn drop_old(&mut self, now: Instant) -> u64 {
        let mut lost = 0;
        self.kept.retain(|batch| {
            let is_old = now.saturating_duration_since(batch.since) >= PATIENCE;
            lost += u64::from(is_old) * batch.count() as u64;
            !is_old
        });
        if lost > 0 {
            // An address without kept datagrams counts as refusing no more: the next one tries it anew.
            self.refused = self.kept.iter().map(|batch| batch.to).collect();
            self.pack();
        }
        lost
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.batches.is_empty() && self.kept.is_empty()
    }

    /// True if a datagram for a peer waits whose address has not refused.
    pub(crate) fn has_more_than_answers(&self) -> bool {
        self.batches.iter().any(|batch| !batch.to_stranger)
    }
}

/// The batches to this address, and the others.
fn split(batches: &mut VecDeque<Batch>, to: SocketAddr) -> (VecDeque<Batch>, VecDeque<Batch>) {
    core::mem::take(batches)
        .into_iter()
        .partition(|batch| batch.to == to)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: usize = 64;

    fn address(port: u16) -> SocketAddr {
        ([127, 0, 0, 1], port).into()
    }

    fn made(port: u16, len: usize) -> Made {
        Made {
            to: address(port),
            ecn: Ecn::NotEct,
            to_stranger: false,
            len,
        }
    }

    fn outbox(datagrams: &[(u16, usize)], max_segments: usize) -> Outbox {
        let mut outbox = Outbox::new();
        for (index, (port, len)) in datagrams.iter().enumerate() {
            let mark = u8::try_from(index).unwrap();
            outbox.room(*len).unwrap()[..*len].fill(mark);
            assert!(outbox.push(made(*port, *len), max_segments, Instant::ZERO));
        }
        outbox
    }

    /// Sends all batches whole. Returns the port, the segment length and the length of each.
    fn batches(mut outbox: Outbox) -> Vec<(u16, usize, usize)> {
        let mut found = Vec::new();
        while let Some((batch, bytes)) = outbox.first() {
            let len = bytes.len();
            found.push((batch.to.port(), batch.segment, len));
            outbox.advance(len);
        }
        assert_eq!(outbox.used, 0);
        found
    }

    #[test]
    fn equal_datagrams_to_one_address_go_together_and_a_shorter_one_ends_them() {
        let sent = [(1, 5), (1, 5), (1, 3), (1, 3)];
        assert_eq!(batches(outbox(&sent, MANY)), [(1, 5, 13), (1, 3, 3)]);
        let sent = [(1, 3), (1, 5), (2, 5), (1, 5)];
        let alone = [(1, 3, 3), (1, 5, 5), (2, 5, 5), (1, 5, 5)];
        assert_eq!(batches(outbox(&sent, MANY)), alone);
    }

    #[test]
    fn a_batch_holds_no_more_than_one_call_can_send() {
        let sent = [(1, 2), (1, 2), (1, 2), (1, 1)];
        assert_eq!(batches(outbox(&sent, 2)), [(1, 2, 4), (1, 2, 3)]);
        assert_eq!(batches(outbox(&sent, 1)).len(), 4);
    }

    #[test]
    fn datagrams_with_different_marks_share_no_batch() {
        let mut outbox = Outbox::new();
        for ecn in [Ecn::Ect0, Ecn::Ect0, Ecn::NotEct, Ecn::Ect0] {
            let made = Made { ecn, ..made(1, 7) };
            assert!(outbox.push(made, MANY, Instant::ZERO));
        }
        let mut found = Vec::new();
        while let Some((batch, bytes)) = outbox.first() {
            let len = bytes.len();
            found.push((batch.ecn, len));
            outbox.advance(len);
        }
        assert_eq!(found, [(Ecn::Ect0, 14), (Ecn::NotEct, 7), (Ecn::Ect0, 7)]);
    }

    #[test]
    fn empty_datagrams_stay_alone() {
        let sent = [(1, 0), (1, 0), (1, 2), (1, 0)];
        let found = batches(outbox(&sent, MANY));
        assert_eq!(found, [(1, 0, 0), (1, 0, 0), (1, 2, 2), (1, 0, 0)]);
    }

    #[test]
    fn a_part_of_a_batch_may_leave_first() {
        let mut outbox = outbox(&[(1, 2), (1, 2), (1, 1)], MANY);
        outbox.advance(2);
        let (batch, bytes) = outbox.first().unwrap();
        assert_eq!((batch.segment, bytes), (2, &[1, 1, 2][..]));
    }

    #[test]
    fn there_is_room_until_the_buffer_is_full_and_again_when_it_is_empty() {
        let mut outbox = Outbox::new();
        let mut made = 0;
        while outbox.room(1200).is_some() {
            assert!(outbox.push(self::made(1, 1200), MANY, Instant::ZERO));
            made += 1;
        }
        assert_eq!(made, BATCH / 1200);
        assert_eq!(outbox.first().unwrap().1.len(), made * 1200);
        outbox.advance(made * 1200);
        assert!(outbox.is_empty());
        assert!(outbox.room(BATCH).is_some());
    }
}
