//! How packets are sent.

use core::ffi::c_void;

use porous_proto::{ChannelId, Mode, SendOptions};

use crate::blob::porous_blob;
use crate::config::rate;
use crate::host::{Rate, enter, name, porous_host, porous_peer};
use crate::panic::guard;
use crate::pointers::bytes;
use crate::sized::{init_sized, read_sized, sized, zeroed};
use crate::status::{POROUS_ERR_NULL, POROUS_ERR_VALUE, POROUS_OK, check, porous_status};
use crate::time::duration;

/// Sent once: it may arrive.
pub const POROUS_UNRELIABLE: u32 = 0;
/// Repeated until it arrives, and the channel waits for it.
pub const POROUS_RELIABLE: u32 = 1;
/// Repeated until it arrives, but nobody waits for it.
pub const POROUS_PASSIVE: u32 = 2;

/// For `redundancy`: no copies, whatever gets lost.
pub const POROUS_NO_COPIES: u8 = 255;

/// How a packet is sent. Set it up by porous_send_options_init.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct porous_send_options {
    /// sizeof(porous_send_options).
    pub size: u32,
    /// POROUS_UNRELIABLE, POROUS_RELIABLE or POROUS_PASSIVE.
    pub mode: u8,
    /// Copies of the packet in later datagrams: 1 to 3, or POROUS_NO_COPIES; 0: as the host finds it useful.
    pub redundancy: u8,
    /// 1: `receipt` counts.
    pub has_receipt: u8,
    /// 1: `key` counts.
    pub has_key: u8,
    /// The age at which the packet is of no more use; 0: none.
    pub ttl_us: u64,
    /// POROUS_EVENT_RECEIPT with this token tells what became of the packet.
    pub receipt: u64,
    /// Only the newest packet of a channel with this key is of use: it replaces the others.
    pub key: u64,
}

const _: () = assert!(size_of::<porous_send_options>() == 32);
sized!(porous_send_options, 32);

const fn mode(number: u32) -> Result<Mode, porous_status> {
    Ok(match number {
        POROUS_UNRELIABLE => Mode::Unreliable,
        POROUS_RELIABLE => Mode::Reliable,
        POROUS_PASSIVE => Mode::Passive,
        _ => return Err(POROUS_ERR_VALUE),
    })
}

/// The number of a mode.
pub(crate) const fn number_of(mode: Mode) -> u8 {
    match mode {
        Mode::Unreliable => 0,
        Mode::Reliable => 1,
        Mode::Passive => 2,
    }
}

impl porous_send_options {
    /// The options that a program gives.
    ///
    /// # Safety
    ///
    /// `from` is NULL, or points to options as the header demands.
    pub(crate) unsafe fn take(from: *const Self) -> Result<SendOptions, porous_status> {
        // SAFETY: as the caller promises.
        let given = unsafe { read_sized(from)? };
        check(
            given.has_receipt <= 1 && given.has_key <= 1,
            POROUS_ERR_VALUE,
        )?;
        let mut options = SendOptions::new(mode(given.mode.into())?);
        match given.redundancy {
            0 => {}
            copies @ 1..=3 => options = options.redundancy(copies),
            POROUS_NO_COPIES => options = options.redundancy(0),
            _ => return Err(POROUS_ERR_VALUE),
        }
        if given.ttl_us > 0 {
            options = options.ttl(duration(given.ttl_us));
        }
        if given.has_receipt == 1 {
            options = options.receipt(given.receipt);
        }
        if given.has_key == 1 {
            options = options.key(given.key);
        }
        Ok(options)
    }
}

/// Sets options up that have nothing but a mode. `size` is sizeof(porous_send_options).
///
/// Errors: POROUS_ERR_VALUE for an unknown mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_send_options_init(
    options: *mut porous_send_options,
    size: usize,
    mode: u32,
) -> porous_status {
    guard(|| {
        let options_of = porous_send_options {
            mode: number_of(self::mode(mode)?),
            ..zeroed()
        };
        // SAFETY: a struct of `size` bytes, as the header demands.
        unsafe { init_sized(options, size, options_of)? };
        Ok(POROUS_OK)
    })
}

/// Queues a packet, of which the bytes are copied. It leaves with the next output of the host. `mode` is
/// POROUS_UNRELIABLE, POROUS_RELIABLE or POROUS_PASSIVE.
///
/// Errors: POROUS_ERR_FULL: go on when POROUS_EVENT_WRITABLE comes; POROUS_ERR_UNKNOWN_PEER,
/// POROUS_ERR_NOT_CONNECTED, POROUS_ERR_DISCONNECTING, POROUS_ERR_UNKNOWN_CHANNEL, POROUS_ERR_TOO_LARGE,
/// POROUS_ERR_VALUE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_send(
    host: *mut porous_host,
    peer: porous_peer,
    channel: u8,
    mode: u32,
    data: *const c_void,
    len: usize,
) -> porous_status {
    // SAFETY: a host and bytes, as the header demands.
    unsafe {
        enter(host, |host| {
            let (peer, options) = (name(peer)?, SendOptions::new(self::mode(mode)?));
            let packet = bytes(data, len)?;
            host.level.send(peer, ChannelId(channel), packet, options)?;
            Ok(POROUS_OK)
        })
    }
}

/// As porous_send, with options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_send_with(
    host: *mut porous_host,
    peer: porous_peer,
    channel: u8,
    data: *const c_void,
    len: usize,
    options: *const porous_send_options,
) -> porous_status {
    // SAFETY: a host, bytes and options, as the header demands.
    unsafe {
        enter(host, |host| {
            let (peer, options) = (name(peer)?, porous_send_options::take(options)?);
            let packet = bytes(data, len)?;
            host.level.send(peer, ChannelId(channel), packet, options)?;
            Ok(POROUS_OK)
        })
    }
}

/// As porous_send_with, without a copy: the host shares the bytes of the blob until it needs them no more. The
/// caller keeps the blob, may send it to others, and frees it at any time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_send_blob(
    host: *mut porous_host,
    peer: porous_peer,
    channel: u8,
    blob: *const porous_blob,
    options: *const porous_send_options,
) -> porous_status {
    // SAFETY: a host, a blob and options, as the header demands.
    unsafe {
        enter(host, |host| {
            let (peer, options) = (name(peer)?, porous_send_options::take(options)?);
            let blob = blob.as_ref().ok_or(POROUS_ERR_NULL)?;
            let (channel, packet) = (ChannelId(channel), blob.share());
            host.level.send_shared(peer, channel, packet, options)?;
            Ok(POROUS_OK)
        })
    }
}

/// Cancels the packets of a channel that were sent with this receipt: nothing more of them is sent. Returns 1 if
/// there were any, 0 otherwise; POROUS_EVENT_RECEIPT tells what becomes of them.
///
/// Errors: POROUS_ERR_UNKNOWN_PEER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_cancel(
    host: *mut porous_host,
    peer: porous_peer,
    channel: u8,
    receipt: u64,
) -> porous_status {
    // SAFETY: a host, as the header demands.
    unsafe {
        enter(host, |host| {
            host.peer(peer)?;
            let peer = name(peer)?;
            Ok(host.level.cancel(peer, ChannelId(channel), receipt).into())
        })
    }
}

/// Changes the most that is sent to a peer, in bytes a second; 0: no limit.
///
/// Errors: POROUS_ERR_UNKNOWN_PEER, POROUS_ERR_NOT_CONNECTED, POROUS_ERR_DISCONNECTING.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_set_send_rate(
    host: *mut porous_host,
    peer: porous_peer,
    bytes_a_second: u32,
) -> porous_status {
    // SAFETY: a host, as the header demands.
    unsafe {
        enter(host, |host| {
            let bytes = rate(bytes_a_second);
            host.level.set_rate(name(peer)?, Rate::Send, bytes)?;
            Ok(POROUS_OK)
        })
    }
}

/// Changes the most that a peer is asked to send, in bytes a second; 0: no limit.
///
/// Errors: as porous_set_send_rate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_set_receive_rate(
    host: *mut porous_host,
    peer: porous_peer,
    bytes_a_second: u32,
) -> porous_status {
    // SAFETY: a host, as the header demands.
    unsafe {
        enter(host, |host| {
            let bytes = rate(bytes_a_second);
            host.level.set_rate(name(peer)?, Rate::Receive, bytes)?;
            Ok(POROUS_OK)
        })
    }
}

/// Changes the most that is sent on a channel to a peer, in bytes a second; 0: no limit.
///
/// Errors: as porous_set_send_rate, and POROUS_ERR_UNKNOWN_CHANNEL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_set_channel_rate(
    host: *mut porous_host,
    peer: porous_peer,
    channel: u8,
    bytes_a_second: u32,
) -> porous_status {
    // SAFETY: a host, as the header demands.
    unsafe {
        enter(host, |host| {
            let (which, bytes) = (Rate::Channel(ChannelId(channel)), rate(bytes_a_second));
            host.level.set_rate(name(peer)?, which, bytes)?;
            Ok(POROUS_OK)
        })
    }
}

/// Changes the most that is sent to all peers together, in bytes a second; 0: no limit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_set_host_send_rate(
    host: *mut porous_host,
    bytes_a_second: u32,
) -> porous_status {
    // SAFETY: a host, as the header demands.
    unsafe {
        enter(host, |host| {
            host.level.set_host_send_rate(rate(bytes_a_second));
            Ok(POROUS_OK)
        })
    }
}
