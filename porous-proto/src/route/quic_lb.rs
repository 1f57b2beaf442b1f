//! Connection ids that tell the server, as QUIC-LB has them: draft-ietf-quic-load-balancers-21.

use core::fmt;

use crate::error::ConnectionIdsError;

#[cfg(feature = "quic-lb")]
use super::quic_lb_key::Encryption;

/// The rotation of an id that names no server (draft §3.1).
const UNROUTABLE: u8 = 0b111;

/// The least bytes of a nonce (draft §3).
const NONCE_MIN: u8 = 4;

/// The bits of the first byte that tell the length of the id less one (draft §3.2).
const LENGTH_MASK: u8 = 0b1_1111;

/// The id of a server behind a QUIC-LB balancer, 1 to 15 bytes.
///
/// ```
/// use porous_proto::route::ServerId;
///
/// let id = ServerId::new(&[0xC4, 0x60, 0x5E]).unwrap();
/// assert_eq!(id.as_bytes(), [0xC4, 0x60, 0x5E]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerId {
    length: u8,
    /// 0 beyond the length, so that equality can be derived.
    bytes: [u8; Self::MAX],
}

impl ServerId {
    /// The most bytes of an id.
    pub const MAX: usize = 15;

    /// The id of these bytes; `None` if there are none, or more than [`MAX`](Self::MAX).
    ///
    /// ```
    /// use porous_proto::route::ServerId;
    ///
    /// assert!(ServerId::new(&[7; 15]).is_some());
    /// assert!(ServerId::new(&[]).is_none() && ServerId::new(&[7; 16]).is_none());
    /// ```
    #[must_use]
    pub fn new(id: &[u8]) -> Option<Self> {
        let mut bytes = [0; Self::MAX];
        bytes.get_mut(..id.len())?.copy_from_slice(id);
        let length = u8::try_from(id.len()).ok()?;
        (length > 0).then_some(Self { length, bytes })
    }

    /// The bytes.
    ///
    /// ```
    /// # use porous_proto::route::ServerId;
    /// assert_eq!(ServerId::new(&[1, 2]).unwrap().as_bytes(), [1, 2]);
    /// ```
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes
            .get(..usize::from(self.length))
            .unwrap_or_default()
    }
}

/// In hexadecimal.
impl fmt::Debug for ServerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = self.as_bytes().iter();
        bytes.try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Connection ids for a balancer that knows QUIC-LB, the Internet draft *QUIC-LB: Generating Routable QUIC
/// Connection IDs* (draft-ietf-quic-load-balancers-21), for
/// [`ConnectionIds::QuicLb`](crate::ConnectionIds::QuicLb). The first byte of an id tells the number of the
/// balancer's configuration in its three upper bits and the id's length less one in the others. The id of
/// the server follows, then a random nonce of 4 bytes at least: an id has 6 to 20 bytes, by
/// [`Config::connection_id_len`](crate::Config::connection_id_len), which here must be given for a server,
/// as its default of 4 is too short.
///
/// As they are, these ids show everybody which server a datagram is for, and only the nonce keeps strangers
/// from guessing them: have 8 bytes of it or more. `QuicLb::encrypted`, with the feature
/// `quic-lb`, hides both from everybody without the balancer's key.
///
/// ```
/// use porous_proto::route::{QuicLb, quic_lb_server};
/// use porous_proto::{Config, ConnectionIds, Host};
/// # use porous_proto::hooks::doc::example_rng;
///
/// let ids = QuicLb::new(0, &[0xC4, 0x60, 0x5E])?;
/// let config = Config::new().connection_id_len(12)?;
/// let mut host = Host::<_, u32>::new(config, example_rng());
/// host.set_connection_ids(ConnectionIds::QuicLb(ids))?;
///
/// // What the balancer reads in an id of this host.
/// let id = [0x0B, 0xC4, 0x60, 0x5E, 1, 2, 3, 4, 5, 6, 7, 8];
/// assert_eq!(quic_lb_server(&id, 3), Some(ids.server()));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct QuicLb {
    rotation: u8,
    server: ServerId,
    #[cfg(feature = "quic-lb")]
    encryption: Option<Encryption>,
}

impl QuicLb {
    /// Ids of the server `server`, 1 to 15 bytes that the balancer knows, in the configuration `rotation`,
    /// 0 to 6. Nothing is encrypted.
    ///
    /// # Errors
    ///
    /// [`ConnectionIdsError::Rotation`] above 6, [`ConnectionIdsError::ServerId`] for a server's id of 0
    /// or more than 15 bytes.
    ///
    /// ```
    /// use porous_proto::ConnectionIdsError;
    /// use porous_proto::route::QuicLb;
    ///
    /// assert!(QuicLb::new(6, &[1, 2]).is_ok());
    /// assert_eq!(QuicLb::new(7, &[1, 2]).err(), Some(ConnectionIdsError::Rotation));
    /// assert_eq!(QuicLb::new(0, &[]).err(), Some(ConnectionIdsError::ServerId));
    /// ```
    pub fn new(rotation: u8, server: &[u8]) -> Result<Self, ConnectionIdsError> {
        if rotation >= UNROUTABLE {
            return Err(ConnectionIdsError::Rotation);
        }
        Ok(Self {
            rotation,
            server: ServerId::new(server).ok_or(ConnectionIdsError::ServerId)?,
            #[cfg(feature = "quic-lb")]
            encryption: None,
        })
    }

    /// The same ids, encrypted with the key that the balancer has: by one pass of AES-128 if they have 17
    /// bytes, else by four (draft §5.3 to §5.5). A host with the key reads the server in every id, so it
    /// hides which server a client plays on, and nothing else.
    ///
    /// ```
    /// use porous_proto::route::{QuicLb, QuicLbKey};
    ///
    /// let key = [7; 16];
    /// let ids = QuicLb::new(0, &[1, 2])?.encrypted(key);
    /// // What the balancer has.
    /// let balancer = QuicLbKey::new(&key);
    /// # let _ = (ids, balancer);
    /// # Ok::<(), porous_proto::ConnectionIdsError>(())
    /// ```
    #[cfg(feature = "quic-lb")]
    #[must_use]
    pub const fn encrypted(mut self, key: [u8; 16]) -> Self {
        self.encryption = Some(Encryption::new(key));
        self
    }

    /// The id of the server.
    ///
    /// ```
    /// use porous_proto::route::QuicLb;
    ///
    /// assert_eq!(QuicLb::new(0, &[1, 2])?.server().as_bytes(), [1, 2]);
    /// # Ok::<(), porous_proto::ConnectionIdsError>(())
    /// ```
    #[must_use]
    pub const fn server(&self) -> ServerId {
        self.server
    }

    /// The rotation, and the key if there is one.
    #[cfg(feature = "record")]
    pub(crate) const fn parts(&self) -> (u8, Option<[u8; 16]>) {
        #[cfg(feature = "quic-lb")]
        if let Some(encryption) = &self.encryption {
            return (self.rotation, Some(encryption.key()));
        }
        (self.rotation, None)
    }

    /// The least bytes of an id.
    pub(crate) const fn id_len_min(&self) -> u8 {
        // 20 at most.
        self.server.length.saturating_add(1 + NONCE_MIN)
    }

    /// Makes an id of random bytes one of this server's. It must have [`id_len_min`](Self::id_len_min) bytes
    /// or more, and 20 at most.
    pub(crate) fn put(&self, id: &mut [u8]) {
        let Some((first, rest)) = id.split_first_mut() else {
            return;
        };
        let length = u8::try_from(rest.len()).unwrap_or(u8::MAX) & LENGTH_MASK;
        *first = self.rotation << 5 | length;
        let server = self.server.as_bytes();
        if let Some(place) = rest.get_mut(..server.len()) {
            place.copy_from_slice(server);
        }
        #[cfg(feature = "quic-lb")]
        if let Some(encryption) = &self.encryption {
            encryption.encrypt(rest);
        }
    }
}

/// Never shows the key.
impl fmt::Debug for QuicLb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QuicLb")
            .field("rotation", &self.rotation)
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}

/// The number of the balancer's configuration, 0 to 6, by which an id was made: it says how long the id of
/// the server is, and what key it is encrypted with. `None` if the id is empty or names no server; such a
/// datagram is routed by its sender's address.
///
/// ```
/// use porous_proto::route::quic_lb_rotation;
///
/// assert_eq!(quic_lb_rotation(&[0x2A, 1, 2, 3]), Some(1));
/// assert_eq!(quic_lb_rotation(&[0xEA, 1, 2, 3]), None);
/// ```
#[must_use]
pub fn quic_lb_rotation(id: &[u8]) -> Option<u8> {
    let rotation = id.first()? >> 5;
    (rotation != UNROUTABLE).then_some(rotation)
}

/// The server that a connection id names that is not encrypted. `server_id_len` is the length of the
/// servers' ids in the id's [configuration](quic_lb_rotation), 1 to 15 bytes. `None` if that is out of
/// range, or if the id has no room for it and a nonce of 4 bytes, has more than 20 bytes, or names no server.
/// Ids that are encrypted are read by the `QuicLbKey` of the feature `quic-lb`.
///
/// ```
/// use porous_proto::route::quic_lb_server;
///
/// let id = [0x07, 0xC4, 0x60, 0x5E, 0x45, 0x04, 0xCC, 0x4F];
/// assert_eq!(quic_lb_server(&id, 3).unwrap().as_bytes(), [0xC4, 0x60, 0x5E]);
/// assert_eq!(quic_lb_server(&id, 4), None);
/// ```
#[must_use]
pub fn quic_lb_server(id: &[u8], server_id_len: usize) -> Option<ServerId> {
    ServerId::new(sealed_part(id, server_id_len)?.get(..server_id_len)?)
}

/// All of an id but its first byte: the server's id and the nonce, if there can be a server's id of this
/// length in it.
pub(super) fn sealed_part(id: &[u8], server_id_len: usize) -> Option<&[u8]> {
    quic_lb_rotation(id)?;
    let (_, rest) = id.split_first()?;
    let nonce = rest.len().checked_sub(server_id_len)?;
    let is_sound = (1..=ServerId::MAX).contains(&server_id_len) && nonce >= NONCE_MIN.into();
    (is_sound && rest.len() < crate::frame::ConnectionId::MAX).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    /// The id that a server makes of this nonce.
    fn made(ids: QuicLb, nonce: &[u8]) -> ([u8; 20], usize) {
        let length = 1 + ids.server.as_bytes().len() + nonce.len();
        let mut id = [0x55; 20];
        id[length - nonce.len()..length].copy_from_slice(nonce);
        ids.put(&mut id[..length]);
        (id, length)
    }

    /// Appendix B of the draft, "Unencrypted CIDs". The second row is printed with one digit too few both
    /// in its nonce and in its id, as a byte below 16 has lost its zero: 0x0B, the last one.
    #[test]
    fn ids_are_those_of_the_draft() {
        let first = QuicLb::new(0, &[0xC4, 0x60, 0x5E]).unwrap();
        let (id, length) = made(first, &[0x45, 0x04, 0xCC, 0x4F]);
        let expected = [0x07, 0xC4, 0x60, 0x5E, 0x45, 0x04, 0xCC, 0x4F];
        assert_eq!(id[..length], expected);
        assert_eq!(quic_lb_server(&expected, 3), Some(first.server()));
        assert_eq!(quic_lb_rotation(&expected), Some(0));

        let second = QuicLb::new(1, &[0x35, 0x0D, 0x28, 0xB4, 0x20]).unwrap();
        let (id, length) = made(second, &[0x34, 0x87, 0xD9, 0x70, 0x0B]);
        let expected = [
            0x2A, 0x35, 0x0D, 0x28, 0xB4, 0x20, 0x34, 0x87, 0xD9, 0x70, 0x0B,
        ];
        assert_eq!(id[..length], expected);
        assert_eq!(quic_lb_server(&expected, 5), Some(second.server()));
        assert_eq!(quic_lb_rotation(&expected), Some(1));
    }

    #[test]
    fn a_server_is_read_only_where_there_can_be_one() {
        let id = [0x05; 21];
        for length in 0..=21 {
            for server in 0..=21 {
                let can_be = (1..=15).contains(&server) && (server + 5..=20).contains(&length);
                let read = quic_lb_server(&id[..length], server);
                assert_eq!(read.is_some(), can_be, "{server} of {length}");
            }
        }
        assert_eq!(quic_lb_server(&id, usize::MAX), None);
        assert_eq!(quic_lb_server(&[0xE7; 8], 3), None, "names no server");
    }

    #[test]
    fn neither_a_rotation_nor_a_server_out_of_range_is_taken() {
        let error = |rotation, server| QuicLb::new(rotation, server).err();
        assert_eq!(error(6, &[1; 15]), None);
        assert_eq!(error(7, &[1; 15]), Some(ConnectionIdsError::Rotation));
        assert_eq!(error(255, &[1; 15]), Some(ConnectionIdsError::Rotation));
        assert_eq!(error(0, &[]), Some(ConnectionIdsError::ServerId));
        assert_eq!(error(0, &[1; 16]), Some(ConnectionIdsError::ServerId));
    }

    #[test]
    fn servers_are_told_in_hexadecimal() {
        let ids = QuicLb::new(2, &[0x0A, 0xFF]).unwrap();
        assert_eq!(
            format!("{ids:?}"),
            "QuicLb { rotation: 2, server: 0aff, .. }"
        );
    }
}
