//! Datagrams on their way to the socket, in the order in which they were made.

use alloc::collections::VecDeque;
use core::net::SocketAddr;
use core::ops::Range;

use porous_proto::Ecn;

/// The most bytes that one call can send: what fits into an IPv4 packet (RFC 768, RFC 791).
const BATCH: usize = 65_507;

/// Datagrams to one address with one mark, one behind the other: all of one length, but for the
/// last.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) to: SocketAddr,
    pub(crate) ecn: Ecn,
    /// The length of each datagram but the last.
    pub(crate) segment: usize,
    at: Range<usize>,
    /// Whether a datagram can still be added.
    open: bool,
}

#[cfg(test)]
impl Batch {
    /// One that tells how to send, and holds nothing.
    pub(crate) const fn new(to: SocketAddr, ecn: Ecn, segment: usize) -> Self {
        Self {
            to,
            ecn,
            segment,
            at: 0..0,
            open: false,
        }
    }
}

/// Datagrams that were made and not sent yet. It is filled again only when it is empty: to make
/// more while the socket has no room would make what waits here old.
#[derive(Debug)]
pub(crate) struct Outbox {
    buffer: Box<[u8]>,
    used: usize,
    batches: VecDeque<Batch>,
}

impl Outbox {
    pub(crate) fn new() -> Self {
        Self {
            buffer: vec![0; BATCH].into_boxed_slice(),
            used: 0,
            batches: VecDeque::new(),
        }
    }

    /// Room for one more datagram of up to `len` bytes, if there is.
    pub(crate) fn room(&mut self, len: usize) -> Option<&mut [u8]> {
        let room = &mut self.buffer[self.used..];
        (room.len() >= len).then_some(room)
    }

    /// Says that a datagram was written to the beginning of the [`room`](Self::room). It joins the
    /// last batch if it fits, and if that then has no more than `max_segments` datagrams.
    pub(crate) fn push(&mut self, to: SocketAddr, ecn: Ecn, len: usize, max_segments: usize) {
        let at = self.used..self.used + len;
        self.used = at.end;
        if let Some(last) = self.batches.back_mut() {
            let count = last.at.len().div_ceil(last.segment.max(1));
            if last.open
                && (last.to, last.ecn) == (to, ecn)
                && (1..=last.segment).contains(&len)
                && count < max_segments
            {
                last.open = len == last.segment;
                last.at.end = at.end;
                return;
            }
        }
        self.batches.push_back(Batch {
            to,
            ecn,
            segment: len,
            open: len > 0,
            at,
        });
    }

    /// What is to be sent next.
    pub(crate) fn first(&self) -> Option<(&Batch, &[u8])> {
        let batch = self.batches.front()?;
        Some((batch, &self.buffer[batch.at.clone()]))
    }

    /// Says that so many bytes of the first batch are off our hands.
    pub(crate) fn advance(&mut self, bytes: usize) {
        if let Some(first) = self.batches.front_mut() {
            first.at.start += bytes;
            if first.at.is_empty() {
                self.batches.pop_front();
            }
        }
        if self.batches.is_empty() {
            self.used = 0;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: usize = 64;

    fn address(port: u16) -> SocketAddr {
        ([127, 0, 0, 1], port).into()
    }

    fn outbox(datagrams: &[(u16, usize)], max_segments: usize) -> Outbox {
        let mut outbox = Outbox::new();
        for (index, (port, len)) in datagrams.iter().enumerate() {
            let mark = u8::try_from(index).unwrap();
            outbox.room(*len).unwrap()[..*len].fill(mark);
            outbox.push(address(*port), Ecn::NotEct, *len, max_segments);
        }
        outbox
    }

    /// Port, length of a segment, and length of each batch, which are sent whole.
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
    fn what_differs_in_its_mark_goes_apart() {
        let mut outbox = Outbox::new();
        for ecn in [Ecn::Ect0, Ecn::Ect0, Ecn::NotEct, Ecn::Ect0] {
            outbox.push(address(1), ecn, 7, MANY);
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
            outbox.push(address(1), Ecn::NotEct, 1200, MANY);
            made += 1;
        }
        assert_eq!(made, BATCH / 1200);
        assert_eq!(outbox.first().unwrap().1.len(), made * 1200);
        outbox.advance(made * 1200);
        assert!(outbox.is_empty());
        assert!(outbox.room(BATCH).is_some());
    }
}
