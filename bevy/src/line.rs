//! A host, and what stands between it and its socket.

use core::fmt;
use core::net::SocketAddr;

use log::error;
use porous_std::{Conditioner, Ecn, Instant, SendError, UdpHost};

/// What a game has put between a host and its socket, say a bad network to test with. Nothing, unless it has.
#[derive(Default)]
pub struct Line(pub(crate) Option<Box<dyn Conditioner + Send + Sync>>);

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.0.as_ref().map_or("free", |_| "conditioned");
        f.write_str(kind)
    }
}

impl Conditioner for Line {
    fn take(&mut self, now: Instant, to: SocketAddr, ecn: Ecn, datagram: &[u8]) -> bool {
        let inner = self.0.as_mut();
        inner.is_some_and(|inner| inner.take(now, to, ecn, datagram))
    }

    fn release(&mut self, now: Instant) -> Option<(SocketAddr, Ecn, Vec<u8>)> {
        self.0.as_mut()?.release(now)
    }

    fn next_release(&self) -> Option<Instant> {
        self.0.as_ref()?.next_release()
    }
}

/// The host of a backend.
pub type Host = UdpHost<Line>;

/// What becomes of a message that was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The connection has ended or is about to: the message is of no more use.
    Gone,
    /// An unreliable message may get lost, here as anywhere.
    Lost,
    /// A reliable message cannot be kept, and without it the worlds differ from here on: the connection has to end.
    /// The number is the [reason](crate::reason).
    Fatal(u32),
}

impl Fate {
    /// What becomes of a message that failed so.
    pub(crate) fn of(error: SendError, is_reliable: bool) -> Self {
        let reason = match error {
            SendError::UnknownPeer | SendError::NotConnected | SendError::Disconnecting => {
                return Self::Gone;
            }
            SendError::Full => crate::reason::TOO_SLOW,
            SendError::TooLarge | SendError::UnknownChannel | _ => {
                error!("a message cannot be sent: {error}");
                crate::reason::UNSENDABLE
            }
        };
        if is_reliable {
            Self::Fatal(reason)
        } else {
            Self::Lost
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reason;

    #[test]
    fn only_a_reliable_message_that_cannot_be_kept_ends_the_connection() {
        for (error, reliable, unreliable) in [
            (SendError::UnknownPeer, Fate::Gone, Fate::Gone),
            (SendError::NotConnected, Fate::Gone, Fate::Gone),
            (SendError::Disconnecting, Fate::Gone, Fate::Gone),
            (SendError::Full, Fate::Fatal(reason::TOO_SLOW), Fate::Lost),
            (
                SendError::TooLarge,
                Fate::Fatal(reason::UNSENDABLE),
                Fate::Lost,
            ),
            (
                SendError::UnknownChannel,
                Fate::Fatal(reason::UNSENDABLE),
                Fate::Lost,
            ),
        ] {
            assert_eq!(Fate::of(error, true), reliable, "{error:?}");
            assert_eq!(Fate::of(error, false), unreliable, "{error:?}");
        }
    }
}
