//! The state that tasks and the driver share, and the bells that wake them.

use alloc::sync::Arc;
use core::ops::Deref;
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

use crate::state::{Next, State};

/// The state behind a lock that is never held over an `await`. The longest that it is held is a turn of the driver.
#[derive(Debug)]
pub(crate) struct Shared {
    state: Mutex<State>,
    /// Wakes the driver.
    pub(crate) wake: Notify,
    /// Rings at each turn of the driver at which a newcomer came or a connection ended, and at the end: for the
    /// tasks that wait for the server.
    pub(crate) news: Notify,
}

impl Shared {
    pub(crate) fn new(state: State) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(state),
            wake: Notify::new(),
            news: Notify::new(),
        })
    }

    fn locked<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        // A thread that panicked within a call of the host has left it as any error of its own does: contained.
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Acts for the application, and wakes the driver if that made something due.
    pub(crate) fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        let (done, has_to_wake) = self.locked(|state| (act(state), state.has_to_wake()));
        if has_to_wake {
            self.wake.notify_one();
        }
        done
    }

    /// Looks, and changes nothing.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        self.locked(|state| look(state))
    }

    /// Acts again each time that the bell rings, until something came of it. Nothing is lost if the future is
    /// dropped: what it takes it returns at once.
    pub(crate) async fn until<T>(
        &self,
        bell: &Notify,
        mut act: impl FnMut(&mut State) -> Option<T>,
    ) -> T {
        loop {
            // Before the look, so that a bell that rings in between is heard.
            let rung = bell.notified();
            if let Some(done) = self.with(&mut act) {
                return done;
            }
            rung.await;
        }
    }

    /// A turn of the driver.
    pub(crate) fn turn(&self) -> Next {
        self.locked(|state| {
            let next = state.turn();
            if state.take_news() {
                self.news.notify_waiters();
            }
            next
        })
    }

    /// Ends the driver.
    pub(crate) fn finish(&self, how: crate::Closed) {
        self.locked(|state| state.finish(how));
        self.news.notify_waiters();
    }
}

/// Counts the handles of an application. The last one that is dropped lets the driver end.
#[derive(Debug)]
pub(crate) struct Handle(Arc<Shared>);

impl Handle {
    pub(crate) fn new(shared: Arc<Shared>) -> Arc<Self> {
        Arc::new(Self(shared))
    }
}

impl Deref for Handle {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.with(State::abandon);
    }
}
