//! The door into a handle: one call at a time, and none after a bug.

use core::cell::UnsafeCell;
use core::mem;
use core::sync::atomic::{AtomicU8, Ordering};

use alloc::boxed::Box;

use crate::panic::caught;
use crate::status::{POROUS_ERR_BUSY, POROUS_ERR_PANIC, porous_status};

/// No call is inside.
const FREE: u8 = 0;
/// A call is inside.
const TAKEN: u8 = 1;
/// A call has panicked: what it was about to do may be half done.
const BROKEN: u8 = 2;

/// The value behind a handle, and whether a call is inside.
pub(crate) struct Door<T> {
    /// `FREE`, `TAKEN` or `BROKEN`.
    state: AtomicU8,
    inside: UnsafeCell<T>,
}

// SAFETY: `state` lets one thread at a time to the value, which may be in any thread.
unsafe impl<T: Send> Sync for Door<T> {}

impl<T: Send> Door<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self {
            state: AtomicU8::new(FREE),
            inside: UnsafeCell::new(value),
        }
    }

    /// Takes the door, and returns how it was. It is the caller's, unless it was taken.
    fn take(&self) -> u8 {
        // Also of a broken door, which the caller puts back: one step, without a comparison.
        self.state.swap(TAKEN, Ordering::Acquire)
    }

    /// Runs a call, unless another one is inside or an earlier one has panicked. In line, as `caught` is.
    #[inline(always)]
    pub(crate) fn enter(
        &self,
        call: impl FnOnce(&mut T) -> Result<porous_status, porous_status>,
    ) -> porous_status {
        match self.take() {
            FREE => {}
            TAKEN => return POROUS_ERR_BUSY,
            broken => {
                self.state.store(broken, Ordering::Release);
                return POROUS_ERR_PANIC;
            }
        }
        // SAFETY: no other call is inside until `state` says so.
        let value = unsafe { &mut *self.inside.get() };
        let (answer, state) = match caught(|| call(value)) {
            Some(Ok(status) | Err(status)) => (status, FREE),
            None => (POROUS_ERR_PANIC, BROKEN),
        };
        self.state.store(state, Ordering::Release);
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
    let state = match unsafe { handle.as_ref() } {
        None => return Ok(()),
        Some(handle) => door(handle).take(),
    };
    if state == TAKEN {
        return Err(POROUS_ERR_BUSY);
    }
    // SAFETY: as the caller promises, and nobody is inside.
    let handle = unsafe { Box::from_raw(handle) };
    let value = into(*handle).inside.into_inner();
    if state == BROKEN {
        mem::forget(value);
    }
    Ok(())
}
