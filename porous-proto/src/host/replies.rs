//! Datagrams to hosts that are no peers: cookies, refusals, resets. One for each datagram at most,
//! none of them repeated, none longer than a third of a request (`docs/wire.md`, "Handshake"), or,
//! of a reset, than what it answers.

use alloc::collections::VecDeque;

use crate::canary::{Bug, strikes};
use crate::event::Refusal;
use crate::frame::{Connect, ConnectionId, Disconnect, DisconnectAck, Offer, Refuse, Reset};
use crate::wire::NoRoom;

/// How many replies may wait to be sent (told in `Config`), if so many may go out at once. A driver
/// that sends after each batch of datagrams hardly ever gets there.
const WAITING_MAX: u32 = 1024;

/// A reply.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reply {
    /// The second request of the handshake: our random id is a cookie (§2.3).
    Cookie {
        cookie: u64,
        nonce_peer: u64,
    },
    Refuse {
        nonce_peer: u64,
        refusal: Refusal,
    },
    /// We have no such connection.
    Reset {
        connection_id: ConnectionId,
    },
    /// We gave up connecting.
    Disconnect {
        nonce_self: u64,
        nonce_peer: u64,
        reason: u32,
    },
    /// Somebody has given up with whom we go on connecting elsewhere.
    DisconnectAck {
        nonce_self: u64,
        nonce_peer: u64,
    },
}

impl Reply {
    /// The bytes of the longest reply: a request with a cookie, or a refusal with all its data.
    pub(super) fn longest(offer: &Offer) -> usize {
        let cookie = Connect {
            cookie: true,
            nonce_self: 1,
            nonce_peer: 1,
            connection_id: ConnectionId::EMPTY,
            offer: offer.clone(),
        };
        cookie.encoded_length(&[]).max(Refuse::LONGEST)
    }

    fn encode(&self, offer: &Offer, buf: &mut [u8]) -> Result<usize, NoRoom> {
        match *self {
            Self::Cookie { cookie, nonce_peer } => Connect {
                cookie: true,
                nonce_self: cookie,
                nonce_peer,
                connection_id: ConnectionId::EMPTY,
                offer: offer.clone(),
            }
            .encode_request(&[], buf),
            Self::Refuse {
                nonce_peer,
                refusal,
            } => Refuse::new(nonce_peer, refusal).encode(buf),
            Self::Reset { connection_id } => Reset { connection_id }.encode(buf),
            Self::Disconnect {
                nonce_self,
                nonce_peer,
                reason,
            } => Disconnect {
                nonce_self,
                nonce_peer,
                reason,
            }
            .encode(buf),
            Self::DisconnectAck {
                nonce_self,
                nonce_peer,
            } => DisconnectAck {
                nonce_self,
                nonce_peer,
            }
            .encode(buf),
        }
    }
}

/// The replies that wait.
#[derive(Debug)]
pub(crate) struct Replies<A> {
    waiting: VecDeque<(A, Reply)>,
    /// How many may wait.
    most: u32,
}

impl<A: Copy> Replies<A> {
    /// Of which so many may go out at once.
    pub(crate) fn new(burst: u32) -> Self {
        Self {
            waiting: VecDeque::new(),
            most: burst.clamp(1, WAITING_MAX),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// How many wait.
    #[cfg(any(test, feature = "audit"))]
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// False if too many wait: the reply is dropped, and whoever wants it will ask again.
    pub(crate) fn push(&mut self, to: A, reply: Reply) -> bool {
        let room = self.waiting.len() < self.most as usize;
        if room {
            self.waiting.push_back((to, reply));
            if strikes(Bug::AnswersTwice) {
                self.waiting.push_back((to, reply));
            }
        }
        room
    }

    /// Writes the next reply: where to, and its length.
    pub(crate) fn poll_transmit(&mut self, offer: &Offer, buf: &mut [u8]) -> Option<(A, usize)> {
        let (to, reply) = self.waiting.pop_front()?;
        let len = reply.encode(offer, buf);
        debug_assert!(len.is_ok(), "a reply fits into any legal buffer");
        Some((to, len.ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_replies_wait() {
        let mut replies = Replies::new(5000);
        let reply = Reply::Reset {
            connection_id: ConnectionId::new(&[7; 4]).unwrap(),
        };
        for n in 0..1024 {
            assert!(replies.push(n, reply), "{n}");
        }
        assert!(!replies.push(1024, reply));
        let (mut buf, offer) = ([0; 1200], crate::Config::new().offer());
        assert_eq!(replies.poll_transmit(&offer, &mut buf), Some((0, 5)));
        assert!(replies.push(1024, reply));
        assert!(!replies.push(0, reply));
        let sent = core::iter::from_fn(|| replies.poll_transmit(&offer, &mut buf)).count();
        assert_eq!((sent, replies.is_empty()), (1024, true));
    }

    #[test]
    fn no_more_replies_wait_than_may_go_out_at_once() {
        let reply = Reply::Refuse {
            nonce_peer: 7,
            refusal: Refusal::Full,
        };
        for (burst, most) in [(0, 1), (1, 1), (25, 25), (1025, 1024)] {
            let mut replies = Replies::new(burst);
            let taken = (0..2000).filter(|&n| replies.push(n, reply)).count();
            assert_eq!(taken, most, "{burst}");
        }
    }
}
