//! A channel object (§3.2): its sending and its receiving half, and its places in the queues of
//! the layer.

use alloc::collections::VecDeque;
use core::time::Duration;

use super::SequencingParams;
use super::lanes::Lane;
use super::receiver::Receiver;
use super::sender::Sender;
use super::window_ack::Reports;
use crate::config::Channel as Settings;
use crate::stats::QueueTime;

/// One channel of one peer.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) reports: Reports,
    pub(super) lane: Lane,
    pub(super) queue_time: QueueTime,
    /// It waits for its turn to send, or its cap holds it back.
    pub(crate) in_turn: bool,
    /// It is in the queue of channels that wait for room.
    pub(crate) blocked: bool,
    /// It is in the queue of channels in which something arrived.
    pub(crate) arrived: bool,
    /// Something of that can be delivered: looked up anew after every change of the receiver.
    pub(crate) ready: bool,
}

impl Channel {
    pub(crate) fn new(
        params: &SequencingParams,
        settings: Settings,
        first_id: u64,
        age: Duration,
    ) -> Self {
        Self {
            sender: Sender::new(params.window, first_id, age),
            receiver: Receiver::new(first_id, settings.order),
            reports: Reports::new(first_id),
            queue_time: QueueTime::NONE,
            lane: Lane::new(settings),
            in_turn: false,
            blocked: false,
            arrived: false,
            ready: false,
        }
    }

    /// After the receiver has changed: what can be delivered now is offered.
    pub(crate) fn look_again(
        &mut self,
        channel: u8,
        params: &SequencingParams,
        arrived: &mut VecDeque<u8>,
    ) {
        self.ready = self.receiver.is_ready(params);
        if self.ready && !core::mem::replace(&mut self.arrived, true) {
            arrived.push_back(channel);
        }
    }
}
