//! The seam between the two layers: where the transfer layer gets its messages from, and whom it tells
//! what became of them. It knows nothing else of the sequencing layer (§3, Figure 4).

use bytes::Bytes;

use crate::config::Priority;
use crate::frame::{Control, Message};

/// A message that is to be sent for the first time.
#[derive(Clone, Debug)]
pub(crate) struct NextMessage {
    pub(crate) message: Message<Bytes>,
    /// The number of further frames that carry it, if they have room (`docs/deviations.md` P8).
    pub(crate) copies: u8,
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

    /// The message was cut off another one, which ends where this one begins.
    fn cut(&mut self, message: &Message<Bytes>);

    /// Whether a message that waits is still of use (`docs/deviations.md` T8, Q9).
    fn is_current(&self, message: &Message<Bytes>) -> bool;

    /// The message was not sent, and will not be.
    fn skipped(&mut self, message: &Message<Bytes>);

    /// The message is in the next frame, for the first time or again.
    fn sent(&mut self, message: &Message<Bytes>);

    /// The message arrived.
    fn acknowledged(&mut self, message: &Message<Bytes>);

    /// A message that is not sent again was dropped. Returns whether the source wants to hear of it if it has
    /// [arrived](Self::acknowledged) after all.
    fn lost(&mut self, message: &Message<Bytes>) -> bool;
}
