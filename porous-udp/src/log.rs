//! What a host tells the log of its program, by the facade `tracing`: the lives of connections, errors of the socket,
//! and once a second what was ignored and why. Nothing is told of each datagram or packet, so that a stranger cannot
//! fill a disk.

use core::net::SocketAddr;
use core::time::Duration;
use std::io;

use porous_proto::{Event, HostStats, Ignored, Instant, Listen, PeerId};
use tracing::{debug, error, info, warn};

/// Between two reports of what was ignored.
const PAUSE: Duration = Duration::from_secs(1);

/// Whether a cause is reported. A duplicate, or an answer without state, is every day's work.
const fn is_reported(cause: Ignored) -> bool {
    !matches!(cause, Ignored::Duplicate | Ignored::Stateless)
}

pub(crate) fn listens(policy: Listen) {
    info!(target: "porous", %policy, "listen");
}

pub(crate) fn connects(peer: PeerId, to: &[SocketAddr]) {
    debug!(target: "porous", %peer, ?to, "connect");
}

pub(crate) fn event(event: &Event<SocketAddr>) {
    match event {
        Event::Request { peer, address } => debug!(target: "porous", %peer, %address, "asked"),
        Event::Connected { peer, address } => {
            info!(target: "porous", %peer, %address, "connected");
        }
        Event::PeerMoved { peer, from, to } => info!(target: "porous", %peer, %from, %to, "moved"),
        Event::PathNarrowed { peer, bytes } => {
            warn!(target: "porous", %peer, bytes, "path narrowed");
        }
        Event::PortClosed { peer, address } => {
            debug!(target: "porous", %peer, %address, "port closed");
        }
        Event::Disconnected {
            peer,
            reason,
            undelivered,
        } => info!(target: "porous", %peer, %reason, undelivered, "disconnected"),
        Event::Readable { .. } | Event::Writable { .. } | Event::Receipt { .. } | _ => {}
    }
}

pub(crate) fn failed(error: &io::Error) {
    error!(target: "porous", %error, "socket failed");
}

/// What was reported of the datagrams that a host ignores.
#[derive(Debug)]
pub(crate) struct Ignoring {
    told: HostStats,
    next: Instant,
}

impl Ignoring {
    pub(crate) fn new() -> Self {
        Self {
            told: HostStats::default(),
            next: Instant::ZERO,
        }
    }

    /// Reports what was ignored since the last report, if that is a second ago.
    pub(crate) fn report(&mut self, now: Instant, stats: impl FnOnce() -> HostStats) {
        if now < self.next {
            return;
        }
        let stats = stats();
        for &cause in Ignored::ALL.iter().filter(|cause| is_reported(**cause)) {
            let datagrams = stats.ignored(cause) - self.told.ignored(cause);
            if datagrams == 0 {
                continue;
            }
            let cause = if matches!(cause, Ignored::Malformed(_)) {
                "malformed".to_owned()
            } else {
                cause.to_string()
            };
            debug!(target: "porous", datagrams, cause, "ignored");
        }
        let overloaded = stats.overloaded - self.told.overloaded;
        if overloaded > 0 {
            warn!(target: "porous", newcomers = overloaded, "refused, as this host does not keep up");
        }
        self.told = stats;
        self.next = now + PAUSE;
    }
}
