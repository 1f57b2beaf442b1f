//! The memory that the program needed, by kind.

use core::ptr;

use cortex_m_semihosting::hprintln;

use crate::heap;

// SAFETY: these are places, made by the linker; nothing is read from them.
unsafe extern "C" {
    static __sidata: u32;
    static __sdata: u32;
    static __edata: u32;
    static __ebss: u32;
    static _stack_end: u32;
    static _stack_start: u32;
}

/// The word with which unused stack is painted before `main`.
const PAINT: u32 = cortex_m_rt::STACK_PAINT_VALUE;

/// Bytes of flash: vectors, code, constants, and the first values of variables.
fn flash() -> usize {
    // Flash begins at 0.
    let values = &raw const __sidata as usize;
    values + (&raw const __edata as usize - &raw const __sdata as usize)
}

/// Bytes of static variables, with the heap.
fn variables() -> usize {
    &raw const __ebss as usize - &raw const __sdata as usize
}

/// The most bytes of stack that were ever in use.
fn stack() -> usize {
    let (end, start) = (&raw const _stack_end, &raw const _stack_start);
    let mut place = end;
    // SAFETY: all of it is memory of the stack, which no other code uses now. Each word is painted, or was
    // written by this program.
    while place < start && unsafe { ptr::read_volatile(place) } == PAINT {
        place = place.wrapping_add(1);
    }
    start as usize - place as usize
}

/// Prints all figures, in lines that a script can read.
pub(crate) fn print() {
    hprintln!("board: flash {} bytes", flash());
    hprintln!("board: variables {} bytes", variables());
    hprintln!("board: stack {} bytes", stack());
    hprintln!("board: heap {} of {} bytes", heap::most(), heap::SIZE);
}
