//! Tickets, by which a backend admits players to game servers: passed on, and used.

use core::ffi::{c_char, c_void};

use alloc::boxed::Box;

use porous_proto::seal::{Credentials, PublicKey};
use porous_token::Ticket;

use crate::address::porous_address;
use crate::panic::guard;
use crate::pointers::{array, bytes, fill, fill_array, fill_text, text, wanted, write};
use crate::security::known_key;
use crate::status::{POROUS_ERR_NULL, POROUS_OK, count, number, porous_status};

/// A ticket: a token, its secret, the addresses of servers and their key. It is a secret until it was used. It
/// belongs to the caller, and one thread at a time uses it.
#[derive(Debug)]
pub struct porous_ticket(Ticket);

impl porous_ticket {
    /// Hands a new ticket out.
    ///
    /// # Safety
    ///
    /// `out` is NULL, or points to memory for a pointer.
    pub(crate) unsafe fn hand_out(
        out: *mut *mut Self,
        ticket: impl FnOnce() -> Result<Ticket, porous_status>,
    ) -> Result<porous_status, porous_status> {
        wanted(out)?;
        let ticket = Box::new(Self(ticket()?));
        // SAFETY: as the caller promises.
        unsafe { write(out, Box::into_raw(ticket))? };
        Ok(POROUS_OK)
    }

    /// Adds what the ticket has to what a client brings.
    pub(crate) fn credentials(&self, credentials: Credentials) -> Credentials {
        let Self(ticket) = self;
        let credentials = credentials.token(ticket.token().clone(), ticket.psk().clone());
        match ticket.server_key() {
            Some(key) => credentials.server_key(key.clone()),
            None => credentials,
        }
    }
}

/// The ticket behind a pointer.
///
/// # Safety
///
/// `ticket` is NULL, or was handed out and not freed.
unsafe fn known<'a>(ticket: *const porous_ticket) -> Result<&'a Ticket, porous_status> {
    // SAFETY: as the caller promises.
    let ticket = unsafe { ticket.as_ref() };
    ticket.map(|ticket| &ticket.0).ok_or(POROUS_ERR_NULL)
}

/// Puts another ticket in the place of one.
///
/// # Safety
///
/// `ticket` was handed out and not freed, and nobody else uses it.
unsafe fn replace(ticket: *mut porous_ticket, with: Ticket) -> porous_status {
    // SAFETY: as the caller promises.
    unsafe { (*ticket).0 = with };
    POROUS_OK
}

/// Says where the servers are that take the ticket, 32 at most. Scopes are dropped, as they mean something on one
/// machine only.
///
/// Errors: POROUS_ERR_TICKET_SERVERS, POROUS_ERR_ADDRESS.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_ticket_set_servers(
    ticket: *mut porous_ticket,
    servers: *const porous_address,
    server_count: usize,
) -> porous_status {
    guard(|| {
        // SAFETY: a ticket and addresses, as the header demands.
        unsafe {
            let changed = known(ticket)?.clone();
            let servers = array(servers, server_count)?.iter().take(33);
            let servers: Result<alloc::vec::Vec<_>, _> =
                servers.map(|server| server.socket()).collect();
            Ok(replace(ticket, number(changed.with_servers(&servers?))?))
        }
    })
}

/// Says by which public key the servers are known: 32 bytes.
///
/// Errors: POROUS_ERR_SERVER_KEY.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_ticket_set_server_key(
    ticket: *mut porous_ticket,
    key: *const u8,
    key_len: usize,
) -> porous_status {
    guard(|| {
        // SAFETY: a ticket and bytes, as the header demands.
        unsafe {
            let changed = known(ticket)?.clone();
            let key = known_key(bytes(key.cast(), key_len)?)?;
            Ok(replace(ticket, changed.with_server_key(key)))
        }
    })
}

/// Reads a ticket from its text, as it is passed on in JSON.
///
/// Errors: POROUS_ERR_TICKET_BASE64, POROUS_ERR_TICKET_VERSION, POROUS_ERR_TICKET_MALFORMED, POROUS_ERR_UTF8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_ticket_from_text(
    text: *const c_char,
    out: *mut *mut porous_ticket,
) -> porous_status {
    guard(|| {
        // SAFETY: a text and a pointer, as the header demands.
        unsafe { porous_ticket::hand_out(out, || number(Ticket::from_text(self::text(text)?))) }
    })
}

/// Reads a ticket from its bytes.
///
/// Errors: POROUS_ERR_TICKET_VERSION, POROUS_ERR_TICKET_MALFORMED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_ticket_from_bytes(
    data: *const c_void,
    len: usize,
    out: *mut *mut porous_ticket,
) -> porous_status {
    guard(|| {
        // SAFETY: bytes and a pointer, as the header demands.
        unsafe { porous_ticket::hand_out(out, || number(Ticket::from_bytes(bytes(data, len)?))) }
    })
}

/// Writes a ticket as text, with a 0 at its end, and returns the length of the text: less than 1500.
///
/// Errors: POROUS_ERR_SMALL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_ticket_to_text(
    ticket: *const porous_ticket,
    text: *mut c_char,
    cap: usize,
) -> porous_status {
    guard(|| {
        // SAFETY: a ticket and a buffer, as the header demands.
        unsafe { fill_text(text, cap, &known(ticket)?.to_text()).map(count) }
    })
}

/// Writes a ticket as bytes, and returns their number: 1080 at most.
///
/// Errors: POROUS_ERR_SMALL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_ticket_to_bytes(
    ticket: *const porous_ticket,
    buffer: *mut c_void,
    cap: usize,
) -> porous_status {
    guard(|| {
        // SAFETY: a ticket and a buffer, as the header demands.
        unsafe {
            let bytes = known(ticket)?.to_bytes();
            fill(buffer, cap, &bytes)?;
            Ok(count(bytes.len()))
        }
    })
}

/// Writes where the servers are, at most `cap` addresses, and returns how many there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_ticket_servers(
    ticket: *const porous_ticket,
    out: *mut porous_address,
    cap: usize,
) -> porous_status {
    guard(|| {
        // SAFETY: a ticket and an array, as the header demands.
        unsafe {
            let servers = known(ticket)?.servers().iter().copied();
            fill_array(out, cap, servers.map(porous_address::from))
        }
    })
}

/// Writes the public key of the servers, and returns its length, 65 at most; 0 if the ticket has none.
///
/// Errors: POROUS_ERR_SMALL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_ticket_server_key(
    ticket: *const porous_ticket,
    buffer: *mut c_void,
    cap: usize,
) -> porous_status {
    guard(|| {
        // SAFETY: a ticket and a buffer, as the header demands.
        unsafe {
            let key = known(ticket)?.server_key();
            let key = key.map_or(&[][..], PublicKey::as_bytes);
            fill(buffer, cap, key)?;
            Ok(count(key.len()))
        }
    })
}

/// Writes the token, for porous_credentials, and returns its length, 400 at most.
///
/// Errors: POROUS_ERR_SMALL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_ticket_token(
    ticket: *const porous_ticket,
    buffer: *mut c_void,
    cap: usize,
) -> porous_status {
    guard(|| {
        // SAFETY: a ticket and a buffer, as the header demands.
        unsafe {
            let token = known(ticket)?.token().as_bytes();
            fill(buffer, cap, token)?;
            Ok(count(token.len()))
        }
    })
}

/// Writes the secret of the token, 32 bytes, for porous_credentials.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_ticket_psk(
    ticket: *const porous_ticket,
    psk: *mut u8,
) -> porous_status {
    guard(|| {
        // SAFETY: a ticket, and memory for 32 bytes, as the header demands.
        unsafe { write(psk.cast(), *known(ticket)?.psk().as_bytes())? };
        Ok(POROUS_OK)
    })
}

/// Tells when the token expires, in seconds since 1970 in UTC.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_ticket_expires(
    ticket: *const porous_ticket,
    seconds: *mut u64,
) -> porous_status {
    guard(|| {
        // SAFETY: a ticket and a number, as the header demands.
        unsafe { write(seconds, known(ticket)?.expires())? };
        Ok(POROUS_OK)
    })
}

/// Frees a ticket. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_ticket_free(ticket: *mut porous_ticket) {
    guard(|| {
        if !ticket.is_null() {
            // SAFETY: a ticket that was handed out and not freed, as the header demands.
            drop(unsafe { Box::from_raw(ticket) });
        }
        Ok(POROUS_OK)
    });
}
