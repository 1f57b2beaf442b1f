//! The balancer: a socket for the players, and for each of them a socket to a server.

use alloc::collections::BTreeMap;
use core::hash::{Hash, Hasher};
use core::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use core::time::Duration;
use std::collections::hash_map::DefaultHasher;
use std::io;

use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token};
use porous_proto::route::{Kind, classify, quic_lb_server};
use porous_std::{Clock, Instant};

/// Bytes of the servers' connection ids: one that tells lengths, one of the server, and a nonce.
pub(crate) const ID_LEN: u8 = 12;

/// A session without a datagram of its player for this long is forgotten.
const IDLE: Duration = Duration::from_secs(60);

/// The most sessions. Forged addresses fill the table: a real balancer would limit those.
const SESSIONS_MAX: usize = 10_000;

/// The socket for the players; other tokens are sessions.
const OUTSIDE: Token = Token(0);

/// An address of a player, and the server that its datagrams go to.
struct Session {
    token: Token,
    server: usize,
    socket: UdpSocket,
    heard: Instant,
}

pub(crate) struct Balancer {
    poll: Poll,
    clock: Clock,
    outside: UdpSocket,
    /// Number 1 in the ids of a server is the first of these.
    servers: Vec<SocketAddr>,
    sessions: BTreeMap<SocketAddr, Session>,
    players: BTreeMap<Token, SocketAddr>,
    next: usize,
}

/// A number that is the same for an address each time, on each balancer.
fn hash(player: &SocketAddr) -> u64 {
    let mut hasher = DefaultHasher::new();
    player.hash(&mut hasher);
    hasher.finish()
}

impl Balancer {
    pub(crate) fn bind(at: SocketAddr, servers: Vec<SocketAddr>) -> io::Result<Self> {
        let (poll, mut outside) = (Poll::new()?, UdpSocket::bind(at)?);
        let registry = poll.registry();
        registry.register(&mut outside, OUTSIDE, Interest::READABLE)?;
        Ok(Self {
            poll,
            clock: Clock::start(),
            outside,
            servers,
            sessions: BTreeMap::new(),
            players: BTreeMap::new(),
            next: 1,
        })
    }

    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.outside.local_addr()
    }

    /// Passes datagrams on, as long as `goes_on`.
    pub(crate) fn run(mut self, goes_on: impl Fn() -> bool) -> io::Result<()> {
        let mut events = Events::with_capacity(64);
        while goes_on() {
            let waited = self
                .poll
                .poll(&mut events, Some(Duration::from_millis(100)));
            if let Err(error) = waited {
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            for event in &events {
                match self.players.get(&event.token()).copied() {
                    Some(player) => self.hear_server(player),
                    None => self.hear_players(),
                }
            }
            self.forget();
        }
        Ok(())
    }

    /// The server that a datagram is for, by its number in `servers`.
    fn server_of(&self, player: &SocketAddr, datagram: &[u8]) -> Option<usize> {
        let count = self.servers.len();
        let before = self.sessions.get(player).map(|session| session.server);
        match classify(datagram, ID_LEN.into()) {
            Kind::Short { id } => {
                let server = quic_lb_server(id, 1)?;
                let number = usize::from(*server.as_bytes().first()?);
                number.checked_sub(1).filter(|server| *server < count)
            }
            // A goodbye has no id: it goes where the traffic before it went.
            Kind::Long => before.or_else(|| {
                let slot = hash(player).checked_rem(count as u64)?;
                usize::try_from(slot).ok()
            }),
            Kind::Other => None,
        }
    }

    fn hear_players(&mut self) {
        let mut buffer = [0; 2048];
        // An error is about a datagram that was sent before, or the socket is empty.
        while let Ok((len, player)) = self.outside.recv_from(&mut buffer) {
            let Some(server) = self.server_of(&player, &buffer[..len]) else {
                continue;
            };
            let is_other = |session: &Session| session.server != server;
            if self.sessions.get(&player).is_none_or(is_other) {
                self.close(player);
                // Without a socket the datagram is lost, and the player repeats what matters.
                let _ = self.open(player, server);
            }
            if let Some(session) = self.sessions.get_mut(&player) {
                session.heard = self.clock.now();
                let _ = session.socket.send(&buffer[..len]);
            }
        }
    }

    fn hear_server(&self, player: SocketAddr) {
        let mut buffer = [0; 2048];
        let Some(session) = self.sessions.get(&player) else {
            return;
        };
        while let Ok(len) = session.socket.recv(&mut buffer) {
            let _ = self.outside.send_to(&buffer[..len], player);
        }
    }

    fn open(&mut self, player: SocketAddr, server: usize) -> io::Result<()> {
        if self.sessions.len() >= SESSIONS_MAX {
            return Ok(());
        }
        let to = self.servers[server];
        let mut socket = UdpSocket::bind(match to {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        })?;
        socket.connect(to)?;
        let token = Token(self.next);
        let registry = self.poll.registry();
        registry.register(&mut socket, token, Interest::READABLE)?;
        self.next += 1;
        self.players.insert(token, player);
        let session = Session {
            token,
            server,
            socket,
            heard: self.clock.now(),
        };
        self.sessions.insert(player, session);
        Ok(())
    }

    fn close(&mut self, player: SocketAddr) {
        if let Some(session) = self.sessions.remove(&player) {
            self.players.remove(&session.token);
        }
    }

    fn forget(&mut self) {
        let now = self.clock.now();
        let is_idle = |session: &Session| now.saturating_duration_since(session.heard) >= IDLE;
        let idle = self.sessions.iter().filter(|(_, it)| is_idle(it));
        let idle: Vec<_> = idle.map(|(player, _)| *player).collect();
        for player in idle {
            self.close(player);
        }
    }
}
