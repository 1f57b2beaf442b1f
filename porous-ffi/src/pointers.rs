//! Pointers of C, as Rust has them: each is checked before anything behind it is touched.

use core::ffi::{CStr, c_char, c_void};
use core::slice;

use crate::status::{
    POROUS_ERR_NULL, POROUS_ERR_SMALL, POROUS_ERR_UTF8, POROUS_ERR_VALUE, check, count,
    porous_status,
};

/// The elements of an array. NULL stands for none, if the number is 0.
///
/// # Safety
///
/// `from` is NULL, or points to `len` elements, which stay as they are as long as the slice is used.
pub(crate) unsafe fn array<'a, T>(from: *const T, len: usize) -> Result<&'a [T], porous_status> {
    if len == 0 {
        return Ok(&[]);
    }
    check(!from.is_null(), POROUS_ERR_NULL)?;
    // No memory is longer (`slice::from_raw_parts`). A longer one is a number below zero most of the time.
    let fits = len <= isize::MAX as usize / size_of::<T>().max(1);
    check(fits, POROUS_ERR_VALUE)?;
    // SAFETY: the array has `len` elements, and memory can be that long.
    Ok(unsafe { slice::from_raw_parts(from, len) })
}

/// The bytes of a packet, a greeting and so on.
///
/// # Safety
///
/// As [`array`].
pub(crate) unsafe fn bytes<'a>(from: *const c_void, len: usize) -> Result<&'a [u8], porous_status> {
    // SAFETY: as the caller promises.
    unsafe { array(from.cast(), len) }
}

/// A text that ends with a byte 0.
///
/// # Safety
///
/// `from` is NULL, or points to bytes of which one is 0.
pub(crate) unsafe fn text<'a>(from: *const c_char) -> Result<&'a str, porous_status> {
    check(!from.is_null(), POROUS_ERR_NULL)?;
    // SAFETY: as the caller promises.
    let text = unsafe { CStr::from_ptr(from) };
    text.to_str().map_err(|_| POROUS_ERR_UTF8)
}

/// A copy of the value at an address.
///
/// # Safety
///
/// `from` is NULL, or points to a value.
pub(crate) unsafe fn read<T: Copy>(from: *const T) -> Result<T, porous_status> {
    check(!from.is_null(), POROUS_ERR_NULL)?;
    // SAFETY: as the caller promises.
    Ok(unsafe { from.read() })
}

/// Puts a value at an address.
///
/// # Safety
///
/// `to` is NULL, or points to memory for a value.
pub(crate) unsafe fn write<T>(to: *mut T, value: T) -> Result<(), porous_status> {
    check(!to.is_null(), POROUS_ERR_NULL)?;
    // SAFETY: as the caller promises.
    unsafe { to.write(value) };
    Ok(())
}

/// Checks an address for a result before anything happens that could not be taken back.
pub(crate) const fn wanted<T>(to: *mut T) -> Result<(), porous_status> {
    check(!to.is_null(), POROUS_ERR_NULL)
}

/// Copies into the buffer of a program. NULL stands for a buffer of 0 bytes.
///
/// # Safety
///
/// `to` is NULL, or points to memory of `cap` bytes.
pub(crate) unsafe fn fill(to: *mut c_void, cap: usize, from: &[u8]) -> Result<(), porous_status> {
    check(from.len() <= cap, POROUS_ERR_SMALL)?;
    if from.is_empty() {
        return Ok(());
    }
    check(!to.is_null(), POROUS_ERR_NULL)?;
    // SAFETY: the buffer has room. A program has no reference into memory of ours that it could give.
    unsafe { to.cast::<u8>().copy_from(from.as_ptr(), from.len()) };
    Ok(())
}

/// Writes a text and the byte 0 behind it, and returns the length of the text. Without room nothing is written
/// but an empty text.
///
/// # Safety
///
/// As [`fill`].
pub(crate) unsafe fn fill_text(
    to: *mut c_char,
    cap: usize,
    text: &str,
) -> Result<usize, porous_status> {
    check(!to.is_null(), POROUS_ERR_NULL)?;
    check(cap > 0, POROUS_ERR_SMALL)?;
    // SAFETY: there is room for a byte.
    unsafe { to.write(0) };
    check(text.len() < cap, POROUS_ERR_SMALL)?;
    // SAFETY: there is room for the text and a byte.
    unsafe {
        fill(to.cast(), cap, text.as_bytes())?;
        to.add(text.len()).write(0);
    }
    Ok(text.len())
}

/// Writes values into an array of a program as far as there is room, and returns how many there are. NULL stands
/// for an array of length 0.
///
/// # Safety
///
/// `to` is NULL, or points to memory for `cap` values.
pub(crate) unsafe fn fill_array<T>(
    to: *mut T,
    cap: usize,
    from: impl Iterator<Item = T>,
) -> Result<porous_status, porous_status> {
    check(cap == 0 || !to.is_null(), POROUS_ERR_NULL)?;
    let mut number = 0;
    for value in from {
        if number < cap {
            // SAFETY: the array has room for `cap` values.
            unsafe { to.add(number).write(value) };
        }
        number += 1;
    }
    Ok(count(number))
}
