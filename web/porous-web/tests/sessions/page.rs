//! What a page does, as a program: a session of WebTransport and a host on it.

use core::net::SocketAddr;
use core::time::Duration;

use porous_web::proto::prelude::*;
use porous_web::proto::{Ecn, Host, Received};
use porous_web::wtransport::tls::Sha256Digest;
use porous_web::wtransport::{ClientConfig, Connection, Endpoint, endpoint::endpoint_side};
use porous_web::{Certificate, Clock, OsRng, REQUEST_SIZE, WebConfig, WebHost};
use tokio::time::{sleep, timeout};

/// No test takes longer.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

pub(crate) type Failure = Box<dyn core::error::Error>;

/// A page that has opened a session.
pub(crate) struct Page {
    pub(crate) connection: Connection,
    pub(crate) host: Host<OsRng, u8>,
    pub(crate) peer: PeerId,
    clock: Clock,
    _endpoint: Endpoint<endpoint_side::Client>,
}

/// Opens a session, as `new WebTransport(url, { serverCertificateHashes })` does.
pub(crate) async fn open(
    at: SocketAddr,
    hash: [u8; 32],
) -> Result<(Endpoint<endpoint_side::Client>, Connection), Failure> {
    let config = ClientConfig::builder()
        .with_bind_default()
        .with_server_certificate_hashes([Sha256Digest::new(hash)])
        .build();
    let endpoint = Endpoint::client(config)?;
    let connection = endpoint.connect(format!("https://{at}/")).await?;
    Ok((endpoint, connection))
}

impl Page {
    /// Opens a session to a host and connects in it.
    pub(crate) async fn open(to: &WebHost) -> Result<Self, Failure> {
        Self::with(to, Config::client()).await
    }

    pub(crate) async fn with(to: &WebHost, config: Config) -> Result<Self, Failure> {
        let (endpoint, connection) = open(to.web_addr()?, to.certificate_hash()).await?;
        let config = config.request_size(REQUEST_SIZE)?.ecn(false);
        let mut host = Host::new(config, OsRng::default());
        let clock = Clock::start();
        let peer = host.connect(clock.now(), 0)?;
        Ok(Self {
            connection,
            host,
            peer,
            clock,
            _endpoint: endpoint,
        })
    }

    /// A turn of the page: takes in what comes in 2 ms, and sends.
    pub(crate) async fn turn(&mut self) -> Result<(), Failure> {
        let begin = self.clock.now();
        while self.clock.now() < begin + Duration::from_millis(2) {
            let came = timeout(Duration::from_millis(1), self.connection.receive_datagram());
            if let Ok(datagram) = came.await {
                let now = self.clock.now();
                self.host
                    .handle_datagram(now, 0, Ecn::NotEct, &datagram?.payload());
            }
        }
        let now = self.clock.now();
        self.host.handle_timeout(now);
        let mut buffer = [0; 1500];
        while let Some(transmit) = self.host.poll_transmit(now, &mut buffer) {
            // What is too long for QUIC is lost, as in a browser.
            let _sent = self.connection.send_datagram(transmit.datagram);
        }
        Ok(())
    }

    pub(crate) fn receive(&mut self) -> Option<Received> {
        self.host.receive(self.peer)
    }
}

/// A host on loopback that lets everybody in.
pub(crate) async fn host() -> Result<WebHost, Failure> {
    host_with(Config::new()).await
}

pub(crate) async fn host_with(config: Config) -> Result<WebHost, Failure> {
    bind(config, |web| web).await
}

pub(crate) async fn host_of(how: impl FnOnce(WebConfig) -> WebConfig) -> Result<WebHost, Failure> {
    bind(Config::new(), how).await
}

async fn bind(
    config: Config,
    how: impl FnOnce(WebConfig) -> WebConfig,
) -> Result<WebHost, Failure> {
    let local: SocketAddr = ([127, 0, 0, 1], 0).into();
    let web = WebConfig::new(local, Certificate::self_signed(["localhost", "127.0.0.1"]));
    let mut host = WebHost::bind(how(web.udp(local)), config).await?;
    host.listen(Listen::Open)?;
    Ok(host)
}

/// Serves until the other future is done: echoes each packet as it came. Returns the events.
pub(crate) async fn serve<T>(
    host: &mut WebHost,
    until: impl Future<Output = Result<T, Failure>>,
) -> Result<(T, Vec<Event<porous_web::WebAddress>>), Failure> {
    let mut events = Vec::new();
    tokio::pin!(until);
    let limit = sleep(LIMIT);
    tokio::pin!(limit);
    loop {
        tokio::select! {
            done = &mut until => return Ok((done?, events)),
            () = &mut limit => return Err(format!("not done in {LIMIT:?}: {host:?}").into()),
            event = host.next_event() => {
                let event = event?;
                if let Event::Readable { peer } = event {
                    while let Some(packet) = host.receive(peer) {
                        host.send(peer, packet.channel, packet.payload, packet.mode)?;
                    }
                }
                events.push(event);
            }
        }
    }
}
