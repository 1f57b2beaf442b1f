//! Bugs of ours must not unwind into C, where that is undefined: they are caught, told, and answered.

use core::ffi::{c_char, c_void};
use core::panic::AssertUnwindSafe;
use std::panic::{self, PanicHookInfo};
use std::sync::{Mutex, Once, PoisonError};

use alloc::boxed::Box;
use alloc::string::ToString;

use crate::status::{POROUS_ERR_PANIC, POROUS_OK, porous_status};

/// Called with the text of a caught bug, which is not ended by a 0.
///
/// `user` is what porous_on_panic was given. `text` is gone after the call. It may be called by any thread, in
/// the middle of a call of the library: it must not unwind, and a call into the same host answers
/// POROUS_ERR_BUSY.
pub type porous_told =
    Option<unsafe extern "C" fn(user: *mut c_void, text: *const c_char, len: usize)>;

/// Whom to tell.
struct Listener {
    told: unsafe extern "C" fn(user: *mut c_void, text: *const c_char, len: usize),
    user: *mut c_void,
}

// SAFETY: the pointer is only passed on, and the header says that this may be in any thread.
unsafe impl Send for Listener {}

static LISTENER: Mutex<Option<Listener>> = Mutex::new(None);
static HOOK: Once = Once::new();

/// Tells the program of a panic. False if nobody listens.
fn tell(info: &PanicHookInfo<'_>) -> bool {
    let listener = LISTENER.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(Listener { told, user }) = *listener else {
        return false;
    };
    // The program may call `porous_on_panic` from there.
    drop(listener);
    let text = info.to_string();
    // SAFETY: the program's own function and pointer, and a text that outlives the call.
    unsafe { told(user, text.as_ptr().cast(), text.len()) };
    true
}

/// Names the function that is told when a bug of porous was caught, with the place and the text, in any thread.
/// Without one, or with NULL, the text goes to the standard error stream.
///
/// It holds for the whole process, and may be called at any time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_on_panic(told: porous_told, user: *mut c_void) -> porous_status {
    guard(|| {
        let listener = told.map(|told| Listener { told, user });
        *LISTENER.lock().unwrap_or_else(PoisonError::into_inner) = listener;
        HOOK.call_once(|| {
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                if !tell(info) {
                    before(info);
                }
            }));
        });
        Ok(POROUS_OK)
    })
}

/// Runs a call that concerns no host. What it panics with has been told by then.
pub(crate) fn guard(call: impl FnOnce() -> Result<porous_status, porous_status>) -> porous_status {
    // What a call leaves half done is not looked at again: see `porous_host`.
    let caught = panic::catch_unwind(AssertUnwindSafe(call));
    match caught {
        Ok(Ok(status) | Err(status)) => status,
        Err(text) => {
            // Whatever was thrown may panic again when it is dropped.
            core::mem::forget(text);
            POROUS_ERR_PANIC
        }
    }
}
