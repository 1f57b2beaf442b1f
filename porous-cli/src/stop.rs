//! The wish of the user to stop.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, Ordering};
use std::io;

use crate::screen;

/// The exit status of a program that a signal has ended: 128 and the number of SIGINT.
const INTERRUPTED: i32 = 130;

/// Whether a command has been asked to stop. All copies tell the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// From now on Ctrl-C asks to stop, and on Unix the signals do by which a system ends programs. A second one
    /// ends the program at once, as the command may wait for something that does not come.
    pub(crate) fn on_signal() -> io::Result<Self> {
        let stop = Self::default();
        let asked = stop.clone();
        let set = ctrlc::set_handler(move || {
            if asked.0.swap(true, Ordering::Relaxed) {
                screen::give_back();
                std::process::exit(INTERRUPTED);
            }
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
