//! Memory from the program's own functions: consoles, and engines that count what each part takes.

use core::alloc::{GlobalAlloc, Layout};
use core::ffi::c_void;
use core::sync::atomic::{AtomicU8, Ordering};
use std::alloc::System;
use std::sync::OnceLock;

use crate::panic::guard;
use crate::status::{POROUS_ERR_BUSY, POROUS_ERR_NULL, POROUS_OK, check, porous_status};

/// Gives `size` bytes, more than 0, aligned to `align`, a power of two; NULL if there are none.
pub type porous_alloc =
    Option<unsafe extern "C" fn(user: *mut c_void, size: usize, align: usize) -> *mut c_void>;

/// Takes memory back that the other function has given, with the size and the alignment that it was asked for.
pub type porous_dealloc =
    Option<unsafe extern "C" fn(user: *mut c_void, memory: *mut c_void, size: usize, align: usize)>;

/// The functions of the program.
struct Hooks {
    alloc: unsafe extern "C" fn(*mut c_void, usize, usize) -> *mut c_void,
    dealloc: unsafe extern "C" fn(*mut c_void, *mut c_void, usize, usize),
    user: *mut c_void,
}

// SAFETY: the header says that the functions are called by any thread, with this pointer.
unsafe impl Send for Hooks {}
// SAFETY: as above.
unsafe impl Sync for Hooks {}

static HOOKS: OnceLock<Hooks> = OnceLock::new();

/// Nobody has asked for memory yet.
const OPEN: u8 = 0;
/// The system gives memory.
const SYSTEM: u8 = 1;
/// The program does.
const PROGRAM: u8 = 2;

static GIVER: AtomicU8 = AtomicU8::new(OPEN);

/// Goes on for ever with the giver that it began with: memory goes back to where it came from.
struct Giver;

#[global_allocator]
static MEMORY: Giver = Giver;

/// The functions of the program, if it gives memory. From now on there is no other giver.
fn hooks() -> Option<&'static Hooks> {
    let choose = GIVER.compare_exchange(OPEN, SYSTEM, Ordering::AcqRel, Ordering::Acquire);
    match choose {
        Err(PROGRAM) => HOOKS.get(),
        Ok(_) | Err(_) => None,
    }
}

// SAFETY: the functions of the program do what the header demands, and the system's do it anyway.
unsafe impl GlobalAlloc for Giver {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match hooks() {
            // SAFETY: the program's function and pointer, and a size above 0, as the caller promises.
            Some(hooks) => unsafe {
                (hooks.alloc)(hooks.user, layout.size(), layout.align()).cast()
            },
            // SAFETY: as the caller promises.
            None => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        match hooks() {
            // SAFETY: the program has given this memory, as it gives all.
            Some(hooks) => unsafe {
                (hooks.dealloc)(hooks.user, memory.cast(), layout.size(), layout.align());
            },
            // SAFETY: as the caller promises.
            None => unsafe { System.dealloc(memory, layout) },
        }
    }
}

/// Has all memory of the library come from these functions, for the whole process. They are called by any thread,
/// perhaps by several at once, and must not call the library. Call this before any other function but
/// porous_check_abi, and once.
///
/// Errors: POROUS_ERR_BUSY if the library has asked the system for memory before, or has other functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_set_allocator(
    alloc: porous_alloc,
    dealloc: porous_dealloc,
    user: *mut c_void,
) -> porous_status {
    guard(|| {
        let alloc = alloc.ok_or(POROUS_ERR_NULL)?;
        let dealloc = dealloc.ok_or(POROUS_ERR_NULL)?;
        check(GIVER.load(Ordering::Acquire) == OPEN, POROUS_ERR_BUSY)?;
        let hooks = Hooks {
            alloc,
            dealloc,
            user,
        };
        HOOKS.set(hooks).map_err(|_| POROUS_ERR_BUSY)?;
        let chosen = GIVER.compare_exchange(OPEN, PROGRAM, Ordering::AcqRel, Ordering::Acquire);
        chosen.map_err(|_| POROUS_ERR_BUSY)?;
        Ok(POROUS_OK)
    })
}
