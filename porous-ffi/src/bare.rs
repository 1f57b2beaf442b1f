//! What a library without `std` brings itself: the end of the process after a bug.

use core::panic::PanicInfo;

use crate::panic::tell;

unsafe extern "C" {
    safe fn abort() -> !;
}

#[panic_handler]
fn panicked(info: &PanicInfo<'_>) -> ! {
    tell(info);
    abort()
}

/// The compiled `alloc` names this function, which is for unwinding, although this library is built to abort.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
