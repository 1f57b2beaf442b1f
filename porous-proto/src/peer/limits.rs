//! What a peer is given when it comes to be.

use alloc::boxed::Box;
use core::time::Duration;

use crate::config::{Channel, Config, Policy};
use crate::congestion::Congestion;
use crate::frame::ConnectionId;

/// What the peer needs of the host's configuration.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub(crate) send_budget: u64,
    /// Requests are padded to it.
    pub(crate) request_size: usize,
    pub(crate) connect_timeout: Duration,
    pub(crate) timeout: Duration,
    pub(crate) disconnect_timeout: Duration,
    pub(crate) unreliable_age: Duration,
    pub(crate) policy: Policy,
    pub(crate) congestion: Congestion,
    pub(crate) keepalive: Duration,
    pub(crate) ecn: bool,
    pub(crate) first_id: u64,
    /// The settings of channels that are not the default.
    pub(crate) settings: Box<[Channel]>,
    /// What nobody else knows.
    pub(crate) secret: u64,
}

impl Limits {
    pub(super) fn new(config: &Config, secret: u64) -> Self {
        Self {
            send_budget: u64::from(config.send_budget),
            request_size: config.request_size.into(),
            connect_timeout: config.connect_timeout,
            timeout: config.timeout,
            disconnect_timeout: config.disconnect_timeout,
            unreliable_age: config.unreliable_age,
            policy: config.policy,
            congestion: config.controller(),
            keepalive: config.keepalive,
            ecn: config.ecn,
            first_id: config.first_id,
            settings: config.settings(),
            secret,
        }
    }
}

/// What a new peer is known by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    /// Our random id (§2.3).
    pub(crate) nonce: u64,
    /// What the remote host is to put into its datagrams.
    pub(crate) connection_id: ConnectionId,
    /// What nobody else is to know.
    pub(crate) secret: u64,
}
