//! Congestion control: how many bytes may be in flight, and how fast data leaves. This module has the
//! controllers, and what they are told (§3.1.4).
//!
//! A [`Controller`] decides on a window and, if it likes, on a pace. What every controller needs is done
//! around it: bytes are counted, losses are grouped into episodes, a window that is not used gives no right
//! to a burst, and datagrams are spread over the round trip.

mod advisor;
mod conditions;
mod controller;
mod cubic;
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

/// The largest window, in bytes. Half of the range is left, so that sums of windows and frames cannot
/// overflow.
pub(crate) const MAX_WINDOW: u32 = u32::MAX / 2;

/// The least window, in bytes: two frames (RFC 9002 §7.2).
fn min_window(mtu: u32) -> u32 {
    // `Congestion::controller` takes any MTU, and no window may be 0 (D6).
    mtu.saturating_mul(2).clamp(1, MAX_WINDOW)
}

/// A byte of a window. Windows are counted in 65,536ths of a byte, as near the top of the curve they grow by
/// less than a byte with each acknowledgement.
const ONE: u64 = 1 << 16;

/// The part of `amount` that belongs to `bytes` of a window, which is in [`ONE`]s. All of it at most.
fn fraction(amount: u64, bytes: u32, window: u64) -> u64 {
    let bytes = (u64::from(bytes) * ONE).min(window);
    let part = u128::from(amount) * u128::from(bytes) / u128::from(window.max(1));
    u64::try_from(part).unwrap_or(amount)
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
#[non_exhaustive]
pub enum Congestion {
    /// The paper's slow start and congestion avoidance: the window grows by a frame for each acknowledged
    /// one, later for each window, and half of it is left after a loss. The default of
    /// [`Policy::Paper`](crate::Policy::Paper) (§3.1.4, (8) to (15)).
    Paper,
    /// Keeps the path full and its queue at a few milliseconds, though the path has jitter, becomes longer, or
    /// loses up to a third of all frames by chance: the window follows the delay, as in FAST TCP. Beside
    /// connections that fill the queue, and where a smaller window loses less, it follows losses. The default
    /// of [`Policy::Modern`](crate::Policy::Modern). `docs/design.md` says what it is made of.
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_proto::congestion::Congestion;
    ///
    /// let _config = Config::new().congestion(Congestion::Lean);
    /// ```
    Lean,
    /// Half of the window after a loss, and then a frame more in each round trip, as TCP has it under the
    /// name of NewReno. The best known controller, and the most cautious: where one frame in a hundred is
    /// lost by chance, it stays at about a dozen frames in flight (RFC 9002 §7).
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_proto::congestion::Congestion;
    ///
    /// let _config = Config::new().congestion(Congestion::Reno);
    /// ```
    Reno,
    /// CUBIC, which Linux, Windows and macOS use for TCP: seven tenths of the window after a loss, and back
    /// along a curve that does not depend on the round trip. For much data over fast and long paths; it fills
    /// the queues that it finds (RFC 9438).
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_proto::congestion::Congestion;
    ///
    /// let _config = Config::new().congestion(Congestion::Cubic);
    /// ```
    Cubic,
    /// Always the same rate, and no congestion control. **For controlled networks only**, where room for that
    /// rate is certain: anywhere else it harms others, and itself. The rate holds from the first measured
    /// round trip on (RFC 8085 §3.1.10).
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_proto::congestion::Congestion;
    ///
    /// let _config = Config::new().congestion(Congestion::Fixed { rate: 256_000 });
    /// ```
    Fixed {
        /// In bytes a second, with all headers but those of UDP and IP. A frame a second leaves at least.
        rate: u32,
    },
    /// Gaffer's simple binary congestion avoidance: one rate while conditions are good, and another one while
    /// round trips are longer than 250 ms, more than 5 % is lost in a second, or nothing gets through. The
    /// rules are those of [`Advisor`]. For games that know what every path to their players can carry, and
    /// need no more than that. It looks for no rate in between, so that the lower rate needs as certain a
    /// room as that of [`Fixed`](Self::Fixed).
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
        /// The rate in good conditions, in bytes a second, with all headers but those of UDP and IP.
        good: u32,
        /// The rate in bad conditions, in bytes a second, with all headers but those of UDP and IP.
        bad: u32,
    },
    /// A controller of the application's own. The function makes one for each peer when it connects, and is
    /// given the MTU: the largest datagram to that peer, in bytes.
    Custom(fn(mtu: u32) -> Box<dyn Controller>),
}

impl Congestion {
    /// One of each kind but [`Custom`](Self::Custom), for tests and tables. Kinds that need rates have 1 MB a
    /// second, and 100 kB a second in bad conditions.
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

    /// The name of the kind in tables and on command lines.
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

    /// Makes a controller for one peer, whose datagrams have at most `mtu` bytes.
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

/// The window of a connection that knows nothing of its path, in bytes: ten frames of `mtu` bytes, but no
/// more than 14,720 bytes or two frames, whichever is more (RFC 9002 §7.2, RFC 6928; `docs/deviations.md`
/// T15).
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

/// The paper's controller with a window of `window` bytes, to draw a figure.
#[cfg(test)]
pub(crate) fn paper_with_window(mtu: u32, window: u32) -> Box<dyn Controller> {
    Box::new(Paper::new(mtu).with_window(window))
}
