//! Services of the emulator for the program: a command line, and an exit.

use cortex_m_semihosting::{debug, syscall};

/// The number in the second word of the command line; 0 if there is none.
pub(crate) fn seed() -> u64 {
    let mut line = [0_u8; 64];
    let mut block = [line.as_mut_ptr() as usize, line.len()];
    // SAFETY: the block is the address of a buffer and its length.
    let failed = unsafe { syscall!(GET_CMDLINE, block.as_mut_ptr()) };
    if failed != 0 {
        return 0;
    }
    let length = block[1].min(line.len());
    let line = core::str::from_utf8(&line[..length]).unwrap_or("");
    let word = line.split_ascii_whitespace().nth(1).unwrap_or("");
    word.parse().unwrap_or(0)
}

/// Ends the emulator with 0 or 1.
pub(crate) fn exit(is_well: bool) -> ! {
    loop {
        debug::exit(if is_well {
            debug::EXIT_SUCCESS
        } else {
            debug::EXIT_FAILURE
        });
    }
}
