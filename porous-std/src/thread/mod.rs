//! A host in a thread of its own, and the game's end of it, with bounded queues between them.

mod commands;
mod handle;
mod known;
mod output;
mod queue;
mod worker;

pub use handle::HostThread;
pub use output::{Output, ThreadError, Unsent, UnsentError};
