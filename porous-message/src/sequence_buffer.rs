//! A rolling buffer of values for the most recent sequence numbers.

use alloc::boxed::Box;

use crate::sequence::newer;

/// The most entries: half of all sequence numbers, beyond which older and newer cannot be told apart.
const MAX_SIZE: usize = 1 << 15;

/// Values for the most recent sequence numbers: the content of packets that were sent, the packets that
/// have come, messages that came too early.
///
/// The place of a number is its remainder, so access takes constant time, and nothing is searched, nor
/// allocated after the start. The buffer has room for [`size`](Self::size) numbers: the
/// [`newest`](Self::newest) one that was inserted, and those before it. When a newer one is inserted,
/// the places in between are cleared. So no value of an earlier turn of the numbers is ever found,
/// however many numbers were lost.
///
/// ```
/// use porous_message::SequenceBuffer;
///
/// let mut sent = SequenceBuffer::new(256);
/// sent.insert(65_535, "fire");
/// sent.insert(0, "run");
/// assert_eq!(sent.get(65_535), Some(&"fire"));
/// assert_eq!(sent.newest(), Some(0));
///
/// // Numbers more than 255 behind are gone.
/// sent.insert(255, "jump");
/// assert_eq!(sent.get(65_535), None);
/// assert_eq!(sent.get(0), Some(&"run"));
/// ```
#[derive(Clone, Debug)]
pub struct SequenceBuffer<T> {
    /// A power of two of them, which divides 2^16, so that remainders go on evenly where the numbers wrap.
    places: Box<[Option<T>]>,
    newest: Option<u16>,
}

impl<T> SequenceBuffer<T> {
    /// An empty buffer for `size` sequence numbers: 1 to 32,768, rounded up to a power of two; other
    /// sizes become the nearest of these. All memory is allocated at once.
    ///
    /// ```
    /// use porous_message::SequenceBuffer;
    ///
    /// assert_eq!(SequenceBuffer::<u8>::new(1000).size(), 1024);
    /// assert_eq!(SequenceBuffer::<u8>::new(0).size(), 1);
    /// assert_eq!(SequenceBuffer::<u8>::new(1_000_000).size(), 32_768);
    /// ```
    #[must_use]
    pub fn new(size: usize) -> Self {
        let size = size.clamp(1, MAX_SIZE).next_power_of_two();
        Self {
            places: (0..size).map(|_| None).collect(),
            newest: None,
        }
    }

    /// Keeps a value for a sequence number, in place of one that was there. Returns false if the number is
    /// older than the buffer reaches back: then nothing has changed.
    ///
    /// If this number is newer than all before, the places between are cleared: at most
    /// [`size`](Self::size), and none or few if numbers come nearly in order. Any number can be the first.
    ///
    /// ```
    /// use porous_message::SequenceBuffer;
    ///
    /// let mut buffer = SequenceBuffer::new(4);
    /// assert!(buffer.insert(7, 'a'));
    /// assert!(buffer.insert(9, 'b'));
    /// assert!(buffer.insert(8, 'c'));
    /// assert!(!buffer.insert(5, 'd')); // reaches from 6 to 9
    /// ```
    pub fn insert(&mut self, sequence: u16, value: T) -> bool {
        self.advance(sequence);
        let reaches = self.reaches(sequence);
        if reaches {
            let place = self.place(sequence);
            self.places[place] = Some(value);
        }
        reaches
    }

    /// True if [`insert`](Self::insert) would keep a value for this sequence number.
    ///
    /// ```
    /// use porous_message::SequenceBuffer;
    ///
    /// let mut buffer = SequenceBuffer::new(4);
    /// assert!(buffer.accepts(9));
    /// buffer.insert(9, 'a');
    /// assert!(buffer.accepts(6));
    /// assert!(!buffer.accepts(5));
    /// ```
    #[must_use]
    pub fn accepts(&self, sequence: u16) -> bool {
        self.newest
            .is_none_or(|newest| newer(sequence, newest) || self.reaches(sequence))
    }

    /// The value of this sequence number, if there is one.
    ///
    /// ```
    /// use porous_message::SequenceBuffer;
    ///
    /// let mut buffer = SequenceBuffer::new(4);
    /// buffer.insert(7, 'a');
    /// assert_eq!(buffer.get(7), Some(&'a'));
    /// assert_eq!(buffer.get(3), None); // in the same place
    /// ```
    #[must_use]
    pub fn get(&self, sequence: u16) -> Option<&T> {
        match self.reaches(sequence) {
            true => self.places[self.place(sequence)].as_ref(),
            false => None,
        }
    }

    /// The value of this sequence number, to be changed.
    ///
    /// ```
    /// use porous_message::SequenceBuffer;
    ///
    /// let mut acked = SequenceBuffer::new(4);
    /// acked.insert(7, false);
    /// if let Some(acked) = acked.get_mut(7) {
    ///     *acked = true;
    /// }
    /// assert_eq!(acked.get(7), Some(&true));
    /// ```
    #[must_use]
    pub fn get_mut(&mut self, sequence: u16) -> Option<&mut T> {
        match self.reaches(sequence) {
            true => self.places[self.place(sequence)].as_mut(),
            false => None,
        }
    }

    /// True if there is a value of this sequence number.
    ///
    /// ```
    /// use porous_message::SequenceBuffer;
    ///
    /// let mut received = SequenceBuffer::new(32);
    /// received.insert(7, ());
    /// assert!(received.contains(7));
    /// assert!(!received.contains(6));
    /// ```
    #[must_use]
    pub fn contains(&self, sequence: u16) -> bool {
        self.get(sequence).is_some()
    }

    /// Takes the value of this sequence number out, if there is one. The buffer reaches back as far as
    /// before.
    ///
    /// ```
    /// use porous_message::SequenceBuffer;
    ///
    /// let mut buffer = SequenceBuffer::new(4);
    /// buffer.insert(7, 'a');
    /// assert_eq!(buffer.remove(7), Some('a'));
    /// assert_eq!(buffer.remove(7), None);
    /// assert_eq!(buffer.newest(), Some(7));
    /// ```
    pub fn remove(&mut self, sequence: u16) -> Option<T> {
        match self.reaches(sequence) {
            true => self.places[self.place(sequence)].take(),
            false => None,
        }
    }

    /// The newest sequence number that was ever inserted; `None` if none was.
    ///
    /// ```
    /// use porous_message::SequenceBuffer;
    ///
    /// let mut buffer = SequenceBuffer::new(4);
    /// assert_eq!(buffer.newest(), None);
    /// buffer.insert(65_535, ());
    /// buffer.insert(1, ());
    /// buffer.insert(0, ());
    /// assert_eq!(buffer.newest(), Some(1));
    /// ```
    #[must_use]
    pub const fn newest(&self) -> Option<u16> {
        self.newest
    }

    /// The number of sequence numbers that the buffer reaches over: a power of two.
    ///
    /// ```
    /// use porous_message::SequenceBuffer;
    ///
    /// assert_eq!(SequenceBuffer::<u8>::new(64).size(), 64);
    /// ```
    #[must_use]
    pub const fn size(&self) -> usize {
        self.places.len()
    }

    fn place(&self, sequence: u16) -> usize {
        usize::from(sequence) % self.size()
    }

    /// True if the number is the newest, or less than the size behind it.
    fn reaches(&self, sequence: u16) -> bool {
        self.newest
            .is_some_and(|newest| usize::from(newest.wrapping_sub(sequence)) < self.size())
    }

    /// Makes this number the newest if it is newer, and forgets the values that are no longer reached.
    fn advance(&mut self, sequence: u16) {
        let Some(newest) = self.newest else {
            self.newest = Some(sequence);
            return;
        };
        if !newer(sequence, newest) {
            return;
        }
        // A jump of more than the size clears each place once.
        let passed = usize::from(sequence.wrapping_sub(newest)).min(self.size());
        let first = self.place(newest) + 1;
        for place in first..first + passed {
            let place = place % self.size();
            self.places[place] = None;
        }
        self.newest = Some(sequence);
    }
}

#[cfg(test)]
mod tests;
