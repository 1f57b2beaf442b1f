//! The figures of §3.1, with the windows that they use.

mod copies;
mod edges;
mod fates;
mod gaps;
mod modern;
mod nonces;

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use bytes::Bytes;

use super::*;
use crate::config::Priority;
use crate::congestion::Congestion;
use crate::frame::{Check, Context, Control, Integrity, MAX_MESSAGES, Message, Mode, Packet, Rest};
use crate::options::CopyCount;
use crate::source::{MessageBytes, NextMessage};

const MTU: usize = 512;

impl Transfer {
    fn recovery_deadline_for_test(&self) -> Instant {
        let Outbound {
            path,
            queue,
            later_acks,
            ..
        } = &self.outbound;
        let (at, _) = path.deadline(queue, later_acks);
        at
    }
}

/// A layer above that sends messages as they are listed, and notes what became of them.
#[derive(Default)]
struct Script {
    high: VecDeque<NextMessage>,
    low: VecDeque<NextMessage>,
    windows: VecDeque<Control>,
    acknowledged: Vec<u8>,
    lost: Vec<u8>,
    /// Names of messages that are of no use any more.
    stale: Vec<u8>,
}

/// A message that begins with its name.
fn message(name: u8, len: usize, mode: Mode) -> NextMessage {
    let mut payload = vec![0; len];
    payload[0] = name;
    let packet = Packet {
        mode,
        channel: 0,
        id: u32::from(name),
        dependency: 0,
        fragment: None,
        receipt: false,
        payload: MessageBytes::Own(Bytes::from(payload)),
    };
    NextMessage {
        message: Message::Packet(packet),
        copies: CopyCount::NONE,
    }
}

fn name(message: &Message<MessageBytes>) -> u8 {
    match message {
        Message::Packet(packet) => u8::try_from(packet.id).unwrap(),
        Message::Control(_) => u8::MAX,
    }
}

/// The bytes of a message that has its own.
pub(super) fn own(payload: &MessageBytes) -> &Bytes {
    match payload {
        MessageBytes::Own(bytes) => bytes,
        MessageBytes::Kept(_) => unreachable!("the script keeps nothing"),
    }
}

impl Source for Script {
    fn has_signal(&self) -> bool {
        !self.windows.is_empty()
    }

    fn has_message(&mut self) -> bool {
        !(self.high.is_empty() && self.low.is_empty())
    }

    fn next_signal(&mut self) -> Option<Control> {
        self.windows.pop_front()
    }

    fn next_message(&mut self, priority: Priority, _: usize) -> Option<NextMessage> {
        match priority {
            Priority::High => self.high.pop_front(),
            Priority::Low => self.low.pop_front(),
        }
    }

    fn kept(&self, _: &Packet<MessageBytes>) -> Option<&[u8]> {
        None
    }

    fn cut(&mut self, _: &Message<MessageBytes>) {}

    fn is_current(&self, message: &Message<MessageBytes>) -> bool {
        !self.stale.contains(&name(message))
    }

    fn skipped(&mut self, _: &Message<MessageBytes>) {
        unreachable!("everything is current");
    }

    fn sent(&mut self, _: &Message<MessageBytes>) {}

    fn acknowledged(&mut self, message: &Message<MessageBytes>) {
        self.acknowledged.push(name(message));
    }

    fn lost(&mut self, message: &Message<MessageBytes>) -> bool {
        self.lost.push(name(message));
        true
    }
}

fn context() -> Context {
    Context {
        id_bytes: 2,
        window: 4096,
        tag: crate::frame::TAG,
    }
}

struct Side {
    transfer: Transfer,
    script: Script,
    now: Instant,
}

impl Side {
    fn new() -> Self {
        Self::with(Policy::Paper)
    }

    fn with(policy: Policy) -> Self {
        let params = TransferParams {
            connection_id: ConnectionId::EMPTY,
            context: context(),
            check: Check {
                integrity: Integrity::Header,
                ours: 1,
                theirs: 2,
            },
            max_datagram: u16::try_from(MTU).unwrap(),
            path_mtu: u16::try_from(MTU).unwrap(),
            reserve: 16,
            window: 4096,
            behind: 256,
            send_rate: u32::MAX,
            receive_rate: u32::MAX,
            remote_rate: u32::MAX,
            timeout: Micros::from_secs(10),
            policy,
            congestion: Congestion::Paper,
            keepalive: Micros::from_secs(15),
            ecn: false,
            secret: 7,
        };
        let mut transfer = Transfer::new(params, 0);
        transfer
            .signals
            .pings
            .send(Instant::ZERO, Micros::from_secs(3600)); // no pings in the figures
        Self {
            transfer,
            script: Script::default(),
            now: Instant::ZERO,
        }
    }

    /// The names of the messages of the next frame.
    fn frame(&mut self) -> Option<Vec<u8>> {
        let mut buf = [0; MTU];
        let written = self
            .transfer
            .poll_transmit(&mut self.script, self.now, &mut buf)
            .unwrap()?;
        let datagram = crate::frame::decode(&buf[..written.len], 0).unwrap();
        let Rest::Short(short) = datagram.rest else {
            unreachable!()
        };
        let mut messages = arrayvec::ArrayVec::<_, MAX_MESSAGES>::new();
        short.decode_body(context(), &mut messages).unwrap();
        let name = |message: &Message<&[u8]>| match message {
            Message::Packet(packet) => packet.payload[0],
            Message::Control(_) => u8::MAX,
        };
        Some(messages.iter().map(name).collect())
    }

    /// Acknowledges these frames, each by a datagram of its own.
    fn acknowledge(&mut self, ids: &[u64]) {
        for &id in ids {
            let block = AckBlock {
                largest_low: u32::try_from(id).unwrap(),
                largest_width: 4,
                delay: None,
                map: match id {
                    0 => u32::MAX,
                    id if id < 32 => u32::MAX << id,
                    _ => 0,
                },
                nonce: false,
                marks: crate::frame::Marks::default(),
                ranges: arrayvec::ArrayVec::new(),
            };
            let acked = self.transfer.check_ack(&block).unwrap();
            self.transfer.on_ack(&acked, &mut self.script, self.now);
        }
    }
}

/// T21.
#[test]
fn figure_05_assembly_is_by_priority_and_bounded_by_the_window() {
    let mut side = Side::new();
    for (name, len, high) in [
        (0, 240, true),
        (1, 200, false),
        (2, 240, true),
        (3, 150, true),
        (4, 400, false),
    ] {
        let queue = if high {
            &mut side.script.high
        } else {
            &mut side.script.low
        };
        queue.push_back(message(name, len, Mode::Reliable));
    }
    // The available transfer: a whole frame, and half of another.
    side.transfer.congestion_for_test(512 + 250);
    assert_eq!(side.frame(), Some(vec![0, 2])); // a
    assert_eq!(side.frame(), Some(vec![3])); // b: message 1 fits the MTU, but not the window
    assert_eq!(side.frame(), None); // c = {4} neither
    side.transfer
        .congestion_for_test(side.transfer.outbound.queue.flight() + 2000);
    assert_eq!(side.frame(), Some(vec![1]));
    assert_eq!(side.frame(), Some(vec![4]));
}

/// A frame that is acknowledged or dropped leaves the transfer queue (§3.1.2). C21, T1, T6.
#[test]
fn figure_07_transfer_queue_and_congestion_window() {
    let mut side = Side::new();
    // Frames 0 (a reliable and an unreliable part), 1 (unreliable), 2, 3 and 4.
    side.script.low.push_back(message(10, 200, Mode::Reliable));
    side.script
        .low
        .push_back(message(11, 200, Mode::Unreliable));
    side.script
        .low
        .push_back(message(12, 400, Mode::Unreliable));
    for name in [13, 14, 15] {
        side.script
            .low
            .push_back(message(name, 400, Mode::Reliable));
    }
    for names in [vec![10, 11], vec![12], vec![13], vec![14], vec![15]] {
        assert_eq!(side.frame(), Some(names));
    }
    assert_eq!(side.frame(), None);
    side.acknowledge(&[2]);
    side.transfer.congestion_for_test(4 * 512);
    // (a) 3 and 4 are acknowledged, and so 0 and 1 are dropped: three later ones have arrived.
    side.acknowledge(&[3]);
    assert!(side.script.lost.is_empty());
    side.acknowledge(&[4]);
    assert_eq!(side.script.acknowledged, [13, 14, 15]);
    assert_eq!(side.script.lost, [11, 12]);
    assert_eq!(side.transfer.outbound.queue.flight(), 0);
    // Two acknowledgements in slow start, then the window is halved (11).
    assert_eq!(side.transfer.window(), (4 + 2) * 512 / 2);
    assert_eq!(
        (
            side.transfer.outbound.figures.sent,
            side.transfer.outbound.figures.lost
        ),
        (5, 2)
    );
    // (b) The reliable part of frame 0 is sent again: here as frame 5, because no id is used
    // twice, and the new data as frame 6.
    side.script.low.push_back(message(16, 400, Mode::Reliable));
    assert_eq!(side.frame(), Some(vec![10]));
    assert_eq!(side.frame(), Some(vec![16]));
    // (c) Both are acknowledged, and the window grows (9); frames 7 and 8 go out.
    side.acknowledge(&[5]);
    side.acknowledge(&[6]);
    assert_eq!(side.script.acknowledged, [13, 14, 15, 10, 16]);
    assert_eq!(side.transfer.window(), 3 * 512 + 512);
    for name in [17, 18] {
        side.script
            .low
            .push_back(message(name, 400, Mode::Reliable));
    }
    assert_eq!(
        (side.frame(), side.frame()),
        (Some(vec![17]), Some(vec![18]))
    );
}

#[test]
fn acknowledgements_are_idempotent_and_of_unsent_frames_refused() {
    let mut side = Side::new();
    side.script.low.push_back(message(1, 400, Mode::Reliable));
    assert_eq!(side.frame(), Some(vec![1]));
    for _ in 0..3 {
        side.acknowledge(&[0]);
    }
    assert_eq!(side.script.acknowledged, [1]); // T4
    let block = AckBlock {
        largest_low: 1,
        largest_width: 4,
        delay: None,
        map: u32::MAX,
        nonce: false,
        marks: crate::frame::Marks::default(),
        ranges: arrayvec::ArrayVec::new(),
    };
    assert!(side.transfer.check_ack(&block).is_none());
}

/// T_rto passes without an acknowledgement (§3.1.5). T1.
#[test]
fn a_frame_that_is_not_acknowledged_in_time_is_sent_again_and_dropped_once() {
    let mut side = Side::new();
    side.script.low.push_back(message(1, 400, Mode::Reliable));
    assert_eq!(side.frame(), Some(vec![1]));
    assert_eq!(
        side.transfer.recovery_deadline_for_test(),
        Instant::ZERO + Micros::from_millis(600)
    );
    side.now = side.transfer.recovery_deadline_for_test();
    for _ in 0..3 {
        side.transfer.handle_timeout(&mut side.script, side.now);
    }
    assert_eq!(side.transfer.outbound.figures.lost, 1); // T2
    assert_eq!(side.frame(), Some(vec![1]));
    assert_eq!(side.frame(), None);
    // The first transmission was only late: its message has arrived, once.
    side.acknowledge(&[0]);
    assert_eq!(side.script.acknowledged, [1]);
    side.acknowledge(&[1]);
    assert_eq!(side.script.acknowledged, [1]);
}

#[test]
fn signalling_is_outside_the_congestion_window() {
    let mut side = Side::new();
    side.transfer.congestion_for_test(512);
    for name in [1, 2] {
        side.script
            .low
            .push_back(message(name, 400, Mode::Reliable));
    }
    assert_eq!(side.frame(), Some(vec![1]));
    assert_eq!(side.frame(), None);
    side.transfer.signals.answers.on_ping(7, Instant::ZERO); // T20: a pong leaves all the same
    assert_eq!(side.frame(), Some(vec![u8::MAX]));
    assert_eq!(side.transfer.outbound.figures.sent, 1);
}

#[test]
fn ranges_that_reach_below_the_first_frame_are_refused() {
    let mut side = Side::new();
    for name in 0..41 {
        side.script
            .low
            .push_back(message(name, 100, Mode::Reliable));
        side.transfer.congestion_for_test(1 << 20);
        while side.frame().is_some() {}
    }
    let block = |gap, length| AckBlock {
        largest_low: 40,
        largest_width: 4,
        delay: None,
        map: u32::MAX,
        nonce: false,
        marks: crate::frame::Marks::default(),
        ranges: arrayvec::ArrayVec::from_iter([crate::frame::AckRange { gap, length }]),
    };
    // Below the map are the ids 7 to 0.
    for (gap, length, valid) in [(0, 8, true), (7, 1, true), (8, 1, false), (0, 9, false)] {
        let block = block(gap, length);
        let acked = side.transfer.check_ack(&block);
        assert_eq!(acked.is_some(), valid, "{gap}, {length}");
        if let Some(acked) = acked {
            side.transfer.on_ack(&acked, &mut side.script, side.now);
        }
    }
    assert_eq!(side.script.acknowledged.len(), 41);
}
