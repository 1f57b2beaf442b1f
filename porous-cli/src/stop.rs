//! The wish of the user to stop.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::io;

use crate::clock::Clock;
use crate::screen;

/// The exit status of a program that a signal has ended: 128 and the number of SIGINT.
const INTERRUPTED: i32 = 130;

/// A signal that comes so soon behind the first is the same wish: `timeout` sends one to the program, and one to all
/// that it has started.
const SAME: Duration = Duration::from_millis(500);

/// Whether a command has been asked to stop. All copies tell the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// From now on Ctrl-C asks to stop, and on Unix the signals do by which a system ends programs. A second one,
    /// unless it comes with the first, ends the program at once, as the command may wait for something that does not
    /// come.
    pub(crate) fn on_signal() -> io::Result<Self> {
        let stop = Self::default();
        let asked = stop.clone();
        let mut first: Option<Clock> = None;
        let set = ctrlc::set_handler(move || {
            let was_asked = asked.0.swap(true, Ordering::Relaxed);
            if ends_at_once(was_asked, first.map(Clock::elapsed)) {
                screen::give_back();
                std::process::exit(INTERRUPTED);
            }
            first.get_or_insert_with(Clock::start);
        });
        set.map_err(io::Error::other)?;
        Ok(stop)
    }

    /// Asks to stop.
    pub(crate) fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// True once somebody has asked.
    pub(crate) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Whether a signal ends the program at once. `since_first`: for how long there has been another one.
fn ends_at_once(was_asked: bool, since_first: Option<Duration>) -> bool {
    was_asked && since_first.is_none_or(|since| since >= SAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_signal_ends_the_program_unless_it_comes_with_the_first() {
        assert!(!ends_at_once(false, None), "the first one");
        assert!(!ends_at_once(true, Some(Duration::ZERO)));
        assert!(!ends_at_once(true, Some(SAME - Duration::from_nanos(1))));
        assert!(ends_at_once(true, Some(SAME)));
        assert!(ends_at_once(true, None), "a key has asked before");
    }
}
