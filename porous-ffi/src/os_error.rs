//! What the system said when it refused, as `errno` keeps it: by thread.

use core::cell::RefCell;
use core::ffi::c_char;
use std::io;
use std::thread_local;

use alloc::string::{String, ToString};

use crate::panic::guard;
use crate::pointers::fill_text;
use crate::status::{POROUS_ERR_IO, count, porous_status};

thread_local! {
    static LAST: RefCell<(i32, String)> = const { RefCell::new((0, String::new())) };
}

/// Keeps an error for the program, and gives the number that the call answers.
pub(crate) fn remember(error: &io::Error) -> porous_status {
    LAST.with_borrow_mut(|last| *last = (error.raw_os_error().unwrap_or(0), error.to_string()));
    POROUS_ERR_IO
}

/// The system's number of the last POROUS_ERR_IO that a call of this thread answered: an errno, or what
/// WSAGetLastError returns on Windows. 0 if there was none, or it has no number.
#[unsafe(no_mangle)]
pub extern "C" fn porous_os_error() -> i32 {
    LAST.with_borrow(|last| last.0)
}

/// Writes the text of the last POROUS_ERR_IO that a call of this thread answered, with a 0 at its end: it has the
/// address, and what the system says. Returns its length.
///
/// Errors: POROUS_ERR_SMALL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_os_error_text(text: *mut c_char, cap: usize) -> porous_status {
    guard(|| {
        // SAFETY: a buffer, as the header demands.
        LAST.with_borrow(|last| unsafe { fill_text(text, cap, &last.1).map(count) })
    })
}
