//! What the system said when it refused, by thread, as `errno` is.

use core::cell::RefCell;
use core::ffi::c_char;
use std::io;
use std::thread_local;

use alloc::string::{String, ToString};

use crate::panic::guard;
use crate::pointers::fill_text;
use crate::status::{
    POROUS_ERR_IN_USE, POROUS_ERR_IO, POROUS_ERR_NOT_AVAILABLE, POROUS_ERR_NOT_PERMITTED, count,
    porous_status,
};

thread_local! {
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps the text of an error for the program, and gives the number that the call answers.
pub(crate) fn remember(error: &io::Error) -> porous_status {
    LAST.with_borrow_mut(|last| *last = error.to_string());
    // By kind: the system's own number means something else on each system.
    if error.kind() == io::ErrorKind::AddrInUse {
        POROUS_ERR_IN_USE
    } else if error.kind() == io::ErrorKind::AddrNotAvailable {
        POROUS_ERR_NOT_AVAILABLE
    } else if error.kind() == io::ErrorKind::PermissionDenied {
        POROUS_ERR_NOT_PERMITTED
    } else {
        POROUS_ERR_IO
    }
}

/// Writes what the system said when the last call of this thread failed with POROUS_ERR_IO, POROUS_ERR_IN_USE,
/// POROUS_ERR_NOT_AVAILABLE or POROUS_ERR_NOT_PERMITTED, with a 0 at its end: empty if none did. Returns its length.
///
/// Errors: POROUS_ERR_SMALL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_io_error_text(text: *mut c_char, cap: usize) -> porous_status {
    guard(|| {
        // SAFETY: a buffer, as the header demands.
        LAST.with_borrow(|last| unsafe { fill_text(text, cap, last).map(count) })
    })
}
