//! Bugs of ours must not unwind into C, where that is undefined: they are caught, told, and answered. A library
//! without `std` cannot catch them: it tells, and ends the process.

use core::cell::UnsafeCell;
use core::ffi::{c_char, c_void};
use core::fmt::{self, Write as _};
use core::hint::spin_loop;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::status::{POROUS_ERR_PANIC, POROUS_OK, porous_status};

/// The most bytes of a text that is told. Where it is told there may be no memory for more.
const TEXT_MAX: usize = 1024;

/// Called with the text of a caught bug, which is not ended by a 0, and has at most 1024 bytes.
///
/// `user` is what porous_on_panic was given. `text` is gone after the call. It may be called by any thread, in
/// the middle of a call of the library: it must not unwind, and a call into the same host answers
/// POROUS_ERR_BUSY.
pub type porous_told =
    Option<unsafe extern "C" fn(user: *mut c_void, text: *const c_char, len: usize)>;

/// The program's function that is told of panics, and the pointer for it.
#[derive(Clone, Copy)]
struct Listener {
    told: unsafe extern "C" fn(user: *mut c_void, text: *const c_char, len: usize),
    user: *mut c_void,
}

/// The listener, behind a lock that is held for a copy alone.
struct Shared {
    taken: AtomicBool,
    listener: UnsafeCell<Option<Listener>>,
}

// SAFETY: `with` lets one thread at a time in, and the pointer of a listener is only passed on: the header says that
// this may be in any thread.
unsafe impl Sync for Shared {}

impl Shared {
    fn with<T>(&self, call: impl FnOnce(&mut Option<Listener>) -> T) -> T {
        while self.taken.swap(true, Ordering::Acquire) {
            spin_loop();
        }
        // SAFETY: nobody else is here until `taken` is false again.
        let result = call(unsafe { &mut *self.listener.get() });
        self.taken.store(false, Ordering::Release);
        result
    }
}

static LISTENER: Shared = Shared {
    taken: AtomicBool::new(false),
    listener: UnsafeCell::new(None),
};

/// A text as far as there is room for it.
struct Text {
    bytes: [u8; TEXT_MAX],
    len: usize,
}

impl fmt::Write for Text {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.len..).unwrap_or_default();
        // A character is told whole, or not at all.
        let ends = more.char_indices().map(|(at, one)| at + one.len_utf8());
        let fits = ends.take_while(|&end| end <= room.len()).last();
        let fits = fits.unwrap_or_default();
        for (to, from) in room.iter_mut().zip(more.bytes().take(fits)) {
            *to = from;
        }
        self.len += fits;
        Ok(())
    }
}

/// Tells the program of a panic. False if nobody listens.
pub(crate) fn tell(info: &impl fmt::Display) -> bool {
    // The program may call `porous_on_panic` from there.
    let Some(Listener { told, user }) = LISTENER.with(|listener| *listener) else {
        return false;
    };
    let mut text = Text {
        bytes: [0; TEXT_MAX],
        len: 0,
    };
    let _ = write!(text, "{info}"); // it has no errors
    // SAFETY: the program's own function and pointer, and a text that outlives the call.
    unsafe { told(user, text.bytes.as_ptr().cast(), text.len) };
    true
}

/// Names the function that is told when a bug of porous was caught, with the place and the text, in any thread.
/// Without one, or with NULL, the text goes to the standard error stream. In a library without the standard library
/// of Rust the process ends when the function returns, and there is no stream.
///
/// It holds for the whole process, and may be called at any time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_on_panic(told: porous_told, user: *mut c_void) -> porous_status {
    guard(|| {
        LISTENER.with(|listener| *listener = told.map(|told| Listener { told, user }));
        #[cfg(feature = "std")]
        hook();
        Ok(POROUS_OK)
    })
}

/// Has panics told instead of written to the standard error stream, from the first call on.
#[cfg(feature = "std")]
fn hook() {
    use std::panic::{set_hook, take_hook};

    static HOOK: std::sync::Once = std::sync::Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(alloc::boxed::Box::new(move |info| {
            if !tell(info) {
                before(info);
            }
        }));
    });
}

/// Runs a call that concerns no host. What it panics with has been told by then.
pub(crate) fn guard(call: impl FnOnce() -> Result<porous_status, porous_status>) -> porous_status {
    match caught(call) {
        Some(Ok(status) | Err(status)) => status,
        None => POROUS_ERR_PANIC,
    }
}

/// What a call returns; `None` if it panics. In line: the arguments of a function that calls this stay in registers,
/// and do not go through memory.
#[cfg(feature = "std")]
#[inline(always)]
pub(crate) fn caught<T>(call: impl FnOnce() -> T) -> Option<T> {
    // What a call leaves half done is not looked at again: see `porous_host`.
    let result = std::panic::catch_unwind(core::panic::AssertUnwindSafe(call));
    // Whatever was thrown may panic again when it is dropped.
    result.map_err(core::mem::forget).ok()
}

/// What a call returns. A panic ends the process before.
#[cfg(not(feature = "std"))]
pub(crate) fn caught<T>(call: impl FnOnce() -> T) -> Option<T> {
    Some(call())
}
