//! What a controller is told, and what it answers.

use core::fmt;
use core::time::Duration;

use crate::time::Instant;

/// Frames were acknowledged for the first time.
///
/// Only frames with data count: they are in flight, and bare acknowledgements and signalling are outside the
/// congestion window (`docs/deviations.md` T20).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// When the acknowledgement came.
    pub now: Instant,
    /// Bytes of the frames, with all headers but those of UDP and IP.
    pub bytes: u32,
    /// Number of the frames, at least 1.
    pub frames: u32,
    /// When the newest of the frames was sent.
    pub sent: Instant,
    /// Round trip of the newest frame of the acknowledgement, without the time for which the remote host says
    /// that it held the acknowledgement back. `None` if that frame was acknowledged before, or if the
    /// acknowledgement was held back for too long to tell anything. Always `None` under
    /// [`Policy::Paper`](crate::Policy::Paper), where only pings measure round trips.
    pub rtt: Option<Duration>,
    /// The smoothed round-trip time; 200 ms before the first sample.
    pub smoothed_rtt: Duration,
    /// Bytes in flight before the acknowledgement: those of these frames and of all that are still on their
    /// way.
    pub in_flight: u32,
    /// True if the window or the pace held data back when the host last had a chance to send. If false, the
    /// window was not used, and there is no reason to believe that more would fit (RFC 9002 §7.8).
    pub is_limited: bool,
    /// The most that may be sent by the rates that both hosts want, in bytes a second; `u32::MAX` without a
    /// limit: B of (10).
    pub bandwidth: u32,
    /// How late this host is called when something is due, at most recently: about the time between steps for
    /// a host that is called once for each frame of a game, zero for one that is called in time. Round trips
    /// are known no more exactly than this, and data leaves in bursts of this length (§2.1).
    pub step: Duration,
}

/// What happened to a frame, as far as a congestion controller cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Signal {
    /// A frame is lost, the first of an episode: a reason to send less. An episode lasts until a frame is
    /// acknowledged that was sent after the episode began (RFC 9002 §7.3.2).
    Loss,
    /// Another frame is lost in the same episode: no reason to send even less.
    FurtherLoss,
    /// A router marked a frame instead of dropping it (ECN), the first of an episode. Nothing was lost.
    Mark,
    /// A frame is lost, and so is all that was sent for long before it: the path may have changed
    /// (RFC 9002 §7.6; (13)).
    Persistent,
}

/// A sign of congestion, or of a bad line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// When the trouble was noticed.
    pub now: Instant,
    /// What kind of trouble it is.
    pub signal: Signal,
    /// Bytes of the lost frame; 0 for a mark.
    pub bytes: u32,
    /// When the frame was sent.
    pub sent: Instant,
    /// Bytes in flight, without the lost frame.
    pub in_flight: u32,
}

/// Decides how many bytes may be in flight to one peer.
///
/// The host keeps bounds of its own around the answer: at least two frames may be in flight; at most twice
/// the most bytes that were in flight in the last 5 to 10 s, or [`initial_window`](super::initial_window) if
/// that is more; and no more leaves than the rates of [`Config`](crate::Config) allow. Probes for frames that
/// may be lost are outside the window, but count as in flight.
///
/// A controller is called in the order of events, and knows only what it is told: the same calls must give
/// the same answers.
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
///             Signal::Persistent => self.window = self.mtu,
///             Signal::FurtherLoss | _ => {}
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

    /// A frame was lost or marked. Losses that follow from an acknowledgement come after the
    /// [`on_ack`](Self::on_ack) of that acknowledgement.
    fn on_trouble(&mut self, trouble: &Trouble);

    /// Nothing was lost in the last episode: all of its frames only came late. A controller that remembers
    /// its window before the episode restores it. Does nothing by default.
    fn on_spurious(&mut self) {}

    /// A frame of `bytes` bytes with data is sent, and `in_flight` bytes are in flight with it. Does nothing
    /// by default.
    fn on_sent(&mut self, now: Instant, bytes: u32, in_flight: u32) {
        let _ = (now, bytes, in_flight);
    }

    /// Frames can have up to `mtu` bytes from now on, more or fewer than before.
    fn on_mtu(&mut self, mtu: u32);

    /// The most bytes that may be in flight. Half of the range of the type, or more, is no window at all:
    /// then only the pace limits what is sent.
    fn window(&self) -> u32;

    /// The pace of data, in bytes a second. `None`, as by default, stands for a window in four fifths of a
    /// round trip (RFC 9002 §7.7).
    fn pacing_rate(&self) -> Option<u32> {
        None
    }
}
