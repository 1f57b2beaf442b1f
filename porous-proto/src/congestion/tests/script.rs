//! For tests: a controller in virtual time, which is told what happens in few words.

use core::ops::{Deref, DerefMut};
use core::time::Duration;

use crate::congestion::controller::{Ack, Controller, Signal, Trouble};
use crate::time::Instant;

/// The instant `time` milliseconds after the beginning.
pub(crate) const fn ms(time: u64) -> Instant {
    Instant::from_micros(1000 * time)
}

/// A controller, and what it is told unless a test says otherwise.
#[derive(Debug)]
pub(crate) struct Script<C> {
    controller: C,
    now: Instant,
    /// The smoothed round-trip time.
    pub(crate) rtt: Duration,
}

impl<C: Controller> Script<C> {
    pub(crate) const fn new(controller: C) -> Self {
        Self {
            controller,
            now: Instant::ZERO,
            rtt: Duration::from_millis(100),
        }
    }

    /// Sets the time.
    pub(crate) const fn at(&mut self, now: Instant) {
        self.now = now;
    }

    fn on_frames(&mut self, sent: Instant, bytes: u32, frames: u32, is_limited: bool) {
        self.controller.on_ack(&Ack {
            now: self.now,
            bytes,
            frames,
            sent,
            rtt: Some(self.rtt),
            smoothed_rtt: self.rtt,
            in_flight: bytes,
            is_limited,
            bandwidth: u32::MAX,
            step: Duration::ZERO,
        });
    }

    /// A frame of `bytes` that was just sent is acknowledged.
    pub(crate) fn acknowledge(&mut self, bytes: u32) {
        self.on_frames(self.now, bytes, 1, true);
    }

    /// This many frames that were just sent are acknowledged.
    pub(crate) fn acknowledge_frames(&mut self, frames: u32) {
        self.on_frames(self.now, 1000 * frames, frames, true);
    }

    /// A frame of `bytes` that was sent at `sent` is acknowledged.
    pub(crate) fn acknowledge_sent(&mut self, sent: Instant, bytes: u32) {
        self.on_frames(sent, bytes, 1, true);
    }

    /// A frame of `bytes` is acknowledged while the window is not used.
    pub(crate) fn acknowledge_idly(&mut self, bytes: u32) {
        self.on_frames(self.now, bytes, 1, false);
    }

    /// A frame that was just sent is lost or marked.
    pub(crate) fn trouble(&mut self, signal: Signal) {
        self.controller.on_trouble(&Trouble {
            now: self.now,
            signal,
            bytes: if signal == Signal::Mark { 0 } else { 1000 },
            sent: self.now,
            in_flight: 0,
        });
    }
}

impl<C> Deref for Script<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.controller
    }
}

impl<C> DerefMut for Script<C> {
    fn deref_mut(&mut self) -> &mut C {
        &mut self.controller
    }
}
