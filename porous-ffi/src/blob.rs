//! Bytes that are sent to many peers, or often, without a copy.

use core::ffi::c_void;
use core::slice;

use alloc::boxed::Box;

use bytes::Bytes;

use crate::panic::guard;
use crate::pointers::{bytes, wanted, write};
use crate::status::{POROUS_OK, porous_status};

/// Bytes to be sent. It belongs to the caller, and may be freed as soon as it was sent: hosts keep the bytes for
/// as long as they need them. Any thread may use it and free it.
#[derive(Debug)]
pub struct porous_blob(Bytes);

impl porous_blob {
    /// The bytes, for a host.
    pub(crate) fn share(&self) -> Bytes {
        self.0.clone()
    }
}

/// Called when the bytes of a blob are needed no more, with the pointer that porous_blob_wrap was given: by
/// whichever thread is the last to use them, perhaps within a call of the library, into which it must not call.
pub type porous_release = Option<unsafe extern "C" fn(user: *mut c_void)>;

/// The program's memory.
struct Wrapped {
    from: *const u8,
    len: usize,
    release: porous_release,
    user: *mut c_void,
}

// SAFETY: the header says that the memory may be read by any thread, and that any may release it.
unsafe impl Send for Wrapped {}

impl AsRef<[u8]> for Wrapped {
    fn as_ref(&self) -> &[u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: the pointer and the length were checked, and the memory stays until it is released.
        unsafe { slice::from_raw_parts(self.from, self.len) }
    }
}

impl Drop for Wrapped {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: the program's own function and pointer, once.
            unsafe { release(self.user) };
        }
    }
}

/// Makes a blob with a copy of the bytes.
///
/// Errors: POROUS_ERR_VALUE for a length that no memory has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_blob_copy(
    data: *const c_void,
    len: usize,
    out: *mut *mut porous_blob,
) -> porous_status {
    guard(|| {
        // SAFETY: bytes and a pointer, as the header demands.
        unsafe {
            wanted(out)?;
            let blob = porous_blob(Bytes::copy_from_slice(bytes(data, len)?));
            write(out, Box::into_raw(Box::new(blob)))?;
        }
        Ok(POROUS_OK)
    })
}

/// Makes a blob of memory of the program's, without a copy. The memory stays as it is until `release` is called
/// with `user`; for ever, if `release` is NULL. If this fails, it is not called.
///
/// Errors: POROUS_ERR_VALUE for a length that no memory has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_blob_wrap(
    data: *const c_void,
    len: usize,
    release: porous_release,
    user: *mut c_void,
    out: *mut *mut porous_blob,
) -> porous_status {
    guard(|| {
        // SAFETY: bytes and a pointer, as the header demands.
        unsafe {
            wanted(out)?;
            bytes(data, len)?;
            let wrapped = Wrapped {
                from: data.cast(),
                len,
                release,
                user,
            };
            let blob = porous_blob(Bytes::from_owner(wrapped));
            write(out, Box::into_raw(Box::new(blob)))?;
        }
        Ok(POROUS_OK)
    })
}

/// Frees a blob. NULL is fine. Packets that were sent with it are sent all the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_blob_free(blob: *mut porous_blob) {
    guard(|| {
        if !blob.is_null() {
            // SAFETY: a blob that was handed out and not freed, as the header demands.
            drop(unsafe { Box::from_raw(blob) });
        }
        Ok(POROUS_OK)
    });
}
