//! A connection that is established (§2.4): what ends it, and what its datagrams begin with.

use alloc::boxed::Box;
use core::time::Duration;

use super::handshake::Handshake;
use super::session::Session;
use super::settings::{Identity, Role, Tick};
use crate::event::DisconnectReason;
use crate::frame::Offer;
use crate::hooks::canary::{Bug, strikes};
use crate::time::Instant;
use crate::transfer::Written;
use crate::wire::NoRoom;

/// A ping is sent this long after a reset at the latest, so that the remote host can answer
/// (`deviations.md` T24).
const PING_INTERVAL_MAX: Duration = Duration::from_secs(1);

/// The remote host may have forgotten the connection: a reset came. Anyone who sees our datagrams can
/// forge one, so it ends nothing: it makes us less patient (`docs/wire.md`, "RESET";
/// `docs/deviations.md` C7).
#[derive(Clone, Copy, Debug)]
struct Doubt {
    since: Instant,
    /// How much longer silence is put up with: three T_rto (7) after a ping.
    patience: Duration,
}

/// The application wants to disconnect once everything is flushed (`deviations.md` C13).
#[derive(Clone, Copy, Debug)]
pub(super) struct Flush {
    /// What the remote application is told.
    pub(super) reason: u32,
    /// When it is over, whatever is left.
    pub(super) ends: Instant,
}

/// A connection that is established.
#[derive(Debug)]
pub(super) struct Connected {
    pub(super) session: Box<Session>,
    /// The attempt at several addresses that it came of, until the host has looked.
    pub(super) ways: Option<Box<Handshake>>,
    pub(super) flush: Option<Flush>,
    last_heard: Instant,
    /// When nothing having come ends the connection (§2.2).
    pub(super) silence: Instant,
    /// Since a reset, until something valid comes.
    doubt: Option<Doubt>,
}

impl Connected {
    pub(super) fn new(
        session: Box<Session>,
        ways: Option<Box<Handshake>>,
        now: Instant,
        timeout: Duration,
    ) -> Self {
        Self {
            session,
            ways,
            flush: None,
            last_heard: now,
            silence: now + timeout,
            doubt: None,
        }
    }

    /// A valid datagram came.
    pub(super) fn heard(&mut self, now: Instant, timeout: Duration) {
        self.last_heard = now;
        self.silence = now + timeout;
        self.doubt = None;
    }

    /// A reset came from the remote host's address: a ping goes out within a second. A second one
    /// changes nothing.
    pub(super) fn on_reset(&mut self, tick: Tick, timeout: Duration) {
        if self.doubt.is_some() {
            return;
        }
        self.session.transfer.signals.pings.on_doubt(tick.now);
        self.doubt = Some(Doubt {
            since: tick.now,
            patience: PING_INTERVAL_MAX + 3 * self.session.transfer.outbound.path.rtt.timeout(),
        });
        self.silence = self.silence_ends(tick, timeout);
    }

    /// When the connection ends if nothing more is heard (§2.2).
    pub(super) fn silence_ends(&self, tick: Tick, timeout: Duration) -> Instant {
        let ends = self.last_heard.max(tick.back_since) + timeout;
        let doubt = |doubt: Doubt| doubt.since.max(tick.awake_since) + doubt.patience;
        ends.min(self.doubt.map_or(Instant::NEVER, doubt))
    }

    /// Why it ends if nothing more is heard.
    pub(super) const fn why_silent(&self) -> DisconnectReason {
        match self.doubt {
            Some(_) => DisconnectReason::LostByPeer,
            None => DisconnectReason::Silent,
        }
    }

    /// The reason to disconnect for, if everything is flushed that was to be.
    pub(super) fn flushed(&mut self) -> Option<u32> {
        let flush = self.flush?;
        self.session.flush().then_some(flush.reason)
    }

    pub(super) fn deadline(&self) -> Instant {
        let flush = self.flush.map_or(Instant::NEVER, |flush| flush.ends);
        let own = self.silence.min(flush);
        if strikes(Bug::LosesDeadline) {
            return own;
        }
        own.min(self.session.deadline())
    }

    /// Writes the next datagram, behind the acknowledgement of the remote's request if that is due.
    pub(super) fn write(
        &mut self,
        ack_due: bool,
        (own, role): (&Identity, Role),
        ours: &Offer,
        tick: Tick,
        buf: &mut [u8],
    ) -> Result<Option<Written>, NoRoom> {
        if !ack_due {
            return self.session.poll_transmit(tick, buf);
        }
        let start = own.acknowledge(self.session.remote_nonce(), ours, role, buf)?;
        // Together they are no longer than what every path carries.
        let end = usize::from(self.session.agreement.max_datagram).min(buf.len());
        let rest = buf.get_mut(start..end).ok_or(NoRoom)?;
        let written = self.session.poll_transmit(tick, rest)?;
        let written = written.unwrap_or(Written::plain(0));
        Ok(Some(Written {
            len: start + written.len,
            ..written
        }))
    }
}
