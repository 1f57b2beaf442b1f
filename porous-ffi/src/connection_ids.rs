//! How a host names its connections.

use porous_proto::ConnectionIds;
use porous_proto::route::QuicLb;

use crate::host::{enter, porous_host};
use crate::sized::{read_sized, sized};
use crate::status::{
    POROUS_ERR_IDS_SERVER_ID, POROUS_ERR_VALUE, POROUS_OK, check, number, porous_status,
};

/// All bytes look random, as at first.
pub const POROUS_IDS_RANDOM: u8 = 0;
/// Random but for the low bits of the first byte, which tell which of several hosts on one port this is.
pub const POROUS_IDS_SHARDED: u8 = 1;
/// For a balancer that knows the servers by their QUIC-LB ids (draft-ietf-quic-load-balancers-21).
pub const POROUS_IDS_QUIC_LB: u8 = 2;

/// How a host makes the connection ids that remote hosts put in front of their datagrams to it, for what routes the
/// datagrams by them. All of them have the length connection_id_len of the configuration. Ids that a function of the
/// program's makes are not offered in C.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct porous_connection_ids {
    /// sizeof(porous_connection_ids).
    pub size: u32,
    /// One of POROUS_IDS_. What belongs to another kind is not looked at.
    pub kind: u8,
    /// Of POROUS_IDS_SHARDED: the number of this host, from 0 on.
    pub shard: u8,
    /// Of POROUS_IDS_SHARDED: the bits that tell the shard, 1 to 8. Ids have at least 2 bytes.
    pub bits: u8,
    /// Of POROUS_IDS_QUIC_LB: the number of the balancer's configuration, 0 to 6.
    pub rotation: u8,
    /// Of POROUS_IDS_QUIC_LB: by which id the balancer knows this server.
    pub server_id: [u8; 15],
    /// The length of `server_id`, 1 to 15. Ids have at least 5 bytes more. Give them 9 more, so that strangers do not
    /// guess them.
    pub server_id_len: u8,
    /// Of POROUS_IDS_QUIC_LB: the balancer's key, by which ids are encrypted.
    pub key: [u8; 16],
    /// 1: `key` counts; 0: everybody sees which server a datagram is for.
    pub has_key: u8,
    /// 0.
    pub reserved: [u8; 7],
}

const _: () = assert!(size_of::<porous_connection_ids>() == 48);
sized!(porous_connection_ids, 48);

impl porous_connection_ids {
    /// Reads what a program gives.
    ///
    /// # Safety
    ///
    /// `from` is NULL, or points to a struct as the header demands.
    pub(crate) unsafe fn take(from: *const Self) -> Result<ConnectionIds, porous_status> {
        // SAFETY: as the caller promises.
        let given = unsafe { read_sized(from)? };
        check(
            given.has_key <= 1 && given.reserved == [0; 7],
            POROUS_ERR_VALUE,
        )?;
        Ok(match given.kind {
            POROUS_IDS_RANDOM => ConnectionIds::Random,
            POROUS_IDS_SHARDED => ConnectionIds::Sharded {
                shard: given.shard,
                bits: given.bits,
            },
            POROUS_IDS_QUIC_LB => ConnectionIds::QuicLb(given.quic_lb()?),
            _ => return Err(POROUS_ERR_VALUE),
        })
    }

    fn quic_lb(&self) -> Result<QuicLb, porous_status> {
        let server = self.server_id.get(..self.server_id_len.into());
        let server = server.ok_or(POROUS_ERR_IDS_SERVER_ID)?;
        let ids = number(QuicLb::new(self.rotation, server))?;
        match self.has_key {
            0 => Ok(ids),
            _ => self.encrypted(ids),
        }
    }

    #[cfg(feature = "quic-lb")]
    const fn encrypted(&self, ids: QuicLb) -> Result<QuicLb, porous_status> {
        Ok(ids.encrypted(self.key))
    }

    #[cfg(not(feature = "quic-lb"))]
    const fn encrypted(&self, _: QuicLb) -> Result<QuicLb, porous_status> {
        Err(crate::status::POROUS_ERR_UNSUPPORTED)
    }
}

/// Says how the ids of new connections are made. Connections that are there keep theirs.
///
/// Errors: POROUS_ERR_IDS_; POROUS_ERR_VALUE for an unknown kind; POROUS_ERR_UNSUPPORTED for a key, in a library that
/// does not encrypt ids.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_set_connection_ids(
    host: *mut porous_host,
    ids: *const porous_connection_ids,
) -> porous_status {
    // SAFETY: a host and a struct, as the header demands.
    unsafe {
        enter(host, |host| {
            let ids = porous_connection_ids::take(ids)?;
            host.level.set_connection_ids(ids)?;
            Ok(POROUS_OK)
        })
    }
}
