//! The host: the state machine of POROUS on a UDP socket and on sessions.

use core::time::Duration;
use std::io;

use getrandom::SysRng;
use porous_proto::{Config, Disconnect, Ecn, Event, Host, Instant, ip_source};
use porous_udp::{Clock, Conditioner};
use rand_core::{TryRng, UnwrapErr};

use crate::carriers::{Came, Carriers};
use crate::certificate::Loaded;
use crate::{Certificate, Session, WebAddress, WebConfig};

/// The random source of a [`WebHost`]: the operating system's.
pub type OsRng = UnwrapErr<SysRng>;

/// The length of the longest datagram to a browser, and from it, until longer ones have been tried, in bytes. A
/// datagram that the QUIC of a browser has no room for vanishes without an error: Firefox 153 takes 1024 bytes when a
/// session is ready, and 1224 later; Chromium 156 takes 1211.
pub const REQUEST_SIZE: u16 = 1024;

/// How long a turn takes datagrams in, and how long it sends: a part of a frame of 60 Hz. A flood must not stop the
/// game.
const TIME_LIMIT: Duration = Duration::from_millis(4);

/// How often sessions without a peer are looked for.
const SWEEP: Duration = Duration::from_secs(1);

/// How long the host waits until it tries again to make a certificate.
const RENEW_AGAIN: Duration = Duration::from_secs(3600);

/// The longest sleep. Tokio's timers go no further than two years.
const LONGEST_SLEEP: Duration = Duration::from_secs(3600);

/// The way a connection ends whose session has ended.
const GONE: Disconnect = Disconnect::Now { reason: 0 };

/// What a [`WebHost`] counts beside what its [`Host`] does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WebStats {
    /// Sessions that are open now.
    pub sessions: usize,
    /// Sessions that were ever opened.
    pub sessions_opened: u64,
    /// Sessions that were refused, as there were enough of them, or enough handshakes.
    pub sessions_refused: u64,
    /// Datagrams that were not sent: the session was gone, its path carries only shorter ones, or the socket had no
    /// room.
    pub send_lost: u64,
}

/// One host on sessions of WebTransport and on a UDP socket. One task owns it, as a game loop does, and calls
/// [`wait`](Self::wait) or [`next_event`](Self::next_event) over and over: they take in and send.
///
/// A host that is dropped tells each remote host once, as far as there is room at that moment, and closes all
/// sessions. To end in order, [`drain`](Self::drain) it and go on until it [is empty](Self::is_empty).
#[derive(Debug)]
pub struct WebHost {
    pub(crate) host: Host<OsRng, WebAddress>,
    pub(crate) clock: Clock,
    pub(crate) carriers: Carriers,
    certificate: Certificate,
    hash: [u8; 32],
    /// When the certificate is made anew; `None` if the host cannot do that.
    renew_at: Option<Instant>,
    sweep_at: Instant,
    /// How long a session may be without a peer.
    unused_for: Duration,
    buffer: Box<[u8]>,
}

impl WebHost {
    /// Binds the sockets. Nobody is let in before [`listen`](Self::listen).
    ///
    /// Of the configuration [`request_size`](Config::request_size) becomes [`REQUEST_SIZE`], so that browsers can
    /// connect. Connections begin with datagrams of this size, and search for longer ones up to
    /// [`max_datagram`](Config::max_datagram). A client that connects by UDP may pad its requests to more.
    /// [`ecn`](Config::ecn) is switched off, as sessions have no marks.
    ///
    /// # Errors
    ///
    /// The system's error, with the address, if it cannot bind a socket; an error of the kind
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if there is no certificate where it should be.
    ///
    /// # Panics
    ///
    /// Outside of a runtime of tokio with `enable_io` and `enable_time`.
    ///
    /// ```
    /// use porous_web::{Certificate, Config, Listen, WebConfig, WebHost};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// let at = ([127, 0, 0, 1], 0).into();
    /// let web = WebConfig::new(at, Certificate::self_signed(["localhost", "127.0.0.1"]));
    /// let mut host = WebHost::bind(web, Config::new()).await?;
    /// host.listen(Listen::Open)?;
    /// println!("pages connect to https://{}", host.web_addr()?);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn bind(web: WebConfig, config: Config) -> io::Result<Self> {
        // Without a source of randomness the host would panic, later.
        SysRng.try_next_u64().map_err(io::Error::other)?;
        let config = config
            .request_size(REQUEST_SIZE)
            .map_err(io::Error::other)?;
        let Loaded {
            identity,
            hash,
            used_for,
        } = web.certificate.load().await?;
        let carriers = Carriers::bind(&web, identity)?;
        let mut host = Host::new(config.ecn(false), UnwrapErr(SysRng));
        host.set_source_of(|from: &WebAddress| ip_source(from.ip().to_canonical()));
        host.set_same_host(|a, b| a.ip() == b.ip());
        let clock = Clock::start();
        Ok(Self {
            buffer: vec![0; host.max_datagram_size()].into(),
            host,
            clock,
            carriers,
            certificate: web.certificate,
            hash,
            renew_at: used_for.map(|time| clock.now() + time),
            sweep_at: clock.now() + SWEEP,
            unused_for: web.limits.handshake_timeout,
        })
    }

    /// Puts a bad network between the host and its carriers: `out` for what leaves, `back` for what comes. The feature
    /// `sim` of `porous-udp` has a whole network, `LinkConditioner`.
    ///
    /// ```
    /// use porous_udp::LinkConditioner;
    /// use porous_udp::sim::{LinkConfig, Seed};
    /// # use porous_web::{Certificate, Config, WebConfig, WebHost};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let at = ([127, 0, 0, 1], 0).into();
    /// # let web = WebConfig::new(at, Certificate::self_signed(["localhost"]));
    /// let line = |seed| LinkConditioner::between(LinkConfig::new().loss(5.0), Seed::new(seed));
    /// let mut host = WebHost::bind(web, Config::new()).await?;
    /// host.set_conditioners(line(1), line(2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_conditioners(
        &mut self,
        out: impl Conditioner<WebAddress> + Send + 'static,
        back: impl Conditioner<WebAddress> + Send + 'static,
    ) {
        self.carriers.set_nets([Box::new(out), Box::new(back)]);
    }

    /// Takes in what has come, does what is due by time, and sends what is to be sent, each for a part of a frame at
    /// most. Never waits.
    ///
    /// # Errors
    ///
    /// Only if a socket is of no more use, or the runtime in which the host was bound has shut down: make a new host.
    /// What the network does is no error.
    ///
    /// ```
    /// # use porous_web::{Certificate, Config, WebConfig, WebHost};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let web = WebConfig::new(([127, 0, 0, 1], 0).into(), Certificate::self_signed(["localhost"]));
    /// let mut host = WebHost::bind(web, Config::new()).await?;
    /// host.step()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn step(&mut self) -> io::Result<()> {
        let begin = self.clock.now();
        let waits = loop {
            let now = self.clock.now();
            if now >= begin + TIME_LIMIT {
                break true;
            }
            match self.carriers.receive(now)? {
                None => break false,
                Some(Came::Datagram(from, datagram)) => {
                    // What a stranger sends is no error, whatever it is.
                    let _became = self.host.handle_datagram(now, from, Ecn::NotEct, datagram);
                }
                Some(Came::Closed(session)) => self.session_closed(now, session),
            }
        };
        self.host.handle_backlog(begin, waits);
        self.sweep();
        self.transmit();
        Ok(())
    }

    /// Does what is due by time and sends what is to be sent, and takes nothing in: for the end of a tick that began
    /// with [`step`](Self::step) or [`wait`](Self::wait). Never waits.
    ///
    /// ```
    /// # use porous_web::{Certificate, Config, WebConfig, WebHost};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let web = WebConfig::new(([127, 0, 0, 1], 0).into(), Certificate::self_signed(["localhost"]));
    /// let mut host = WebHost::bind(web, Config::new()).await?;
    /// host.step()?;
    /// host.transmit();
    /// # Ok(())
    /// # }
    /// ```
    pub fn transmit(&mut self) {
        let now = self.clock.now();
        self.host.handle_timeout(now);
        while self.clock.now() < now + TIME_LIMIT {
            let Some(transmit) = self.host.poll_transmit(now, &mut self.buffer) else {
                break;
            };
            self.carriers.send(now, transmit.to, transmit.datagram);
        }
        self.carriers.release(now);
    }

    /// Sends what waits, and sleeps until something comes, something is due, or `at_most` is over. Then does what
    /// [`step`](Self::step) does. It may return early, and does not look at events that wait to be polled: poll them
    /// all before.
    ///
    /// Cancel-safe: if the future is dropped before it is done, nothing is lost.
    ///
    /// # Errors
    ///
    /// As [`step`](Self::step).
    ///
    /// ```
    /// # use core::time::Duration;
    /// # use porous_web::{Certificate, Config, WebConfig, WebHost};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let web = WebConfig::new(([127, 0, 0, 1], 0).into(), Certificate::self_signed(["localhost"]));
    /// let mut host = WebHost::bind(web, Config::new()).await?;
    /// host.wait(Duration::from_millis(5)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn wait(&mut self, at_most: Duration) -> io::Result<()> {
        self.transmit();
        let now = self.clock.now();
        let due = [
            self.host.poll_timeout(),
            self.carriers.next_release(),
            Some(self.sweep_at),
        ];
        let longest = at_most.min(LONGEST_SLEEP);
        let rest = due.into_iter().flatten().min();
        let rest = rest.map_or(longest, |at| at.saturating_duration_since(now).min(longest));
        self.carriers.wait(rest).await?;
        self.step()
    }

    /// Waits for the next event, as [`wait`](Self::wait) does: for a program without ticks of its own. Cancel-safe.
    ///
    /// # Errors
    ///
    /// As [`step`](Self::step).
    ///
    /// ```no_run
    /// # use porous_web::{Certificate, Config, Event, Listen, WebConfig, WebHost};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let web = WebConfig::new(([127, 0, 0, 1], 0).into(), Certificate::self_signed(["localhost"]));
    /// let mut host = WebHost::bind(web, Config::new()).await?;
    /// host.listen(Listen::Open)?;
    /// loop {
    ///     if let Event::Readable { peer } = host.next_event().await? {
    ///         while let Some(packet) = host.receive(peer) {
    ///             host.send(peer, packet.channel, packet.payload, packet.mode)?;
    ///         }
    ///     }
    /// }
    /// # }
    /// ```
    pub async fn next_event(&mut self) -> io::Result<Event<WebAddress>> {
        loop {
            if let Some(event) = self.poll_event() {
                return Ok(event);
            }
            self.wait(LONGEST_SLEEP).await?;
        }
    }

    /// The page is gone, and QUIC has said so: nobody waits for its timeout.
    fn session_closed(&mut self, now: Instant, session: Session) {
        if let Some(peer) = self.host.peer_at(WebAddress::Session(session)) {
            // One that is being disconnected stays as it is.
            let _known = self.host.disconnect(now, peer, GONE);
        }
    }

    /// Closes sessions that are of no use, and makes a certificate anew in time.
    fn sweep(&mut self) {
        let now = self.clock.now();
        if now < self.sweep_at {
            return;
        }
        self.sweep_at = now + SWEEP;
        let host = &self.host;
        let has_peer = |session| host.peer_at(WebAddress::Session(session)).is_some();
        self.carriers.close_unused(now, self.unused_for, has_peer);
        if self.renew_at.is_some_and(|at| now >= at) {
            let again = self.renew().unwrap_or(Some(RENEW_AGAIN));
            self.renew_at = again.map(|time| now + time);
        }
    }

    fn renew(&mut self) -> io::Result<Option<Duration>> {
        match self.certificate.renewed() {
            Some(loaded) => self.serve_with(loaded?),
            None => Ok(None),
        }
    }

    /// Serves new sessions by this certificate. Returns how long it is used.
    fn serve_with(&mut self, loaded: Loaded) -> io::Result<Option<Duration>> {
        self.carriers.set_identity(loaded.identity)?;
        self.hash = loaded.hash;
        Ok(loaded.used_for)
    }

    /// Serves new sessions by another certificate, or by the same PEM files when they have changed. Sessions that are
    /// open go on.
    ///
    /// # Errors
    ///
    /// As [`bind`](Self::bind); the certificate is then the one before.
    ///
    /// ```
    /// # use porous_web::{Certificate, Config, WebConfig, WebHost};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let web = WebConfig::new(([127, 0, 0, 1], 0).into(), Certificate::self_signed(["localhost"]));
    /// let mut host = WebHost::bind(web, Config::new()).await?;
    /// let before = host.certificate_hash();
    /// host.set_certificate(Certificate::self_signed(["localhost"])).await?;
    /// assert_ne!(host.certificate_hash(), before);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn set_certificate(&mut self, certificate: Certificate) -> io::Result<()> {
        let loaded = certificate.load().await?;
        let used_for = self.serve_with(loaded)?;
        self.certificate = certificate;
        self.renew_at = used_for.map(|time| self.clock.now() + time);
        Ok(())
    }

    /// The SHA-256 hash of the certificate that new sessions are served by, which a page gives to `new WebTransport` in
    /// `serverCertificateHashes`. It changes when the certificate is made anew.
    ///
    /// ```
    /// # use porous_web::{Certificate, Config, WebConfig, WebHost};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let web = WebConfig::new(([127, 0, 0, 1], 0).into(), Certificate::self_signed(["localhost"]));
    /// let host = WebHost::bind(web, Config::new()).await?;
    /// let hash = host.certificate_hash();
    /// # let _ = hash;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn certificate_hash(&self) -> [u8; 32] {
        self.hash
    }
}

impl Drop for WebHost {
    fn drop(&mut self) {
        // The host may be what panicked.
        if !std::thread::panicking() {
            self.host.disconnect_all(self.clock.now(), GONE);
            self.transmit();
        }
    }
}
