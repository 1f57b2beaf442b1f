//! Where a host serves, and what sessions may take.

use core::net::SocketAddr;
use core::time::Duration;

use crate::Certificate;

/// Where a [`WebHost`](crate::WebHost) serves, by which certificate, and how many sessions it takes.
///
/// ```
/// use porous_web::{Certificate, WebConfig};
///
/// let certificate = Certificate::self_signed(["localhost", "127.0.0.1"]);
/// let at = ([127, 0, 0, 1], 4433).into();
/// let config = WebConfig::new(at, certificate).udp(([127, 0, 0, 1], 4434).into());
/// # let _ = config;
/// ```
#[derive(Clone, Debug)]
pub struct WebConfig {
    pub(crate) web: SocketAddr,
    pub(crate) udp: Option<SocketAddr>,
    pub(crate) certificate: Certificate,
    pub(crate) limits: Limits,
}

/// What strangers may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) sessions: usize,
    pub(crate) sessions_per_ip: usize,
    pub(crate) handshakes: usize,
    pub(crate) handshake_timeout: Duration,
}

impl WebConfig {
    /// Serves browsers at this address of UDP, which WebTransport runs over. With port 0 the system chooses the
    /// port. `[::]` serves both IPv6 and IPv4.
    ///
    /// ```
    /// use porous_web::{Certificate, WebConfig};
    ///
    /// let certificate = Certificate::self_signed(["localhost"]);
    /// let config = WebConfig::new(([0; 8], 4433).into(), certificate);
    /// # let _ = config;
    /// ```
    #[must_use]
    pub const fn new(web: SocketAddr, certificate: Certificate) -> Self {
        Self {
            web,
            udp: None,
            certificate,
            limits: Limits {
                sessions: 1024,
                sessions_per_ip: 32,
                handshakes: 64,
                handshake_timeout: Duration::from_secs(10),
            },
        }
    }

    /// Serves programs with UDP sockets as well, at this address. It has to be another port than that for browsers:
    /// a datagram of QUIC cannot be told from one of POROUS. Without this call there is no such socket.
    ///
    /// ```
    /// # use porous_web::{Certificate, WebConfig};
    /// # let config = WebConfig::new(([0; 8], 4433).into(), Certificate::self_signed(["localhost"]));
    /// let config = config.udp(([0; 8], 4434).into());
    /// # let _ = config;
    /// ```
    #[must_use]
    pub const fn udp(mut self, at: SocketAddr) -> Self {
        self.udp = Some(at);
        self
    }

    /// The most sessions at once. A further one is refused, which a page sees as a failed handshake. A session of
    /// which no connection comes within the [handshake timeout](Self::handshake_timeout) is closed, and one whose
    /// connection has ended, too. Without this call
    /// 1024.
    ///
    /// ```
    /// # use porous_web::{Certificate, WebConfig};
    /// # let config = WebConfig::new(([0; 8], 4433).into(), Certificate::self_signed(["localhost"]));
    /// let config = config.sessions(100);
    /// # let _ = config;
    /// ```
    #[must_use]
    pub const fn sessions(mut self, most: usize) -> Self {
        self.limits.sessions = most;
        self
    }

    /// The most of these, and of handshakes, that one IP address may have. Without this call 32, so that a class or
    /// an office behind one address gets in. Beside it stands
    /// [`Config::max_peers_per_source`](porous_proto::Config::max_peers_per_source), which counts UDP sockets as
    /// well.
    ///
    /// ```
    /// # use porous_web::{Certificate, WebConfig};
    /// # let config = WebConfig::new(([0; 8], 4433).into(), Certificate::self_signed(["localhost"]));
    /// let config = config.sessions_per_ip(4);
    /// # let _ = config;
    /// ```
    #[must_use]
    pub const fn sessions_per_ip(mut self, most: usize) -> Self {
        self.limits.sessions_per_ip = most;
        self
    }

    /// The most handshakes of QUIC and WebTransport at once. From a quarter of them on, and if its address has a
    /// session or a handshake already, a client has to show that it is at its address before the host works for it
    /// (RFC 9000 §8.1.2). Without this call 64.
    ///
    /// ```
    /// # use porous_web::{Certificate, WebConfig};
    /// # let config = WebConfig::new(([0; 8], 4433).into(), Certificate::self_signed(["localhost"]));
    /// let config = config.handshakes(16);
    /// # let _ = config;
    /// ```
    #[must_use]
    pub const fn handshakes(mut self, most: usize) -> Self {
        self.limits.handshakes = most;
        self
    }

    /// The longest time for the handshake of a session, and then for the first connection in it. Without this call
    /// 10 s.
    ///
    /// ```
    /// # use core::time::Duration;
    /// # use porous_web::{Certificate, WebConfig};
    /// # let config = WebConfig::new(([0; 8], 4433).into(), Certificate::self_signed(["localhost"]));
    /// let config = config.handshake_timeout(Duration::from_secs(3));
    /// # let _ = config;
    /// ```
    #[must_use]
    pub const fn handshake_timeout(mut self, timeout: Duration) -> Self {
        self.limits.handshake_timeout = timeout;
        self
    }
}
