//! The controllers that are compared: ours, and quinn-proto's. Each is told the events in the way of its
//! own protocol.

use std::sync::Arc;

use porous_proto::Instant;
use porous_proto::congestion::{
    Ack, Congestion, Controller, Signal, Trouble as Told, initial_window,
};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{
    Controller as QuinnController, ControllerFactory as _, CubicConfig, NewRenoConfig,
};

use super::Subject;
use super::trace::{Event, Trouble};
use crate::clock::real;

pub(super) struct Ours {
    controller: Box<dyn Controller>,
    rtts: Vec<RttEstimator>,
    /// When the last episode of losses began.
    episode: Option<Instant>,
}

impl Ours {
    pub(super) fn new(kind: Congestion, mtu: u32, rtts: &[RttEstimator]) -> Self {
        Self {
            controller: kind.controller(mtu),
            rtts: rtts.to_vec(),
            episode: None,
        }
    }

    /// True if the loss of a frame sent at `sent` begins an episode: the frame was sent after the last
    /// episode began (`docs/deviations.md`, T2).
    fn begins(&mut self, sent: Instant, now: Instant) -> bool {
        let begins = self.episode.is_none_or(|start| sent > start);
        if begins {
            self.episode = Some(now);
        }
        begins
    }
}

impl Subject for Ours {
    fn tell(&mut self, now: Instant, event: &Event) {
        match event {
            Event::Sent { bytes, in_flight } => self.controller.on_sent(now, *bytes, *in_flight),
            Event::Acked {
                frames,
                is_limited,
                rtt,
            } => {
                let rtt = self.rtts[*rtt].get();
                let bytes = frames.iter().map(|frame| frame.bytes).sum();
                self.controller.on_ack(&Ack {
                    now,
                    bytes,
                    frames: frames.len() as u32,
                    sent: frames[frames.len() - 1].sent,
                    rtt: Some(rtt),
                    smoothed_rtt: rtt,
                    in_flight: bytes,
                    is_limited: *is_limited,
                    bandwidth: u32::MAX,
                    step: core::time::Duration::ZERO,
                });
            }
            Event::Trouble(trouble, frames) => {
                for (at, frame) in frames.iter().enumerate() {
                    let begins = self.begins(frame.sent, now);
                    let signal = match trouble {
                        Trouble::Mark if begins => Signal::Mark,
                        Trouble::Mark => return,
                        Trouble::Persistent if at + 1 == frames.len() => Signal::Persistent,
                        Trouble::Loss | Trouble::Persistent if begins => Signal::Loss,
                        Trouble::Loss | Trouble::Persistent => Signal::FurtherLoss,
                    };
                    self.controller.on_trouble(&Told {
                        now,
                        signal,
                        bytes: frame.bytes,
                        sent: frame.sent,
                        in_flight: 0,
                    });
                }
            }
        }
    }

    fn window(&self) -> f64 {
        self.controller.window().into()
    }
}

pub(super) struct Quinns {
    controller: Box<dyn QuinnController>,
    rtts: Vec<RttEstimator>,
}

impl Quinns {
    pub(super) fn new_reno(mtu: u32, rtts: &[RttEstimator]) -> Self {
        let mut config = NewRenoConfig::default();
        config.initial_window(initial_window(mtu).into());
        Self {
            controller: Arc::new(config).build(real(Instant::ZERO), mtu as u16),
            rtts: rtts.to_vec(),
        }
    }

    pub(super) fn cubic(mtu: u32, rtts: &[RttEstimator]) -> Self {
        let mut config = CubicConfig::default();
        config.initial_window(initial_window(mtu).into());
        Self {
            controller: Arc::new(config).build(real(Instant::ZERO), mtu as u16),
            rtts: rtts.to_vec(),
        }
    }
}

impl Subject for Quinns {
    fn tell(&mut self, now: Instant, event: &Event) {
        let now = real(now);
        match event {
            Event::Sent { bytes, .. } => self.controller.on_sent(now, u64::from(*bytes), 0),
            Event::Acked {
                frames,
                is_limited,
                rtt,
            } => {
                for frame in frames {
                    let (sent, bytes) = (real(frame.sent), u64::from(frame.bytes));
                    let rtt = &self.rtts[*rtt];
                    self.controller.on_ack(now, sent, bytes, !is_limited, rtt);
                }
                self.controller.on_end_acks(now, 0, !is_limited, None);
            }
            Event::Trouble(trouble, frames) => {
                let persistent = *trouble == Trouble::Persistent;
                let bytes = frames.iter().map(|frame| u64::from(frame.bytes)).sum();
                let bytes = if *trouble == Trouble::Mark { 0 } else { bytes };
                let newest = real(frames[frames.len() - 1].sent);
                self.controller
                    .on_congestion_event(now, newest, persistent, bytes);
            }
        }
    }

    fn window(&self) -> f64 {
        self.controller.window() as f64
    }
}
