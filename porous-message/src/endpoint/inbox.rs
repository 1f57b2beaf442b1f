//! Reliable-ordered messages, the receiving half.

use alloc::collections::{BTreeMap, VecDeque};

use super::echo::Echo;
use super::id;
use crate::error::Error;
use crate::shrink::shrink;

/// The messages of a channel that have come and that the application has not received.
#[derive(Debug)]
pub(super) struct Inbox<M> {
    /// Messages that may be received, in order.
    ready: VecDeque<M>,
    /// Other messages, by id: they wait for one before them. Memory follows what has come.
    early: BTreeMap<u32, M>,
    /// The id of the next message to be received.
    next: u32,
    window: u16,
    pub(super) echo: Echo,
}

impl<M> Inbox<M> {
    pub(super) fn new(window: u16) -> Self {
        Self {
            ready: VecDeque::new(),
            early: BTreeMap::new(),
            next: 0,
            window,
            echo: Echo::default(),
        }
    }

    pub(super) const fn next(&self) -> u32 {
        self.next
    }

    /// The id that is awaited: the first one that has not come.
    fn awaited(&self) -> u32 {
        // `ready` is no longer than a window.
        self.next
            .wrapping_add(u32::try_from(self.ready.len()).unwrap_or(u32::MAX))
    }

    /// Checks that a message of this id can be buffered, or came before.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] if it is ahead of the window.
    pub(super) fn check(&self, id: u32) -> Result<(), Error> {
        id::check(id, self.next, self.window)
    }

    /// On packet receive: keeps the message by its id, which was checked. True if the message is new.
    pub(super) fn insert(&mut self, id: u32, message: M) -> bool {
        let place = id.wrapping_sub(self.next) as usize;
        let is_ready = place < self.ready.len();
        let is_ahead = id::is_ahead(id, self.next, self.window);
        if !is_ahead || is_ready || self.early.contains_key(&id) {
            // The sender may not know that the message has come: it must be told again.
            self.echo.repeat();
            return false;
        }
        if place > self.ready.len() {
            self.early.insert(id, message);
            return true;
        }
        self.ready.push_back(message);
        while let Some(message) = self.early.remove(&self.awaited()) {
            self.ready.push_back(message);
            if self.early.is_empty() {
                self.early = BTreeMap::new(); // an empty map may keep a node
            }
        }
        true
    }

    /// On message receive: takes the next message, if it is there.
    pub(super) fn receive(&mut self) -> Option<M> {
        let message = self.ready.pop_front()?;
        shrink(&mut self.ready);
        self.next = self.next.wrapping_add(1);
        Some(message)
    }
}
