//! What a client shows of itself when it connects, and what is known of a sealed connection.

use core::ffi::c_void;

use porous_proto::seal::{Credentials, Psk, Secured, Token};

use crate::address::porous_address;
use crate::connect::{named, targets};
use crate::host::{enter, porous_host, porous_peer};
use crate::pointers::{bytes, read, wanted, write};
use crate::security::known_key;
use crate::sized::{check_size, read_sized, sized, write_sized, zeroed};
use crate::status::{
    POROUS_ERR_NOT_SEALED, POROUS_ERR_TICKET_MALFORMED, POROUS_ERR_TOO_LONG, POROUS_ERR_VALUE,
    POROUS_OK, check, porous_status,
};
use crate::ticket::porous_ticket;

/// What a client brings to a sealed connection. All of it 0: it proves nothing and checks nothing. It is read during
/// the call only.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct porous_credentials {
    /// sizeof(porous_credentials).
    pub size: u32,
    /// The number by which the server knows `psk`, if there is no token.
    pub psk_number: u32,
    /// The ticket of a backend: its token, its secret and its key of the server. NULL: none. With a ticket `psk` and
    /// `token` are NULL.
    pub ticket: *const porous_ticket,
    /// The public key of the server, server_key_len bytes: only that server can answer. NULL: that of the ticket.
    pub server_key: *const u8,
    /// A secret of 32 bytes that the server has as well. NULL: none.
    pub psk: *const u8,
    /// A token, token_len bytes, whose secret is `psk`. NULL: none.
    pub token: *const c_void,
    /// What the application of the server reads by porous_peer_greeting, greeting_len bytes, 255 at most.
    pub greeting: *const c_void,
    /// The length of `server_key`: 32.
    pub server_key_len: u32,
    /// The length of `token`.
    pub token_len: u32,
    /// The length of `greeting`.
    pub greeting_len: u32,
    /// 0.
    pub reserved: u32,
}

/// What is proved of a sealed connection.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct porous_secured {
    /// sizeof(porous_secured).
    pub size: u32,
    /// One of POROUS_SUITE_.
    pub suite: u8,
    /// 1: both hosts have the psk with the number `psk_number`.
    pub has_psk: u8,
    /// 1: the client was let in by a token, with `client_id` and `user_data`. 0 at the client itself.
    pub has_client_id: u8,
    /// The bytes of `server_key`; 0 if the client did not name a key.
    pub server_key_len: u8,
    /// The client, as the backend names it.
    pub client_id: u64,
    /// The number of the psk.
    pub psk_number: u32,
    /// The bytes of `user_data`.
    pub user_data_len: u32,
    /// Names this connection, and is no secret: both hosts have the same, and no other connection has it.
    pub binding: [u8; 32],
    /// The key that the server has proved to have the secret of.
    pub server_key: [u8; 65],
    /// What the backend has written into the token.
    pub user_data: [u8; 255],
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<porous_credentials>() == 64);
const _: () = assert!(size_of::<porous_secured>() == 376);
sized!(
    porous_credentials,
    core::mem::offset_of!(porous_credentials, reserved) + 4
);
sized!(porous_secured, 376);

impl core::fmt::Debug for porous_credentials {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("porous_credentials").finish_non_exhaustive()
    }
}

impl porous_credentials {
    /// Reads what a program gives.
    ///
    /// # Safety
    ///
    /// `from` is NULL, or points to a struct as the header demands.
    pub(crate) unsafe fn take(from: *const Self) -> Result<Credentials, porous_status> {
        // SAFETY: as the caller promises.
        let (given, greeting, server_key) = unsafe {
            let given = read_sized(from)?;
            let greeting = bytes(given.greeting, given.greeting_len as usize)?;
            let key = bytes(given.server_key.cast(), given.server_key_len as usize)?;
            (given, greeting, key)
        };
        check(given.reserved == 0, POROUS_ERR_VALUE)?;
        let credentials = Credentials::new().greeting(greeting);
        let credentials = credentials.map_err(|_| POROUS_ERR_TOO_LONG)?;
        // SAFETY: as the caller promises.
        let credentials = unsafe { given.shown(credentials)? };
        if server_key.is_empty() {
            return Ok(credentials);
        }
        Ok(credentials.server_key(known_key(server_key)?))
    }

    /// What the client proves its identity by.
    ///
    /// # Safety
    ///
    /// The pointers are NULL, or point to what the struct says.
    unsafe fn shown(&self, credentials: Credentials) -> Result<Credentials, porous_status> {
        // SAFETY: as the caller promises.
        let (ticket, token) = unsafe {
            let token = bytes(self.token, self.token_len as usize)?;
            (self.ticket.as_ref(), token)
        };
        if let Some(ticket) = ticket {
            check(self.psk.is_null() && token.is_empty(), POROUS_ERR_VALUE)?;
            return Ok(ticket.credentials(credentials));
        }
        if self.psk.is_null() {
            // A token is worth nothing without its secret.
            check(token.is_empty(), POROUS_ERR_VALUE)?;
            return Ok(credentials);
        }
        // SAFETY: as the caller promises.
        let psk = Psk::from_bytes(unsafe { read(self.psk.cast())? });
        if token.is_empty() {
            return Ok(credentials.psk(self.psk_number, psk));
        }
        let token = Token::from_bytes(token).ok_or(POROUS_ERR_TICKET_MALFORMED)?;
        Ok(credentials.token(token, psk))
    }
}

/// As much of `from` as there is room for.
fn copy(to: &mut [u8], from: &[u8]) -> usize {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
    to.len().min(from.len())
}

impl From<&Secured> for porous_secured {
    fn from(secured: &Secured) -> Self {
        let mut told = Self {
            suite: secured.suite().number(),
            has_psk: secured.psk().is_some().into(),
            has_client_id: secured.client_id().is_some().into(),
            client_id: secured.client_id().unwrap_or(0),
            psk_number: secured.psk().unwrap_or(0),
            binding: *secured.binding(),
            ..zeroed()
        };
        if let Some(key) = secured.server_key() {
            let length = copy(&mut told.server_key, key.as_bytes());
            told.server_key_len = u8::try_from(length).unwrap_or(0);
        }
        let length = copy(&mut told.user_data, secured.user_data());
        told.user_data_len = u32::try_from(length).unwrap_or(0);
        told
    }
}

/// As porous_connect_any, for a connection that no listener can read, and nobody can change. That the other end is
/// the server that is meant, and no attacker in between, follows from its key, a psk or a ticket in `with`. If the
/// remote host does not seal, the attempt ends as POROUS_REASON_REFUSED_SECURITY: no host falls back to a plain
/// connection. The configuration of the host has to name suites.
///
/// Errors: those of porous_connect_any; POROUS_ERR_NOT_SEALED, POROUS_ERR_SERVER_KEY, POROUS_ERR_TICKET_MALFORMED
/// for a token that is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_connect_sealed(
    host: *mut porous_host,
    to: *const porous_address,
    to_count: usize,
    with: *const porous_credentials,
    out: *mut porous_peer,
) -> porous_status {
    // SAFETY: a host, addresses, a struct with what it points to, and a number, as the header demands.
    unsafe {
        enter(host, |host| {
            let to = targets(to, to_count)?;
            let with = porous_credentials::take(with)?;
            named(out, || host.level.connect_sealed(&to, &with))
        })
    }
}

/// Tells what is proved of the connection to a peer, from POROUS_EVENT_REQUEST or POROUS_EVENT_CONNECTED on. Returns
/// 1 if it is sealed, 0 if it is plain. Set secured->size before.
///
/// Errors: POROUS_ERR_UNKNOWN_PEER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_peer_secured(
    host: *const porous_host,
    peer: porous_peer,
    secured: *mut porous_secured,
) -> porous_status {
    // SAFETY: a host and a struct with its size, as the header demands.
    unsafe {
        enter(host, |host| {
            check_size(secured)?;
            let Some(known) = host.peer(peer)?.secured() else {
                return Ok(POROUS_OK);
            };
            write_sized(secured, known.into())?;
            Ok(1)
        })
    }
}

/// Makes a secret of 32 bytes that both hosts of a sealed connection have and nobody else, another one for each
/// label: a key for voice that goes another way, for instance.
///
/// Errors: POROUS_ERR_UNKNOWN_PEER; POROUS_ERR_NOT_SEALED of a plain connection.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_peer_export(
    host: *const porous_host,
    peer: porous_peer,
    label: *const c_void,
    label_len: usize,
    secret: *mut u8,
) -> porous_status {
    // SAFETY: a host, bytes, and memory for 32 bytes, as the header demands.
    unsafe {
        enter(host, |host| {
            wanted(secret)?;
            let label = bytes(label, label_len)?;
            let secured = host.peer(peer)?.secured();
            let exported = secured.ok_or(POROUS_ERR_NOT_SEALED)?.export(label);
            write(secret.cast(), exported)?;
            Ok(POROUS_OK)
        })
    }
}
