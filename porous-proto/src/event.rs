//! What the host tells the application and the driver.

use bytes::Bytes;

use crate::frame::{Malformed, Mode, Refusal};
use crate::ids::{ChannelId, PeerId};

/// Something happened that the application wants to know. Events carry no packets: they say that
/// something is there to be pulled, and pulling is the back-pressure.
///
/// A peer has at most one `Request`, then at most one `Connected`, and exactly one `Disconnected`,
/// which is its last event (`deviations.md` C11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<A> {
    /// Somebody wants to connect to this host, which [asks](Listen::Ask): to be answered by
    /// [`accept`](crate::Host::accept) or [`refuse`](crate::Host::refuse) within the configured
    /// [`connect_timeout`](crate::Config::connect_timeout).
    Request {
        /// The peer to be.
        peer: PeerId,
        /// Where it is; this is proved.
        address: A,
    },
    /// The connection is established: packets can be sent (§2.3).
    Connected {
        /// The peer.
        peer: PeerId,
        /// Where it is.
        address: A,
    },
    /// Packets can be [received](crate::Host::receive). Comes once until the peer was read empty, and
    /// not again while it waits to be [polled](crate::Host::poll_event).
    Readable {
        /// The peer.
        peer: PeerId,
    },
    /// A [`send`](crate::Host::send) failed with `Full`, and there is room again for such a packet:
    /// on this channel, unreliable as it was or not, and no longer. Half of what such packets
    /// [may take](crate::Config::send_budget) is free. Others that failed may fail again, and are then
    /// told of later. Comes not again while it waits to be polled.
    Writable {
        /// The peer.
        peer: PeerId,
    },
    /// What became of a packet that was sent with a [receipt](crate::SendOptions::receipt). Each such
    /// packet has at least one, at the latest right before `Disconnected`. Another one follows where
    /// that proves wrong: the last one is right, see [`Outcome`].
    Receipt {
        /// The peer that it was sent to.
        peer: PeerId,
        /// What it was sent with.
        token: u64,
        /// What became of it.
        outcome: Outcome,
    },
    /// The peer's host has another address: its network, or the router in front of it, has changed.
    /// Only with [`Config::roaming`](crate::Config::roaming). Everything goes on as before; comes
    /// not again while it waits to be polled.
    PeerMoved {
        /// The peer.
        peer: PeerId,
        /// Where it was.
        from: A,
        /// Where it is; this is proved.
        to: A,
    },
    /// The path to the peer carries only shorter datagrams than were used so far: a route has changed,
    /// or a tunnel is on the way. What was too long is sent again in fragments, and everything goes on;
    /// [`Peer::max_unfragmented`](crate::Peer::max_unfragmented) is less now. Longer datagrams are
    /// tried again a minute later. It comes when three probes of the longer size got lost, one after
    /// the other, and shorter datagrams did not; of a path that carries less than 512 bytes
    /// [`DisconnectReason::PathTooNarrow`] tells. Comes not again while it waits to be polled.
    PathNarrowed {
        /// The peer.
        peer: PeerId,
        /// The most bytes that datagrams to it have now: 512, or what connections begin with
        /// ([`Config::max_datagram`](crate::Config::max_datagram)).
        bytes: u16,
    },
    /// The machine that has this address says that nobody is bound to its port (ICMP "port
    /// unreachable"), while we connect to it: the server does not run yet, or runs at another port.
    /// For information: it may be forged, or be wrong a moment later, and so the attempt goes on. It
    /// comes once of an address and attempt, and only where the system tells the driver: see
    /// [`Host::handle_port_closed`](crate::Host::handle_port_closed).
    PortClosed {
        /// The peer to be.
        peer: PeerId,
        /// Where nobody is.
        address: A,
    },
    /// The peer has ended, or never came to be. Packets that had arrived can still be received.
    Disconnected {
        /// The peer.
        peer: PeerId,
        /// Why.
        reason: DisconnectReason,
        /// Reliable and passive packets that were accepted by `send` and not acknowledged.
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
/// | all of it came, too late for its order | never | `Skipped` | `Skipped` |
/// | all of it came, and had to make room for others | never | never | `Skipped` |
/// | went on before all of it had come | never | `Lost` | `Lost` |
/// | did not get all of it before its time to live was over | `Expired` | `Expired` | `Expired` if some of it had not been sent by then, else `Lost` |
/// | did not get all of it before it was cancelled, or a newer one with its key had left | `Cancelled` | `Cancelled` | `Cancelled` if some of it had not been sent by then, else `Lost` |
///
/// What "gave it to its application" needs is that the application [receives](crate::Host::receive) it.
/// On an [unordered](crate::Channel::unordered) channel nothing comes too late for its order, as long
/// as the receiver waits for it at all (`docs/wire.md`, "Order").
///
/// The first word comes early: `Delivered` when the last of it is acknowledged, the others as soon as
/// the sender gives it up. The receiver's word follows, within half a second and a round trip of when
/// it has passed the packet. If that is another one, it is a second event. What had to make room is
/// passed when a later packet of its channel is received. At the end of the connection packets without
/// a word are `Lost`, and words that were told and not confirmed stay as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// The remote application gets it, or has got it: all of it has arrived in time.
    Delivered,
    /// All of it has arrived, and the remote application never gets it: a later packet of its channel
    /// was received first (see [`Mode`]), or it had to make room for others in the receive
    /// budget. A packet on a channel of its own, or on one that is
    /// [unordered](crate::Channel::unordered) for the receiver, is not overtaken.
    Skipped,
    /// It is not sent again and will not arrive, as far as we know; or the connection has ended.
    Lost,
    /// Its [time to live](crate::SendOptions::ttl), or
    /// [`Config::unreliable_age`](crate::Config::unreliable_age), was over before it arrived.
    Expired,
    /// It was [cancelled](crate::Host::cancel), or [replaced](crate::SendOptions::key).
    Cancelled,
}

/// Every way in which a peer can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DisconnectReason {
    /// The remote application disconnected, with this reason.
    ByPeer(u32),
    /// We disconnected, with this reason, and the remote host knows.
    ByUs(u32),
    /// We disconnected, and nobody acknowledged that within
    /// [`Config::disconnect_timeout`](crate::Config::disconnect_timeout): whether the remote host
    /// knows is not known. Most likely it was gone already.
    GoodbyeUnanswered,
    /// Nothing at all came from where we connected to, within
    /// [`Config::connect_timeout`](crate::Config::connect_timeout): nobody is there or listens
    /// ([`Listen::Closed`] is silence), or what is in between lets nothing through. The same is said of
    /// a peer that was let in and never said anything of its new connection.
    NeverAnswered,
    /// The remote host that we connected to was heard, but neither let us in nor refused us within
    /// [`Config::connect_timeout`](crate::Config::connect_timeout): its application was asked
    /// ([`Listen::Ask`]) and says nothing, or too much gets lost. The same is said of an
    /// [`Event::Request`] that our own application left without an answer.
    Unfinished,
    /// We were connected, and nothing valid came for the
    /// [`Config::timeout`](crate::Config::timeout): the remote host or the path to it is gone.
    Silent,
    /// We were connected, the remote host said that it does not have this connection (any more), and
    /// nothing valid came after that: its program was started again, or it gave us up earlier than
    /// we it. Connecting again makes sense at once.
    LostByPeer,
    /// We were connected, and the path carries no datagrams of 512 bytes any more, although shorter
    /// ones arrive (`docs/deviations.md` D16): three probes of that size got lost, after four datagrams
    /// with more than 256 bytes.
    PathTooNarrow,
    /// The remote host refused the connection; or we refused it, with `Refusal::Application`.
    Refused(Refusal),
    /// The remote host came back from the same address with a new connection.
    Restarted,
    /// The system cannot send to any of the addresses that were tried: there is no way to them, or
    /// it does not allow it.
    Unreachable,
    /// A bug in porous was caught and contained: please report it.
    InternalError,
}

/// How to [disconnect](crate::Host::disconnect) (§2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disconnect {
    /// Deliver first what was sent: at most for `deadline`, then disconnect anyway.
    Flush {
        /// Travels with the disconnection request.
        reason: u32,
        /// How long delivery may take.
        deadline: core::time::Duration,
    },
    /// At once: what is queued or unacknowledged is lost.
    Now {
        /// Travels with the disconnection request.
        reason: u32,
    },
}

/// A packet that was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The channel that it was sent on.
    pub channel: ChannelId,
    /// The mode that it was sent with.
    pub mode: Mode,
    /// Its bytes.
    pub payload: Bytes,
}

/// Whether a host answers strangers (§2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Listen {
    /// No request is answered, unless it comes from where we [connect](crate::Host::connect) to.
    /// A sender that goes on with a connection that is not here still gets a reset.
    #[default]
    Closed,
    /// Everyone may connect, up to the configured number of peers.
    Open,
    /// As `Open`, but the application decides about each: see [`Event::Request`]. A peer that waits for
    /// an answer counts as a peer.
    Ask,
    /// Everyone is refused as [`Full`](Refusal::Full) at once, whatever room there is: a server that
    /// is about to go says so, and clients need not wait for a timeout. Peers stay, and so does who
    /// has asked before and waits for an answer. Such refusals cost no state, and count against
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

/// A datagram to be sent, in the buffer that the caller lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit<'b, A> {
    /// Where to.
    pub to: A,
    /// The ECN bits that it should carry: `NotEct`, or `Ect0` with [`Config::ecn`](crate::Config::ecn).
    pub ecn: Ecn,
    /// It must arrive whole or not at all (DF in the IP header, RFC 8899 §3): it is larger than
    /// what every path carries, see
    /// [`Config::path_mtu_discovery`](crate::Config::path_mtu_discovery).
    pub dont_fragment: bool,
    /// It answers a sender that is no peer, and may have been asked for in the name of an address that
    /// nobody has. If the system keeps datagrams that it cannot deliver, those must not take the room
    /// of datagrams to peers: better lose it (`docs/own-socket.md`).
    pub to_stranger: bool,
    /// The UDP payload.
    pub datagram: &'b [u8],
}

/// What became of a datagram. Not a `Result`: a stranger's bytes are no error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// It belonged to this peer and was taken.
    Handled(PeerId),
    /// It created this peer.
    Accepted(PeerId),
    /// It changed nothing, or only produced a stateless reply.
    Ignored(Ignored),
}

/// Why a datagram was ignored. Each cause has a counter in
/// [`HostStats`](crate::HostStats::ignored).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ignored {
    /// It is no valid datagram of the protocol.
    Malformed(Malformed),
    /// A short datagram with a connection id that no peer here has, answered by a reset; or a
    /// reset of a connection that is not here.
    UnknownConnection,
    /// A known connection id from another address, without [`Config::roaming`](crate::Config::roaming).
    WrongAddress,
    /// A handshake or disconnection whose nonces belong to nobody here.
    UnknownNonce,
    /// A request to a host that does not listen.
    NotListening,
    /// A request without the padding that proves it cannot be used to amplify.
    Unpadded,
    /// A proper request that was answered without keeping state (a cookie, a refusal).
    Stateless,
    /// What would have been answered, had there not been too many answers: see
    /// [`reply_limits`](crate::Config::reply_limits).
    TooManyReplies,
    /// A frame whose id came before. It is acknowledged again; what is new in it is taken all the
    /// same, and in a true duplicate nothing is.
    Duplicate,
    /// A frame too old to be told from a duplicate.
    TooOld,
    /// Acknowledges what was never sent.
    BadAck,
    /// Names a channel, packet or window that the connection cannot have.
    BadMessage,
    /// It would exceed the receive budget.
    OverBudget,
    /// The peer is in a state that has no use for it.
    WrongState,
    /// A frame so far ahead of all others that it is taken only if another one comes from there.
    TooFarAhead,
    /// The peer has made us work more than its bytes are worth for too long: by empty packets, or by
    /// packets far ahead on many channels. Beyond a message for each 8 bytes, 50,000 a second are
    /// taken, and as many once. What is refused counts as lost for its sender, which slows down.
    TooMuchWork,
}

impl Ignored {
    /// The number of causes.
    pub(crate) const COUNT: usize = 16;

    /// The number of this cause, from 1 on, for a foreign interface and for logs. It stays the same
    /// in all versions: new causes get new numbers. All malformed datagrams have the same.
    ///
    /// ```
    /// assert_eq!(porous_proto::Ignored::UnknownConnection.number(), 2);
    /// ```
    #[must_use]
    pub const fn number(self) -> u8 {
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
        }
    }

    /// The position of this cause's counter.
    pub(crate) const fn index(self) -> usize {
        self.number() as usize - 1
    }
}
