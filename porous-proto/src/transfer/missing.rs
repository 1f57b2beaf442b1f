//! How many frames of the remote host did not come. A sender leaves out one id of each
//! [`SKIP_SPAN`], or none, and what was left out is no loss (`docs/wire.md`, "Nonces").

use super::nonces::SKIP_SPAN;

/// After so many frames whose nonce bits are all 0, they are always 0, but for a chance of one in 2^64.
const PLAIN: u64 = 64;

/// What came of the remote host's ids.
#[derive(Debug)]
pub(super) struct Missing {
    /// The id of its first frame.
    first: u64,
    /// One past the newest id that came, and the number of its span.
    next: u64,
    span: u64,
    /// How many frames came, and how many of those have an id in that span.
    received: u64,
    in_span: u64,
    /// The spans before with an id that did not come: one of those was left out.
    left_out: u64,
    /// A nonce bit was set. Who leaves ids out has such.
    has_nonces: bool,
}

impl Missing {
    pub(super) const fn new(first: u64) -> Self {
        Self {
            first,
            next: first,
            span: first / SKIP_SPAN,
            received: 0,
            in_span: 0,
            left_out: 0,
            has_nonces: false,
        }
    }

    /// Whether an id of the newest span did not come, of those before `end`: then one may have been left
    /// out.
    fn has_gap(&self, end: u64) -> bool {
        end - (self.span * SKIP_SPAN).max(self.first) > self.in_span
    }

    /// The frame `id` has come for the first time.
    pub(super) fn on_received(&mut self, id: u64, nonce: bool) {
        let span = id / SKIP_SPAN;
        if span > self.span {
            let has_gap = self.has_gap((self.span + 1) * SKIP_SPAN);
            self.left_out += u64::from(has_gap) + (span - self.span - 1);
            (self.span, self.in_span) = (span, 0);
        }
        self.next = self.next.max(id + 1);
        self.received += 1;
        self.in_span += u64::from(span == self.span);
        self.has_nonces |= nonce;
    }

    pub(super) const fn received(&self) -> u64 {
        self.received
    }

    /// How many frames of those before the newest did not come. Until the span is over, one of them may
    /// be taken for one that was left out.
    pub(super) fn count(&self) -> u64 {
        let mut left_out = 0;
        if self.has_nonces || self.received < PLAIN {
            left_out = self.left_out + u64::from(self.has_gap(self.next));
        }
        // What is behind the first is none of them, whoever has sent it.
        let sent = self.next - self.first;
        sent.saturating_sub(self.received).saturating_sub(left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is missing after all frames have come but those that `lost` says. `skips`: one id of each 512
    /// is left out, elsewhere each time.
    fn missing(frames: u64, skips: bool, lost: impl Fn(u64) -> bool) -> u64 {
        let mut missing = Missing::new(0);
        for id in 0..frames {
            let is_left_out = skips && id % SKIP_SPAN == (id / SKIP_SPAN * 37 + 511) % SKIP_SPAN;
            if !is_left_out && !lost(id) {
                missing.on_received(id, skips && id % 3 == 0);
            }
        }
        missing.count()
    }

    #[test]
    fn what_is_left_out_is_never_missing() {
        for frames in 0..3000 {
            assert_eq!(missing(frames, true, |_| false), 0, "{frames}");
            assert_eq!(missing(frames, false, |_| false), 0, "{frames}");
        }
    }

    #[test]
    fn what_is_lost_is_missing_to_the_frame_when_the_span_is_over() {
        for skips in [true, false] {
            for (each, of_each) in [(7, 7), (100, 1), (600, 1), (1500, 40)] {
                let lost = |id| id < 51_200 && id % each >= each - of_each.min(each - 1);
                let all = (0..51_200).filter(|&id| lost(id)).count() as u64;
                let counted = missing(51_200 + 1, skips, lost);
                // What was left out may be among what would have been lost.
                let both = if skips { 100 } else { 0 };
                assert!(
                    counted <= all && counted + both >= all,
                    "{counted} of {all}"
                );
            }
        }
    }

    #[test]
    fn an_outage_of_whole_spans_and_what_comes_late_are_counted() {
        let mut missing = Missing::new(1000);
        for id in (1000..1100).chain(5000..5100) {
            missing.on_received(id, true);
        }
        // Of the spans 2 to 9 each has one that was left out.
        assert_eq!(missing.count(), 3900 - 8);
        for id in 1100..5000 {
            if id % SKIP_SPAN != 511 {
                missing.on_received(id, true);
            }
        }
        assert_eq!(missing.count(), 0);
    }
}
