//! One run: two ends, a path and an application, in virtual time.

use core::time::Duration;

use porous_proto::Instant;

use crate::peer::{Endpoint, Ends, State};
use crate::wire::{Path, Wire};

/// The time after which an attempt to connect has failed.
const CONNECTING: Duration = Duration::from_secs(10);

/// The application at both ends.
pub(crate) trait Application {
    /// One step of the application at `end`: it takes the messages that arrived, and sends. `elapsed`
    /// counts from when both ends were connected.
    fn step(&mut self, end: usize, elapsed: Duration, endpoint: &mut dyn Endpoint);

    /// True if the application has nothing to do any more.
    fn is_over(&self, elapsed: Duration) -> bool;
}

/// The results of a run, beside those of its application.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// UDP payloads, both ways, from the first datagram of the handshake.
    pub(crate) bytes: u64,
    pub(crate) datagrams: u64,
    pub(crate) mean_queue: f64,
    /// True if an end gave the connection up.
    pub(crate) lost: bool,
}

/// Serves both ends each `step`, the second half a step after the first, until the application is
/// over.
pub(crate) fn run(
    mut ends: Ends,
    path: Path,
    step: Duration,
    application: &mut dyn Application,
    seed: u64,
) -> Seen {
    let mut wire = Wire::new(path, seed);
    let mut now = Instant::ZERO;
    let mut begun = None;
    let lost = loop {
        let states = [ends[0].state(), ends[1].state()];
        if begun.is_none() && states == [State::Connected; 2] {
            begun = Some(now);
        }
        let elapsed = |now: Instant| begun.map(|begun| now.saturating_duration_since(begun));
        for (index, end) in ends.iter_mut().enumerate() {
            let now = now + step / 2 * index as u32;
            while let Some(datagram) = wire.receive(index, now) {
                end.datagram_in(now, &datagram);
            }
            end.service(now);
            if let Some(elapsed) = elapsed(now) {
                application.step(index, elapsed, end.as_mut());
            }
            while let Some(datagram) = end.datagram_out(now) {
                wire.send(index, now, datagram);
            }
        }
        if states.contains(&State::Lost) {
            break true;
        }
        match elapsed(now) {
            Some(elapsed) if application.is_over(elapsed) => break false,
            None if now > Instant::ZERO + CONNECTING => break true,
            Some(_) | None => now = now + step,
        }
    };
    Seen {
        bytes: wire.bytes(),
        datagrams: wire.datagrams(),
        mean_queue: wire.mean_queue(),
        lost,
    }
}
