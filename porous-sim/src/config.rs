//! The conditions of a link: its effects on the datagrams that it carries.

mod ecn;

use core::time::Duration;

pub use self::ecn::EcnPath;

use crate::Chance;

/// The bytes that UDP over IPv4 adds to a datagram: 20 of IP, 8 of UDP.
pub(crate) const UDP_OVERHEAD: u32 = 28;

/// The bound on the datagrams that wait in front of a link with a limited rate. A datagram beyond it is
/// dropped.
///
/// ```
/// use core::time::Duration;
/// use porous_sim::{LinkConfig, Queue};
///
/// let bloated = LinkConfig::new().rate(1_000_000).queue(Queue::Time(Duration::from_secs(1)));
/// let shallow = LinkConfig::new().rate(1_000_000).queue(Queue::Bytes(3000));
/// assert_ne!(bloated, shallow);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// A datagram that would wait for longer than this before its turn is dropped.
    Time(Duration),
    /// A datagram is dropped if the bytes that have not left yet, with its own and all overhead,
    /// would be more than this. One that finds the link idle is never dropped.
    Bytes(u64),
    /// CoDel: when for `interval` no datagram has waited for less than `target`, one is dropped now and
    /// then, more often the longer that state lasts. So a standing queue melts, and a burst passes. No
    /// datagram waits for longer than a second. RFC 8289 §3 uses 5 and 100 ms.
    ///
    /// The fate of a datagram is decided when it is sent, from the wait that it will have. A queue of no
    /// more than one packet is no reason to drop; other than in the RFC, the queue is measured when the
    /// datagram comes, not when it leaves.
    CoDel {
        /// The wait that is acceptable for ever.
        target: Duration,
        /// How long the wait may be above `target` before a datagram is dropped.
        interval: Duration,
    },
}

impl Queue {
    /// CoDel with the times of RFC 8289 §3: 5 ms, 100 ms.
    pub const CODEL: Self = Self::CoDel {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
    };
}

/// Losses that come in bursts: the radio model of Gilbert and Elliott. A link is in a good state or in
/// a bad one, and before each datagram it may change. In the bad state it loses as
/// [`burst_loss`](LinkConfig::burst_loss) says, in the good one as [`loss`](LinkConfig::loss) says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bursts {
    pub(crate) enter: Chance,
    pub(crate) leave: Chance,
    pub(crate) loss: Chance,
}

/// The conditions on a one-way link.
///
/// [`LinkConfig::new`] is a perfect link: no delay, no loss, no limit. Each method sets one condition
/// and returns the configuration.
///
/// # Order of effects
///
/// A datagram meets them in this order: the partition ([`down`](Self::down)), the size limit
/// ([`mtu`](Self::mtu)), the queue and the [`rate`](Self::rate), [`loss`](Self::loss) and
/// [`burst_loss`](Self::burst_loss), [`duplicate`](Self::duplicate), [`corrupt`](Self::corrupt) and
/// [`truncate`](Self::truncate), and at last [`delay`](Self::delay) with its [`jitter`](Self::jitter)
/// and [`reorder`](Self::reorder). So a lost datagram has used its share of the rate (as on a radio
/// link), and a copy uses none and is not damaged. A damaged datagram is dropped where it arrives, as a
/// system drops one whose checksum does not match, unless [`udp_checksum`](Self::udp_checksum) lets it
/// through.
///
/// # Example
///
/// ```
/// use core::time::Duration;
/// use porous_sim::LinkConfig;
///
/// let home = LinkConfig::new()
///     .delay(Duration::from_millis(25))
///     .jitter(Duration::from_millis(3))
///     .loss(0.5)
///     .rate(20_000_000);
/// let worse = home.loss(5.0);
/// assert_ne!(home, worse);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkConfig {
    pub(crate) delay: Duration,
    pub(crate) jitter: Duration,
    pub(crate) jitter_step: Duration,
    pub(crate) jitter_reorders: bool,
    pub(crate) loss: Chance,
    pub(crate) bursts: Bursts,
    pub(crate) duplicate: Chance,
    pub(crate) corrupt: Chance,
    pub(crate) truncate: Chance,
    pub(crate) udp_checksum: bool,
    pub(crate) reorder: Chance,
    pub(crate) reorder_by: Option<Duration>,
    pub(crate) rate: u64,
    pub(crate) queue: Queue,
    pub(crate) overhead: u32,
    pub(crate) mtu: usize,
    pub(crate) down: bool,
    pub(crate) marks: bool,
    pub(crate) mark: Chance,
    pub(crate) ecn_path: EcnPath,
}

impl LinkConfig {
    /// A perfect link.
    ///
    /// ```
    /// use porous_sim::LinkConfig;
    ///
    /// assert_eq!(LinkConfig::new(), LinkConfig::default());
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Self {
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            jitter_step: Duration::ZERO,
            jitter_reorders: false,
            loss: Chance::NEVER,
            bursts: Bursts {
                enter: Chance::NEVER,
                // A link that was in a burst leaves it when its new conditions have none.
                leave: Chance::ALWAYS,
                loss: Chance::NEVER,
            },
            corrupt: Chance::NEVER,
            truncate: Chance::NEVER,
            udp_checksum: true,
            duplicate: Chance::NEVER,
            reorder: Chance::NEVER,
            reorder_by: None,
            rate: 0,
            queue: Queue::Time(Duration::from_millis(100)),
            overhead: UDP_OVERHEAD,
            mtu: usize::MAX,
            down: false,
            marks: false,
            mark: Chance::NEVER,
            ecn_path: EcnPath::Clean,
        }
    }

    /// How long a datagram travels, one way. Counted in whole microseconds. Default: 0.
    ///
    /// ```
    /// let c = porous_sim::LinkConfig::new().delay(core::time::Duration::from_millis(40));
    /// # let _ = c;
    /// ```
    #[must_use]
    pub const fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// How far the delay of a datagram may be from [`delay`](Self::delay), in either direction:
    /// uniformly distributed, but never a delay below 0. Default: 0.
    ///
    /// Jitter alone does not reorder: a datagram that would overtake waits for the one before it.
    /// Where datagrams follow each other more closely than the jitter they therefore bunch up,
    /// and the mean delay is above `delay`.
    ///
    /// ```
    /// use core::time::Duration;
    ///
    /// // From 30 to 50 ms.
    /// let c = porous_sim::LinkConfig::new()
    ///     .delay(Duration::from_millis(40))
    ///     .jitter(Duration::from_millis(10));
    /// # let _ = c;
    /// ```
    #[must_use]
    pub const fn jitter(mut self, jitter: Duration) -> Self {
        self.jitter = jitter;
        self
    }

    /// Jitter comes in steps, as on a radio that sends in frames: beyond the shortest time, the time of travel
    /// is rounded up to a multiple of this. Default: 0, no steps.
    ///
    /// ```
    /// use core::time::Duration;
    ///
    /// let ms = Duration::from_millis;
    /// let c = porous_sim::LinkConfig::new().jitter(ms(10)).jitter_step(ms(5));
    /// # let _ = c;
    /// ```
    #[must_use]
    pub const fn jitter_step(mut self, step: Duration) -> Self {
        self.jitter_step = step;
        self
    }

    /// True if datagrams may overtake each other by jitter alone. Default: no.
    ///
    /// ```
    /// use core::time::Duration;
    ///
    /// let c = porous_sim::LinkConfig::new()
    ///     .jitter(Duration::from_millis(10))
    ///     .jitter_reorders(true);
    /// # let _ = c;
    /// ```
    #[must_use]
    pub const fn jitter_reorders(mut self, yes: bool) -> Self {
        self.jitter_reorders = yes;
        self
    }

    /// The share of datagrams that get lost, in percent, each independently of the others. Default: 0.
    ///
    /// # Panics
    ///
    /// If `percent` is not from 0 to 100.
    ///
    /// ```
    /// let c = porous_sim::LinkConfig::new().loss(2.5);
    /// # let _ = c;
    /// ```
    #[must_use]
    pub const fn loss(mut self, percent: f64) -> Self {
        self.loss = Chance::percent(percent);
        self
    }

    /// Loses datagrams in bursts, beside [`loss`](Self::loss). Before each datagram a burst begins with
    /// a chance of `enter` percent, or ends with a chance of `leave` percent; in a burst a datagram is
    /// lost with a chance of `lost` percent. A burst is `100 / leave` datagrams long on average.
    /// Default: none.
    ///
    /// Bursts count datagrams, not time: on a link that carries one datagram a second, a burst of five lasts
    /// for five seconds. A pause of the network, in which everything is lost for some time, is
    /// [`down`](Self::down).
    ///
    /// # Panics
    ///
    /// If one of the three is not from 0 to 100.
    ///
    /// ```
    /// // One burst in 200 datagrams, 5 datagrams long, in which two of three are lost.
    /// let c = porous_sim::LinkConfig::new().burst_loss(0.5, 20.0, 66.0);
    /// # let _ = c;
    /// ```
    #[must_use]
    pub const fn burst_loss(mut self, enter: f64, leave: f64, lost: f64) -> Self {
        self.bursts = Bursts {
            enter: Chance::percent(enter),
            leave: Chance::percent(leave),
            loss: Chance::percent(lost),
        };
        self
    }

    /// The share of datagrams of which one to eight bits are flipped, in percent. Default: 0.
    ///
    /// Damaged datagrams are dropped, unless [`udp_checksum`](Self::udp_checksum) lets them through.
    ///
    /// # Panics
    ///
    /// If `percent` is not from 0 to 100.
    ///
    /// ```
    /// let c = porous_sim::LinkConfig::new().corrupt(0.1);
    /// # let _ = c;
    /// ```
    #[must_use]
    pub const fn corrupt(mut self, percent: f64) -> Self {
        self.corrupt = Chance::percent(percent);
        self
    }

    /// The share of datagrams that lose their end, in percent. Default: 0.
    ///
    /// Damaged datagrams are dropped, unless [`udp_checksum`](Self::udp_checksum) lets them through.
    ///
    /// # Panics
    ///
    /// If `percent` is not from 0 to 100.
    ///
    /// ```
    /// let c = porous_sim::LinkConfig::new().truncate(0.1);
    /// # let _ = c;
    /// ```
    #[must_use]
    pub const fn truncate(mut self, percent: f64) -> Self {
        self.truncate = Chance::percent(percent);
        self
    }

    /// True if the receiving system drops damaged datagrams, as UDP's checksum lets it do (RFC 768, RFC
    /// 8200 §8.1). Default: yes.
    ///
    /// A real checksum has 16 bits, and now and then lets a damaged datagram through: here none passes.
    /// Without the checksum every damaged datagram arrives, as over IPv4 from a sender that puts none
    /// in. Then only a receiver that checks the bytes itself, such as a connection with
    /// [`Integrity::Crc32c`](porous_proto::Integrity), can be expected to bear
    /// [`corrupt`](Self::corrupt) and [`truncate`](Self::truncate).
    ///
    /// ```
    /// use porous_proto::Instant;
    /// use porous_sim::{Link, LinkConfig, Seed};
    ///
    /// let bad = LinkConfig::new().corrupt(100.0);
    /// let arrives = |config| {
    ///     let mut link = Link::new(config, Seed::new(1));
    ///     link.send(Instant::ZERO, vec![0; 1000]);
    ///     link.receive(Instant::ZERO)
    /// };
    /// assert_eq!(arrives(bad), None);
    /// assert_ne!(arrives(bad.udp_checksum(false)), Some(vec![0; 1000]));
    /// ```
    #[must_use]
    pub const fn udp_checksum(mut self, yes: bool) -> Self {
        self.udp_checksum = yes;
        self
    }

    /// The share of datagrams that arrive twice, in percent. Default: 0.
    ///
    /// The copy draws its own delay. It never comes before the original, but it may come after
    /// datagrams that were sent later, and it does not hold these back.
    ///
    /// # Panics
    ///
    /// If `percent` is not from 0 to 100.
    ///
    /// ```
    /// let c = porous_sim::LinkConfig::new().duplicate(1.0);
    /// # let _ = c;
    /// ```
    #[must_use]
    pub const fn duplicate(mut self, percent: f64) -> Self {
        self.duplicate = Chance::percent(percent);
        self
    }

    /// The share of datagrams that are held back so that later ones overtake them, in percent;
    /// [`reorder_by`](Self::reorder_by) says for how long. Default: 0.
    ///
    /// # Panics
    ///
    /// If `percent` is not from 0 to 100.
    ///
    /// ```
    /// let c = porous_sim::LinkConfig::new().reorder(3.0);
    /// # let _ = c;
    /// ```
    #[must_use]
    pub const fn reorder(mut self, percent: f64) -> Self {
        self.reorder = Chance::percent(percent);
        self
    }

    /// The longest time that [`reorder`](Self::reorder) holds a datagram back on top of its delay. The
    /// time is drawn between one microsecond and `longest`, and is one microsecond if `longest` is
    /// shorter. Default: twice the jitter, but at least 10 ms.
    ///
    /// ```
    /// use core::time::Duration;
    ///
    /// let c = porous_sim::LinkConfig::new().reorder(3.0).reorder_by(Duration::from_millis(80));
    /// # let _ = c;
    /// ```
    #[must_use]
    pub const fn reorder_by(mut self, longest: Duration) -> Self {
        self.reorder_by = Some(longest);
        self
    }

    /// The rate of the link, in bits a second, [`overhead`](Self::overhead) included; 0 is without
    /// limit. Default: 0.
    ///
    /// Datagrams leave one after the other, each when its last bit has gone out; the others wait in a
    /// [`queue`](Self::queue).
    ///
    /// ```
    /// // 1 Mbit/s.
    /// let c = porous_sim::LinkConfig::new().rate(1_000_000);
    /// # let _ = c;
    /// ```
    #[must_use]
    pub const fn rate(mut self, bits_per_second: u64) -> Self {
        self.rate = bits_per_second;
        self
    }

    /// The queue where the [`rate`](Self::rate) is limited. Default: 100 ms.
    ///
    /// ```
    /// let c = porous_sim::LinkConfig::new().rate(64_000).queue(porous_sim::Queue::Bytes(8000));
    /// # let _ = c;
    /// ```
    #[must_use]
    pub const fn queue(mut self, queue: Queue) -> Self {
        self.queue = queue;
        self
    }

    /// The bytes that the layers below add to each datagram. They count against the rate and the queue,
    /// not against the MTU. Default: 28, UDP over IPv4; over IPv6 it is 48.
    ///
    /// ```
    /// let ipv6 = porous_sim::LinkConfig::new().overhead(48);
    /// # let _ = ipv6;
    /// ```
    #[must_use]
    pub const fn overhead(mut self, bytes: u32) -> Self {
        self.overhead = bytes;
        self
    }

    /// The largest datagram that passes, in bytes of UDP payload; larger ones vanish without a word, as
    /// on a path whose routers send no ICMP messages. Default: no limit.
    ///
    /// ```
    /// let c = porous_sim::LinkConfig::new().mtu(1200);
    /// # let _ = c;
    /// ```
    #[must_use]
    pub const fn mtu(mut self, bytes: usize) -> Self {
        self.mtu = bytes;
        self
    }

    /// True if the link is cut: then every datagram that is sent vanishes. Default: no.
    ///
    /// ```
    /// let up = porous_sim::LinkConfig::new().loss(1.0);
    /// let cut = up.down(true);
    /// assert_eq!(cut.down(false), up);
    /// ```
    #[must_use]
    pub const fn down(mut self, yes: bool) -> Self {
        self.down = yes;
        self
    }
}

impl Default for LinkConfig {
    fn default() -> Self {
        Self::new()
    }
}
