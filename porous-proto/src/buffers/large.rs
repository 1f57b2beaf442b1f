//! Buffers for packets that are longer than what a datagram brings.

use alloc::vec::Vec;

use bytes::BytesMut;

use super::OVERHEAD;

/// Buffers that are looked at for one that is free and fits.
const LOOKS: usize = 8;

/// A buffer of the length of the packet that it was made for.
#[derive(Debug)]
struct Buffer {
    /// A handle without bytes. It is free while it is the only one.
    handle: BytesMut,
    len: usize,
    /// True if it was filled in the current period.
    is_needed: bool,
}

/// Large buffers of a host.
#[derive(Debug, Default)]
pub(super) struct Large {
    buffers: Vec<Buffer>,
    /// The index of the one that is looked at next.
    next: usize,
}

impl Large {
    /// A buffer without bytes that has room for `len` of them, if there is one that nobody uses, and that is
    /// twice as long at most.
    pub(super) fn lend(&mut self, len: usize) -> Option<BytesMut> {
        for _ in 0..LOOKS.min(self.buffers.len()) {
            if self.next >= self.buffers.len() {
                self.next = 0;
            }
            let buffer = &mut self.buffers[self.next];
            self.next += 1;
            if len <= buffer.len && buffer.len <= 2 * len && buffer.handle.try_reclaim(buffer.len) {
                buffer.is_needed = true;
                return Some(buffer.handle.split_off(0));
            }
        }
        None
    }

    /// Lends the memory of `bytes` to others, once nobody uses it.
    pub(super) fn keep(&mut self, bytes: &mut BytesMut) {
        let len = bytes.capacity();
        self.buffers.push(Buffer {
            handle: bytes.split_off(len),
            len,
            is_needed: true,
        });
    }

    /// Gives up what was not needed since the last call, and returns the bytes that this took.
    pub(super) fn age(&mut self) -> usize {
        let mut bytes = 0;
        self.buffers.retain_mut(|buffer| {
            // One that is in use stays in the count: a packet may wait in it for fragments that never come.
            let stays = buffer.is_needed || !buffer.handle.try_reclaim(buffer.len);
            buffer.is_needed = false;
            bytes += usize::from(!stays) * (buffer.len + OVERHEAD);
            stays
        });
        self.buffers.shrink_to_fit();
        bytes
    }

    /// Gives up all buffers, and returns the bytes that these took.
    pub(super) fn clear(&mut self) -> usize {
        let buffers = core::mem::take(&mut self.buffers);
        buffers.iter().map(|buffer| buffer.len + OVERHEAD).sum()
    }
}
