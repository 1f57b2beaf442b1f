//! The parameters of a transfer layer.

use core::time::Duration;

use crate::config::Policy;
use crate::congestion::Congestion;
use crate::frame::{Check, ConnectionId, Context};

/// What both hosts agreed on, and what the configuration says, as far as this layer needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransferParams {
    /// The connection id at the front of datagrams to the remote host.
    pub(crate) connection_id: ConnectionId,
    pub(crate) context: Context,
    pub(crate) check: Check,
    /// MTU: the most bytes of a datagram at first.
    pub(crate) max_datagram: u16,
    /// The most bytes of a datagram, if the path carries as many.
    pub(crate) path_mtu: u16,
    /// Bytes of a datagram that are kept free around a part of a packet.
    pub(crate) reserve: usize,
    /// N_P: frames.
    pub(crate) window: u64,
    /// B_r: ids behind the newest at which a frame is still taken.
    pub(crate) behind: u64,
    /// The most that this host wants to send, in bytes a second.
    pub(crate) send_rate: u32,
    /// The most that this host wants to receive, in bytes a second.
    pub(crate) receive_rate: u32,
    /// The most that the remote host wants to receive, in bytes a second.
    pub(crate) remote_rate: u32,
    /// The silence that ends the connection at either end.
    pub(crate) timeout: Duration,
    pub(crate) policy: Policy,
    pub(crate) congestion: Congestion,
    /// Time between signs of life of a silent connection under the modern policy.
    pub(crate) keepalive: Duration,
    /// True if the application wants data to be marked as ECN-capable.
    pub(crate) ecn: bool,
    /// A random number that no other host knows.
    pub(crate) secret: u64,
}

impl TransferParams {
    /// B of (10), in bytes a second: the smaller of what this host wants to send and the remote host to
    /// receive.
    pub(super) fn bandwidth(&self) -> u32 {
        self.send_rate.min(self.remote_rate)
    }

    /// Whether data is sent with ECT(0) at first.
    pub(super) fn marks(&self) -> bool {
        // Under the paper's policy nothing would follow from a mark (D9).
        self.ecn && self.policy == Policy::Modern
    }
}
