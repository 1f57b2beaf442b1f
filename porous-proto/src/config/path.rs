//! The datagrams that a host sends along the paths to its peers, and what it may find out about paths.

use super::{Config, Policy};
use crate::error::ConfigError;
use crate::frame::{REQUEST_SIZE_MAX, REQUEST_SIZE_MIN};

/// Bytes of a datagram that passes everywhere (RFC 9000 §14).
const MAX_DATAGRAM: u16 = 1200;

/// Bytes of the longest datagram that Ethernet carries under IPv6 without extensions: 1500 less the headers of
/// IPv6 and UDP.
const ETHERNET: u16 = 1452;

/// The peers that are followed when their remote hosts move.
#[derive(Clone, Copy, Debug)]
pub(super) enum Followed {
    None,
    Sealed,
    All,
}

/// The datagrams of a host: their sizes in bytes of UDP payload, their marks and their addresses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathSettings {
    pub(crate) max_datagram: u16,
    pub(crate) request_size: u16,
    /// The longest datagram that a search of the path may find, in bytes; 0 if there is no search. `None` as
    /// long as neither the application nor the driver has decided.
    pub(super) path_mtu: Option<u16>,
    pub(crate) ecn: bool,
    pub(super) followed: Followed,
}

impl PathSettings {
    pub(super) const DEFAULT: Self = Self {
        max_datagram: MAX_DATAGRAM,
        request_size: REQUEST_SIZE_MAX,
        path_mtu: None,
        ecn: true,
        // A host between the two can take the place of a plain peer that is followed, so an application has
        // to choose that. What comes of a sealed peer is its own.
        followed: Followed::Sealed,
    };

    /// The length of the longest datagram if the path carries it, in bytes.
    pub(crate) fn largest(&self) -> u16 {
        self.max_datagram.max(self.path_mtu.unwrap_or(0))
    }

    /// Whether a peer is followed to other addresses.
    pub(crate) const fn follows(&self, is_sealed: bool) -> bool {
        match self.followed {
            Followed::None => false,
            Followed::Sealed => is_sealed,
            Followed::All => true,
        }
    }

    /// The length of the longest datagram at first, in bytes.
    pub(super) fn first(&self) -> u16 {
        // A request as long as this has passed. Whether more passes only a search can tell.
        self.max_datagram.min(self.request_size)
    }
}

impl Config {
    /// The largest UDP payload to send or receive, in bytes, 512 to 65,507. The smaller one of both
    /// hosts counts. Default 1200, which passes everywhere (RFC 8899 §5.1.2, RFC 9000 §14).
    ///
    /// Datagrams longer than [`request_size`](Self::request_size) are used when a search has found that
    /// the path carries them: see [`path_mtu_discovery`](Self::path_mtu_discovery).
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

    /// The size of a connection request in bytes of UDP payload, 512 to 1200. A host that connects pads
    /// its requests to this size, and a host does not answer shorter ones. So the size of the host that
    /// is connected to must be no larger than that of the host that connects, or the attempt ends
    /// without an answer. Default 1200.
    ///
    /// Sizes below 1200 are for carriers whose datagrams are shorter: a datagram of WebTransport is sent
    /// in one of QUIC, and holds 1024 bytes or more. A request also proves that the path carries datagrams
    /// of its size. With less than [`max_datagram`](Self::max_datagram) a connection begins with
    /// datagrams of this size, and searches for larger ones up to `max_datagram` as
    /// [`path_mtu_discovery`](Self::path_mtu_discovery) says.
    ///
    /// No stranger can use a host to send others more than it sends itself: the longest answer to an
    /// unknown request, a cookie, is no longer than a third of 512 bytes.
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
    /// peer carries, up to `max` bytes of UDP payload, 512 to 65,507 (RFC 8899). The limit is the smaller
    /// one of both hosts; a host that does not search takes datagrams of `max_datagram` bytes. With 0 or
    /// less than `max_datagram` there is no search beyond it. Without this call the driver decides: see
    /// [`with_path_mtu_discovery`](Self::with_path_mtu_discovery). `porous-std` and `porous-mio` search up
    /// to 1452 bytes where the system forbids routers to fragment, and `porous-smoltcp` does not search.
    ///
    /// The host tries nothing in the first 5 s of a connection, and nothing as long as there is no more
    /// to send at once than fits into a datagram. Larger datagrams serve small packets, more of which
    /// then share one, and the rest of large packets that have begun. If the path changes and large
    /// datagrams vanish, what they carried is cut anew, and [`max_datagram`](Self::max_datagram) holds
    /// again. The size that was in use is tried once more, and others a minute later.
    /// [`PeerStats::path_mtu`](crate::PeerStats::path_mtu) tells the size, and
    /// [`Peer::max_unfragmented`](crate::Peer::max_unfragmented) what that means for packets.
    ///
    /// The driver must be able to forbid routers to fragment datagrams with
    /// [`Transmit::dont_fragment`](crate::Transmit::dont_fragment). With a driver that is not, leave this
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
        self.path.path_mtu = Some(max);
        Ok(self)
    }

    /// Searches for datagrams of up to 1452 bytes, which Ethernet carries under IPv6, if the application has
    /// left the choice to the driver: for drivers that forbid routers to fragment, which the host cannot
    /// see. The application has made the choice if it has called
    /// [`path_mtu_discovery`](Self::path_mtu_discovery), set another [`max_datagram`](Self::max_datagram)
    /// than 1200, or follows [`Policy::Paper`], which has no search.
    ///
    /// ```
    /// use porous_proto::{Config, Host};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let config = Config::new().with_path_mtu_discovery();
    /// let host = Host::<_, u32>::new(config, example_rng());
    /// assert_eq!(host.max_datagram_size(), 1452);
    /// ```
    #[must_use]
    pub const fn with_path_mtu_discovery(mut self) -> Self {
        let is_open = self.path.path_mtu.is_none() && self.path.max_datagram == MAX_DATAGRAM;
        if is_open && matches!(self.policy, Policy::Modern) {
            self.path.path_mtu = Some(ETHERNET);
        }
        self
    }

    /// Switches [`path_mtu_discovery`](Self::path_mtu_discovery) off, whatever was configured: for
    /// drivers that cannot keep routers from fragmenting. No datagram with data is then longer than
    /// [`max_datagram`](Self::max_datagram).
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
        self.path.path_mtu = Some(0);
        self
    }

    /// Whether data is sent as ECN-capable (ECT(0), RFC 3168), so that routers may mark datagrams that
    /// they would otherwise drop, or mark them earlier. The [controller](crate::congestion) is told a
    /// mark as [`Signal::Mark`](crate::congestion::Signal::Mark), and nothing is lost. Marks that come
    /// are reported to the remote host in any case, by a byte in each acknowledgement. Has no effect under
    /// [`Policy::Paper`]. Default `true`.
    ///
    /// A connection stops by itself where the path removes or invents marks or drops datagrams that have
    /// them, and where a driver of either host does not pass them on, with the first acknowledgement or
    /// after ten lost frames: see [`PeerStats::ecn`](crate::PeerStats::ecn). A driver that knows that its
    /// socket has no marks switches them off, whatever was configured; that is no error.
    ///
    /// ```
    /// let _config = porous_proto::Config::new().ecn(false);
    /// ```
    #[must_use]
    pub const fn ecn(mut self, yes: bool) -> Self {
        self.path.ecn = yes;
        self
    }

    /// Whether the host follows a peer whose remote host has got another address, because its network has
    /// changed or its router has given it another port; [`Event::PeerMoved`](crate::Event::PeerMoved)
    /// tells. A server wants this for its clients; the clients do not need it, as a server stays where it
    /// is. If this is not called, peers of sealed connections (feature `seal`) are followed, and others are not:
    /// their datagrams from other addresses are dropped.
    ///
    /// The peer moves when a challenge that was sent to the new address has been echoed from there,
    /// never before, and at most once a second. Until then the new address gets three bytes for each
    /// byte that came from it (`docs/wire.md`, "Roaming"). So nobody can turn a stream at another's
    /// address without seeing what is sent there. A host that sees the datagrams of both directions
    /// and can send some of its own is believed, as in everything about a connection that is not
    /// sealed: hence the default. Of a sealed peer it can move no more than the way that its datagrams take.
    ///
    /// Has no effect where [`connection_id_len`](Self::connection_id_len) is 0, as such a host knows its
    /// peers by address alone.
    ///
    /// ```
    /// let _config = porous_proto::Config::new().roaming(true);
    /// ```
    #[must_use]
    pub const fn roaming(mut self, yes: bool) -> Self {
        self.path.followed = if yes { Followed::All } else { Followed::None };
        self
    }
}
