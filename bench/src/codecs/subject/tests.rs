//! Checks of every codec with every message.

use super::super::state::{CENTIMETRE, TENTH};
use super::*;

/// A message that a codec has to give back.
trait Near: PartialEq {
    /// True if both are equal, up to less than a step where numbers are quantized.
    fn is_near(&self, other: &Self) -> bool;
}

impl Near for Integers {
    fn is_near(&self, other: &Self) -> bool {
        self == other
    }
}

impl Near for Floats {
    fn is_near(&self, other: &Self) -> bool {
        let near = |mine: f32, other: f32, step: f32| (mine - other).abs() < step / 2.0;
        let mut axes = self.position.iter().zip(&other.position);
        let rest = Self {
            position: other.position,
            yaw: other.yaw,
            pitch: other.pitch,
            ..self.clone()
        };
        rest == *other
            && axes.all(|(mine, other)| near(*mine, *other, CENTIMETRE))
            && near(self.yaw, other.yaw, TENTH)
            && near(self.pitch, other.pitch, TENTH)
    }
}

/// Checks that all messages are read as they were written, and that none is longer than it measures.
fn gives_back<C: Codec, M: Message + Near>() {
    let mut codec = C::default();
    for (index, mut message) in messages::<M>(MESSAGES).into_iter().enumerate() {
        let bytes = codec.write(&mut message).to_vec();
        let read = codec.read::<M>(&bytes);
        assert!(message.is_near(&read), "message {index}");
        let measured = codec.measure(&mut message).div_ceil(8);
        assert_eq!(measured, bytes.len() as u64, "message {index}");
    }
}

#[test]
fn each_codec_gives_back_what_it_wrote() {
    gives_back::<Derived, Floats>();
    gives_back::<Hand, Floats>();
    gives_back::<Bitcode, Floats>();
    gives_back::<Postcard, Floats>();
    gives_back::<Bincode<false>, Floats>();
    gives_back::<Bincode<true>, Floats>();
    gives_back::<Derived, Integers>();
    gives_back::<Hand, Integers>();
    gives_back::<Bitcode, Integers>();
    gives_back::<Postcard, Integers>();
    gives_back::<Bincode<false>, Integers>();
    gives_back::<Bincode<true>, Integers>();
}

#[test]
fn ours_is_the_shortest_of_each_message() {
    for form in ["floats", "integers"] {
        let subjects = || SUBJECTS.iter().filter(|subject| subject.form == form);
        let is_ours = |subject: &&Subject| subject.codec.starts_with("porous");
        for ours in subjects().filter(is_ours) {
            for other in subjects().filter(|subject| !is_ours(subject)) {
                let pairs = (ours.lengths)().into_iter().zip((other.lengths)());
                for (index, (mine, theirs)) in pairs.enumerate() {
                    let codec = other.codec;
                    assert!(
                        mine < theirs,
                        "message {index}, {form}: {mine} and {codec} {theirs}"
                    );
                }
            }
        }
    }
}

#[test]
fn derived_code_writes_the_same_bytes_as_by_hand() {
    assert_eq!(written::<Derived, Floats>(), written::<Hand, Floats>());
    assert_eq!(written::<Derived, Integers>(), written::<Hand, Integers>());
}
