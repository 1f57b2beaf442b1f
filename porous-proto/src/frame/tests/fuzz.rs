//! Any bytes: the decoder must not panic, and must accept only what the encoder writes.

use super::round_trip::{Sample, sample};
use super::*;
use proptest::prelude::*;

/// A context and a length of connection ids for each value of a byte.
fn context(choice: u8) -> (usize, Context) {
    let lengths = [0, 1, 4, 20];
    let id_bytes = if choice & 1 == 0 { 2 } else { 3 };
    let context = Context {
        id_bytes,
        window: if id_bytes == 2 { 16 } else { 65_536 },
        tag: if choice & 2 == 0 { 0 } else { 4 },
    };
    (lengths[usize::from(choice >> 2) % lengths.len()], context)
}

fn check(choice: u8, datagram: &[u8]) -> bool {
    let (connection_id_len, context) = context(choice);
    match reencode(datagram, connection_id_len, context) {
        Ok(again) => {
            assert_eq!(again, datagram);
            true
        }
        Err(_) => false,
    }
}

#[test]
fn what_decodes_from_any_bytes_encodes_to_the_same_bytes() {
    bolero::check!().for_each(|input: &[u8]| {
        if let Some((choice, datagram)) = input.split_first() {
            check(*choice, datagram);
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// The decoder refuses random bytes early; damaged datagrams come further.
    #[test]
    fn what_decodes_from_damaged_datagrams_encodes_to_the_same_bytes(
        sample in sample(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 0..4),
    ) {
        let Sample { connection_id_len, context, mut datagram } = sample;
        for (at, byte, edit) in edits {
            let at = at.index(datagram.len());
            match edit {
                0 => datagram[at] ^= 1 << (byte % 8),
                1 => datagram[at] = byte,
                _ => datagram.truncate(at + 1),
            }
        }
        if let Ok(again) = reencode(&datagram, connection_id_len, context) {
            prop_assert_eq!(again, datagram);
        }
    }
}

#[test]
fn the_target_reaches_every_form() {
    let short = short(
        &header(4),
        None,
        &[Message::Control(Control::Ping(7))],
        0,
        CONTEXT,
    );
    assert!(
        check(0x08, &short),
        "choice 8 reads connection ids of 4 bytes"
    );
    let mut pair = bytes_of(|buffer| connect().encode_acknowledge(buffer));
    pair.extend(bytes_of(|buffer| connect().encode_request(&[], buffer)));
    assert!(check(0, &pair));
    let connection_id = ConnectionId::new(&[1]).unwrap();
    let data = RefusalData::new(b"no").unwrap();
    let refuse = Refuse {
        nonce_peer: 7,
        newest_version: 1,
        oldest_version: 1,
        refusal: Refusal::Application(data),
    };
    let (nonce_self, nonce_peer, reason) = (1, 2, 3);
    for form in [
        bytes_of(|buffer| refuse.encode(buffer)),
        bytes_of(|buffer| {
            Disconnect {
                nonce_self,
                nonce_peer,
                reason,
            }
            .encode(buffer)
        }),
        bytes_of(|buffer| {
            DisconnectAck {
                nonce_self,
                nonce_peer,
            }
            .encode(buffer)
        }),
        bytes_of(|buffer| Reset { connection_id }.encode(buffer)),
    ] {
        assert!(check(0, &form), "{form:02x?}");
    }
    assert!(!check(0, &[]) && !check(0, &[0x80]));
}
