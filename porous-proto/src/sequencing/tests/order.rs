//! Turns, sentinels and dependencies at their edges, and ids that wrap.

use super::*;
use crate::buffers::Buffers;

/// The ids of the sentinel packets that were sent.
fn sentinels(wire: &Wire) -> Vec<u32> {
    let mut ids = Vec::new();
    for message in &wire.messages {
        if let Message::Control(Control::Sentinel(Marker { id, .. })) = *message {
            ids.push(id);
        }
    }
    ids
}

/// Sends a packet of 25 bytes in three fragments, and returns them.
fn fragments(wire: &mut Wire, mode: Mode) -> Vec<Packet<MessageBytes>> {
    let before = wire.messages.len();
    wire.sender.send(0, Bytes::from_static(&[7; 25]), mode);
    wire.send("");
    let mut parts = Vec::new();
    for message in &wire.messages[before..] {
        if let Message::Packet(packet) = message {
            parts.push(packet.clone());
        }
    }
    assert_eq!(parts.len(), 3);
    parts
}

/// Sends a packet that arrives, is delivered, and is acknowledged. Returns its dependency.
fn pass(wire: &mut Wire, name: &str) -> u16 {
    wire.messages.clear();
    wire.send(name);
    wire.arrive(name);
    assert_eq!(wire.delivered(), [name]);
    wire.window_acks();
    match wire.messages.iter().find(|sent| is_called(sent, name)) {
        Some(Message::Packet(packet)) => packet.dependency,
        _ => unreachable!(),
    }
}

#[test]
fn receiving_takes_turns_between_channels() {
    let mut wire = Wire::new(params(16, 2));
    for channel in [0, 1] {
        for _ in 0..3 {
            let packet = Packet {
                mode: Mode::Passive,
                channel,
                id: wire.messages.len().try_into().unwrap(),
                dependency: 0,
                fragment: None,
                receipt: false,
                payload: &b""[..],
            };
            wire.receiver
                .next_frame()
                .on_packet(&packet, NOW, &mut Buffers::new(0));
            wire.messages.push(Message::Control(Control::Noop));
        }
    }
    let order: Vec<u8> = core::iter::from_fn(|| wire.receiver.receive(NOW))
        .map(|(channel, ..)| channel)
        .collect();
    assert_eq!(order, [0, 1, 0, 1, 0, 1]); // Q11
}

#[test]
fn an_incomplete_packet_counts_as_the_newest() {
    let mut wire = Wire::new(params(4, 2));
    wire.send("u0 u1 u2");
    let parts = fragments(&mut wire, Mode::Unreliable);
    wire.arrive("s1");
    assert!(wire.delivered().is_empty());
    assert_eq!(wire.m_b(), 0);
    // One fragment of packet 3 shows as well as all of it how far the sender is: 3 - 1 >= N_Q - M (Q5).
    wire.receiver
        .next_frame()
        .on_packet(&borrow(&parts[1]), NOW, &mut Buffers::new(0));
    assert!(wire.delivered().is_empty());
    assert_eq!(wire.m_b(), 2);
}

#[test]
fn a_sentinel_waits_for_what_its_packet_depends_on() {
    let mut wire = Wire::new(params(4, 2));
    wire.send("r0 u1 u2 u3");
    wire.arrive("s1 s3");
    assert!(wire.delivered().is_empty());
    assert_eq!(wire.m_b(), 0); // Q6
    wire.arrive("r0");
    assert_eq!(wire.delivered(), ["r0"]);
    assert_eq!(wire.m_b(), 2);
}

#[test]
fn only_unreliable_packets_have_sentinels() {
    let mut wire = Wire::new(params(8, 2));
    wire.send("u0 r1 u2 p3 r4 u5 p6 u7");
    assert_eq!(sentinels(&wire), [5, 7]); // Q6
}

#[test]
fn of_two_fragments_in_one_datagram_the_first_counts() {
    let mut wire = Wire::new(params(16, 2));
    let parts = fragments(&mut wire, Mode::Reliable);
    let mut other = parts[1].clone();
    other.mode = Mode::Passive;
    other.payload = MessageBytes::Own(Bytes::from_static(&[8; 10]));
    // All messages of a datagram are checked before any is taken: nothing is there yet to contradict (Q13).
    for part in [&parts[0], &other] {
        let verdict = wire.receiver.check_packet(&borrow(part));
        assert!(matches!(verdict, Verdict::Begin));
    }
    for part in [&parts[0], &other, &parts[1], &parts[2]] {
        wire.receiver
            .next_frame()
            .on_packet(&borrow(part), NOW, &mut Buffers::new(0));
    }
    assert_eq!(
        wire.receiver.receive(NOW),
        Some((0, Mode::Reliable, Bytes::from_static(&[7; 25])))
    );
}

#[test]
fn a_channel_beyond_the_agreed_ones_is_a_violation() {
    let mut wire = Wire::new(params(16, 2));
    wire.send("u0 u1");
    let Message::Packet(packet) = &wire.messages[0] else {
        unreachable!()
    };
    for (channel, refused) in [(0, false), (1, false), (2, true), (255, true)] {
        let packet = Packet {
            channel,
            ..borrow(packet)
        };
        let verdicts = [
            wire.receiver.check_packet(&packet),
            wire.receiver.check_sentinel(marker(channel, 1, 0)),
            wire.receiver.check_tombstone(marker(channel, 1, 0)),
        ];
        let violations = verdicts.map(|verdict| verdict == Verdict::Violation);
        assert_eq!(violations, [refused; 3], "{channel}"); // C18
    }
}

/// Dependencies reach back less than a window, also after more packets than the wire has ids (Q7).
#[test]
fn a_dependency_does_not_come_round_with_the_ids() {
    let mut wire = Wire::starting_at(params(16, 2), (1 << 16) - 3);
    assert_eq!(pass(&mut wire, "r"), 0);
    for _ in 0..15 {
        assert!((1..16).contains(&pass(&mut wire, "u")));
    }
    // More packets than there are ids of two bytes.
    for _ in 0..(1 << 16) + 20 {
        assert_eq!(pass(&mut wire, "u"), 0);
    }
    // A new reliable packet is waited for as ever.
    wire.send("r0 u1");
    wire.arrive("u1");
    assert!(wire.delivered().is_empty());
    wire.arrive("r0");
    assert_eq!(wire.delivered(), ["r0", "u1"]);
}

#[test]
fn what_the_window_passed_is_stale_for_as_long_as_the_ids_can_tell() {
    for bits in [16, 24] {
        let params = SequencingParams {
            id_bits: bits,
            ..params(16, 2)
        };
        let modulus = 1_u64 << bits;
        for base in [modulus - 1, modulus, modulus + 1, 5 * modulus + 7] {
            let wire = Wire::starting_at(params, base);
            let check = |id: u64| {
                let packet = Packet {
                    mode: Mode::Reliable,
                    channel: 0,
                    id: serial::truncate(id, bits),
                    dependency: 0,
                    fragment: None,
                    receipt: false,
                    payload: &b""[..],
                };
                wire.receiver.check_packet(&packet)
            };
            for id in base..base + 16 {
                assert!(matches!(check(id), Verdict::Begin), "{base}, {id}");
            }
            let oldest = (base + 16).saturating_sub(modulus);
            // For ids of 3 bytes, `modulus / 256` is a whole round of ids of 2 bytes.
            let behind = [1, modulus / 256, modulus / 2 + 1].map(|behind| base - behind);
            for id in [oldest, oldest + 1].into_iter().chain(behind) {
                assert_eq!(check(id), Verdict::Stale, "{base}, {id}");
            }
        }
    }
}
