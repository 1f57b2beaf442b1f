//! Estimates of round-trip times of quinn-proto's type. Only quinn-proto can make them, so connections are
//! opened over lines of several lengths, and a controller keeps the estimates that it is told.

use core::time::Duration;
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use porous_proto::Instant;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory};

use crate::peer::State;
use crate::peers::quinn;
use crate::wire::{Path, Wire};

/// The delays of the lines, one way, in milliseconds.
const DELAYS: [u32; 8] = [1, 3, 8, 15, 30, 60, 120, 250];

pub(super) fn estimators() -> Vec<RttEstimator> {
    DELAYS.map(estimator).to_vec()
}

fn estimator(delay: u32) -> RttEstimator {
    let heard = Heard::default();
    let path = Path {
        delay: delay * Duration::from_millis(1),
        jitter: Duration::ZERO,
        loss: 0.0,
        duplicate: 0.0,
        reorder: 0.0,
        rate: 1_000_000_000,
        queue: Duration::from_secs(1),
    };
    let (mut wire, mut ends) = (Wire::new(path, 1), quinn::open(Arc::new(heard.clone()), 1));
    for millis in 0..5000 {
        let now = Instant::from_micros(1000 * millis);
        for (end, quinn) in ends.iter_mut().enumerate() {
            while let Some(datagram) = wire.receive(end, now) {
                quinn.datagram_in(now, &datagram);
            }
            quinn.service(now);
            while quinn.received().is_some() {}
            if quinn.state() == State::Connected && millis % 10 == 0 {
                quinn.send(0, &[7; 100], true);
            }
            while let Some(datagram) = quinn.datagram_out(now) {
                wire.send(end, now, datagram);
            }
        }
    }
    heard.get().expect("something was acknowledged")
}

/// The last estimate that a controller was told.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Option<RttEstimator>>>);

impl Heard {
    fn get(&self) -> Option<RttEstimator> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ControllerFactory for Heard {
    fn build(self: Arc<Self>, _: std::time::Instant, _: u16) -> Box<dyn Controller> {
        Box::new(Self::clone(&self))
    }
}

impl Controller for Heard {
    fn on_ack(
        &mut self,
        _: std::time::Instant,
        _: std::time::Instant,
        _: u64,
        _: bool,
        rtt: &RttEstimator,
    ) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(*rtt);
    }

    fn on_congestion_event(
        &mut self,
        _: std::time::Instant,
        _: std::time::Instant,
        _: bool,
        _: u64,
    ) {
    }

    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        1 << 20
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        1 << 20
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
