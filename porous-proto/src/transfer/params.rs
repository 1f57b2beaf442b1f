//! What a transfer layer is made with.

use core::time::Duration;

use crate::config::Policy;
use crate::congestion::Congestion;
use crate::frame::{Check, ConnectionId, Context};

/// What both hosts agreed on, as far as this layer needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransferParams {
    /// What the remote host wants to see in our datagrams.
    pub(crate) connection_id: ConnectionId,
    pub(crate) context: Context,
    pub(crate) check: Check,
    /// MTU: the largest datagram.
    pub(crate) max_datagram: u16,
    /// What it may become, if the path carries it.
    pub(crate) path_mtu: u16,
    /// Bytes of a datagram that are kept free around a part of a packet.
    pub(crate) reserve: usize,
    /// N_P.
    pub(crate) window: u64,
    /// B_r: how far behind the newest a frame may come.
    pub(crate) behind: u64,
    /// The most we want to send, in bytes a second.
    pub(crate) send_rate: u32,
    /// The most that we want to receive, and that the remote host does.
    pub(crate) receive_rate: u32,
    pub(crate) remote_rate: u32,
    /// The silence that ends the connection.
    pub(crate) timeout: Duration,
    pub(crate) policy: Policy,
    pub(crate) congestion: Congestion,
    /// How often a silent connection is heard of under the modern policy.
    pub(crate) keepalive: Duration,
    /// Data is marked as ECN-capable.
    pub(crate) ecn: bool,
    /// A random number that nobody else knows.
    pub(crate) secret: u64,
}

impl TransferParams {
    /// B of (10), in bytes a second: the smaller of what we want to send and the remote host to
    /// receive.
    pub(super) fn bandwidth(&self) -> u32 {
        self.send_rate.min(self.remote_rate)
    }

    /// Whether data is sent with ECT(0) at first.
    pub(super) fn marks(&self) -> bool {
        self.ecn && self.policy == Policy::Modern
    }
}
