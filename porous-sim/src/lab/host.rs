//! A host of a flow, recorded or not.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, SocketAddr};

use porous_proto::{
    ChannelId, Config, Ecn, Event, Host, Instant, Listen, Mode, Payload, PeerId, PeerStats,
    Received,
};
use porous_trace::{About, Recorder, TracedHost};

use crate::ChaCha8Rng;

/// The addresses of both ends where one of them is recorded, of those for documentation (RFC 5737).
const ADDRESSES: [SocketAddr; 2] = [
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 49152),
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)), 4000),
];

/// A host. The nonces of a connection depend on addresses, and records have those of IP. Other hosts keep the
/// addresses 0 and 1, under which all that is published was measured.
#[derive(Debug)]
pub(super) enum FlowHost {
    /// Nothing is recorded.
    Plain(Box<Host<ChaCha8Rng, u8>>),
    /// This host or the other one is recorded.
    Traced(Box<TracedHost<ChaCha8Rng>>),
}

/// What a flow has to know of an event.
#[derive(Clone, Copy, Debug)]
pub(super) enum Happened {
    Connected(PeerId),
    Disconnected,
    Else,
}

impl Happened {
    fn of<A>(event: &Event<A>) -> Self {
        if let Event::Connected { peer, .. } = event {
            Self::Connected(*peer)
        } else if let Event::Disconnected { .. } = event {
            Self::Disconnected
        } else {
            Self::Else
        }
    }
}

impl FlowHost {
    pub(super) fn plain(config: Config, rng: ChaCha8Rng) -> Self {
        Self::Plain(Box::new(Host::new(config, rng)))
    }

    /// The host of this end, which is recorded if there is a recorder. It is then made anew, and draws the same.
    pub(super) fn traced(
        config: Config,
        rng: impl Fn() -> ChaCha8Rng,
        end: usize,
        recorder: Option<Recorder>,
    ) -> Self {
        let mut host = TracedHost::new(config, rng());
        if let Some(recorder) = recorder {
            let begun = host.record(recorder, About::new(Some(ADDRESSES[end]), 0), rng());
            assert!(begun.is_ok(), "a new host: {begun:?}");
        }
        Self::Traced(Box::new(host))
    }

    pub(super) fn listen(&mut self) -> bool {
        match self {
            Self::Plain(host) => host.listen(Listen::Open).is_ok(),
            Self::Traced(host) => host.listen(Listen::Open).is_ok(),
        }
    }

    /// Connects with the other end.
    pub(super) fn connect(&mut self, now: Instant) -> Option<PeerId> {
        match self {
            Self::Plain(host) => host.connect(now, 1).ok(),
            Self::Traced(host) => host.connect_with(now, &ADDRESSES[1..], b"").ok(),
        }
    }

    /// Takes in a datagram that came from this end.
    pub(super) fn take(&mut self, now: Instant, from: usize, datagram: &[u8]) {
        match self {
            Self::Plain(host) => {
                host.handle_datagram(now, u8::from(from == 1), Ecn::NotEct, datagram);
            }
            Self::Traced(host) => {
                host.handle_datagram(now, ADDRESSES[from], Ecn::NotEct, datagram);
            }
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        match self {
            Self::Plain(host) => host.handle_timeout(now),
            Self::Traced(host) => host.handle_timeout(now),
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Plain(host) => host.poll_timeout(),
            Self::Traced(host) => host.poll_timeout(),
        }
    }

    pub(super) fn poll_event(&mut self) -> Option<Happened> {
        match self {
            Self::Plain(host) => host.poll_event().map(|event| Happened::of(&event)),
            Self::Traced(host) => host.poll_event().map(|event| Happened::of(&event)),
        }
    }

    pub(super) fn receive(&mut self, peer: PeerId) -> Option<Received> {
        match self {
            Self::Plain(host) => host.receive(peer),
            Self::Traced(host) => host.receive(peer),
        }
    }

    /// Sends a packet, if there is room for it.
    pub(super) fn send<'p>(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        packet: impl Into<Payload<'p>>,
        mode: Mode,
    ) {
        let _sent = match self {
            Self::Plain(host) => host.send(peer, channel, packet, mode),
            Self::Traced(host) => host.send(peer, channel, packet, mode),
        };
    }

    /// The next datagram that leaves now.
    pub(super) fn next(&mut self, now: Instant, buffer: &mut [u8]) -> Option<Vec<u8>> {
        match self {
            Self::Plain(host) => host
                .poll_transmit(now, buffer)
                .map(|it| it.datagram.to_vec()),
            Self::Traced(host) => host
                .poll_transmit(now, buffer)
                .map(|it| it.datagram.to_vec()),
        }
    }

    /// The bytes that wait or are under way.
    pub(super) fn queued_bytes(&self, peer: PeerId) -> Option<usize> {
        match self {
            Self::Plain(host) => host.peer(peer).map(|peer| peer.queued_bytes()),
            Self::Traced(host) => host.peer(peer).map(|peer| peer.queued_bytes()),
        }
    }

    pub(super) fn stats(&self, peer: PeerId) -> Option<PeerStats> {
        match self {
            Self::Plain(host) => host.peer(peer).map(|peer| peer.stats()),
            Self::Traced(host) => host.peer(peer).map(|peer| peer.stats()),
        }
    }

    pub(super) fn max_datagram_size(&self) -> usize {
        match self {
            Self::Plain(host) => host.max_datagram_size(),
            Self::Traced(host) => host.max_datagram_size(),
        }
    }
}
