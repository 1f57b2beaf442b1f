//! What became of the packets that a receive window has passed, told to a sender that wants receipts
//! (`docs/wire.md`, "Receipts"; `docs/deviations.md` D2).

use alloc::collections::VecDeque;

use super::{Sequencing, SequencingParams};
use crate::frame::{Control, Fates};
use crate::serial;
use crate::work;

/// How many messages that were lost may wait to be repeated, of all channels: what an honest sender
/// leaves unacknowledged within a retransmission timeout is far less.
const REPEATED_MAX: usize = 1024;

/// The fates of packets in a row that were passed and not reported yet.
#[derive(Debug)]
pub(super) struct FateLog {
    /// The oldest of them.
    from: u64,
    /// All but the last are full.
    blocks: VecDeque<Fates>,
    /// None was reported yet.
    first: bool,
}

impl FateLog {
    /// The sender asks for the first time: nothing that it asks for has come before. `reported` is one
    /// past what was reported.
    pub(super) fn new(reported: u64, base: u64, params: &SequencingParams) -> Self {
        let mut log = Self {
            from: reported,
            blocks: VecDeque::new(),
            first: true,
        };
        log.push(base - reported, true, params);
        log
    }

    /// The window has passed this number of packets more, all of which were skipped or none.
    pub(super) fn push(&mut self, mut packets: u64, skipped: bool, params: &SequencingParams) {
        while packets > 0 {
            work::count(1);
            let full = |block: &Fates| block.count == Fates::MAX;
            if self.blocks.back().is_none_or(full) {
                self.blocks.push_back(Fates {
                    count: 0,
                    first: false,
                    skipped: 0,
                });
            }
            let Some(block) = self.blocks.back_mut() else {
                return;
            };
            let room = Fates::MAX - block.count;
            let taken = u8::try_from(packets).unwrap_or(u8::MAX).min(room);
            let after = block.count + taken;
            if skipped {
                block.skipped |= Fates::mask(after) & !Fates::mask(block.count);
            }
            block.count = after;
            packets -= u64::from(taken);
        }
        // An honest sender does not go on until it knows of a window's packets.
        let most = params.window / u64::from(Fates::MAX) + 2;
        while self.blocks.len() as u64 > most {
            self.pop();
        }
    }

    /// Whether a packet was passed and not given to the application, and is not reported yet.
    pub(super) fn is_skipped(&self, id: u64) -> bool {
        let Some(place) = id.checked_sub(self.from) else {
            return false;
        };
        let each = u64::from(Fates::MAX);
        let block = usize::try_from(place / each).ok();
        let block = block.and_then(|block| self.blocks.get(block));
        block.is_some_and(|block| block.skipped >> (place % each) & 1 == 1)
    }

    fn pop(&mut self) -> Option<Fates> {
        let block = self.blocks.pop_front()?;
        self.from += u64::from(block.count);
        Some(block)
    }

    /// Whether nothing was told yet: what was passed before is told by WINDOW.
    pub(super) const fn is_first(&self) -> bool {
        self.first
    }

    /// What is told next: the last packet, and the fates of those up to it.
    pub(super) fn report(&mut self) -> Option<(u64, Fates)> {
        let mut fates = self.pop()?;
        fates.first = core::mem::take(&mut self.first);
        if self.blocks.is_empty() {
            self.blocks = VecDeque::new();
        }
        Some((self.from - 1, fates))
    }
}

/// Messages that were lost: each is repeated as it was.
#[derive(Debug, Default)]
pub(super) struct Repeated(VecDeque<Control>);

impl Repeated {
    pub(super) fn push(&mut self, control: Control) {
        if self.0.len() < REPEATED_MAX {
            self.0.push_back(control);
        }
    }

    pub(super) fn pop(&mut self) -> Option<Control> {
        let next = self.0.pop_front();
        if self.0.is_empty() {
            self.0 = VecDeque::new();
        }
        next
    }
}

/// How the sender knows that the remote host has passed packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passed {
    /// WINDOW: none of those that a receipt was wanted of had come.
    Unseen,
    /// FATES: what became of them was or will be told.
    Told,
}

impl Sequencing {
    /// The remote receive window passed the packet `id`: what became of those before it.
    pub(crate) fn on_fates(&mut self, channel: u8, id: u32, fates: Fates) {
        const HALF: u64 = 1 << 31;
        if let Some((made, _, totals)) = self.get_mut(channel) {
            if let Some(id) = serial::expand(id, 32, made.sender.base(), HALF) {
                made.sender.on_fates(id, fates, totals);
            }
        }
        self.unblock_senders();
    }

    /// The fates of this channel are told from now on.
    pub(super) fn begin_fates(&mut self, channel: u8) {
        if let Some((made, params, _)) = self.get_mut(channel) {
            let (reported, base) = (made.reports.reported(), made.receiver.base());
            let log = || FateLog::new(reported, base, params).into();
            made.receiver.delivery.fates.get_or_insert_with(log);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequencing::tests::params;

    /// What is reported, packet by packet: whether it was skipped.
    fn report(log: &mut FateLog) -> (u64, alloc::vec::Vec<bool>) {
        let (last, fates) = log.report().expect("something was passed");
        let bits = (0..fates.count).map(|place| fates.skipped >> place & 1 == 1);
        assert_eq!(fates.skipped & !Fates::mask(fates.count), 0);
        (last, bits.collect())
    }

    #[test]
    fn each_packet_is_reported_once_and_in_order() {
        let params = params(1024, 128);
        let mut log = FateLog::new(5, 7, &params);
        log.push(1, false, &params);
        log.push(2, true, &params);
        assert!([5, 6, 8, 9].iter().all(|&id| log.is_skipped(id)));
        assert!(![4, 7, 10].iter().any(|&id| log.is_skipped(id)));
        assert!(log.is_first());
        let expected = alloc::vec![true, true, false, true, true];
        assert_eq!(report(&mut log), (9, expected));
        assert!(!log.is_first() && log.report().is_none());
        log.push(63, false, &params);
        log.push(200, true, &params);
        let mut told = alloc::vec::Vec::new();
        let mut end = 10;
        while let Some((last, fates)) = log.report() {
            assert!(!fates.first && last + 1 == end + u64::from(fates.count));
            end = last + 1;
            told.extend((0..fates.count).map(|place| fates.skipped >> place & 1 == 1));
        }
        assert_eq!(told, [[false; 63].as_slice(), &[true; 200]].concat());
    }

    #[test]
    fn more_than_a_window_is_not_kept() {
        let params = params(256, 32);
        let mut log = FateLog::new(0, 0, &params);
        for _ in 0..10_000 {
            log.push(7, true, &params);
            assert!(log.blocks.len() <= 6);
        }
        assert!(log.is_skipped(70_000 - 256) && !log.is_skipped(70_000 - 2 * 256));
    }
}
