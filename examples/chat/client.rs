//! The client of the chat: what is typed is said, what is said in the room is shown.
//!
//! `cargo run -p porous-examples --bin chat_client -- 127.0.0.1:7777 Ada kitchen`
//!
//! `/room NAME` goes to another room, `/who` asks which guests are there, `/quit` or the end of the input leaves. If the server
//! goes away, the client comes back by itself when there is one again.
#![expect(clippy::print_stdout, reason = "an example")]

extern crate alloc;

mod words;

use alloc::collections::VecDeque;
use core::error::Error;
use core::net::SocketAddr;
use core::time::Duration;
use std::env;
use std::sync::mpsc::{Receiver, TryRecvError};

use porous_std::prelude::*;
use porous_std::{Instant, Refusal};

use words::{CHAT, LEFT, LINE, NAME, RESTART, VERSION, Word, clean, lines};

/// How long the client sleeps at most before it looks at the terminal.
const TICK: Duration = Duration::from_millis(50);

/// The pause before another attempt to connect.
const PAUSE: Duration = Duration::from_secs(1);

/// How long the last lines may take to arrive.
const GOODBYE: Duration = Duration::from_secs(5);

/// The most lines that wait for a connection.
const WAITING: usize = 100;

/// Where the client is with its server.
#[derive(Clone, Copy, PartialEq)]
enum Seat {
    /// Nowhere, until it asks again at this time.
    Away(Instant),
    Asked,
    In(PeerId),
    Leaving,
    /// It has left.
    Gone,
}

struct Client {
    host: UdpHost,
    server: SocketAddr,
    name: String,
    room: String,
    seat: Seat,
    /// True once it was let in: after that it comes back instead of giving up.
    was_in: bool,
    /// What is to be said, in order.
    unsaid: VecDeque<Word>,
    /// True once the input has ended, or the user wants to go.
    is_done: bool,
}

impl Client {
    /// Takes what was typed.
    fn read(&mut self, typed: &Receiver<String>) {
        while !self.is_done && self.unsaid.len() < WAITING {
            match typed.try_recv() {
                Ok(line) => self.take(&line),
                Err(TryRecvError::Disconnected) => self.is_done = true,
                Err(TryRecvError::Empty) => return,
            }
        }
    }

    fn take(&mut self, line: &str) {
        let line = clean(line, LINE);
        match line.split_once(' ').unwrap_or((&line, "")) {
            ("/quit", _) => self.is_done = true,
            ("/who", _) => self.unsaid.push_back(Word::Who),
            ("/room", room) => self.unsaid.push_back(Word::Room(clean(room, NAME))),
            ("", _) => {}
            _ => self.unsaid.push_back(Word::Say(line)),
        }
    }

    /// Does what there is to do: connects, talks, leaves.
    fn act(&mut self) -> Result<(), Box<dyn Error>> {
        match self.seat {
            Seat::Away(_) | Seat::Asked if self.is_done && self.unsaid.is_empty() => {
                self.seat = Seat::Gone;
            }
            Seat::Away(until) if self.host.now() >= until => {
                let greeting = format!("{VERSION}\n{}\n{}", self.name, self.room);
                let to = [self.server];
                self.host.connect_with(&to, greeting.as_bytes())?;
                self.seat = Seat::Asked;
            }
            Seat::In(server) => self.talk(server),
            Seat::Away(_) | Seat::Asked | Seat::Leaving | Seat::Gone => {}
        }
        Ok(())
    }

    fn talk(&mut self, server: PeerId) {
        while let Some(word) = self.unsaid.front() {
            match self
                .host
                .send(server, CHAT, word.to_bytes(), Mode::Reliable)
            {
                Ok(()) => drop(self.unsaid.pop_front()),
                // Later: there is no room now, or the connection has just ended.
                Err(_) => return,
            }
        }
        if self.is_done {
            let (reason, deadline) = (LEFT, GOODBYE);
            let flush = Disconnect::Flush { reason, deadline };
            // An error means that the connection has just ended: its event comes.
            if self.host.disconnect(server, flush).is_ok() {
                self.seat = Seat::Leaving;
            }
        }
    }

    fn on_event(&mut self, event: Event<SocketAddr>) -> Result<(), Box<dyn Error>> {
        match event {
            Event::Connected { peer, .. } => {
                (self.seat, self.was_in) = (Seat::In(peer), true);
            }
            Event::Readable { peer } => {
                while let Some(packet) = self.host.receive(peer) {
                    self.hear(Word::parse(&packet.payload));
                }
            }
            Event::PortClosed { .. } if !self.was_in => println!("- no server there yet"),
            Event::Disconnected {
                reason,
                undelivered,
                ..
            } => return self.ended(reason, undelivered),
            Event::Writable { .. } | _ => {}
        }
        Ok(())
    }

    fn hear(&mut self, word: Option<Word>) {
        match word {
            Some(Word::Say(line)) => println!("{line}"),
            Some(Word::Room(room)) => {
                println!("- you are in {room}");
                // There it comes back to.
                self.room = room;
            }
            Some(Word::Who) | None => {}
        }
    }

    fn ended(&mut self, reason: DisconnectReason, undelivered: u32) -> Result<(), Box<dyn Error>> {
        if self.seat == Seat::Leaving {
            self.seat = Seat::Gone;
            return Ok(());
        }
        let why = if let DisconnectReason::Refused(Refusal::Application(data)) = reason {
            clean(&String::from_utf8_lossy(data.as_bytes()), LINE)
        } else if reason == DisconnectReason::ByPeer(RESTART) {
            "the server restarts".into()
        } else {
            format!("{reason:?}")
        };
        if !self.was_in {
            return Err(why.into());
        }
        println!("- {why}: coming back");
        if undelivered > 0 {
            println!("- {undelivered} of your lines may not have arrived");
        }
        self.seat = Seat::Away(self.host.now() + PAUSE);
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let mut next = |default: &str| arguments.next().unwrap_or_else(|| default.into());
    let server = next("127.0.0.1:7777").parse()?;
    let [name, room] = ["guest", "lobby"].map(|default| clean(&next(default), NAME));
    let host = UdpHost::bind("[::]:0", Config::client())?;
    let seat = Seat::Away(host.now());
    let mut client = Client {
        host,
        server,
        name,
        room,
        seat,
        was_in: false,
        unsaid: VecDeque::new(),
        is_done: false,
    };
    let typed = lines();
    while client.seat != Seat::Gone {
        client.read(&typed);
        client.act()?;
        client.host.wait(TICK)?;
        while let Some(event) = client.host.poll_event() {
            client.on_event(event)?;
        }
    }
    Ok(())
}
