//! How much may be in flight, and how fast it leaves (§3.1.4): the controllers, and what they are
//! told.
//!
//! A [`Controller`] decides on a window and, if it likes, on a pace. What every controller needs is
//! done around it: bytes are counted, losses are grouped into episodes, a window that nobody uses
//! gives no right to a burst, and datagrams are spread over the round trip.

mod controller;
mod lean;
mod minimum;
mod paper;

use alloc::boxed::Box;

pub use self::controller::{Ack, Controller, Signal, Trouble};
use self::lean::Lean;
pub(crate) use self::minimum::Minimum;
use self::paper::Paper;

/// Which controller a host uses for each of its peers.
///
/// ```
/// use porous_proto::Config;
/// use porous_proto::congestion::Congestion;
///
/// let _config = Config::new().congestion(Congestion::Paper);
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Congestion {
    /// The paper's slow start and congestion avoidance, (8) to (15).
    Paper,
    /// Keeps the path full and its queue short, whatever is lost by chance: a window by delay (FAST
    /// TCP), which gives way to one by losses beside those who fill the queue.
    Lean,
    /// A controller of the application's own, made for each peer when it connects. The function is
    /// given the MTU: the largest datagram to that peer, in bytes.
    Custom(fn(mtu: u32) -> Box<dyn Controller>),
}

impl Congestion {
    /// A controller for one peer, whose datagrams have at most `mtu` bytes.
    ///
    /// ```
    /// use porous_proto::congestion::{Congestion, Controller as _};
    ///
    /// assert_eq!(Congestion::Paper.controller(1200).window(), 12_000);
    /// ```
    #[must_use]
    pub fn controller(self, mtu: u32) -> Box<dyn Controller> {
        match self {
            Self::Paper => Box::new(Paper::new(mtu)),
            Self::Lean => Box::new(Lean::new(mtu)),
            Self::Custom(make) => make(mtu),
        }
    }
}

/// The window of a connection that knows nothing of its path, in bytes: ten frames, or what RFC 9002
/// §7.2 allows for larger ones (RFC 6928; `docs/deviations.md` T15).
///
/// ```
/// use porous_proto::congestion::initial_window;
///
/// assert_eq!(initial_window(1200), 12_000);
/// assert_eq!(initial_window(9000), 18_000);
/// ```
#[must_use]
pub const fn initial_window(mtu: u32) -> u32 {
    let (frames, least) = (10 * mtu, 2 * mtu);
    let most = if least > 14_720 { least } else { 14_720 };
    if frames < most { frames } else { most }
}

/// The paper's controller in the middle of something, to draw a figure.
#[cfg(test)]
pub(crate) fn paper_with_window(mtu: u32, window: u32) -> Box<dyn Controller> {
    Box::new(Paper::new(mtu).with_window(window))
}
