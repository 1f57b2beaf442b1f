//! The clock of the tests, by which they give up.

use core::time::Duration;
use std::time::Instant;

/// How long a test waits for what it waits for. Most take a few hundred milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// A time at which a test gives up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    #[expect(clippy::disallowed_methods, reason = "this is the place")]
    pub(crate) fn new() -> Self {
        Self(Instant::now() + PATIENCE)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the place")]
    pub(crate) fn is_over(self) -> bool {
        Instant::now() > self.0
    }

    /// A frame of a game, but shorter.
    pub(crate) fn wait_for_frame() {
        std::thread::park_timeout(Duration::from_millis(1));
    }
}
