//! A connection that is established: what ends it, and what its datagrams begin with (§2.4).

use alloc::boxed::Box;
use core::time::Duration;

use super::handshake::Handshake;
use super::session::Session;
use super::settings::{Identity, Role, Tick};
use crate::event::DisconnectReason;
use crate::frame::Offer;
use crate::hooks::canary::{Bug, strikes};
use crate::time::{Instant, Micros};
use crate::timer::{Timer, earliest};
use crate::transfer::Written;
use crate::wire::NoRoom;

/// The shortest time from a reset to the end of a connection from which nothing more is heard.
const PATIENCE_MIN: Micros = Micros::from_secs(1);

/// A reset came: the remote host may have forgotten the connection. A host that sees our datagrams can
/// forge resets, so that one ends nothing and only makes us less patient (`docs/wire.md`, "RESET";
/// `docs/deviations.md` C7).
#[derive(Clone, Copy, Debug)]
struct Doubt {
    since: Instant,
    /// How long silence may last from then on: three T_rto (7) after the ping, and `PATIENCE_MIN` at least.
    patience: Micros,
}

/// The application wants to disconnect once everything is flushed (`deviations.md` C13).
#[derive(Clone, Copy, Debug)]
pub(super) struct Flush {
    /// What the remote application is told.
    pub(super) reason: u32,
    /// When the flush is over, whatever is left.
    pub(super) ends: Instant,
}

/// A connection that is established.
#[derive(Debug)]
pub(super) struct Connected {
    pub(super) session: Box<Session>,
    /// The attempt at several addresses that the connection came of, until the host takes it.
    pub(super) ways: Option<Box<Handshake>>,
    pub(super) flush: Option<Flush>,
    last_heard: Instant,
    /// When silence ends the connection (§2.2).
    pub(super) silence: Instant,
    /// There from a reset until something valid comes.
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
            last_heard: now, // what has established it was a sign of life
            silence: now + timeout,
            doubt: None,
        }
    }

    /// Notes that a valid datagram came.
    pub(super) fn heard(&mut self, now: Instant, timeout: Duration) {
        self.last_heard = now;
        self.silence = now + timeout;
        self.doubt = None;
    }

    /// Notes that a reset came from the remote host's address: a ping goes out, which lets that host answer.
    pub(super) fn on_reset(&mut self, tick: Tick, timeout: Duration) {
        // A second one changes nothing, or two hosts could keep each other busy with pings and resets.
        if self.doubt.is_some() {
            return;
        }
        let transfer = &mut self.session.transfer;
        let wait = transfer.signals.pings.on_doubt(tick.now);
        let answer = 3 * transfer.outbound.path.rtt.timeout();
        self.doubt = Some(Doubt {
            since: tick.now,
            patience: PATIENCE_MIN.max(wait + answer),
        });
        self.silence = self.silence_ends(tick, timeout);
    }

    /// When the connection ends if nothing more is heard (§2.2). Silence counts from when the host was
    /// stepped again after a pause (T23).
    pub(super) fn silence_ends(&self, tick: Tick, timeout: Duration) -> Instant {
        let ends = self.last_heard.max(tick.back_since) + timeout;
        // Patience in doubt is short: here the shortest pause excuses the remote host.
        let doubt = |doubt: Doubt| doubt.since.max(tick.awake_since) + doubt.patience;
        ends.min(self.doubt.map_or(Instant::NEVER, doubt))
    }

    /// Why the connection ends if nothing more is heard.
    pub(super) const fn why_silent(&self) -> DisconnectReason {
        match self.doubt {
            Some(_) => DisconnectReason::LostByPeer,
            None => DisconnectReason::Silent,
        }
    }

    /// The reason to disconnect with, if there was something to be flushed and all of it is.
    pub(super) fn flushed(&mut self) -> Option<u32> {
        let flush = self.flush?;
        self.session.flush().then_some(flush.reason)
    }

    /// Brings the end of a flush forward to this time, if there is a flush.
    pub(super) fn hasten_flush(&mut self, ends: Instant) -> bool {
        if let Some(flush) = &mut self.flush {
            // The earlier one, or a host that is told to drain again and again would never be empty.
            flush.ends = flush.ends.min(ends);
        }
        self.flush.is_some()
    }

    pub(super) fn deadline(&self) -> Instant {
        let flush = self.flush.map_or(Instant::NEVER, |flush| flush.ends);
        let own = self.silence.min(flush);
        if strikes(Bug::LosesDeadline) {
            return own;
        }
        own.min(self.session.deadline())
    }

    /// What is due then, and when.
    pub(super) fn timer(&self) -> (Instant, Timer) {
        let flush = self.flush.map_or(Instant::NEVER, |flush| flush.ends);
        earliest([
            (self.silence, Timer::Silence),
            (flush, Timer::Flush),
            self.session.timer(),
        ])
    }

    /// Writes the next datagram, behind the acknowledgement of the remote host's request if that is due.
    #[inline]
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
        // In one datagram: the remote host need not wait for the first data after the acknowledgement.
        let start = self.session.acknowledge(own, ours, role, buf)?;
        if start == 0 {
            return self.session.poll_transmit(tick, buf);
        }
        // A padded request has shown that the path carries as much; nothing longer is known to pass.
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
