//! One client of the server, as the thread that serves it knows it.

use core::net::SocketAddr;

use porous_std::{Bytes, ChannelId, Mode, PeerId, Received, UdpHost};

use crate::echo::{CONTROL, Counts, Message, SHORTEST, place};

/// An answer that the host had no room for.
type Answer = (ChannelId, Bytes, Mode);

/// What was counted of a client, and what it still has to be told.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    pub(crate) is_sealed: bool,
    pub(crate) counts: Counts,
    /// A reliable answer that waits for room. Nothing is received until it has left: so a client that does not
    /// take its answers is held back, and costs no memory.
    waiting: Option<Answer>,
}

impl Client {
    pub(crate) fn new(address: SocketAddr, is_sealed: bool) -> Self {
        Self {
            address,
            is_sealed,
            counts: Counts::default(),
            waiting: None,
        }
    }

    /// Answers what has come, as far as there is room for answers.
    pub(crate) fn serve(&mut self, host: &mut UdpHost, peer: PeerId) {
        loop {
            if let Some(answer) = self.waiting.take() {
                self.answer(host, peer, answer);
            }
            if self.waiting.is_some() {
                return;
            }
            let Some(packet) = host.receive(peer) else {
                return;
            };
            if let Some(answer) = self.take(&packet) {
                self.answer(host, peer, answer);
            }
        }
    }

    /// Counts a packet, and makes its answer.
    fn take(&mut self, packet: &Received) -> Option<Answer> {
        match Message::parse(&packet.payload)? {
            Message::Probe {
                is_long,
                serial,
                sent,
            } => {
                let count = &mut self.counts[place(packet.mode)];
                count.probes += 1;
                let echo = Message::Echo {
                    serial,
                    sent,
                    counted: count.probes,
                };
                let len = if is_long {
                    packet.payload.len()
                } else {
                    SHORTEST.into()
                };
                Some((packet.channel, echo.to_bytes(len), packet.mode))
            }
            Message::Question => {
                let counts = Message::Counts(self.counts);
                Some((CONTROL, counts.to_bytes(0), Mode::Reliable))
            }
            // What a server says, and no client.
            Message::Echo { .. } | Message::Counts(_) => None,
        }
    }

    fn answer(&mut self, host: &mut UdpHost, peer: PeerId, answer: Answer) {
        let (channel, bytes, mode) = answer;
        let is_sent = host.send(peer, channel, bytes.clone(), mode).is_ok();
        if is_sent && channel != CONTROL {
            self.counts[place(mode)].echoes += 1;
        }
        // Any other answer without room is lost: it would be late.
        if !is_sent && mode == Mode::Reliable && host.peer(peer).is_some() {
            self.waiting = Some((channel, bytes, mode));
        }
    }
}
