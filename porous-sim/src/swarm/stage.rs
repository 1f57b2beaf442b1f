//! The world of a seed, and the schedule of what is done to it.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::{ConfigError, Instant, Listen, Mode, PeerId, Policy};

use super::actor::{Actor, Pattern};
use super::checks::Trial;
use super::contract::Contract;
use super::draw::Draw;
use super::heal::{Phase, heal};
use super::journal::{Journal, Whom};
use super::mischief::Mischief;
use super::plan::Plan;
use super::report::Report;
use super::sealing::Bindings;
use super::spoof::{Sign, Spoofed, Strangers};
use super::weather::Weather;
use crate::{LinkConfig, Seed, Service, World};

/// Addresses of routers begin here; a host is its number plus one, and a hundred more each time
/// that it moves.
const ROUTERS: u32 = 10_000;

/// A job that is due at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Job {
    /// An application looks at its host. Void if the host was restarted since.
    Look {
        actor: usize,
        side: usize,
    },
    Weather,
    Mischief,
    Spoof,
    /// A partition is over.
    Mend(usize, usize),
    /// A host starts again.
    Revive(usize),
}

/// The world, its hosts, and all that is noted of them.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) seed: Seed,
    pub(super) plan: Plan,
    pub(super) world: World,
    pub(super) contract: Contract,
    pub(super) actors: Vec<Actor>,
    pub(super) weather: BTreeMap<(usize, usize), Weather>,
    pub(super) journal: Journal,
    /// The host that has, or had, an address.
    pub(super) who: BTreeMap<u32, usize>,
    agenda: BTreeSet<(Instant, Job)>,
    /// Decides about faults.
    pub(super) chance: Draw,
    /// Decides which datagrams come very late: worlds of old seeds stayed what they were but for these.
    pub(super) lateness: Draw,
    /// What routers do to marks: a stream of its own, as it came later.
    pub(super) marks: Draw,
    /// Decides at which other addresses a host is looked for.
    pub(super) elsewhere: Draw,
    strangers: Strangers,
    /// When the fault phase ends.
    pub(super) end: Instant,
    pub(super) phase: Phase,
    /// For two hosts, the lower index first, the end of the time in which long forms that may have been
    /// changed touch their connections.
    pub(super) tainted: BTreeMap<(usize, usize), Instant>,
    pub(super) bindings: Bindings,
    /// The ends of connections that are to be judged.
    pub(super) trials: Vec<Trial>,
    /// When peers have ended, by side.
    pub(super) ended: BTreeMap<(usize, PeerId), Instant>,
    /// Half the most milliseconds from one mischief to the next.
    pace: u64,
    /// Addresses given so far to hosts that moved, and to routers.
    moved: u32,
    pub(super) report: Report,
}

impl Stage {
    /// The hosts of this seed, which have not met yet.
    pub(super) fn new(seed: Seed, policy: Option<Policy>, text: bool) -> Result<Self, ConfigError> {
        let plan = Plan::new(seed, policy)?;
        // The links between hosts have weather; all others are those of strangers.
        let strangers = LinkConfig::new().delay(Duration::from_millis(10));
        let mut world = World::new(seed, strangers);
        if text {
            world = world.with_text();
        }
        let mut chance = Draw::new(seed, "faults", 0);
        let pace = chance.log(2000, 100_000);
        let mut stage = Self {
            seed,
            world,
            contract: Contract::new(0),
            actors: Vec::new(),
            weather: BTreeMap::new(),
            journal: Journal::default(),
            who: BTreeMap::new(),
            agenda: BTreeSet::new(),
            chance,
            lateness: Draw::new(seed, "lateness", 0),
            marks: Draw::new(seed, "marks", 0),
            elsewhere: Draw::new(seed, "elsewhere", 0),
            strangers: Strangers::new(seed),
            end: Instant::ZERO + plan.faults,
            phase: Phase::Faulty,
            tainted: BTreeMap::new(),
            bindings: Bindings::default(),
            trials: Vec::new(),
            ended: BTreeMap::new(),
            pace,
            moved: 0,
            report: Report::default(),
            plan,
        };
        for index in 0..stage.plan.roles.len() {
            stage.add_actor(index);
        }
        let count = stage.actors.len();
        for pair in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
            if pair.0 != pair.1 {
                let mut draw = Draw::new(seed, "line", pair.0 * 100 + pair.1);
                stage.weather.insert(pair, Weather::new(&mut draw));
            }
        }
        stage.apply_all();
        stage.strangers.tap(&mut stage.world);
        for job in [Job::Weather, Job::Mischief, Job::Spoof] {
            stage.at(Instant::ZERO, job);
        }
        Ok(stage)
    }

    fn add_actor(&mut self, index: usize) {
        let address = u32::try_from(index).unwrap_or(0) + 1;
        let quiet = Pattern::quiet(Instant::ZERO, Duration::from_millis(10));
        self.actors.push(Actor {
            address,
            public: address,
            side: 0,
            alive: false,
            reads_at: Instant::ZERO,
            attempts: 0,
            dials_at: Instant::ZERO,
            regretted: None,
            peers: BTreeMap::new(),
            pattern: quiet,
            draw: Draw::new(self.seed, "workload", index),
            keys: Draw::new(self.seed, "keys", index),
            rates: Draw::new(self.seed, "other rates", index),
            cap: u32::MAX,
            meter: None,
            latest: Instant::ZERO,
        });
        self.who.insert(address, index);
        if let Some(timeout) = self.plan.roles[index].nat {
            let outside = self.new_outside(index);
            self.world.add_nat(address, outside, timeout);
            self.actors[index].public = outside;
        }
        self.start(index);
    }

    /// A new outside address for a host behind a router.
    pub(super) fn new_outside(&mut self, index: usize) -> u32 {
        self.moved += 1;
        let outside = ROUTERS + self.moved;
        self.who.insert(outside, index);
        outside
    }

    /// A new address for a host.
    pub(super) fn new_address(&mut self, index: usize) {
        self.moved += 1;
        let address = 100 * self.moved + u32::try_from(index).unwrap_or(0) + 1;
        self.who.insert(address, index);
        (self.actors[index].address, self.actors[index].public) = (address, address);
        if let Some(timeout) = self.plan.roles[index].nat {
            let outside = self.new_outside(index);
            self.world.add_nat(address, outside, timeout);
            self.actors[index].public = outside;
        }
        // The weather is that of two hosts, whatever their addresses.
        self.apply_all();
    }

    /// The program of a host starts.
    pub(super) fn start(&mut self, index: usize) {
        let role = &self.plan.roles[index];
        let actor = &mut self.actors[index];
        let (now, side) = (self.world.now(), self.contract.add_side());
        for &channel in &role.unordered {
            self.contract.has_no_order(side, channel);
        }
        (actor.side, actor.alive) = (side, true);
        actor.peers.clear();
        (actor.cap, actor.meter, actor.latest) = (role.cap, None, Instant::ZERO);
        self.world.add_host(actor.address, role.config.clone());
        if let Some(sealing) = role.sealing {
            let host = self.world.host_mut(actor.address);
            host.set_security(sealing.security());
        }
        if let Some(every) = role.tick {
            // So that hosts with equal ticks are not called at the same instants.
            let offset = every / 3 * u32::try_from(index).unwrap_or(0);
            let service = Service::Tick { every, offset };
            self.world.set_service(actor.address, service);
        }
        self.listen(index);
        self.at(now, Job::Look { actor: index, side });
    }

    /// The program of a host that was killed starts again, perhaps at another address.
    fn revive(&mut self, index: usize) {
        if self.chance.often(35) {
            self.new_address(index);
            self.report.fault("moves", 1);
        }
        self.start(index);
    }

    /// Something goes wrong with a host, if it runs.
    fn mischief(&mut self) {
        let index = self.chance.index(self.actors.len());
        if !self.actors[index].alive {
            return;
        }
        // First, so that the fault chooses among peers that have not ended yet, as far as is known.
        self.hear(index);
        let peers: Vec<PeerId> = self.actors[index].peers.keys().copied().collect();
        if let Some(fault) = Mischief::draw(&mut self.chance, self.actors.len(), &peers) {
            fault.strike(self, index);
        }
    }

    /// Strangers send datagrams.
    fn spoof(&mut self) {
        let victims: Vec<u32> = self.actors.iter().map(|actor| actor.public).collect();
        let spoofed = self.strangers.spoof(&victims, self.plan.corrupts);
        let forged = self.strangers.forge();
        for spoofed in [Some(spoofed), forged].into_iter().flatten() {
            let Spoofed { from, to, .. } = spoofed;
            self.report.fault(spoofed.kind, 1);
            let ends = [from, to].map(|end| self.who.get(&end).copied());
            if let [Some(a), Some(b)] = ends {
                self.meddle(a, b, &spoofed);
            }
            self.world.inject(from, to, spoofed.datagram);
        }
    }

    /// A stranger meddles with the connections between two hosts.
    fn meddle(&mut self, a: usize, b: usize, spoofed: &Spoofed) {
        let now = self.world.now();
        if spoofed.taints {
            self.taint(a, b);
        }
        match spoofed.sign {
            Sign::Reset => self.journal.disturb(Whom::Between(a, b), now, now),
            Sign::Copy => self.journal.prolong(a, b, now),
            Sign::None => {}
        }
    }

    /// Makes a host listen, if its role does.
    pub(super) fn listen(&mut self, index: usize) {
        let role = &self.plan.roles[index];
        if role.listens {
            let policy = if role.asks { Listen::Ask } else { Listen::Open };
            let listens = self
                .world
                .host_mut(self.actors[index].address)
                .listen(policy);
            assert_eq!(listens, Ok(()));
        }
    }

    /// Schedules a job for this time.
    pub(super) fn at(&mut self, time: Instant, job: Job) {
        self.agenda.insert((time, job));
    }

    /// Runs the world, from the first datagram to the last peer's end.
    pub(super) fn play(&mut self) {
        self.run_until(self.end);
        heal(self);
    }

    /// Lets time pass, with all jobs that are due up to and including `end`.
    pub(super) fn run_until(&mut self, end: Instant) {
        while let Some(&(at, job)) = self.agenda.first().filter(|(at, _)| *at <= end) {
            self.agenda.pop_first();
            self.world.run_until(at);
            // Before the job: an application that looks must not judge by changed values.
            self.note_damage();
            self.act(job);
        }
        self.world.run_until(end);
    }

    fn act(&mut self, job: Job) {
        let now = self.world.now();
        match job {
            Job::Look { actor, side } if self.actors[actor].side == side => {
                if self.actors[actor].alive {
                    self.look(actor);
                    let every = self.actors[actor].pattern.every;
                    self.at(now + every, job);
                }
            }
            // The host was restarted since: its new program looks by a job of its own.
            Job::Look { .. } => {}
            Job::Mend(a, b) => {
                self.apply((a, b));
                self.apply((b, a));
            }
            Job::Revive(index) => self.revive(index),
            // Not scheduled again: there are no faults from now on.
            Job::Weather | Job::Mischief | Job::Spoof if self.phase.is_healed() => {}
            Job::Weather => {
                self.change_weather();
                let next = now + self.chance.millis(500, 40_000);
                self.at(next, job);
            }
            Job::Mischief => {
                if now > Instant::from_micros(5_000_000) {
                    self.mischief();
                }
                let next = now + self.chance.millis(20, 2 * self.pace);
                self.at(next, job);
            }
            Job::Spoof => {
                self.spoof();
                let next = now + self.strangers.pause();
                self.at(next, job);
            }
        }
    }

    /// Notes that long forms which were changed on their way have changed what the handshake agreed on.
    pub(super) fn note_damage(&mut self) {
        for (from, to) in core::mem::take(&mut self.world.network_mut().damaged) {
            let ends = [from, to].map(|end| self.who.get(&end).copied());
            if let [Some(from), Some(to)] = ends {
                self.taint(from, to);
            }
        }
        let ends = core::mem::take(&mut self.world.ends);
        for (at, address, peer) in ends {
            if let Some(&index) = self.who.get(&address) {
                self.ended.insert((self.actors[index].side, peer), at);
            }
        }
    }

    /// Notes that all connections of a host are disturbed.
    pub(super) fn disturb_host(&mut self, index: usize, from: Instant, until: Instant) {
        self.journal.disturb(Whom::Host(index), from, until);
    }

    /// Completes the report.
    pub(super) fn sum_up(&mut self) {
        let now = self.world.now();
        for actor in &self.actors {
            for meta in actor.peers.values() {
                if let Some(since) = meta.since {
                    self.report.connected += micros(now.saturating_duration_since(since));
                }
            }
        }
        // Each connection was counted at both ends.
        self.report.connected /= 2;
        let lives = self.contract.peers.iter().flat_map(BTreeMap::values);
        for life in lives {
            self.report.judged += u64::from(life.connected && life.judged);
            for mode in [Mode::Unreliable, Mode::Reliable, Mode::Passive] {
                let (sent, delivered) = life.sent.counts(mode);
                self.report.packets[mode as usize][0] += sent;
                self.report.packets[mode as usize][1] += delivered;
            }
        }
        let links = self.world.network().stats();
        self.report.datagrams = links.sent;
        for (kind, count) in [
            ("datagrams lost", links.lost),
            ("datagrams queue-dropped", links.queue_dropped),
            ("datagrams marked", links.marked),
            ("datagrams over the MTU", links.too_large),
            ("datagrams cut off", links.cut),
            ("datagrams doubled", links.duplicated),
            ("datagrams held back", links.held_back),
            ("datagrams damaged", links.damaged),
        ] {
            self.report.fault(kind, count);
        }
    }
}

/// A duration in microseconds.
pub(super) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
