//! Messages that are longer than the path carries: it has become narrower since they were cut, and they
//! wait to be sent, or to be sent again (`docs/wire.md`, "Messages").

use bytes::Bytes;

use super::store::Outgoing;
use crate::frame::{Fragment, LEAST_FRAGMENT, Message, Packet};

/// Where to cut a part of a packet of which `most` bytes fit into a datagram: how long the first piece
/// is, and where the second begins. What follows the first piece may be cut once more. None if all of it
/// fits.
fn cut(len: usize, is_end: bool, most: usize) -> Option<(usize, usize)> {
    if len <= most {
        return None;
    }
    if is_end {
        return Some((most, most));
    }
    // What is no end must not be short. If that leaves too little of the first piece, the two overlap.
    let rest = len.saturating_sub(LEAST_FRAGMENT);
    let first = if rest < LEAST_FRAGMENT {
        most
    } else {
        most.min(rest)
    };
    Some((first, first.min(rest)))
}

/// Cuts a message of which `most` bytes fit into a datagram: its second piece.
pub(super) fn split(outgoing: &mut Outgoing, most: usize) -> Option<Outgoing> {
    let Message::Packet(packet) = &mut outgoing.message else {
        return None;
    };
    let (offset, len) = packet.part();
    let is_end = u64::from(offset) + packet.payload.len() as u64 == u64::from(len);
    let (first, start) = cut(packet.payload.len(), is_end, most)?;
    // Copies, as one piece must not hold the memory of both.
    let rest = Bytes::copy_from_slice(&packet.payload[start..]);
    let start = offset.saturating_add(u32::try_from(start).unwrap_or(u32::MAX));
    packet.payload = Bytes::copy_from_slice(&packet.payload[..first]);
    packet.fragment = Fragment::new(offset, len);
    let second = Packet {
        fragment: Fragment::new(start, len),
        payload: rest,
        ..*packet
    };
    Some(Outgoing {
        message: Message::Packet(second),
        ..*outgoing
    })
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::super::Delivery;
    use super::*;
    use crate::config::Priority;
    use crate::frame::Mode;

    /// The pieces that a part of a packet is cut into on a path that carries so much: where they begin
    /// and end.
    fn pieces(len: usize, is_end: bool, most: usize) -> Vec<(usize, usize)> {
        let (mut pieces, mut from) = (Vec::new(), 0);
        while let Some((first, start)) = cut(len - from, is_end, most) {
            pieces.push((from, from + first));
            from += start;
            assert!(start > 0 && from < len, "{len} {most}");
        }
        pieces.push((from, len));
        pieces
    }

    #[test]
    fn pieces_are_not_short_and_leave_nothing_out() {
        for most in [256, 257, 400, 452, 464, 511, 512, 600, 1152, 8952] {
            for len in (256..2 * most + 600).chain([65_000]) {
                for is_end in [false, true] {
                    let pieces = pieces(len, is_end, most);
                    let context = alloc::format!("{len} {is_end} {most}: {pieces:?}");
                    assert_eq!(
                        (pieces[0].0, pieces[pieces.len() - 1].1),
                        (0, len),
                        "{context}"
                    );
                    for (n, &(start, end)) in pieces.iter().enumerate() {
                        let is_last = n + 1 == pieces.len();
                        let least = if is_last && is_end { 1 } else { LEAST_FRAGMENT };
                        assert!((least..=most).contains(&(end - start)), "{context}");
                        let next = pieces.get(n + 1).map_or(len, |next| next.0);
                        assert!(
                            next <= end && (next == end || len - start < 512),
                            "{context}"
                        );
                    }
                    let needless = pieces.len() > len.div_ceil(most) + 1;
                    assert!(!needless, "{context}");
                }
            }
        }
    }

    #[test]
    fn what_is_just_too_long_for_two_pieces_overlaps() {
        assert_eq!(pieces(492, false, 464), [(0, 464), (236, 492)]);
        assert_eq!(pieces(492, true, 464), [(0, 464), (464, 492)]);
        assert_eq!(pieces(1152, false, 1000), [(0, 896), (896, 1152)]);
        assert_eq!(pieces(1404, false, 1152), [(0, 1148), (1148, 1404)]);
    }

    #[test]
    fn a_packet_that_was_sent_whole_becomes_fragments_with_the_same_bytes() {
        let payload: Vec<u8> = (0..1400_u16).map(|n| n.to_le_bytes()[0]).collect();
        let mut first = Outgoing {
            message: Message::Packet(Packet {
                mode: Mode::Reliable,
                channel: 3,
                id: 9,
                dependency: 2,
                fragment: None,
                receipt: false,
                payload: payload.clone().into(),
            }),
            delivery: Delivery::Reliable,
            priority: Priority::High,
            copies: 1,
            probed: true,
        };
        assert!(split(&mut first.clone(), 1400).is_none());
        let second = split(&mut first, 1152).unwrap();
        let part = |outgoing: &Outgoing| match &outgoing.message {
            Message::Packet(packet) => {
                assert_eq!((packet.channel, packet.id, packet.dependency), (3, 9, 2));
                (packet.part(), packet.payload.to_vec())
            }
            Message::Control(_) => unreachable!(),
        };
        assert_eq!(part(&first), ((0, 1400), payload[..1152].to_vec()));
        assert_eq!(part(&second), ((1152, 1400), payload[1152..].to_vec()));
        assert_eq!((second.copies, second.priority), (1, Priority::High));
    }
}
