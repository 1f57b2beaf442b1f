//! What a host sends along the paths to its peers, and may find out about them.

use super::Config;
use crate::error::ConfigError;
use crate::frame::{REQUEST_SIZE_MAX, REQUEST_SIZE_MIN};

/// The datagrams of a host: their sizes in bytes of UDP payload, their marks and their addresses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathSettings {
    pub(crate) max_datagram: u16,
    pub(crate) request_size: u16,
    /// 0: the path is not searched.
    path_mtu: u16,
    pub(crate) ecn: bool,
    pub(crate) roaming: bool,
}

impl PathSettings {
    pub(super) const DEFAULT: Self = Self {
        max_datagram: 1200,
        request_size: REQUEST_SIZE_MAX,
        path_mtu: 0,
        ecn: false,
        roaming: false,
    };

    /// What datagrams may become, if the path carries it.
    pub(crate) fn largest(&self) -> u16 {
        self.max_datagram.max(self.path_mtu)
    }

    /// What datagrams begin with: a request as long as this has passed; whether more does has yet to be
    /// found out.
    pub(super) fn first(&self) -> u16 {
        self.max_datagram.min(self.request_size)
    }
}

impl Config {
    /// The largest UDP payload to send or receive, in bytes, 512 to 65,507. The smaller of both
    /// hosts' counts. Default 1200, which passes everywhere (RFC 8899 §5.1.2, RFC 9000 §14).
    ///
    /// What is more than [`request_size`](Self::request_size) is used when a search has found that the
    /// path carries it: see [`path_mtu_discovery`](Self::path_mtu_discovery).
    ///
    /// # Errors
    ///
    /// [`ConfigError::MaxDatagram`] outside this range.
    ///
    /// ```
    /// assert!(porous_proto::Config::new().max_datagram(1452).is_ok());
    /// assert!(porous_proto::Config::new().max_datagram(100).is_err());
    /// ```
    pub const fn max_datagram(mut self, bytes: u16) -> Result<Self, ConfigError> {
        if bytes < 512 || bytes > 65_507 {
            return Err(ConfigError::MaxDatagram);
        }
        self.path.max_datagram = bytes;
        Ok(self)
    }

    /// The size of a connection request in bytes of UDP payload, 512 to 1200: a host that connects pads
    /// its requests to it, and one that listens, or connects to a host that connects to it, does not
    /// answer shorter ones. So the host that is connected to must have no larger one than the host that
    /// connects, or the attempt ends as one that is not answered does. Default 1200.
    ///
    /// Less is for carriers whose datagrams are shorter: a datagram of WebTransport is sent in one of
    /// QUIC, and holds some 1130 bytes. A request is also what proves that the path carries datagrams
    /// of its size. With less than [`max_datagram`](Self::max_datagram) a connection begins with
    /// datagrams of this size, and searches for larger ones up to `max_datagram` as
    /// [`path_mtu_discovery`](Self::path_mtu_discovery) says.
    ///
    /// The longest answer to a request of which nothing is known yet, a cookie, is no longer than a
    /// third of 512 bytes.
    ///
    /// # Errors
    ///
    /// [`ConfigError::RequestSize`] outside this range.
    ///
    /// ```
    /// assert!(porous_proto::Config::new().request_size(1024).is_ok());
    /// assert!(porous_proto::Config::new().request_size(1201).is_err());
    /// ```
    pub const fn request_size(mut self, bytes: u16) -> Result<Self, ConfigError> {
        if bytes < REQUEST_SIZE_MIN || bytes > REQUEST_SIZE_MAX {
            return Err(ConfigError::RequestSize);
        }
        self.path.request_size = bytes;
        Ok(self)
    }

    /// Searches for datagrams larger than [`max_datagram`](Self::max_datagram) that the path to a
    /// peer carries, up to `max` bytes of UDP payload, 512 to 65,507 (RFC 8899). A connection begins
    /// with the smaller one of what both hosts take at first, and the limit is the smaller one of what
    /// they take at most: a host without this takes `max_datagram`. 0 or less than `max_datagram` is
    /// off, the default. 1452 is what Ethernet carries under IPv6.
    ///
    /// Nothing is tried in the first 5 s of a connection, and nothing as long as there is not more
    /// to send at once than fits into a datagram. What is found serves small packets, more of which
    /// then share a datagram, and the rest of large ones that have begun. If the path changes
    /// and large datagrams vanish, what they carried is cut anew, and
    /// [`max_datagram`](Self::max_datagram) holds again until a search a minute later.
    /// [`PeerStats::path_mtu`](crate::PeerStats::path_mtu) tells the size, and
    /// [`Peer::max_unfragmented`](crate::Peer::max_unfragmented) what that means for packets.
    ///
    /// The driver must be able to forbid routers to fragment what says
    /// [`Transmit::dont_fragment`](crate::Transmit::dont_fragment); one that is not must leave this
    /// off. [`max_datagram_size`](crate::Host::max_datagram_size) grows to `max`.
    ///
    /// # Errors
    ///
    /// [`ConfigError::MaxDatagram`] outside this range.
    ///
    /// ```
    /// assert!(porous_proto::Config::new().path_mtu_discovery(1452).is_ok());
    /// assert!(porous_proto::Config::new().path_mtu_discovery(100).is_err());
    /// ```
    pub const fn path_mtu_discovery(mut self, max: u16) -> Result<Self, ConfigError> {
        if max != 0 && (max < 512 || max > 65_507) {
            return Err(ConfigError::MaxDatagram);
        }
        self.path.path_mtu = max;
        Ok(self)
    }

    /// Leaves [`path_mtu_discovery`](Self::path_mtu_discovery) off, whatever was configured: for
    /// drivers that cannot keep routers from fragmenting. No datagram is longer than
    /// [`max_datagram`](Self::max_datagram) then.
    ///
    /// ```
    /// use porous_proto::Config;
    ///
    /// let config = Config::new().path_mtu_discovery(1452)?;
    /// let _config = config.without_path_mtu_discovery();
    /// # Ok::<(), porous_proto::ConfigError>(())
    /// ```
    #[must_use]
    pub const fn without_path_mtu_discovery(mut self) -> Self {
        self.path.path_mtu = 0;
        self
    }

    /// Sends data as ECN-capable (ECT(0), RFC 3168), so that routers may mark what they would
    /// otherwise drop, or earlier: a mark is told to the [controller](crate::congestion) as
    /// [`Signal::Mark`](crate::congestion::Signal::Mark), and nothing is lost. Marks that come are
    /// reported to the other host in any case. Has no effect under
    /// [`Policy::Paper`](crate::Policy::Paper). Default `false`.
    ///
    /// It ends by itself where the path removes or invents marks or drops what has them, and where
    /// a driver of either host does not pass them on: see [`PeerStats::ecn`](crate::PeerStats::ecn).
    ///
    /// ```
    /// let _config = porous_proto::Config::new().ecn(true);
    /// ```
    #[must_use]
    pub const fn ecn(mut self, yes: bool) -> Self {
        self.path.ecn = yes;
        self
    }

    /// Follows a peer whose host has got another address, because its network has changed or the
    /// router in front of it has given it another port: [`Event::PeerMoved`](crate::Event::PeerMoved)
    /// tells. A server wants this for its clients; what they connect to stays where it is. Default
    /// `false`: what comes from elsewhere is dropped.
    ///
    /// The peer moves when a challenge that was sent to the new address has been echoed from there,
    /// never before, and at most once a second; until then little is sent there: three bytes for each
    /// one that came (`docs/wire.md`, "Roaming"). So nobody can turn a stream at somebody else's
    /// address without seeing what is sent there. A host that sees the datagrams of both directions
    /// and can send some of its own is believed, as in all else of a connection that is not
    /// encrypted: that is why this is off by default.
    ///
    /// It takes connection ids: has no effect where
    /// [`connection_id_len`](Self::connection_id_len) is 0.
    ///
    /// ```
    /// let _config = porous_proto::Config::new().roaming(true);
    /// ```
    #[must_use]
    pub const fn roaming(mut self, yes: bool) -> Self {
        self.path.roaming = yes;
        self
    }
}
