//! The packets that one side has received, and the checks that they are the other's.

use core::fmt;

use porous_proto::{Mode, Received};

use crate::PACKETS;
use crate::speech::{Side, channel, mode, payload};

/// The packets of one side that were received. Each is checked as it comes.
#[derive(Debug)]
pub struct Tally {
    speaker: Side,
    /// The number of the last packet of each channel, plus 1.
    last: [u32; 2],
    /// Packets by mode.
    heard: [u32; 3],
    /// Packets by mode that came in several fragments.
    fragmented: [u32; 3],
    bytes: usize,
}

/// The reason why a session failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// A packet has another content, mode or channel than it was sent with.
    Changed,
    /// A packet came twice, or after a later one of its channel.
    OutOfOrder,
    /// A later packet of its channel came before this one, which is reliable.
    Overtaken(u32),
    /// Not all reliable packets came.
    Missing,
    /// Less than half of the packets of this mode came, which may be lost, or none of several fragments.
    TooFew(Mode),
}

/// Bytes beyond which a packet has several fragments.
const FRAGMENTED: usize = 1200;

impl Tally {
    /// A tally without packets.
    #[must_use]
    pub const fn new(speaker: Side) -> Self {
        Self {
            speaker,
            last: [0; 2],
            heard: [0; 3],
            fragmented: [0; 3],
            bytes: 0,
        }
    }

    /// Checks and counts a packet that came.
    ///
    /// # Errors
    ///
    /// If the packet is not one that the other side sends, or not in its order.
    pub fn hear(&mut self, packet: &Received) -> Result<(), Wrong> {
        let number = packet
            .payload
            .first_chunk()
            .map(|&it| u32::from_le_bytes(it));
        let number = number
            .filter(|&number| number < PACKETS)
            .ok_or(Wrong::Changed)?;
        if packet.payload != payload(self.speaker, number)
            || (packet.mode, packet.channel) != (mode(number), channel(number))
        {
            return Err(Wrong::Changed);
        }
        let last = &mut self.last[usize::from(packet.channel.0)];
        if number < *last {
            return Err(Wrong::OutOfOrder);
        }
        let is_skipped = |&id: &u32| channel(id) == packet.channel && mode(id) == Mode::Reliable;
        if let Some(overtaken) = (*last..number).find(is_skipped) {
            return Err(Wrong::Overtaken(overtaken));
        }
        *last = number + 1;
        let mode = index(packet.mode);
        self.heard[mode] += 1;
        self.fragmented[mode] += u32::from(packet.payload.len() > FRAGMENTED);
        self.bytes += packet.payload.len();
        Ok(())
    }

    /// True if every reliable packet came. The last of each channel is reliable, so no more will come.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.heard[index(Mode::Reliable)] == PACKETS / 3
    }

    /// Checks that all reliable packets came, and enough of the others.
    ///
    /// # Errors
    ///
    /// What is missing.
    pub fn verdict(&self) -> Result<(), Wrong> {
        if !self.is_complete() {
            return Err(Wrong::Missing);
        }
        for mode in [Mode::Unreliable, Mode::Passive] {
            let [heard, fragmented] = [self.heard, self.fragmented].map(|of| of[index(mode)]);
            if heard < PACKETS / 6 || fragmented == 0 {
                return Err(Wrong::TooFew(mode));
            }
        }
        Ok(())
    }
}

/// One line for people.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [unreliable, passive, reliable] = self.heard;
        let each = PACKETS / 3;
        let fragmented: u32 = self.fragmented.iter().sum();
        write!(
            f,
            "heard {reliable} reliable, {passive} passive and {unreliable} unreliable packets of \
             {each} each, {fragmented} of them fragmented, {} bytes",
            self.bytes
        )
    }
}

const fn index(mode: Mode) -> usize {
    match mode {
        Mode::Unreliable => 0,
        Mode::Passive => 1,
        Mode::Reliable => 2,
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::Speech;

    /// All packets that the board sends.
    fn said() -> Vec<Received> {
        let mut speech = Speech::new(Side::Board);
        let mut said = Vec::new();
        while !speech.is_over() {
            let taken = speech.say(|channel, payload, mode| {
                said.push(Received {
                    channel,
                    mode,
                    payload: payload.into(),
                });
                Ok::<(), ()>(())
            });
            assert_eq!(taken, Ok(()));
        }
        said
    }

    fn hear(packets: impl IntoIterator<Item = Received>) -> Result<(), Wrong> {
        let mut tally = Tally::new(Side::Board);
        for packet in packets {
            tally.hear(&packet)?;
        }
        tally.verdict()
    }

    /// The verdict if these packets are lost.
    fn without(lost: impl Fn(usize, Mode) -> bool) -> Result<(), Wrong> {
        let said = said().into_iter().enumerate();
        hear(
            said.filter(|(n, packet)| !lost(*n, packet.mode))
                .map(|(_, packet)| packet),
        )
    }

    #[test]
    fn a_packet_that_cannot_be_sent_comes_again() {
        let mut speech = Speech::new(Side::Board);
        let mut first = None;
        let full = speech.say(|_, payload, _| {
            first = Some(payload);
            Err(())
        });
        assert_eq!(full, Err(()));
        let again = speech.say(|_, payload, _| {
            assert_eq!(first.as_ref(), Some(&payload));
            Ok::<(), ()>(())
        });
        assert_eq!(again, Ok(()));
    }

    #[test]
    fn all_that_was_said_may_be_heard_and_half_of_what_may_be_lost() {
        assert_eq!(without(|_, _| false), Ok(()));
        assert_eq!(
            without(|n, mode| mode != Mode::Reliable && n % 2 == 0),
            Ok(())
        );
    }

    #[test]
    fn reliable_packets_that_do_not_come_are_noticed() {
        assert_eq!(without(|n, _| n == 5), Err(Wrong::Overtaken(5)));
        let last = PACKETS as usize - 1;
        assert_eq!(without(|n, _| n == last), Err(Wrong::Missing));
    }

    #[test]
    fn too_few_of_the_others_are_noticed() {
        for mode in [Mode::Unreliable, Mode::Passive] {
            let lost = without(|_, it| it == mode);
            assert_eq!(lost, Err(Wrong::TooFew(mode)));
        }
    }

    #[test]
    fn what_was_changed_or_moved_is_noticed() {
        let said = said();
        assert_eq!(
            hear([said[1].clone(), said[0].clone()]),
            Err(Wrong::OutOfOrder)
        );
        assert_eq!(
            hear([said[0].clone(), said[0].clone()]),
            Err(Wrong::OutOfOrder)
        );
        let mut payload = said[0].payload.to_vec();
        *payload.last_mut().expect("it has a number") ^= 1;
        let changed = Received {
            payload: payload.into(),
            ..said[0].clone()
        };
        assert_eq!(hear([changed]), Err(Wrong::Changed));
        let other = Received {
            mode: Mode::Reliable,
            ..said[0].clone()
        };
        assert_eq!(hear([other]), Err(Wrong::Changed));
    }

    #[test]
    fn each_mode_has_packets_of_several_fragments_and_of_the_greatest_length() {
        let long = |packet: &Received| packet.payload.len() > 3 * FRAGMENTED;
        for mode in [Mode::Unreliable, Mode::Passive, Mode::Reliable] {
            assert!(
                said()
                    .iter()
                    .any(|packet| packet.mode == mode && long(packet))
            );
        }
    }
}
