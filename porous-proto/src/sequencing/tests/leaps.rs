//! Packets that leap over others are not believed at once (`docs/wire.md`, "Leaps").

use super::*;
use crate::buffers::Buffers;
use crate::config::Order;
use crate::hooks::audit::Audit;

/// A pair of hosts with N_Q = 4096, where 32 packets in a row may be missing.
fn wire(order: Order) -> Wire {
    let mut wire = Wire::new(params(4096, 512));
    let settings = Settings {
        order,
        ..Settings::default()
    };
    wire.receiver = wire.receiver.with_channels(&[settings]);
    wire
}

/// Messages that an attacker may forge for the packet `id`: of every mode, whole and in part, and signalling.
fn forgeries(id: u32) -> Vec<Message<MessageBytes>> {
    let packet = |mode, fragment, len: usize| {
        Message::Packet(Packet {
            mode,
            channel: 0,
            id,
            dependency: 0,
            fragment,
            receipt: false,
            payload: MessageBytes::Own(Bytes::from(alloc::vec![7; len])),
        })
    };
    let part = crate::frame::Fragment::new(0, 600);
    let (channel, dependency) = (0, 0);
    let mut all = Vec::new();
    for mode in [Mode::Unreliable, Mode::Reliable, Mode::Passive] {
        all.push(packet(mode, None, 3));
        all.push(packet(mode, part, 300));
    }
    all.push(Message::Control(Control::Tombstone(Marker {
        channel,
        id,
        dependency,
    })));
    all.push(Message::Control(Control::Sentinel(Marker {
        channel,
        id: id / 512 * 512 + 511,
        dependency,
    })));
    all
}

impl Wire {
    /// A frame with this message arrives.
    fn take(&mut self, message: &Message<MessageBytes>) {
        let receiver = self.receiver.next_frame();
        match message {
            Message::Packet(packet) => {
                let packet = borrow(packet);
                assert_ne!(receiver.check_packet(&packet), Verdict::Violation);
                receiver.on_packet(&packet, NOW, &mut Buffers::new(0));
            }
            &Message::Control(Control::Sentinel(marker)) => receiver.on_sentinel(marker),
            &Message::Control(Control::Tombstone(marker)) => receiver.on_tombstone(marker),
            Message::Control(_) => unreachable!("nobody forges these"),
        }
        self.receiver.audit(&mut Audit::default(), LONGEST);
    }

    fn question(&mut self) -> Option<(u8, u16)> {
        match self.receiver.next_signal() {
            Some(Control::Ask { channel, number }) => Some((channel, number)),
            _ => None,
        }
    }

    /// The sender's answer to this question, a second later than the one before: answers are rare.
    fn answer(&mut self, (channel, number): (u8, u16)) -> Control {
        self.sender.on_ask(channel, number);
        let later = self.sender.scheduler.now + Duration::from_secs(1);
        self.sender.look(later);
        self.sender.next_signal().unwrap()
    }

    fn tell(&mut self, told: Control) {
        let Control::Told {
            channel,
            number,
            next,
        } = told
        else {
            unreachable!("{told:?}")
        };
        self.receiver.on_told(channel, number, next);
        self.receiver.audit(&mut Audit::default(), LONGEST);
    }

    /// All messages that were sent since the last call arrive, in the order of sending, a frame each.
    fn take_all(&mut self) {
        for message in core::mem::take(&mut self.messages) {
            self.take(&message);
        }
    }
}

/// P14.
#[test]
fn a_forged_leap_is_not_consumed_and_is_forgotten_when_the_sender_is_asked() {
    for order in [Order::Ordered, Order::Unordered] {
        for forged in forgeries(2000) {
            let mut wire = wire(order);
            wire.send("r0 u1");
            wire.take_all();
            assert_eq!(wire.delivered(), ["r0", "u1"]);
            wire.take(&forged);
            assert!(wire.delivered().is_empty(), "{forged:?}");
            assert_eq!(wire.m_b(), 2);
            let asked = wire.question().expect("asks at once");
            assert_eq!(wire.question(), None);
            // Packets that come in the meantime are delivered.
            wire.send("r2 u3 p4");
            wire.take_all();
            assert_eq!(wire.delivered(), ["r2", "u3", "p4"]);
            let told = wire.answer(asked);
            wire.tell(told);
            // Packet 5 comes next: what leaped beyond it was forged.
            assert_eq!(wire.receiver.totals().kept, 0, "{forged:?}");
            assert_eq!((wire.m_b(), wire.question()), (5, None));
            // The place of the forged packet is free for the true one.
            for n in (5..2100).step_by(2) {
                wire.send(&alloc::format!("r{n} u{}", n + 1));
                wire.take_all();
                assert_eq!(wire.delivered().len(), 2, "{n}");
                wire.window_acks();
            }
        }
    }
}

/// After an outage a lone packet costs one question. P14.
#[test]
fn an_honest_leap_is_consumed_when_the_sender_has_confirmed_it() {
    for order in [Order::Ordered, Order::Unordered] {
        for mode in ["u", "p"] {
            let mut wire = wire(order);
            let lost: Vec<_> = (0..100).map(|n| alloc::format!("u{n}")).collect();
            wire.send(&lost.join(" "));
            wire.messages.clear();
            let name = alloc::format!("{mode}100");
            wire.send(&name);
            wire.take_all();
            assert!(wire.delivered().is_empty());
            let asked = wire.question().expect("asks");
            let told = wire.answer(asked);
            wire.tell(told);
            assert_eq!(wire.delivered(), [name]);
        }
    }
}

/// P14.
#[test]
fn up_to_32_missing_packets_are_passed_over_at_once_and_not_more_by_one_frame() {
    for (missing, believed) in [(32, true), (33, false)] {
        let mut wire = wire(Order::Ordered);
        let names: Vec<_> = (0..200).map(|n| alloc::format!("u{n}")).collect();
        wire.send(&names.join(" "));
        wire.arrive(&names[missing]);
        assert_eq!(wire.delivered().len(), usize::from(believed), "{missing}");
        assert_eq!(wire.question().is_none(), believed);
    }
    // All packets of a frame count together: this one passes over 10 and 23.
    let mut wire = wire(Order::Ordered);
    let names: Vec<_> = (0..200).map(|n| alloc::format!("u{n}")).collect();
    wire.send(&names.join(" "));
    for id in (0..40).chain(50..90).chain(113..114) {
        let Message::Packet(packet) = &wire.messages[id] else {
            unreachable!("no sentinels so far")
        };
        wire.receiver
            .on_packet(&borrow(packet), NOW, &mut Buffers::new(0));
    }
    assert_eq!(wire.delivered().len(), 80);
    assert!(wire.question().is_some());
}

/// P14.
#[test]
fn packets_of_two_frames_that_are_near_confirm_each_other() {
    for (second, believed) in [(132, true), (133, false)] {
        let mut wire = wire(Order::Ordered);
        let names: Vec<_> = (0..200).map(|n| alloc::format!("u{n}")).collect();
        wire.send(&names.join(" "));
        wire.arrive("u100");
        assert!(wire.delivered().is_empty());
        wire.arrive(&names[second]);
        let expected = if believed { 2 } else { 0 };
        assert_eq!(wire.delivered().len(), expected, "{second}");
        // A question that has become needless is not asked.
        assert_eq!(wire.question().is_none(), believed);
    }
}

/// A packet that comes after the question may have been sent after the answer. P14.
#[test]
fn an_answer_forgets_nothing_that_came_after_the_question() {
    let mut wire = wire(Order::Ordered);
    wire.take(&forgeries(3000)[0]);
    let asked = wire.question().unwrap();
    let told = wire.answer(asked);
    let names: Vec<_> = (0..100).map(|n| alloc::format!("u{n}")).collect();
    wire.send(&names.join(" "));
    wire.arrive("u99");
    wire.tell(told);
    assert!(wire.delivered().is_empty());
    let asked = wire.question().expect("asks again");
    let told = wire.answer(asked);
    wire.tell(told);
    assert_eq!(wire.delivered(), ["u99"]);
    assert_eq!((wire.receiver.totals().kept, wire.question()), (0, None));
}

/// P14.
#[test]
fn answers_that_nobody_asked_for_change_nothing() {
    let mut wire = wire(Order::Ordered);
    let told = |number| Control::Told {
        channel: 0,
        number,
        next: 4000,
    };
    wire.tell(told(0));
    wire.take(&forgeries(3000)[0]);
    wire.tell(told(0));
    let (_, number) = wire.question().unwrap();
    wire.tell(told(number.wrapping_add(1)));
    assert!(wire.delivered().is_empty());
}

/// P14.
#[test]
fn questions_and_answers_that_are_lost_are_repeated() {
    let mut wire = wire(Order::Ordered);
    wire.take(&forgeries(3000)[0]);
    let (channel, number) = wire.question().unwrap();
    wire.receiver
        .lost(&Message::Control(Control::Ask { channel, number }));
    let asked = wire.question().expect("asks again");
    let told = wire.answer(asked);
    wire.sender.lost(&Message::Control(told));
    let later = wire.sender.scheduler.now + Duration::from_secs(1);
    wire.sender.look(later);
    assert_eq!(wire.sender.next_signal(), Some(told));
    wire.tell(told);
    assert_eq!(wire.receiver.totals().kept, 0);
    // A question that was answered is not repeated, although its message was lost.
    let (channel, number) = asked;
    wire.receiver
        .lost(&Message::Control(Control::Ask { channel, number }));
    assert_eq!(wire.question(), None);
}

#[test]
fn a_flood_of_questions_gets_an_answer_of_each_channel_in_ten_milliseconds() {
    let mut wire = wire(Order::Ordered);
    let mut answers = Vec::new();
    for micros in (0..30_000).step_by(100) {
        let now = NOW + Duration::from_micros(micros);
        for number in 0..100 {
            wire.sender.on_ask(0, number);
            wire.sender.on_ask(1, number);
        }
        wire.sender.handle_timeout(now);
        wire.sender.look(now);
        while let Some(Control::Told { number, .. }) = wire.sender.next_signal() {
            answers.push((micros, number));
        }
    }
    // An answer for each of the two channels, to the newest question.
    let times = [0, 0, 10_000, 10_000, 20_000, 20_000];
    assert_eq!(answers, times.map(|micros| (micros, 99)));
    assert_eq!(
        wire.sender.signals.answer_deadline(),
        NOW + Duration::from_millis(30)
    );
}

/// A leap that is too short for a suspicion makes the window pass packets that were never sent. Their ids are
/// not used. Q8.
#[test]
fn a_sender_goes_on_behind_what_was_forged_and_consumed() {
    for order in [Order::Ordered, Order::Unordered] {
        let mut wire = wire(order);
        wire.send("r0");
        wire.take_all();
        assert_eq!(wire.delivered(), ["r0"]);
        wire.take(&forgeries(20)[0]);
        assert_eq!(wire.delivered().len(), 1);
        for n in 1..4 {
            wire.receiver.handle_timeout(NOW + n * REPORT_AFTER);
        }
        // The window has passed 20, which was never sent; the sender takes 21 for its next packet.
        assert_eq!(wire.window_acks().last(), Some(&20));
        wire.sender.audit(&mut Audit::default(), LONGEST);
        for n in 21..5000 {
            wire.send(&alloc::format!("r{n}"));
            wire.take_all();
            assert_eq!(wire.delivered(), [alloc::format!("r{n}")]);
            wire.window_acks();
        }
    }
}

/// A packet was forged in the place of one that is sent later, and can never become complete. Q13.
#[test]
fn what_two_frames_contradict_is_forgotten() {
    let forged = |mode, dependency, fragment: Option<(u32, u32)>| {
        Message::Packet(Packet {
            mode,
            channel: 0,
            id: 5,
            dependency,
            fragment: fragment.and_then(|(offset, len)| crate::frame::Fragment::new(offset, len)),
            receipt: false,
            payload: MessageBytes::Own(Bytes::from(alloc::vec![7; 300])),
        })
    };
    for forged in [
        forged(Mode::Reliable, 1, Some((0, 600))),
        forged(Mode::Passive, 1, None),
        forged(Mode::Reliable, 2, None),
        forged(Mode::Unreliable, 0, Some((0, 900))),
    ] {
        let mut wire = wire(Order::Ordered);
        wire.take(&forged);
        wire.send("r0 r1 r2 r3 r4 r5 r6");
        let sent = core::mem::take(&mut wire.messages);
        // All packets are in one frame, whose messages are sent again until a frame is taken.
        let mut refused = 0;
        loop {
            wire.receiver.next_frame();
            let frame = wire.receiver.frame;
            let all: Vec<Message<&[u8]>> = (sent.iter())
                .map(|message| match message {
                    Message::Packet(packet) => Message::Packet(borrow(packet)),
                    Message::Control(_) => unreachable!(),
                })
                .collect();
            let bad = |message: &Message<&[u8]>| match message {
                Message::Packet(packet) => wire.receiver.check_packet(packet) == Verdict::Violation,
                Message::Control(_) => false,
            };
            if !all.iter().any(bad) {
                break;
            }
            refused += 1;
            wire.receiver.on_refused(frame, &all);
            wire.receiver.audit(&mut Audit::default(), LONGEST);
        }
        // Two frames that contradict what is kept: the third one is taken.
        assert_eq!(refused, 2);
        for message in &sent {
            wire.take(message);
        }
        let delivered = wire.delivered();
        assert_eq!(delivered, ["r0", "r1", "r2", "r3", "r4", "r5", "r6"]);
    }
}

/// A forged packet depends on an unreliable one that was lost: all later packets would wait for it.
/// Q13.
#[test]
fn a_dependency_that_later_packets_deny_is_forgotten() {
    let mut wire = wire(Order::Ordered);
    wire.send("u0 u1 u2 u3 u4 u5 u6 u7 u8 u9");
    wire.arrive("u0");
    let forged = Packet {
        mode: Mode::Unreliable,
        channel: 0,
        id: 5,
        dependency: 1,
        fragment: None,
        receipt: false,
        payload: &[7; 10][..],
    };
    wire.receiver
        .next_frame()
        .on_packet(&forged, NOW, &mut Buffers::new(0));
    wire.arrive("u1");
    assert_eq!(wire.delivered(), ["u0", "u1"]);
    for name in ["u6", "u7"] {
        let message = wire.messages.iter().find(|other| is_called(other, name));
        let Some(Message::Packet(packet)) = message else {
            unreachable!()
        };
        let packet = borrow(packet);
        assert_eq!(wire.receiver.check_packet(&packet), Verdict::Violation);
        let frame = wire.receiver.next_frame().frame;
        wire.receiver.on_refused(frame, &[Message::Packet(packet)]);
    }
    // After two refused frames the forged packet is forgotten, and nothing waits for packet 4 any more.
    wire.arrive("u8 u9");
    assert_eq!(wire.delivered(), ["u8", "u9"]);
}

/// P14.
#[test]
fn what_is_held_back_at_the_end_of_the_connection_is_given_out_in_order() {
    for order in [Order::Ordered, Order::Unordered] {
        let mut wire = wire(order);
        // given: two packets so far ahead that each is only a suspect
        for id in [100, 200] {
            wire.take(&forgeries(id)[2]);
            assert!(!wire.receiver.is_readable(), "{order:?}");
        }
        // when: nobody can be asked any more / then
        let _ = wire.receiver.close();
        let read = core::iter::from_fn(|| wire.receiver.receive(NOW));
        assert_eq!(read.count(), 2, "{order:?}");
        wire.receiver.audit(&mut Audit::default(), LONGEST);
    }
}

/// P14.
#[test]
fn an_older_question_does_not_take_the_place_of_a_newer_one() {
    for (newer, older) in [(2, 1), (0, u16::MAX)] {
        let mut wire = wire(Order::Ordered);
        wire.sender.on_ask(0, newer);
        // when: an older one is late, or its answer was lost
        wire.sender.on_ask(0, older);
        assert!(!wire.sender.lost(&Message::Control(Control::Told {
            channel: 0,
            number: older,
            next: 0,
        })));
        let told = wire.sender.next_signal();
        assert!(
            matches!(told, Some(Control::Told { number, .. }) if number == newer),
            "{told:?}"
        );
    }
}
