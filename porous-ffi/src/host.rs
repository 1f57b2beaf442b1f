//! One handle for both levels.

use core::fmt;
use core::time::Duration;

use alloc::boxed::Box;

use bytes::Bytes;
#[cfg(feature = "seal")]
use porous_proto::seal::{Credentials, Security};
use porous_proto::{
    ChannelId, ConnectionIds, Disconnect, HostStats, Listen, Peer, PeerId, Received, SendOptions,
};

use crate::address::porous_address;
use crate::core_host::CoreHost;
use crate::door::{Door, free};
use crate::event::porous_event;
use crate::panic::guard;
use crate::pointers::{wanted, write};
use crate::receive::Pulled;
use crate::status::{
    POROUS_ERR_KIND, POROUS_ERR_NULL, POROUS_ERR_UNKNOWN_PEER, POROUS_OK, porous_status,
};
#[cfg(feature = "udp")]
use crate::udp_host::BoundHost;

/// Names a peer of a host. Never 0, and not given to another peer before 4 billion others had its place.
pub type porous_peer = u64;

/// A host: without a socket, or on a UDP socket of its own. One thread at a time uses it; it may be another one
/// later.
pub struct porous_host(Door<Inside>);

impl fmt::Debug for porous_host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("porous_host").finish_non_exhaustive()
    }
}

/// What a call gets at.
pub(crate) struct Inside {
    pub(crate) level: Box<dyn Level>,
    pub(crate) pulled: Pulled,
}

/// What both kinds of host can do. An error is the number that the call answers.
pub(crate) trait Level: Send {
    /// The host without a socket, if it is one.
    fn core(&mut self) -> Option<&mut CoreHost> {
        None
    }

    /// The host on a socket, if it is one.
    #[cfg(feature = "udp")]
    fn udp(&mut self) -> Option<&mut BoundHost> {
        None
    }

    fn listen(&mut self, policy: Listen) -> Result<(), porous_status>;
    fn connect(&mut self, to: &[porous_address], greeting: &[u8]) -> Result<PeerId, porous_status>;
    #[cfg(feature = "seal")]
    fn connect_sealed(
        &mut self,
        to: &[porous_address],
        with: &Credentials,
    ) -> Result<PeerId, porous_status>;
    #[cfg(feature = "seal")]
    fn set_security(&mut self, security: Security);
    fn set_connection_ids(&mut self, ids: ConnectionIds) -> Result<(), porous_status>;
    fn accept(&mut self, peer: PeerId) -> Result<(), porous_status>;
    fn refuse(&mut self, peer: PeerId, data: &[u8]) -> Result<(), porous_status>;
    fn disconnect(&mut self, peer: PeerId, how: Disconnect) -> Result<(), porous_status>;
    fn disconnect_all(&mut self, how: Disconnect);
    fn drain(&mut self, reason: u32, deadline: Duration);
    /// Sends a copy of the bytes. As a `Payload` they would go through memory once more: 3 ns of a send.
    fn send(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        packet: &[u8],
        options: SendOptions,
    ) -> Result<(), porous_status>;
    fn send_shared(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        packet: Bytes,
        options: SendOptions,
    ) -> Result<(), porous_status>;
    fn cancel(&mut self, peer: PeerId, channel: ChannelId, token: u64) -> bool;
    fn receive(&mut self, peer: PeerId) -> Option<Received>;
    fn poll_event(&mut self) -> Option<porous_event>;
    fn set_rate(&mut self, peer: PeerId, which: Rate, bytes: u32) -> Result<(), porous_status>;
    fn set_host_send_rate(&mut self, bytes_a_second: u32);
    fn is_empty(&self) -> bool;
    fn peer(&self, peer: PeerId) -> Option<&Peer>;
    fn peers(&self) -> Box<dyn Iterator<Item = PeerId> + '_>;
    fn readable(&self) -> Box<dyn Iterator<Item = PeerId> + '_>;
    fn address(&self, peer: PeerId) -> Option<porous_address>;
    fn stats(&self) -> HostStats;
}

/// A rate to a peer that may be changed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rate {
    Send,
    Receive,
    Channel(ChannelId),
}

impl Inside {
    pub(crate) fn core(&mut self) -> Result<&mut CoreHost, porous_status> {
        self.level.core().ok_or(POROUS_ERR_KIND)
    }

    #[cfg(feature = "udp")]
    pub(crate) fn udp(&mut self) -> Result<&mut BoundHost, porous_status> {
        self.level.udp().ok_or(POROUS_ERR_KIND)
    }

    /// The peer, as long as the host has it.
    pub(crate) fn peer(&self, peer: porous_peer) -> Result<&Peer, porous_status> {
        self.level.peer(name(peer)?).ok_or(POROUS_ERR_UNKNOWN_PEER)
    }
}

/// The peer with this name. Most numbers name nobody.
pub(crate) fn name(peer: porous_peer) -> Result<PeerId, porous_status> {
    PeerId::from_u64(peer).ok_or(POROUS_ERR_UNKNOWN_PEER)
}

/// How to disconnect.
pub(crate) const fn farewell(reason: u32, flush_at_most: Duration) -> Disconnect {
    if flush_at_most.is_zero() {
        Disconnect::Now { reason }
    } else {
        let deadline = flush_at_most;
        Disconnect::Flush { reason, deadline }
    }
}

impl porous_host {
    /// Hands a new host out.
    ///
    /// # Safety
    ///
    /// `out` is NULL, or points to memory for a pointer.
    pub(crate) unsafe fn hand_out(
        out: *mut *mut Self,
        level: impl FnOnce() -> Result<Box<dyn Level>, porous_status>,
    ) -> Result<porous_status, porous_status> {
        // Before the host is made: it would be lost.
        wanted(out)?;
        let inside = Inside {
            level: level()?,
            pulled: Pulled::default(),
        };
        let host = Box::new(Self(Door::new(inside)));
        // SAFETY: as the caller promises.
        unsafe { write(out, Box::into_raw(host))? };
        Ok(POROUS_OK)
    }
}

/// Runs a call into a host, unless another call is in it or an earlier one has panicked.
///
/// # Safety
///
/// `host` is NULL, or a host that was handed out and not freed.
pub(crate) unsafe fn enter(
    host: *const porous_host,
    call: impl FnOnce(&mut Inside) -> Result<porous_status, porous_status>,
) -> porous_status {
    // SAFETY: as the caller promises.
    let host = unsafe { host.as_ref() };
    host.map_or(POROUS_ERR_NULL, |host| host.0.enter(call))
}

/// Frees a host. NULL is fine. A host on a socket tells each peer once that the connection ends, and does not
/// wait: porous_udp_close does. Packets and blobs stay. What a bug has broken is not freed.
///
/// Errors: POROUS_ERR_BUSY, and nothing is freed, from a callback.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_host_free(host: *mut porous_host) -> porous_status {
    guard(|| {
        // SAFETY: NULL, or a host that nobody has freed, as the header demands.
        unsafe { free(host, |host| &host.0, |host| host.0)? };
        Ok(POROUS_OK)
    })
}

#[cfg(test)]
mod tests {
    use core::ffi::c_void;
    use core::ptr;
    use std::sync::Mutex;

    use alloc::borrow::ToOwned;
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::*;
    use crate::config::porous_config;
    use crate::connect::{porous_is_empty, porous_listen};
    use crate::core_host::porous_core_new;
    use crate::panic::porous_on_panic;
    use crate::status::{POROUS_ERR_BUSY, POROUS_ERR_PANIC};

    static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

    unsafe extern "C" fn told(user: *mut c_void, text: *const core::ffi::c_char, len: usize) {
        assert_eq!(user, ptr::dangling_mut::<u8>().cast());
        // SAFETY: the library gives a text of this length.
        let text = unsafe { core::slice::from_raw_parts(text.cast(), len) };
        let text = core::str::from_utf8(text).unwrap().to_owned();
        TOLD.lock().unwrap().push(text);
    }

    fn host() -> *mut porous_host {
        let mut config: porous_config = crate::sized::zeroed();
        config.size = u32::try_from(size_of::<porous_config>()).unwrap();
        let mut host = ptr::null_mut();
        // SAFETY: a configuration, 32 bytes and a pointer.
        let made = unsafe { porous_core_new(&config, [7; 32].as_ptr(), &mut host) };
        assert_eq!(made, POROUS_OK);
        host
    }

    #[test]
    fn a_host_with_a_bug_is_told_of_and_does_nothing_any_more() {
        let (broken, well) = (host(), host());
        // SAFETY: hosts that were handed out, and a function of this type.
        unsafe {
            assert_eq!(
                porous_on_panic(Some(told), ptr::dangling_mut::<u8>().cast()),
                POROUS_OK
            );
            assert_eq!(enter(broken, |_| panic!("a bug")), POROUS_ERR_PANIC);
            assert_eq!(porous_on_panic(None, ptr::null_mut()), POROUS_OK);
            for _ in 0..2 {
                assert_eq!(porous_is_empty(broken), POROUS_ERR_PANIC);
                assert_eq!(porous_listen(broken, 1), POROUS_ERR_PANIC);
            }
            assert_eq!(porous_listen(well, 1), POROUS_OK);
            assert_eq!(porous_host_free(broken), POROUS_OK);
            assert_eq!(porous_host_free(well), POROUS_OK);
        }
        let told = TOLD.lock().unwrap();
        // Where the panic was, and its text.
        let is_it = |text: &String| text.contains("a bug") && text.contains("host.rs");
        assert!(told.iter().any(is_it), "{told:?}");
    }

    #[test]
    fn a_call_into_a_host_that_is_in_a_call_does_nothing() {
        let host = host();
        let mut answers = [POROUS_OK; 2];
        // SAFETY: a host that was handed out.
        unsafe {
            let answer = enter(host, |_| {
                answers = [porous_listen(host, 1), porous_host_free(host)];
                Ok(7)
            });
            assert_eq!(answer, 7);
            assert_eq!(answers, [POROUS_ERR_BUSY; 2]);
            assert_eq!(porous_listen(host, 1), POROUS_OK);
            assert_eq!(porous_host_free(host), POROUS_OK);
        }
    }
}
