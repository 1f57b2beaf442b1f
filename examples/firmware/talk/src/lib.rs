//! The packets that the board and the desktop send each other, and the checks of their arrival.
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

/// Packets that each side sends: a third of each mode.
pub const PACKETS: u32 = 150;

/// Bytes of the longest packet. It takes four datagrams.
pub const LONGEST: usize = 4096;

/// The time from one packet to the next, if there is room.
pub const PACE: Duration = Duration::from_millis(8);

/// The number of [`PSK`].
pub const PSK_NUMBER: u32 = 1;

/// The secret by which the board lets a desktop in, if the two seal. A product draws one for each board.
pub const PSK: [u8; 32] = *b"what the board and the desk know";

/// The reason with which the desktop leaves when it has heard everything.
pub const DONE: u32 = 0x600D;

/// The options that both sides add to the configuration of a client or a server.
///
/// # Errors
///
/// None: all values are within their ranges.
pub const fn configured(config: Config) -> Result<Config, ConfigError> {
    config
        .application_id(0x626F_6172_6421)
        .channels(&[Priority::High, Priority::Low])
}
