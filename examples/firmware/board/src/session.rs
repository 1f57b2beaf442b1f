//! The server of one session: it sends its packets, checks those that it receives, and knows whether the
//! session went well when the client has left.

use chacha20::ChaCha20Rng;
use cortex_m_semihosting::hprintln;
use porous_smoltcp::{DisconnectReason, Event, PeerId, SendError, SmolHost};
use smoltcp::time::{Duration, Instant};
use talk::{DONE, PACE, Side, Speech, Tally};

use crate::heap;

/// The time after the end in which the server still answers a client that leaves: the first answer may be
/// lost.
const AFTERWARDS: Duration = Duration::from_millis(1500);

/// The time after which a session has failed. A good one needs far less.
const DEADLINE: Duration = Duration::from_secs(60);

/// The session.
#[derive(Debug)]
pub(crate) struct Session {
    peer: Option<PeerId>,
    speech: Speech,
    tally: Tally,
    /// When the next packet is due.
    next: Instant,
    /// When the session is over, whatever happens.
    end: Instant,
    is_well: bool,
    /// Bytes of heap that were in use before a client connected.
    alone: usize,
}

impl Session {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            peer: None,
            speech: Speech::new(Side::Board),
            tally: Tally::new(Side::Desktop),
            next: now,
            end: now + DEADLINE,
            is_well: true,
            alone: heap::used(),
        }
    }

    /// Does everything that is due now.
    pub(crate) fn turn(&mut self, now: Instant, host: &mut SmolHost<ChaCha20Rng>) {
        while let Some(event) = host.host_mut().poll_event() {
            match event {
                Event::Connected { peer, address } => {
                    hprintln!("board: {} connected", address);
                    hprintln!("board: peer {} bytes", heap::used() - self.alone);
                    self.peer = Some(peer);
                }
                Event::Readable { peer } => self.hear(peer, host),
                Event::Disconnected { reason, .. } => self.close(now, reason),
                _ => {}
            }
        }
        if let Some(peer) = self.peer {
            if now >= self.next {
                self.say(peer, host);
                self.next = now + PACE.into();
            }
        }
    }

    fn hear(&mut self, peer: PeerId, host: &mut SmolHost<ChaCha20Rng>) {
        while let Some(packet) = host.host_mut().receive(peer) {
            if let Err(wrong) = self.tally.hear(&packet) {
                self.fail(format_args!("{wrong:?}"));
            }
        }
    }

    fn say(&mut self, peer: PeerId, host: &mut SmolHost<ChaCha20Rng>) {
        let host = host.host_mut();
        let said = self
            .speech
            .say(|channel, payload, mode| host.send(peer, channel, payload, mode));
        match said {
            // The packet is tried again later. A client that has received all leaves.
            Ok(()) | Err(SendError::Full | SendError::UnknownPeer) => {}
            Err(error) => self.fail(format_args!("{error}")),
        }
    }

    /// Notes that the client has left, or is lost.
    fn close(&mut self, now: Instant, reason: DisconnectReason) {
        self.peer = None;
        self.end = now + AFTERWARDS;
        hprintln!("board: {}", self.tally);
        if reason != DisconnectReason::ByPeer(DONE) {
            self.fail(format_args!("{reason:?}"));
        }
        if let Err(wrong) = self.tally.verdict() {
            self.fail(format_args!("{wrong:?}"));
        }
    }

    fn fail(&mut self, what: core::fmt::Arguments<'_>) {
        hprintln!("board: {}", what);
        self.is_well = false;
    }

    /// When something is due.
    pub(crate) fn due(&self) -> Instant {
        if self.peer.is_some() {
            self.next
        } else {
            self.end
        }
    }

    /// If the session is over, true if it went well.
    pub(crate) fn verdict(&self, now: Instant) -> Option<bool> {
        let is_over = now >= self.end;
        is_over.then_some(self.is_well && self.tally.is_complete() && self.peer.is_none())
    }
}
