//! How often to send, for an application that decides that itself.

use core::time::Duration;

use super::conditions::{BinaryMode, Conditions, Fates};
use crate::stats::PeerStats;
use crate::time::{Instant, micros};

/// The longest time between two calls that counts: of more, too little is known.
const LONGEST: Duration = Duration::from_secs(60);

const MILLION: u64 = 1_000_000;

/// A share of all, in hundredths of a percent.
const ALL: u16 = 10_000;

/// How often an [`Advisor`] advises to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Whether conditions are good or bad.
    pub mode: BinaryMode,
    /// Packets to send in a second, at least 1.
    pub packets: u32,
}

/// Tells an engine how often to send its state: Gaffer's simple binary congestion avoidance.
///
/// A game that sends 30 times a second whatever happens makes a bad network worse, and its states wait behind
/// each other. Such a game can do with fewer and larger steps. The advisor has two modes. It turns from good
/// to bad at once when the smoothed round trip is longer than a limit, or when in about a second, and of 20
/// frames at least, more than 5 % were lost. It turns back when conditions have been good for 4 s. This time
/// doubles, up to a minute, whenever good mode ends within 10 s, so that modes do not flicker; each 10 s in
/// good mode halve it, down to one second.
///
/// The advisor neither sends nor holds back anything. Each peer needs one of its own, and the congestion
/// controller of the host goes on beside it. [`Congestion::Binary`](super::Congestion::Binary) is the same as
/// a controller.
///
/// ```
/// use core::time::Duration;
/// use porous_proto::congestion::{Advisor, BinaryMode};
/// use porous_proto::{ChannelId, Host, Instant, Mode, PeerId};
/// # use porous_proto::{Config, hooks::doc::{ExampleRng, example_rng}};
///
/// /// What a game keeps for each player.
/// struct Player {
///     peer: PeerId,
///     advisor: Advisor,
///     next_state: Instant,
/// }
///
/// /// Called once a tick.
/// # fn send_states(host: &mut Host<ExampleRng, u32>, player: &mut Player, now: Instant) {
/// let Some(peer) = host.peer(player.peer) else { return };
/// let advice = player.advisor.update(&peer.stats(), now);
/// if now >= player.next_state {
///     player.next_state = now + Duration::from_secs(1) / advice.packets;
///     // More in a packet where there are fewer of them.
///     let state = match advice.mode {
///         BinaryMode::Good => vec![7; 200],
///         BinaryMode::Bad => vec![7; 400],
///     };
///     let _ = host.send(player.peer, ChannelId(0), state, Mode::Unreliable);
/// }
/// # }
/// #
/// # let mut host = Host::new(Config::client(), example_rng());
/// # let peer = host.connect(Instant::ZERO, 1).unwrap();
/// # let mut player = Player { peer, advisor: Advisor::new(), next_state: Instant::ZERO };
/// # send_states(&mut host, &mut player, Instant::ZERO);
/// # assert!(player.next_state > Instant::ZERO);
/// ```
#[derive(Clone, Debug)]
pub struct Advisor {
    /// Packets a second in good mode.
    good: u32,
    /// Packets a second in bad mode.
    bad: u32,
    /// Conditions are bad while the smoothed round trip is longer than this.
    rtt: Duration,
    conditions: Conditions,
    fates: Fates,
    /// Frames sent and frames lost at the last call of `update`.
    counted: Option<(u64, u64)>,
    /// When `update_by` was last called.
    told: Option<Instant>,
    /// The part of a packet that was sent by then and is not counted yet, in millionths.
    part: u64,
}

impl Advisor {
    /// An advisor in good mode, for 30 packets a second in good mode and 10 in bad mode, and for smoothed
    /// round trips of up to 250 ms.
    ///
    /// ```
    /// use porous_proto::congestion::{Advisor, BinaryMode};
    /// use porous_proto::{Instant, PeerStats};
    ///
    /// let advice = Advisor::new().update(&PeerStats::default(), Instant::ZERO);
    /// assert_eq!((advice.mode, advice.packets), (BinaryMode::Good, 30));
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Self {
            good: 30,
            bad: 10,
            rtt: Duration::from_millis(250),
            conditions: Conditions::new(),
            fates: Fates::new(),
            counted: None,
            told: None,
            part: 0,
        }
    }

    /// Sets the packets a second to send in good mode and in bad mode; 30 and 10 if this is not called. 0
    /// counts as 1.
    ///
    /// ```
    /// use porous_proto::congestion::Advisor;
    /// use porous_proto::{Instant, PeerStats};
    ///
    /// let mut advisor = Advisor::new().packets(60, 20);
    /// assert_eq!(advisor.update(&PeerStats::default(), Instant::ZERO).packets, 60);
    /// ```
    #[must_use]
    pub fn packets(self, good: u32, bad: u32) -> Self {
        Self {
            good: good.max(1),
            bad: bad.max(1),
            ..self
        }
    }

    /// Sets the longest smoothed round trip of good conditions; 250 ms if this is not called.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_proto::congestion::{Advisor, BinaryMode};
    /// use porous_proto::{Instant, PeerStats};
    ///
    /// let mut advisor = Advisor::new().longest_rtt(Duration::from_millis(100));
    /// let mut stats = PeerStats::default();
    /// stats.rtt = Duration::from_millis(101);
    /// assert_eq!(advisor.update(&stats, Instant::ZERO).mode, BinaryMode::Bad);
    /// ```
    #[must_use]
    pub const fn longest_rtt(mut self, rtt: Duration) -> Self {
        self.rtt = rtt;
        self
    }

    /// Sets the share of frames that may be lost, in hundredths of a percent. Default: 500, as for
    /// [`Congestion::Binary`](super::Congestion::Binary).
    ///
    /// Some wireless networks lose more than 5 % however little is sent: there loss is no reason to send
    /// less. From 10,000 on only round trips count.
    ///
    /// ```
    /// use porous_proto::congestion::{Advisor, BinaryMode};
    /// use porous_proto::{Instant, PeerStats};
    ///
    /// let mut advisor = Advisor::new().highest_loss(2000);
    /// advisor.update(&PeerStats::default(), Instant::ZERO);
    /// let mut stats = PeerStats::default();
    /// (stats.frames_sent, stats.frames_lost) = (100, 20);
    /// let advice = advisor.update(&stats, Instant::from_micros(1_000_000));
    /// assert_eq!(advice.mode, BinaryMode::Good);
    /// ```
    #[must_use]
    pub const fn highest_loss(mut self, hundredths: u16) -> Self {
        self.fates.allow(hundredths);
        self
    }

    /// The advice for now, from the statistics of the peer. To be called once a tick, or a few times a second
    /// at least: between two calls nothing is seen.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_proto::congestion::{Advisor, BinaryMode};
    /// use porous_proto::{Instant, PeerStats};
    ///
    /// let mut advisor = Advisor::new();
    /// let mut stats = PeerStats::default();
    /// stats.rtt = Duration::from_millis(400);
    /// let advice = advisor.update(&stats, Instant::ZERO);
    /// assert_eq!((advice.mode, advice.packets), (BinaryMode::Bad, 10));
    /// ```
    pub fn update(&mut self, stats: &PeerStats, now: Instant) -> Advice {
        let sent = stats.frames_sent;
        // Frames that were only late are not lost.
        let lost = stats.frames_lost.saturating_sub(stats.frames_spurious);
        // What was before the first call does not count.
        let (sent_before, lost_before) = self.counted.unwrap_or((sent, lost));
        let newly = (
            sent.saturating_sub(sent_before),
            lost.saturating_sub(lost_before),
        );
        self.counted = Some((sent, lost));
        self.fates.add(newly.0, newly.1, now);
        self.look(stats.rtt, now)
    }

    /// The advice for now, from numbers, where there is no host. `rtt` is the smoothed round trip; `loss` the
    /// share of recent packets that was lost, in hundredths of a percent, where more than 10,000 counts as
    /// 10,000; `rate` the packets that are sent in a second. To be called once a tick, or a few times a
    /// second at least: of a longer time between two calls a minute counts. Not to be mixed with
    /// [`update`](Self::update).
    ///
    /// An `AckSystem` of `porous-message` tells `rtt` and `loss`.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_proto::Instant;
    /// use porous_proto::congestion::{Advisor, BinaryMode};
    ///
    /// let (mut advisor, mut now) = (Advisor::new(), Instant::ZERO);
    /// let (rtt, loss, rate) = (Duration::from_millis(80), 700, 30);
    /// advisor.update_by(rtt, loss, rate, now);
    /// now = now + Duration::from_secs(1);
    /// let advice = advisor.update_by(rtt, loss, rate, now);
    /// assert_eq!((advice.mode, advice.packets), (BinaryMode::Bad, 10));
    /// ```
    pub fn update_by(&mut self, rtt: Duration, loss: u16, rate: u32, now: Instant) -> Advice {
        let before = self.told.replace(now).unwrap_or(now);
        let elapsed = now.saturating_duration_since(before).min(LONGEST);
        // A minute at most, so that nothing overflows.
        let micros = micros(elapsed);
        let sent = self.part + micros * u64::from(rate);
        self.part = sent % MILLION;
        let sent = sent / MILLION;
        let lost = sent * u64::from(loss.min(ALL));
        self.fates.add_parts(sent, lost, now);
        self.look(rtt, now)
    }

    /// The advice, once frames are counted.
    fn look(&mut self, rtt: Duration, now: Instant) -> Advice {
        let is_bad = rtt > self.rtt || self.fates.is_lossy();
        self.conditions.update(is_bad, now);
        let mode = self.conditions.mode();
        Advice {
            mode,
            packets: match mode {
                BinaryMode::Good => self.good,
                BinaryMode::Bad => self.bad,
            },
        }
    }
}

impl Default for Advisor {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::script::ms;

    fn stats(rtt: u64, frames: (u64, u64, u64)) -> PeerStats {
        PeerStats {
            rtt: Duration::from_millis(rtt),
            frames_sent: frames.0,
            frames_lost: frames.1,
            frames_spurious: frames.2,
            ..PeerStats::default()
        }
    }

    #[test]
    fn a_long_round_trip_is_bad_at_once() {
        let mut advisor = Advisor::new();
        let mut packets = |rtt, time| advisor.update(&stats(rtt, (0, 0, 0)), ms(time)).packets;
        assert_eq!(packets(250, 0), 30);
        assert_eq!(packets(251, 20_000), 10);
        assert_eq!(packets(250, 20_001), 10);
        assert_eq!(packets(250, 21_000), 10);
        assert_eq!(packets(250, 21_001), 30); // four seconds, halved twice
    }

    #[test]
    fn loss_counts_by_the_second_and_what_was_late_is_none() {
        for (lost, spurious, mode) in [
            (6, 0, BinaryMode::Bad),
            (6, 1, BinaryMode::Good),
            (5, 0, BinaryMode::Good),
        ] {
            let mut advisor = Advisor::new();
            // Frames that were lost before the first call do not count either.
            advisor.update(&stats(0, (100, 50, 0)), ms(0));
            advisor.update(&stats(0, (100, 50, 0)), ms(1000));
            let advice = advisor.update(&stats(0, (200, 50 + lost, spurious)), ms(2000));
            assert_eq!(advice.mode, mode, "{lost} lost, {spurious} of them late");
        }
    }

    /// D7.
    #[test]
    fn how_much_may_be_lost_can_be_said() {
        for (highest, lost, mode) in [
            (2000, 20, BinaryMode::Good),
            (2000, 21, BinaryMode::Bad),
            (0, 1, BinaryMode::Bad),
            (0, 0, BinaryMode::Good),
            (10_000, 100, BinaryMode::Good),
            (u16::MAX, 100, BinaryMode::Good),
        ] {
            let mut advisor = Advisor::new().highest_loss(highest);
            advisor.update(&stats(0, (0, 0, 0)), ms(0));
            let advice = advisor.update(&stats(0, (100, lost, 0)), ms(1000));
            assert_eq!(advice.mode, mode, "{lost} lost of 100, {highest} allowed");
        }
    }

    /// 60 calls a second, for each of which less than a packet is lost.
    #[test]
    fn numbers_say_the_same_as_counts() {
        for (rate, loss, mode) in [
            (30, 500, BinaryMode::Good),
            (30, 501, BinaryMode::Bad),
            (200, 500, BinaryMode::Good),
            (200, 501, BinaryMode::Bad),
            (1, 10_000, BinaryMode::Good), // too few to tell
            (0, 10_000, BinaryMode::Good),
            (u32::MAX, u16::MAX, BinaryMode::Bad),
        ] {
            let mut advisor = Advisor::new();
            let mut advice = None;
            for tick in 0..=180 {
                let now = Instant::from_micros(tick * 16_667);
                advice = Some(advisor.update_by(Duration::ZERO, loss, rate, now));
            }
            let advice = advice.map(|advice| advice.mode);
            assert_eq!(advice, Some(mode), "{loss} of {rate} a second");
        }
        let mut advisor = Advisor::new();
        let rtt = Duration::from_millis(251);
        assert_eq!(advisor.update_by(rtt, 0, 0, ms(0)).mode, BinaryMode::Bad);
        // Time jumps ahead and back.
        for micros in [u64::MAX / 2, 0, 7] {
            let now = Instant::from_micros(micros);
            advisor.update_by(Duration::MAX, u16::MAX, u32::MAX, now);
        }
    }

    #[test]
    fn no_rate_is_zero() {
        let mut advisor = Advisor::new().packets(0, 0);
        for rtt in [0, 1000] {
            assert_eq!(advisor.update(&stats(rtt, (0, 0, 0)), ms(0)).packets, 1);
        }
    }
}
