//! How a host names its connections (§2.1): the ids that its peers put in front of their datagrams,
//! which a router or a balancer in front of several hosts may read (`docs/wire.md`, "Short forms").

use rand_core::CryptoRng;

use super::{Address, Host};
use crate::error::ConnectionIdsError;
use crate::frame::ConnectionId;

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
}

impl<R: CryptoRng, A: Address> Host<R, A> {
    /// Changes how the ids of new connections are made. Those that are there keep theirs.
    ///
    /// An id that one of this host's peers has is drawn again: 64 times, or 16 times with
    /// [`ConnectionIds::Custom`]. If none of them is free,
    /// [`connect`](Self::connect) fails with
    /// [`OutOfConnectionIds`](crate::ConnectError::OutOfConnectionIds), and who wants to connect to
    /// this host is refused with [`Full`](crate::Refusal::Full).
    ///
    /// # Errors
    ///
    /// [`ConnectionIdsError::NoBytes`] for [`ConnectionIds::Custom`] if connection ids are empty here.
    ///
    /// ```
    /// use porous_proto::{Config, ConnectionIds, Host};
    /// # use porous_proto::doc::example_rng;
    ///
    /// // Host 3 of several behind one balancer, which looks at the first byte.
    /// let config = Config::new().connection_id_len(8)?;
    /// let mut host = Host::<_, u32>::new(config, example_rng());
    /// host.set_connection_ids(ConnectionIds::Custom(|id| id[0] = 3))?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub const fn set_connection_ids(
        &mut self,
        ids: ConnectionIds,
    ) -> Result<(), ConnectionIdsError> {
        if matches!(ids, ConnectionIds::Custom(_)) && self.config.connection_id_len == 0 {
            return Err(ConnectionIdsError::NoBytes);
        }
        self.connection_ids = ids;
        Ok(())
    }

    /// A connection id that no peer of this host has.
    pub(super) fn draw_connection_id(&mut self) -> Option<ConnectionId> {
        let mut bytes = [0; ConnectionId::MAX];
        let id = bytes.get_mut(..self.config.connection_id_len.into())?;
        for _ in 0..self.connection_ids.draws() {
            self.rng.fill_bytes(id);
            if let ConnectionIds::Custom(change) = self.connection_ids {
                change(id);
            }
            let drawn = ConnectionId::new(id)?;
            if drawn.is_empty() || self.peers.by_connection_id(drawn).is_none() {
                return Some(drawn);
            }
        }
        None
    }
}
