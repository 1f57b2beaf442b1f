//! Fragmentation and reassembly (§3.2). Memory is taken for what arrived, never for what a
//! fragment announces (`docs/deviations.md` Q1, Q3).

use alloc::vec;
use alloc::vec::Vec;

use bytes::Bytes;

use crate::frame::Fragment;

/// How many fragments a packet of this length has: 1 if it is sent whole, as an empty one is
/// (`deviations.md` Q14).
pub(crate) fn fragment_count(len: usize, fragment_size: usize) -> u16 {
    // `Config` and the handshake bound packets to 65,535 fragments.
    u16::try_from(len.div_ceil(fragment_size).max(1)).unwrap_or(u16::MAX)
}

/// A packet of which some fragments have arrived.
#[derive(Debug)]
pub(crate) struct Reassembly {
    count: u16,
    /// Which have arrived: the first and the last of each run. Not a bitmap, which the announced
    /// count would make long.
    runs: Vec<(u16, u16)>,
    /// In which order they arrived.
    order: Vec<u16>,
    /// Their bytes, in that order.
    data: Vec<u8>,
    last_len: usize,
}

impl Reassembly {
    pub(crate) const fn new(count: u16) -> Self {
        Self {
            count,
            runs: Vec::new(),
            order: Vec::new(),
            data: Vec::new(),
            last_len: 0,
        }
    }

    pub(crate) const fn count(&self) -> u16 {
        self.count
    }

    /// Bytes that arrived.
    pub(crate) fn len(&self) -> usize {
        self.data.len()
    }

    /// The first run that ends at `index` or later.
    fn run(&self, index: u16) -> usize {
        self.runs.partition_point(|&(_, last)| last < index)
    }

    pub(crate) fn has(&self, index: u16) -> bool {
        let run = self.runs.get(self.run(index));
        run.is_some_and(|&(first, _)| first <= index)
    }

    fn mark(&mut self, index: u16) {
        let run = self.run(index);
        let after = |&(first, _): &(u16, u16)| first == index + 1;
        let joins_next = self.runs.get(run).is_some_and(after);
        let before = |&(_, last): &(u16, u16)| last + 1 == index;
        let joins_last = run > 0 && self.runs.get(run - 1).is_some_and(before);
        match (joins_last, joins_next) {
            (true, true) => self.runs[run - 1].1 = self.runs.remove(run).1,
            (true, false) => self.runs[run - 1].1 = index,
            (false, true) => self.runs[run].0 = index,
            (false, false) => self.runs.insert(run, (index, index)),
        }
    }

    /// Adds a fragment that is not there yet. True if the packet is complete now.
    pub(crate) fn add(&mut self, part: Fragment, payload: &[u8], fragment_size: usize) -> bool {
        self.mark(part.index);
        self.order.push(part.index);
        let complete = self.order.len() == usize::from(self.count);
        let needed = self.data.len() + payload.len();
        if needed > self.data.capacity() {
            // At most twice what arrived, and never more than the packet needs.
            let whole = usize::from(self.count) * fragment_size;
            let room = if complete {
                needed
            } else {
                (2 * self.data.len()).min(whole)
            };
            self.data.reserve_exact(room.max(needed) - self.data.len());
        }
        self.data.extend_from_slice(payload);
        if part.index + 1 == self.count {
            self.last_len = payload.len();
        }
        complete
    }

    /// The complete packet.
    pub(crate) fn finish(self, fragment_size: usize) -> Bytes {
        if self.order.is_sorted() {
            return Bytes::from(self.data);
        }
        let mut packet = vec![0; self.data.len()];
        let mut rest = self.data.as_slice();
        for &index in &self.order {
            let last = index + 1 == self.count;
            let len = if last { self.last_len } else { fragment_size };
            let (payload, after) = rest.split_at(len);
            let start = usize::from(index) * fragment_size;
            packet[start..start + len].copy_from_slice(payload);
            rest = after;
        }
        Bytes::from(packet)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn packets_are_cut_only_if_they_must_be() {
        assert_eq!(
            [0, 1, 10, 11, 20, 21].map(|len| fragment_count(len, 10)),
            [1, 1, 1, 2, 2, 3]
        );
    }

    /// `docs/deviations.md` Q1.
    #[test]
    fn memory_is_at_most_twice_what_arrived_and_never_more_than_the_packet() {
        const COUNT: u16 = 100;
        let mut reassembly = Reassembly::new(COUNT);
        for index in (0..COUNT).rev() {
            let part = Fragment {
                index,
                count: COUNT,
            };
            let len = if index + 1 == COUNT { 3 } else { 10 };
            reassembly.add(part, &[7; 10][..len], 10);
            let (room, arrived) = (reassembly.data.capacity(), reassembly.len());
            assert!(room <= (2 * arrived).min(1000), "{index}: {room}");
        }
    }

    #[test]
    fn memory_does_not_grow_with_every_fragment() {
        let mut reassembly = Reassembly::new(1000);
        let mut rooms = 0;
        for index in 0..1000 {
            let before = reassembly.data.capacity();
            reassembly.add(Fragment { index, count: 1000 }, &[7; 10], 10);
            rooms += u32::from(reassembly.data.capacity() != before);
        }
        assert!(rooms <= 11, "{rooms}");
    }

    proptest! {
        #[test]
        fn any_order_of_fragments_gives_the_packet(
            (packet, order) in proptest::collection::vec(any::<u8>(), 11..500).prop_flat_map(|p| {
                let count = p.len().div_ceil(10);
                (Just(p), Just((0..count).collect::<Vec<_>>()).prop_shuffle())
            })
        ) {
            let count = fragment_count(packet.len(), 10);
            let mut reassembly = Reassembly::new(count);
            for (n, &index) in order.iter().enumerate() {
                let part = Fragment { index: u16::try_from(index).unwrap(), count };
                prop_assert!(!reassembly.has(part.index));
                let end = (10 * index + 10).min(packet.len());
                let complete = reassembly.add(part, &packet[10 * index..end], 10);
                prop_assert_eq!(complete, n + 1 == order.len());
                prop_assert!(reassembly.has(part.index));
            }
            prop_assert_eq!(reassembly.finish(10), packet);
        }
    }
}
