//! Calls of a socket that fail when a test wants them to. All else is real.

use alloc::collections::VecDeque;
use std::io;
use std::sync::{Mutex, MutexGuard};

use rustix::io::Errno;

/// The errors that one kind of call will return, and the number of calls.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    pub(crate) next: VecDeque<Errno>,
    pub(crate) always: Option<Errno>,
    pub(crate) made: usize,
}

impl Calls {
    fn make(&mut self) -> io::Result<()> {
        self.made += 1;
        match self.next.pop_front().or(self.always) {
            Some(errno) => Err(errno.into()),
            None => Ok(()),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Faults {
    sending: Mutex<Calls>,
    receiving: Mutex<Calls>,
}

impl Faults {
    pub(crate) fn send(&self) -> io::Result<()> {
        self.sending().make()
    }

    pub(crate) fn receive(&self) -> io::Result<()> {
        self.receiving().make()
    }

    pub(crate) fn sending(&self) -> MutexGuard<'_, Calls> {
        self.sending.lock().unwrap()
    }

    pub(crate) fn receiving(&self) -> MutexGuard<'_, Calls> {
        self.receiving.lock().unwrap()
    }
}
