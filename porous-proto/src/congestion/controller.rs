//! What a controller is told, and what it answers.

use core::fmt;
use core::time::Duration;

use crate::time::Instant;

/// Frames were acknowledged for the first time.
///
/// Only frames with data count, those that are in flight: bare acknowledgements and signalling are
/// outside the congestion window (`docs/deviations.md` T20).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// When the acknowledgement came.
    pub now: Instant,
    /// How many bytes the frames had, with all their headers but UDP's.
    pub bytes: u32,
    /// How many frames they were, at least one.
    pub frames: u32,
    /// When the newest of them was sent.
    pub sent: Instant,
    /// How long the newest frame of the acknowledgement was under way there and back, without the
    /// time for which the remote host says that it held the acknowledgement back. `None` if that was
    /// measured before, or is no good. Under [`Policy::Paper`](crate::Policy::Paper) pings measure,
    /// and this is always `None`.
    pub rtt: Option<Duration>,
    /// The smoothed round-trip time; before the first sample a guess.
    pub smoothed_rtt: Duration,
    /// Bytes in flight before the acknowledgement: these and those that are still under way.
    pub in_flight: u32,
    /// Whether the window or the pace held data back when the host last had a chance to send. If
    /// not, the window was not used, and there is no reason to believe that more would fit
    /// (RFC 9002 §7.8).
    pub is_limited: bool,
    /// The most that may be sent, in bytes a second: B of (10). `u32::MAX`: no limit.
    pub bandwidth: u32,
    /// How late the host is called when something is due, at most recently: about a step (§2.1) for one
    /// that is called once a frame, nothing for one that is called in time. Round trips are not known
    /// any better, and data leaves in bursts of this length.
    pub step: Duration,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signal {
    /// A frame is lost, the first of an episode: reason to send less. An episode lasts until a frame
    /// is acknowledged that was sent after it began (RFC 9002 §7.3.2).
    Loss,
    /// Another one is lost in the same episode.
    FurtherLoss,
    /// A router marked a frame instead of dropping it (ECN), the first of an episode. Nothing was
    /// lost.
    Mark,
    /// A frame is lost, and nothing sent for long before it has arrived: the path may have changed
    /// (RFC 9002 §7.6; (13)).
    Persistent,
}

/// A sign of congestion, or of a bad line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// When it was noticed.
    pub now: Instant,
    /// What it is.
    pub signal: Signal,
    /// How many bytes are lost, in one frame; 0 for a mark.
    pub bytes: u32,
    /// When the frame was sent.
    pub sent: Instant,
    /// Bytes in flight, without the lost frame.
    pub in_flight: u32,
}

/// Decides how much may be in flight to one peer.
///
/// Whatever it answers, the host adds to it: at least two frames may be in flight, never more than
/// twice of what was in flight at most in the last seconds (or
/// [`initial_window`](super::initial_window)), and never more than [`Config`](crate::Config)'s
/// rates. Probes for what may be lost are outside the window, but count as in flight.
///
/// A controller is called in the order of events, and with nothing else than what it is told: the
/// same calls must give the same answers.
///
/// ```
/// use porous_proto::Config;
/// use porous_proto::congestion::{Ack, Congestion, Controller, Signal, Trouble, initial_window};
///
/// /// Half as much for each episode, a frame more for each acknowledgement.
/// #[derive(Debug)]
/// struct Simple {
///     mtu: u32,
///     window: u32,
/// }
///
/// impl Controller for Simple {
///     fn on_ack(&mut self, ack: &Ack) {
///         if ack.is_limited {
///             self.window = self.window.saturating_add(self.mtu);
///         }
///     }
///
///     fn on_trouble(&mut self, trouble: &Trouble) {
///         match trouble.signal {
///             Signal::Loss | Signal::Mark => self.window /= 2,
///             Signal::FurtherLoss => {}
///             Signal::Persistent => self.window = self.mtu,
///         }
///     }
///
///     fn on_mtu(&mut self, mtu: u32) {
///         self.mtu = mtu;
///     }
///
///     fn window(&self) -> u32 {
///         self.window
///     }
/// }
///
/// let _config = Config::new().congestion(Congestion::Custom(|mtu| {
///     Box::new(Simple {
///         mtu,
///         window: initial_window(mtu),
///     })
/// }));
/// ```
pub trait Controller: fmt::Debug + Send + Sync {
    /// Frames were acknowledged.
    fn on_ack(&mut self, ack: &Ack);

    /// Something was lost or marked. What an acknowledgement says is lost comes after its
    /// [`on_ack`](Self::on_ack).
    fn on_trouble(&mut self, trouble: &Trouble);

    /// Nothing was lost in the last episode: all of it only came late. A controller that remembers
    /// what it did then takes it back. Does nothing by default.
    fn on_spurious(&mut self) {}

    /// A frame of `bytes` is sent, and `in_flight` bytes are in flight now. Does nothing by default.
    fn on_sent(&mut self, now: Instant, bytes: u32, in_flight: u32) {
        let _ = (now, bytes, in_flight);
    }

    /// Frames can have `mtu` bytes from now on.
    fn on_mtu(&mut self, mtu: u32);

    /// The most bytes in flight. Half of the range of the type, or more, is no window at all: then
    /// nothing but the pace limits what is sent.
    fn window(&self) -> u32;

    /// How fast data leaves, in bytes a second. `None`, the default: a window in four fifths of a
    /// round trip (RFC 9002 §7.7).
    fn pacing_rate(&self) -> Option<u32> {
        None
    }
}
