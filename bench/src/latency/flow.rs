//! A steady flow of reliable messages, one for each frame of a game, both ways, and which of them were
//! lost.

use core::time::Duration;

use porous_proto::Instant;
use porous_sim::Fate;

use crate::peer::{CHANNELS, Endpoint as _, State};
use crate::peers::porous::Porous;
use crate::wire::{Path, Wire};

/// The lengths of a frame at both ends. One is a little longer than the other, so that their phases drift.
const FRAMES: [Duration; 2] = [Duration::from_micros(16_667), Duration::from_micros(16_700)];

/// The bytes of a message.
const LEN: usize = 64;

/// The time after the last message was sent in which messages may still arrive.
const GRACE: Duration = Duration::from_secs(3);

/// When an end is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Service {
    /// Once a frame.
    Tick,
    /// Whenever a datagram arrives or a deadline comes, and once a frame.
    Event,
}

/// One end, with its application.
struct End {
    porous: Porous,
    /// When the next frame begins.
    frame: Instant,
    sent: Vec<Message>,
}

struct Message {
    sent: Instant,
    /// True if the datagram that carried the message first was lost.
    was_lost: bool,
    took: Option<Duration>,
}

/// Runs the flow for this time. Returns the time that each message took whose first transmission was lost.
pub(super) fn flow(
    pair: [Porous; 2],
    service: Service,
    jitter: u64,
    duration: Duration,
    seed: u64,
) -> Vec<Duration> {
    let mut wire = Wire::new(path(jitter), seed);
    let mut ends = pair.map(|porous| End {
        porous,
        frame: Instant::ZERO,
        sent: Vec::new(),
    });
    let mut now = Instant::ZERO;
    let mut last = None;
    while last.is_none_or(|last| now < last + GRACE) {
        let connected = ends
            .iter()
            .all(|end| end.porous.state() == State::Connected);
        if connected && last.is_none() {
            last = Some(now + duration);
        }
        let sends = last.is_some_and(|last| now < last);
        for index in 0..2 {
            if next_call(&ends[index], index, service, &wire) <= now {
                serve(&mut ends, index, now, sends, &mut wire);
            }
        }
        let next = (0..2).map(|index| next_call(&ends[index], index, service, &wire));
        let soonest = now + Duration::from_micros(1);
        now = next.fold(now + FRAMES[0], Instant::min).max(soonest);
    }
    let sent = ends.into_iter().flat_map(|end| end.sent);
    sent.filter(|message| message.was_lost)
        .map(|message| message.took.expect("all that is reliable arrives"))
        .collect()
}

/// When an end is served next.
fn next_call(end: &End, index: usize, service: Service, wire: &Wire) -> Instant {
    if service == Service::Tick {
        return end.frame;
    }
    let calls = [wire.next_arrival(index), end.porous.deadline()];
    calls.into_iter().flatten().fold(end.frame, Instant::min)
}

fn serve(ends: &mut [End; 2], index: usize, now: Instant, sends: bool, wire: &mut Wire) {
    let [first, second] = ends;
    let (end, other) = if index == 0 {
        (first, second)
    } else {
        (second, first)
    };
    while let Some(datagram) = wire.receive(index, now) {
        end.porous.datagram_in(now, &datagram);
    }
    end.porous.service(now);
    while let Some(message) = end.porous.received() {
        let number = u32::from_le_bytes(*message.first_chunk().expect("a number"));
        let message = &mut other.sent[number as usize];
        message.took = Some(now.saturating_duration_since(message.sent));
    }
    let mut marker = None;
    if end.frame <= now {
        end.frame = end.frame + FRAMES[index];
        if sends {
            marker = Some(end.send(now));
        }
    }
    while let Some(datagram) = end.porous.datagram_out(now) {
        let carries = marker.is_some_and(|marker| contains(&datagram, &marker));
        let fate = wire.send(index, now, datagram);
        if let (true, Some(message)) = (carries, end.sent.last_mut()) {
            message.was_lost = fate == Fate::Lost;
        }
    }
}

impl End {
    /// Sends the next message, and returns its first bytes, by which it is found in datagrams.
    fn send(&mut self, now: Instant) -> [u8; 16] {
        let number = self.sent.len();
        let mut bytes = [0xa5; LEN];
        bytes[..4].copy_from_slice(&(number as u32).to_le_bytes());
        // The channels take turns, so that a message seldom waits for another one.
        let channel = (number % usize::from(CHANNELS)) as u8;
        assert!(self.porous.send(channel, &bytes, true), "there is room");
        self.sent.push(Message {
            sent: now,
            was_lost: false,
            took: None,
        });
        *bytes.first_chunk().expect("long enough")
    }
}

fn contains(datagram: &[u8], marker: &[u8]) -> bool {
    datagram.windows(marker.len()).any(|part| part == marker)
}

/// A path of 30 ms each way, and up to twice the jitter more; 2 percent are lost.
fn path(jitter: u64) -> Path {
    let jitter = Duration::from_millis(jitter);
    Path {
        delay: Duration::from_millis(30) + jitter,
        jitter,
        loss: 2.0,
        duplicate: 0.0,
        reorder: 0.0,
        rate: 100_000_000,
        queue: Duration::from_millis(100),
    }
}
