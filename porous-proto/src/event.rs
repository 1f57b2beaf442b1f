//! What the host tells the application and the driver.

use bytes::Bytes;

use crate::frame::{Malformed, Mode, Refusal};
use crate::ids::{ChannelId, PeerId};

/// What happened at a peer. Events carry no packets: they say that something is there to be pulled, so
/// that an application that pulls slowly slows the remote host down.
///
/// A peer has at most one `Request`, then at most one `Connected`, and exactly one `Disconnected`,
/// which is its last event (`deviations.md` C11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<A> {
    /// A remote host wants to connect to this one, which [asks](Listen::Ask) its application: answer by
    /// [`accept`](crate::Host::accept) or [`refuse`](crate::Host::refuse) within the configured
    /// [`connect_timeout`](crate::Config::connect_timeout).
    Request {
        /// The peer to be.
        peer: PeerId,
        /// The address of the remote host, which has proved to be there.
        address: A,
    },
    /// The connection is established, and packets can be sent (§2.3).
    Connected {
        /// The peer.
        peer: PeerId,
        /// The address of the remote host.
        address: A,
    },
    /// Packets can be [received](crate::Host::receive). The event comes once until the peer was read
    /// empty, and not again while it waits to be [polled](crate::Host::poll_event).
    Readable {
        /// The peer.
        peer: PeerId,
    },
    /// A [`send`](crate::Host::send) failed with [`Full`](crate::SendError::Full), and there is room again
    /// for a packet like that one: on its channel, unreliable or not as it was, and no longer. Half of
    /// what such packets [may take](crate::Config::send_budget) is free. Other packets that were refused
    /// may be refused again: another event follows for them. The event does not come again while it waits
    /// to be polled.
    Writable {
        /// The peer.
        peer: PeerId,
    },
    /// What became of a packet that was sent with a [receipt](crate::SendOptions::receipt). Each such
    /// packet has at least one of these events, at the latest right before `Disconnected`. Where the
    /// first one proves wrong a second one follows, and is right: see [`Outcome`].
    Receipt {
        /// The peer that the packet was sent to.
        peer: PeerId,
        /// The token of the packet's receipt.
        token: u64,
        /// What became of the packet.
        outcome: Outcome,
    },
    /// The remote host of the peer has another address: its network, or its router, has changed. Only of a
    /// peer that is followed: see [`Config::roaming`](crate::Config::roaming). Everything goes on as before. The
    /// event does not come again while it waits to be polled.
    PeerMoved {
        /// The peer.
        peer: PeerId,
        /// The address before.
        from: A,
        /// The address now, at which the remote host has proved to be.
        to: A,
    },
    /// The path to the peer carries only shorter datagrams than were used so far: a route has changed,
    /// or a tunnel is on the way. What was too long is sent again in fragments, and everything goes on;
    /// [`Peer::max_unfragmented`](crate::Peer::max_unfragmented) is less now. Longer datagrams are
    /// tried again a minute later. The event comes when three probes of the longer size got lost in a
    /// row, and shorter datagrams did not. If the path carries less than 512 bytes, the connection ends
    /// as [`DisconnectReason::PathTooNarrow`]. The event does not come again while it waits to be polled.
    PathNarrowed {
        /// The peer.
        peer: PeerId,
        /// The length of the longest datagram to the peer now, in bytes: 512, or what connections begin
        /// with ([`Config::max_datagram`](crate::Config::max_datagram)).
        bytes: u16,
    },
    /// The machine at this address says that nothing is bound to the port (ICMP "port unreachable"), while
    /// this host connects to it: the server does not run yet, or runs at another port. The attempt goes
    /// on, as the message can be forged, or be wrong a moment later. The event comes once for each
    /// address of an attempt, and only where the system tells the driver: see
    /// [`Host::handle_port_closed`](crate::Host::handle_port_closed).
    PortClosed {
        /// The peer to be.
        peer: PeerId,
        /// The address whose port is closed.
        address: A,
    },
    /// The peer has ended, or never came to be. Packets that had arrived can still be received.
    Disconnected {
        /// The peer.
        peer: PeerId,
        /// Why the peer has ended.
        reason: DisconnectReason,
        /// The number of reliable and passive packets that `send` accepted and that were not acknowledged.
        undelivered: u32,
    },
}

/// What became of a packet: see [`Event::Receipt`].
///
/// The last word of a packet, by what its receiver did and by its [mode](crate::Mode), in any
/// [order](crate::Order), with and without [copies](crate::SendOptions::redundancy):
///
/// | | reliable | passive | unreliable |
/// |---|---|---|---|
/// | gave it to its application | `Delivered` | `Delivered` | `Delivered` |
/// | all of it came, too late for its order | `Skipped` with a [key](crate::SendOptions::key), else never | `Skipped` | `Skipped` |
/// | all of it came, and had to make room for others | never | never | `Skipped` |
/// | went on before all of it had come | never | `Lost` | `Lost` |
/// | did not get all of it before its time to live was over | `Expired` | `Expired` | `Expired` if some of it had not been sent by then, else `Lost` |
/// | did not get all of it before it was cancelled, or a newer one with its key had left | `Cancelled` | `Cancelled` | `Cancelled` if some of it had not been sent by then, else `Lost` |
///
/// A packet is given to its application when that [receives](crate::Host::receive) it. On an
/// [unordered](crate::Channel::unordered) channel no packet comes too late for its order, as long as the
/// receiver waits for it at all (`docs/wire.md`, "Order").
///
/// The first word comes early: `Delivered` when the last part of the packet is acknowledged, any other
/// word as soon as the sender gives the packet up. The receiver's word follows, within half a second and
/// a round trip of when it has passed the packet. If the two differ, there is a second event. The
/// receiver passes a packet that had to make room when a later one of its channel is received. At the
/// end of the connection packets without a word are `Lost`, and words that were not confirmed stay as
/// they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// The remote application gets the packet, or has got it: all of it has arrived in time.
    Delivered,
    /// All of the packet has arrived, and the remote application never gets it: a later packet of its
    /// channel was received first (see [`Mode`]), or it had to make room for others in the receive
    /// budget. A packet on a channel of its own, or on one that is
    /// [unordered](crate::Channel::unordered) for the receiver, is not overtaken.
    Skipped,
    /// The packet is not sent again, and will not arrive as far as this host knows; or the connection has
    /// ended.
    Lost,
    /// The packet's [time to live](crate::SendOptions::ttl), or
    /// [`Config::unreliable_age`](crate::Config::unreliable_age), was over before the packet arrived, or it
    /// gave way to newer ones, as told there.
    Expired,
    /// The packet was [cancelled](crate::Host::cancel), or [replaced](crate::SendOptions::key).
    Cancelled,
}

/// Why a peer has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DisconnectReason {
    /// The remote application disconnected, with this reason.
    ByPeer(u32),
    /// This host disconnected, with this reason, and the remote host knows.
    ByUs(u32),
    /// This host disconnected, and no acknowledgement came within
    /// [`Config::disconnect_timeout`](crate::Config::disconnect_timeout): the remote host may not know.
    /// Most likely it was gone already.
    GoodbyeUnanswered,
    /// This host connected, and nothing at all came within
    /// [`Config::connect_timeout`](crate::Config::connect_timeout): no host is at the address or listens
    /// ([`Listen::Closed`] is silence), or something on the way lets nothing through. Also the reason of
    /// a peer that was let in and then sent nothing on its new connection.
    NeverAnswered,
    /// This host connected, and the remote host was heard but neither accepted nor refused within
    /// [`Config::connect_timeout`](crate::Config::connect_timeout): its application was asked
    /// ([`Listen::Ask`]) and says nothing, or too much gets lost. Also the reason of an
    /// [`Event::Request`] that our own application left without an answer.
    Unfinished,
    /// The peer was connected, and nothing valid came for the
    /// [`Config::timeout`](crate::Config::timeout): the remote host or the path to it is gone. Also the reason
    /// of a sealed connection whose remote host has acknowledged none of 2^23 frames that one key had sealed.
    Silent,
    /// The peer was connected, the remote host said that it does not have this connection (any more), and
    /// nothing valid came after that: its program was started again, or it gave this host up earlier
    /// than this host did. It makes sense to connect again at once.
    LostByPeer,
    /// The peer was connected, and the path no longer carries datagrams of 512 bytes, although shorter
    /// ones arrive: twelve probes of that size got lost, after four datagrams with more than 256 bytes
    /// (`docs/deviations.md` D16).
    PathTooNarrow,
    /// The remote host refused the connection; or this host did, with [`Refusal::Application`].
    Refused(Refusal),
    /// The remote host came back from the same address with a new connection, or a client with the same token's
    /// client id has a new one, from anywhere.
    Restarted,
    /// The system cannot send to any of the addresses that were tried: it has no route there, or does
    /// not allow it.
    Unreachable,
    /// The connection was sealed, and 2^36 datagrams came that were not of the remote host: more would make
    /// it likely that one is taken (RFC 9001 §6.6). It makes sense to connect again.
    TooManyForgeries,
    /// A bug in porous was caught and contained: please report it.
    InternalError,
}

/// How to [disconnect](crate::Host::disconnect) (§2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disconnect {
    /// When everything that was sent has been delivered, or `deadline` has passed.
    Flush {
        /// A number of the application's, which the remote application gets as
        /// [`ByPeer`](DisconnectReason::ByPeer).
        reason: u32,
        /// The longest time that delivery may take.
        deadline: core::time::Duration,
    },
    /// At once: packets that are queued or not acknowledged are lost.
    Now {
        /// A number of the application's, which the remote application gets as
        /// [`ByPeer`](DisconnectReason::ByPeer).
        reason: u32,
    },
}

/// A packet that was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The channel that the packet was sent on.
    pub channel: ChannelId,
    /// The mode that the packet was sent with.
    pub mode: Mode,
    /// The bytes of the packet, in memory of the host, which it uses again once the last handle to them is
    /// dropped. They may be kept for as long as they are needed, also when the host is gone. `Vec::from` copies
    /// them.
    pub payload: Bytes,
}

/// Whether a host answers requests of strangers (§2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Listen {
    /// No request is answered, unless it comes from an address that this host
    /// [connects](crate::Host::connect) to. Datagrams of a connection that is not here still get a reset.
    #[default]
    Closed,
    /// Every host may connect, up to [`Config::max_peers`](crate::Config::max_peers).
    Open,
    /// As `Open`, but the application decides about each peer: see [`Event::Request`]. A peer that waits
    /// for an answer counts as a peer.
    Ask,
    /// Every request is refused as [`Full`](Refusal::Full) at once, whatever room there is: a server that
    /// is about to stop says so, and clients need not wait for a timeout. Peers stay, also those that
    /// asked before and wait for an answer. Such refusals cost no state, and count against
    /// [`reply_limits`](crate::Config::reply_limits).
    Full,
}

/// The explicit congestion notification bits of a datagram's IP header (RFC 3168 §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Ecn {
    /// 00: the sender does not take part.
    #[default]
    NotEct,
    /// 10: ECN-capable transport, ECT(0).
    Ect0,
    /// 01: ECN-capable transport, ECT(1).
    Ect1,
    /// 11: congestion was experienced.
    Ce,
}

/// A datagram to be sent, in the caller's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit<'b, A> {
    /// The address to send it to.
    pub to: A,
    /// The ECN bits for its IP header: `NotEct`, or `Ect0` with [`Config::ecn`](crate::Config::ecn).
    pub ecn: Ecn,
    /// True if the datagram must arrive whole or not at all, as it is larger than what every path
    /// carries: see [`Config::path_mtu_discovery`](crate::Config::path_mtu_discovery). DF in the IP
    /// header (RFC 8899 §3).
    pub dont_fragment: bool,
    /// True if the datagram answers a sender that is no peer, which may have forged an address that no
    /// host has. If the system keeps datagrams that it cannot deliver, such answers must not take the
    /// room of datagrams to peers: a driver had better lose them (`docs/own-socket.md`).
    pub to_stranger: bool,
    /// The UDP payload.
    pub datagram: &'b [u8],
}

/// What became of a datagram that came. No `Result`: what a stranger sends is no error of the caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// The datagram was for this peer, and was taken.
    Handled(PeerId),
    /// The datagram has made this peer.
    Accepted(PeerId),
    /// The datagram changed nothing, or only brought about an answer that keeps no state.
    Ignored(Ignored),
}

/// Why a datagram was ignored. Each cause has a counter in
/// [`HostStats`](crate::HostStats::ignored).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ignored {
    /// No valid datagram of the protocol.
    Malformed(Malformed),
    /// A short datagram with a connection id that no peer here has, answered by a reset; or a
    /// reset of a connection that is not here.
    UnknownConnection,
    /// A known connection id from another address, of a peer that is not followed: see
    /// [`Config::roaming`](crate::Config::roaming).
    WrongAddress,
    /// A form of a handshake or a disconnection whose nonces belong to no peer here.
    UnknownNonce,
    /// A request to a host that does not listen.
    NotListening,
    /// A request that is shorter than [`request_size`](crate::Config::request_size): an answer could be
    /// used to amplify.
    Unpadded,
    /// A proper request that was answered without keeping state, by a cookie or a refusal.
    Stateless,
    /// A datagram that was not answered because there were too many answers: see
    /// [`reply_limits`](crate::Config::reply_limits). Or a request for a sealed connection when this host has
    /// agreed on keys too often in the last second.
    TooManyReplies,
    /// A frame whose id came before. It is acknowledged again, and messages in it that are new are taken;
    /// in a true duplicate there are none.
    Duplicate,
    /// A frame too old to be told from a duplicate.
    TooOld,
    /// A frame that acknowledges what was never sent, or cannot have arrived.
    BadAck,
    /// A frame that names a channel, packet or window that the connection cannot have.
    BadMessage,
    /// A frame whose packets would exceed a [receive budget](crate::Config::receive_budget), the peer's
    /// or [that of the host](crate::Config::host_receive_budget).
    OverBudget,
    /// A datagram that the peer has no use for in its state.
    WrongState,
    /// A frame so far ahead of all others that it is taken only if a second one comes from near it.
    TooFarAhead,
    /// A frame of a peer that has made this host work more than its bytes pay for, for too long: by empty
    /// packets, or by packets far ahead on many channels. Bytes pay for a message each 8; beyond that,
    /// 50,000 messages a second are taken, and as many once. To its sender the frame counts as lost, so
    /// that it slows down.
    TooMuchWork,
    /// A datagram of a connection that is sealed, or is to be, which was not sealed by the remote host:
    /// it is forged, damaged, or far too late.
    Unauthenticated,
}

impl Ignored {
    /// Each cause, in the order of the [numbers](Self::number). One of the malformed datagrams stands for all of them.
    pub const ALL: &'static [Self] = &[
        Self::Malformed(Malformed::Truncated),
        Self::UnknownConnection,
        Self::WrongAddress,
        Self::UnknownNonce,
        Self::NotListening,
        Self::Unpadded,
        Self::Stateless,
        Self::TooManyReplies,
        Self::Duplicate,
        Self::TooOld,
        Self::BadAck,
        Self::BadMessage,
        Self::OverBudget,
        Self::WrongState,
        Self::TooFarAhead,
        Self::TooMuchWork,
        Self::Unauthenticated,
    ];

    /// The number of causes.
    pub(crate) const COUNT: usize = Self::ALL.len();

    /// The names of the causes for machines, in the same order.
    pub(crate) const NAMES: [&'static str; Self::COUNT] = [
        "malformed",
        "unknown_connection",
        "wrong_address",
        "unknown_nonce",
        "not_listening",
        "unpadded",
        "stateless",
        "too_many_replies",
        "duplicate",
        "too_old",
        "bad_ack",
        "bad_message",
        "over_budget",
        "wrong_state",
        "too_far_ahead",
        "too_much_work",
        "unauthenticated",
    ];

    /// The number of this cause, from 1 on, for a foreign interface and for logs. It stays the same
    /// in all versions: new causes get new numbers. All malformed datagrams have number 1.
    ///
    /// ```
    /// assert_eq!(porous_proto::Ignored::UnknownConnection.number(), 2);
    /// ```
    #[must_use]
    pub const fn number(self) -> u8 {
        // Frozen: counters and foreign interfaces go by them.
        match self {
            Self::Malformed(_) => 1,
            Self::UnknownConnection => 2,
            Self::WrongAddress => 3,
            Self::UnknownNonce => 4,
            Self::NotListening => 5,
            Self::Unpadded => 6,
            Self::Stateless => 7,
            Self::TooManyReplies => 8,
            Self::Duplicate => 9,
            Self::TooOld => 10,
            Self::BadAck => 11,
            Self::BadMessage => 12,
            Self::OverBudget => 13,
            Self::WrongState => 14,
            Self::TooFarAhead => 15,
            Self::TooMuchWork => 16,
            Self::Unauthenticated => 17,
        }
    }

    /// The position of this cause's counter.
    pub(crate) const fn index(self) -> usize {
        self.number() as usize - 1
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;

    use super::*;

    /// A cause as machines have it: `TooOld` is `too_old`.
    fn snake(cause: Ignored) -> String {
        let mut out = String::new();
        for c in format!("{cause:?}")
            .chars()
            .take_while(|c| c.is_alphabetic())
        {
            if c.is_uppercase() && !out.is_empty() {
                out.push('_');
            }
            out.extend(c.to_lowercase());
        }
        out
    }

    #[test]
    fn every_cause_has_its_name() {
        for (cause, name) in Ignored::ALL.iter().zip(Ignored::NAMES) {
            assert_eq!(name, snake(*cause));
            assert_eq!(Ignored::NAMES[cause.index()], name);
        }
    }
}
