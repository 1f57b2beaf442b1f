//! Structs that may grow: their first field says how large they are in the program that was compiled against
//! some version of the header.

use core::mem;
use core::ptr;

use crate::status::{POROUS_ERR_NULL, POROUS_ERR_VERSION, check, porous_status};

/// More bytes than any struct will have. A size that was not set is most likely beyond, and reading as far as it
/// says would leave the program's memory.
const LARGEST: usize = 4096;

/// A struct of C whose first field is its size.
///
/// # Safety
///
/// The struct is `repr(C)`, has no padding, begins with a `u32` that is its size, and all bytes 0 but the size
/// are a valid value.
pub(crate) unsafe trait Grows: Copy {
    /// The bytes of the struct in the first version that had it.
    const FIRST: usize;

    /// Sets the size, before the value is handed out.
    fn set_size(&mut self, size: u32);
}

/// A value whose bytes are 0, for the parts of a struct that a program does not know yet.
pub(crate) fn zeroed<T: Grows>() -> T {
    // SAFETY: the trait promises that this is a valid value.
    unsafe { mem::zeroed() }
}

/// The size that a program gives its struct, within what can be.
///
/// # Safety
///
/// `struct_` is NULL, or points to as many bytes as its first four say.
unsafe fn size_of_given<T: Grows>(struct_: *const T) -> Result<u32, porous_status> {
    check(!struct_.is_null(), POROUS_ERR_NULL)?;
    // SAFETY: the caller's struct begins with its size.
    let size = unsafe { struct_.cast::<u32>().read() };
    let known = T::FIRST..=LARGEST;
    check(known.contains(&(size as usize)), POROUS_ERR_VERSION)?;
    Ok(size)
}

/// Checks the size of a struct before anything happens that could not be taken back.
///
/// # Safety
///
/// `to` is NULL, or points to as many bytes as its first four say.
pub(crate) unsafe fn check_size<T: Grows>(to: *const T) -> Result<(), porous_status> {
    // SAFETY: as the caller promises.
    unsafe { size_of_given(to).map(drop) }
}

/// Reads a struct of a program. What the program does not know yet is 0. What the library does not know yet must
/// be 0, or the program asks for something that the library cannot do.
///
/// # Safety
///
/// `from` is NULL, or points to as many bytes as its first four say.
pub(crate) unsafe fn read_sized<T: Grows>(from: *const T) -> Result<T, porous_status> {
    // SAFETY: as the caller promises.
    let given = unsafe { size_of_given(from)? } as usize;
    let mut value = zeroed::<T>();
    let ours = size_of::<T>();
    // SAFETY: both have that many bytes, and any bytes of the program's are a valid value.
    unsafe {
        let to = ptr::from_mut(&mut value).cast::<u8>();
        ptr::copy_nonoverlapping(from.cast::<u8>(), to, given.min(ours));
    }
    for at in ours..given {
        // SAFETY: the program's struct has that many bytes.
        let unknown = unsafe { from.cast::<u8>().add(at).read() };
        check(unknown == 0, POROUS_ERR_VERSION)?;
    }
    Ok(value)
}

/// Writes as much of a value as the program's struct holds.
///
/// # Safety
///
/// `to` is NULL, or points to as many bytes as its first four say.
pub(crate) unsafe fn write_sized<T: Grows>(to: *mut T, mut value: T) -> Result<(), porous_status> {
    // SAFETY: as the caller promises.
    let given = unsafe { size_of_given(to)? };
    value.set_size(given);
    let bytes = size_of::<T>().min(given as usize);
    // SAFETY: both have that many bytes.
    unsafe { ptr::copy_nonoverlapping(ptr::from_ref(&value).cast::<u8>(), to.cast(), bytes) };
    Ok(())
}

/// Fills a struct of `size` bytes of a program's for the first time: what is beyond the library's struct is 0.
///
/// # Safety
///
/// `to` is NULL, or points to `size` bytes.
pub(crate) unsafe fn init_sized<T: Grows>(
    to: *mut T,
    size: usize,
    mut value: T,
) -> Result<(), porous_status> {
    check(!to.is_null(), POROUS_ERR_NULL)?;
    check((T::FIRST..=LARGEST).contains(&size), POROUS_ERR_VERSION)?;
    value.set_size(u32::try_from(size).unwrap_or(0));
    // SAFETY: the program's struct has `size` bytes, and ours is `ours` long.
    unsafe {
        let ours = size_of::<T>().min(size);
        ptr::copy_nonoverlapping(ptr::from_ref(&value).cast::<u8>(), to.cast(), ours);
        to.cast::<u8>().add(ours).write_bytes(0, size - ours);
    }
    Ok(())
}

/// Makes a type a struct that may grow. `$first`: its bytes in the first version that had it, which never change.
macro_rules! sized {
    ($type:ty, $first:expr) => {
        const _: () = assert!(size_of::<$type>() >= $first);
        const _: () = assert!(::core::mem::offset_of!($type, size) == 0);

        // SAFETY: the struct has no padding, which `-Wpadded` shows for the header, begins with its size, and
        // consists of numbers, bytes and pointers, for all of which 0 is valid.
        unsafe impl crate::sized::Grows for $type {
            const FIRST: usize = $first;

            fn set_size(&mut self, size: u32) {
                self.size = size;
            }
        }
    };
}
pub(crate) use sized;
