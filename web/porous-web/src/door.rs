//! The endpoint of QUIC, the handshakes of sessions, and the tasks that read them.

use alloc::sync::Arc;
use core::time::Duration;
use std::io;

use bytes::Bytes;
use tokio::sync::mpsc::Sender;
use tokio::task::JoinSet;
use tokio::time::timeout;
use wtransport::config::states::WantsIdentity;
use wtransport::config::{QuicTransportConfig, ServerConfig, ServerConfigBuilder};
use wtransport::endpoint::{IncomingSession, endpoint_side};
use wtransport::quinn::{IdleTimeout, VarInt};
use wtransport::{Connection, Endpoint, Identity};

use crate::Session;
use crate::places::{Admission, Place, Places};

/// Bytes of datagrams that QUIC keeps for a session in each direction: a moment of a game. More would be a queue that
/// POROUS cannot see, and memory that strangers can take.
const DATAGRAMS: usize = 64 << 10;

/// Bytes of streams that a session may send. A host reads none but the few of HTTP/3 itself.
const STREAMS: u32 = 16 << 10;

/// QUIC gives a session up when nothing came for this long. POROUS keeps its connections alive, and notices earlier.
const IDLE: Duration = Duration::from_secs(30);

/// What a session tells the host.
#[derive(Debug)]
pub(crate) enum Notice {
    Opened(Arc<Connection>),
    Datagram(Bytes),
    Closed,
}

/// A session and what it tells.
pub(crate) type Told = (Session, Notice);

pub(crate) type Server = Endpoint<endpoint_side::Server>;

/// What is configured of QUIC.
pub(crate) fn configured(
    bound: ServerConfigBuilder<WantsIdentity>,
    identity: Identity,
) -> io::Result<ServerConfig> {
    let mut transport = QuicTransportConfig::default();
    let idle = IdleTimeout::try_from(IDLE).map_err(io::Error::other)?;
    transport
        .max_idle_timeout(Some(idle))
        .datagram_receive_buffer_size(Some(DATAGRAMS))
        .datagram_send_buffer_size(DATAGRAMS)
        .stream_receive_window(VarInt::from_u32(STREAMS))
        .receive_window(VarInt::from_u32(4 * STREAMS))
        // The control stream of HTTP/3 and two of QPACK (RFC 9114 §6.2), and one that browsers try out.
        .max_concurrent_uni_streams(VarInt::from_u32(4))
        .max_concurrent_bidi_streams(VarInt::from_u32(4));
    let mut config = bound.with_custom_transport(identity, transport).build();
    // What strangers send before the host has looked at their first datagram.
    let quic = config.quic_config_mut();
    quic.max_incoming(256)
        .incoming_buffer_size(16 << 10)
        .incoming_buffer_size_total(1 << 20);
    Ok(config)
}

/// The task that lets sessions in.
pub(crate) struct Door {
    pub(crate) endpoint: Arc<Server>,
    pub(crate) places: Places,
    pub(crate) handshake_timeout: Duration,
    pub(crate) to_host: Sender<Told>,
}

impl Door {
    /// Lets sessions in until the task is aborted. The tasks of the sessions end with it.
    pub(crate) async fn serve(self) {
        let mut tasks = JoinSet::new();
        let mut number = 0;
        loop {
            let incoming = tokio::select! {
                incoming = self.endpoint.accept() => incoming,
                Some(_) = tasks.join_next() => continue,
            };
            let (from, is_proved) = (
                incoming.remote_address(),
                incoming.remote_address_validated(),
            );
            match self.places.admit(from.ip(), is_proved) {
                Admission::Refused => incoming.refuse(),
                Admission::HasToProve => incoming.retry(),
                Admission::Begins(place) => {
                    number += 1;
                    let session = Session { number, from };
                    let to_host = self.to_host.clone();
                    let begun = begin(incoming, place, self.handshake_timeout);
                    tasks.spawn(async move {
                        // One that has failed was a stranger's, and leaves nothing behind.
                        if let Some((connection, place)) = begun.await {
                            read(session, connection, &to_host).await;
                            drop(place);
                        }
                    });
                }
            }
        }
    }
}

/// The handshake of a session; `None` if it failed, took too long, or there are enough sessions.
async fn begin(
    incoming: IncomingSession,
    mut place: Place,
    at_most: Duration,
) -> Option<(Arc<Connection>, Place)> {
    let handshake = async {
        let request = incoming.await.ok()?;
        if !place.becomes_session() {
            request.too_many_requests().await;
            return None;
        }
        request.accept().await.ok()
    };
    let connection = timeout(at_most, handshake).await.ok()??;
    Some((Arc::new(connection), place))
}

/// Tells the host what comes of a session. A datagram waits until the host takes it, and sessions take turns: one that
/// floods fills its own buffer, and loses its own datagrams.
async fn read(session: Session, connection: Arc<Connection>, to_host: &Sender<Told>) {
    let opened = Notice::Opened(Arc::clone(&connection));
    let mut told = to_host.send((session, opened)).await;
    while told.is_ok() {
        let Ok(datagram) = connection.receive_datagram().await else {
            // Without a host nobody needs to know.
            let _told = to_host.send((session, Notice::Closed)).await;
            return;
        };
        let payload = datagram.payload();
        told = to_host.send((session, Notice::Datagram(payload))).await;
    }
}
