//! The door into a handle: one call at a time, and none after a bug.

use core::cell::UnsafeCell;
use core::mem;
use core::sync::atomic::{AtomicBool, Ordering};

use alloc::boxed::Box;

use crate::panic::guard;
use crate::status::{POROUS_ERR_BUSY, POROUS_ERR_PANIC, porous_status};

/// The value behind a handle, and whether a call is inside.
pub(crate) struct Door<T> {
    /// True while a call is inside.
    busy: AtomicBool,
    inside: UnsafeCell<Room<T>>,
}

struct Room<T> {
    value: T,
    /// True once a call has panicked: what it was about to do may be half done.
    is_broken: bool,
}

// SAFETY: `busy` lets one thread at a time to the value, which may be in any thread.
unsafe impl<T: Send> Sync for Door<T> {}

impl<T: Send> Door<T> {
    pub(crate) const fn new(value: T) -> Self {
        let room = Room {
            value,
            is_broken: false,
        };
        Self {
            busy: AtomicBool::new(false),
            inside: UnsafeCell::new(room),
        }
    }

    /// True if nobody was inside; now somebody is.
    fn enters(&self) -> bool {
        !self.busy.swap(true, Ordering::Acquire)
    }

    /// Runs a call, unless another one is inside or an earlier one has panicked.
    pub(crate) fn enter(
        &self,
        call: impl FnOnce(&mut T) -> Result<porous_status, porous_status>,
    ) -> porous_status {
        if !self.enters() {
            return POROUS_ERR_BUSY;
        }
        // SAFETY: no other call is inside until `busy` is false again.
        let room = unsafe { &mut *self.inside.get() };
        let mut answer = POROUS_ERR_PANIC;
        if !room.is_broken {
            answer = guard(|| call(&mut room.value));
            // No call answers this by itself.
            room.is_broken = answer == POROUS_ERR_PANIC;
        }
        self.busy.store(false, Ordering::Release);
        answer
    }
}

/// Frees a handle, unless a call is inside. What a bug has broken is kept: to drop what is half done may do more harm.
/// `door` and `into` are its field.
///
/// # Safety
///
/// `handle` is NULL, or was handed out as a box and not freed.
pub(crate) unsafe fn free<H, T: Send>(
    handle: *mut H,
    door: impl FnOnce(&H) -> &Door<T>,
    into: impl FnOnce(H) -> Door<T>,
) -> Result<(), porous_status> {
    // SAFETY: as the caller promises.
    match unsafe { handle.as_ref() }.map(door) {
        None => return Ok(()),
        Some(door) if !door.enters() => return Err(POROUS_ERR_BUSY),
        Some(_) => {}
    }
    // SAFETY: as the caller promises, and nobody is inside.
    let handle = unsafe { Box::from_raw(handle) };
    let room = into(*handle).inside.into_inner();
    if room.is_broken {
        mem::forget(room);
    }
    Ok(())
}
