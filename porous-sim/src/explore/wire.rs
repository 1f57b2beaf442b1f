//! The wire of an exploration: a datagram takes a fixed time, unless something else was chosen for it.

use alloc::vec::Vec;
use core::fmt::{self, Write};
use core::time::Duration;

use porous_proto::Instant;

use super::choice::Choice;

/// The time that a datagram takes.
const USUAL: Duration = Duration::from_millis(10);

/// The time that a delayed datagram takes. Longer than the first timers of a handshake (100, 150 and 225 ms), than
/// the resend timeout on this wire, and than the second that a restarted host may be asked for; shorter than a
/// tenth of each timeout that ends a connection.
const LATE: Duration = Duration::from_millis(900);

/// A datagram, with the addresses of its sender and its receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Datagram {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) bytes: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Flying {
    due: Instant,
    /// The number of datagrams that have to arrive before this one, if it waits for any.
    behind: u8,
    /// True if this is what becomes of a datagram where there is no choice.
    is_usual: bool,
    datagram: Datagram,
}

/// What is under way, in the order in which it was sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Wire {
    flying: Vec<Flying>,
}

impl Wire {
    /// Takes a datagram, of which this becomes.
    pub(super) fn send(&mut self, now: Instant, datagram: Datagram, choice: Choice) {
        let fly = |after, behind| Flying {
            due: now + after,
            behind,
            is_usual: choice == Choice::Now,
            datagram: datagram.clone(),
        };
        match choice {
            Choice::Now => self.flying.push(fly(USUAL, 0)),
            Choice::Lost => {}
            Choice::Twice => self.flying.extend([fly(USUAL, 0), fly(USUAL, 0)]),
            // If no other comes, these come late.
            Choice::Behind => self.flying.push(fly(LATE, 1)),
            Choice::FarBehind => self.flying.push(fly(LATE, 2)),
            Choice::Delayed => self.flying.push(fly(LATE, 0)),
            Choice::Repeated => self.flying.extend([fly(USUAL, 0), fly(LATE, 0)]),
        }
    }

    /// When the next datagram arrives.
    pub(super) fn next(&self) -> Option<Instant> {
        self.flying.iter().map(|flying| flying.due).min()
    }

    /// Takes out the next datagram, which arrives at `now`.
    pub(super) fn take(&mut self, now: Instant) -> Option<Datagram> {
        let due = self.next().filter(|&due| due <= now)?;
        let first = self.flying.iter().position(|flying| flying.due == due)?;
        let taken = self.flying.remove(first).datagram;
        for other in self.flying.iter_mut().filter(|other| other.behind > 0) {
            other.behind -= 1;
            if other.behind == 0 {
                other.due = now;
            }
        }
        Some(taken)
    }

    /// Whether all that is under way arrives as on a network without faults.
    pub(super) fn is_regular(&self) -> bool {
        self.flying.iter().all(|flying| flying.is_usual)
    }

    /// Whether nothing is under way.
    pub(super) fn is_empty(&self) -> bool {
        self.flying.is_empty()
    }

    /// Writes all that is under way.
    pub(super) fn view(&self, out: &mut impl Write) -> fmt::Result {
        write!(out, "{:?}", self.flying)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The arrivals of datagrams that were sent at once, of which these became: their numbers, and the milliseconds.
    fn arrivals(choices: &[Choice]) -> Vec<(u8, u64)> {
        let mut wire = Wire::default();
        for (number, &choice) in (0..).zip(choices) {
            let (from, to, bytes) = (1, 2, [number].to_vec());
            wire.send(Instant::ZERO, Datagram { from, to, bytes }, choice);
        }
        let mut arrivals = Vec::new();
        while let Some(now) = wire.next() {
            let datagram = wire.take(now).expect("one is due");
            arrivals.push((datagram.bytes[0], now.as_micros() / 1000));
        }
        assert!(wire.is_empty());
        arrivals
    }

    #[test]
    fn every_choice_does_what_it_says() {
        use Choice::{Behind, Delayed, FarBehind, Lost, Now, Repeated, Twice};

        assert_eq!(arrivals(&[Now, Now]), [(0, 10), (1, 10)]);
        assert_eq!(arrivals(&[Lost, Now]), [(1, 10)]);
        assert_eq!(arrivals(&[Twice, Now]), [(0, 10), (0, 10), (1, 10)]);
        assert_eq!(arrivals(&[Behind, Now, Now]), [(1, 10), (0, 10), (2, 10)]);
        let far = [FarBehind, Now, Now, Now];
        assert_eq!(arrivals(&far), [(1, 10), (2, 10), (0, 10), (3, 10)]);
        assert_eq!(arrivals(&[Behind]), [(0, 900)]);
        assert_eq!(arrivals(&[Delayed, Now]), [(1, 10), (0, 900)]);
        assert_eq!(arrivals(&[Repeated, Now]), [(0, 10), (1, 10), (0, 900)]);
    }
}
