//! How a host names its connections: the ids that remote hosts put in front of their datagrams to it,
//! which a balancer in front of several hosts may read (`docs/wire.md`, "Short forms").

use rand_core::Rng;

use super::table::Table;
use crate::error::ConnectionIdsError;
use crate::frame::ConnectionId;
use crate::ids::Address;
use crate::route::{QuicLb, shard_mask};

/// How a host makes the connection ids that remote hosts put in front of their datagrams to it. All
/// have the length of [`Config::connection_id_len`](crate::Config::connection_id_len), for the whole
/// life of the host. By default they are [`Random`](Self::Random). [`route`](crate::route) has the other
/// end: what reads the ids in front of several hosts.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum ConnectionIds {
    /// All bytes look random. The host puts the peer's place in its table into ids of 4 bytes or more,
    /// under a key that only it knows, so that it finds the peer of a datagram without a search.
    #[default]
    Random,
    /// Random, but for the low bits of the first byte: for several hosts on one port, of which each is a
    /// shard. [`route::shard`](crate::route::shard) tells them. Ids have at least 2 bytes. A stranger that
    /// guesses ids has so many bits less to guess.
    Sharded {
        /// The number of this host among the shards, from 0 on; less than 2 to the power of `bits`.
        shard: u8,
        /// The bits that tell the shard, 1 to 8.
        bits: u8,
    },
    /// For a balancer that knows the servers by their QUIC-LB ids. Ids have at least 5 bytes more than the
    /// server's.
    QuicLb(QuicLb),
    /// The application's function makes them: it is given random bytes of the configured length and
    /// changes some, so that a balancer finds this host by them. It must leave enough bytes random that
    /// all peers get different ids, and at least 4 if strangers are not to guess ids.
    Custom(fn(&mut [u8])),
}

impl ConnectionIds {
    /// Whether ids of `length` bytes can be made so.
    pub(super) const fn check(&self, length: u8) -> Result<(), ConnectionIdsError> {
        let least = match self {
            Self::Random => 0,
            Self::Sharded { shard, bits } => match shard_mask(*bits) {
                None => return Err(ConnectionIdsError::ShardBits),
                Some(mask) if *shard > mask => return Err(ConnectionIdsError::Shard),
                // A byte beside that of the shard: with eight bits of it, all peers would have one id.
                Some(_) => 2,
            },
            Self::QuicLb(ids) => ids.id_len_min(),
            Self::Custom(_) => 1,
        };
        if length >= least {
            Ok(())
        } else if length == 0 {
            Err(ConnectionIdsError::NoBytes)
        } else {
            Err(ConnectionIdsError::TooShort)
        }
    }

    /// The most draws for one free id.
    const fn draws(&self) -> usize {
        match self {
            // With half of all ids in use still only one call in 2^64 finds none.
            Self::Random | Self::Sharded { .. } | Self::QuicLb(_) => 64,
            // The application's function may leave little to chance: more draws find hardly more.
            Self::Custom(_) => 16,
        }
    }

    /// An id of `length` bytes that no peer in the table has; `None` if none was found.
    pub(super) fn draw<A: Address>(
        &self,
        length: u8,
        table: &Table<A>,
        rng: &mut impl Rng,
    ) -> Option<ConnectionId> {
        let mut bytes = [0; ConnectionId::MAX];
        let id = bytes.get_mut(..length.into())?;
        for _ in 0..self.draws() {
            rng.fill_bytes(id);
            match self {
                Self::Random => table.put_next_slot(id),
                Self::Sharded { shard, bits } => {
                    table.put_next_slot_and_shard(id, *shard, shard_mask(*bits)?);
                }
                Self::QuicLb(ids) => ids.put(id),
                Self::Custom(change) => change(id),
            }
            let drawn = ConnectionId::new(id)?;
            // Empty ids are never in the table: such a host tells its peers apart by address.
            if !table.has_connection_id(drawn) {
                return Some(drawn);
            }
        }
        None
    }
}
