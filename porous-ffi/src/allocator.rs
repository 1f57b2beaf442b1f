//! Memory: from the program's own functions if it names some, and counted.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::hint::spin_loop;
use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use crate::panic::guard;
use crate::pointers::{wanted, write};
use crate::status::{POROUS_ERR_BUSY, POROUS_ERR_NULL, POROUS_OK, porous_status};

/// Gives memory of `size` bytes whose address is a multiple of `align`, a power of two, or NULL. Any thread may call
/// it, several at once.
pub type porous_alloc =
    Option<unsafe extern "C" fn(user: *mut c_void, size: usize, align: usize) -> *mut c_void>;

/// Takes memory back that was given with this size and alignment. Any thread may call it, several at once.
pub type porous_dealloc =
    Option<unsafe extern "C" fn(user: *mut c_void, memory: *mut c_void, size: usize, align: usize)>;

/// The program's functions.
struct Hooks {
    alloc: unsafe extern "C" fn(user: *mut c_void, size: usize, align: usize) -> *mut c_void,
    dealloc:
        unsafe extern "C" fn(user: *mut c_void, memory: *mut c_void, size: usize, align: usize),
    user: *mut c_void,
}

/// Nothing was allocated so far.
const UNUSED: u8 = 0;
/// A thread names the program's functions.
const CHANGING: u8 = 1;
/// From here on all memory comes from one place.
const DECIDED: u8 = 2;

struct Memory {
    state: AtomicU8,
    /// Written while `CHANGING` by one thread, and read when `DECIDED`.
    hooks: UnsafeCell<Option<Hooks>>,
    bytes: AtomicUsize,
    peak: AtomicUsize,
}

// SAFETY: `hooks` is written by the thread that has made the state `CHANGING`, and read when it is `DECIDED`, after
// which it is not written. The pointer in it is only passed on, and the header says that this may be in any thread.
unsafe impl Sync for Memory {}

#[global_allocator]
static MEMORY: Memory = Memory {
    state: AtomicU8::new(UNUSED),
    hooks: UnsafeCell::new(None),
    bytes: AtomicUsize::new(0),
    peak: AtomicUsize::new(0),
};

impl Memory {
    /// The program's functions, which are the same from the first allocation on.
    fn hooks(&self) -> Option<&Hooks> {
        while self.state.load(Ordering::Acquire) != DECIDED {
            let (begin, end) = (Ordering::Acquire, Ordering::Relaxed);
            let _ = self.state.compare_exchange(UNUSED, DECIDED, begin, end);
            spin_loop();
        }
        // SAFETY: it is decided.
        unsafe { (*self.hooks.get()).as_ref() }
    }

    /// Names the program's functions. False if it is too late.
    fn decide(&self, hooks: Hooks) -> bool {
        let (begin, end) = (Ordering::Acquire, Ordering::Relaxed);
        let begun = self.state.compare_exchange(UNUSED, CHANGING, begin, end);
        if begun.is_err() {
            return false;
        }
        // SAFETY: this thread has made the state `CHANGING`.
        unsafe { *self.hooks.get() = Some(hooks) };
        self.state.store(DECIDED, Ordering::Release);
        true
    }

    fn add(&self, size: usize) {
        let before = self.bytes.fetch_add(size, Ordering::Relaxed);
        self.peak.fetch_max(before + size, Ordering::Relaxed);
    }

    fn subtract(&self, size: usize) {
        self.bytes.fetch_sub(size, Ordering::Relaxed);
    }
}

// SAFETY: the memory is that of the program's functions, of which the header demands what is demanded here, or the
// system's. Nothing here panics or allocates.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        let memory: *mut u8 = match self.hooks() {
            // SAFETY: the program's own function and pointer.
            Some(hooks) => unsafe { (hooks.alloc)(hooks.user, size, align) }.cast(),
            // SAFETY: as the caller of this promises.
            None => unsafe { system::alloc(layout) },
        };
        if !memory.is_null() {
            self.add(size);
        }
        memory
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        let (size, align) = (layout.size(), layout.align());
        match self.hooks() {
            // SAFETY: the program's own function and pointer, and memory that it has given.
            Some(hooks) => unsafe { (hooks.dealloc)(hooks.user, memory.cast(), size, align) },
            // SAFETY: as the caller of this promises.
            None => unsafe { system::dealloc(memory, layout) },
        }
        self.subtract(size);
    }
}

/// Memory without functions of the program's.
#[cfg(feature = "std")]
mod system {
    use core::alloc::{GlobalAlloc as _, Layout};
    use std::alloc::System;

    pub(super) unsafe fn alloc(layout: Layout) -> *mut u8 {
        // SAFETY: as the caller of this promises.
        unsafe { System.alloc(layout) }
    }

    pub(super) unsafe fn dealloc(memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller of this promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Memory without functions of the program's: that of C.
#[cfg(not(feature = "std"))]
mod system {
    use core::alloc::Layout;
    use core::ffi::c_void;
    use core::mem::size_of;
    use core::ptr;

    unsafe extern "C" {
        fn malloc(size: usize) -> *mut c_void;
        fn free(memory: *mut c_void);
    }

    /// What memory of `malloc` is aligned to everywhere.
    const ALIGNED: usize = size_of::<*const u8>();

    pub(super) unsafe fn alloc(layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        if align <= ALIGNED {
            // SAFETY: any size may be asked for.
            return unsafe { malloc(size) }.cast();
        }
        // In front of the memory stands where it begins: there is room for an address, as both are multiples of its
        // size, and the step to the next multiple of `align` is at least one.
        let Some(whole) = size.checked_add(align) else {
            return ptr::null_mut();
        };
        // SAFETY: any size may be asked for.
        let begin: *mut u8 = unsafe { malloc(whole) }.cast();
        if begin.is_null() {
            return begin;
        }
        let step = align - begin.addr() % align;
        // SAFETY: the step is at most `align`, so `size` bytes are behind it, and at least the size of a pointer,
        // of which both addresses are multiples.
        unsafe {
            let memory = begin.add(step);
            memory.cast::<*mut u8>().sub(1).write(begin);
            memory
        }
    }

    pub(super) unsafe fn dealloc(memory: *mut u8, layout: Layout) {
        let begin = if layout.align() <= ALIGNED {
            memory
        } else {
            // SAFETY: `alloc` has written it there.
            unsafe { memory.cast::<*mut u8>().sub(1).read() }
        };
        // SAFETY: what `malloc` has given.
        unsafe { free(begin.cast()) };
    }
}

/// Names the functions that all memory of the library comes from and goes back to, in the whole process. Call it
/// before anything else. `user` is passed to both.
///
/// Errors: POROUS_ERR_NULL if a function is NULL; POROUS_ERR_BUSY if the library has memory already.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_set_allocator(
    alloc: porous_alloc,
    dealloc: porous_dealloc,
    user: *mut c_void,
) -> porous_status {
    guard(|| {
        let (Some(alloc), Some(dealloc)) = (alloc, dealloc) else {
            return Err(POROUS_ERR_NULL);
        };
        let hooks = Hooks {
            alloc,
            dealloc,
            user,
        };
        if MEMORY.decide(hooks) {
            Ok(POROUS_OK)
        } else {
            Err(POROUS_ERR_BUSY)
        }
    })
}

/// Tells how many bytes of memory the library has in the whole process, and the most that it has had.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_memory(bytes: *mut u64, peak: *mut u64) -> porous_status {
    guard(|| {
        wanted(bytes)?;
        wanted(peak)?;
        // SAFETY: memory for two numbers, as the header demands.
        unsafe {
            write(bytes, MEMORY.bytes.load(Ordering::Relaxed) as u64)?;
            write(peak, MEMORY.peak.load(Ordering::Relaxed) as u64)?;
        }
        Ok(POROUS_OK)
    })
}
