//! What the server and the client of the chat say to each other, and how both read the terminal.

use std::io::stdin;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use porous_std::ChannelId;

/// A client greets with three lines: this version, its name, and the room that it wants to be in. A server that
/// speaks another version refuses, and says which one it speaks.
pub(crate) const VERSION: &str = "chat 1";

/// All packets go over one channel, reliably, so they come in the order in which they were sent.
pub(crate) const CHAT: ChannelId = ChannelId(0);

/// Why a connection ends, as numbers that both sides know.
pub(crate) const LEFT: u32 = 1;
pub(crate) const RESTART: u32 = 2;

/// The most characters of a line, and of the name of a guest or a room.
pub(crate) const LINE: usize = 500;
pub(crate) const NAME: usize = 20;

/// A packet, in either direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// A client says this to its room; a server tells a client to show it.
    Say(String),
    /// A client wants to go to this room; a server tells a client that it is there.
    Room(String),
    /// A client asks who is in its room; the server says it.
    Who,
}

impl Word {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Say(line) => format!("say {line}").into_bytes(),
            Self::Room(room) => format!("room {room}").into_bytes(),
            Self::Who => b"who".to_vec(),
        }
    }

    /// `None` for what neither program says: anybody may send anything.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = core::str::from_utf8(bytes).ok()?;
        match text.split_once(' ') {
            Some(("say", line)) => Some(Self::Say(clean(line, LINE))),
            Some(("room", room)) => Some(Self::Room(clean(room, NAME))),
            None if text == "who" => Some(Self::Who),
            Some(_) | None => None,
        }
    }
}

/// What a terminal can show: without control characters, which could do anything to it, and not too long.
pub(crate) fn clean(text: &str, longest: usize) -> String {
    let shown = text.chars().filter(|c| !c.is_control());
    let short: String = shown.take(longest).collect();
    short.trim().into()
}

/// The lines of the standard input, typed by somebody or from a script. A thread waits for them, since the chat
/// waits for the network. When the input ends, so does the channel.
pub(crate) fn lines() -> Receiver<String> {
    // Bounded: a long script waits until the chat takes its lines.
    let (typed, lines) = sync_channel(16);
    thread::spawn(move || {
        for line in stdin().lines().map_while(Result::ok) {
            if typed.send(line).is_err() {
                return;
            }
        }
    });
    lines
}
