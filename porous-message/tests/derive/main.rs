//! `#[derive(Message)]` implements the same as one would write by hand. Without `std`.
#![no_std]

extern crate alloc;
extern crate std;

mod attributes;
mod enums;
mod faults;
mod hygiene;
mod lists;
mod random;
mod types;

use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Debug;

use porous_message::{Error, Serialize, WriteStream, measure, read};

/// The bits that these steps write, and the bytes.
fn written(
    steps: impl FnOnce(&mut WriteStream<'_>) -> Result<(), Error>,
) -> Result<(usize, Vec<u8>), Error> {
    let mut buffer = vec![0xFF; 1 << 16];
    let mut stream = WriteStream::new(&mut buffer);
    steps(&mut stream)?;
    let bits = stream.written();
    let bytes = stream.finish().to_vec();
    Ok((bits, bytes))
}

/// Checks that a value is written and measured as by these steps, and that the same value is read.
#[track_caller]
fn is<T: Serialize + Debug + PartialEq>(
    mut value: T,
    by_hand: impl FnOnce(&mut WriteStream<'_>) -> Result<(), Error>,
) {
    let derived = written(|stream| value.serialize(stream));
    assert_eq!(derived, written(by_hand), "{value:?}");
    let Ok((bits, bytes)) = derived else {
        return;
    };
    // Padding is measured as seven bits.
    let bits = bits as u64;
    let measured = measure(&mut value);
    assert!(
        measured.is_ok_and(|measured| (bits..=bits + 7).contains(&measured)),
        "{value:?}"
    );
    assert_eq!(read(&bytes).as_ref(), Ok(&value));
}

/// Checks that a value is refused with this error, both when it is written and when it is measured.
#[track_caller]
fn fails<T: Serialize + Debug>(mut value: T, error: Error) {
    assert_eq!(
        written(|stream| value.serialize(stream)),
        Err(error),
        "{value:?}"
    );
    assert_eq!(measure(&mut value), Err(error), "{value:?}");
}
