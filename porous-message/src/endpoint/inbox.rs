//! Reliable-ordered messages, the half that receives.

use alloc::collections::{BTreeMap, VecDeque};

use super::echo::Echo;
use super::id;
use crate::error::Error;
use crate::shrink::shrink;

/// The messages of a channel that have come and were not received.
#[derive(Debug)]
pub(super) struct Inbox<M> {
    /// Those that may be received, in order.
    ready: VecDeque<M>,
    /// Others, by id: they wait for one before them. Memory follows what has come.
    early: BTreeMap<u32, M>,
    /// The id of the next one to be received.
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

    /// The id that is waited for: the first that did not come.
    fn awaited(&self) -> u32 {
        // There are no more than a window has.
        self.next
            .wrapping_add(u32::try_from(self.ready.len()).unwrap_or(u32::MAX))
    }

    /// Whether a message of this id can be buffered, or came before.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] if it is ahead of the window.
    pub(super) fn check(&self, id: u32) -> Result<(), Error> {
        id::check(id, self.next, self.window)
    }

    /// On packet receive: the message is kept by its id, which was checked. Returns whether it is
    /// new.
    pub(super) fn insert(&mut self, id: u32, message: M) -> bool {
        let place = id.wrapping_sub(self.next) as usize;
        let is_ready = place < self.ready.len();
        let is_ahead = id::is_ahead(id, self.next, self.window);
        if !is_ahead || is_ready || self.early.contains_key(&id) {
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
                self.early = BTreeMap::new(); // one that is empty may keep a node
            }
        }
        true
    }

    /// On message receive: the next one, if it is there.
    pub(super) fn receive(&mut self) -> Option<M> {
        let message = self.ready.pop_front()?;
        shrink(&mut self.ready);
        self.next = self.next.wrapping_add(1);
        Some(message)
    }
}
