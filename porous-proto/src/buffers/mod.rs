//! Memory for the bytes of packets that a host copies: from datagrams that came, or from a slice that the
//! application sends. It is used again once nobody holds it, so that a host that is warm allocates nothing.

mod large;
mod reassembly;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use bytes::{Bytes, BytesMut};

use self::large::Large;
pub(crate) use self::reassembly::Reassembly;
use crate::time::Instant;

/// The bytes that the buffers of each class hold. Bytes of a packet take the shortest buffer that holds them:
/// half of it is used at least, but of the shortest. The longest holds what a datagram brings.
const CLASSES: [usize; 10] = [32, 64, 96, 144, 216, 324, 480, 720, 1080, 1472];

/// Bytes that a buffer takes beside those of packets: its handle, and the count of its handles.
const OVERHEAD: usize = 72;

/// Buffers of a class that are looked at for a free one. They are freed nearly in the order in which they were
/// filled: if the oldest ones are in use, most are.
const LOOKS: usize = 2;

/// Bytes of the buffers that a host keeps at most, and the part of the budgets of all peers that these may have.
const MOST: u64 = 8 << 20;
const PART: u64 = 16;

/// Reassemblies without a packet that a host keeps at most: packets that it puts together at once.
const SPARE: usize = 8;

/// Time after which a class gives up the buffers that were not needed in it. Rarer bursts than this are worth
/// an allocation.
const PERIOD: Duration = Duration::from_secs(10);

/// Buffers of one length.
#[derive(Debug, Default)]
struct Class {
    /// A buffer is free while no other handle to it is left: so nobody has to give it back.
    buffers: Vec<Bytes>,
    /// The index of the one that is looked at next. It goes round, so that this is mostly the one that was
    /// filled longest ago.
    next: usize,
    /// Buffers that were filled in the current period, the same one perhaps more than once.
    filled: usize,
}

impl Class {
    /// Fills a buffer that nobody uses any more, if there is one.
    fn refill(&mut self, bytes: &[u8]) -> Option<Bytes> {
        for _ in 0..LOOKS {
            if self.next >= self.buffers.len() {
                self.next = 0;
            }
            let buffer = self.buffers.get_mut(self.next)?;
            self.next += 1;
            match core::mem::take(buffer).try_into_mut() {
                Ok(mut free) => {
                    free.clear();
                    free.extend_from_slice(bytes);
                    *buffer = free.freeze();
                    self.filled += 1;
                    return Some(buffer.clone());
                }
                Err(used) => *buffer = used,
            }
        }
        None
    }

    /// Gives up all buffers but this number of them. Returns how many these were. One that is still in use is
    /// freed by the last who holds it.
    fn shrink(&mut self, most: usize) -> usize {
        let excess = self.buffers.len().saturating_sub(most);
        if excess > 0 {
            self.buffers.truncate(most);
            self.buffers.shrink_to_fit();
        }
        excess
    }

    /// Fills a new buffer of `len` bytes.
    fn fill_new(&mut self, bytes: &[u8], len: usize) -> Bytes {
        let mut new = BytesMut::with_capacity(len);
        // Parted once, a buffer counts its handles, and needs no more memory when it is filled again.
        drop(new.split_off(len));
        new.extend_from_slice(bytes);
        let filled = new.freeze();
        self.buffers.push(filled.clone());
        self.filled += 1;
        filled
    }
}

/// The buffers of a host.
#[derive(Debug)]
pub(crate) struct Buffers {
    /// None before the first copy. On the heap, as a host is moved by value, and a microcontroller has little
    /// stack.
    classes: Vec<Class>,
    large: Large,
    /// Reassemblies without a packet.
    #[expect(clippy::vec_box, reason = "the box goes into the entry of a packet")]
    spare: Vec<Box<Reassembly>>,
    /// Bytes of all buffers that may still be added.
    room: usize,
    /// When the current period ends.
    period_ends: Instant,
}

/// The memory of a host that its peers share.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) buffers: Buffers,
    /// Where a sealed datagram is opened. It keeps its memory from one to the next.
    #[cfg(feature = "seal")]
    pub(crate) scratch: Vec<u8>,
}

impl Memory {
    /// The memory of a host whose peers may have `budget` bytes of packets.
    pub(crate) fn new(budget: u64) -> Self {
        Self {
            buffers: Buffers::new(budget),
            #[cfg(feature = "seal")]
            scratch: Vec::new(),
        }
    }
}

impl Buffers {
    /// Buffers of a host whose peers may have `budget` bytes of packets.
    pub(crate) fn new(budget: u64) -> Self {
        let room = (budget / PART).min(MOST);
        Self {
            classes: Vec::new(),
            large: Large::default(),
            spare: Vec::new(),
            room: usize::try_from(room).unwrap_or(usize::MAX),
            period_ends: Instant::ZERO,
        }
    }

    /// Gives up what was not needed recently. To be called at each step of the host.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if now < self.period_ends {
            return;
        }
        self.period_ends = now + PERIOD;
        for (class, len) in self.classes.iter_mut().zip(CLASSES) {
            let needed = core::mem::take(&mut class.filled);
            self.room += class.shrink(needed) * (len + OVERHEAD);
        }
        self.room += self.large.age();
        self.spare.clear();
    }

    /// Gives up all buffers: there is no peer to send or to receive anything.
    pub(crate) fn clear(&mut self) {
        for (class, len) in self.classes.iter_mut().zip(CLASSES) {
            self.room += class.shrink(0) * (len + OVERHEAD);
        }
        self.room += self.large.clear();
        self.spare = Vec::new();
    }

    /// A copy of these bytes.
    #[inline]
    pub(crate) fn copy(&mut self, bytes: &[u8]) -> Bytes {
        let class = CLASSES.iter().position(|&len| bytes.len() <= len);
        let Some(class) = class.filter(|_| !bytes.is_empty()) else {
            return self.copy_large(bytes);
        };
        if self.classes.is_empty() {
            self.classes.resize_with(CLASSES.len(), Class::default);
        }
        let (class, len) = (&mut self.classes[class], CLASSES[class]);
        if let Some(filled) = class.refill(bytes) {
            return filled;
        }
        match self.room.checked_sub(len + OVERHEAD) {
            Some(room) => {
                self.room = room;
                class.fill_new(bytes, len)
            }
            None => Bytes::copy_from_slice(bytes),
        }
    }

    /// A copy of bytes that are more than a datagram brings, or none.
    #[cold]
    fn copy_large(&mut self, bytes: &[u8]) -> Bytes {
        if bytes.is_empty() {
            return Bytes::new();
        }
        if let Some(mut free) = self.large.lend(bytes.len()) {
            free.extend_from_slice(bytes);
            return free.freeze();
        }
        let mut new = BytesMut::with_capacity(bytes.len());
        new.extend_from_slice(bytes);
        self.keep(new)
    }

    /// Full memory, which the host fills again once nobody uses it, if it may have as much.
    fn keep(&mut self, mut full: BytesMut) -> Bytes {
        if let Some(room) = self.room.checked_sub(full.capacity() + OVERHEAD) {
            self.room = room;
            self.large.keep(&mut full);
        }
        full.freeze()
    }

    /// A reassembly of a packet of `whole` bytes. It takes memory that is free for all of them, if the host has
    /// such memory: what is only announced costs nothing new (`docs/deviations.md` Q1).
    pub(crate) fn reassembly(&mut self, whole: u32) -> Box<Reassembly> {
        let mut reassembly = self.spare.pop().unwrap_or_default();
        reassembly.begin(whole, self.large.lend(whole as usize));
        reassembly
    }

    /// The packet of a reassembly that is complete.
    pub(crate) fn finish(&mut self, mut complete: Box<Reassembly>) -> Bytes {
        let packet = complete.finish(self);
        if self.spare.len() < SPARE {
            self.spare.push(complete);
        }
        packet
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_buffer_is_filled_again_once_nobody_holds_it() {
        let mut buffers = Buffers::new(u64::MAX);
        let first = buffers.copy(&[1; 50]);
        let place = first.as_ptr();
        let second = buffers.copy(&[2; 60]);
        assert_ne!(second.as_ptr(), place);
        let part = first.slice(10..20);
        drop(first);
        assert_ne!(buffers.copy(&[3; 64]).as_ptr(), place, "a part is held");
        drop(part);
        let again = [0; 3].map(|_| buffers.copy(&[4; 40]));
        assert!(again.iter().any(|bytes| bytes.as_ptr() == place));
        assert_eq!(second, [2; 60][..]);
    }

    /// R1.
    #[test]
    fn a_host_keeps_no_more_than_its_part() {
        let mut buffers = Buffers::new(16 * 1000);
        let held: Vec<_> = (0..100).map(|_| buffers.copy(&[7; 100])).collect();
        let kept: usize = buffers
            .classes
            .iter()
            .map(|class| class.buffers.len())
            .sum();
        assert_eq!(kept, 1000 / (144 + 72));
        assert!(held.iter().all(|bytes| bytes == &[7; 100][..]));
        assert_eq!(Buffers::new(u64::MAX).room, 8 << 20);
    }

    #[test]
    fn what_is_not_needed_for_ten_seconds_is_given_up() {
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let mut buffers = Buffers::new(u64::MAX);
        buffers.handle_timeout(at(0));
        let burst: Vec<_> = (0..100).map(|_| buffers.copy(&[7; 100])).collect();
        drop(burst);
        for (seconds, kept) in [(9, 100), (10, 100), (20, 3), (30, 0)] {
            buffers.handle_timeout(at(seconds));
            assert_eq!(buffers.classes[3].buffers.len(), kept, "{seconds}");
            if seconds == 10 {
                drop([0; 3].map(|_| buffers.copy(&[7; 100])));
            }
        }
        assert_eq!(buffers.room, 8 << 20);
        drop(buffers.copy(&[7; 100]));
        buffers.clear();
        assert_eq!(
            (buffers.classes[3].buffers.len(), buffers.room),
            (0, 8 << 20)
        );
    }

    #[test]
    fn large_buffers_are_filled_again_by_packets_that_fit() {
        let mut buffers = Buffers::new(u64::MAX);
        let first = buffers.copy(&[1; 10_000]);
        let place = first.as_ptr();
        assert_ne!(buffers.copy(&[2; 10_000]).as_ptr(), place, "it is in use");
        let part = first.slice(9_999..);
        drop(first);
        for (len, fits) in [(10_000, false), (10_001, false), (4_999, false)] {
            assert_eq!(buffers.copy(&vec![3; len]).as_ptr() == place, fits, "{len}");
        }
        assert_eq!(part, [1][..]);
        drop(part);
        for len in [10_000, 5_000, 7_777] {
            let again = [0; 9].map(|_| buffers.copy(&vec![4; len]).as_ptr());
            assert!(again.contains(&place), "{len}");
        }
        assert_eq!(buffers.copy(&[]).len(), 0);
    }

    /// R1.
    #[test]
    fn large_buffers_count_as_long_as_they_are_used_and_are_given_up_when_not_needed() {
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let mut buffers = Buffers::new(16 * 100_000);
        buffers.handle_timeout(at(0));
        let held: Vec<_> = (0..30).map(|_| buffers.copy(&[7; 10_000])).collect();
        let left = 100_000 - 9 * (10_000 + OVERHEAD);
        assert_eq!(buffers.room, left);
        for seconds in [10, 20, 30] {
            buffers.handle_timeout(at(seconds));
            assert_eq!(buffers.room, left, "{seconds}");
        }
        assert!(held.iter().all(|bytes| bytes == &[7; 10_000][..]));
        drop(held);
        buffers.handle_timeout(at(40));
        assert_eq!(buffers.room, 100_000);
        drop(buffers.copy(&[7; 10_000]));
        for (seconds, room) in [(50, 90_000 - OVERHEAD), (60, 100_000)] {
            buffers.handle_timeout(at(seconds));
            assert_eq!(buffers.room, room, "filled after 40 s: {seconds}");
        }
        let held = buffers.copy(&[7; 10_000]);
        buffers.clear();
        assert_eq!((buffers.room, held.len()), (100_000, 10_000));
    }

    proptest! {
        /// Whatever is held for however long, its bytes stay what they were.
        #[test]
        fn nothing_that_is_held_changes(
            steps in proptest::collection::vec((0_usize..3000, any::<u8>(), 0_usize..8), 1..300),
        ) {
            let mut buffers = Buffers::new(16 * 20_000);
            let mut held: Vec<(Bytes, u8)> = Vec::new();
            let mut now = Instant::ZERO;
            for (len, byte, drops) in steps {
                held.push((buffers.copy(&vec![byte; len]), byte));
                if drops < held.len() {
                    held.swap_remove(drops);
                }
                now = now + Duration::from_secs(1);
                buffers.handle_timeout(now);
                let same = |(bytes, byte): &(Bytes, u8)| bytes.iter().all(|b| b == byte);
                prop_assert!(held.iter().all(same));
            }
        }
    }
}
