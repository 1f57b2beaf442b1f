//! Any bytes, read under any agreement: the decoder does not panic; a form that it accepts has all
//! values within their bounds, and encodes to the same bytes again.

use bolero::check;
use porous_fuzz::codec::{agreement, read, seal};

/// The first three bytes choose the agreement. A bit of the third gives the other bytes a valid check.
fn run(input: &[u8]) -> bool {
    let Some((choice, datagram)) = input.split_first_chunk() else {
        return false;
    };
    let agreement = agreement(*choice);
    if choice[2] & 0x40 == 0 || agreement.check.is_none() {
        return read(datagram, &agreement).is_ok();
    }
    let mut datagram = datagram.to_vec();
    seal(&mut datagram, &agreement);
    read(&datagram, &agreement).is_ok()
}

#[test]
fn what_decodes_is_in_its_bounds_and_has_one_spelling() {
    check!()
        .with_max_len(600)
        .with_iterations(100_000)
        .for_each(|input: &[u8]| {
            run(input);
        });
}

#[test]
fn the_target_reads_datagrams_with_a_check() {
    let plain = [0, 0, 0, 0x40, 7, 0xC0, 0];
    let open = [0, 0, 0x80, 0x40, 7, 0xC0, 0];
    let head = [0, 0, 0xC0, 0x40, 7, 0xC0, 0];
    let all = [21, 0, 0xC0, 0x40, 7, 0xC0, 0];
    assert_eq!(
        [plain, open, head, all].map(|input| run(&input)),
        [true, false, true, true]
    );
}
