//! Packets that carry the time when they were sent, and whose every byte can be checked.
//!
//! One byte of kind, four of number, eight of time, little-endian; the rest is drawn from the
//! seed, the kind, the number and the time, so that a change to any of them shows as well.

use porous_sim::Seed;
use porous_sim::rand_core::Rng;
use porous_std::{Bytes, Instant};

use super::kind::Kind;

const HEADER: usize = 13;

/// Packet `number` of its kind.
pub(crate) fn make(kind: Kind, seed: Seed, number: u32, sent: Instant) -> Bytes {
    let mut packet = vec![0; kind.size()];
    packet[0] = kind as u8;
    packet[1..5].copy_from_slice(&number.to_le_bytes());
    packet[5..HEADER].copy_from_slice(&sent.as_micros().to_le_bytes());
    fill(&mut packet[HEADER..], kind, seed, number, sent);
    packet.into()
}

/// The number of the packet and the time when it was made; `None` if any of its bytes is wrong.
pub(crate) fn check(kind: Kind, seed: Seed, packet: &[u8]) -> Option<(u32, Instant)> {
    if packet.len() != kind.size() || packet[0] != kind as u8 {
        return None;
    }
    let number = u32::from_le_bytes(packet[1..5].try_into().ok()?);
    let micros = u64::from_le_bytes(packet[5..HEADER].try_into().ok()?);
    let sent = Instant::from_micros(micros);
    let mut body = vec![0; packet.len() - HEADER];
    fill(&mut body, kind, seed, number, sent);
    (body == packet[HEADER..]).then_some((number, sent))
}

fn fill(body: &mut [u8], kind: Kind, seed: Seed, number: u32, sent: Instant) {
    let name = match kind {
        Kind::Event => "event",
        Kind::State => "state",
        Kind::Update => "update",
    };
    // The time goes into the seed, so that a changed time changes all bytes.
    let seed = Seed::new(seed.get() ^ sent.as_micros());
    seed.stream(name, number.into()).fill_bytes(body);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: Seed = Seed::new(7);

    #[test]
    fn what_is_made_is_right() {
        let sent = Instant::from_micros(123_456);
        for kind in Kind::ALL {
            let packet = make(kind, SEED, 9, sent);
            assert_eq!(packet.len(), kind.size());
            assert_eq!(check(kind, SEED, &packet), Some((9, sent)));
        }
    }

    #[test]
    fn any_changed_byte_shows() {
        for kind in Kind::ALL {
            let packet = make(kind, SEED, 9, Instant::from_micros(123_456));
            for at in 0..packet.len() {
                let mut changed = packet.to_vec();
                changed[at] ^= 0x10;
                assert_eq!(check(kind, SEED, &changed), None, "{kind:?} byte {at}");
            }
        }
    }

    #[test]
    fn somebody_elses_packet_shows() {
        let packet = make(Kind::Event, SEED, 9, Instant::ZERO);
        assert_eq!(check(Kind::State, SEED, &packet), None);
        assert_eq!(check(Kind::Event, Seed::new(8), &packet), None);
        assert_eq!(check(Kind::Event, SEED, &packet[..23]), None);
        assert_eq!(check(Kind::Event, SEED, b""), None);
    }
}
