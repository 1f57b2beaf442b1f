//! The server of a chat with rooms. A guest has a name and is in one room; what it says, all in the room hear.
//!
//! `cargo run -p porous-examples --bin chat_server -- 127.0.0.1:7777`
//!
//! A second argument is the number of guests that a room takes. The line `stop` ends the server; the clients try to
//! come back by themselves until another server is there.
#![expect(clippy::print_stdout, reason = "an example")]

extern crate alloc;

mod words;

use alloc::collections::BTreeMap;
use core::error::Error;
use core::net::SocketAddr;
use core::time::Duration;
use std::env;
use std::io;

use porous_std::Peer;
use porous_std::prelude::*;

use words::{CHAT, LEFT, LINE, NAME, RESTART, VERSION, Word, clean, lines};

/// Why a guest is sent away that does not take what it is told.
const TOO_SLOW: u32 = 3;

const ROOM_SIZE: usize = 16;

/// How long the server sleeps at most before it looks at the terminal.
const TICK: Duration = Duration::from_millis(50);

/// How long guests have to take what they were told when the server stops.
const GOODBYE: Duration = Duration::from_secs(2);

struct Guest {
    name: String,
    room: String,
    /// False until the connection that was accepted is there.
    is_here: bool,
}

struct Chat {
    host: UdpHost,
    guests: BTreeMap<PeerId, Guest>,
    room_size: usize,
}

impl Chat {
    fn bind(address: &str, room_size: usize) -> Result<Self, Box<dyn Error>> {
        let mut host = UdpHost::bind(address, Config::new())?;
        host.listen(Listen::Ask)?;
        Ok(Self {
            host,
            guests: BTreeMap::new(),
            room_size,
        })
    }

    fn on_event(&mut self, event: Event<SocketAddr>) {
        match event {
            Event::Request { peer, .. } => self.answer(peer),
            Event::Connected { peer, .. } => self.welcome(peer),
            Event::Readable { peer } => {
                while let Some(packet) = self.host.receive(peer) {
                    if let Some(word) = Word::parse(&packet.payload) {
                        self.hear(peer, word);
                    }
                }
            }
            Event::Disconnected { peer, reason, .. } => self.forget(peer, reason),
            Event::Writable { .. } | _ => {}
        }
    }

    /// Lets somebody in, or says why not, in up to 64 bytes.
    fn answer(&mut self, peer: PeerId) {
        let greeting = self.host.peer(peer).map(Peer::greeting).unwrap_or_default();
        // An error means that the task that asked has given up meanwhile.
        match self.guest(greeting) {
            Ok(guest) if self.host.accept(peer).is_ok() => {
                self.guests.insert(peer, guest);
            }
            Ok(_) => {}
            Err(why) => drop(self.host.refuse(peer, why.as_bytes())),
        }
    }

    fn guest(&self, greeting: &[u8]) -> Result<Guest, String> {
        let mut greeting = core::str::from_utf8(greeting).unwrap_or_default().lines();
        if greeting.next() != Some(VERSION) {
            return Err(format!("wrong version: this server speaks {VERSION}"));
        }
        let [name, room] = [(); 2].map(|()| clean(greeting.next().unwrap_or_default(), NAME));
        if name.is_empty() || room.is_empty() {
            return Err("a guest and a room have names".into());
        }
        if self.guests.values().any(|guest| guest.name == name) {
            return Err("the name is taken".into());
        }
        self.has_room(&room)?;
        Ok(Guest {
            name,
            room,
            is_here: false,
        })
    }

    fn has_room(&self, room: &str) -> Result<(), String> {
        let inside = self.guests.values().filter(|guest| guest.room == room);
        match inside.count() < self.room_size {
            true => Ok(()),
            false => Err("the room is full".into()),
        }
    }

    fn welcome(&mut self, peer: PeerId) {
        if let Some(guest) = self.guests.get_mut(&peer) {
            guest.is_here = true;
            let (name, room) = (guest.name.clone(), guest.room.clone());
            self.tell(peer, &Word::Room(room.clone()));
            self.tell_room(&room, format!("* {name} has come"));
        }
    }

    fn hear(&mut self, peer: PeerId, word: Word) {
        let Some(guest) = self.guests.get(&peer) else {
            return;
        };
        let (name, room) = (guest.name.clone(), guest.room.clone());
        match word {
            Word::Say(line) => self.tell_room(&room, format!("{name}: {line}")),
            Word::Who => {
                let inside = self.guests.values().filter(|guest| guest.room == room);
                let names: Vec<&str> = inside.map(|guest| guest.name.as_str()).collect();
                let names = format!("* in {room}: {}", names.join(", "));
                self.tell(peer, &Word::Say(names));
            }
            Word::Room(new) => self.moves(peer, new),
        }
    }

    fn moves(&mut self, peer: PeerId, new: String) {
        if let Err(why) = self.has_room(&new) {
            self.tell(peer, &Word::Say(format!("* {why}: {new}")));
        } else if let Some(guest) = self.guests.get_mut(&peer).filter(|_| !new.is_empty()) {
            let name = guest.name.clone();
            let old = core::mem::replace(&mut guest.room, new);
            self.tell_room(&old, format!("* {name} has gone"));
            self.welcome(peer);
        }
    }

    fn forget(&mut self, peer: PeerId, reason: DisconnectReason) {
        if let Some(guest) = self.guests.remove(&peer).filter(|guest| guest.is_here) {
            let has_left = reason == DisconnectReason::ByPeer(LEFT);
            let how = if has_left { "has left" } else { "was lost" };
            self.tell_room(&guest.room, format!("* {} {how}", guest.name));
        }
    }

    fn tell_room(&mut self, room: &str, line: String) {
        println!("[{room}] {line}");
        let line = Word::Say(line.chars().take(LINE).collect());
        let inside = |(peer, guest): (&PeerId, &Guest)| {
            (guest.is_here && guest.room == room).then_some(*peer)
        };
        let inside: Vec<PeerId> = self.guests.iter().filter_map(inside).collect();
        for peer in inside {
            self.tell(peer, &line);
        }
    }

    fn tell(&mut self, peer: PeerId, word: &Word) {
        let told = self.host.send(peer, CHAT, word.to_bytes(), Mode::Reliable);
        if told == Err(SendError::Full) {
            // It has not taken megabytes: nobody else waits for it. An error means that it has just left.
            let _gone = self
                .host
                .disconnect(peer, Disconnect::Now { reason: TOO_SLOW });
        }
    }

    /// One turn of the server.
    fn turn(&mut self) -> io::Result<()> {
        self.host.wait(TICK)?;
        while let Some(event) = self.host.poll_event() {
            self.on_event(event);
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "[::]:7777".into());
    let room_size = arguments
        .next()
        .map_or(Ok(ROOM_SIZE), |size| size.parse())?;
    let mut chat = Chat::bind(&address, room_size)?;
    println!("listening at {}", chat.host.local_addr()?);
    let typed = lines();
    while typed.try_recv() != Ok("stop".into()) {
        chat.turn()?;
    }
    // All that was said arrives, and no newcomer is let in meanwhile.
    chat.host.drain_until_empty(RESTART, GOODBYE, |_, _| {})?;
    println!("stopped");
    Ok(())
}
