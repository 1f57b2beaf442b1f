//! Packets that the program takes as they are.

use core::ffi::c_void;

use alloc::boxed::Box;

use bytes::Bytes;
use porous_proto::SendOptions;

use crate::panic::guard;
use crate::status::POROUS_OK;

/// A packet that was received. It belongs to the caller, and stays when its host is freed. One thread at a time
/// uses it, of which any may free it.
#[derive(Debug)]
pub struct porous_packet {
    pub(crate) bytes: Bytes,
    /// How it was sent, if it comes back from a network thread.
    #[cfg_attr(
        not(feature = "udp"),
        expect(dead_code, reason = "without sockets there are no network threads")
    )]
    pub(crate) sent: Option<SendOptions>,
}

impl porous_packet {
    /// The packet as the program gets it.
    pub(crate) fn hand_out(bytes: Bytes, sent: Option<SendOptions>) -> *mut Self {
        Box::into_raw(Box::new(Self { bytes, sent }))
    }
}

/// The bytes of a packet, and their number in `len`, which may be NULL. They stay as they are until the packet is
/// freed. NULL, and 0, of a packet that is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_packet_data(
    packet: *const porous_packet,
    len: *mut usize,
) -> *const c_void {
    // SAFETY: a packet that was not freed, and a number, as the header demands.
    unsafe {
        let bytes = packet.as_ref().map(|packet| &packet.bytes);
        if let Some(len) = len.as_mut() {
            *len = bytes.map_or(0, Bytes::len);
        }
        bytes.map_or(core::ptr::null(), |bytes| bytes.as_ptr().cast())
    }
}

/// Frees a packet. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_packet_free(packet: *mut porous_packet) {
    guard(|| {
        if !packet.is_null() {
            // SAFETY: a packet that was handed out and not freed, as the header demands.
            drop(unsafe { Box::from_raw(packet) });
        }
        Ok(POROUS_OK)
    });
}
