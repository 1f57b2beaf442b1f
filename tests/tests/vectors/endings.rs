//! REJ, DISC, `DISC_ACK` and RESET.

use porous_tests::encoder::{VERSION, long};

use super::offers::{ANSWERS, ASKS, BEFORE_RELEASE, bytes};
use super::vector::Vector;

/// The body of a REJ.
pub(crate) fn body(reason: u8, oldest: u32, data: &[u8]) -> Vec<u8> {
    let length = u8::try_from(data.len()).unwrap();
    [&[reason][..], &oldest.to_le_bytes(), &[length], data].concat()
}

pub(crate) fn all() -> Vec<Vector> {
    [refusals(), goodbyes(), resets()].concat()
}

fn refusals() -> Vec<Vector> {
    let plain = [(0, "version"), (2, "full"), (4, "security")];
    let plain = plain.map(|(reason, name)| {
        let refusal = long(0xE0, VERSION, [0, ASKS], &body(reason, VERSION, &[]));
        Vector::long(format!("REJ: {name}"), refusal)
    });
    let ids = [0, 1, 0x0123_4567_89AB_CDEF, u64::MAX].map(|id: u64| {
        let refusal = body(1, VERSION, &id.to_le_bytes());
        let refusal = long(0xE0, VERSION, [0, ASKS], &refusal);
        Vector::long(format!("REJ: the application is {id:x}"), refusal)
    });
    let data = [0, 1, 2, 31, 63, 64].map(|length| {
        let refusal = body(3, VERSION, &bytes(length));
        let refusal = long(0xE0, VERSION, [0, ASKS], &refusal);
        Vector::long(format!("REJ: {length} bytes of the application"), refusal)
    });
    let versions = [
        [0, 0],
        [1, 1],
        [u32::MAX, 1],
        [BEFORE_RELEASE, BEFORE_RELEASE],
        [VERSION + 1, VERSION],
    ];
    let versions = versions.map(|[newest, oldest]| {
        let refusal = long(0xE0, newest, [0, u64::MAX], &body(0, oldest, &[]));
        Vector::long(
            format!("REJ: speaks versions {oldest:x} to {newest:x}"),
            refusal,
        )
    });
    let of_other = long(0xE0, 7, [0, 1], &body(3, 3, b"no"));
    let of_other = Vector::long("REJ: of version 7, with bytes of the application", of_other);
    let parts = plain.into_iter().chain(ids).chain(data).chain(versions);
    parts.chain([of_other]).collect()
}

fn goodbyes() -> Vec<Vector> {
    let reasons = [0, 1, 42, 0xFFFF, u32::MAX].map(|reason: u32| {
        let goodbye = long(0xF0, VERSION, [ASKS, ANSWERS], &reason.to_le_bytes());
        Vector::long(format!("DISC: reason {reason}"), goodbye)
    });
    let nonces = [[ASKS, ANSWERS], [1, u64::MAX], [u64::MAX, 1]];
    let acks = nonces.map(|nonces| {
        let ack = long(0xF1, VERSION, nonces, &[]);
        Vector::long(format!("DISC_ACK: nonces {nonces:x?}"), ack)
    });
    reasons.into_iter().chain(acks).collect()
}

fn resets() -> Vec<Vector> {
    let resets = (1..=20).map(|length| {
        let reset = [vec![0xF2], bytes(length)].concat();
        Vector::long(format!("RESET: a connection id of {length} bytes"), reset)
    });
    resets.collect()
}
