//! Reliable-ordered messages, the half that receives.

use super::echo::Echo;
use crate::error::Error;
use crate::sequence::newer;
use crate::sequence_buffer::SequenceBuffer;

/// The messages of a channel that have come, by id.
#[derive(Debug)]
pub(super) struct Inbox<M> {
    messages: SequenceBuffer<M>,
    /// The id of the next one to be received.
    next: u16,
    window: u16,
    pub(super) echo: Echo,
}

impl<M> Inbox<M> {
    pub(super) fn new(window: u16) -> Self {
        Self {
            messages: SequenceBuffer::new(window.into()),
            next: 0,
            window,
            echo: Echo::default(),
        }
    }

    pub(super) const fn next(&self) -> u16 {
        self.next
    }

    /// Whether a message of this id can be buffered, or came before.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] if it is ahead of the window.
    pub(super) fn check(&self, id: u16) -> Result<(), Error> {
        let end = self.next.wrapping_add(self.window);
        match newer(end, id) {
            true => Ok(()),
            false => Err(Error::OutOfRange),
        }
    }

    /// On packet receive: the message is kept by its id, which was checked. Returns whether it is
    /// new.
    pub(super) fn insert(&mut self, id: u16, message: M) -> bool {
        let is_ahead = id.wrapping_sub(self.next) < self.window;
        if is_ahead && self.messages.get(id).is_none() {
            return self.messages.insert(id, message);
        }
        self.echo.repeat();
        false
    }

    /// On message receive: the next one, if it is there.
    pub(super) fn receive(&mut self) -> Option<M> {
        let message = self.messages.remove(self.next)?;
        self.next = self.next.wrapping_add(1);
        Some(message)
    }
}
