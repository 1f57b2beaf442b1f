//! The client's side: it sends its packets, checks those that it receives, and leaves when all have been
//! sent and received.

use core::error::Error;
use core::net::SocketAddr;
use core::time::Duration;

use porous_proto::seal::Suite;
use porous_proto::{Config, Disconnect, DisconnectReason, Event, Instant, PeerId, SendError};
use porous_std::{Clock, UdpHost};
use talk::{DONE, PACE, Side, Speech, Tally};

use crate::seal;

/// The longest time between two turns of the bad path.
const TURN: Duration = Duration::from_millis(1);

/// The time after which a session has failed. A good one needs far less.
const DEADLINE: Duration = Duration::from_secs(60);

/// The session.
#[derive(Debug)]
pub(crate) struct Session {
    host: UdpHost,
    peer: PeerId,
    is_connected: bool,
    is_leaving: bool,
    speech: Speech,
    tally: Tally,
    clock: Clock,
    /// When the next packet is due.
    next: Instant,
}

impl Session {
    /// Connects to the board at this address.
    pub(crate) fn plain(board: SocketAddr) -> Result<Self, Box<dyn Error>> {
        let mut host = UdpHost::bind("127.0.0.1:0", talk::configured(Config::client())?)?;
        let peer = host.connect(board)?;
        Ok(Self::new(host, peer))
    }

    /// Connects to the board at this address, and to no other board.
    pub(crate) fn sealed(board: SocketAddr) -> Result<Self, Box<dyn Error>> {
        let config = talk::configured(Config::client())?.sealed(&[Suite::CHACHA_POLY])?;
        let mut host = UdpHost::bind("127.0.0.1:0", config)?;
        let peer = host.connect_sealed(&[board], &seal::credentials())?;
        Ok(Self::new(host, peer))
    }

    fn new(host: UdpHost, peer: PeerId) -> Self {
        Self {
            host,
            peer,
            is_connected: false,
            is_leaving: false,
            speech: Speech::new(Side::Desktop),
            tally: Tally::new(Side::Board),
            clock: Clock::start(),
            next: Instant::ZERO,
        }
    }

    /// Does everything that is due, and waits a moment. True if the session has ended well.
    pub(crate) fn turn(&mut self) -> Result<bool, Box<dyn Error>> {
        self.host.wait(TURN)?;
        while let Some(event) = self.host.poll_event() {
            match event {
                Event::Connected { .. } => self.is_connected = true,
                Event::Readable { .. } => self.hear()?,
                Event::Disconnected { reason, .. } => {
                    self.is_connected = false;
                    self.close(reason)?;
                    return Ok(true);
                }
                _ => {}
            }
        }
        if self.is_connected && !self.is_leaving {
            self.say()?;
            self.leave()?;
        }
        if self.clock.now() > Instant::ZERO + DEADLINE {
            return Err(format!("too late: {}", self.tally).into());
        }
        Ok(false)
    }

    fn hear(&mut self) -> Result<(), String> {
        while let Some(packet) = self.host.receive(self.peer) {
            let heard = self.tally.hear(&packet);
            heard.map_err(|wrong| format!("{wrong:?}: {}", self.tally))?;
        }
        Ok(())
    }

    fn say(&mut self) -> Result<(), SendError> {
        if self.clock.now() < self.next {
            return Ok(());
        }
        self.next = self.clock.now() + PACE;
        let (host, peer) = (&mut self.host, self.peer);
        let said = self
            .speech
            .say(|channel, payload, mode| host.send(peer, channel, payload, mode));
        match said {
            // The packet is tried again later.
            Ok(()) | Err(SendError::Full) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Disconnects, if all packets were sent and received.
    fn leave(&mut self) -> Result<(), Box<dyn Error>> {
        if self.speech.is_over() && self.tally.is_complete() {
            let (reason, deadline) = (DONE, DEADLINE);
            self.host
                .disconnect(self.peer, Disconnect::Flush { reason, deadline })?;
            self.is_leaving = true;
        }
        Ok(())
    }

    fn close(&self, reason: DisconnectReason) -> Result<(), String> {
        if reason != DisconnectReason::ByUs(DONE) {
            return Err(format!("{reason:?}: {}", self.tally));
        }
        let verdict = self.tally.verdict();
        verdict.map_err(|wrong| format!("{wrong:?}: {}", self.tally))
    }

    /// The packets that were received.
    pub(crate) const fn tally(&self) -> &Tally {
        &self.tally
    }
}
