//! Any frame that the library can build, under any agreement. An encoder that was written from the
//! document alone writes it; the library reads the intended forms, and would have written the same.

use bolero::{TypeGenerator, check};
use porous_fuzz::codec::{Choice, agreement, read, seal};
use porous_fuzz::plan::sealed::Sealed;
use porous_fuzz::plan::{Plan, Short};
use porous_proto::hooks::codec::Check;
use porous_proto::{Integrity, Malformed};
use porous_tests::encoder::Waste;

/// A damage of a datagram: flipped bits, a changed byte, a missing part.
#[derive(Clone, Copy, Debug, TypeGenerator)]
enum Damage {
    Bits(u16, u8),
    Byte(u16, u8),
    Truncated(u16),
}

fn damaged(bytes: &mut Vec<u8>, damage: &[Damage]) {
    for damage in damage.iter().take(4) {
        let (Damage::Bits(at, _) | Damage::Byte(at, _) | Damage::Truncated(at)) = *damage;
        let at = usize::from(at) % bytes.len();
        match *damage {
            Damage::Bits(_, bits) => bytes[at] ^= bits,
            Damage::Byte(_, byte) => bytes[at] = byte,
            Damage::Truncated(_) => bytes.truncate(at + 1),
        }
    }
}

fn run(choice: Choice, plan: &Plan) -> Vec<u8> {
    let agreement = agreement(choice);
    let (meant, bytes) = plan.encode(&agreement);
    let forms = read(&bytes, &agreement);
    assert_eq!(forms.as_ref(), Ok(&meant), "{bytes:02x?}");
    bytes
}

#[test]
fn what_the_document_writes_the_library_reads_and_would_write() {
    check!()
        .with_type::<(Choice, Plan)>()
        .with_iterations(20_000)
        .for_each(|(choice, plan)| drop(run(*choice, plan)));
}

#[test]
fn what_the_document_writes_of_sealing_the_library_reads_and_would_write() {
    check!()
        .with_type::<(Choice, Sealed, Vec<Damage>)>()
        .with_iterations(20_000)
        .for_each(|(choice, plan, damage)| {
            let agreement = agreement(*choice);
            let (meant, mut bytes) = plan.encode(&agreement);
            let forms = read(&bytes, &agreement);
            assert_eq!(forms.as_ref(), Ok(&meant), "{bytes:02x?}");
            damaged(&mut bytes, damage);
            let _ = read(&bytes, &agreement);
        });
}

/// The encoder decides which spellings differ.
#[test]
fn what_is_spelled_in_a_longer_way_is_refused() {
    check!()
        .with_type::<(Choice, Short, bool, u8, u8)>()
        .with_iterations(20_000)
        .for_each(|(choice, short, map, message, fields)| {
            let agreement = agreement(*choice);
            let waste = Waste {
                map: *map,
                message: usize::from(message % 8),
                fields: *fields,
            };
            let [one, other] = short.spell(&agreement, waste);
            let read = read(&other, &agreement);
            if one == other {
                assert!(read.is_ok(), "{read:?}");
            } else {
                assert_eq!(read, Err(Malformed::NotCanonical));
            }
        });
}

/// Damaged datagrams come further than random ones. A check that covers all bytes finds any one changed
/// byte. Then the damaged datagram gets a valid check, so that it comes further.
#[test]
fn what_is_damaged_is_refused_or_means_something_else() {
    check!()
        .with_type::<(Choice, Plan, Vec<Damage>)>()
        .with_iterations(20_000)
        .for_each(|(choice, plan, damage)| {
            let mut bytes = run(*choice, plan);
            let agreement = agreement(*choice);
            let before = bytes.clone();
            damaged(&mut bytes, damage);
            if bytes == before {
                return;
            }
            let is_short = bytes[0] & 0xC0 == 0x40;
            if let ([Damage::Bits(..) | Damage::Byte(..)], true) = (&damage[..], is_short) {
                let read = read(&bytes, &agreement);
                let crc = |check: Check| check.integrity == Integrity::Crc32c;
                let is_found = agreement.check.is_some_and(crc);
                assert!(!is_found || read.is_err(), "{read:?}");
            }
            seal(&mut bytes, &agreement);
            let _ = read(&bytes, &agreement);
        });
}
