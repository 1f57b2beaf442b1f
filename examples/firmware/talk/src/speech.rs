//! The packets of one side: of all modes, on both channels, of many lengths. Each follows from its number,
//! so that the receiver can make it again.

use alloc::vec::Vec;

use porous_proto::{ChannelId, Mode};

use crate::{LONGEST, PACKETS};

/// The host that speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The microcontroller.
    Board,
    /// The program on the desktop.
    Desktop,
}

/// The packets of one side that were not sent yet.
#[derive(Debug)]
pub struct Speech {
    side: Side,
    next: u32,
}

impl Speech {
    /// All packets of this side.
    #[must_use]
    pub const fn new(side: Side) -> Self {
        Self { side, next: 0 }
    }

    /// Hands the next packet to `send`, if there is one. If `send` fails, the next call hands it over again.
    ///
    /// # Errors
    ///
    /// Those of `send`.
    pub fn say<E>(
        &mut self,
        send: impl FnOnce(ChannelId, Vec<u8>, Mode) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.next < PACKETS {
            let number = self.next;
            send(channel(number), payload(self.side, number), mode(number))?;
            self.next += 1;
        }
        Ok(())
    }

    /// True if all packets were sent.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.next == PACKETS
    }
}

/// The mode of this packet. The last of each channel is reliable.
pub(crate) const fn mode(number: u32) -> Mode {
    match number % 3 {
        0 => Mode::Unreliable,
        1 => Mode::Passive,
        _ => Mode::Reliable,
    }
}

/// The channel of this packet: all modes are on both.
pub(crate) const fn channel(number: u32) -> ChannelId {
    ChannelId((number / 3 % 2) as u8)
}

/// The content of a packet: its number, and bytes that follow from it. A quarter of the packets have
/// several fragments.
pub(crate) fn payload(side: Side, number: u32) -> Vec<u8> {
    let mut dice = Dice(u64::from(number) << 8 | side as u64);
    let length = if dice.roll().is_multiple_of(4) {
        LONGEST - dice.roll() as usize % 2800
    } else {
        4 + dice.roll() as usize % 300
    };
    let mut payload = Vec::with_capacity(length);
    payload.extend(number.to_le_bytes());
    payload.extend((4..length).map(|_| dice.roll() as u8));
    payload
}

/// Pseudo-random numbers (SplitMix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed >> 32) as u32
    }
}
