//! Strangers, which see all datagrams and send any bytes in the name of any host.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::ops::Range;
use core::time::Duration;

use super::draw::Draw;
use crate::{Intercept, Seed, World};

/// Addresses that no host has.
pub(super) const NOBODY: Range<u32> = 5_000_000..5_000_020;

/// The most datagrams that strangers keep.
const KEPT: usize = 128;

/// Datagrams that went over the wire, with sender and receiver.
#[derive(Debug, Default)]
struct Tapped {
    datagrams: Vec<(u32, u32, Vec<u8>)>,
    seen: u64,
}

impl Tapped {
    fn note(&mut self, from: u32, to: u32, datagram: &[u8]) {
        // A stranger that reads datagrams to an address has proved that it is there.
        if NOBODY.contains(&to) {
            return;
        }
        self.seen += 1;
        // All long forms, as each is rare and changes much, and every sixteenth short form.
        if is_short(datagram) && self.seen % 16 != 0 {
            return;
        }
        let noted = (from, to, datagram.to_vec());
        if self.datagrams.len() < KEPT {
            self.datagrams.push(noted);
        } else {
            // A scattered place, so that some datagrams stay for long.
            let spread = self.seen.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            let place = usize::try_from(spread).unwrap_or(0) % KEPT;
            self.datagrams[place] = noted;
        }
    }
}

fn is_short(datagram: &[u8]) -> bool {
    matches!(datagram.first(), Some(0x40..=0x7F))
}

/// What a host may take a datagram for that comes in another host's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// Nothing that changes how long the host waits.
    None,
    /// A RESET: by itself it ends nothing, but it makes the host less patient.
    Reset,
    /// The datagram of another host, as it was sent: a sign of life, if the host has not had it before.
    Copy,
}

/// A datagram that a stranger sends.
#[derive(Debug)]
pub(super) struct Spoofed {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) datagram: Vec<u8>,
    /// The kind of fault, for the report.
    pub(super) kind: &'static str,
    /// True if the datagram is a long form that was changed, in the name of its sender: the two hosts may
    /// agree on values that neither has said.
    pub(super) taints: bool,
    pub(super) sign: Sign,
}

/// All strangers: they hear every datagram, and send some.
#[derive(Debug)]
pub(super) struct Strangers {
    /// Decides about datagrams that are repeated, changed or made up.
    draw: Draw,
    /// Decides about forgers.
    forger: Draw,
    tapped: Rc<RefCell<Tapped>>,
    /// Half the most milliseconds from one datagram to the next.
    pace: u64,
}

impl Strangers {
    pub(super) fn new(seed: Seed) -> Self {
        let mut draw = Draw::new(seed, "strangers", 0);
        Self {
            pace: draw.log(50, 20_000),
            draw,
            forger: Draw::new(seed, "forgers", 0),
            tapped: Rc::default(),
        }
    }

    /// Lets the strangers listen from now on.
    pub(super) fn tap(&self, world: &mut World) {
        let tapped = Rc::clone(&self.tapped);
        world.intercept(move |passing| {
            let mut tapped = tapped.borrow_mut();
            tapped.note(passing.from, passing.to, passing.datagram);
            Intercept::Pass
        });
    }

    /// The time to the next datagram.
    pub(super) fn pause(&mut self) -> Duration {
        self.draw.millis(5, 2 * self.pace)
    }

    /// The next datagram of a stranger, to one of these addresses or another. `corrupts` is true if
    /// strangers may change bytes in a host's name.
    pub(super) fn spoof(&mut self, victims: &[u32], corrupts: bool) -> Spoofed {
        let victim = self.draw.pick(victims);
        let nobody = NOBODY.start + u32::try_from(self.draw.below(20)).unwrap_or(0);
        let tapped = {
            let all = &self.tapped.borrow().datagrams;
            let index = self.draw.index(all.len().max(1));
            all.get(index).cloned()
        };
        let Some((from, to, mut datagram)) = tapped.filter(|_| self.draw.often(80)) else {
            return Spoofed {
                from: nobody,
                to: victim,
                datagram: self.noise(),
                kind: "random datagrams",
                taints: false,
                sign: Sign::None,
            };
        };
        let to = if self.draw.often(60) { to } else { victim };
        let changed = self.draw.often(40) && !datagram.is_empty();
        // A host recognises every repeated datagram. A changed one may pass a check that covers the head
        // alone, so that it comes in a host's name only where bits may change anyway.
        let in_its_name = self.draw.often(60) && (corrupts || !changed);
        let kind = match (in_its_name, changed) {
            (true, false) => "datagrams replayed",
            (true, true) => "datagrams forged",
            (false, false) => "datagrams from elsewhere",
            (false, true) => "datagrams forged elsewhere",
        };
        let is_reset = datagram.first() == Some(&0xF2);
        let sign = match (is_reset, changed) {
            (true, _) => Sign::Reset,
            (false, false) => Sign::Copy,
            (false, true) => Sign::None,
        };
        let taints = in_its_name && changed && !is_short(&datagram);
        if changed {
            self.change(&mut datagram);
        }
        Spoofed {
            from: if in_its_name { from } else { nobody },
            to,
            datagram,
            kind,
            taints,
            sign: if in_its_name { sign } else { Sign::None },
        }
    }

    /// Bytes that begin as some datagram does, and mean nothing.
    fn noise(&mut self) -> Vec<u8> {
        let len = self.draw.index(1400);
        let mut bytes = self.draw.bytes(len);
        if let Some(first) = bytes.first_mut() {
            let kinds = [
                0x42, 0x44, 0x60, 0xC0, 0xC1, 0xD0, 0xE0, 0xF0, 0xF1, 0xF2, *first,
            ];
            *first = self.draw.pick(&kinds);
        }
        bytes
    }

    /// A short form in a host's name, by a forger that knows everything but the nonces: both addresses, the
    /// connection id, about which frame is next, and the form of a message. It guesses the check.
    pub(super) fn forge(&mut self) -> Option<Spoofed> {
        let tapped = {
            let all = &self.tapped.borrow().datagrams;
            let index = self.forger.index(all.len().max(1));
            all.get(index)
                .filter(|(.., bytes)| is_short(bytes))
                .cloned()
        };
        let (from, to, mut datagram) = tapped.filter(|_| self.forger.often(50))?;
        // The id is somewhere in the first bytes: some of these are changed, and all bytes after them
        // are new.
        let kept = self.forger.index(datagram.len().min(24)) + 1;
        datagram.truncate(kept);
        for byte in datagram.iter_mut().skip(1).rev().take(3) {
            *byte = byte.wrapping_add(u8::try_from(self.forger.below(4)).unwrap_or(0));
        }
        const MESSAGES: [&[u8]; 5] = [
            &[0x28, 0xFF, 0x0F, 1, 2, 3],              // a reliable packet far ahead
            &[0x48, 1, 0, 1, 2, 3],                    // a passive one
            &[0xC0, 3, 0, 0xFF, 0, 0, 0],              // a window
            &[0xC0, 12, 0, 9, 0, 0, 0, 0x8A, 0xFF, 3], // what became of ten packets
            &[0xC0, 5, 0, 0xFF, 0, 1],                 // a tombstone
        ];
        datagram.extend(self.forger.pick(&MESSAGES));
        datagram.extend(self.forger.bytes(4));
        Some(Spoofed {
            from,
            to,
            datagram,
            kind: "datagrams of forgers",
            taints: false,
            sign: Sign::None,
        })
    }

    /// Changes some bits, or the length.
    fn change(&mut self, datagram: &mut Vec<u8>) {
        match self.draw.below(4) {
            0 => {
                let len = self.draw.index(datagram.len());
                datagram.truncate(len);
            }
            1 => {
                let more = self.draw.index(40);
                datagram.extend(self.draw.bytes(more));
            }
            _ => {
                for _ in 0..self.draw.log(1, 16) {
                    let at = self.draw.index(datagram.len());
                    datagram[at] ^= 1 << self.draw.below(8);
                }
            }
        }
    }
}
