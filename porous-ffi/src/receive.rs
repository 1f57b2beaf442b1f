//! How packets are received: into the program's memory, or as they are.

use core::ffi::c_void;

use alloc::collections::BTreeMap;

use porous_proto::{PeerId, Received};

use crate::host::{Inside, enter, name, porous_host, porous_peer};
use crate::packet::porous_packet;
use crate::pointers::{fill, fill_array, wanted, write};
use crate::send::number_of;
use crate::status::{POROUS_OK, porous_status};

/// A packet that was received. This struct never changes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct porous_received {
    /// The channel that it was sent on.
    pub channel: u8,
    /// POROUS_UNRELIABLE, POROUS_RELIABLE or POROUS_PASSIVE, as it was sent.
    pub mode: u8,
    /// 0.
    pub reserved: [u8; 6],
    /// Its length in bytes.
    pub len: u64,
}

const _: () = assert!(size_of::<porous_received>() == 16);

impl From<&Received> for porous_received {
    fn from(packet: &Received) -> Self {
        Self {
            channel: packet.channel.0,
            mode: number_of(packet.mode),
            reserved: [0; 6],
            len: packet.payload.len() as u64,
        }
    }
}

/// Packets that were pulled out of the host and found no room in the program's memory: at most one of each peer
/// that the host has. The core does not say how long the next packet is before it gives it away.
#[derive(Debug, Default)]
pub(crate) struct Pulled(BTreeMap<PeerId, Received>);

impl Pulled {
    fn take(&mut self, peer: PeerId) -> Option<Received> {
        self.0.remove(&peer)
    }
}

impl Inside {
    fn next_packet(&mut self, peer: PeerId) -> Option<Received> {
        let pulled = self.pulled.take(peer);
        pulled.or_else(|| self.level.receive(peer))
    }

    /// Keeps a packet for the next call.
    fn put_back(&mut self, peer: PeerId, packet: Received) {
        // Of peers that the host has forgotten nobody will ask any more.
        let level = &self.level;
        self.pulled.0.retain(|peer, _| level.peer(*peer).is_some());
        self.pulled.0.insert(peer, packet);
    }
}

/// Takes the next packet from a peer, and copies it into `buffer`. Returns 1 if there was one; call it until it
/// returns 0. A peer that has ended, or never was, has none.
///
/// Errors: POROUS_ERR_SMALL if the packet is longer than `cap`; it is kept, and what->len says how long it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_receive(
    host: *mut porous_host,
    peer: porous_peer,
    what: *mut porous_received,
    buffer: *mut c_void,
    cap: usize,
) -> porous_status {
    // SAFETY: a host, a struct and a buffer, as the header demands.
    unsafe {
        enter(host, |host| {
            wanted(what)?;
            let Ok(peer) = name(peer) else {
                return Ok(POROUS_OK);
            };
            let Some(packet) = host.next_packet(peer) else {
                return Ok(POROUS_OK);
            };
            write(what, porous_received::from(&packet))?;
            if let Err(error) = fill(buffer, cap, &packet.payload) {
                host.put_back(peer, packet);
                return Err(error);
            }
            Ok(1)
        })
    }
}

/// Takes the next packet from a peer without a copy. Returns 1 if there was one; free it by porous_packet_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_receive_packet(
    host: *mut porous_host,
    peer: porous_peer,
    what: *mut porous_received,
    out: *mut *mut porous_packet,
) -> porous_status {
    // SAFETY: a host, a struct and a pointer, as the header demands.
    unsafe {
        enter(host, |host| {
            wanted(what)?;
            wanted(out)?;
            let Ok(peer) = name(peer) else {
                return Ok(POROUS_OK);
            };
            let Some(packet) = host.next_packet(peer) else {
                return Ok(POROUS_OK);
            };
            write(what, porous_received::from(&packet))?;
            write(out, porous_packet::hand_out(packet.payload, None))?;
            Ok(1)
        })
    }
}

/// Writes the names of the peers of which packets can be received now, also of those that have ended, at most
/// `cap`, and returns how many there are: for a program that has missed POROUS_EVENT_READABLE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_readable(
    host: *const porous_host,
    out: *mut porous_peer,
    cap: usize,
) -> porous_status {
    // SAFETY: a host and an array, as the header demands.
    unsafe {
        enter(host, |host| {
            let pulled = host.pulled.0.keys().copied();
            let others = host.level.readable();
            let others = others.filter(|peer| !host.pulled.0.contains_key(peer));
            fill_array(out, cap, pulled.chain(others).map(PeerId::to_u64))
        })
    }
}
