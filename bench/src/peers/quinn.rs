//! quinn-proto: QUIC, with each of its congestion controllers. A channel is a stream of messages with
//! their lengths before them; unreliable messages are datagrams (RFC 9221).
//!
//! The ends draw random numbers from a seed. The cryptography draws its own, which decide the bytes but
//! not the lengths of datagrams, as the key and the number of the certificate have a fixed length.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use porous_proto::Instant;
use porous_sim::Seed;
use porous_sim::rand_core::Rng as _;
use quinn_proto::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint as Quic,
    EndpointConfig, Event, ServerConfig, StreamEvent, StreamId, TransportConfig,
};

use crate::clock::real;
use crate::peer::{CHANNELS, Endpoint, Ends, State};

/// The most bytes that may wait for a stream to take them.
const QUEUE: usize = 1 << 18;

pub(crate) fn new_reno(seed: u64) -> Ends {
    open(Arc::new(NewRenoConfig::default()), seed)
}

pub(crate) fn cubic(seed: u64) -> Ends {
    open(Arc::new(CubicConfig::default()), seed)
}

pub(crate) fn bbr(seed: u64) -> Ends {
    open(Arc::new(BbrConfig::default()), seed)
}

pub(crate) fn open(controller: Arc<dyn ControllerFactory + Send + Sync>, seed: u64) -> Ends {
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(controller);
    let transport = Arc::new(transport);
    let (mut client_config, mut server_config) = tls();
    client_config.transport_config(Arc::clone(&transport));
    server_config.transport_config(transport);
    let mut client = Quinn::new(endpoint(seed, 0, None));
    let server = Quinn::new(endpoint(seed, 1, Some(server_config)));
    let now = real(Instant::ZERO);
    client.connection = client
        .endpoint
        .connect(now, client_config, address(), "localhost")
        .ok();
    [Box::new(client), Box::new(server)]
}

/// An end without a connection. Its random numbers follow from the seed and its index.
pub(crate) fn endpoint(seed: u64, index: u64, server: Option<ServerConfig>) -> Quic {
    let mut random = [0; 32];
    Seed::new(seed)
        .stream("quinn", index)
        .fill_bytes(&mut random);
    let mut config = EndpointConfig::default();
    config.rng_seed(Some(random));
    Quic::new(Arc::new(config), server.map(Arc::new), true, None)
}

/// Both ends' cryptography, with a certificate that the client trusts.
pub(crate) fn tls() -> (ClientConfig, ServerConfig) {
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).expect("random numbers");
    let mut params = rcgen::CertificateParams::new(["localhost".into()]).expect("a name");
    params.serial_number = Some(1.into());
    let cert = params.self_signed(&key).expect("a key").der().clone();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(cert.clone()).expect("a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = [&rustls::version::TLS13];
    let client = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&versions)
        .expect("known")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let server = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&versions)
        .expect("known")
        .with_no_client_auth()
        .with_single_cert(vec![cert], key.into())
        .expect("they belong together");
    let client = QuicClientConfig::try_from(client).expect("the initial suite");
    let server = QuicServerConfig::try_from(server).expect("the initial suite");
    (
        ClientConfig::new(Arc::new(client)),
        ServerConfig::with_crypto(Arc::new(server)),
    )
}

/// The address at which each end sees the other.
pub(crate) fn address() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 4433).into()
}

/// Passes events between connection and endpoint.
pub(crate) fn exchange(
    endpoint: &mut Quic,
    connection: &mut Option<(ConnectionHandle, Connection)>,
) {
    let Some((handle, connection)) = connection else {
        return;
    };
    while let Some(event) = connection.poll_endpoint_events() {
        if let Some(event) = endpoint.handle_event(*handle, event) {
            connection.handle_event(event);
        }
    }
}

struct Quinn {
    endpoint: Quic,
    connection: Option<(ConnectionHandle, Connection)>,
    state: State,
    outgoing: [Outgoing; CHANNELS as usize],
    incoming: Vec<Incoming>,
    received: VecDeque<Vec<u8>>,
    /// Datagrams that the endpoint sends without a connection.
    leaving: VecDeque<Vec<u8>>,
}

/// The stream of a channel, and the bytes that it has not taken yet.
#[derive(Default)]
struct Outgoing {
    stream: Option<StreamId>,
    waiting: VecDeque<u8>,
}

/// A stream of the other end, and the bytes of its messages that are not complete.
struct Incoming {
    stream: StreamId,
    begun: Vec<u8>,
}

impl Quinn {
    fn new(endpoint: Quic) -> Self {
        Self {
            endpoint,
            connection: None,
            state: State::Connecting,
            outgoing: Default::default(),
            incoming: Vec::new(),
            received: VecDeque::new(),
            leaving: VecDeque::new(),
        }
    }

    fn exchange(&mut self) {
        exchange(&mut self.endpoint, &mut self.connection);
    }

    fn poll(&mut self) {
        let Some((_, connection)) = &mut self.connection else {
            return;
        };
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected => self.state = State::Connected,
                Event::ConnectionLost { .. } => self.state = State::Lost,
                Event::Stream(StreamEvent::Opened { dir }) => {
                    while let Some(stream) = connection.streams().accept(dir) {
                        let begun = Vec::new();
                        self.incoming.push(Incoming { stream, begun });
                    }
                }
                Event::DatagramReceived => {
                    while let Some(message) = connection.datagrams().recv() {
                        self.received.push_back(message.to_vec());
                    }
                }
                Event::HandshakeDataReady | Event::Stream(_) | Event::DatagramsUnblocked => {}
            }
        }
        for incoming in &mut self.incoming {
            incoming.read(connection, &mut self.received);
        }
        for outgoing in &mut self.outgoing {
            outgoing.write(connection);
        }
    }
}

impl Incoming {
    fn read(&mut self, connection: &mut Connection, received: &mut VecDeque<Vec<u8>>) {
        let mut stream = connection.recv_stream(self.stream);
        let Ok(mut chunks) = stream.read(true) else {
            return;
        };
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            self.begun.extend_from_slice(&chunk.bytes);
        }
        let _ = chunks.finalize();
        while let Some((len, rest)) = self.begun.split_first_chunk() {
            let len = usize::from(u16::from_be_bytes(*len));
            let Some(message) = rest.get(..len) else {
                return;
            };
            received.push_back(message.to_vec());
            self.begun.drain(..2 + len);
        }
    }
}

impl Outgoing {
    fn write(&mut self, connection: &mut Connection) {
        if self.waiting.is_empty() {
            return;
        }
        if self.stream.is_none() {
            self.stream = connection.streams().open(Dir::Uni);
        }
        let Some(stream) = self.stream else { return };
        let bytes = self.waiting.make_contiguous();
        if let Ok(taken) = connection.send_stream(stream).write(bytes) {
            self.waiting.drain(..taken);
        }
    }
}

impl Endpoint for Quinn {
    fn datagram_in(&mut self, now: Instant, datagram: &[u8]) {
        let now = real(now);
        let mut answer = Vec::new();
        let data = BytesMut::from(datagram);
        let event = self
            .endpoint
            .handle(now, address(), None, None, data, &mut answer);
        match event {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, now, &mut answer, None);
                self.connection = accepted.ok().or(self.connection.take());
            }
            Some(DatagramEvent::Response(transmit)) => {
                self.leaving.push_back(answer[..transmit.size].to_vec());
            }
            None => {}
        }
        self.exchange();
    }

    fn service(&mut self, now: Instant) {
        let now = real(now);
        if let Some((_, connection)) = &mut self.connection {
            while connection.poll_timeout().is_some_and(|due| due <= now) {
                connection.handle_timeout(now);
            }
        }
        self.exchange();
        self.poll();
    }

    fn received(&mut self) -> Option<Vec<u8>> {
        self.received.pop_front()
    }

    fn send(&mut self, channel: u8, message: &[u8], reliable: bool) -> bool {
        let Some((_, connection)) = &mut self.connection else {
            return false;
        };
        if !reliable {
            let message = Bytes::copy_from_slice(message);
            return connection.datagrams().send(message, true).is_ok();
        }
        let outgoing = &mut self.outgoing[usize::from(channel)];
        if outgoing.waiting.len() > QUEUE {
            return false;
        }
        let len = u16::try_from(message.len()).expect("a short message");
        outgoing.waiting.extend(len.to_be_bytes());
        outgoing.waiting.extend(message);
        outgoing.write(connection);
        true
    }

    fn datagram_out(&mut self, now: Instant) -> Option<Vec<u8>> {
        if let Some(datagram) = self.leaving.pop_front() {
            return Some(datagram);
        }
        let (_, connection) = self.connection.as_mut()?;
        let mut buf = Vec::new();
        let transmit = connection.poll_transmit(real(now), 1, &mut buf);
        let transmit = transmit.map(|transmit| transmit.size);
        self.exchange();
        buf.truncate(transmit?);
        Some(buf)
    }

    fn state(&self) -> State {
        self.state
    }
}
