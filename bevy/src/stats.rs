//! What a connection measures, in replicon's units.

use bevy::prelude::Resource;
use bevy_replicon::prelude::ClientStats;
use porous_std::PeerStats;

/// What was not sent because the connection is too slow for it. Of a server, that of all clients together.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PorousUnsent {
    /// Unreliable messages that found no room in the [send budget](porous_std::Config::send_budget), or are larger
    /// than [`Peer::max_packet`](porous_std::Peer::max_packet), and were dropped.
    pub dropped: u64,
    /// Connections that were ended because a reliable message could not be sent.
    pub ended: u64,
}

/// Seconds, percent and bytes a second.
pub(crate) fn of(stats: &PeerStats) -> ClientStats {
    ClientStats {
        rtt: stats.rtt.as_secs_f64(),
        packet_loss: f64::from(stats.loss_sent) / 100.0,
        sent_bps: f64::from(stats.send_rate),
        received_bps: f64::from(stats.receive_rate),
    }
}
