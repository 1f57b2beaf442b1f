//! An application that sends a file one way, as fast as the protocol takes it.

use core::time::Duration;

use crate::peer::Endpoint;
use crate::run::Application;

/// The length of each piece of the file, in bytes.
const PIECE: usize = 16 << 10;

/// A run whose file has not arrived after this time is stopped.
const LONGEST: Duration = Duration::from_secs(300);

/// The application at both ends.
pub(crate) struct Bulk {
    pieces: u64,
    sent: u64,
    arrived: u64,
    /// When the last piece arrived.
    last: Duration,
}

impl Bulk {
    /// A file of this length.
    pub(crate) fn new(bytes: u64) -> Self {
        Self {
            pieces: bytes / PIECE as u64,
            sent: 0,
            arrived: 0,
            last: Duration::ZERO,
        }
    }

    /// The bytes that arrived.
    pub(crate) fn arrived(&self) -> u64 {
        self.arrived * PIECE as u64
    }

    /// The bytes that arrived in a second, counted from the first `send`.
    pub(crate) fn goodput(&self) -> f64 {
        let seconds = if self.is_there() { self.last } else { LONGEST };
        self.arrived() as f64 / seconds.as_secs_f64()
    }

    /// Pieces that did not arrive.
    pub(crate) fn missing(&self) -> u64 {
        self.pieces - self.arrived
    }

    fn is_there(&self) -> bool {
        self.arrived == self.pieces
    }
}

impl Application for Bulk {
    fn step(&mut self, end: usize, elapsed: Duration, endpoint: &mut dyn Endpoint) {
        while let Some(piece) = endpoint.received() {
            let number = piece.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
            assert_eq!(number, Some(self.arrived), "in order");
            self.arrived += 1;
            self.last = elapsed;
        }
        while end == 0 && self.sent < self.pieces {
            let mut piece = vec![0; PIECE];
            piece[..8].copy_from_slice(&self.sent.to_le_bytes());
            if !endpoint.send(0, &piece, true) {
                return;
            }
            self.sent += 1;
        }
    }

    fn is_over(&self, elapsed: Duration) -> bool {
        self.is_there() || elapsed > LONGEST
    }
}
