//! How a host names its connections: the ids that its peers put in front of their datagrams, which a
//! router or a balancer in front of several hosts may read (`docs/wire.md`, "Short forms").

use rand_core::Rng;

use super::table::Table;
use crate::frame::ConnectionId;
use crate::ids::Address;

/// How a host makes the connection ids that its peers put in front of their datagrams to it. Their
/// length is [`Config::connection_id_len`](crate::Config::connection_id_len), for the whole life of
/// the host. The default is [`Random`](Self::Random).
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum ConnectionIds {
    /// All bytes are random.
    #[default]
    Random,
    /// The application's: it is given random bytes of the configured length, and changes some of them,
    /// so that a router finds this host by them. It must leave at least 4 random bytes where strangers
    /// are not to guess ids, and enough for all peers in any case.
    Custom(fn(&mut [u8])),
}

impl ConnectionIds {
    /// How often an id that is in use is drawn anew. An application's ids may leave little to chance.
    const fn draws(self) -> usize {
        match self {
            Self::Random => 64,
            Self::Custom(_) => 16,
        }
    }
    /// An id of this length, in bytes, that no peer in the table has.
    pub(super) fn draw<A: Address>(
        self,
        length: u8,
        table: &Table<A>,
        rng: &mut impl Rng,
    ) -> Option<ConnectionId> {
        let mut bytes = [0; ConnectionId::MAX];
        let id = bytes.get_mut(..length.into())?;
        for _ in 0..self.draws() {
            rng.fill_bytes(id);
            if let Self::Custom(change) = self {
                change(id);
            }
            let drawn = ConnectionId::new(id)?;
            if !table.has_connection_id(drawn) {
                return Some(drawn);
            }
        }
        None
    }
}
