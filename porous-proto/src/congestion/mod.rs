//! How much may be in flight, and how fast it leaves (§3.1.4): the controllers, and what they are
//! told.
//!
//! A [`Controller`] decides on a window and, if it likes, on a pace. What every controller needs is
//! done around it: bytes are counted, losses are grouped into episodes, a window that nobody uses
//! gives no right to a burst, and datagrams are spread over the round trip.

mod advisor;
mod conditions;
mod controller;
mod cubic;
mod curve;
mod fixed;
mod lean;
mod paper;
mod reno;
#[cfg(test)]
mod tests;

use alloc::boxed::Box;

pub use self::advisor::{Advice, Advisor};
pub use self::conditions::BinaryMode;
pub use self::controller::{Ack, Controller, Signal, Trouble};
use self::cubic::Cubic;
use self::fixed::{Binary, Fixed};
use self::lean::Lean;
use self::paper::Paper;
use self::reno::Reno;

/// Half of the range is left, so that sums of windows and frames cannot overflow.
pub(crate) const MAX_WINDOW: u32 = u32::MAX / 2;

/// The window of a path that is as bad as can be: two frames (RFC 9002 §7.2).
fn min_window(mtu: u32) -> u32 {
    mtu.saturating_mul(2).clamp(1, MAX_WINDOW)
}

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
    /// Keeps the path full and its queue short, a few milliseconds, whatever is lost by chance (up to
    /// one frame in eight): a window by delay (FAST TCP), and one by losses beside connections that
    /// fill the queue (Copa). The default of [`Policy::Modern`](crate::Policy::Modern);
    /// `docs/design.md` says what it is made of.
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_proto::congestion::Congestion;
    ///
    /// let _config = Config::new().congestion(Congestion::Lean);
    /// ```
    Lean,
    /// That of RFC 9002 §7, which TCP has as NewReno: half of the window after a loss, and then a
    /// frame more in each round trip. The best known one, and the most cautious: where one frame in
    /// a hundred is lost whatever is sent, it stays at about a dozen in flight.
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_proto::congestion::Congestion;
    ///
    /// let _config = Config::new().congestion(Congestion::Reno);
    /// ```
    Reno,
    /// CUBIC (RFC 9438), which Linux, Windows and macOS have for TCP: seven tenths of the window after
    /// a loss, and back along a curve that does not depend on the round trip. For much data over fast
    /// and long paths; it fills the queues that it finds.
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_proto::congestion::Congestion;
    ///
    /// let _config = Config::new().congestion(Congestion::Cubic);
    /// ```
    Cubic,
    /// Always the same rate, and no congestion control. **For controlled networks only**, where
    /// somebody has seen to it that there is room: anywhere else it harms others, and itself
    /// (RFC 8085 §3.1.10). Under [`Policy::Paper`](crate::Policy::Paper), which paces nothing, it is no
    /// limit at all.
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_proto::congestion::Congestion;
    ///
    /// let _config = Config::new().congestion(Congestion::Fixed { rate: 256_000 });
    /// ```
    Fixed {
        /// In bytes a second, with all headers but UDP's and IP's; a frame a second at least.
        rate: u32,
    },
    /// Gaffer's simple binary congestion avoidance: one rate while conditions are good, and another
    /// one when round trips are longer than 250 ms, more than 5 % is lost in a second, or nothing gets
    /// through. The rules are those of [`Advisor`]. For games that know what every path to their
    /// players can carry, and need no more than that; it does not look for anything in between, so
    /// that what is true of [`Fixed`](Self::Fixed) is true of the lower rate, and under
    /// [`Policy::Paper`](crate::Policy::Paper) of both.
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_proto::congestion::Congestion;
    ///
    /// // Gaffer's 256 bytes, 30 or 10 times a second.
    /// let binary = Congestion::Binary { good: 7680, bad: 2560 };
    /// let _config = Config::new().congestion(binary);
    /// ```
    Binary {
        /// In bytes a second, with all headers but UDP's and IP's.
        good: u32,
        /// In bytes a second, with all headers but UDP's and IP's.
        bad: u32,
    },
    /// A controller of the application's own, made for each peer when it connects. The function is
    /// given the MTU: the largest datagram to that peer, in bytes.
    Custom(fn(mtu: u32) -> Box<dyn Controller>),
}

impl Congestion {
    /// One of each kind but [`Custom`](Self::Custom), for tests and tables. Those that need rates have
    /// 1 MB a second, and 100 kB where it is bad.
    ///
    /// ```
    /// use porous_proto::congestion::Congestion;
    ///
    /// let names = Congestion::BUILT_IN.map(Congestion::name);
    /// assert_eq!(names, ["lean", "reno", "cubic", "paper", "fixed", "binary"]);
    /// ```
    pub const BUILT_IN: [Self; 6] = [
        Self::Lean,
        Self::Reno,
        Self::Cubic,
        Self::Paper,
        Self::Fixed { rate: 1_000_000 },
        Self::Binary {
            good: 1_000_000,
            bad: 100_000,
        },
    ];

    /// What it is called in tables and on command lines.
    ///
    /// ```
    /// use porous_proto::congestion::Congestion;
    ///
    /// assert_eq!(Congestion::Reno.name(), "reno");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lean => "lean",
            Self::Paper => "paper",
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Fixed { .. } => "fixed",
            Self::Binary { .. } => "binary",
            Self::Custom(_) => "custom",
        }
    }

    /// A controller for one peer, whose datagrams have at most `mtu` bytes.
    ///
    /// ```
    /// use porous_proto::congestion::Congestion;
    ///
    /// assert_eq!(Congestion::Paper.controller(1200).window(), 12_000);
    /// ```
    #[must_use]
    pub fn controller(self, mtu: u32) -> Box<dyn Controller> {
        match self {
            Self::Paper => Box::new(Paper::new(mtu)),
            Self::Lean => Box::new(Lean::new(mtu)),
            Self::Reno => Box::new(Reno::new(mtu)),
            Self::Cubic => Box::new(Cubic::new(mtu)),
            Self::Fixed { rate } => Box::new(Fixed::new(rate)),
            Self::Binary { good, bad } => Box::new(Binary::new(good, bad)),
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
    let (frames, least) = (mtu.saturating_mul(10), mtu.saturating_mul(2));
    let most = if least > 14_720 { least } else { 14_720 };
    if frames < most { frames } else { most }
}

/// The paper's controller in the middle of something, to draw a figure.
#[cfg(test)]
pub(crate) fn paper_with_window(mtu: u32, window: u32) -> Box<dyn Controller> {
    Box::new(Paper::new(mtu).with_window(window))
}
