//! Three servers behind the balancer, and players whose routers give them other ports while they play.

use core::net::{Ipv4Addr, SocketAddr};
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::net::UdpSocket;
use std::thread;

use porous_proto::route::QuicLb;
use porous_std::{
    ChannelId, Clock, Config, ConnectionIds, Disconnect, DisconnectReason, Event, Instant, Listen,
    Mode, PeerId, UdpHost,
};

use crate::Failure;
use crate::balancer::{Balancer, ID_LEN};

const HERE: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

const SERVERS: u8 = 3;

const PLAYERS: usize = 9;

/// Questions of each player, from another port each time.
const QUESTIONS: usize = 4;

/// Far longer than the rehearsal takes.
const LIMIT: Duration = Duration::from_secs(20);

/// The router of a player.
struct Router {
    inside: UdpSocket,
    outside: UdpSocket,
    player: Option<SocketAddr>,
}

fn open() -> Result<UdpSocket, Failure> {
    let socket = UdpSocket::bind(HERE)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

impl Router {
    fn new() -> Result<Self, Failure> {
        Ok(Self {
            inside: open()?,
            outside: open()?,
            player: None,
        })
    }

    fn step(&mut self, balancer: SocketAddr) {
        let mut buffer = [0; 2048];
        while let Ok((len, from)) = self.inside.recv_from(&mut buffer) {
            self.player = Some(from);
            let _ = self.outside.send_to(&buffer[..len], balancer);
        }
        while let Ok((len, _)) = self.outside.recv_from(&mut buffer) {
            if let Some(player) = self.player {
                let _ = self.inside.send_to(&buffer[..len], player);
            }
        }
    }
}

struct Player {
    host: UdpHost,
    router: Router,
    server: PeerId,
    /// The servers that have answered.
    answers: Vec<u8>,
    /// True once the server knows that the player has left.
    has_left: bool,
}

impl Player {
    fn new() -> Result<Self, Failure> {
        let mut host = UdpHost::bind(HERE, Config::client())?;
        let router = Router::new()?;
        let server = host.connect(router.inside.local_addr()?)?;
        let answers = Vec::new();
        Ok(Self {
            host,
            router,
            server,
            answers,
            has_left: false,
        })
    }

    fn step(&mut self, balancer: SocketAddr) -> Result<(), Failure> {
        self.host.step()?;
        self.router.step(balancer);
        let mut asks = false;
        while let Some(event) = self.host.poll_event() {
            match event {
                Event::Connected { .. } => asks = true,
                Event::Disconnected {
                    reason: DisconnectReason::ByUs(_),
                    ..
                } => self.has_left = true,
                Event::Disconnected { reason, .. } => {
                    return Err(format!("a player was lost: {reason}").into());
                }
                Event::Readable { .. } | _ => {}
            }
        }
        while let Some(packet) = self.host.receive(self.server) {
            self.answers.extend(packet.payload.first());
            if self.answers.len() < QUESTIONS {
                self.router.outside = open()?;
                asks = true;
            } else {
                // From the port of the last question: by that one the balancer knows where the goodbye goes.
                self.host
                    .disconnect(self.server, Disconnect::Now { reason: 0 })?;
            }
        }
        if asks {
            let on = ChannelId(0);
            self.host.send(self.server, on, "who?", Mode::Reliable)?;
        }
        Ok(())
    }
}

fn server(number: u8) -> Result<UdpHost, Failure> {
    let config = Config::new().connection_id_len(ID_LEN)?.roaming(true);
    let mut host = UdpHost::bind(HERE, config)?;
    let ids = QuicLb::new(0, &[number])?;
    host.set_connection_ids(ConnectionIds::QuicLb(ids))?;
    host.listen(Listen::Open)?;
    Ok(host)
}

/// Answers each question with the number of the server.
fn answer(host: &mut UdpHost, number: u8) -> Result<(), Failure> {
    host.wait(Duration::from_millis(1))?;
    while let Some(event) = host.poll_event() {
        let Event::Readable { peer } = event else {
            continue;
        };
        while host.receive(peer).is_some() {
            host.send(peer, ChannelId(0), vec![number], Mode::Reliable)?;
        }
    }
    Ok(())
}

/// Plays until each player has its answers and has left. Returns how many were answered by one server alone.
fn play(servers: &mut [UdpHost], balancer: SocketAddr) -> Result<usize, Failure> {
    let clock = Clock::start();
    let players: Result<Vec<_>, _> = (0..PLAYERS).map(|_| Player::new()).collect();
    let mut players = players?;
    while !players.iter().all(|player| player.has_left) {
        if clock.now() > Instant::ZERO + LIMIT {
            return Err("it takes too long".into());
        }
        for player in &mut players {
            player.step(balancer)?;
        }
        for (number, server) in (1..).zip(&mut *servers) {
            answer(server, number)?;
        }
    }
    let stayed = |player: &&Player| player.answers.windows(2).all(|two| two[0] == two[1]);
    Ok(players.iter().filter(stayed).count())
}

/// Runs everything on this machine, and says how many players have stayed with their servers.
pub(crate) fn rehearse() -> Result<String, Failure> {
    let servers: Result<Vec<_>, _> = (1..=SERVERS).map(server).collect();
    let mut servers = servers?;
    let addresses: Result<Vec<_>, _> = servers.iter().map(UdpHost::local_addr).collect();
    let balancer = Balancer::bind(HERE.into(), addresses?)?;
    let address = balancer.local_addr()?;
    let ends = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| balancer.run(|| !ends.load(Ordering::Relaxed)));
        let stayed = play(&mut servers, address);
        ends.store(true, Ordering::Relaxed);
        Ok(format!("{} of {PLAYERS} players have stayed", stayed?))
    })
}
