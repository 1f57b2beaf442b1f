//! The bytes of a packet, as the application hands them over.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use bytes::{Bytes, BytesMut};

use crate::buffers::Buffers;

/// The bytes of a packet that is [sent](crate::Host::send): a slice, which the host copies, or memory that the
/// host takes over. What is `Into<Payload>` is good for `send`: `&[u8]`, `&[u8; N]` and `&str` are copied;
/// [`Bytes`], [`BytesMut`], `Vec<u8>`, `Box<[u8]>` and `String` are taken over.
///
/// A slice is copied into memory that the host uses again and again, so that sending it allocates nothing once
/// the host is warm. The host keeps 8 MiB of such memory at most, or a sixteenth of the budgets of all its peers
/// (see [`Config`](crate::Config::host_receive_budget)) if this is less; beyond it, each packet takes an allocation. [`Bytes`] are the choice for bytes that go to several peers, as all of them share one copy, and
/// for long packets, which cost nothing to hand over; `Bytes::from_static` for what is a part of the program.
///
/// ```
/// use bytes::Bytes;
/// use porous_proto::{ChannelId, Mode, Payload};
/// # use porous_proto::hooks::doc::example_pair;
///
/// # let (mut host, peer) = example_pair();
/// let position = [1, 2, 3];
/// host.send(peer, ChannelId(0), &position, Mode::Unreliable)?; // copied
/// let level = Bytes::from(vec![0; 100_000]);
/// host.send(peer, ChannelId(0), level.clone(), Mode::Reliable)?; // shared
/// assert_eq!(Payload::from(&position).len(), 3);
/// # Ok::<(), porous_proto::SendError>(())
/// ```
#[derive(Clone, Debug)]
pub enum Payload<'a> {
    /// The host copies the bytes. If it [refuses](crate::SendError) the packet, it does not.
    Copied(&'a [u8]),
    /// The host holds the memory until the packet needs it no more.
    Shared(Bytes),
}

impl Payload<'_> {
    /// The length of the packet in bytes.
    ///
    /// ```
    /// use porous_proto::Payload;
    ///
    /// assert_eq!(Payload::from("hello").len(), 5);
    /// ```
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::Copied(bytes) => bytes.len(),
            Self::Shared(bytes) => bytes.len(),
        }
    }

    /// Whether the packet has no bytes.
    ///
    /// ```
    /// use porous_proto::Payload;
    ///
    /// assert!(Payload::from("").is_empty());
    /// ```
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes, in memory that the host may hold.
    pub(crate) fn into_bytes(self, buffers: &mut Buffers) -> Bytes {
        match self {
            Self::Copied(bytes) => buffers.copy(bytes),
            Self::Shared(bytes) => bytes,
        }
    }
}

impl<'a> From<&'a [u8]> for Payload<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Copied(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Payload<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Self::Copied(bytes)
    }
}

impl<'a> From<&'a str> for Payload<'a> {
    fn from(text: &'a str) -> Self {
        Self::Copied(text.as_bytes())
    }
}

impl From<Bytes> for Payload<'_> {
    fn from(bytes: Bytes) -> Self {
        Self::Shared(bytes)
    }
}

impl From<BytesMut> for Payload<'_> {
    fn from(bytes: BytesMut) -> Self {
        Self::Shared(bytes.freeze())
    }
}

impl From<Vec<u8>> for Payload<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Shared(bytes.into())
    }
}

impl From<Box<[u8]>> for Payload<'_> {
    fn from(bytes: Box<[u8]>) -> Self {
        Self::Shared(bytes.into())
    }
}

impl From<String> for Payload<'_> {
    fn from(text: String) -> Self {
        Self::Shared(text.into())
    }
}
