//! A connection on its way out, and what is left of a peer that has ended (§2.5).

use alloc::boxed::Box;
use core::time::Duration;

use super::connected::Connected;
use super::session::Session;
use super::state::Phase;
use crate::frame::{Disconnect, DisconnectAck, Refusal, Refuse};
use crate::time::Instant;
use crate::wire::NoRoom;

/// How long a disconnected peer answers for its connection: longer than a cookie lives, so that a
/// delayed request of a dead connection makes no peer (`deviations.md` C7).
pub(crate) const LINGER: Duration = Duration::from_secs(30);

/// The interval between the first [`OFTEN`] disconnection requests: a host that leaves may be gone in a
/// second, and has to be heard by then even if every second datagram is lost.
const INTERVAL: Duration = Duration::from_millis(100);
/// The interval between later disconnection requests.
const LATER_INTERVAL: Duration = Duration::from_secs(1);
/// The number of disconnection requests in short intervals.
const OFTEN: u8 = 10;

/// A connection whose remote host is asked to disconnect, until the acknowledgement comes.
#[derive(Debug)]
pub(super) struct Disconnecting {
    pub(super) session: Box<Session>,
    /// What the remote application is told.
    pub(super) reason: u32,
    /// The number of requests that were sent; it stops at [`OFTEN`].
    requests: u8,
    /// When the request is sent again.
    pub(super) retry: Instant,
    /// When the acknowledgement is given up.
    pub(super) ends: Instant,
}

impl Disconnecting {
    pub(super) fn new(connected: Connected, reason: u32, ends: Instant) -> Self {
        Self {
            session: connected.session,
            reason,
            requests: 0,
            retry: Instant::NEVER,
            ends,
        }
    }

    /// Whether the request is due again. It is until it is written.
    pub(super) fn retries(&mut self, now: Instant) -> bool {
        let is_due = self.retry <= now;
        if is_due {
            self.retry = Instant::NEVER; // the next interval begins when the request leaves
        }
        is_due
    }

    /// Writes a request. `own`: our random id.
    pub(super) fn write(
        &mut self,
        own: u64,
        now: Instant,
        buf: &mut [u8],
    ) -> Result<usize, NoRoom> {
        self.retry = if self.requests == OFTEN {
            now + LATER_INTERVAL
        } else {
            self.requests += 1;
            now + INTERVAL
        };
        say_goodbye(own, self.session.remote_nonce(), self.reason, buf)
    }
}

fn say_goodbye(
    nonce_self: u64,
    nonce_peer: u64,
    reason: u32,
    buf: &mut [u8],
) -> Result<usize, NoRoom> {
    let bye = Disconnect {
        nonce_self,
        nonce_peer,
        reason,
    };
    bye.encode(buf)
}

/// What an ended peer says when a request of its connection comes again.
#[derive(Debug)]
pub(super) enum Answer {
    /// Goodbye, with this reason.
    Goodbye(u32),
    /// The peer was refused, for this reason.
    Refusal(Box<Refusal>),
}

/// A peer that has ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// The random id of the remote host, if it was fixed.
    pub(super) remote: Option<u64>,
    /// The layers of the connection, until all that had arrived is received.
    pub(super) unread: Option<Box<Session>>,
    pub(super) answer: Answer,
    /// True if a disconnection request of the remote host is to be acknowledged.
    pub(super) ack_due: bool,
    /// When the peer stops answering for its connection: the final timeout (§2.2).
    pub(super) linger: Instant,
}

/// What is left of a connection that never was: nothing.
impl Default for Ended {
    fn default() -> Self {
        Self {
            remote: None,
            unread: None,
            answer: Answer::Goodbye(0),
            ack_due: false,
            linger: Instant::NEVER,
        }
    }
}

impl Ended {
    /// What is left of a peer that ends in this phase.
    pub(super) fn of(phase: Phase, now: Instant) -> Self {
        let (session, reason) = match phase {
            Phase::Attempt { .. } => (None, 0),
            Phase::Newcomer { session, .. } => (Some(session), 0),
            Phase::Connected(connected) => {
                // The application had said goodbye already: the end came before the flush was over.
                let reason = connected.flush.map_or(0, |flush| flush.reason);
                (Some(connected.session), reason)
            }
            Phase::Disconnecting(disconnecting) => {
                (Some(disconnecting.session), disconnecting.reason)
            }
            Phase::Disconnected(ended) | Phase::Zombie(ended) => return ended,
        };
        Self {
            remote: session.as_deref().map(Session::remote_nonce),
            unread: session,
            answer: Answer::Goodbye(reason),
            linger: now + LINGER,
            ..Self::default()
        }
    }

    pub(super) fn forget_if_read(&mut self) {
        self.unread
            .take_if(|session| !session.sequencing.is_readable());
    }

    /// Writes what is due, if anything is. `own`: our random id.
    pub(super) fn write(
        &mut self,
        own: u64,
        answer_due: &mut bool,
        buf: &mut [u8],
    ) -> Result<Option<usize>, NoRoom> {
        let Some(remote) = self.remote else {
            return Ok(None); // an attempt that met nobody owes nothing
        };
        let written = if core::mem::take(&mut self.ack_due) {
            let ack = DisconnectAck {
                nonce_self: own,
                nonce_peer: remote,
            };
            ack.encode(buf)
        } else if !core::mem::take(answer_due) {
            return Ok(None);
        } else {
            match &self.answer {
                &Answer::Goodbye(reason) => say_goodbye(own, remote, reason, buf),
                Answer::Refusal(refusal) => Refuse::new(remote, **refusal).encode(buf),
            }
        };
        written.map(Some)
    }
}
