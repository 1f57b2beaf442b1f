//! The keys of one direction of a sealed connection, one after another: its phases.
//!
//! A frame is sealed with its 64-bit id as the nonce, and no id is ever sent twice. From time to time the
//! sender goes on to the next key, and shows it by a bit of the frame. The next key follows from the one
//! before and not the other way round (Noise §11.3), so that a key which is stolen from memory opens nothing
//! that was recorded in an earlier phase. Ids go on.

use alloc::boxed::Box;
use core::fmt;

use zeroize::Zeroizing;

use super::crypto::Crypto;
use super::provider::Aead;
use super::secret::Secret;
use crate::time::{Instant, Micros};

/// The nonce of which the next key is made. No frame has this id.
const REKEY: u64 = u64::MAX;

/// The first id that no frame may have.
const ID_END: u64 = 1 << 63;

/// The most frames that one key may seal. Of AES-GCM's advantage more would be allowed, RFC 9001 §6.6.
const MOST_FRAMES: u64 = 1 << 23;

/// The most frames that may fail to open, RFC 9001 §6.6 and RFC 9147 §4.5.3.
const MOST_FORGERIES: u64 = 1 << 36;

/// The least time for which the key of the phase before is kept, for frames that are late.
const LATE: Micros = Micros::from_secs(2);

/// The key after this one.
fn rekey(crypto: Crypto, aead: &mut dyn Aead) -> Box<dyn Aead> {
    let mut key = Zeroizing::new([0; 32]);
    // The tag is no part of the key.
    let _ = aead.seal(REKEY, &[], &mut key[..]);
    crypto.aead(&key)
}

/// When a sender goes on to the next key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Frames of a phase.
    frames: u64,
    /// How long a phase lasts.
    time: Micros,
}

impl Limits {
    /// 2^22 frames, which is half of what one key may seal, or an hour.
    pub(crate) const MOST: Self = Self {
        frames: MOST_FRAMES / 2,
        time: Micros::from_secs(3600),
    };

    /// The frames, and the microseconds.
    #[cfg(feature = "record")]
    pub(crate) const fn parts(self) -> (u64, u64) {
        (self.frames, self.time.get())
    }

    /// These limits, or lower ones.
    pub(crate) fn lowered(self, frames: u64, time: Micros) -> Self {
        Self {
            frames: self.frames.min(frames),
            time: self.time.min(time),
        }
    }
}

/// Seals what a host sends.
pub(crate) struct Sealer {
    crypto: Crypto,
    aead: Box<dyn Aead>,
    limits: Limits,
    /// The bit that frames of this phase have.
    phase: bool,
    /// The id of the first frame of this phase.
    first: u64,
    /// The lowest id that no frame has had yet.
    next: u64,
    /// When this phase began.
    began: Instant,
    /// When a frame of this phase was acknowledged for the first time: from then on the other host is known
    /// to be in this phase.
    confirmed: Option<Instant>,
}

impl Sealer {
    /// For frames from the id `first` on.
    pub(crate) fn new(
        crypto: Crypto,
        key: &Secret,
        first: u64,
        now: Instant,
        limits: Limits,
    ) -> Self {
        Self {
            crypto,
            aead: crypto.aead(key.bytes()),
            limits,
            phase: false,
            first,
            next: first,
            began: now,
            confirmed: None,
        }
    }

    /// The phase bit of the frame `id`, which is to be sent now. Goes on to the next key if it is time.
    pub(crate) fn phase(&mut self, id: u64, now: Instant, timeout: Micros) -> bool {
        if self.is_due(id, now) && self.may_go_on(now, timeout) {
            // The old key is wiped as it is replaced.
            self.aead = rekey(self.crypto, &mut *self.aead);
            self.phase = !self.phase;
            self.first = id;
            self.began = now;
            self.confirmed = None;
        }
        self.phase
    }

    fn is_due(&self, id: u64, now: Instant) -> bool {
        let frames = id.saturating_sub(self.first);
        frames >= self.limits.frames || now.since(self.began) >= self.limits.time
    }

    /// A receiver knows two keys beside the current one: that before it, for a while, and that after it. So
    /// it must have come along, and nothing of the phase before may be under way.
    fn may_go_on(&self, now: Instant, timeout: Micros) -> bool {
        self.confirmed
            .is_some_and(|confirmed| now.since(confirmed) >= 3 * timeout)
    }

    /// Seals the body of the frame `id` in place, and gives its tag; `aad` is all that stands before the
    /// body, with the bit of [`phase`](Self::phase). `None` if this would be more than the key may seal, or
    /// if the id is not higher than all before: then nothing was done, and the connection has to end.
    #[must_use]
    pub(crate) fn seal(&mut self, id: u64, aad: &[u8], body: &mut [u8]) -> Option<[u8; 16]> {
        if !self.may_seal(id) {
            return None;
        }
        self.next = id.saturating_add(1);
        Some(self.aead.seal(id, aad, body))
    }

    /// Whether the key of this phase may seal the frame `id`.
    pub(crate) const fn may_seal(&self, id: u64) -> bool {
        let is_fresh = id >= self.next && id < ID_END;
        is_fresh && id.saturating_sub(self.first) < MOST_FRAMES
    }

    #[cfg(test)]
    pub(crate) const fn wear_out_for_test(&mut self) {
        self.next = ID_END;
    }

    /// The other host has acknowledged the frame `id`.
    pub(crate) fn on_acknowledged(&mut self, id: u64, now: Instant) {
        if id >= self.first {
            self.confirmed.get_or_insert(now);
        }
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Sealer");
        shown
            .field("phase", &self.phase)
            .field("first", &self.first)
            .field("next", &self.next)
            .field("began", &self.began)
            .field("confirmed", &self.confirmed)
            .finish_non_exhaustive()
    }
}

/// A frame that came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sealed<'a> {
    pub(crate) id: u64,
    /// Its phase bit.
    pub(crate) phase: bool,
    /// All that stands before the body.
    pub(crate) aad: &'a [u8],
    pub(crate) tag: &'a [u8; 16],
}

/// Why a frame was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unopened {
    /// No key that is known opens it.
    Forged,
    /// The same, and as it was the 2^36th such frame, the connection has to end.
    TooManyForgeries,
}

/// Opens what a host receives.
pub(crate) struct Opener {
    crypto: Crypto,
    current: Box<dyn Aead>,
    /// Computed before a frame needs it, so that no time tells which frames try it (RFC 9001 §6.3).
    next: Box<dyn Aead>,
    previous: Option<Previous>,
    /// The bit of frames of the current phase.
    phase: bool,
    /// The id of the frame that began the current phase here. Some of the same phase may have lower ones.
    first: u64,
    /// Frames that were not opened.
    forgeries: u64,
}

/// The key of the phase before.
struct Previous {
    aead: Box<dyn Aead>,
    until: Instant,
}

impl Opener {
    /// For frames from the id `first` on.
    pub(crate) fn new(crypto: Crypto, key: &Secret, first: u64) -> Self {
        let mut current = crypto.aead(key.bytes());
        let next = rekey(crypto, &mut *current);
        Self {
            crypto,
            current,
            next,
            previous: None,
            phase: false,
            first,
            forgeries: 0,
        }
    }

    /// Opens the body of a frame in place, by one attempt with one key. A frame that does not open changes
    /// nothing but the count of such frames, and `body` is worth nothing then. `timeout` is the resend
    /// timeout, T_rto.
    pub(crate) fn open(
        &mut self,
        now: Instant,
        timeout: Micros,
        frame: &Sealed<'_>,
        body: &mut [u8],
    ) -> Result<(), Unopened> {
        // Wiped here and not by a timer: peers that are connected hear of each other all the time.
        if self
            .previous
            .as_ref()
            .is_some_and(|previous| now >= previous.until)
        {
            self.previous = None;
        }
        let is_next = frame.phase != self.phase && frame.id >= self.first;
        let key = if frame.phase == self.phase {
            Some(&mut *self.current)
        } else if is_next {
            Some(&mut *self.next)
        } else {
            self.previous.as_mut().map(|previous| &mut *previous.aead)
        };
        let key = key.filter(|_| frame.id < ID_END);
        let opens = key.is_some_and(|key| key.open(frame.id, frame.aad, body, frame.tag));
        if !opens {
            return Err(self.count_forgery());
        }
        if is_next {
            self.go_on(frame.id, now + LATE.max(3 * timeout));
        }
        Ok(())
    }

    /// The next key is the current one from now on.
    fn go_on(&mut self, first: u64, until: Instant) {
        let after = rekey(self.crypto, &mut *self.next);
        let current = core::mem::replace(&mut self.next, after);
        let aead = core::mem::replace(&mut self.current, current);
        self.previous = Some(Previous { aead, until });
        self.phase = !self.phase;
        self.first = first;
    }

    /// Whether so many frames did not open that the connection has to end.
    pub(crate) const fn is_worn_out(&self) -> bool {
        self.forgeries >= MOST_FORGERIES
    }

    /// The next frame that does not open is one too many.
    #[cfg(test)]
    pub(crate) const fn wear_out_for_test(&mut self) {
        self.forgeries = MOST_FORGERIES - 1;
    }

    const fn count_forgery(&mut self) -> Unopened {
        self.forgeries = self.forgeries.saturating_add(1);
        if self.forgeries >= MOST_FORGERIES {
            Unopened::TooManyForgeries
        } else {
            Unopened::Forged
        }
    }
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Opener");
        shown
            .field("phase", &self.phase)
            .field("first", &self.first);
        let previous = self.previous.as_ref().map(|previous| previous.until);
        shown
            .field("forgeries", &self.forgeries)
            .field("previous", &previous)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::provider::Suite;
    use super::super::toy::Toy;
    use super::*;
    use alloc::vec::Vec;

    const KEY: [u8; 32] = [9; 32];
    const TIMEOUT: Micros = Micros::from_millis(100);

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Micros::from_millis(millis)
    }

    fn crypto() -> Crypto {
        Crypto::new(&Toy, Suite::CHACHA_POLY).unwrap()
    }

    /// A new phase after 4 frames or 10 s.
    fn sealer() -> Sealer {
        let limits = Limits::MOST.lowered(4, Micros::from_secs(10));
        Sealer::new(crypto(), &Secret::new(KEY), 0, at(0), limits)
    }

    fn opener() -> Opener {
        Opener::new(crypto(), &Secret::new(KEY), 0)
    }

    /// A frame as it is on its way: its id, its phase bit, its body and tag.
    #[derive(Clone)]
    struct Flying(u64, bool, [u8; 3], [u8; 16]);

    fn send(sealer: &mut Sealer, id: u64, now: Instant) -> Flying {
        let phase = sealer.phase(id, now, TIMEOUT);
        let mut body = *b"abc";
        let tag = sealer.seal(id, &[u8::from(phase)], &mut body);
        Flying(id, phase, body, tag.expect("the key may be used"))
    }

    fn arrive(opener: &mut Opener, flying: &Flying, now: Instant) -> bool {
        let Flying(id, phase, mut body, tag) = flying.clone();
        let frame = Sealed {
            id,
            phase,
            aad: &[u8::from(phase)],
            tag: &tag,
        };
        let opens = opener.open(now, TIMEOUT, &frame, &mut body).is_ok();
        assert!(!opens || body == *b"abc");
        opens
    }

    /// Sends the first frames of phase 0, which the sender may leave.
    fn confirmed() -> (Sealer, Vec<Flying>) {
        let mut sealer = sealer();
        let frames = (0..4).map(|id| send(&mut sealer, id, at(0)));
        let frames: Vec<Flying> = frames.collect();
        sealer.on_acknowledged(0, at(0));
        (sealer, frames)
    }

    #[test]
    fn a_phase_ends_after_its_frames_and_not_before() {
        let (mut sealer, _) = confirmed();
        assert!(!sealer.phase(3, at(1000), TIMEOUT));
        assert!(sealer.phase(4, at(1000), TIMEOUT));
        assert!(sealer.phase(5, at(1000), TIMEOUT));
    }

    #[test]
    fn a_phase_ends_after_its_time_and_not_before() {
        let mut sealer = sealer();
        sealer.on_acknowledged(0, at(0));
        assert!(!sealer.phase(1, at(9_999), TIMEOUT));
        assert!(sealer.phase(2, at(10_000), TIMEOUT));
        // The time of the next phase counts from here.
        sealer.on_acknowledged(2, at(10_000));
        assert!(sealer.phase(3, at(19_999), TIMEOUT));
        assert!(!sealer.phase(4, at(20_000), TIMEOUT));
    }

    #[test]
    fn a_phase_does_not_end_before_a_frame_of_it_was_acknowledged_and_late_ones_have_come() {
        let mut sealer = sealer();
        for id in 0..8 {
            assert!(!send(&mut sealer, id, at(0)).1, "nothing is acknowledged");
        }
        assert!(!sealer.phase(8, at(0), Micros::ZERO));
        sealer.on_acknowledged(1, at(100));
        sealer.on_acknowledged(2, at(300)); // the first counts
        assert!(!sealer.phase(8, at(399), TIMEOUT));
        assert!(sealer.phase(8, at(400), TIMEOUT));
        // An acknowledgement of the phase before says nothing of this one.
        sealer.on_acknowledged(7, at(400));
        assert!(sealer.phase(20, at(5_000), TIMEOUT));
        sealer.on_acknowledged(8, at(5_000));
        assert!(!sealer.phase(20, at(5_300), TIMEOUT));
    }

    #[test]
    fn limits_can_only_be_lowered() {
        let most = Limits::MOST;
        assert_eq!(most.lowered(u64::MAX, Micros::MAX), most);
        assert_eq!(most.lowered(16, Micros::MAX).frames, 16);
        assert_eq!(most.lowered(16, Micros::MAX).time, Micros::from_secs(3600));
        assert_eq!(most.lowered(u64::MAX, Micros::ZERO).time, Micros::ZERO);
        assert_eq!(most.frames, 1 << 22);
    }

    #[test]
    fn no_id_is_sealed_twice_and_none_is_out_of_range() {
        let mut sealer = sealer();
        let mut seal = |id| sealer.seal(id, &[], &mut [1]).is_some();
        assert!(seal(5));
        assert!(!seal(5) && !seal(4));
        assert!(seal(6));
        let mut sealer = Sealer::new(crypto(), &Secret::new(KEY), ID_END - 1, at(0), Limits::MOST);
        assert!(sealer.seal(ID_END - 1, &[], &mut [1]).is_some());
        assert!(sealer.seal(ID_END, &[], &mut [1]).is_none());
    }

    #[test]
    fn a_key_that_cannot_be_left_seals_no_more_than_it_may() {
        let mut sealer = sealer();
        let mut seal = |id| sealer.seal(id, &[], &mut [1]).is_some();
        assert!(seal(MOST_FRAMES - 1));
        assert!(!seal(MOST_FRAMES));
    }

    #[test]
    fn frames_of_all_phases_are_opened_in_any_order() {
        let (mut sealer, old) = confirmed();
        let new: Vec<Flying> = (4..8).map(|id| send(&mut sealer, id, at(1000))).collect();
        assert!(new[0].1 && !old[3].1);
        let mut opener = opener();
        for frame in [
            &old[0], &new[2], &old[2], &new[0], &old[3], &new[3], &old[1], &new[1],
        ] {
            assert!(arrive(&mut opener, frame, at(1000)), "{}", frame.0);
        }
        sealer.on_acknowledged(4, at(1000));
        let newest = send(&mut sealer, 8, at(2000));
        assert!(!newest.1, "the bit is that of two phases before");
        assert!(arrive(&mut opener, &newest, at(2000)));
        assert!(arrive(&mut opener, &new[3], at(2000)));
        assert!(!arrive(&mut opener, &old[3], at(2000)), "its key is gone");
    }

    #[test]
    fn the_key_of_the_phase_before_is_kept_for_2_seconds_or_3_timeouts() {
        for (timeout, kept) in [(100, 2000), (1000, 3000)] {
            let timeout = Micros::from_millis(timeout);
            let (mut sealer, old) = confirmed();
            let next = send(&mut sealer, 4, at(1000));
            for (now, opens) in [(1000 + kept - 1, true), (1000 + kept, false)] {
                let mut opener = opener();
                for (flying, now, opens) in [(&next, 1000, true), (&old[3], now, opens)] {
                    let Flying(id, phase, mut body, tag) = flying.clone();
                    let frame = Sealed {
                        id,
                        phase,
                        aad: &[u8::from(phase)],
                        tag: &tag,
                    };
                    let opened = opener.open(at(now), timeout, &frame, &mut body);
                    assert_eq!(opened.is_ok(), opens, "{id} at {now}");
                }
                assert_eq!(opener.previous.is_some(), opens, "and then it is wiped");
            }
        }
    }

    #[test]
    fn a_forged_frame_of_the_next_phase_changes_nothing() {
        let (mut sealer, old) = confirmed();
        let mut opener = opener();
        let forged = Flying(3, true, old[3].2, old[3].3);
        assert!(!arrive(&mut opener, &forged, at(0)));
        assert!(!opener.phase && opener.previous.is_none());
        assert_eq!(opener.forgeries, 1);
        assert!(arrive(&mut opener, &old[3], at(0)));
        assert!(arrive(
            &mut opener,
            &send(&mut sealer, 4, at(1000)),
            at(1000)
        ));
        assert!(opener.phase);
    }

    /// The nonce of which keys are made is never that of a frame.
    #[test]
    fn an_id_that_no_frame_has_is_not_opened() {
        let mut toy = crypto().aead(&KEY);
        let mut opener = opener();
        for (id, opens) in [(ID_END - 1, true), (ID_END, false), (REKEY, false)] {
            let mut body = *b"abc";
            let tag = toy.seal(id, &[0], &mut body);
            assert_eq!(
                arrive(&mut opener, &Flying(id, false, body, tag), at(0)),
                opens
            );
        }
    }

    #[test]
    fn too_many_forgeries_end_the_connection() {
        let mut opener = opener();
        let frame = Sealed {
            id: 0,
            phase: false,
            aad: &[],
            tag: &[0; 16],
        };
        opener.forgeries = MOST_FORGERIES - 2;
        for expected in [Unopened::Forged, Unopened::TooManyForgeries] {
            let opened = opener.open(at(0), TIMEOUT, &frame, &mut [1]);
            assert_eq!(opened, Err(expected));
        }
    }

    #[test]
    fn no_key_is_printed() {
        let shown = alloc::format!("{:?} {:?}", sealer(), opener());
        assert!(
            shown.contains("phase: false") && !shown.contains("09"),
            "{shown}"
        );
    }
}
