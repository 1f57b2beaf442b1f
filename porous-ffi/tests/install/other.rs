//! Another library of Rust, which has its own standard library and its own allocator inside.

use std::alloc::{GlobalAlloc, Layout, System};

struct Own;

// SAFETY: all is left to the system's allocator.
unsafe impl GlobalAlloc for Own {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller of this promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller of this promises.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static OWN: Own = Own;

/// The sum of the numbers below `end`, which a panic and its message were caught before.
#[unsafe(no_mangle)]
pub extern "C" fn other_sum(end: u32) -> u32 {
    let caught = std::panic::catch_unwind(|| {
        let numbers: Vec<u32> = (0..end).collect();
        assert!(numbers.is_empty(), "{} numbers", numbers.len());
    });
    if caught.is_err() { (0..end).sum() } else { 0 }
}
