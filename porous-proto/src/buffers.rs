//! Memory for the bytes of packets that a host copies: from a datagram that came, or from a slice that the
//! application sends. It is used again once nobody holds it, so that a host that is warm allocates nothing.

use alloc::vec::Vec;
use core::time::Duration;

use bytes::{Bytes, BytesMut};

use crate::time::Instant;

/// The bytes that the buffers of each class hold. Bytes of a packet take the shortest buffer that holds them:
/// half of it is used at least, but of the shortest. The longest holds what a datagram brings.
const CLASSES: [usize; 10] = [32, 64, 96, 144, 216, 324, 480, 720, 1080, 1472];

/// Bytes that a buffer takes beside those of packets: its handle, and the count of its handles.
const OVERHEAD: usize = 72;

/// Buffers of a class that are looked at for a free one. They are freed nearly in the order in which they were
/// filled: if the oldest ones are in use, most are.
const LOOKS: usize = 2;

/// Bytes of the buffers that a host keeps at most, and the part of the receive budget of all peers that these
/// may have.
const MOST: u64 = 1 << 20;
const PART: u64 = 16;

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
    /// Bytes of all buffers that may still be added.
    room: usize,
    /// When the current period ends.
    period_ends: Instant,
}

impl Buffers {
    /// Buffers of a host that keeps `budget` bytes of what its peers have sent.
    pub(crate) fn new(budget: u64) -> Self {
        let room = (budget / PART).min(MOST);
        Self {
            classes: Vec::new(),
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
    }

    /// Gives up all buffers: there is no peer to send or to receive anything.
    pub(crate) fn clear(&mut self) {
        for (class, len) in self.classes.iter_mut().zip(CLASSES) {
            self.room += class.shrink(0) * (len + OVERHEAD);
        }
    }

    /// A copy of these bytes.
    pub(crate) fn copy(&mut self, bytes: &[u8]) -> Bytes {
        let class = CLASSES.iter().position(|&len| bytes.len() <= len);
        let Some(class) = class.filter(|_| !bytes.is_empty()) else {
            return Bytes::copy_from_slice(bytes);
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
        assert_eq!(Buffers::new(u64::MAX).room, 1 << 20);
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
        assert_eq!(buffers.room, 1 << 20);
        drop(buffers.copy(&[7; 100]));
        buffers.clear();
        assert_eq!(
            (buffers.classes[3].buffers.len(), buffers.room),
            (0, 1 << 20)
        );
    }

    #[test]
    fn what_no_datagram_brings_is_copied_on_its_own() {
        let mut buffers = Buffers::new(u64::MAX);
        for len in [0, 1473, 65_536] {
            assert_eq!(buffers.copy(&vec![7; len]).len(), len);
        }
        assert!(buffers.classes.iter().all(|class| class.buffers.is_empty()));
    }

    proptest! {
        /// Whatever is held for however long, its bytes stay what they were.
        #[test]
        fn nothing_that_is_held_changes(
            steps in proptest::collection::vec((0_usize..1600, any::<u8>(), 0_usize..8), 1..300),
        ) {
            let mut buffers = Buffers::new(16 * 20_000);
            let mut held: Vec<(Bytes, u8)> = Vec::new();
            for (len, byte, drops) in steps {
                held.push((buffers.copy(&vec![byte; len]), byte));
                if drops < held.len() {
                    held.swap_remove(drops);
                }
                let same = |(bytes, byte): &(Bytes, u8)| bytes.iter().all(|b| b == byte);
                prop_assert!(held.iter().all(same));
            }
        }
    }
}
