//! The seam between the two layers: where the transfer layer gets its messages from, and whom it tells
//! what became of them. It knows nothing else of the sequencing layer (§3, Figure 4).

use bytes::Bytes;

use crate::config::Priority;
use crate::frame::{Control, Length, Message, Mode, Packet};
use crate::options::CopyCount;

/// The bytes of a message that is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MessageBytes {
    /// The message's own.
    Own(Bytes),
    /// Those of a fragment, which the source keeps with the rest of the packet for as long as they may be
    /// sent: their number. A view of the packet would hold all of the packet's memory, also when the packet
    /// has been passed and counts in no budget any more.
    Kept(u32),
}

impl Length for MessageBytes {
    fn length(&self) -> usize {
        match self {
            Self::Own(bytes) => bytes.len(),
            // A packet is at most 4 GiB long by `Config`.
            Self::Kept(len) => usize::try_from(*len).unwrap_or(usize::MAX),
        }
    }
}

impl MessageBytes {
    /// Copies what may be a view of the packet. An unreliable packet leaves the send budget with its last
    /// fragment, and fragments that wait must not hold all of its bytes.
    pub(crate) fn detach(&mut self) {
        if let Self::Own(bytes) = self {
            *bytes = Bytes::copy_from_slice(bytes);
        }
    }

    /// Cuts the payload to its first `first` bytes. Returns those from `start` on.
    pub(crate) fn cut(&mut self, first: usize, start: usize) -> Self {
        match self {
            Self::Own(bytes) => {
                // Copies, since a piece that refers to the whole packet would keep its memory after the other
                // has arrived.
                let rest = Bytes::copy_from_slice(&bytes[start..]);
                *bytes = Bytes::copy_from_slice(&bytes[..first]);
                Self::Own(rest)
            }
            Self::Kept(len) => {
                let [first, start] = [first, start].map(|at| u32::try_from(at).unwrap_or(u32::MAX));
                let rest = Self::Kept(len.saturating_sub(start));
                *len = first;
                rest
            }
        }
    }
}

/// A message that is to be sent for the first time.
#[derive(Clone, Debug)]
pub(crate) struct NextMessage {
    pub(crate) message: Message<MessageBytes>,
    /// The number of further frames that carry it, if they have room (`docs/deviations.md` P8).
    pub(crate) copies: CopyCount,
}

impl NextMessage {
    /// Whether its bytes are a view of its packet, and hold all of it. Such a message leaves at once, or is
    /// [detached](MessageBytes::detach).
    pub(crate) fn is_view(&self) -> bool {
        let Message::Packet(packet) = &self.message else {
            return false;
        };
        // A message of which copies leave later has bytes of its own from the start.
        packet.mode == Mode::Unreliable
            && packet.fragment.is_some()
            && self.copies.get().unwrap_or(0) == 0
    }
}

/// The layer above.
pub(crate) trait Source {
    /// Whether [`next_signal`](Self::next_signal) may have something. False is certain.
    fn has_signal(&self) -> bool;

    /// Whether [`next_message`](Self::next_message) may have something, at any priority. False is certain.
    fn has_message(&mut self) -> bool;

    /// Signalling that is due: a window acknowledgement (§3.2.1), a question or an answer about packets.
    fn next_signal(&mut self) -> Option<Control>;

    /// The next new message of this priority, with `most` bytes of a packet at most.
    fn next_message(&mut self, priority: Priority, most: usize) -> Option<NextMessage>;

    /// The bytes of a fragment that are [kept](MessageBytes::Kept) here. `None` if nothing of its packet is sent
    /// any more; a message that [is current](Self::is_current) has bytes until the next datagram is asked for.
    fn kept(&self, part: &Packet<MessageBytes>) -> Option<&[u8]>;

    /// The message was cut off another one, which ends where this one begins.
    fn cut(&mut self, message: &Message<MessageBytes>);

    /// Whether a message that waits is still of use (`docs/deviations.md` T8, Q9).
    fn is_current(&self, message: &Message<MessageBytes>) -> bool;

    /// The message was not sent, and will not be.
    fn skipped(&mut self, message: &Message<MessageBytes>);

    /// The message is in the next frame, for the first time or again.
    fn sent(&mut self, message: &Message<MessageBytes>);

    /// The message arrived.
    fn acknowledged(&mut self, message: &Message<MessageBytes>);

    /// A message that is not sent again was dropped. Returns whether the source wants to hear of it if it has
    /// [arrived](Self::acknowledged) after all.
    fn lost(&mut self, message: &Message<MessageBytes>) -> bool;
}
