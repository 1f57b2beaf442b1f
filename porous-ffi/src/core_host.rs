//! A host without input and output: the program's sockets, the program's clock.

use core::ffi::c_void;
use core::time::Duration;

use alloc::boxed::Box;

use bytes::Bytes;
use chacha20::ChaCha20Rng;
#[cfg(feature = "seal")]
use porous_proto::seal::{Credentials, Security};
use porous_proto::{
    ChannelId, Config, ConnectionIds, Disconnect, Disposition, Ecn, Host, HostStats, Instant,
    Listen, Peer, PeerId, Received, SendOptions,
};
use rand_core::SeedableRng;

use crate::address::porous_address;
use crate::config::porous_config;
use crate::event::porous_event;
use crate::host::{Level, Rate, enter, porous_host};
use crate::panic::guard;
use crate::pointers::{array, bytes, read, wanted, write};
use crate::status::{
    POROUS_ERR_NULL, POROUS_ERR_SMALL, POROUS_ERR_VALUE, POROUS_OK, check, number, porous_status,
};

/// Not ECN-capable: bits 00 of the IP header.
pub const POROUS_ECN_NOT_ECT: u32 = 0;
/// ECT(1): bits 01.
pub const POROUS_ECN_ECT1: u32 = 1;
/// ECT(0): bits 10.
pub const POROUS_ECN_ECT0: u32 = 2;
/// Congestion was experienced: bits 11.
pub const POROUS_ECN_CE: u32 = 3;

/// A datagram to be sent. This struct never changes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct porous_transmit {
    /// Where it goes.
    pub to: porous_address,
    /// Its bytes in the buffer.
    pub len: u64,
    /// One of POROUS_ECN_, for its IP header: the two bits as they stand there.
    pub ecn: u8,
    /// 1 if it must arrive whole or not at all: DF in the IP header.
    pub dont_fragment: u8,
    /// 1 if it answers a sender that is no peer, whose address may be forged: let it wait for no room.
    pub to_stranger: u8,
    /// 0.
    pub reserved: [u8; 5],
}

const _: () = assert!(size_of::<porous_transmit>() == 48);

/// The host, and the time that the program said last.
pub(crate) struct CoreHost {
    host: Host<ChaCha20Rng, porous_address>,
    now: Instant,
}

impl CoreHost {
    fn new(config: Config, seed: [u8; 32]) -> Self {
        #[cfg(feature = "seal")]
        let seals = config.seals();
        let mut host = Host::new(config, ChaCha20Rng::from_seed(seed));
        host.set_same_host(porous_address::is_same_host);
        host.set_source_of(porous_address::source);
        #[cfg(feature = "seal")]
        {
            host.set_ip_of(porous_address::ip);
            if seals {
                // As the hosts on sockets do.
                host.set_security(Security::new(&porous_crypto::RustCrypto));
            }
        }
        let now = Instant::ZERO;
        Self { host, now }
    }
}

/// The ECN bits of an IP header.
const fn ecn(bits: u32) -> Result<Ecn, porous_status> {
    Ok(match bits {
        POROUS_ECN_NOT_ECT => Ecn::NotEct,
        POROUS_ECN_ECT1 => Ecn::Ect1,
        POROUS_ECN_ECT0 => Ecn::Ect0,
        POROUS_ECN_CE => Ecn::Ce,
        _ => return Err(POROUS_ERR_VALUE),
    })
}

const fn bits(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => 0,
        Ecn::Ect1 => 1,
        Ecn::Ect0 => 2,
        Ecn::Ce => 3,
    }
}

impl Level for CoreHost {
    fn core(&mut self) -> Option<&mut CoreHost> {
        Some(self)
    }

    fn listen(&mut self, policy: Listen) -> Result<(), porous_status> {
        number(self.host.listen(policy))
    }

    fn connect(&mut self, to: &[porous_address], greeting: &[u8]) -> Result<PeerId, porous_status> {
        number(self.host.connect_with(self.now, to, greeting))
    }

    #[cfg(feature = "seal")]
    fn connect_sealed(
        &mut self,
        to: &[porous_address],
        with: &Credentials,
    ) -> Result<PeerId, porous_status> {
        number(self.host.connect_sealed(self.now, to, with))
    }

    #[cfg(feature = "seal")]
    fn set_security(&mut self, security: Security) {
        self.host.set_security(security);
    }

    fn set_connection_ids(&mut self, ids: ConnectionIds) -> Result<(), porous_status> {
        number(self.host.set_connection_ids(ids))
    }

    fn accept(&mut self, peer: PeerId) -> Result<(), porous_status> {
        number(self.host.accept(self.now, peer))
    }

    fn refuse(&mut self, peer: PeerId, data: &[u8]) -> Result<(), porous_status> {
        number(self.host.refuse(self.now, peer, data))
    }

    fn disconnect(&mut self, peer: PeerId, how: Disconnect) -> Result<(), porous_status> {
        number(self.host.disconnect(self.now, peer, how))
    }

    fn disconnect_all(&mut self, how: Disconnect) {
        self.host.disconnect_all(self.now, how);
    }

    fn drain(&mut self, reason: u32, deadline: Duration) {
        self.host.drain(self.now, reason, deadline);
    }

    fn send(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        packet: &[u8],
        options: SendOptions,
    ) -> Result<(), porous_status> {
        number(self.host.send(peer, channel, packet, options))
    }

    fn send_shared(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        packet: Bytes,
        options: SendOptions,
    ) -> Result<(), porous_status> {
        number(self.host.send(peer, channel, packet, options))
    }

    fn cancel(&mut self, peer: PeerId, channel: ChannelId, token: u64) -> bool {
        self.host.cancel(peer, channel, token)
    }

    fn receive(&mut self, peer: PeerId) -> Option<Received> {
        self.host.receive(peer)
    }

    fn poll_event(&mut self) -> Option<porous_event> {
        self.host.poll_event().map(porous_event::from)
    }

    fn set_rate(&mut self, peer: PeerId, which: Rate, bytes: u32) -> Result<(), porous_status> {
        number(match which {
            Rate::Send => self.host.set_send_rate(peer, bytes),
            Rate::Receive => self.host.set_receive_rate(peer, bytes),
            Rate::Channel(channel) => self.host.set_channel_rate(peer, channel, bytes),
        })
    }

    fn set_host_send_rate(&mut self, bytes_a_second: u32) {
        self.host.set_host_send_rate(bytes_a_second);
    }

    fn is_empty(&self) -> bool {
        self.host.is_empty()
    }

    fn peer(&self, peer: PeerId) -> Option<&Peer> {
        self.host.peer(peer)
    }

    fn peers(&self) -> Box<dyn Iterator<Item = PeerId> + '_> {
        Box::new(self.host.peers().map(|(id, _)| id))
    }

    fn readable(&self) -> Box<dyn Iterator<Item = PeerId> + '_> {
        Box::new(self.host.readable())
    }

    fn address(&self, peer: PeerId) -> Option<porous_address> {
        self.host.address(peer)
    }

    fn stats(&self) -> HostStats {
        self.host.stats()
    }
}

/// Makes a host without a socket. Its time begins at 0.
///
/// `seed` are 32 bytes of the system's secure generator, of which all keys of the host are made: nobody may know
/// them, and no two hosts may have the same. In a test they are what makes a run repeatable.
///
/// Errors: those of porous_config_check; POROUS_ERR_VALUE if the seed is all 0, as a forgotten one is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_core_new(
    config: *const porous_config,
    seed: *const u8,
    out: *mut *mut porous_host,
) -> porous_status {
    guard(|| {
        // SAFETY: a configuration, 32 bytes and a pointer, as the header demands.
        unsafe {
            porous_host::hand_out(out, || {
                let config = porous_config::take(config)?;
                let seed = read(seed.cast::<[u8; 32]>())?;
                check(seed != [0; 32], POROUS_ERR_VALUE)?;
                Ok(Box::new(CoreHost::new(config, seed)))
            })
        }
    })
}

/// Says what time it is: `now` in microseconds, from any moment on. What follows happens at this time, so call it
/// at the begin of each turn. A time that runs backwards, or leaps, does no harm.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_core_time(host: *mut porous_host, now: u64) -> porous_status {
    // SAFETY: a host, as the header demands.
    unsafe {
        enter(host, |host| {
            host.core()?.now = Instant::from_micros(now);
            Ok(POROUS_OK)
        })
    }
}

/// Takes in a datagram that has come. `ecn` is one of POROUS_ECN_, the two bits of its IP header, or 0 if they are
/// not known. `data` may be any bytes of any length.
///
/// Returns 0 if a peer has taken it; otherwise why it was ignored, 1 to 17: see `ignored` of porous_host_stats.
/// Being ignored is no error of the program's.
///
/// Errors: POROUS_ERR_ADDRESS, POROUS_ERR_VALUE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_core_input(
    host: *mut porous_host,
    from: *const porous_address,
    ecn: u32,
    data: *const c_void,
    len: usize,
) -> porous_status {
    // SAFETY: a host, an address and bytes, as the header demands.
    unsafe {
        enter(host, |host| {
            let host = host.core()?;
            let (from, ecn) = (read(from)?.known()?, self::ecn(ecn)?);
            let datagram = bytes(data, len)?;
            Ok(
                match host.host.handle_datagram(host.now, from, ecn, datagram) {
                    Disposition::Handled(_) | Disposition::Accepted(_) => POROUS_OK,
                    Disposition::Ignored(cause) => cause.number().into(),
                },
            )
        })
    }
}

/// Writes the next datagram to be sent into `buffer`. Call it until it returns 0, after all input, commands and
/// porous_core_timeout.
///
/// Returns 1 if there was one.
///
/// Errors: POROUS_ERR_SMALL if `cap` is less than porous_core_buffer_size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_core_output(
    host: *mut porous_host,
    transmit: *mut porous_transmit,
    buffer: *mut c_void,
    cap: usize,
) -> porous_status {
    // SAFETY: a host, a struct and a buffer, as the header demands.
    unsafe {
        enter(host, |host| {
            let host = host.core()?;
            wanted(transmit)?;
            let longest = host.host.max_datagram_size();
            check(cap >= longest, POROUS_ERR_SMALL)?;
            check(!buffer.is_null(), POROUS_ERR_NULL)?;
            // A buffer of C may not have been written yet: what Rust writes into it, it may not read before.
            buffer.write_bytes(0, longest);
            let buffer = core::slice::from_raw_parts_mut(buffer.cast::<u8>(), longest);
            let Some(made) = host.host.poll_transmit(host.now, buffer) else {
                return Ok(POROUS_OK);
            };
            let made = porous_transmit {
                to: made.to,
                len: made.datagram.len() as u64,
                ecn: bits(made.ecn),
                dont_fragment: made.dont_fragment.into(),
                to_stranger: made.to_stranger.into(),
                reserved: [0; 5],
            };
            write(transmit, made)?;
            Ok(1)
        })
    }
}

/// Does what is due at the time of the host. Call it when porous_core_deadline says so, or in each turn, after the
/// datagrams that have come were taken in.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_core_timeout(host: *mut porous_host) -> porous_status {
    // SAFETY: a host, as the header demands.
    unsafe {
        enter(host, |host| {
            let host = host.core()?;
            host.host.handle_timeout(host.now);
            Ok(POROUS_OK)
        })
    }
}

/// Tells the host whether the turn that began at its time has left datagrams behind that had come, for want of time:
/// `waits` is 1, or 0 if all were taken in. Call it at the end of each turn. If each turn of a second leaves some, the
/// host refuses those that want to connect as POROUS_REASON_REFUSED_FULL until a turn leaves none, and `overloaded` of
/// porous_host_stats counts them. Hosts on sockets know it by themselves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_core_backlog(host: *mut porous_host, waits: u32) -> porous_status {
    // SAFETY: a host, as the header demands.
    unsafe {
        enter(host, |host| {
            let host = host.core()?;
            check(waits <= 1, POROUS_ERR_VALUE)?;
            host.host.handle_backlog(host.now, waits == 1);
            Ok(POROUS_OK)
        })
    }
}

/// Tells when porous_core_timeout is to be called next, in microseconds; UINT64_MAX if nothing is due by itself.
/// A time in the past means that datagrams wait to be sent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_core_deadline(
    host: *const porous_host,
    at: *mut u64,
) -> porous_status {
    // SAFETY: a host and a number, as the header demands.
    unsafe {
        enter(host, |host| {
            let due = host.core()?.host.poll_timeout();
            write(at, due.map_or(u64::MAX, Instant::as_micros))?;
            Ok(POROUS_OK)
        })
    }
}

/// Tells how many bytes the buffer of porous_core_output needs, and one to receive datagrams into, which needs at
/// least 1200 as well.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_core_buffer_size(
    host: *const porous_host,
    bytes: *mut u64,
) -> porous_status {
    // SAFETY: a host and a number, as the header demands.
    unsafe {
        enter(host, |host| {
            write(bytes, host.core()?.host.max_datagram_size() as u64)?;
            Ok(POROUS_OK)
        })
    }
}

/// Tells the host that the system cannot send to an address: an attempt to connect tries it no more.
///
/// Errors: POROUS_ERR_ADDRESS.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_core_unreachable(
    host: *mut porous_host,
    to: *const porous_address,
) -> porous_status {
    // SAFETY: a host and an address, as the header demands.
    unsafe {
        enter(host, |host| {
            let host = host.core()?;
            host.host.handle_unreachable(host.now, read(to)?.known()?);
            Ok(POROUS_OK)
        })
    }
}

/// Tells the host that nothing is bound to the port of an address, as ICMP says; NULL if the system does not say
/// which address. An attempt to connect goes on, and POROUS_EVENT_PORT_CLOSED tells of it.
///
/// Errors: POROUS_ERR_ADDRESS.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_core_port_closed(
    host: *mut porous_host,
    at: *const porous_address,
) -> porous_status {
    // SAFETY: a host, and an address or NULL, as the header demands.
    unsafe {
        enter(host, |host| {
            // NULL is an array of none.
            let at = array(at, usize::from(!at.is_null()))?.first();
            let at = at.map(|at| at.known()).transpose()?;
            host.core()?.host.handle_port_closed(at);
            Ok(POROUS_OK)
        })
    }
}

/// Tells the host the time of day, by which it sees whether tokens have expired: `seconds` since 1970 in UTC. Tell
/// it once, and again now and then. Hosts on sockets know it by themselves.
#[cfg(feature = "seal")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_core_unix_time(
    host: *mut porous_host,
    seconds: u64,
) -> porous_status {
    // SAFETY: a host, as the header demands.
    unsafe {
        enter(host, |host| {
            let host = host.core()?;
            host.host.set_unix_time(host.now, seconds);
            Ok(POROUS_OK)
        })
    }
}
