//! A host that is bound to its socket, and leaves it with a goodbye.

use core::net::SocketAddr;
use std::io;
use std::thread;

use porous_proto::{Disconnect, Host, Instant};

use crate::outbox::{Made, Outbox};
use crate::socket::Socket;
use crate::{Clock, OsRng, SystemSocket};

/// A host, its socket, its clock, and what goes from the one to the other. When it is dropped, each
/// peer is told once that it ends.
#[derive(Debug)]
pub(crate) struct Bound<S: SystemSocket> {
    pub(crate) host: Host<OsRng>,
    pub(crate) socket: Socket<S>,
    pub(crate) clock: Clock,
    pub(crate) outbox: Outbox,
    /// The socket had no room for what is in the outbox, be it that all have refused it to whom there
    /// is something to send.
    pub(crate) is_full: bool,
}

impl<S: SystemSocket> Bound<S> {
    /// Sends what waits, as far as the socket and the addresses take it. Whether more may be made:
    /// what one address refuses does not stop the others, as long as there are any.
    pub(crate) fn flush(&mut self, now: Instant) -> io::Result<bool> {
        while let Some((batch, datagrams)) = self.outbox.first() {
            if batch.to_stranger && !self.socket.has_room_for(batch.to, now) {
                self.withhold();
                continue;
            }
            match self.socket.send(batch, datagrams) {
                Ok(Some(sent)) => {
                    let to = batch.to;
                    self.outbox.advance(sent.bytes);
                    if sent.is_unreachable {
                        self.host.handle_unreachable(now, to);
                    }
                }
                Ok(None) if batch.to_stranger => self.withhold(),
                Ok(None) => self.outbox.refuse(now),
                Err(error) => {
                    let lost = datagrams.len();
                    self.outbox.advance(lost);
                    return Err(error);
                }
            }
        }
        self.outbox.pack();
        self.is_full = match self.outbox.refused() {
            Some(0) => false,
            Some(refused) => {
                let peers = self.host.peers().count();
                let has_room = self.outbox.room(self.host.max_datagram_size()).is_some();
                // What is old is given up if others could have its room, or nobody is there to get it.
                if self.outbox.has_passed() || !has_room || peers == 0 {
                    let lost = self.outbox.drop_old(now);
                    self.socket.count_lost(lost);
                }
                peers <= refused || !has_room
            }
            None => true,
        };
        Ok(!self.is_full)
    }

    /// Does not send the first answer to a stranger.
    fn withhold(&mut self) {
        let answers = self.outbox.drop_first();
        self.socket.count_withheld(answers);
    }

    /// Makes datagrams, as many as there is room for. Those that are taken away do not leave. Whether
    /// any was made.
    pub(crate) fn fill(
        &mut self,
        now: Instant,
        mut take: impl FnMut(SocketAddr, &[u8]) -> bool,
    ) -> bool {
        let (largest, max_segments) = (self.host.max_datagram_size(), self.socket.max_segments());
        let mut any = false;
        while let Some(room) = self.outbox.room(largest) {
            let Some(transmit) = self.host.poll_transmit(now, room) else {
                break;
            };
            let made = Made {
                to: transmit.to,
                ecn: transmit.ecn,
                to_stranger: transmit.to_stranger,
                len: transmit.datagram.len(),
            };
            if !take(made.to, transmit.datagram) {
                any = true;
                self.push(made, max_segments, now);
            }
        }
        any
    }

    /// Takes a datagram that was written into the room for it.
    pub(crate) fn push(&mut self, made: Made, max_segments: usize, now: Instant) {
        if !self.outbox.push(made, max_segments, now) {
            self.socket.count_lost(1);
        }
    }

    /// Tells each peer once, as far as the socket has room now.
    fn say_goodbye(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        self.host.disconnect_all(now, Disconnect::Now { reason: 0 });
        self.outbox.begin();
        while self.flush(now)? && self.fill(now, |_, _| false) {}
        Ok(())
    }
}

impl<S: SystemSocket> Drop for Bound<S> {
    fn drop(&mut self) {
        // What panicked may have been the host, and a second panic would abort the program.
        if !thread::panicking() {
            // Who is not told notices by its timeout.
            let _unsent = self.say_goodbye();
        }
    }
}
