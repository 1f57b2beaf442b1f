//! What the board and the desktop say to each other, and how each knows that it came as it was said.
#![no_std]

extern crate alloc;

mod speech;
mod tally;

pub use speech::{Side, Speech};
pub use tally::{Tally, Wrong};

use core::time::Duration;

use porous_proto::{Config, ConfigError, Priority};

/// The port of the board.
pub const PORT: u16 = 7777;

/// How many packets each side sends: a third of each mode.
pub const PACKETS: u32 = 150;

/// The longest of them. It takes four datagrams.
pub const LONGEST: usize = 4096;

/// From one packet to the next, if there is room.
pub const PACE: Duration = Duration::from_millis(8);

/// The reason with which the desktop leaves when it has heard everything.
pub const DONE: u32 = 0x600D;

/// What both sides configure on top of what they are.
///
/// # Errors
///
/// None: what is set is in its range.
pub const fn configured(config: Config) -> Result<Config, ConfigError> {
    config
        .application_id(0x626F_6172_6421)
        .channels(&[Priority::High, Priority::Low])
}
