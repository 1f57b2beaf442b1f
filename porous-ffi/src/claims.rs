//! What a backend says of a player, and the ticket that it makes of it.

use core::ffi::c_void;

use porous_proto::seal::{Claims, Suite, TokenKey};
use porous_token::Ticket;
use rand_core::UnwrapErr;

use crate::address::{POROUS_ADDRESS_NONE, porous_address};
use crate::config::{POROUS_SUITE_AES_GCM, POROUS_SUITE_CHACHA_POLY};
use crate::panic::guard;
use crate::pointers::{bytes, read};
use crate::security::draw;
use crate::sized::{read_sized, sized};
use crate::status::{POROUS_ERR_UNSUPPORTED, POROUS_ERR_VALUE, check, number, porous_status};
use crate::ticket::porous_ticket;

/// What a backend says of a client in a token, and a game server believes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct porous_claims {
    /// sizeof(porous_claims).
    pub size: u32,
    /// The number by which servers know the token key.
    pub key_number: u8,
    /// One of POROUS_SUITE_, which seals the token; 0: POROUS_SUITE_CHACHA_POLY.
    pub suite: u8,
    /// 1: a server takes the token once.
    pub single_use: u8,
    /// The number of `audiences`, 0 to 4; 0: every server that has the key takes the token.
    pub audience_count: u8,
    /// The application_id of the servers.
    pub application_id: u64,
    /// The client.
    pub client_id: u64,
    /// When the token was made, in seconds since 1970 in UTC.
    pub created: u64,
    /// When it expires, in seconds since 1970 in UTC.
    pub expires: u64,
    /// The servers that take the token, by their server_id.
    pub audiences: [u64; 4],
    /// The token counts only from this address of IP, whatever the port. Kind 0: from everywhere.
    pub ip: porous_address,
    /// What the application of the server reads, user_data_len bytes, 255 at most. It is read during the call only.
    pub user_data: *const c_void,
    /// The length of `user_data`.
    pub user_data_len: u32,
    /// 0.
    pub reserved: u32,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<porous_claims>() == 120);
sized!(
    porous_claims,
    core::mem::offset_of!(porous_claims, reserved) + 4
);

impl porous_claims {
    /// Reads what a program gives.
    ///
    /// # Safety
    ///
    /// `from` is NULL, or points to a struct as the header demands.
    unsafe fn take(from: *const Self) -> Result<Claims, porous_status> {
        // SAFETY: as the caller promises.
        let (given, user_data) = unsafe {
            let given = read_sized(from)?;
            (given, bytes(given.user_data, given.user_data_len as usize)?)
        };
        check(
            given.reserved == 0 && given.single_use <= 1,
            POROUS_ERR_VALUE,
        )?;
        let validity = given.created..given.expires;
        let claims = Claims::new(given.application_id, given.client_id, validity);
        let mut claims = claims
            .key_number(given.key_number)
            .suite(match given.suite {
                0 | POROUS_SUITE_CHACHA_POLY => Suite::CHACHA_POLY,
                POROUS_SUITE_AES_GCM => Suite::AES_GCM,
                _ => return Err(POROUS_ERR_VALUE),
            });
        let audiences = given.audiences.get(..given.audience_count.into());
        for audience in audiences.ok_or(POROUS_ERR_VALUE)? {
            claims = number(claims.audience(*audience))?;
        }
        if given.single_use == 1 {
            claims = claims.single_use();
        }
        if given.ip.kind != POROUS_ADDRESS_NONE {
            claims = claims.ip(given.ip.socket()?.ip());
        }
        number(claims.user_data(user_data))
    }
}

/// Makes a ticket, by the token key of 32 bytes that the servers have as well: a backend's work. It has no addresses
/// and no key of a server yet.
///
/// Errors: POROUS_ERR_CLAIMS_USER_DATA, POROUS_ERR_ADDRESS, POROUS_ERR_VALUE; POROUS_ERR_IO if the system has no
/// random numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_ticket_mint(
    token_key: *const u8,
    claims: *const porous_claims,
    out: *mut *mut porous_ticket,
) -> porous_status {
    guard(|| {
        // SAFETY: 32 bytes, a struct and a pointer, as the header demands.
        unsafe {
            porous_ticket::hand_out(out, || {
                let key = TokenKey::from_bytes(read(token_key.cast())?);
                let claims = porous_claims::take(claims)?;
                // The generator panics where there are no numbers, so that is asked before.
                draw()?;
                let mut rng = UnwrapErr(getrandom::SysRng);
                let ticket = Ticket::mint(&key, &claims, &mut rng);
                ticket.map_err(|_| POROUS_ERR_UNSUPPORTED)
            })
        }
    })
}
