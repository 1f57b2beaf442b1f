//! One host, two carriers: one player comes over UDP, the other over a stream of bytes, and both are in one game.
//! The server tells each player what the other one says. `docs/carriers.md` explains what a carrier owes the host.
//!
//! Run it with `cargo run -p porous-examples --bin own_carrier`.

mod carriers;
#[path = "../own_socket/clock.rs"]
mod clock;
mod stream;

use core::time::Duration;
use std::io::Write;

use getrandom::SysRng;
use porous_proto::{
    ChannelId, Config, Disconnect, Ecn, Event, Host, Instant, Listen, Mode, PeerId,
};
use rand_core::UnwrapErr;

use crate::carriers::{Address, Carriers, source};
use crate::clock::Clock;
use crate::stream::LONGEST;

/// The time in which datagrams are read in one frame: a flood must not stop the game.
const TIME_TO_READ: Duration = Duration::from_millis(2);

const WORDS: u32 = 100;

/// A host and its carriers.
struct Node {
    host: Host<UnwrapErr<SysRng>, Address>,
    carriers: Carriers,
    buffer: Vec<u8>,
}

impl Node {
    fn new(config: Config, carriers: Carriers) -> Self {
        let mut host = Host::new(config.ecn(false), UnwrapErr(SysRng));
        host.set_source_of(source);
        // Other hosts may pad their requests to 1200 bytes, whatever our own are.
        let buffer = vec![0; host.max_datagram_size().max(1200)];
        Self {
            host,
            carriers,
            buffer,
        }
    }

    /// To be called once a frame: the driver.
    fn frame(&mut self, clock: &Clock) {
        let now = clock.now();
        self.carriers.accept(now);
        let waits = loop {
            if clock.now() >= now + TIME_TO_READ {
                break true;
            }
            let Some((len, from)) = self.carriers.receive_from(&mut self.buffer) else {
                break false;
            };
            self.host
                .handle_datagram(now, from, Ecn::NotEct, &self.buffer[..len]);
        };
        self.host.handle_backlog(now, waits);
        self.host.handle_timeout(now);
        while let Some(transmit) = self.host.poll_transmit(now, &mut self.buffer) {
            self.carriers.send_to(transmit.to, transmit.datagram);
        }
        self.carriers.flush();
        // A carrier that knows that a remote host is gone spares the game the timeout.
        let has_peer = |address| self.host.peer_at(address).is_some();
        for address in self.carriers.ended(now, has_peer) {
            let gone = Disconnect::Now { reason: 0 };
            if let Some(peer) = self.host.peer_at(address) {
                let _ = self.host.disconnect(now, peer, gone);
            }
        }
    }
}

/// Lets the server pass each word on to the other players. It is the same for all carriers.
fn serve(server: &mut Host<UnwrapErr<SysRng>, Address>, players: &mut Vec<PeerId>, now: Instant) {
    while let Some(event) = server.poll_event() {
        match event {
            Event::Connected { peer, .. } => players.push(peer),
            Event::Disconnected { peer, .. } => players.retain(|player| *player != peer),
            Event::Readable { peer } => {
                while let Some(word) = server.receive(peer) {
                    for to in players.iter().filter(|player| **player != peer) {
                        let word = word.payload.clone();
                        let told = server.send(*to, ChannelId(0), word, Mode::Reliable);
                        if told.is_err() {
                            let _ = server.disconnect(now, *to, Disconnect::Now { reason: 1 });
                        }
                    }
                }
            }
            Event::Request { .. } | Event::Writable { .. } | Event::PeerMoved { .. } | _ => {}
        }
    }
}

/// A client, and what it has said and heard.
struct Player {
    node: Node,
    server: Option<PeerId>,
    said: u32,
    heard: u32,
}

impl Player {
    /// Connects to the server at this address, which says by which carrier.
    fn new(
        config: Config,
        carriers: Carriers,
        server: Address,
        now: Instant,
    ) -> Result<Self, Box<dyn core::error::Error>> {
        let mut node = Node::new(config, carriers);
        node.host.connect(now, server)?;
        Ok(Self {
            node,
            server: None,
            said: 0,
            heard: 0,
        })
    }

    /// Takes in what the other player has said, and says one word if both players are there.
    fn play(&mut self, both: bool) {
        let host = &mut self.node.host;
        while let Some(event) = host.poll_event() {
            match event {
                Event::Connected { peer, .. } => self.server = Some(peer),
                Event::Readable { peer } => {
                    while let Some(word) = host.receive(peer) {
                        // In the order in which the other player has said them.
                        assert_eq!(word.payload, self.heard.to_le_bytes()[..]);
                        self.heard += 1;
                    }
                }
                Event::Disconnected { reason, .. } => panic!("the server is gone: {reason}"),
                Event::Request { .. } | Event::Writable { .. } | Event::PeerMoved { .. } | _ => {}
            }
        }
        let server = self.server.filter(|_| both && self.said < WORDS);
        if let Some(server) = server {
            let word = self.said.to_le_bytes().to_vec();
            let queued = host.send(server, ChannelId(0), word, Mode::Reliable);
            self.said += u32::from(queued.is_ok());
        }
    }
}

fn main() -> Result<(), Box<dyn core::error::Error>> {
    let clock = Clock::start();
    let mut carriers = Carriers::default();
    let (udp, door) = (carriers.open_udp()?, carriers.open_door()?);
    // A request that the narrowest carrier has room for has to be long enough.
    let mut server = Node::new(Config::new().request_size(LONGEST)?, carriers);
    server.host.listen(Listen::Open)?;

    let mut carriers = Carriers::default();
    carriers.open_udp()?;
    let mut by_udp = Player::new(Config::client(), carriers, udp, clock.now())?;

    let mut carriers = Carriers::default();
    let stream = carriers.open_stream(clock.now(), door)?;
    let narrow = Config::client()
        .request_size(LONGEST)?
        .max_datagram(LONGEST)?;
    let mut by_stream = Player::new(narrow, carriers, stream, clock.now())?;

    let mut players = Vec::new();
    while by_udp.heard < WORDS || by_stream.heard < WORDS {
        server.frame(&clock);
        serve(&mut server.host, &mut players, clock.now());
        for player in [&mut by_udp, &mut by_stream] {
            player.node.frame(&clock);
            player.play(players.len() == 2);
        }
        clock.wait_for_frame();
    }
    let (udp, stream) = (by_udp.heard, by_stream.heard);
    let mut out = std::io::stdout();
    writeln!(out, "over UDP: {udp} of {WORDS} words of the other")?;
    writeln!(out, "over a stream: {stream} of {WORDS}")?;
    Ok(())
}
