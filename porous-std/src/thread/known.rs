//! What the game's end knows of a peer, by what it has polled: enough to refuse at once what the host would
//! refuse. Only the host knows whether there is room, and whether the peer has just ended.

use porous_udp::{ChannelId, SendError};

use super::output::{Introduction, Terms};

/// A peer, as far as the game has heard of it.
#[derive(Debug)]
pub(crate) struct Known {
    terms: Terms,
    pub(crate) introduction: Introduction,
    /// Why no packet at all can be sent to the peer, if that is so.
    pub(crate) blocked: Option<SendError>,
}

impl Known {
    fn blocked(error: SendError) -> Self {
        let terms = Terms {
            channels: 0,
            max_packet: 0,
        };
        Self {
            terms,
            introduction: Introduction::default(),
            blocked: Some(error),
        }
    }

    /// The same peer, with what it has said.
    pub(crate) fn with(self, introduction: Introduction) -> Self {
        Self {
            introduction,
            ..self
        }
    }

    /// A peer that is not connected yet.
    pub(crate) fn stranger() -> Self {
        Self::blocked(SendError::NotConnected)
    }

    /// A peer that was connected and has ended, which the game will hear next.
    pub(crate) fn gone() -> Self {
        Self::blocked(SendError::UnknownPeer)
    }

    /// A peer that is connected.
    pub(crate) fn of(terms: Terms) -> Self {
        Self {
            terms,
            introduction: Introduction::default(),
            blocked: None,
        }
    }

    /// True from the peer's connection until its end begins, with room for packets or without.
    pub(crate) const fn is_connected(&self) -> bool {
        matches!(self.blocked, None | Some(SendError::Full))
    }

    /// Checks that a packet of this length in bytes can be sent.
    pub(crate) fn check(&self, channel: ChannelId, length: usize) -> Result<(), SendError> {
        // Before the terms, which a peer that is not connected has not.
        if let Some(error) = self.blocked {
            return Err(error);
        }
        if channel.0 >= self.terms.channels {
            return Err(SendError::UnknownChannel);
        }
        if length > self.terms.max_packet {
            return Err(SendError::TooLarge);
        }
        Ok(())
    }
}
