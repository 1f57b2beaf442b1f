//! A heap of 64 KiB that remembers the most that was ever allocated. An allocation without room panics.

use core::alloc::{GlobalAlloc, Layout};
use core::sync::atomic::{AtomicUsize, Ordering};

use embedded_alloc::LlffHeap;

/// The size of the heap in bytes.
pub(crate) const SIZE: usize = 64 * 1024;

struct Heap {
    inner: LlffHeap,
    most: AtomicUsize,
}

#[global_allocator]
static HEAP: Heap = Heap {
    inner: LlffHeap::empty(),
    most: AtomicUsize::new(0),
};

// SAFETY: every call is passed on to the allocator within.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the same rules.
        let place = unsafe { self.inner.alloc(layout) };
        self.most.fetch_max(self.inner.used(), Ordering::Relaxed);
        place
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps to the same rules.
        unsafe { self.inner.dealloc(place, layout) }
    }
}

/// To be called once, before anything is allocated.
pub(crate) fn init() {
    let inner = &HEAP.inner;
    // SAFETY: `main` calls this once, and first.
    unsafe {
        embedded_alloc::init!(inner, SIZE);
    }
}

/// Bytes that are allocated now, with those that the allocator adds.
pub(crate) fn used() -> usize {
    HEAP.inner.used()
}

/// The most that was allocated at a time, in bytes.
pub(crate) fn most() -> usize {
    HEAP.most.load(Ordering::Relaxed)
}
