//! What goes between the two threads: commands one way, outputs the other.

use core::fmt;
use core::net::SocketAddr;
use std::io;

#[cfg(feature = "seal")]
use porous_udp::seal::Secured;
use porous_udp::{
    AnswerError, ChannelId, Command, ConnectError, ConnectionIdsError, Disconnect, Event,
    HostStats, ListenError, Outgoing, Peer, PeerId, PeerState, PeerStats, ReceiveProgress,
    Received, SendError, SendProgress, SocketStats, SuffixError,
};

use super::queue::{Weigh, weight};

/// What the network thread tells the game: [`HostThread::poll`](crate::HostThread::poll).
#[derive(Debug)]
#[non_exhaustive]
pub enum Output {
    /// An event of the host, but never [`Event::Readable`]: the thread receives packets by itself, and
    /// tells each as [`Output::Packet`].
    Event(Event<SocketAddr>),
    /// A packet has come from a peer, after its [`Event::Connected`] and before its
    /// [`Event::Disconnected`].
    Packet {
        /// The sender.
        peer: PeerId,
        /// The packet.
        packet: Received,
    },
    /// [`connect`](crate::HostThread::connect) has begun.
    Connecting {
        /// The peer, which is not connected yet.
        peer: PeerId,
        /// The address that was given; of several, the first.
        address: SocketAddr,
    },
    /// [`connect`](crate::HostThread::connect) was refused.
    NotConnecting {
        /// The address that was given; of several, the first, and of none `0.0.0.0:0`.
        address: SocketAddr,
        /// The reason.
        error: ConnectError,
    },
    /// [`listen`](crate::HostThread::listen) was refused.
    NotListening(ListenError),
    /// [`set_suffix`](crate::HostThread::set_suffix) was refused.
    NotSuffixed {
        /// The address that was given.
        to: SocketAddr,
        /// The reason.
        error: SuffixError,
    },
    /// [`set_connection_ids`](crate::HostThread::set_connection_ids) was refused: the ids of new connections
    /// are made as before.
    IdsUnchanged(ConnectionIdsError),
    /// [`accept`](crate::HostThread::accept) or [`refuse`](crate::HostThread::refuse) came too
    /// late, or twice.
    NotAnswered {
        /// The peer that had asked.
        peer: PeerId,
        /// The reason.
        error: AnswerError,
    },
    /// A packet that [`send`](crate::HostThread::send) took could not be sent and comes back.
    Unsent(Unsent),
    /// The answer to [`ask_stats`](crate::HostThread::ask_stats).
    Stats {
        /// The counters of the host.
        host: Box<HostStats>,
        /// The counters of its socket.
        socket: SocketStats,
    },
    /// The answer to [`ask_peer_stats`](crate::HostThread::ask_peer_stats).
    PeerStats {
        /// The peer that was asked for.
        peer: PeerId,
        /// `None` if the host has no such peer any more.
        stats: Option<Box<PeerStats>>,
    },
    /// The answer to [`ask_send_progress`](crate::HostThread::ask_send_progress).
    SendProgress {
        /// The receiver of the packet.
        peer: PeerId,
        /// The channel of the packet.
        channel: ChannelId,
        /// The token of the packet's receipt.
        receipt: u64,
        /// `None` if the fate of the packet is known, or there is no such packet.
        progress: Option<SendProgress>,
    },
    /// The answer to [`ask_receive_progress`](crate::HostThread::ask_receive_progress).
    ReceiveProgress {
        /// The sender of the packet.
        peer: PeerId,
        /// The channel of the packet.
        channel: ChannelId,
        /// `None` if no packet has come in part.
        progress: Option<ReceiveProgress>,
    },
    /// The last output: the thread has ended by itself, and with it all connections. The socket has
    /// failed, or the thread has panicked. Tell the player, and make a new host.
    Ended(io::Error),
}

/// A packet that was not sent, handed back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsent {
    /// The packet.
    pub packet: Outgoing,
    /// The reason.
    pub error: UnsentError,
}

/// Why a packet was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnsentError {
    /// The host refuses the packet.
    Host(SendError),
    /// The packet cannot be queued to the thread.
    Thread(ThreadError),
}

/// Why a command was not queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThreadError {
    /// The queue to the network thread has no room: 1 MiB of commands wait. Poll, and try again in the
    /// next tick.
    Full,
    /// The network thread has ended: [`Output::Ended`] says why.
    Ended,
}

impl fmt::Display for ThreadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the queue to the network thread is full: poll, and try again later",
            Self::Ended => "the network thread has ended: make a new host",
        })
    }
}

impl fmt::Display for UnsentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(error) => error.fmt(f),
            Self::Thread(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for Unsent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl core::error::Error for ThreadError {}
impl core::error::Error for UnsentError {}
impl core::error::Error for Unsent {}

/// What the game tells the network thread.
#[derive(Debug)]
pub(crate) enum Instruction {
    /// A command for the host.
    Command(Command),
    /// The game has got a packet back for want of room, and sends this peer nothing more for now.
    Stopped(PeerId),
    AskStats,
    Ask(PeerId, Question),
    /// The end of the thread. Peers that the game has not disconnected before end like this.
    Close(Disconnect),
}

/// What the game asks of a peer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Question {
    Stats,
    /// The channel and the receipt of a packet.
    Sent(ChannelId, u64),
    Received(ChannelId),
}

/// The packets that may be sent to a connected peer: the number of its channels, and the most bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub(crate) channels: u8,
    pub(crate) max_packet: usize,
}

impl Terms {
    /// `None` unless the peer is connected.
    pub(crate) fn of(peer: &Peer) -> Option<Self> {
        (peer.state() == PeerState::Connected).then(|| Self {
            channels: peer.channels(),
            max_packet: peer.max_packet(),
        })
    }
}

/// An output, and what the game's end learns with it.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) output: Output,
    /// With [`Event::Connected`], unless the peer has ended meanwhile.
    pub(crate) terms: Option<Terms>,
    /// With [`Event::Request`] and [`Event::Connected`]; empty otherwise.
    pub(crate) introduction: Introduction,
}

/// What a peer has said of itself with its request, and what it has proved.
#[derive(Debug, Default)]
pub(crate) struct Introduction {
    pub(crate) greeting: Box<[u8]>,
    #[cfg(feature = "seal")]
    pub(crate) secured: Option<Box<Secured>>,
}

impl Introduction {
    pub(crate) fn of(peer: &Peer) -> Self {
        Self {
            greeting: peer.greeting().into(),
            #[cfg(feature = "seal")]
            secured: peer.secured().cloned().map(Box::new),
        }
    }
}

impl From<Output> for Item {
    fn from(output: Output) -> Self {
        Self {
            output,
            terms: None,
            introduction: Introduction::default(),
        }
    }
}

impl Weigh for Instruction {
    fn weight(&self) -> isize {
        match self {
            Self::Command(Command::Send(packet)) => weight(&packet.payload),
            Self::Command(Command::Connect { greeting, .. }) => weight(greeting),
            Self::Command(Command::SetSuffix { suffix, .. }) => weight(suffix),
            Self::Command(_)
            | Self::Stopped(_)
            | Self::AskStats
            | Self::Ask(..)
            | Self::Close(_) => weight(&[]),
        }
    }
}

impl Weigh for Item {
    fn weight(&self) -> isize {
        match &self.output {
            Output::Packet { packet, .. } => weight(&packet.payload),
            Output::Unsent(unsent) => weight(&unsent.packet.payload),
            Output::Event(_) => weight(&self.introduction.greeting),
            Output::Connecting { .. }
            | Output::NotConnecting { .. }
            | Output::NotListening(_)
            | Output::NotSuffixed { .. }
            | Output::IdsUnchanged(_)
            | Output::NotAnswered { .. }
            | Output::Stats { .. }
            | Output::PeerStats { .. }
            | Output::SendProgress { .. }
            | Output::ReceiveProgress { .. }
            | Output::Ended(_) => weight(&[]),
        }
    }
}
