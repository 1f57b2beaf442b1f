//! The five states of a peer, every transition between them, and what a peer has in each state (§2.2,
//! Figure 1).

use alloc::boxed::Box;

use super::connected::Connected;
use super::disconnect::{Disconnecting, Ended};
use super::handshake::Handshake;
use super::session::Session;
use crate::time::Instant;
use crate::timer::Timer;

/// The state of a peer (§2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PeerState {
    /// The handshake is under way (§2.3).
    Connecting,
    /// Packets can be sent and received (§2.4).
    Connected,
    /// This host has asked to disconnect, and waits for the acknowledgement (§2.5).
    Disconnecting,
    /// The connection is over. For up to 30 s the peer answers late datagrams of its connection, so
    /// that they do no harm.
    Disconnected,
    /// The connection is over, and the peer is deleted as soon as it is of no use, 30 s later at the
    /// latest. Unread packets keep it, and late requests of a remote host that connected to this one.
    Zombie,
}

/// What moves a peer from one state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A request and an acknowledgement have come (§2.3).
    Established,
    /// The handshake was refused, or the two configurations do not fit.
    Refused,
    /// This host gave up before the connection was established (`deviations.md` C12).
    Cancelled,
    /// This host disconnects, and everything to be flushed is flushed (§2.5).
    Close,
    /// The remote host disconnected.
    ClosedByPeer,
    /// A new connection of the same remote host took the peer's place.
    Replaced,
    /// The remote host acknowledged the disconnection.
    CloseAcknowledged,
    /// Nothing valid came for too long, or no answer came in time.
    TimedOut,
    /// A bug was caught.
    InternalError,
    /// The final timeout of a disconnected peer has passed.
    Expired,
}

impl PeerState {
    /// The arrows of Figure 1. `None`: this cause means nothing in this state.
    pub(crate) const fn after(self, cause: Cause) -> Option<Self> {
        match (self, cause) {
            (Self::Connecting, Cause::Established) => Some(Self::Connected),
            (Self::Connecting, Cause::Refused | Cause::ClosedByPeer) => Some(Self::Disconnected),
            (
                Self::Connecting,
                Cause::Cancelled | Cause::Replaced | Cause::TimedOut | Cause::InternalError,
            ) => Some(Self::Zombie),
            (Self::Connected, Cause::Close) => Some(Self::Disconnecting),
            (Self::Connected, Cause::ClosedByPeer | Cause::Replaced) => Some(Self::Disconnected),
            (Self::Connected, Cause::TimedOut | Cause::InternalError) => Some(Self::Zombie),
            (
                Self::Disconnecting,
                Cause::CloseAcknowledged | Cause::ClosedByPeer | Cause::Replaced,
            ) => Some(Self::Disconnected),
            (Self::Disconnecting, Cause::TimedOut | Cause::InternalError) => Some(Self::Zombie),
            (Self::Disconnected, Cause::Expired) => Some(Self::Zombie),
            // A cause that comes twice, or too late, changes nothing.
            _ => None,
        }
    }

    /// Whether the peer has neither ended nor said goodbye: short datagrams can be for it, and no other
    /// peer may take its address.
    pub(crate) const fn is_open(self) -> bool {
        matches!(self, Self::Connecting | Self::Connected)
    }

    /// Whether the peer has not ended yet.
    pub(crate) const fn is_live(self) -> bool {
        matches!(
            self,
            Self::Connecting | Self::Connected | Self::Disconnecting
        )
    }
}

/// A state, with what a peer has in this state alone.
#[derive(Debug)]
pub(super) enum Phase {
    /// Connecting: this host asks a remote host, at one address or at several.
    Attempt {
        handshake: Box<Handshake>,
        /// When the attempt is given up.
        ends: Instant,
    },
    /// Connecting: a remote host asks this one, and has proved that it receives at its address (§2.3).
    Newcomer {
        session: Box<Session>,
        /// True until the application, or the host in its place, has said whether it wants the peer.
        /// Until then the remote host hears nothing (`docs/wire.md`, "Handshake"); after that it has to
        /// prove itself by a datagram of the connection.
        asked: bool,
        /// When the newcomer is given up, or turned away.
        ends: Instant,
    },
    Connected(Connected),
    Disconnecting(Disconnecting),
    Disconnected(Ended),
    Zombie(Ended),
}

/// What stands in a peer's place while its phase moves into the next one.
impl Default for Phase {
    fn default() -> Self {
        Self::Zombie(Ended::default())
    }
}

impl Phase {
    pub(super) const fn state(&self) -> PeerState {
        match self {
            Self::Attempt { .. } | Self::Newcomer { .. } => PeerState::Connecting,
            Self::Connected(_) => PeerState::Connected,
            Self::Disconnecting(_) => PeerState::Disconnecting,
            Self::Disconnected(_) => PeerState::Disconnected,
            Self::Zombie(_) => PeerState::Zombie,
        }
    }

    /// The connection: there as soon as the remote host is known, and until all that had arrived is
    /// read.
    pub(super) fn session(&self) -> Option<&Session> {
        match self {
            Self::Attempt { .. } => None,
            Self::Newcomer { session, .. } => Some(session),
            Self::Connected(connected) => Some(&connected.session),
            Self::Disconnecting(disconnecting) => Some(&disconnecting.session),
            Self::Disconnected(ended) | Self::Zombie(ended) => ended.unread.as_deref(),
        }
    }

    pub(super) fn session_mut(&mut self) -> Option<&mut Session> {
        match self {
            Self::Attempt { .. } => None,
            Self::Newcomer { session, .. } => Some(session),
            Self::Connected(connected) => Some(&mut connected.session),
            Self::Disconnecting(disconnecting) => Some(&mut disconnecting.session),
            Self::Disconnected(ended) | Self::Zombie(ended) => ended.unread.as_deref_mut(),
        }
    }

    /// The random id of the remote host, once it is fixed.
    pub(super) fn remote_nonce(&self) -> Option<u64> {
        if let Self::Disconnected(ended) | Self::Zombie(ended) = self {
            return ended.remote;
        }
        self.session().map(Session::remote_nonce)
    }

    /// What is left of the peer when this cause has ended it.
    pub(super) fn end(self, cause: Cause, now: Instant) -> Self {
        let next = self.state().after(cause);
        let ended = Ended::of(self, now);
        if next == Some(PeerState::Zombie) {
            Self::Zombie(ended)
        } else {
            Self::Disconnected(ended)
        }
    }

    /// When the peer has something to do by itself.
    #[inline]
    pub(super) fn deadline(&self) -> Instant {
        match self {
            Self::Attempt { handshake, ends } => handshake.deadline().min(*ends),
            Self::Newcomer { ends, .. } => *ends,
            Self::Connected(connected) => connected.deadline(),
            Self::Disconnecting(disconnecting) => disconnecting.retry.min(disconnecting.ends),
            Self::Disconnected(ended) | Self::Zombie(ended) => ended.linger,
        }
    }

    /// What that is.
    pub(super) fn timer(&self) -> Timer {
        match self {
            Self::Attempt { .. } | Self::Newcomer { .. } => Timer::Handshake,
            Self::Connected(connected) => connected.timer().1,
            Self::Disconnecting(_) => Timer::Goodbye,
            Self::Disconnected(_) | Self::Zombie(_) => Timer::Deletion,
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::format;

    use super::*;

    /// C10.
    #[test]
    fn figure_01_states_have_exactly_the_arrows_of_the_figure() {
        use PeerState::{Connected, Connecting, Disconnected, Disconnecting, Zombie};
        let states = [Connecting, Connected, Disconnecting, Disconnected, Zombie];
        let causes = [
            Cause::Established,
            Cause::Refused,
            Cause::Cancelled,
            Cause::Close,
            Cause::ClosedByPeer,
            Cause::Replaced,
            Cause::CloseAcknowledged,
            Cause::TimedOut,
            Cause::InternalError,
            Cause::Expired,
        ];
        let mut arrows = BTreeSet::new();
        for state in states {
            for cause in causes {
                if let Some(next) = state.after(cause) {
                    arrows.insert(format!("{state:?} -> {next:?}"));
                }
            }
        }
        let figure = [
            "Connecting -> Connected",
            "Connecting -> Disconnected",
            "Connecting -> Zombie",
            "Connected -> Disconnecting",
            "Connected -> Disconnected",
            "Connected -> Zombie",
            "Disconnecting -> Disconnected",
            "Disconnecting -> Zombie",
            "Disconnected -> Zombie",
        ];
        assert_eq!(arrows, figure.into_iter().map(Into::into).collect());
    }
}
