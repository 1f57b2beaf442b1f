//! A one-way link: datagrams go in at one end and come out at the other, or do not.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use porous_proto::{Ecn, Instant};

use crate::damage::{damage, is_damaged};
use crate::delay::{hold_back, travel};
use crate::dice::{Dice, Effect};
use crate::rate::Bottleneck;
use crate::{EcnPath, LinkConfig, LinkStats, Seed};

/// The decision of a link about a datagram, made when it was sent.
///
/// ```
/// use porous_proto::Instant;
/// use porous_sim::{Fate, Link, LinkConfig, Seed};
///
/// let mut link = Link::new(LinkConfig::new().mtu(100), Seed::new(1));
/// assert_eq!(link.send(Instant::ZERO, vec![0; 101]), Fate::TooLarge);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The datagram will arrive.
    Carried {
        /// When the datagram arrives.
        due: Instant,
        /// When its copy arrives, if it has one.
        copy: Option<Instant>,
        /// True if the datagram was held back so that later ones may overtake it.
        held_back: bool,
        /// True if the datagram arrives with other bytes than it was sent with.
        damaged: bool,
    },
    /// Lost by chance.
    Lost,
    /// Damaged on the way, and dropped by the system where it arrived
    /// ([`udp_checksum`](LinkConfig::udp_checksum)).
    BadChecksum {
        /// When the undamaged copy arrives, if there is one.
        copy: Option<Instant>,
    },
    /// The queue was full.
    QueueFull,
    /// Larger than the MTU.
    TooLarge,
    /// The link is down.
    Cut,
}

/// A one-way link for datagrams, in virtual time.
///
/// The fate of a datagram is decided when it is sent, from the conditions of that moment. The decision
/// depends only on the seed, the conditions, and the times and lengths of the datagrams that were sent.
/// Each effect has random numbers of its own: a link loses the same datagrams whether it also
/// duplicates, delays or reorders.
///
/// Time must not run backwards: a time earlier than the latest that the link has seen counts as the
/// latest.
///
/// ```
/// use core::time::Duration;
/// use porous_proto::Instant;
/// use porous_sim::{Link, LinkConfig, Seed};
///
/// let config = LinkConfig::new().delay(Duration::from_millis(40));
/// let mut link = Link::new(config, Seed::new(1));
/// link.send(Instant::ZERO, b"hello".to_vec());
///
/// let due = link.next_delivery().unwrap();
/// assert_eq!(due, Instant::from_micros(40_000));
/// assert_eq!(link.receive(Instant::from_micros(39_999)), None);
/// assert_eq!(link.receive(due).as_deref(), Some(&b"hello"[..]));
/// ```
#[derive(Clone, Debug)]
pub struct Link {
    config: LinkConfig,
    dice: Dice,
    bottleneck: Bottleneck,
    /// True while the link is in its bad state, which loses in bursts.
    in_burst: bool,
    /// The datagrams under way, by time, then by order of insertion.
    in_flight: VecDeque<InFlight>,
    /// The latest arrival of a datagram that was not held back. A datagram that is sent later and keeps its
    /// order does not arrive before.
    last_due: Instant,
    now: Instant,
    stats: LinkStats,
}

#[derive(Clone, Debug)]
struct InFlight {
    due: Instant,
    ecn: Ecn,
    datagram: Vec<u8>,
}

impl Link {
    /// A link with these conditions, whose chance follows from `seed`.
    ///
    /// ```
    /// use porous_sim::{Link, LinkConfig, Seed};
    ///
    /// let link: Link = Link::new(LinkConfig::new(), Seed::new(1).child("uplink", 0));
    /// assert_eq!(link.next_delivery(), None);
    /// ```
    #[must_use]
    pub fn new(config: LinkConfig, seed: Seed) -> Self {
        Self {
            config,
            dice: Dice::new(seed),
            bottleneck: Bottleneck::default(),
            in_burst: false,
            in_flight: VecDeque::new(),
            last_due: Instant::ZERO,
            now: Instant::ZERO,
            stats: LinkStats::default(),
        }
    }

    /// Sends a datagram and returns its fate, which only a test should look at.
    ///
    /// ```
    /// use porous_proto::Instant;
    /// use porous_sim::{Link, LinkConfig, Seed};
    ///
    /// let mut link = Link::new(LinkConfig::new().duplicate(100.0), Seed::new(1));
    /// link.send(Instant::ZERO, vec![7]);
    /// assert_eq!(link.receive(Instant::ZERO), Some(vec![7]));
    /// assert_eq!(link.receive(Instant::ZERO), Some(vec![7]));
    /// assert_eq!(link.receive(Instant::ZERO), None);
    /// ```
    pub fn send(&mut self, now: Instant, datagram: impl Into<Vec<u8>>) -> Fate {
        self.send_marked(now, Ecn::NotEct, datagram.into())
    }

    /// As [`send`](Self::send), of a datagram with a mark of congestion: queues may change it, and so may the
    /// [path](LinkConfig::ecn_path).
    ///
    /// ```
    /// use porous_proto::{Ecn, Instant};
    /// use porous_sim::{Link, LinkConfig, Seed};
    ///
    /// let mut link = Link::new(LinkConfig::new().mark(100.0), Seed::new(1));
    /// link.send_marked(Instant::ZERO, Ecn::Ect0, vec![7]);
    /// assert_eq!(link.receive_marked(Instant::ZERO), Some((Ecn::Ce, vec![7])));
    /// ```
    pub fn send_marked(&mut self, now: Instant, mut ecn: Ecn, mut datagram: Vec<u8>) -> Fate {
        self.now = self.now.max(now);
        let len = datagram.len();
        let number = self.stats.sent;
        let fate = self.decide(number, len, &mut ecn);
        self.stats.sent += 1;
        self.stats.bytes_sent += len as u64;
        match fate {
            Fate::Carried {
                due,
                copy,
                held_back,
                damaged,
            } => {
                self.stats.held_back += u64::from(held_back);
                self.stats.damaged += u64::from(damaged);
                // Before the damage: a copy is not damaged.
                let whole = copy.map(|_| datagram.clone());
                if damaged {
                    damage(&self.config, &self.dice, number, &mut datagram);
                }
                self.insert(due, ecn, datagram);
                self.insert_copy(copy, ecn, whole);
            }
            Fate::BadChecksum { copy } => {
                self.stats.bad_checksum += 1;
                self.insert_copy(copy, ecn, Some(datagram));
            }
            Fate::Lost => self.stats.lost += 1,
            Fate::QueueFull => self.stats.queue_dropped += 1,
            Fate::TooLarge => self.stats.too_large += 1,
            Fate::Cut => self.stats.cut += 1,
        }
        fate
    }

    /// The next datagram that is due at `now` or before, in order of arrival; those of the same
    /// microsecond in the order they were sent. Call it until it returns `None`.
    ///
    /// ```
    /// use porous_proto::Instant;
    /// use porous_sim::{Link, LinkConfig, Seed};
    ///
    /// let mut link = Link::new(LinkConfig::new(), Seed::new(1));
    /// link.send(Instant::ZERO, vec![1]);
    /// link.send(Instant::ZERO, vec![2]);
    /// let mut got = Vec::new();
    /// while let Some(datagram) = link.receive(Instant::ZERO) {
    ///     got.push(datagram);
    /// }
    /// assert_eq!(got, [[1], [2]]);
    /// ```
    pub fn receive(&mut self, now: Instant) -> Option<Vec<u8>> {
        let (_, datagram) = self.receive_marked(now)?;
        Some(datagram)
    }

    /// As [`receive`](Self::receive), with the mark of congestion that the datagram arrives with.
    ///
    /// ```
    /// use porous_proto::{Ecn, Instant};
    /// use porous_sim::{EcnPath, Link, LinkConfig, Seed};
    ///
    /// let mut link = Link::new(LinkConfig::new().ecn_path(EcnPath::Bleached), Seed::new(1));
    /// link.send_marked(Instant::ZERO, Ecn::Ect0, vec![7]);
    /// assert_eq!(link.receive_marked(Instant::ZERO), Some((Ecn::NotEct, vec![7])));
    /// ```
    pub fn receive_marked(&mut self, now: Instant) -> Option<(Ecn, Vec<u8>)> {
        self.now = self.now.max(now);
        if self.in_flight.front()?.due > self.now {
            return None;
        }
        let InFlight { ecn, datagram, .. } = self.in_flight.pop_front()?;
        self.stats.delivered += 1;
        self.stats.bytes_delivered += datagram.len() as u64;
        Some((ecn, datagram))
    }

    /// When the next datagram arrives; `None` if none is under way. In the past if datagrams have
    /// arrived and were not taken out.
    ///
    /// ```
    /// use porous_proto::Instant;
    /// use porous_sim::{Link, LinkConfig, Seed};
    ///
    /// // 1000 bytes in all at 1 Mbit/s: 8 ms.
    /// let mut link = Link::new(LinkConfig::new().rate(1_000_000), Seed::new(1));
    /// link.send(Instant::ZERO, vec![0; 972]);
    /// assert_eq!(link.next_delivery(), Some(Instant::from_micros(8000)));
    /// ```
    #[must_use]
    pub fn next_delivery(&self) -> Option<Instant> {
        self.in_flight.front().map(|first| first.due)
    }

    /// The counts of this link so far.
    ///
    /// ```
    /// use porous_proto::Instant;
    /// use porous_sim::{Link, LinkConfig, Seed};
    ///
    /// let mut link = Link::new(LinkConfig::new(), Seed::new(1));
    /// link.send(Instant::ZERO, vec![0; 10]);
    /// assert_eq!(link.stats().in_flight, 1);
    /// ```
    #[must_use]
    pub fn stats(&self) -> LinkStats {
        LinkStats {
            in_flight: self.in_flight.len() as u64,
            ..self.stats
        }
    }

    /// The conditions now.
    ///
    /// ```
    /// use porous_sim::{Link, LinkConfig, Seed};
    ///
    /// let link: Link = Link::new(LinkConfig::new().loss(1.0), Seed::new(1));
    /// assert_eq!(link.config(), &LinkConfig::new().loss(1.0));
    /// ```
    #[must_use]
    pub const fn config(&self) -> &LinkConfig {
        &self.config
    }

    /// Changes the conditions, for datagrams sent from now on. Datagrams under way arrive as was decided,
    /// even if the link is now down, and are only overtaken by the effects that reorder.
    ///
    /// ```
    /// use porous_proto::Instant;
    /// use porous_sim::{Fate, Link, LinkConfig, Seed};
    ///
    /// let mut link = Link::new(LinkConfig::new(), Seed::new(1));
    /// link.set_config(link.config().down(true));
    /// assert_eq!(link.send(Instant::ZERO, vec![1]), Fate::Cut);
    /// link.set_config(link.config().down(false));
    /// link.send(Instant::ZERO, vec![2]);
    /// assert_eq!(link.receive(Instant::ZERO), Some(vec![2]));
    /// ```
    pub const fn set_config(&mut self, config: LinkConfig) {
        self.config = config;
    }

    /// Decides about the next datagram, in the order that [`LinkConfig`] documents. `number` is the
    /// count of those sent before it, whatever became of them.
    fn decide(&mut self, number: u64, len: usize, ecn: &mut Ecn) -> Fate {
        let (config, dice) = (&self.config, &self.dice);
        if config.down {
            return Fate::Cut;
        }
        if len > config.mtu {
            return Fate::TooLarge;
        }
        let before = *ecn;
        let Some(left) = self.bottleneck.accept(self.now, len, config, ecn) else {
            return Fate::QueueFull;
        };
        let is_capable = matches!(ecn, Ecn::Ect0 | Ecn::Ect1);
        if is_capable && config.mark.happens(dice.draw(Effect::Mark, number)) {
            *ecn = Ecn::Ce;
        }
        self.stats.marked += u64::from(*ecn != before);
        match config.ecn_path {
            EcnPath::Clean => {}
            EcnPath::Bleached => *ecn = Ecn::NotEct,
            EcnPath::Blocked if *ecn != Ecn::NotEct => return Fate::Lost,
            EcnPath::Blocked => {}
        }
        // Behind the queue: on a radio link, a lost datagram has used its share of the rate.
        let (bursts, turn) = (config.bursts, dice.draw(Effect::Burst, number));
        self.in_burst = if self.in_burst {
            !bursts.leave.happens(turn)
        } else {
            bursts.enter.happens(turn)
        };
        let lost_in_burst =
            self.in_burst && bursts.loss.happens(dice.draw(Effect::BurstLoss, number));
        if lost_in_burst || config.loss.happens(dice.draw(Effect::Loss, number)) {
            return Fate::Lost;
        }
        let copy = config
            .duplicate
            .happens(dice.draw(Effect::Duplicate, number));
        let copy_due = left + travel(config, dice, Effect::CopyDelay, number);
        let mut due = left + travel(config, dice, Effect::Delay, number);
        if !config.jitter_reorders {
            due = due.max(self.last_due);
        }
        // Set before holding back: a datagram that is held back does not hold back the others.
        self.last_due = self.last_due.max(due);
        let held_back = hold_back(config, dice, number);
        due = due + held_back.unwrap_or_default();
        let copy = copy.then(|| copy_due.max(due));
        let damaged = is_damaged(config, dice, number, len);
        if damaged && config.udp_checksum {
            return Fate::BadChecksum { copy };
        }
        Fate::Carried {
            due,
            copy,
            held_back: held_back.is_some(),
            damaged,
        }
    }

    fn insert_copy(&mut self, due: Option<Instant>, ecn: Ecn, datagram: Option<Vec<u8>>) {
        if let (Some(due), Some(datagram)) = (due, datagram) {
            self.stats.duplicated += 1;
            self.insert(due, ecn, datagram);
        }
    }

    fn insert(&mut self, due: Instant, ecn: Ecn, datagram: Vec<u8>) {
        // Behind those of the same time, so that these arrive in the order in which they were sent.
        let at = self.in_flight.partition_point(|other| other.due <= due);
        let flying = InFlight { due, ecn, datagram };
        self.in_flight.insert(at, flying);
    }
}

#[cfg(test)]
mod tests;
