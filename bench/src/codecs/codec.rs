//! The codecs. Each writes into a buffer that it keeps, so that no allocation is measured.

use bincode::config;
use bincode::enc::write::SizeWriter;
use porous_message::{MeasureStream, ReadStream, WriteStream};
use serde::de::DeserializeOwned;

use super::by_hand::ByHand;
use super::state::Integers;

/// The length of a buffer in bytes: longer than any message.
const LENGTH: usize = 128;

/// A message that every codec can write and read.
pub(crate) trait Message:
    From<Integers>
    + porous_message::Serialize
    + ByHand
    + serde::Serialize
    + DeserializeOwned
    + bincode::Encode
    + bincode::Decode<()>
    + bitcode::Encode
    + bitcode::DecodeOwned
{
}

impl<M> Message for M where
    M: From<Integers>
        + porous_message::Serialize
        + ByHand
        + serde::Serialize
        + DeserializeOwned
        + bincode::Encode
        + bincode::Decode<()>
        + bitcode::Encode
        + bitcode::DecodeOwned
{
}

/// A codec.
pub(crate) trait Codec: Default {
    fn write<M: Message>(&mut self, message: &mut M) -> &[u8];
    fn read<M: Message>(&mut self, bytes: &[u8]) -> M;
    /// Bits that a message takes. The message is not written if the codec can measure without.
    fn measure<M: Message>(&mut self, message: &mut M) -> u64;
}

/// Room for a message. A vector, not an array, so that the compiler cannot leave checks of its length out.
pub(crate) struct Buffer(Vec<u8>);

impl Default for Buffer {
    fn default() -> Self {
        Self(vec![0; LENGTH])
    }
}

/// porous-message, derived.
#[derive(Default)]
pub(crate) struct Derived(Buffer);

impl Codec for Derived {
    #[inline]
    fn write<M: Message>(&mut self, message: &mut M) -> &[u8] {
        porous_message::write(message, &mut self.0.0).expect("room")
    }

    #[inline]
    fn read<M: Message>(&mut self, bytes: &[u8]) -> M {
        porous_message::read(bytes).expect("a message")
    }

    #[inline]
    fn measure<M: Message>(&mut self, message: &mut M) -> u64 {
        porous_message::measure(message).expect("bounds")
    }
}

/// porous-message, serialized by hand.
#[derive(Default)]
pub(crate) struct Hand(Buffer);

impl Codec for Hand {
    #[inline]
    fn write<M: Message>(&mut self, message: &mut M) -> &[u8] {
        let mut stream = WriteStream::new(&mut self.0.0);
        message.by_hand(&mut stream).expect("room");
        stream.finish()
    }

    #[inline]
    fn read<M: Message>(&mut self, bytes: &[u8]) -> M {
        let mut stream = ReadStream::new(bytes);
        let mut message = M::default();
        message.by_hand(&mut stream).expect("a message");
        stream.finish().expect("no more");
        message
    }

    #[inline]
    fn measure<M: Message>(&mut self, message: &mut M) -> u64 {
        let mut stream = MeasureStream::new();
        message.by_hand(&mut stream).expect("bounds");
        stream.measured()
    }
}

/// bitcode, which measures a message by writing it.
#[derive(Default)]
pub(crate) struct Bitcode(bitcode::Buffer);

impl Codec for Bitcode {
    #[inline]
    fn write<M: Message>(&mut self, message: &mut M) -> &[u8] {
        self.0.encode(message)
    }

    #[inline]
    fn read<M: Message>(&mut self, bytes: &[u8]) -> M {
        self.0.decode(bytes).expect("a message")
    }

    #[inline]
    fn measure<M: Message>(&mut self, message: &mut M) -> u64 {
        8 * self.write(message).len() as u64
    }
}

/// postcard.
#[derive(Default)]
pub(crate) struct Postcard(Buffer);

impl Codec for Postcard {
    #[inline]
    fn write<M: Message>(&mut self, message: &mut M) -> &[u8] {
        postcard::to_slice(message, &mut self.0.0).expect("room")
    }

    #[inline]
    fn read<M: Message>(&mut self, bytes: &[u8]) -> M {
        postcard::from_bytes(bytes).expect("a message")
    }

    #[inline]
    fn measure<M: Message>(&mut self, message: &mut M) -> u64 {
        let bytes = postcard::experimental::serialized_size(message).expect("a size");
        8 * bytes as u64
    }
}

/// bincode, with small integers in few bytes, which is its standard, or if `FIXED` is true, with integers as
/// long as in memory.
#[derive(Default)]
pub(crate) struct Bincode<const FIXED: bool>(Buffer);

macro_rules! bincode {
    ($fixed:literal $config:expr) => {
        impl Codec for Bincode<$fixed> {
            #[inline]
            fn write<M: Message>(&mut self, message: &mut M) -> &[u8] {
                let len = bincode::encode_into_slice(&*message, &mut self.0.0, $config);
                &self.0.0[..len.expect("room")]
            }

            #[inline]
            fn read<M: Message>(&mut self, bytes: &[u8]) -> M {
                let (message, _) = bincode::decode_from_slice(bytes, $config).expect("a message");
                message
            }

            #[inline]
            fn measure<M: Message>(&mut self, message: &mut M) -> u64 {
                let mut size = SizeWriter::default();
                bincode::encode_into_writer(&*message, &mut size, $config).expect("a size");
                8 * size.bytes_written as u64
            }
        }
    };
}

bincode!(false config::standard());
bincode!(true config::standard().with_fixed_int_encoding());
