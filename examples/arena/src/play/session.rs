//! A server and its bots on real sockets, in one thread: sixty ticks a second.

use core::net::Ipv4Addr;
use core::time::Duration;
use std::io;

use porous_arena::{Bot, Client, ClientNet, Server, ServerNet, TICKS, configured};
use porous_std::sim::{LinkConfig, Seed};
use porous_std::{Config, Instant, LinkConditioner, Listen, Peer, PeerStats, UdpHost};

/// A host behind a simulated network.
pub(crate) type Host = UdpHost<LinkConditioner>;

const TICK: Duration = Duration::from_micros(1_000_000 / TICKS as u64);

/// The longest sleep: the clients' hosts wake nobody, so none of their datagrams waits for longer.
const TURN: Duration = Duration::from_millis(2);

/// After a pause of the machine the game goes on where it was, instead of playing all ticks at once.
const PAUSE: Duration = Duration::from_millis(250);

/// How long the bots may take to connect.
const CONNECT: Duration = Duration::from_secs(20);

/// How long the last events may take to arrive.
const GOODBYE: Duration = Duration::from_secs(5);

/// A bot and its host.
struct Player {
    host: Host,
    net: ClientNet,
    bot: Bot,
}

/// A server and its bots.
pub(crate) struct Session {
    host: Host,
    net: ServerNet,
    players: Vec<Player>,
    next_tick: Instant,
}

/// The bytes that a server and its clients have sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes {
    pub(crate) down: u64,
    pub(crate) up: u64,
}

impl Session {
    /// Binds all hosts. The bots begin to connect.
    pub(crate) fn start(seed: Seed, bots: u64, conditions: LinkConfig) -> io::Result<Self> {
        let bind = |config, number| {
            let config = configured(config).map_err(io::Error::other)?;
            let network = LinkConditioner::new(conditions, seed.child("host", number));
            let host = UdpHost::bind((Ipv4Addr::LOCALHOST, 0), config)?;
            io::Result::Ok(host.with_conditioner(network))
        };
        let mut host = bind(Config::new(), 0)?;
        host.listen(Listen::Open).map_err(io::Error::other)?;
        let server = host.local_addr()?;
        let player = |number| {
            let mut host = bind(Config::client(), number)?;
            host.connect(server).map_err(io::Error::other)?;
            let (net, bot) = (ClientNet::default(), Bot::new(seed, number));
            Ok(Player { host, net, bot })
        };
        let players: io::Result<_> = (1..=bots).map(player).collect();
        Ok(Self {
            next_tick: host.now(),
            host,
            net: ServerNet::new(Server::new(seed)),
            players: players?,
        })
    }

    /// Waits until all bots are connected.
    pub(crate) fn connect(&mut self) -> io::Result<()> {
        let end = self.now() + CONNECT;
        while self.net.players() < self.players.len()
            || self
                .players
                .iter()
                .any(|player| player.net.server().is_none())
        {
            if self.now() > end {
                return Err(io::Error::other("not all bots have connected"));
            }
            self.serve(TURN)?;
        }
        self.next_tick = self.now();
        Ok(())
    }

    pub(crate) fn now(&self) -> Instant {
        self.host.now()
    }

    /// Sleeps for a moment, and plays the ticks that are due.
    pub(crate) fn turn(&mut self) -> io::Result<()> {
        let rest = self.next_tick.saturating_duration_since(self.now());
        self.serve(rest.min(TURN))?;
        let now = self.now();
        if now > self.next_tick + PAUSE {
            self.next_tick = now;
        }
        while self.next_tick <= now {
            self.next_tick = self.next_tick + TICK;
            self.tick();
        }
        self.host.transmit()?;
        self.players
            .iter_mut()
            .try_for_each(|player| player.host.transmit())
    }

    fn tick(&mut self) {
        for player in &mut self.players {
            let game = &player.net.game;
            let input = player.bot.think(game.you(), &game.view());
            player.net.step(&mut player.host, input);
        }
        self.net.step(&mut self.host);
    }

    /// Takes in what has come to any host, after a sleep.
    fn serve(&mut self, sleep: Duration) -> io::Result<()> {
        self.host.wait(sleep)?;
        while let Some(event) = self.host.poll_event() {
            self.net.on_event(&mut self.host, event);
        }
        for player in &mut self.players {
            player.host.step()?;
            while let Some(event) = player.host.poll_event() {
                player.net.on_event(&mut player.host, event);
            }
        }
        Ok(())
    }

    /// Ends all connections, after the last events have arrived.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.host.drain(0, GOODBYE);
        while !self.host.is_empty() {
            self.serve(TURN)?;
        }
        Ok(())
    }

    /// The games of the clients.
    pub(crate) fn games(&self) -> impl Iterator<Item = &Client> {
        self.players.iter().map(|player| &player.net.game)
    }

    /// The server's game.
    pub(crate) const fn server(&self) -> &Server {
        &self.net.game
    }

    /// The statistics of the server, and of the clients, for each connection.
    pub(crate) fn stats(&self) -> [Vec<PeerStats>; 2] {
        let there = self.host.peers().map(|(_, peer)| peer.stats());
        let here = |player: &Player| player.host.peer(player.net.server()?).map(Peer::stats);
        let here = self.players.iter().filter_map(here);
        [there.collect(), here.collect()]
    }

    /// What all hosts have sent: all that their networks took, also what got lost there.
    pub(crate) fn bytes(&self) -> Bytes {
        let sent = |host: &Host| host.endpoint().conditioner().stats().bytes_sent;
        Bytes {
            down: sent(&self.host),
            up: self.players.iter().map(|player| sent(&player.host)).sum(),
        }
    }

    /// How the game stands, as a line.
    pub(crate) fn line(&self, begin: Instant) -> String {
        let seconds = self.now().saturating_duration_since(begin).as_secs();
        let scores = self.server().all_scores();
        let felled: u32 = scores.iter().map(|score| score.felled).sum();
        let best = scores.iter().max_by_key(|score| score.felled);
        let best = best.filter(|score| score.felled > 0);
        let best = best.map_or_else(String::new, |best| {
            format!("; player {} leads with {}", best.player, best.felled)
        });
        format!(
            "{seconds:>4} s: {} players, {felled} felled{best}",
            self.net.players()
        )
    }
}
