//! What carries datagrams: a UDP socket and sessions of WebTransport.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;
use core::future::pending;
use core::net::SocketAddr;
use core::time::Duration;
use std::io;

use porous_proto::{Ecn, Instant};
use porous_udp::{Conditioner, bind, is_passing};
use tokio::net::UdpSocket;
use tokio::sync::mpsc::{self, Receiver};
use tokio::task::AbortHandle;
use wtransport::Identity;
use wtransport::config::ServerConfig;

use crate::door::{Door, Notice, Server, Told, configured};
use crate::places::Places;
use crate::sessions::Sessions;
use crate::{Session, WebAddress, WebConfig, WebStats};

/// What sessions have told and the host has not taken. Each session waits with its next datagram.
const TOLD: usize = 256;

/// Errors in place of datagrams that a call passes over: reports of ICMP, which may be forged.
const ERRORS: usize = 64;

/// A conditioner of whatever type: a type parameter would be known all over a program.
pub(crate) type Net = Box<dyn Conditioner<WebAddress> + Send>;

/// What has come.
pub(crate) enum Came<'b> {
    Datagram(WebAddress, &'b [u8]),
    /// A session has ended.
    Closed(Session),
}

/// A UDP socket and all sessions.
pub(crate) struct Carriers {
    endpoint: Arc<Server>,
    udp: Option<UdpSocket>,
    told: Receiver<Told>,
    /// What was told while the host slept.
    first: Option<Told>,
    sessions: Sessions,
    places: Places,
    door: AbortHandle,
    /// Of what leaves, and of what comes.
    nets: Option<[Net; 2]>,
    /// True if the socket has its turn before the sessions.
    is_udp_next: bool,
    /// The datagram that was taken last.
    buffer: Box<[u8]>,
    stats: WebStats,
}

impl fmt::Debug for Carriers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Carriers")
            .field("udp", &self.udp)
            .field("sessions", &self.sessions)
            .finish_non_exhaustive()
    }
}

impl Carriers {
    pub(crate) fn bind(web: &WebConfig, identity: Identity) -> io::Result<Self> {
        let bound = ServerConfig::builder().with_bind_socket(bind(web.web)?);
        let endpoint = Arc::new(Server::server(configured(bound, identity)?)?);
        let udp = web.udp.map(|at| {
            let socket = bind(at)?;
            socket.set_nonblocking(true)?;
            UdpSocket::from_std(socket)
        });
        let (to_host, told) = mpsc::channel(TOLD);
        let places = Places::new(web.limits);
        let door = Door {
            endpoint: Arc::clone(&endpoint),
            places: places.clone(),
            handshake_timeout: web.limits.handshake_timeout,
            to_host,
        };
        Ok(Self {
            endpoint,
            udp: udp.transpose()?,
            told,
            first: None,
            sessions: Sessions::default(),
            places,
            door: tokio::spawn(door.serve()).abort_handle(),
            nets: None,
            is_udp_next: false,
            buffer: vec![0; 1 << 16].into(),
            stats: WebStats::default(),
        })
    }

    pub(crate) fn web_addr(&self) -> io::Result<SocketAddr> {
        self.endpoint.local_addr()
    }

    pub(crate) fn udp_addr(&self) -> Option<SocketAddr> {
        self.udp.as_ref()?.local_addr().ok()
    }

    pub(crate) fn stats(&self) -> WebStats {
        WebStats {
            sessions: self.sessions.len(),
            sessions_refused: self.places.refused(),
            ..self.stats
        }
    }

    pub(crate) fn set_nets(&mut self, nets: [Net; 2]) {
        self.nets = Some(nets);
    }

    /// New sessions are served by this certificate.
    pub(crate) fn set_identity(&self, identity: Identity) -> io::Result<()> {
        // Of a configuration without a new socket the address is not used.
        let unused = ServerConfig::builder().with_bind_default(0);
        self.endpoint
            .reload_config(configured(unused, identity)?, false)
    }

    /// The next that has come, or was held back on the way here; `None` if there is nothing.
    pub(crate) fn receive(&mut self, now: Instant) -> io::Result<Option<Came<'_>>> {
        let (from, length) = loop {
            match self.take(now)? {
                None => match self.released(now) {
                    Some(released) => break released,
                    None => return Ok(None),
                },
                Some(Taken::Closed(session)) => return Ok(Some(Came::Closed(session))),
                Some(Taken::Datagram(from, length)) => {
                    let datagram = &self.buffer[..length];
                    let is_held = match &mut self.nets {
                        Some([_, back]) => back.take(now, from, Ecn::NotEct, datagram),
                        None => false,
                    };
                    if !is_held {
                        break (from, length);
                    }
                }
            }
        };
        Ok(Some(Came::Datagram(from, &self.buffer[..length])))
    }

    /// The socket and the sessions take turns.
    fn take(&mut self, now: Instant) -> io::Result<Option<Taken>> {
        self.is_udp_next = !self.is_udp_next;
        if self.is_udp_next
            && let Some(taken) = self.take_of_socket()?
        {
            return Ok(Some(taken));
        }
        match self.take_of_sessions(now) {
            None => self.take_of_socket(),
            taken => Ok(taken),
        }
    }

    /// A datagram that was held back on the way here.
    fn released(&mut self, now: Instant) -> Option<(WebAddress, usize)> {
        let [_, back] = self.nets.as_mut()?;
        let (from, _, datagram) = back.release(now)?;
        Some((from, put(&mut self.buffer, &datagram)))
    }

    fn take_of_socket(&mut self) -> io::Result<Option<Taken>> {
        let Some(udp) = &self.udp else {
            return Ok(None);
        };
        for _ in 0..ERRORS {
            match udp.try_recv_from(&mut self.buffer) {
                Ok((length, from)) => {
                    return Ok(Some(Taken::Datagram(WebAddress::Udp(from), length)));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    fn take_of_sessions(&mut self, now: Instant) -> Option<Taken> {
        loop {
            let told = self.first.take();
            let (session, notice) = told.or_else(|| self.told.try_recv().ok())?;
            match notice {
                Notice::Opened(connection) => {
                    self.stats.sessions_opened += 1;
                    self.sessions.opened(now, session, connection);
                }
                Notice::Datagram(payload) => {
                    let length = put(&mut self.buffer, &payload);
                    return Some(Taken::Datagram(WebAddress::Session(session), length));
                }
                Notice::Closed => {
                    self.sessions.closed(session);
                    return Some(Taken::Closed(session));
                }
            }
        }
    }

    /// Sends a datagram, which may be lost.
    pub(crate) fn send(&mut self, now: Instant, to: WebAddress, datagram: &[u8]) {
        let is_taken = match &mut self.nets {
            Some([out, _]) => out.take(now, to, Ecn::NotEct, datagram),
            None => false,
        };
        if !is_taken {
            self.send_now(to, datagram);
        }
    }

    /// Sends what a conditioner has held back until now.
    pub(crate) fn release(&mut self, now: Instant) {
        while let Some([out, _]) = &mut self.nets
            && let Some((to, _, datagram)) = out.release(now)
        {
            self.send_now(to, &datagram);
        }
    }

    fn send_now(&mut self, to: WebAddress, datagram: &[u8]) {
        let is_sent = match to {
            WebAddress::Session(session) => self.sessions.send(session, datagram),
            // Where the socket has no room, or no way there, the datagram is lost: what matters in it is repeated.
            WebAddress::Udp(to) => match &self.udp {
                Some(udp) => udp.try_send_to(datagram, to).is_ok(),
                None => false,
            },
        };
        self.stats.send_lost += u64::from(!is_sent);
    }

    /// When a datagram is due that a conditioner holds back.
    pub(crate) fn next_release(&self) -> Option<Instant> {
        let nets = self.nets.as_ref()?;
        nets.iter().filter_map(|net| net.next_release()).min()
    }

    /// See [`Sessions::close_unused`].
    pub(crate) fn close_unused(
        &mut self,
        now: Instant,
        after: Duration,
        has_peer: impl Fn(Session) -> bool,
    ) {
        self.sessions.close_unused(now, after, has_peer);
    }

    /// Sleeps until something has come, for this long at most.
    pub(crate) async fn wait(&mut self, at_most: Duration) -> io::Result<()> {
        if self.first.is_some() {
            return Ok(());
        }
        tokio::select! {
            told = self.told.recv() => {
                self.first = told;
                if self.first.is_none() {
                    return Err(io::Error::other(
                        "the task that lets sessions in has ended: bind in a runtime that lives longer",
                    ));
                }
            }
            ready = readable(self.udp.as_ref()) => ready?,
            () = tokio::time::sleep(at_most) => {}
        }
        Ok(())
    }
}

async fn readable(udp: Option<&UdpSocket>) -> io::Result<()> {
    match udp {
        Some(udp) => udp.readable().await,
        None => pending().await,
    }
}

impl Drop for Carriers {
    fn drop(&mut self) {
        self.door.abort();
        self.sessions.close_all();
    }
}

/// What was taken out of a carrier: of a datagram the length, as its bytes lie in the buffer of [`Carriers`].
enum Taken {
    Datagram(WebAddress, usize),
    Closed(Session),
}

/// Puts a datagram into the buffer, which has room for every one of UDP and QUIC. Returns its length.
fn put(buffer: &mut [u8], datagram: &[u8]) -> usize {
    let length = datagram.len().min(buffer.len());
    buffer[..length].copy_from_slice(&datagram[..length]);
    length
}
