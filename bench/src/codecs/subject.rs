//! The subjects of the comparison: each codec with each form of the message.

use core::fmt;
use core::hint::black_box;

use clap::ValueEnum;

use super::codec::{Bincode, Bitcode, Codec, Derived, Hand, Message, Postcard};
use super::state::{Floats, Integers, messages};

/// Messages in a pass.
pub(crate) const MESSAGES: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Operation {
    Write,
    Read,
    Measure,
}

/// A codec and a form of the message.
pub(crate) struct Subject {
    /// The name of the codec in tables.
    pub(crate) codec: &'static str,
    /// The name of the form in tables.
    pub(crate) form: &'static str,
    /// The length of each written message, in bytes.
    pub(crate) lengths: fn() -> Vec<usize>,
    /// A closure that does the operation with all messages, each time that it is called.
    pub(crate) pass: fn(Operation) -> Box<dyn FnMut()>,
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.form, self.codec)
    }
}

pub(crate) const SUBJECTS: [Subject; 12] = [
    subject::<Derived, Floats>("porous-message", "floats"),
    subject::<Hand, Floats>("porous-by-hand", "floats"),
    subject::<Bitcode, Floats>("bitcode", "floats"),
    subject::<Postcard, Floats>("postcard", "floats"),
    subject::<Bincode<false>, Floats>("bincode", "floats"),
    subject::<Bincode<true>, Floats>("bincode-fixed", "floats"),
    subject::<Derived, Integers>("porous-message", "integers"),
    subject::<Hand, Integers>("porous-by-hand", "integers"),
    subject::<Bitcode, Integers>("bitcode", "integers"),
    subject::<Postcard, Integers>("postcard", "integers"),
    subject::<Bincode<false>, Integers>("bincode", "integers"),
    subject::<Bincode<true>, Integers>("bincode-fixed", "integers"),
];

const fn subject<C: Codec + 'static, M: Message + 'static>(
    codec: &'static str,
    form: &'static str,
) -> Subject {
    Subject {
        codec,
        form,
        lengths: lengths::<C, M>,
        pass: pass::<C, M>,
    }
}

fn lengths<C: Codec, M: Message>() -> Vec<usize> {
    written::<C, M>().iter().map(Vec::len).collect()
}

/// All messages, written.
fn written<C: Codec, M: Message>() -> Vec<Vec<u8>> {
    let mut codec = C::default();
    let mut messages = messages::<M>(MESSAGES);
    let write = |message| codec.write(message).to_vec();
    messages.iter_mut().map(write).collect()
}

fn pass<C: Codec + 'static, M: Message + 'static>(operation: Operation) -> Box<dyn FnMut()> {
    let mut codec = C::default();
    let mut all = messages::<M>(MESSAGES);
    let written = written::<C, M>();
    match operation {
        Operation::Write => Box::new(move || {
            for message in &mut all {
                black_box(codec.write(black_box(message)));
            }
        }),
        Operation::Read => Box::new(move || {
            for bytes in &written {
                black_box(codec.read::<M>(black_box(bytes)));
            }
        }),
        Operation::Measure => Box::new(move || {
            for message in &mut all {
                black_box(codec.measure(black_box(message)));
            }
        }),
    }
}

#[cfg(test)]
mod tests;
