//! Strangers, which see all datagrams and send any bytes in the name of any host.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::ops::Range;

use super::journal::Whom;
use super::stage::Stage;
use crate::Intercept;

/// Addresses that no host has.
pub(super) const NOBODY: Range<u32> = 5_000_000..5_000_020;

/// The most datagrams that strangers keep.
const KEPT: usize = 128;

/// Datagrams that went over the wire, with sender and receiver.
#[derive(Debug, Default)]
pub(super) struct Tapped {
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

impl Stage {
    /// Strangers listen from now on.
    pub(super) fn tap(&mut self) {
        let tapped = Rc::clone(&self.tapped);
        self.world.intercept(move |passing| {
            let mut tapped = tapped.borrow_mut();
            tapped.note(passing.from, passing.to, passing.datagram);
            Intercept::Pass
        });
    }

    /// A stranger sends a datagram.
    pub(super) fn spoof(&mut self) {
        let victim = self.stranger.index(self.actors.len());
        let victim = self.actors[victim].public;
        let nobody = NOBODY.start + u32::try_from(self.stranger.below(20)).unwrap_or(0);
        let tapped = {
            let all = &self.tapped.borrow().datagrams;
            let index = self.stranger.index(all.len().max(1));
            all.get(index).cloned()
        };
        let Some((from, to, mut datagram)) = tapped.filter(|_| self.stranger.often(80)) else {
            let len = self.stranger.index(1400);
            let mut bytes = self.stranger.bytes(len);
            if let Some(first) = bytes.first_mut() {
                let kinds = [
                    0x42, 0x44, 0x60, 0xC0, 0xC1, 0xD0, 0xE0, 0xF0, 0xF1, 0xF2, *first,
                ];
                *first = self.stranger.pick(&kinds);
            }
            self.world.inject(nobody, victim, bytes);
            self.report.fault("random datagrams", 1);
            return;
        };
        let to = if self.stranger.often(60) { to } else { victim };
        let changed = self.stranger.often(40) && !datagram.is_empty();
        // A host recognises every repeated datagram. A changed one may pass a check that covers the head
        // alone, so that it comes in a host's name only where bits may change anyway.
        let long = !is_short(&datagram);
        let in_its_name = self.stranger.often(60) && (self.plan.corrupts || !changed);
        // A RESET ends nothing by itself: it shortens the timeout of the host, which probes the peer.
        let is_reset = datagram.first() == Some(&0xF2);
        if changed {
            self.change(&mut datagram);
        }
        let kind = match (in_its_name, changed) {
            (true, false) => "datagrams replayed",
            (true, true) => "datagrams forged",
            (false, false) => "datagrams from elsewhere",
            (false, true) => "datagrams forged elsewhere",
        };
        self.report.fault(kind, 1);
        let ends = [from, to].map(|end| self.who.get(&end).copied());
        if let (true, [Some(a), Some(b)]) = (in_its_name, ends) {
            let now = self.world.now();
            if long && changed {
                self.taint(a, b);
            }
            if is_reset {
                self.journal.disturb(Whom::Between(a, b), now, now);
            } else if !changed {
                self.journal.prolong(a, b, now);
            }
        }
        let from = if in_its_name { from } else { nobody };
        self.world.inject(from, to, datagram);
    }

    /// A forger sends a short form in a host's name. The forger knows everything but the nonces: both
    /// addresses, the connection id, about which frame is next, and the form of a message. It guesses
    /// the check.
    pub(super) fn forge(&mut self) {
        let tapped = {
            let all = &self.tapped.borrow().datagrams;
            let index = self.forger.index(all.len().max(1));
            all.get(index)
                .filter(|(.., bytes)| is_short(bytes))
                .cloned()
        };
        let Some((from, to, mut datagram)) = tapped.filter(|_| self.forger.often(50)) else {
            return;
        };
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
        self.world.inject(from, to, datagram);
        self.report.fault("datagrams of forgers", 1);
    }

    /// Changes some bits, or the length.
    fn change(&mut self, datagram: &mut Vec<u8>) {
        match self.stranger.below(4) {
            0 => {
                let len = self.stranger.index(datagram.len());
                datagram.truncate(len);
            }
            1 => {
                let more = self.stranger.index(40);
                datagram.extend(self.stranger.bytes(more));
            }
            _ => {
                for _ in 0..self.stranger.log(1, 16) {
                    let at = self.stranger.index(datagram.len());
                    datagram[at] ^= 1 << self.stranger.below(8);
                }
            }
        }
    }
}
