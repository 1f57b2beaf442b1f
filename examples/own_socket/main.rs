//! POROUS over a socket layer of one's own: it needs only a function that sends, a function that
//! receives, and a clock. `docs/own-socket.md` explains [`Node::frame`] line by line.
//!
//! Run it with `cargo run -p porous-examples --bin own_socket`.

mod clock;
mod console;

use core::time::Duration;
use std::io::Write;

use getrandom::SysRng;
use porous_proto::{
    ChannelId, Config, Disconnect, Ecn, Event, Host, Instant, Listen, Mode, PeerId,
};
use rand_core::UnwrapErr;

use crate::clock::Clock;
use crate::console::{Address, Socket};

/// The time in which datagrams are read in one frame: a flood must not stop the game.
const TIME_TO_READ: Duration = Duration::from_millis(2);

const SHOTS: u32 = 100;

/// A host and the socket that it speaks through.
struct Node {
    host: Host<UnwrapErr<SysRng>, Address>,
    socket: Socket,
    buffer: Vec<u8>,
}

impl Node {
    fn new(config: Config, socket: Socket) -> Self {
        let host = Host::new(config.ecn(false), UnwrapErr(SysRng));
        let buffer = vec![0; host.max_datagram_size()];
        Self {
            host,
            socket,
            buffer,
        }
    }

    /// To be called once a frame: the whole driver.
    fn frame(&mut self, clock: &Clock) {
        let now = clock.now();
        let waits = loop {
            if clock.now() >= now + TIME_TO_READ {
                break true;
            }
            let Some((len, from)) = self.socket.receive_from(&mut self.buffer) else {
                break false;
            };
            self.host
                .handle_datagram(now, from, Ecn::NotEct, &self.buffer[..len]);
        };
        self.host.handle_backlog(now, waits);
        self.host.handle_timeout(now);
        while let Some(transmit) = self.host.poll_transmit(now, &mut self.buffer) {
            self.socket.send_to(transmit.to, transmit.datagram);
        }
    }
}

/// Lets the server answer each shot of a client with a hit. A peer that cannot be sent to is
/// disconnected.
fn serve(server: &mut Host<UnwrapErr<SysRng>, Address>, now: Instant) {
    while let Some(event) = server.poll_event() {
        let Event::Readable { peer } = event else {
            continue;
        };
        while let Some(shot) = server.receive(peer) {
            let told = server.send(peer, shot.channel, shot.payload, Mode::Reliable);
            let go = Disconnect::Now { reason: 1 };
            if told.is_err() && server.disconnect(now, peer, go).is_ok() {
                break;
            }
        }
    }
}

/// Lets the client shoot once a frame. Returns the number of hits that it has been told of.
fn play(client: &mut Node, server: &mut Option<PeerId>, fired: &mut u32) -> u32 {
    let mut hits = 0;
    while let Some(event) = client.host.poll_event() {
        match event {
            Event::Connected { peer, .. } => *server = Some(peer),
            Event::Readable { peer } => {
                while client.host.receive(peer).is_some() {
                    hits += 1;
                }
            }
            Event::Disconnected { reason, .. } => panic!("the server is gone: {reason}"),
            Event::Request { .. } | Event::Writable { .. } | Event::PeerMoved { .. } | _ => {}
        }
    }
    if let Some(server) = server.filter(|_| *fired < SHOTS) {
        let shot = fired.to_le_bytes().to_vec();
        let queued = client.host.send(server, ChannelId(0), shot, Mode::Reliable);
        *fired += u32::from(queued.is_ok());
    }
    hits
}

fn main() -> Result<(), Box<dyn core::error::Error>> {
    let clock = Clock::start();
    let (socket, address) = Socket::open()?;
    let mut server = Node::new(Config::new(), socket);
    server.host.listen(Listen::Open)?;
    let mut client = Node::new(Config::client(), Socket::open()?.0);
    client.host.connect(clock.now(), address)?;

    let (mut peer, mut fired, mut hits) = (None, 0, 0);
    while hits < SHOTS {
        server.frame(&clock);
        serve(&mut server.host, clock.now());
        client.frame(&clock);
        hits += play(&mut client, &mut peer, &mut fired);
        clock.wait_for_frame();
    }
    writeln!(std::io::stdout(), "{hits} of {fired} shots have hit")?;
    Ok(())
}
