//! How connections begin and end.

use core::ffi::c_void;

use alloc::vec::Vec;

use porous_proto::{Listen, PeerId};

use crate::address::porous_address;
use crate::host::{Inside, enter, farewell, name, porous_host, porous_peer};
use crate::pointers::{array, bytes, fill, fill_array, wanted, write};
use crate::status::{
    POROUS_ERR_TOO_MANY_ADDRESSES, POROUS_ERR_UNKNOWN_PEER, POROUS_ERR_VALUE, POROUS_OK, check,
    count, porous_status,
};
use crate::time::duration;

/// No stranger is answered.
pub const POROUS_LISTEN_CLOSED: u32 = 0;
/// Every host may connect, up to max_peers.
pub const POROUS_LISTEN_OPEN: u32 = 1;
/// As POROUS_LISTEN_OPEN, but the program decides about each peer: see POROUS_EVENT_REQUEST.
pub const POROUS_LISTEN_ASK: u32 = 2;
/// Every stranger is refused as POROUS_REASON_REFUSED_FULL: of a server that is about to stop.
pub const POROUS_LISTEN_FULL: u32 = 3;

/// More addresses than a program can mean: the core takes 8 different ones.
const MOST_ADDRESSES: usize = 1024;

/// The addresses to connect to.
///
/// # Safety
///
/// `to` is NULL, or points to `number` addresses.
pub(crate) unsafe fn targets(
    to: *const porous_address,
    number: usize,
) -> Result<Vec<porous_address>, porous_status> {
    check(number <= MOST_ADDRESSES, POROUS_ERR_TOO_MANY_ADDRESSES)?;
    // SAFETY: as the caller promises.
    let to = unsafe { array(to, number)? };
    to.iter().map(|address| address.known()).collect()
}

/// Connects, and tells the name of the peer.
///
/// # Safety
///
/// `out` is NULL, or points to memory for a name.
pub(crate) unsafe fn named(
    out: *mut porous_peer,
    connect: impl FnOnce() -> Result<PeerId, porous_status>,
) -> Result<porous_status, porous_status> {
    wanted(out)?;
    let peer = connect()?;
    // SAFETY: as the caller promises.
    unsafe { write(out, peer.to_u64())? };
    Ok(POROUS_OK)
}

/// What stands for a policy.
pub(crate) const fn policy(number: u32) -> Result<Listen, porous_status> {
    Ok(match number {
        POROUS_LISTEN_CLOSED => Listen::Closed,
        POROUS_LISTEN_OPEN => Listen::Open,
        POROUS_LISTEN_ASK => Listen::Ask,
        POROUS_LISTEN_FULL => Listen::Full,
        _ => return Err(POROUS_ERR_VALUE),
    })
}

/// Says whether strangers may connect: one of POROUS_LISTEN_. At first they may not.
///
/// Errors: POROUS_ERR_CANNOT_LISTEN, POROUS_ERR_VALUE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_listen(host: *mut porous_host, policy: u32) -> porous_status {
    // SAFETY: a host, as the header demands.
    unsafe {
        enter(host, |host| {
            host.level.listen(self::policy(policy)?)?;
            Ok(POROUS_OK)
        })
    }
}

/// Begins to connect, and tells the new peer. POROUS_EVENT_CONNECTED or POROUS_EVENT_DISCONNECTED follows.
///
/// Errors: POROUS_ERR_ALREADY_CONNECTED, POROUS_ERR_OUT_OF_CONNECTION_IDS, POROUS_ERR_ADDRESS, and, of a host on a
/// socket, POROUS_ERR_ADDRESS_ and more if nobody can be at the address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_connect(
    host: *mut porous_host,
    to: *const porous_address,
    out: *mut porous_peer,
) -> porous_status {
    // SAFETY: a host, an address and a number, as the header demands.
    unsafe {
        enter(host, |host| {
            let to = targets(to, 1)?;
            named(out, || host.level.connect(&to, &[]))
        })
    }
}

/// As porous_connect, to a host that may be at any of up to 8 addresses, which are tried at once, and with a
/// greeting of up to 255 bytes that its application reads by porous_peer_greeting before it accepts. A greeting of
/// a plain connection is not protected. NULL and 0: no greeting.
///
/// Errors: those of porous_connect; POROUS_ERR_NO_ADDRESS, POROUS_ERR_TOO_MANY_ADDRESSES, POROUS_ERR_TOO_LONG.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_connect_any(
    host: *mut porous_host,
    to: *const porous_address,
    to_count: usize,
    greeting: *const c_void,
    greeting_len: usize,
    out: *mut porous_peer,
) -> porous_status {
    // SAFETY: a host, addresses, bytes and a number, as the header demands.
    unsafe {
        enter(host, |host| {
            let to = targets(to, to_count)?;
            let greeting = bytes(greeting, greeting_len)?;
            named(out, || host.level.connect(&to, greeting))
        })
    }
}

/// Lets a peer in that asked by POROUS_EVENT_REQUEST. POROUS_EVENT_CONNECTED follows.
///
/// Errors: POROUS_ERR_UNKNOWN_PEER if it came too late, POROUS_ERR_NOT_ASKED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_accept(host: *mut porous_host, peer: porous_peer) -> porous_status {
    // SAFETY: a host, as the header demands.
    unsafe {
        enter(host, |host| {
            host.level.accept(name(peer)?)?;
            Ok(POROUS_OK)
        })
    }
}

/// Turns a peer away that asked by POROUS_EVENT_REQUEST, with up to 64 bytes for its application.
/// POROUS_EVENT_DISCONNECTED follows.
///
/// Errors: POROUS_ERR_UNKNOWN_PEER if it came too late, POROUS_ERR_NOT_ASKED, POROUS_ERR_TOO_LONG.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_refuse(
    host: *mut porous_host,
    peer: porous_peer,
    data: *const c_void,
    len: usize,
) -> porous_status {
    // SAFETY: a host and bytes, as the header demands.
    unsafe {
        enter(host, |host| {
            host.level.refuse(name(peer)?, bytes(data, len)?)?;
            Ok(POROUS_OK)
        })
    }
}

/// Ends a connection: at once, if `flush_at_most_us` is 0, or when all that was sent has been delivered, within
/// that time. `code` is for the application of the peer. POROUS_EVENT_DISCONNECTED follows: go on until then.
///
/// Errors: POROUS_ERR_UNKNOWN_PEER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_disconnect(
    host: *mut porous_host,
    peer: porous_peer,
    code: u32,
    flush_at_most_us: u64,
) -> porous_status {
    // SAFETY: a host, as the header demands.
    unsafe {
        enter(host, |host| {
            let how = farewell(code, duration(flush_at_most_us));
            host.level.disconnect(name(peer)?, how)?;
            Ok(POROUS_OK)
        })
    }
}

/// Ends all connections as porous_disconnect does, and lets no more strangers in. Go on until porous_is_empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_disconnect_all(
    host: *mut porous_host,
    code: u32,
    flush_at_most_us: u64,
) -> porous_status {
    // SAFETY: a host, as the header demands.
    unsafe {
        enter(host, |host| {
            let how = farewell(code, duration(flush_at_most_us));
            host.level.disconnect_all(how);
            Ok(POROUS_OK)
        })
    }
}

/// Prepares the end of a server: hosts that want to connect are refused as full, also those that wait for an answer
/// to their request, so that they can try another server. Each connection ends when all that was sent on it has been
/// delivered, or `at_most_us` is over. `code` is for the applications of the peers. Nothing can be sent from now on.
/// Called again, it can shorten the time, and changes neither the code nor the time otherwise. Go on until
/// porous_is_empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_drain(
    host: *mut porous_host,
    code: u32,
    at_most_us: u64,
) -> porous_status {
    // SAFETY: a host, as the header demands.
    unsafe {
        enter(host, |host| {
            host.level.drain(code, duration(at_most_us));
            Ok(POROUS_OK)
        })
    }
}

/// Returns 1 if the host has no live peers, and nothing more to say to those that have ended; 0 otherwise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_is_empty(host: *const porous_host) -> porous_status {
    // SAFETY: a host, as the header demands.
    unsafe { enter(host, |host| Ok(host.level.is_empty().into())) }
}

/// Writes the names of the live peers, at most `cap`, and returns how many there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_peers(
    host: *const porous_host,
    out: *mut porous_peer,
    cap: usize,
) -> porous_status {
    // SAFETY: a host and an array, as the header demands.
    unsafe {
        enter(host, |host| {
            fill_array(out, cap, host.level.peers().map(PeerId::to_u64))
        })
    }
}

/// Tells the address that datagrams to a peer go to.
///
/// Errors: POROUS_ERR_UNKNOWN_PEER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_peer_address(
    host: *const porous_host,
    peer: porous_peer,
    out: *mut porous_address,
) -> porous_status {
    // SAFETY: a host and an address, as the header demands.
    unsafe {
        enter(host, |host| {
            let address = host.level.address(name(peer)?);
            write(out, address.ok_or(POROUS_ERR_UNKNOWN_PEER)?)?;
            Ok(POROUS_OK)
        })
    }
}

/// Writes what the remote application said with its request to connect, and returns its length: at most 255 bytes,
/// 0 if it said nothing. It is there from POROUS_EVENT_REQUEST or POROUS_EVENT_CONNECTED on. In a plain connection
/// it proves nothing.
///
/// Errors: POROUS_ERR_UNKNOWN_PEER, POROUS_ERR_SMALL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_peer_greeting(
    host: *const porous_host,
    peer: porous_peer,
    buffer: *mut c_void,
    cap: usize,
) -> porous_status {
    // SAFETY: a host and a buffer, as the header demands.
    unsafe {
        enter(host, |host: &mut Inside| {
            let greeting = host.peer(peer)?.greeting();
            fill(buffer, cap, greeting)?;
            Ok(count(greeting.len()))
        })
    }
}
