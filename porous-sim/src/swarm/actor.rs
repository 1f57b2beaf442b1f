//! A host of a world as its application sees it.

use alloc::collections::BTreeMap;
use core::time::Duration;

use porous_proto::{HostStats, Instant, Mode, PeerId};

use super::draw::Draw;

/// What the application knows of a peer beside the contract.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meta {
    /// The index of the peer's host.
    pub(super) remote: usize,
    /// When the peer was connected, if it is.
    pub(super) since: Option<Instant>,
    /// True once the application has disconnected or refused the peer.
    pub(super) left: bool,
}

/// The traffic of an application for a while.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pattern {
    /// When the next pattern is drawn.
    pub(super) until: Instant,
    /// The time from one look of the application to the next.
    pub(super) every: Duration,
    /// Packets to each peer at each look. 0 in quiet times.
    pub(super) count: u64,
    /// The mode of all packets, if they share one.
    pub(super) mode: Option<Mode>,
    /// The percentage of packets that are as large as the peer allows.
    pub(super) large: u64,
}

/// One host, from one start of its program to the next.
#[derive(Debug)]
pub(super) struct Actor {
    pub(super) address: u32,
    /// The address under which others see the host.
    pub(super) public: u32,
    /// The number of its side in the contract.
    pub(super) side: usize,
    /// True while the program of the host runs.
    pub(super) alive: bool,
    /// The application does not read before this.
    pub(super) reads_at: Instant,
    /// The number of attempts to connect so far.
    pub(super) attempts: usize,
    /// The host does not connect before this.
    pub(super) dials_at: Instant,
    pub(super) peers: BTreeMap<PeerId, Meta>,
    pub(super) pattern: Pattern,
    /// A packet that the application will cancel: its peer, channel and token.
    pub(super) regretted: Option<((PeerId, u8), u64)>,
    /// Decides what the application sends.
    pub(super) draw: Draw,
    /// Decides which packets have keys.
    pub(super) keys: Draw,
    /// Decides about changes of rates.
    pub(super) rates: Draw,
    /// The cap of its data to all peers, in bytes a second.
    pub(super) cap: u32,
    /// When the cap was last checked, and the host's stats then.
    pub(super) meter: Option<(Instant, HostStats)>,
    /// The latest time that the clock has shown when it was put back or forward.
    pub(super) latest: Instant,
}

impl Pattern {
    /// A pattern without packets.
    pub(super) const fn quiet(until: Instant, every: Duration) -> Self {
        Self {
            until,
            every,
            count: 0,
            mode: None,
            large: 0,
        }
    }

    /// Draws the next pattern.
    pub(super) fn draw(draw: &mut Draw, now: Instant, heavy: bool) -> Self {
        if draw.often(if heavy { 30 } else { 65 }) {
            let until = now + draw.millis(3000, 60_000);
            return Self::quiet(until, Duration::from_millis(draw.between(100, 900)));
        }
        let hertz = u32::try_from(draw.log(1, 60)).unwrap_or(1);
        let mode = draw.pick(&[
            None,
            None,
            Some(Mode::Unreliable),
            Some(Mode::Reliable),
            Some(Mode::Passive),
        ]);
        Self {
            until: now + draw.millis(1000, 15_000),
            every: Duration::from_secs(1) / hertz,
            count: draw.log(1, if heavy { 40 } else { 6 }),
            mode,
            large: if heavy { draw.below(10) } else { draw.below(3) },
        }
    }
}
