//! The commands that a program gives to a network thread.

use core::ffi::c_void;
use core::net::SocketAddr;

use alloc::vec::Vec;

use bytes::Bytes;
use porous_proto::{ChannelId, RefusalData};

use crate::address::porous_address;
use crate::blob::porous_blob;
use crate::config::rate;
use crate::connect::{policy, targets};
use crate::connection_ids::porous_connection_ids;
#[cfg(feature = "seal")]
use crate::credentials::{porous_credentials, porous_secured};
use crate::host::{farewell, name, porous_peer};
use crate::packet::porous_packet;
use crate::pointers::{bytes, fill, read};
#[cfg(feature = "seal")]
use crate::security::porous_security;
use crate::send::porous_send_options;
#[cfg(feature = "seal")]
use crate::sized::{check_size, write_sized};
use crate::status::{
    Numbered, POROUS_ERR_NULL, POROUS_ERR_TOO_LONG, POROUS_ERR_VALUE, POROUS_OK, count, number,
    porous_status,
};
use crate::thread::{Worker, enter, porous_thread};
use crate::time::duration;
use crate::udp_host::sockets;

/// Queues a command that may find no room.
fn queue(queued: Result<(), porous_std::ThreadError>) -> Result<porous_status, porous_status> {
    number(queued)?;
    Ok(POROUS_OK)
}

/// The addresses to connect to.
///
/// # Safety
///
/// `to` is NULL, or points to `number` addresses.
unsafe fn addresses(
    to: *const porous_address,
    number: usize,
) -> Result<Vec<SocketAddr>, porous_status> {
    // SAFETY: as the caller promises.
    sockets(&unsafe { targets(to, number)? })
}

/// Says whether strangers may connect: one of POROUS_LISTEN_. POROUS_OUTPUT_NOT_LISTENING tells if they never may.
///
/// Errors, of this and all commands: POROUS_ERR_THREAD_FULL, POROUS_ERR_THREAD_ENDED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_listen(
    thread: *mut porous_thread,
    policy: u32,
) -> porous_status {
    // SAFETY: a thread, as the header demands.
    unsafe {
        enter(thread, |worker| {
            let policy = self::policy(policy)?;
            queue(worker.thread()?.listen(policy))
        })
    }
}

/// Begins to connect, as porous_connect_any does. POROUS_OUTPUT_CONNECTING names the peer, or
/// POROUS_OUTPUT_NOT_CONNECTING says why not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_connect(
    thread: *mut porous_thread,
    to: *const porous_address,
    to_count: usize,
    greeting: *const c_void,
    greeting_len: usize,
) -> porous_status {
    // SAFETY: a thread, addresses and bytes, as the header demands.
    unsafe {
        enter(thread, |worker| {
            let (to, greeting) = (addresses(to, to_count)?, bytes(greeting, greeting_len)?);
            queue(worker.thread()?.connect_with(&to, greeting))
        })
    }
}

/// Begins to make a sealed connection, as porous_connect_sealed does. POROUS_OUTPUT_CONNECTING names the peer, or
/// POROUS_OUTPUT_NOT_CONNECTING says why not.
#[cfg(feature = "seal")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_connect_sealed(
    thread: *mut porous_thread,
    to: *const porous_address,
    to_count: usize,
    with: *const porous_credentials,
) -> porous_status {
    // SAFETY: a thread, addresses, and a struct with what it points to, as the header demands.
    unsafe {
        enter(thread, |worker| {
            let (to, with) = (addresses(to, to_count)?, porous_credentials::take(with)?);
            queue(worker.thread()?.connect_sealed(&to, &with))
        })
    }
}

/// Says how the host seals, as porous_set_security does.
///
/// Errors: those of porous_set_security.
#[cfg(feature = "seal")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_set_security(
    thread: *mut porous_thread,
    security: *const porous_security,
) -> porous_status {
    // SAFETY: a thread, and a struct with its keys, as the header demands.
    unsafe {
        enter(thread, |worker| {
            let security = porous_security::take(security)?;
            queue(worker.thread()?.set_security(security))
        })
    }
}

/// Lets a peer in that asked by POROUS_EVENT_REQUEST.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_accept(
    thread: *mut porous_thread,
    peer: porous_peer,
) -> porous_status {
    // SAFETY: a thread, as the header demands.
    unsafe { enter(thread, |worker| queue(worker.thread()?.accept(name(peer)?))) }
}

/// Turns a peer away that asked by POROUS_EVENT_REQUEST, with up to 64 bytes for its application.
///
/// Errors: POROUS_ERR_TOO_LONG.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_refuse(
    thread: *mut porous_thread,
    peer: porous_peer,
    data: *const c_void,
    len: usize,
) -> porous_status {
    // SAFETY: a thread and bytes, as the header demands.
    unsafe {
        enter(thread, |worker| {
            let said = RefusalData::new(bytes(data, len)?).ok_or(POROUS_ERR_TOO_LONG)?;
            queue(worker.thread()?.refuse(name(peer)?, said))
        })
    }
}

/// Queues a packet.
fn send(
    worker: &mut Worker,
    peer: porous_peer,
    channel: u8,
    packet: Bytes,
    options: porous_proto::SendOptions,
) -> Result<porous_status, porous_status> {
    let sent = (worker.thread()?).send(name(peer)?, ChannelId(channel), packet, options);
    sent.map_err(|unsent| unsent.error.status())?;
    Ok(POROUS_OK)
}

/// Queues a packet, of which the bytes are copied, and wakes the thread to send it. What only the host can find brings
/// the packet back, by POROUS_OUTPUT_UNSENT.
///
/// Errors: those of porous_send_with. After POROUS_ERR_FULL an earlier packet has come back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_send(
    thread: *mut porous_thread,
    peer: porous_peer,
    channel: u8,
    data: *const c_void,
    len: usize,
    options: *const porous_send_options,
) -> porous_status {
    // SAFETY: a thread, bytes and options, as the header demands.
    unsafe {
        enter(thread, |worker| {
            let options = porous_send_options::take(options)?;
            let packet = Bytes::copy_from_slice(bytes(data, len)?);
            send(worker, peer, channel, packet, options)
        })
    }
}

/// As porous_thread_send, without a copy: see porous_send_blob.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_send_blob(
    thread: *mut porous_thread,
    peer: porous_peer,
    channel: u8,
    blob: *const porous_blob,
    options: *const porous_send_options,
) -> porous_status {
    // SAFETY: a thread, a blob and options, as the header demands.
    unsafe {
        enter(thread, |worker| {
            let options = porous_send_options::take(options)?;
            let blob = blob.as_ref().ok_or(POROUS_ERR_NULL)?;
            send(worker, peer, channel, blob.share(), options)
        })
    }
}

/// Sends a packet again that has come back by POROUS_OUTPUT_UNSENT, as it was sent before and without a copy. The caller
/// keeps the packet, and frees it.
///
/// Errors: those of porous_thread_send; POROUS_ERR_VALUE for a packet that was received.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_send_packet(
    thread: *mut porous_thread,
    peer: porous_peer,
    channel: u8,
    packet: *const porous_packet,
) -> porous_status {
    // SAFETY: a thread and a packet, as the header demands.
    unsafe {
        enter(thread, |worker| {
            let packet = packet.as_ref().ok_or(POROUS_ERR_NULL)?;
            let options = packet.sent.ok_or(POROUS_ERR_VALUE)?;
            send(worker, peer, channel, packet.bytes.clone(), options)
        })
    }
}

/// Cancels the packets of a channel that were sent with this receipt. POROUS_EVENT_RECEIPT tells what becomes of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_cancel(
    thread: *mut porous_thread,
    peer: porous_peer,
    channel: u8,
    receipt: u64,
) -> porous_status {
    // SAFETY: a thread, as the header demands.
    unsafe {
        enter(thread, |worker| {
            let peer = name(peer)?;
            queue((worker.thread()?).cancel(peer, ChannelId(channel), receipt))
        })
    }
}

/// Ends a connection, as porous_disconnect does. POROUS_EVENT_DISCONNECTED follows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_disconnect(
    thread: *mut porous_thread,
    peer: porous_peer,
    code: u32,
    flush_at_most_us: u64,
) -> porous_status {
    // SAFETY: a thread, as the header demands.
    unsafe {
        enter(thread, |worker| {
            let (peer, how) = (name(peer)?, farewell(code, duration(flush_at_most_us)));
            queue(worker.thread()?.disconnect(peer, how))
        })
    }
}

/// Ends a server: newcomers are refused as POROUS_REASON_REFUSED_FULL, and each connection ends when all that was sent
/// on it was delivered, or `at_most_us` is over: see porous_drain. POROUS_EVENT_DISCONNECTED follows of each peer. Then
/// call porous_thread_close, which also waits for a drain that is under way, but drops what comes meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_drain(
    thread: *mut porous_thread,
    code: u32,
    at_most_us: u64,
) -> porous_status {
    // SAFETY: a thread, as the header demands.
    unsafe {
        enter(thread, |worker| {
            queue(worker.thread()?.drain(code, duration(at_most_us)))
        })
    }
}

/// Puts a suffix behind the end of each datagram to an address, as porous_udp_set_suffix does.
/// POROUS_OUTPUT_NOT_SUFFIXED tells if it was too long, or too late.
///
/// Errors: POROUS_ERR_ADDRESS.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_set_suffix(
    thread: *mut porous_thread,
    to: *const porous_address,
    suffix: *const c_void,
    len: usize,
) -> porous_status {
    // SAFETY: a thread, an address and bytes, as the header demands.
    unsafe {
        enter(thread, |worker| {
            let (to, suffix) = (read(to)?.socket()?, bytes(suffix, len)?);
            queue(worker.thread()?.set_suffix(to, suffix))
        })
    }
}

/// Says how the ids of new connections are made, as porous_set_connection_ids does. POROUS_OUTPUT_IDS_UNCHANGED tells if
/// this host cannot make such ids.
///
/// Errors: POROUS_ERR_IDS_ROTATION, POROUS_ERR_IDS_SERVER_ID, POROUS_ERR_VALUE, POROUS_ERR_UNSUPPORTED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_set_connection_ids(
    thread: *mut porous_thread,
    ids: *const porous_connection_ids,
) -> porous_status {
    // SAFETY: a thread and a struct, as the header demands.
    unsafe {
        enter(thread, |worker| {
            let ids = porous_connection_ids::take(ids)?;
            queue(worker.thread()?.set_connection_ids(ids))
        })
    }
}

/// Asks for the counters of the host: POROUS_OUTPUT_STATS follows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_ask_stats(thread: *mut porous_thread) -> porous_status {
    // SAFETY: a thread, as the header demands.
    unsafe { enter(thread, |worker| queue(worker.thread()?.ask_stats())) }
}

/// Asks for the counters and estimates of a peer: POROUS_OUTPUT_PEER_STATS follows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_ask_peer_stats(
    thread: *mut porous_thread,
    peer: porous_peer,
) -> porous_status {
    // SAFETY: a thread, as the header demands.
    unsafe {
        enter(thread, |worker| {
            queue(worker.thread()?.ask_peer_stats(name(peer)?))
        })
    }
}

/// Asks how far the packet with a receipt has come: POROUS_OUTPUT_SEND_PROGRESS follows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_ask_send_progress(
    thread: *mut porous_thread,
    peer: porous_peer,
    channel: u8,
    receipt: u64,
) -> porous_status {
    // SAFETY: a thread, as the header demands.
    unsafe {
        enter(thread, |worker| {
            let peer = name(peer)?;
            queue((worker.thread()?).ask_send_progress(peer, ChannelId(channel), receipt))
        })
    }
}

/// Asks how much of a packet has come on a channel: POROUS_OUTPUT_RECEIVE_PROGRESS follows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_ask_receive_progress(
    thread: *mut porous_thread,
    peer: porous_peer,
    channel: u8,
) -> porous_status {
    // SAFETY: a thread, as the header demands.
    unsafe {
        enter(thread, |worker| {
            let peer = name(peer)?;
            queue((worker.thread()?).ask_receive_progress(peer, ChannelId(channel)))
        })
    }
}

/// Changes the most that is sent to a peer, in bytes a second; 0: no limit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_set_send_rate(
    thread: *mut porous_thread,
    peer: porous_peer,
    bytes_a_second: u32,
) -> porous_status {
    // SAFETY: a thread, as the header demands.
    unsafe {
        enter(thread, |worker| {
            let (peer, bytes) = (name(peer)?, rate(bytes_a_second));
            queue(worker.thread()?.set_send_rate(peer, bytes))
        })
    }
}

/// Changes the most that a peer is asked to send, in bytes a second; 0: no limit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_set_receive_rate(
    thread: *mut porous_thread,
    peer: porous_peer,
    bytes_a_second: u32,
) -> porous_status {
    // SAFETY: a thread, as the header demands.
    unsafe {
        enter(thread, |worker| {
            let (peer, bytes) = (name(peer)?, rate(bytes_a_second));
            queue(worker.thread()?.set_receive_rate(peer, bytes))
        })
    }
}

/// Changes the most that is sent on a channel to a peer, in bytes a second; 0: no limit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_set_channel_rate(
    thread: *mut porous_thread,
    peer: porous_peer,
    channel: u8,
    bytes_a_second: u32,
) -> porous_status {
    // SAFETY: a thread, as the header demands.
    unsafe {
        enter(thread, |worker| {
            let (peer, bytes) = (name(peer)?, rate(bytes_a_second));
            queue((worker.thread()?).set_channel_rate(peer, ChannelId(channel), bytes))
        })
    }
}

/// Changes the most that is sent to all peers together, in bytes a second; 0: no limit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_set_host_send_rate(
    thread: *mut porous_thread,
    bytes_a_second: u32,
) -> porous_status {
    // SAFETY: a thread, as the header demands.
    unsafe {
        enter(thread, |worker| {
            queue(worker.thread()?.set_host_send_rate(rate(bytes_a_second)))
        })
    }
}

/// Writes what a remote application said with its request, and returns its length, 255 at most: from
/// POROUS_EVENT_REQUEST or POROUS_EVENT_CONNECTED until POROUS_EVENT_DISCONNECTED was taken. 0 of other peers.
///
/// Errors: POROUS_ERR_SMALL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_greeting(
    thread: *const porous_thread,
    peer: porous_peer,
    buffer: *mut c_void,
    cap: usize,
) -> porous_status {
    // SAFETY: a thread and a buffer, as the header demands.
    unsafe {
        enter(thread, |worker| {
            let thread = worker.thread()?;
            let greeting = name(peer).map_or_else(|_| &[][..], |peer| thread.greeting(peer));
            fill(buffer, cap, greeting)?;
            Ok(count(greeting.len()))
        })
    }
}

/// Tells what is proved of a connection, as porous_peer_secured does. Returns 1 if it is sealed, 0 if it is plain, or
/// there is no such peer.
#[cfg(feature = "seal")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_secured(
    thread: *const porous_thread,
    peer: porous_peer,
    secured: *mut porous_secured,
) -> porous_status {
    // SAFETY: a thread and a struct with its size, as the header demands.
    unsafe {
        enter(thread, |worker| {
            check_size(secured)?;
            let thread = worker.thread()?;
            let Some(known) = name(peer).ok().and_then(|peer| thread.secured(peer)) else {
                return Ok(POROUS_OK);
            };
            write_sized(secured, known.into())?;
            Ok(1)
        })
    }
}
