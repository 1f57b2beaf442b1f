//! §2.2, Figure 1: the five states of a peer and every transition between them. Nothing else
//! changes a state.

/// The state of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PeerState {
    /// The handshake is under way (§2.3).
    Connecting,
    /// Packets can be sent and received (§2.4).
    Connected,
    /// We asked for the end and wait for the acknowledgement (§2.5).
    Disconnecting,
    /// Over. The peer only answers what is left of its connection, so that stray datagrams do no
    /// harm.
    Disconnected,
    /// To be deleted.
    Zombie,
}

/// What moves a peer from one state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A request and an acknowledgement have come (§2.3).
    Established,
    /// The handshake was refused, or the two configurations do not fit.
    Refused,
    /// We gave up before the connection was established (`deviations.md` C12).
    Cancelled,
    /// We want to disconnect, and everything to be flushed is flushed (§2.5).
    Close,
    /// The remote host disconnected.
    ClosedByPeer,
    /// A new connection of the same remote host took its place.
    Replaced,
    /// The remote host acknowledged that we disconnect.
    CloseAcknowledged,
    /// Nothing valid came for too long, or nothing answered.
    TimedOut,
    /// A bug was caught.
    InternalError,
    /// The final timeout of a disconnected peer.
    Expired,
}

impl PeerState {
    /// The arrows of Figure 1. `None`: this cause means nothing in this state.
    pub(crate) const fn after(self, cause: Cause) -> Option<Self> {
        match (self, cause) {
            (Self::Connecting, Cause::Established) => Some(Self::Connected),
            (Self::Connecting, Cause::Refused | Cause::ClosedByPeer) => Some(Self::Disconnected),
            (Self::Connecting, Cause::Cancelled | Cause::TimedOut | Cause::InternalError) => {
                Some(Self::Zombie)
            }
            (Self::Connected, Cause::Close) => Some(Self::Disconnecting),
            (Self::Connected, Cause::ClosedByPeer | Cause::Replaced) => Some(Self::Disconnected),
            (Self::Connected, Cause::TimedOut | Cause::InternalError) => Some(Self::Zombie),
            (
                Self::Disconnecting,
                Cause::CloseAcknowledged | Cause::ClosedByPeer | Cause::Replaced,
            ) => Some(Self::Disconnected),
            (Self::Disconnecting, Cause::TimedOut | Cause::InternalError) => Some(Self::Zombie),
            (Self::Disconnected, Cause::Expired) => Some(Self::Zombie),
            _ => None,
        }
    }

    /// Whether the peer has neither ended nor said goodbye: short datagrams can be for it, and its
    /// address is its own.
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

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::format;

    use super::*;

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
