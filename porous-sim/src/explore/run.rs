//! One run of a scene: its hosts, their applications, and the wire between them.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::fmt::{self, Write as _};
use core::time::Duration;

use porous_proto::{
    ChannelId, ConfigError, Disconnect, DisconnectReason, Event, Instant, Listen, PeerId, SendError,
};

use super::actor::{Actor, Known, host_at};
use super::choice::Choice;
use super::promises;
use super::scene::{Parting, Scene, Step, Word};
use super::schedule::Schedule;
use super::seen::Seen;
use super::wire::{Datagram, Wire};
use crate::swarm::{Bindings, Contract};
use crate::{Intercept, LinkConfig, Seed, World};

/// The reason of all goodbyes.
pub(super) const GOODBYE: u32 = 5;

/// The time that a flush may take.
const FLUSH: Duration = Duration::from_secs(20);

/// The time from the end of an attempt or a connection to the next attempt.
const REDIAL: Duration = Duration::from_millis(100);

/// The channels of all hosts.
const CHANNELS: u8 = 3;

/// A schedule before has come to the same state: nothing new comes of going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Again {
    /// The number of choices that are left.
    pub(super) left: usize,
}

/// The choices of a run.
#[derive(Debug)]
pub(super) struct Chooser<'c> {
    pub(super) schedule: &'c mut Schedule,
    /// The number of datagrams for which there is a choice.
    pub(super) datagrams: usize,
    /// The states that schedules before have come to, if states are compared.
    pub(super) seen: Option<&'c mut Seen>,
}

/// What a run has done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Effort {
    pub(super) datagrams: u64,
    pub(super) audits: u64,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Choices come later.
    Before,
    /// There are choices.
    Choosing,
    /// The network is good from now on.
    Healed,
}

/// A run of a scene.
#[derive(Debug)]
pub(super) struct Run<'c> {
    pub(super) scene: Scene,
    chooser: Chooser<'c>,
    pub(super) world: World,
    /// What hosts have sent, of which it is still open what becomes.
    sent: Rc<RefCell<Vec<Datagram>>>,
    pub(super) wire: Wire,
    pub(super) contract: Contract,
    bindings: Bindings,
    /// By their numbers, less 1.
    pub(super) actors: Vec<Actor>,
    /// The number of the step of the scene that is done next.
    step: usize,
    stage: Stage,
    /// The number of datagrams for which something was chosen.
    chosen: usize,
    /// True once all was chosen, and nothing is under way that was not left to itself.
    has_calmed: bool,
    /// The ends of the connections that were left last, each with the side of its host, and whether that flushes.
    pub(super) parting: Vec<(usize, PeerId, bool)>,
    pub(super) effort: Effort,
}

impl<'c> Run<'c> {
    pub(super) fn new(
        scene: Scene,
        chooser: Chooser<'c>,
        has_text: bool,
    ) -> Result<Self, ConfigError> {
        let mut world = World::new(Seed::new(1), LinkConfig::new());
        if has_text {
            world = world.with_text();
        }
        let sent = Rc::new(RefCell::new(Vec::new()));
        let log = Rc::clone(&sent);
        world.intercept(move |passing| {
            let (from, to, bytes) = (passing.from, passing.to, passing.datagram.to_vec());
            log.borrow_mut().push(Datagram { from, to, bytes });
            Intercept::Drop
        });
        let mut run = Self {
            scene,
            chooser,
            world,
            sent,
            wire: Wire::default(),
            contract: Contract::with_channels(CHANNELS),
            bindings: Bindings::default(),
            actors: Vec::new(),
            step: 0,
            stage: Stage::Before,
            chosen: 0,
            has_calmed: false,
            parting: Vec::new(),
            effort: Effort::default(),
        };
        for number in 1..=scene.script.hosts {
            let side = run.contract.add_side();
            run.actors.push(Actor::new(number, side));
            run.start(number)?;
        }
        Ok(run)
    }

    /// The program of a host starts.
    fn start(&mut self, number: u32) -> Result<(), ConfigError> {
        self.world.add_host(number, self.scene.config()?);
        let host = self.world.host_mut(number);
        if let Some(security) = self.scene.security() {
            host.set_security(security);
        }
        if self.scene.script.is_port {
            host.set_same_host(|a, b| host_at(*a) == host_at(*b));
        }
        if self.scene.script.listens.contains(&number) {
            let policy = match self.scene.script.asks {
                true => Listen::Ask,
                false => Listen::Open,
            };
            host.listen(policy).expect("no greeting is too long");
        }
        Ok(())
    }

    pub(super) fn actor(&mut self, number: u32) -> &mut Actor {
        &mut self.actors[number as usize - 1]
    }

    /// All of the scene, and what has to hold once the network is good again.
    pub(super) fn play(&mut self) -> Result<(), Again> {
        let steps = self.scene.script.steps;
        let settles = |step: &Step| matches!(step, Step::Settle);
        let first = steps.iter().rposition(settles).map_or(0, |last| last + 1);
        while let Some(&step) = steps.get(self.step) {
            if self.step == first {
                self.stage = Stage::Choosing;
            }
            self.step += 1;
            self.act(step)?;
        }
        promises::keep(self)
    }

    /// From now on the network does nothing but deliver.
    pub(super) fn heal(&mut self) {
        self.stage = Stage::Healed;
    }

    /// Whether somebody has dialed and not left: the scene ends with connections.
    pub(super) fn ends_connected(&self) -> bool {
        self.actors.iter().any(|actor| actor.dials.is_some())
    }

    fn act(&mut self, step: Step) -> Result<(), Again> {
        let now = self.world.now();
        match step {
            Step::Dial(from, to) => {
                let actor = self.actor(from);
                (actor.dials, actor.dials_at) = (Some(to), Some(now));
                // What was left before may have ended by this.
                self.parting.clear();
                self.dial(from);
            }
            Step::Say(from, words) => {
                let peers: Vec<PeerId> = self.actor(from).connected().map(|it| it.0).collect();
                for peer in peers {
                    words.iter().for_each(|&word| self.send(from, peer, word));
                }
            }
            Step::Pause(millis) => {
                return self.run_until(now + Duration::from_millis(millis));
            }
            Step::Settle => promises::DELIVERED.hold(self)?,
            Step::Restart(number) => self.restart(number),
            Step::Move(number) => self.actor(number).move_on(),
            Step::Leave(number, parting) => self.leave(number, parting),
        }
        Ok(())
    }

    /// The program of a host ends, and starts again at once.
    fn restart(&mut self, number: u32) {
        let side = self.contract.add_side();
        let now = self.world.now();
        let before = self.actor(number);
        let (place, dials) = (before.place, before.dials);
        *before = Actor {
            place,
            dials,
            dials_at: dials.map(|_| now),
            has_ended: true,
            ..Actor::new(number, side)
        };
        self.start(number).expect("as it was configured before");
        self.dial(number);
    }

    /// A host says goodbye to all its peers.
    pub(super) fn leave(&mut self, number: u32, parting: Parting) {
        let reason = GOODBYE;
        let how = match parting {
            Parting::Flush => Disconnect::Flush {
                reason,
                deadline: FLUSH,
            },
            Parting::Now => Disconnect::Now { reason },
        };
        for (at, actor) in (1..).zip(&self.actors) {
            let ends = actor
                .connected()
                .filter(|&(_, with)| at == number || with == number);
            let flushes = at == number && parting == Parting::Flush;
            self.parting
                .extend(ends.map(|(peer, _)| (actor.side, peer, flushes)));
        }
        let actor = self.actor(number);
        (actor.dials, actor.dials_at, actor.has_ended) = (None, None, true);
        let peers: Vec<PeerId> = actor.peers.keys().copied().collect();
        for peer in peers {
            // The end may be known already, and not told yet.
            let _ = self.world.disconnect(number, peer, how);
        }
    }

    /// A host connects, if it is time to, and if it is not connected and does not connect already.
    fn dial(&mut self, number: u32) {
        let now = self.world.now();
        let (with, actor) = (self.scene.credentials(), self.actor(number));
        let Some(dials) = actor.dials.filter(|_| actor.dials_at <= Some(now)) else {
            return;
        };
        actor.dials_at = None;
        if !actor.peers.is_empty() {
            return;
        }
        let side = actor.side;
        let places = dials.iter().map(|&to| self.actor(to).place);
        let places: Vec<u32> = places.collect();
        let begun = match with {
            Some(with) => self.world.connect_sealed(number, &places, &with),
            None => self.world.connect_any(number, &places),
        };
        let peer = begun.expect("there is room for a peer");
        self.contract.begin(side, peer, false);
        self.actor(number)
            .peers
            .insert(peer, Known { remote: None });
    }

    /// Sends a packet that has to show that a connection works.
    pub(super) fn probe(&mut self, from: u32, peer: PeerId, word: Word) {
        let (side, number) = (self.actor(from).side, self.contract.token());
        self.send(from, peer, word);
        self.contract.probes(side, peer, number, word.mode);
    }

    /// Sends a packet to a peer that is connected.
    pub(super) fn send(&mut self, from: u32, peer: PeerId, word: Word) {
        let side = self.actor(from).side;
        let packet = self.contract.packet(side, peer, word.len);
        let host = self.world.host_mut(from);
        match host.send(peer, ChannelId(word.channel), &packet[..], word.mode) {
            Ok(()) => {
                let wishes = word.mode.into();
                let to = (side, peer);
                (self.contract).sent(to, word.channel, wishes, packet, false);
            }
            // The end is known, and not told yet.
            Err(SendError::UnknownPeer | SendError::Disconnecting) => {}
            Err(error) => panic!("{from}, {peer:?}: {error}"),
        }
    }

    /// Lets time pass.
    pub(super) fn run_until(&mut self, end: Instant) -> Result<(), Again> {
        loop {
            // Hosts that were called have something to send.
            self.world.next_happening();
            self.choose()?;
            self.calm()?;
            let (world, arrival) = (self.world.next_happening(), self.wire.next());
            let dials = self.actors.iter().filter_map(|actor| actor.dials_at).min();
            let all = [world, arrival, dials];
            let next = all.into_iter().flatten().min();
            let Some(next) = next.filter(|&next| next <= end) else {
                self.world.run_until(end);
                return Ok(());
            };
            if world != Some(next) {
                self.world.run_until(next);
            }
            // One at a time: a host may be called for each datagram, or for several at once, and its answers to each
            // are more to choose from.
            if arrival == Some(next) {
                self.arrive();
            }
            if self.world.next_happening() == Some(next) {
                self.world.step();
            }
            self.look();
        }
    }

    /// A datagram arrives, if the address is still that of its host.
    fn arrive(&mut self) {
        let Some(datagram) = self.wire.take(self.world.now()) else {
            return;
        };
        let Datagram { from, to, bytes } = datagram;
        let number = host_at(to);
        if self.actor(number).place == to {
            self.effort.datagrams += 1;
            self.world.inject(from, number, bytes);
        }
    }

    /// Decides what becomes of each datagram that hosts have sent.
    fn choose(&mut self) -> Result<(), Again> {
        let sent = self.sent.take();
        for (index, datagram) in sent.iter().enumerate() {
            let choice = self.choice(&sent[index..])?;
            let now = self.world.now();
            if self.world.trace().text().is_some() {
                let Datagram { from, to, .. } = datagram;
                let what = alloc::format!("{from:?} -> {to:?} becomes: {choice:?}");
                self.world.network_mut().note(&what);
            }
            let (from, to) = (self.actors[datagram.from as usize - 1].place, datagram.to);
            let bytes = datagram.bytes.clone();
            self.wire.send(now, Datagram { from, to, bytes }, choice);
        }
        Ok(())
    }

    /// What becomes of the first of these datagrams.
    fn choice(&mut self, sent: &[Datagram]) -> Result<Choice, Again> {
        if self.stage != Stage::Choosing || self.chosen == self.chooser.datagrams {
            return Ok(Choice::Now);
        }
        // Where nothing can be chosen any more, the end of the choices is soon enough.
        if self.chooser.schedule.is_new() && self.chooser.schedule.left() > 0 {
            self.compare(sent)?;
        }
        self.chosen += 1;
        let choice = self.chooser.schedule.choose(Choice::ALL.len());
        Ok(Choice::ALL[choice])
    }

    /// Once all was chosen and has come about, many schedules are in a state that is known.
    fn calm(&mut self) -> Result<(), Again> {
        let calms = self.chosen == self.chooser.datagrams && self.wire.is_regular();
        if self.stage == Stage::Before || self.has_calmed || !calms {
            return Ok(());
        }
        self.has_calmed = true;
        self.compare(&[])
    }

    /// The number of datagrams for which there will be a choice.
    const fn left(&self) -> usize {
        self.chooser.datagrams - self.chosen
    }

    /// Ends the run if a schedule before has come to this state with as many choices left, or more.
    fn compare(&mut self, sent: &[Datagram]) -> Result<(), Again> {
        let Some(seen) = self.chooser.seen.take() else {
            return Ok(());
        };
        let left = self.left();
        let is_known = seen.meet(left, |text| {
            let written = self.view(sent, text);
            written.expect("a text takes what is written");
        });
        self.chooser.seen = Some(seen);
        match is_known {
            true => Err(Again { left }),
            false => Ok(()),
        }
    }

    /// Writes all that decides what comes of each choice, and whether it is right.
    fn view(&self, sent: &[Datagram], text: &mut String) -> fmt::Result {
        let (now, stage) = (self.world.now(), self.stage);
        // How many faults there may be is of no account where each datagram that is left may be one.
        let faults = self.chooser.schedule.left();
        let faults = (faults < self.left()).then_some(faults);
        let step = self.step;
        write!(text, "{now:?} {stage:?} {faults:?} {step} {sent:?}")?;
        self.wire.view(text)?;
        let (actors, contract) = (&self.actors, &self.contract);
        write!(text, "{actors:?} {contract:?}")?;
        write!(text, "{:?} {:?}", self.bindings, self.parting)?;
        for number in 1..=self.scene.script.hosts {
            self.world.watch(number).view(text)?;
            let host = self.world.host(number);
            host.view(text, crate::ChaCha8Rng::get_word_pos)?;
        }
        Ok(())
    }

    /// All applications look at their hosts.
    fn look(&mut self) {
        for number in 1..=self.scene.script.hosts {
            self.hear(number);
            self.dial(number);
            let _ = self.world.host(number).audit();
        }
        self.effort.audits += u64::from(self.scene.script.hosts);
    }

    /// Takes all events of a host.
    fn hear(&mut self, number: u32) {
        while let Some(event) = self.world.poll_event(number) {
            let side = self.actor(number).side;
            self.contract.told(side, event);
            match event {
                Event::Request { peer, .. } => {
                    let known = Known { remote: None };
                    self.actor(number).peers.insert(peer, known);
                    // The peer that asked may have given up meanwhile: then there is none to answer.
                    let _ = self.world.accept(number, peer);
                }
                Event::Connected { peer, address } => self.connected(number, peer, address),
                Event::Disconnected { peer, reason, .. } => self.ended(number, peer, reason),
                Event::Readable { peer } => self.read(number, peer),
                Event::PeerMoved { .. } => {}
                Event::Writable { .. }
                | Event::Receipt { .. }
                | Event::PathNarrowed { .. }
                | Event::PortClosed { .. }
                | _ => panic!("another event: {event:?}"),
            }
        }
    }

    fn connected(&mut self, number: u32, peer: PeerId, address: u32) {
        let known = Known {
            remote: Some(host_at(address)),
        };
        self.actor(number).peers.insert(peer, known);
        if let Some(there) = self.world.host(number).peer(peer) {
            let is_sealed = self.scene.credentials().is_some();
            self.bindings.note(there, Some(is_sealed));
        }
        for &word in self.scene.script.greeting {
            self.send(number, peer, word);
        }
    }

    /// Reads all packets of a peer.
    fn read(&mut self, number: u32, peer: PeerId) {
        let side = self.actor(number).side;
        while let Some(packet) = self.world.host_mut(number).receive(peer) {
            self.contract.received(side, peer, &packet);
        }
        self.contract.has_read(side, peer);
    }

    /// A peer has ended. A connection needs a cause for it.
    fn ended(&mut self, number: u32, peer: PeerId, reason: DisconnectReason) {
        let now = self.world.now();
        let actor = self.actor(number);
        let known = actor.peers.remove(&peer);
        if actor.dials.is_some() {
            actor.dials_at = Some(now + REDIAL);
        }
        let has_left = actor.has_ended;
        let Some(Known {
            remote: Some(remote),
        }) = known
        else {
            return;
        };
        let there = self.actor(remote);
        // A host that asked several is connected with one, and tells the others so.
        let asked_several = there.dials.is_some_and(|dials| dials.len() > 1);
        let chose_another = reason == DisconnectReason::ByPeer(0)
            && asked_several
            && there.connected().all(|(_, to)| to != number);
        let is_explained = has_left || there.has_ended || chose_another;
        assert!(
            is_explained,
            "a connection ended without a cause: {number} {peer:?}, with {remote}, at {now:?}: {reason:?}"
        );
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;

    use super::*;

    /// The state in which each schedule of two datagrams has left its choices behind, what all hosts know at its end,
    /// and how many schedules have come to the same state.
    fn futures(scene: Scene) -> BTreeMap<String, (String, usize)> {
        let mut schedule = Schedule::new(2);
        let mut futures = BTreeMap::new();
        loop {
            // Of this run alone: it does not end early.
            let mut seen = Seen::default();
            let chooser = Chooser {
                schedule: &mut schedule,
                datagrams: 2,
                seen: Some(&mut seen),
            };
            let mut run = Run::new(scene, chooser, false).expect("a good configuration");
            assert_eq!(run.play(), Ok(()));
            assert!(run.has_calmed, "{scene}");
            let mut end = String::new();
            assert_eq!(run.view(&[], &mut end), Ok(()));
            let calm = seen.text().into();
            let before = futures.entry(calm).or_insert_with(|| (end.clone(), 0));
            assert_eq!(before.0, end, "{scene}: one state, and two ends");
            before.1 += 1;
            if !schedule.advance() {
                return futures;
            }
        }
    }

    /// What is compared of two states is all that decides what follows.
    #[test]
    fn from_one_state_all_goes_on_alike() {
        for name in [
            "handshake",
            "crossing-paper",
            "any-crossing-sealed",
            "restart-server",
            "roaming-sealed",
            "goodbyes",
            "wrap-sealed",
            "sentinels",
            "fragments-paper",
        ] {
            let scene = Scene::named(name).expect("a scene");
            let futures = futures(scene);
            assert!(futures.len() < 49, "{name}: no two states are the same");
            let runs: usize = futures.values().map(|(_, runs)| runs).sum();
            assert_eq!(runs, 49, "{name}");
        }
    }
}
