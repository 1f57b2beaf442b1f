//! What a host brings to its connections: its configuration, the offer made of that, and how it names
//! them (§2.1): the ids that its peers put in front of their datagrams, which a router or a balancer
//! in front of several hosts may read (`docs/wire.md`, "Short forms").

use rand_core::Rng;

use super::Address;
use super::table::Table;
use crate::config::Config;
use crate::error::{ConnectError, ConnectionIdsError};
use crate::event::{Ignored, Refusal};
use crate::frame::{Connect, ConnectionId, GREETING_MAX, Offer};
use crate::peer::Agreement;

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

/// The settings of a host.
#[derive(Debug)]
pub(super) struct Local {
    pub(super) config: Config,
    /// What the configuration says to remote hosts.
    pub(super) offer: Offer,
    connection_ids: ConnectionIds,
}

impl Local {
    pub(super) fn new(config: Config) -> Self {
        Self {
            offer: config.offer(),
            config,
            connection_ids: ConnectionIds::Random,
        }
    }

    /// The bytes of the longest datagram that is sent.
    pub(super) fn longest(&self) -> usize {
        let path = &self.config.path;
        path.largest().max(path.request_size).into()
    }

    /// Whether a request of this length may be answered: no answer is as long.
    pub(super) fn check_padding(&self, datagram_length: usize) -> Result<(), Ignored> {
        let is_padded = datagram_length >= usize::from(self.config.path.request_size);
        is_padded.then_some(()).ok_or(Ignored::Unpadded)
    }

    /// What comes of a request without COOKIE, if anything can: else what its host is told.
    pub(super) fn agree(&self, connect: &Connect) -> Result<Agreement, Refusal> {
        let application_id = self.offer.application;
        let agreement = Agreement::new(&self.offer, &connect.offer)
            .ok_or(Refusal::Incompatible { application_id })?;
        // A host that asks for sealing never goes on without it, and this one does not seal.
        if connect.offer.sealed.is_empty() {
            Ok(agreement)
        } else {
            Err(Refusal::Security)
        }
    }

    /// Whether the longest request with this greeting fits: the acknowledgement of a cookie goes
    /// before it.
    pub(super) fn check_greeting(&self, greeting: &[u8]) -> Result<(), ConnectError> {
        let id = [0; ConnectionId::MAX];
        let id = id.get(..self.config.connection_id_len.into());
        let connect = Connect {
            cookie: false,
            nonce_self: 1,
            nonce_peer: 1,
            connection_id: id.and_then(ConnectionId::new).unwrap_or_default(),
            offer: self.offer.clone(),
        };
        let longest = connect.encoded_length(&[]) + connect.encoded_length(greeting);
        let fits = longest <= usize::from(self.config.path.request_size);
        if greeting.is_empty() || (fits && greeting.len() <= GREETING_MAX) {
            Ok(())
        } else {
            Err(ConnectError::TooLong)
        }
    }

    /// How ids are made from now on.
    pub(super) const fn set_connection_ids(
        &mut self,
        ids: ConnectionIds,
    ) -> Result<(), ConnectionIdsError> {
        if matches!(ids, ConnectionIds::Custom(_)) && self.config.connection_id_len == 0 {
            return Err(ConnectionIdsError::NoBytes);
        }
        self.connection_ids = ids;
        Ok(())
    }

    /// A connection id that no peer in the table has.
    pub(super) fn draw_connection_id<A: Address>(
        &self,
        table: &Table<A>,
        rng: &mut impl Rng,
    ) -> Option<ConnectionId> {
        let mut bytes = [0; ConnectionId::MAX];
        let id = bytes.get_mut(..self.config.connection_id_len.into())?;
        for _ in 0..self.connection_ids.draws() {
            rng.fill_bytes(id);
            if let ConnectionIds::Custom(change) = self.connection_ids {
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
