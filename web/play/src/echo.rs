//! The latency of each mode: a packet goes to the server and comes back, ten times a second.

use core::time::Duration;

use porous_proto::{Instant, Received};

use crate::rules::MEASURED;

/// The time between two packets of a mode.
const INTERVAL: Duration = Duration::from_millis(100);

/// A packet that came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// The place of its mode in [`MEASURED`].
    pub mode: usize,
    /// How long it was on its way, there and back.
    pub after: Duration,
}

/// What was sent and came back.
#[derive(Clone, Debug, Default)]
pub struct Echoes {
    next: Instant,
    back: Vec<Echo>,
}

impl Echoes {
    /// The most that are kept until somebody takes them: a minute of all modes.
    const KEPT: usize = 1800;

    /// What is to be sent now: the time, on each channel.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_play::echo::Echoes;
    /// use porous_proto::Instant;
    ///
    /// let mut echoes = Echoes::default();
    /// let now = Instant::ZERO + Duration::from_secs(1);
    /// assert!(echoes.due(now).is_some());
    /// assert!(echoes.due(now).is_none());
    /// ```
    pub fn due(&mut self, now: Instant) -> Option<[u8; 8]> {
        if now < self.next {
            return None;
        }
        self.next = now + INTERVAL;
        Some(now.as_micros().to_be_bytes())
    }

    /// Takes in a packet of a measured channel.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_play::echo::Echoes;
    /// use porous_play::rules::MEASURED;
    /// use porous_proto::{Instant, Received};
    ///
    /// let mut echoes = Echoes::default();
    /// let sent = echoes.due(Instant::from_micros(5_000)).unwrap();
    /// let (channel, mode) = MEASURED[1];
    /// let payload = sent.to_vec().into();
    /// echoes.receive(Instant::from_micros(65_000), &Received { channel, mode, payload });
    /// assert_eq!(echoes.take()[0].after, Duration::from_millis(60));
    /// ```
    pub fn receive(&mut self, now: Instant, packet: &Received) {
        let mode = MEASURED.iter().position(|(id, _)| *id == packet.channel);
        let sent = packet.payload.get(..8).and_then(|it| it.try_into().ok());
        let (Some(mode), Some(sent)) = (mode, sent) else {
            return;
        };
        if self.back.len() < Self::KEPT {
            let sent = Instant::from_micros(u64::from_be_bytes(sent));
            let after = now.saturating_duration_since(sent);
            self.back.push(Echo { mode, after });
        }
    }

    /// What came back since this was last called.
    ///
    /// ```
    /// assert!(porous_play::echo::Echoes::default().take().is_empty());
    /// ```
    pub fn take(&mut self) -> Vec<Echo> {
        core::mem::take(&mut self.back)
    }
}
