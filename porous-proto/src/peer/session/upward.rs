//! What passes from the transfer layer to the sequencing layer (Figure 4).

use bytes::Bytes;

use crate::config::Priority;
use crate::frame::{Control, Message, Mode};
use crate::sequencing::Sequencing;
use crate::transfer::{Delivery, NextMessage, Source};

/// What the transfer layer sees of the sequencing layer.
pub(super) struct Upward<'a>(pub(super) &'a mut Sequencing);

impl Source for Upward<'_> {
    fn next_signal(&mut self) -> Option<Control> {
        self.0.next_signal()
    }

    fn next_message(&mut self, priority: Priority, most: usize) -> Option<NextMessage> {
        let (message, options) = self.0.next_message(priority, most)?;
        let delivery = if options.mode == Mode::Unreliable {
            Delivery::Unreliable
        } else {
            Delivery::Reliable
        };
        Some(NextMessage {
            message,
            delivery,
            copies: options.redundancy,
        })
    }

    fn cut(&mut self, message: &Message<Bytes>) {
        self.0.cut(message);
    }

    fn is_current(&self, message: &Message<Bytes>) -> bool {
        self.0.is_current(message)
    }

    fn skipped(&mut self, message: &Message<Bytes>) {
        self.0.skipped(message);
    }

    fn sent(&mut self, message: &Message<Bytes>) {
        self.0.sent(message);
    }

    fn acknowledged(&mut self, message: &Message<Bytes>) {
        self.0.acknowledged(message);
    }

    fn lost(&mut self, message: &Message<Bytes>) -> bool {
        self.0.lost(message)
    }
}
