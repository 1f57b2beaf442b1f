//! A host that is bound to its socket, and leaves it with a goodbye.

use core::net::SocketAddr;
use std::io;
use std::thread;

use porous_proto::{Disconnect, Host, Instant};

use crate::outbox::Outbox;
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
}

impl<S: SystemSocket> Bound<S> {
    /// Whether all that waited has been sent.
    pub(crate) fn flush(&mut self, now: Instant) -> io::Result<bool> {
        while let Some((batch, datagrams)) = self.outbox.first() {
            match self.socket.send(batch, datagrams) {
                Ok(Some(sent)) => {
                    let to = batch.to;
                    self.outbox.advance(sent.bytes);
                    if sent.is_unreachable {
                        self.host.handle_unreachable(now, to);
                    }
                }
                Ok(None) => return Ok(false),
                Err(error) => {
                    let lost = datagrams.len();
                    self.outbox.advance(lost);
                    return Err(error);
                }
            }
        }
        Ok(true)
    }

    /// Makes datagrams, as many as there is room for. Those that are taken away do not leave.
    pub(crate) fn fill(&mut self, now: Instant, mut take: impl FnMut(SocketAddr, &[u8]) -> bool) {
        let (largest, max_segments) = (self.host.max_datagram_size(), self.socket.max_segments());
        while let Some(room) = self.outbox.room(largest) {
            let Some(transmit) = self.host.poll_transmit(now, room) else {
                break;
            };
            let (to, ecn, datagram) = (transmit.to, transmit.ecn, transmit.datagram);
            if !take(to, datagram) {
                let len = datagram.len();
                self.outbox.push(to, ecn, len, max_segments);
            }
        }
    }

    /// Tells each peer once, as far as the socket has room now.
    fn say_goodbye(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        self.host.disconnect_all(now, Disconnect::Now { reason: 0 });
        while self.flush(now)? {
            self.fill(now, |_, _| false);
            if self.outbox.is_empty() {
                break;
            }
        }
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
