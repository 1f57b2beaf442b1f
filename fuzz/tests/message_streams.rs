//! Any steps in the streams of `porous-message`, with any value, and with any bytes to read: the checks of
//! its own tests, with inputs that a fuzzer finds.

#[path = "../../porous-message/tests/streams/draw.rs"]
mod draw;
#[path = "../../porous-message/tests/streams/examine.rs"]
mod examine;
#[path = "../../porous-message/tests/streams/shape.rs"]
mod shape;

use bolero::check;

use crate::draw::Source;

/// The first byte is the number of bytes that choose the steps. The value is drawn from the rest, and the
/// rest is also read. Returns true if the value was written, and true if the bytes were read.
fn run(input: &[u8]) -> [bool; 2] {
    let Some((len, rest)) = input.split_first() else {
        return [false; 2];
    };
    let (choice, bytes) = rest.split_at(rest.len().min((*len).into()));
    let shape = Source(choice).shape(0);
    let value = Source(bytes).value(&shape);
    [
        examine::value(&shape, &value),
        examine::bytes(&shape, bytes),
    ]
}

#[test]
fn what_streams_write_is_measured_and_read_alike() {
    check!()
        .with_max_len(600)
        .with_iterations(50_000)
        .for_each(|input: &[u8]| {
            run(input);
        });
}

#[test]
fn the_target_writes_and_reads() {
    // Three bits: 7 fits, and 9 does not.
    assert_eq!(run(&[3, 1, 0, 3, 0, 7, 255]), [true, true]);
    assert_eq!(run(&[3, 1, 0, 3, 0, 9, 0]), [false, true]);
    assert_eq!(run(&[3, 1, 0, 3]), [true, false]);
}
