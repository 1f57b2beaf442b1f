//! The conditions of the links in the fault phase, and after it.

use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::Instant;

use super::draw::Draw;
use super::journal::Whom;
use super::stage::{Job, Stage};
use crate::{EcnPath, LinkConfig, Queue};

/// The conditions between two hosts, one way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weather {
    /// The line as it should be.
    pub(super) good: LinkConfig,
    /// The present conditions.
    pub(super) now: LinkConfig,
    /// True if a connection may die of the present conditions.
    pub(super) harsh: bool,
    /// No datagram passes before this.
    pub(super) cut_until: Instant,
}

impl Weather {
    pub(super) fn new(draw: &mut Draw) -> Self {
        let delay = Duration::from_micros(draw.log(200, 250_000));
        let good = LinkConfig::new().delay(delay).jitter(delay / 8);
        Self {
            good,
            now: good,
            harsh: false,
            cut_until: Instant::ZERO,
        }
    }
}

/// Draws conditions, and whether they are so bad that a connection may die of them.
fn draw(draw: &mut Draw, good: LinkConfig, corrupts: bool) -> (LinkConfig, bool) {
    let (mut link, mut harsh) = (good, false);
    if draw.often(50) {
        let percent = draw.percent(400);
        harsh |= percent > 15.0;
        link = link.loss(percent);
    }
    if draw.often(25) {
        // A burst has no longest length: it may outlast any timeout.
        let [enter, leave] = [draw.percent(50), draw.percent(500)];
        harsh = true;
        link = link.burst_loss(enter, leave, 100.0 - draw.percent(500));
    }
    if draw.often(40) {
        let delay = draw.millis(1, 800);
        link = link.delay(delay).jitter(draw.millis(1, 400).min(delay));
        link = link.jitter_reorders(draw.often(50));
    }
    if draw.often(30) {
        link = link.duplicate(draw.percent(150));
    }
    if draw.often(30) {
        link = link.reorder(draw.percent(200));
        link = link.reorder_by(draw.millis(1, 900));
    }
    if corrupts && draw.often(50) {
        let percent = draw.percent(80);
        link = link.corrupt(percent).udp_checksum(false);
    }
    if corrupts && draw.often(25) {
        link = link.truncate(draw.percent(30)).udp_checksum(false);
    }
    if draw.often(25) {
        let rate = draw.log(32_000, 20_000_000);
        // A full queue drops pings like anything else.
        harsh |= rate < 500_000;
        link = link.rate(rate).queue(match draw.below(3) {
            0 => Queue::Time(draw.millis(5, 900)),
            1 => Queue::Bytes(draw.log(1500, 64_000)),
            _ => Queue::CODEL,
        });
    }
    if draw.often(4) {
        harsh = true;
        link = link.mtu(draw.index(1300) + 50);
    }
    (link, harsh)
}

/// What paths do to marks of congestion: most leave them alone.
const MARKS: [EcnPath; 4] = [
    EcnPath::Clean,
    EcnPath::Clean,
    EcnPath::Bleached,
    EcnPath::Blocked,
];

/// Draws what routers do to marks.
fn marking(draw: &mut Draw, link: LinkConfig) -> LinkConfig {
    let link = link.marks(draw.often(50)).ecn_path(draw.pick(&MARKS));
    // What the hosts of a world send seldom makes a queue long enough for marks.
    if draw.often(30) {
        link.mark(draw.percent(300))
    } else {
        link
    }
}

impl Stage {
    /// The weather changes from one host to another, and perhaps back as well.
    pub(super) fn change_weather(&mut self) {
        let (a, b) = self.chance.two(self.actors.len());
        let fair = self.chance.often(30);
        let ways = if self.chance.often(50) { 1 } else { 2 };
        for pair in [(a, b), (b, a)].into_iter().take(ways) {
            let corrupts = self.plan.corrupts;
            let Some(weather) = self.weather.get_mut(&pair) else {
                continue;
            };
            self.journal.on_time(pair, self.world.now());
            let drawn = draw(&mut self.chance, weather.good, corrupts);
            (weather.now, weather.harsh) = if fair { (weather.good, false) } else { drawn };
            weather.now = marking(&mut self.marks, weather.now);
            let disturbs = u64::from(weather.now.ecn_path != EcnPath::Clean);
            self.report.fault("paths that disturb marks", disturbs);
            if self.lateness.often(15) {
                let percent = self.lateness.percent(150);
                weather.harsh |= percent > 5.0;
                let late = weather.now.reorder(percent);
                weather.now = late.reorder_by(self.lateness.millis(1000, 60_000));
                self.journal.late(pair, self.world.now(), self.end);
                self.report.fault("minutes of lateness", 1);
            }
            self.apply(pair);
        }
        let (now, whom) = (self.world.now(), Whom::Weather(a.min(b), a.max(b)));
        // The weather before is an excuse no longer. The present one is, if it is harsh one way or both.
        self.journal.calm(whom, now);
        let harsh = |pair| self.weather.get(&pair).is_some_and(|weather| weather.harsh);
        if harsh((a, b)) || harsh((b, a)) {
            self.journal.disturb(whom, now, self.end);
        }
        self.report.fault("changes of weather", 1);
    }

    /// Gives the link between two hosts the conditions that it should have now.
    pub(super) fn apply(&mut self, pair: (usize, usize)) {
        let now = self.world.now();
        if let Some(weather) = self.weather.get(&pair) {
            let (from, to) = (self.actors[pair.0].public, self.actors[pair.1].public);
            // A cut lasts for its time, however often the weather changes meanwhile.
            let link = weather.now.down(weather.cut_until > now);
            self.world.network_mut().set_link(from, to, link);
        }
    }

    /// Applies the conditions of all links.
    pub(super) fn apply_all(&mut self) {
        let pairs: Vec<_> = self.weather.keys().copied().collect();
        for pair in pairs {
            self.apply(pair);
        }
    }

    /// Cuts two hosts off from each other, one way or both, until this time or the end of the faults.
    pub(super) fn cut(&mut self, (a, b): (usize, usize), both: bool, until: Instant) {
        let (now, until) = (self.world.now(), until.min(self.end));
        let ways = if both { 2 } else { 1 };
        for pair in [(a, b), (b, a)].into_iter().take(ways) {
            if let Some(weather) = self.weather.get_mut(&pair) {
                weather.cut_until = until;
            }
            self.apply(pair);
        }
        self.at(until, Job::Mend(a, b));
        self.journal.disturb(Whom::Between(a, b), now, until);
        self.report.fault("partitions", 1);
    }

    /// All links are good from now on.
    pub(super) fn heal_links(&mut self) {
        let now = self.world.now();
        for weather in self.weather.values_mut() {
            (weather.now, weather.cut_until) = (weather.good, now);
        }
        self.apply_all();
    }
}
