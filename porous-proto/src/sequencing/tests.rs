//! The figures of §3.2, with the windows that they use.

mod ageing;
mod desync;
mod edges;
mod incomplete;
mod lanes;
mod leaps;
mod naive;
mod order;
mod promises;
mod tombstones;
mod unordered;

use alloc::vec::Vec;

use bytes::Bytes;

use super::reports::REPORT_AFTER;
use super::*;
use crate::buffers::Buffers;

const NOW: Instant = Instant::ZERO;
const AGE: Duration = Duration::from_secs(2);

/// The most bytes of a packet in a message.
const FRAGMENT: usize = 10;

/// The most bytes that a message counts for shares and caps.
const LONGEST: u64 = 1008;

const fn marker(channel: u8, id: u32, dependency: u32) -> Marker {
    Marker {
        channel,
        id,
        dependency,
    }
}

pub(super) fn params(window: u64, spacing: u64) -> SequencingParams {
    SequencingParams {
        channels: 2,
        priorities: Channels::new(2),
        policy: Policy::Paper,
        window,
        spacing,
        id_bits: 16,
        max_packet: 1000,
        remote_budget: 100_000,
        receive_budget: 100_000,
        send_budget: 100_000,
    }
}

impl Sequencing {
    /// Messages that come from now on are in another frame.
    fn next_frame(&mut self) -> &mut Self {
        self.frame += 1;
        self
    }

    fn next_question(&mut self) -> Option<Control> {
        self.signals.next_question(&mut self.table)
    }

    fn next_window(&mut self) -> Option<Control> {
        self.signals.next_window(&mut self.table)
    }
}

impl Sequencing {
    /// The message with its own bytes, as a frame is written with them.
    fn resolved(&self, mut message: Message<MessageBytes>) -> Message<MessageBytes> {
        if let Message::Packet(packet) = &mut message {
            if let Some(bytes) = self.kept(packet) {
                packet.payload = MessageBytes::Own(Bytes::copy_from_slice(bytes));
            }
        }
        message
    }
}

/// Two sequencing layers, and every message that the first one sent.
struct Wire {
    sender: Sequencing,
    receiver: Sequencing,
    messages: Vec<Message<MessageBytes>>,
}

impl Wire {
    fn new(params: SequencingParams) -> Self {
        Self::starting_at(params, 0)
    }

    fn starting_at(params: SequencingParams, first: u64) -> Self {
        Self {
            sender: Sequencing::new(params, first, AGE),
            receiver: Sequencing::new(params, first, AGE),
            messages: Vec::new(),
        }
    }

    /// Sends packets named as in the figures: `u0 r1 p2`; the payload is the name.
    #[track_caller]
    fn send(&mut self, names: &str) {
        for name in names.split_whitespace() {
            let mode = match name.as_bytes()[0] {
                b'u' => Mode::Unreliable,
                b'r' => Mode::Reliable,
                b'p' => Mode::Passive,
                _ => unreachable!(),
            };
            self.sender
                .send(0, Bytes::copy_from_slice(name.as_bytes()), mode);
        }
        while let Some(NextMessage { message, .. }) =
            self.sender.next_message(Priority::Low, FRAGMENT)
        {
            self.messages.push(self.sender.resolved(message));
        }
    }

    /// The messages of the packets with these names arrive, a frame each; `s3` is the sentinel of packet 3.
    #[track_caller]
    fn arrive(&mut self, names: &str) {
        for name in names.split_whitespace() {
            let message = self
                .messages
                .iter()
                .find(|message| is_called(message, name))
                .unwrap();
            match message.clone() {
                Message::Packet(packet) => {
                    let packet = borrow(&packet);
                    assert!(matches!(
                        self.receiver.check_packet(&packet),
                        Verdict::Begin
                    ));
                    self.receiver
                        .next_frame()
                        .on_packet(&packet, NOW, &mut Buffers::new(0));
                }
                Message::Control(Control::Sentinel(marker)) => {
                    assert_ne!(self.receiver.check_sentinel(marker), Verdict::Violation);
                    self.receiver.next_frame().on_sentinel(marker);
                }
                other => unreachable!("{other:?}"),
            }
        }
    }

    /// The messages of packets with these names arrive too late.
    #[track_caller]
    fn arrive_late(&mut self, names: &str) {
        for name in names.split_whitespace() {
            let late = |message: &&Message<MessageBytes>| is_called(message, name);
            let Some(Message::Packet(packet)) = self.messages.iter().find(late) else {
                unreachable!()
            };
            let packet = borrow(packet);
            assert_eq!(self.receiver.check_packet(&packet), Verdict::Stale);
            self.receiver
                .next_frame()
                .on_packet(&packet, NOW, &mut Buffers::new(0));
        }
    }

    /// Everything that can be delivered now.
    fn delivered(&mut self) -> Vec<Bytes> {
        core::iter::from_fn(|| self.receiver.receive(NOW))
            .map(|(_, _, payload)| payload)
            .collect()
    }

    /// The window acknowledgements that are due; they reach the sender.
    fn window_acks(&mut self) -> Vec<u32> {
        let mut acks = Vec::new();
        while let Some(Control::Window { channel, id }) = self.receiver.next_window() {
            assert!(self.sender.check_window(channel, id));
            self.sender.on_window(channel, id);
            acks.push(id);
        }
        acks
    }

    /// The sender answers all questions about packets that leaped.
    fn confirm(&mut self) {
        while let Some(Control::Ask { channel, number }) = self.receiver.next_question() {
            let next = self
                .sender
                .table
                .get(channel)
                .unwrap()
                .sender
                .window
                .next_id();
            let next = serial::truncate(next, 32);
            self.receiver.on_told(channel, number, next);
        }
    }

    /// m_b.
    fn m_b(&self) -> u64 {
        self.receiver
            .table
            .get(0)
            .map_or(0, |made| made.receiver.base())
    }

    /// n_b.
    fn n_b(&self) -> u64 {
        self.sender.table.get(0).unwrap().sender.window.base()
    }
}

fn borrow(packet: &Packet<MessageBytes>) -> Packet<&[u8]> {
    Packet {
        mode: packet.mode,
        channel: packet.channel,
        id: packet.id,
        dependency: packet.dependency,
        fragment: packet.fragment,
        receipt: packet.receipt,
        payload: own(packet),
    }
}

fn own(packet: &Packet<MessageBytes>) -> &Bytes {
    match &packet.payload {
        MessageBytes::Own(bytes) => bytes,
        MessageBytes::Kept(_) => unreachable!("the bytes are looked up when the message leaves"),
    }
}

fn is_called(message: &Message<MessageBytes>, name: &str) -> bool {
    match message {
        Message::Packet(packet) => own(packet) == name.as_bytes(),
        Message::Control(Control::Sentinel(Marker { id, .. })) => name == alloc::format!("s{id}"),
        Message::Control(_) => false,
    }
}

/// Windows move on when packets are consumed (§3.2.1). Q12.
#[test]
fn figure_08_channel_windows_advance_by_window_acknowledgements() {
    let mut wire = Wire::new(params(4, 2));
    wire.send("u0 r1 u2 u3 r4");
    // r4 is not sent: the transfer window [0, 4) has no room for it.
    assert!(!wire.messages.iter().any(|message| is_called(message, "r4")));
    wire.arrive("r1");
    assert_eq!(wire.delivered(), ["r1"]);
    // u0 was passed with r1, and 1 is marked (18).
    assert_eq!(wire.window_acks(), [1]); // (a)
    assert_eq!((wire.m_b(), wire.n_b()), (2, 2));
    wire.arrive("s3");
    assert!(wire.delivered().is_empty());
    assert!(wire.window_acks().is_empty());
    // Nothing new: the packets that waited leave.
    wire.send("");
    wire.arrive("r4");
    assert_eq!(wire.delivered(), ["r4"]);
    assert_eq!(wire.window_acks(), [3]); // (b)
    assert_eq!((wire.m_b(), wire.n_b()), (5, 4)); // (c), (d)
}

/// Q5.
#[test]
fn figure_09_a_sentinel_is_consumed_when_a_whole_window_was_lost() {
    let mut wire = Wire::starting_at(params(24, 4), 1);
    let names: Vec<_> = (1..=24).map(|id| alloc::format!("u{id}")).collect();
    wire.send(&names.join(" "));
    wire.arrive("s7 s11 s15 s19 s3");
    assert!(wire.delivered().is_empty() && wire.window_acks().is_empty());
    assert_eq!(wire.m_b(), 1);
    wire.arrive("s23");
    assert!(wire.delivered().is_empty());
    // s3 was consumed, because 23 is newer by N_Q - M = 20. s7 was not.
    assert_eq!(wire.m_b(), 4);
    assert_eq!(wire.window_acks(), [3]);
    assert_eq!(wire.n_b(), 4);
    wire.send("u25 r26");
    // The sender's window has moved on: a new packet is delivered although all before it are missing.
    wire.arrive("r26");
    assert_eq!(wire.delivered(), ["r26"]);
}

#[test]
fn figure_10_dependencies_are_sent_with_the_packets() {
    let mut wire = Wire::new(params(4, 2));
    wire.send("u0 r1 u2 r3 p4 p5 u6 u7");
    for names in ["u0 r1 u2 r3", "p4 p5 u6 u7"] {
        wire.arrive(names);
        assert_eq!(wire.delivered().len(), 4);
        wire.window_acks();
        wire.send("");
    }
    let dependency = |name| match wire
        .messages
        .iter()
        .find(|message| is_called(message, name))
    {
        Some(Message::Packet(packet)) => packet.dependency,
        _ => unreachable!(),
    };
    let found = ["u0", "r1", "u2", "r3", "p4", "p5", "u6", "u7"].map(dependency);
    assert_eq!(found, [0, 0, 1, 2, 1, 2, 3, 0]);
}

/// The state of the figure: everything up to m_b = 3 is consumed, p4 and u6 wait for r3.
fn before_r3() -> Wire {
    let mut wire = Wire::new(params(4, 2));
    wire.send("u0 r1 u2 r3 p4 p5 u6");
    wire.arrive("u0 r1 u2");
    assert_eq!(wire.delivered(), ["u0", "r1", "u2"]);
    wire.window_acks();
    // With n_b = 2 the window would end before u6: what was passed is reported after a while.
    wire.receiver.handle_timeout(NOW + REPORT_AFTER);
    assert_eq!(wire.window_acks(), [2]);
    wire.send("");
    wire.arrive("p4 u6");
    assert!(wire.delivered().is_empty());
    wire
}

/// Packets wait for the reliable packet before them (§3.2.3).
#[test]
fn figure_11_a_missing_reliable_packet_stalls_its_channel() {
    let mut wire = before_r3();
    wire.arrive("r3");
    assert_eq!(wire.delivered(), ["r3", "p4", "u6"]);
    // p5 comes too late.
    let late = wire
        .messages
        .iter()
        .find(|message| is_called(message, "p5"))
        .unwrap()
        .clone();
    let Message::Packet(packet) = late else {
        unreachable!()
    };
    assert_eq!(wire.receiver.check_packet(&borrow(&packet)), Verdict::Stale);
    wire.receiver
        .next_frame()
        .on_packet(&borrow(&packet), NOW, &mut Buffers::new(0));
    assert!(wire.delivered().is_empty());
}

#[test]
fn figure_11_a_passive_packet_in_time_is_delivered() {
    let mut wire = before_r3();
    wire.arrive("p5 r3");
    assert_eq!(wire.delivered(), ["r3", "p4", "p5", "u6"]);
}

#[test]
fn equation_16_nothing_is_sent_beyond_the_transfer_window() {
    let mut wire = Wire::new(params(16, 2));
    let names: Vec<_> = (0..40).map(|id| alloc::format!("r{id}")).collect();
    wire.send(&names.join(" "));
    assert_eq!(wire.messages.len(), 16);
}

#[test]
fn equation_17_what_the_receive_window_has_passed_is_ignored() {
    let mut wire = Wire::new(params(16, 2));
    wire.send("u0 u1 r2");
    wire.arrive("r2");
    assert_eq!(wire.delivered(), ["r2"]);
    for name in ["u0", "u1", "r2"] {
        let message = wire
            .messages
            .iter()
            .find(|message| is_called(message, name))
            .unwrap();
        let Message::Packet(packet) = message else {
            unreachable!()
        };
        assert_eq!(wire.receiver.check_packet(&borrow(packet)), Verdict::Stale);
    }
}

#[test]
fn window_acknowledgements_of_packets_never_sent_are_refused() {
    let mut wire = Wire::new(params(16, 2));
    wire.send("r0 r1 r2");
    assert!(wire.sender.check_window(0, 2));
    // Except those that one forged frame can make the other host believe in, here a whole window (Q8).
    assert!(wire.sender.check_window(0, 3 + 15));
    assert!(!wire.sender.check_window(0, 3 + 16));
    assert!(wire.sender.check_window(0, u32::MAX)); // old: has no effect
    wire.sender.on_window(0, u32::MAX);
    assert_eq!(wire.n_b(), 0);
}
