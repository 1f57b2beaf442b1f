//! How a host seals: its keys, and which clients it lets in.

use porous_crypto::RustCrypto;
use porous_proto::seal::{Provider, Psk, PublicKey, SecretKey, Security, Suite, TokenKey};
#[cfg(feature = "std")]
use rand_core::TryRng;

use crate::host::{enter, porous_host};
#[cfg(feature = "std")]
use crate::io_error;
use crate::panic::guard;
use crate::pointers::{array, read, wanted, write};
use crate::sized::{read_sized, sized};
use crate::status::{
    POROUS_ERR_NULL, POROUS_ERR_SECURITY_WEAK, POROUS_ERR_SERVER_KEY, POROUS_ERR_VALUE, POROUS_OK,
    check, number, porous_status,
};
use crate::time::duration;

/// A secret of 32 bytes, and the number by which others name it. This struct never changes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct porous_key {
    /// The number: of a token key 0 to 255.
    pub number: u32,
    /// The secret.
    pub bytes: [u8; 32],
}

/// How a host seals. All of it 0: it has no keys, lets in every client that seals, and none that does not.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct porous_security {
    /// sizeof(porous_security).
    pub size: u32,
    /// 1: hosts are let in as well that ask for a plain connection.
    pub allow_plain: u8,
    /// 1: clients are refused that prove nothing by a psk or a token.
    pub require_proof: u8,
    /// 1: a client, by the id in its token, may have several connections. 0: a new one takes the place of the old.
    pub many_per_client: u8,
    /// 1: `server_id` counts.
    pub has_server_id: u8,
    /// The secret keys that prove to clients that this is the server: identity_count times 32 bytes, 2 at most.
    pub identities: *const u8,
    /// Secrets of clients that are let in: psk_count of them, 4 at most.
    pub psks: *const porous_key,
    /// Keys of the backends whose tokens are taken: token_key_count of them, 4 at most.
    pub token_keys: *const porous_key,
    /// Tokens are taken that name this server, and those that name none.
    pub server_id: u64,
    /// Tokens are refused that expire later than this from now; 0: an hour.
    pub max_token_lifetime_us: u64,
    /// After how many frames a connection goes on to the next key; 0: as many as is safe.
    pub rekey_frames: u64,
    /// After what time it does so; 0: an hour.
    pub rekey_time_us: u64,
    /// How many used tokens are remembered; 0: 16,384.
    pub used_tokens: u32,
    /// The number of `identities`.
    pub identity_count: u32,
    /// The number of `psks`.
    pub psk_count: u32,
    /// The number of `token_keys`.
    pub token_key_count: u32,
}

const _: () = assert!(size_of::<porous_key>() == 36);
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<porous_security>() == 80);
sized!(
    porous_security,
    core::mem::offset_of!(porous_security, token_key_count) + 4
);

impl core::fmt::Debug for porous_key {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        // Without the secret.
        let mut shown = f.debug_struct("porous_key");
        shown.field("number", &self.number).finish_non_exhaustive()
    }
}

impl core::fmt::Debug for porous_security {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("porous_security").finish_non_exhaustive()
    }
}

impl porous_security {
    /// Reads what a program gives.
    ///
    /// # Safety
    ///
    /// `from` is NULL, or points to a struct as the header demands.
    pub(crate) unsafe fn take(from: *const Self) -> Result<Security, porous_status> {
        // SAFETY: as the caller promises.
        let given = unsafe { read_sized(from)? };
        let switches = [
            given.allow_plain,
            given.require_proof,
            given.many_per_client,
            given.has_server_id,
        ];
        check(switches.iter().all(|&switch| switch <= 1), POROUS_ERR_VALUE)?;
        // SAFETY: as the caller promises.
        let mut security = unsafe { given.with_keys(Security::new(&RustCrypto))? };
        if given.allow_plain == 1 {
            security = security.allow_plain();
        }
        if given.require_proof == 1 {
            security = security.require_proof();
        }
        if given.has_server_id == 1 {
            security = security.server_id(given.server_id);
        }
        if given.max_token_lifetime_us > 0 {
            security = security.max_token_lifetime(duration(given.max_token_lifetime_us));
        }
        if given.used_tokens > 0 {
            security = security.used_tokens(given.used_tokens);
        }
        let most = |limit| if limit == 0 { u64::MAX } else { limit };
        let (frames, time) = (most(given.rekey_frames), most(given.rekey_time_us));
        Ok(security
            .one_per_client(given.many_per_client == 0)
            .rekey_after(frames, duration(time)))
    }

    /// # Safety
    ///
    /// The pointers are NULL, or point to as many keys as the struct says.
    unsafe fn with_keys(&self, mut security: Security) -> Result<Security, porous_status> {
        let identities = self.identities.cast::<[u8; 32]>();
        // SAFETY: as the caller promises.
        let (identities, psks, token_keys) = unsafe {
            (
                array(identities, self.identity_count as usize)?,
                array(self.psks, self.psk_count as usize)?,
                array(self.token_keys, self.token_key_count as usize)?,
            )
        };
        for secret in identities {
            security = number(security.identity(&SecretKey::from_bytes(*secret)))?;
        }
        for psk in psks {
            security = number(security.psk(psk.number, Psk::from_bytes(psk.bytes)))?;
        }
        for key in token_keys {
            let id = u8::try_from(key.number).map_err(|_| POROUS_ERR_VALUE)?;
            security = number(security.token_key(id, TokenKey::from_bytes(key.bytes)))?;
        }
        Ok(security)
    }
}

/// Says how a host seals, from now on: connections that are there keep their keys. The configuration of the host has
/// to name suites. Nothing is kept of the struct and its keys but copies.
///
/// Errors: POROUS_ERR_SECURITY_TOO_MANY, POROUS_ERR_SECURITY_WEAK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_set_security(
    host: *mut porous_host,
    security: *const porous_security,
) -> porous_status {
    // SAFETY: a host, and a struct with its keys, as the header demands.
    unsafe {
        enter(host, |host| {
            host.level.set_security(porous_security::take(security)?);
            Ok(POROUS_OK)
        })
    }
}

/// 32 bytes of the system's secure generator.
#[cfg(feature = "std")]
pub(crate) fn draw() -> Result<[u8; 32], porous_status> {
    let mut bytes = [0; 32];
    let drawn = getrandom::SysRng.try_fill_bytes(&mut bytes);
    drawn.map_err(|error| io_error::remember(&std::io::Error::other(error)))?;
    Ok(bytes)
}

/// Draws a secret of 32 bytes from the system's secure generator: the secret key of a server, a psk, a token key, or
/// the seed of porous_core_new.
///
/// Errors: POROUS_ERR_IO if the system has no random numbers.
#[cfg(feature = "std")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_key_generate(secret: *mut u8) -> porous_status {
    guard(|| {
        wanted(secret)?;
        // SAFETY: memory for 32 bytes, as the header demands.
        unsafe { write(secret.cast(), draw()?)? };
        Ok(POROUS_OK)
    })
}

/// The key of a server. Another provider's keys may have another length, but C has none.
pub(crate) fn known_key(bytes: &[u8]) -> Result<PublicKey, porous_status> {
    check(bytes.len() == 32, POROUS_ERR_SERVER_KEY)?;
    PublicKey::from_bytes(bytes).ok_or(POROUS_ERR_SERVER_KEY)
}

/// Computes the public key of 32 bytes that belongs to a secret key of 32 bytes: clients know the server by it.
///
/// Errors: POROUS_ERR_SECURITY_WEAK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_public_key(secret: *const u8, public: *mut u8) -> porous_status {
    guard(|| {
        wanted(public)?;
        // SAFETY: 32 bytes, as the header demands.
        let secret = unsafe { read(secret.cast::<[u8; 32]>())? };
        // Both suites have the same keys.
        let secret = SecretKey::from_bytes(secret);
        let key = RustCrypto.public_key(Suite::CHACHA_POLY, &secret);
        let key = key.map_err(|_| POROUS_ERR_SECURITY_WEAK)?;
        let bytes = key.as_bytes().first_chunk::<32>();
        // SAFETY: memory for 32 bytes, as the header demands.
        unsafe { write(public.cast(), *bytes.ok_or(POROUS_ERR_NULL)?)? };
        Ok(POROUS_OK)
    })
}
