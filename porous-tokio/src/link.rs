//! What tasks wait for at one peer.

use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;

use tokio::sync::Notify;

use crate::Closed;

/// What the driver has told of one peer, and the bells by which it wakes the tasks that wait. Each bell wakes all
/// of them: a task that is cancelled then takes nothing away from others. Facts only ever become true.
#[derive(Debug, Default)]
pub(crate) struct Link {
    /// Rings when there are packets to be received, and at the end.
    pub(crate) readable: Notify,
    /// Rings when the peer is connected, when there is room to send, and at the end.
    pub(crate) changed: Notify,
    /// True if the peer was connected, also if it has ended since.
    is_connected: AtomicBool,
    /// True if a machine has said that nothing is bound to the port.
    has_closed_port: AtomicBool,
    ended: OnceLock<Closed>,
}

impl Link {
    pub(crate) fn connected(&self) {
        self.is_connected.store(true, Ordering::Release);
        self.changed.notify_waiters();
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.is_connected.load(Ordering::Acquire)
    }

    pub(crate) fn port_closed(&self) {
        self.has_closed_port.store(true, Ordering::Release);
    }

    pub(crate) fn has_closed_port(&self) -> bool {
        self.has_closed_port.load(Ordering::Acquire)
    }

    pub(crate) fn end(&self, how: Closed) {
        // A peer ends once.
        let _first = self.ended.set(how);
        self.readable.notify_waiters();
        self.changed.notify_waiters();
    }

    pub(crate) fn ended(&self) -> Option<Closed> {
        self.ended.get().copied()
    }
}
