//! The applications: they read, answer, connect and send.

use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::{ChannelId, Disconnect, Event, Mode, PeerId, PeerState, SendError};

use super::actor::{Meta, Pattern};
use super::checks::Trial;
use super::contract::{NAMED, Wishes};
use super::draw::Draw;
use super::heal::Phase;
use super::journal::Whom;
use super::stage::{Stage, micros};

/// Addresses where there is never a host, and which no stranger uses.
const UNUSED: u32 = 6_000_000;

/// The most time from the change of a long form to the end of the handshake that it belongs to.
const HANDSHAKE: Duration = Duration::from_secs(25);

impl Stage {
    /// An application looks at its host.
    pub(super) fn look(&mut self, index: usize) {
        let now = self.world.now();
        self.hear(index);
        // After the events: `Readable` says which peers there is something to read from.
        if self.actors[index].reads_at <= now {
            self.read(index, |_| true);
        }
        if self.phase != Phase::Still {
            self.dial(index);
            let actor = &mut self.actors[index];
            if actor.pattern.until <= now {
                actor.pattern = Pattern::draw(&mut actor.draw, now, self.plan.heavy);
            }
            if actor.pattern.count > 0 {
                self.talk(index);
            }
        }
        self.check(index);
        self.judge();
    }

    /// Takes all events of a host.
    pub(super) fn hear(&mut self, index: usize) {
        let address = self.actors[index].address;
        while let Some(event) = self.world.poll_event(address) {
            self.note_damage();
            let side = self.actors[index].side;
            self.contract.told(side, event);
            match event {
                Event::Request { peer, address } => {
                    self.meet(index, peer, address);
                    self.read_greeting(index, peer);
                    self.answer(index, peer);
                }
                Event::Connected { peer, address } => self.connected(index, peer, address),
                Event::Disconnected { peer, .. } => self.ended(index, peer),
                Event::Readable { .. } | Event::Writable { .. } | Event::Receipt { .. } => {}
                Event::PeerMoved { .. } => self.report.fault("clients that were followed", 1),
                Event::PathNarrowed { .. } => self.report.fault("paths found narrow", 1),
                Event::PortClosed { .. } | _ => panic!("another event: {event:?}"),
            }
        }
    }

    /// The notes on a peer, with the host at this address.
    fn meet(&mut self, index: usize, peer: PeerId, address: u32) -> &mut Meta {
        let remote = self.who.get(&address).copied();
        let remote = remote.unwrap_or_else(|| panic!("a peer at {address}, where nobody is"));
        let meta = Meta {
            remote,
            since: None,
            left: false,
        };
        self.actors[index].peers.entry(peer).or_insert(meta)
    }

    fn connected(&mut self, index: usize, peer: PeerId, address: u32) {
        let now = self.world.now();
        let remote = self.who.get(&address).copied();
        let meta = self.meet(index, peer, address);
        meta.since = Some(now);
        // The peer may have been looked for at several addresses.
        meta.remote = remote.unwrap_or(meta.remote);
        let remote = meta.remote;
        let pair = (index.min(remote), index.max(remote));
        let tainted = self.tainted.get(&pair).is_some_and(|&until| until >= now);
        let judged = (self.plan.judged || self.phase.is_healed()) && !tainted;
        let side = self.actors[index].side;
        if let Some(life) = self.contract.peers[side].get_mut(&peer) {
            life.judged &= judged;
        }
        self.read_greeting(index, peer);
        self.report.established += 1;
        // Of two hosts the one with the higher number asks, but where none seals.
        let asked = (index > remote).then(|| self.plan.roles[index].sealing.is_some());
        if let Some(peer) = self.world.host(self.actors[index].address).peer(peer) {
            self.bindings.note(peer, asked);
            let is_sealed = peer.secured().is_some();
            self.report.sealed += u64::from(is_sealed);
        }
    }

    /// Takes the greeting of the other host. The greeting is known when the application is asked, or
    /// told of the connection, and does not change.
    fn read_greeting(&mut self, index: usize, peer: PeerId) {
        let actor = &self.actors[index];
        let Some(there) = self.world.host(actor.address).peer(peer) else {
            return; // the peer has ended meanwhile
        };
        let (said, patience) = (there.greeting().to_vec(), there.remote_timeout());
        let role = actor
            .peers
            .get(&peer)
            .map(|meta| &self.plan.roles[meta.remote]);
        if let Some(life) = self.contract.peers[actor.side].get_mut(&peer) {
            let told = role.map(|role| role.timeout);
            let has_ended = matches!(there.state(), PeerState::Disconnected | PeerState::Zombie);
            let is_right = patience == told || has_ended;
            assert!(!life.judged || is_right, "{patience:?}, not {told:?}");
            let before = life.greeted.replace(said.clone());
            assert!(before.is_none_or(|before| before == said), "it has changed");
        }
    }

    fn ended(&mut self, index: usize, peer: PeerId) {
        let (now, side) = (self.world.now(), self.actors[index].side);
        // Packets that have come are read as long as the peer is remembered.
        self.read(index, |other| other == peer);
        let Some(meta) = self.actors[index].peers.remove(&peer) else {
            return;
        };
        let at = self.ended.get(&(side, peer)).copied().unwrap_or(now);
        self.journal.end(index, meta.remote, at);
        if let Some(since) = meta.since {
            self.report.connected += micros(now.saturating_duration_since(since));
        }
        let (own, left) = (index, meta.left);
        self.trials.push(Trial {
            own,
            side,
            peer,
            remote: meta.remote,
            at,
            left,
        });
    }

    /// Long forms between two hosts were changed: they may agree on other values than they said, and
    /// nothing is certain about connections that begin then.
    pub(super) fn taint(&mut self, a: usize, b: usize) {
        let now = self.world.now();
        self.tainted.insert((a.min(b), a.max(b)), now + HANDSHAKE);
        for (own, remote) in [(a, b), (b, a)] {
            let actor = &self.actors[own];
            for (peer, meta) in actor.peers.iter().filter(|(_, meta)| meta.remote == remote) {
                let is_old = meta.since.is_some_and(|since| since + HANDSHAKE < now);
                if let Some(life) = self.contract.peers[actor.side].get_mut(peer) {
                    life.judged &= is_old;
                }
            }
        }
    }

    fn answer(&mut self, index: usize, peer: PeerId) {
        let address = self.actors[index].address;
        let yes = self.phase.is_healed() || self.actors[index].draw.often(85);
        // The peer that asked may have given up meanwhile: then there is none to answer.
        if yes {
            let _ = self.world.accept(address, peer);
        } else {
            self.leave(index, peer);
            let _ = self.world.refuse(address, peer, b"no");
        }
        self.contract.answered(self.actors[index].side, peer);
    }

    /// The application ends a connection, or refuses it.
    pub(super) fn leave(&mut self, index: usize, peer: PeerId) {
        let now = self.world.now();
        if let Some(meta) = self.actors[index].peers.get_mut(&peer) {
            meta.left = true;
            self.journal.end(index, meta.remote, now);
        }
    }

    /// The application disconnects a peer.
    pub(super) fn disconnect(&mut self, index: usize, peer: PeerId, how: Disconnect) {
        let address = self.actors[index].address;
        // The end may be known already, and not told yet.
        if self.world.disconnect(address, peer, how).is_ok() {
            self.leave(index, peer);
        }
    }

    /// Reads some of the peers that have packets.
    pub(super) fn read(&mut self, index: usize, which: impl Fn(PeerId) -> bool) {
        let (address, side) = (self.actors[index].address, self.actors[index].side);
        let lives = &self.contract.peers[side];
        let known = self.actors[index].peers.keys().copied();
        let readable = |peer: &PeerId| lives.get(peer).is_some_and(|life| life.readable);
        let peers: Vec<PeerId> = known
            .filter(|peer| which(*peer) && readable(peer))
            .collect();
        for peer in peers {
            while let Some(packet) = self.world.host_mut(address).receive(peer) {
                self.contract.received(side, peer, &packet);
            }
            self.contract.has_read(side, peer);
        }
    }

    /// Connects to each host of its role to which it is not connected.
    fn dial(&mut self, index: usize) {
        let now = self.world.now();
        if self.actors[index].dials_at > now {
            return;
        }
        let pause = if self.phase.is_healed() { 600 } else { 4000 };
        let pause = self.actors[index].draw.millis(100, pause);
        self.actors[index].dials_at = now + pause;
        for target in self.plan.roles[index].dials.clone() {
            let actor = &self.actors[index];
            let met = actor.peers.values().any(|meta| meta.remote == target);
            if met || !self.actors[target].alive {
                continue;
            }
            let address = actor.address;
            let places = self.places(index, target);
            let turn = self.actors[index].attempts;
            let greetings = &self.plan.roles[index].greetings;
            let greeting = greetings[turn % greetings.len()].clone();
            let begun = match self.plan.roles[index].sealing {
                Some(sealing) => {
                    let with = sealing.credentials(&greeting);
                    self.world.connect_sealed(address, &places, &with)
                }
                None => self.world.connect_with(address, &places, &greeting),
            };
            if let Ok(peer) = begun {
                self.actors[index].attempts += 1;
                let life = self.contract.begin(self.actors[index].side, peer, false);
                life.greets = greeting;
                self.meet(index, peer, self.actors[target].public);
            }
        }
    }

    /// The addresses where a host is looked for: its own, and perhaps an unused one, or that of another
    /// host, with which a connection may then come about instead.
    fn places(&mut self, index: usize, target: usize) -> Vec<u32> {
        let mut places = alloc::vec![self.actors[target].public];
        if self.phase.is_healed() || !self.elsewhere.often(40) {
            return places;
        }
        self.report.fault("attempts at several addresses", 1);
        if self.elsewhere.often(60) {
            let unused = u32::try_from(self.elsewhere.below(20)).unwrap_or(0);
            places.insert(0, UNUSED + unused);
        }
        let others = self.plan.roles[index].dials.clone();
        let other = self.elsewhere.pick(&others);
        if self.elsewhere.often(50) && self.actors[other].alive {
            let now = self.world.now();
            places.push(self.actors[other].public);
            for met in [target, other] {
                // One of the two is told that its attempt has failed.
                let pair = Whom::Between(index, met);
                self.journal.disturb(pair, now, now + HANDSHAKE);
            }
        }
        places
    }

    /// Sends packets to all peers, as the pattern says.
    fn talk(&mut self, index: usize) {
        let pattern = self.actors[index].pattern;
        let peers: Vec<PeerId> = self.live(index).collect();
        for peer in peers {
            if self.actors[index].draw.often(2) {
                self.cap(index, peer);
            }
            for _ in 0..pattern.count {
                let draw = &mut self.actors[index].draw;
                let mode = [Mode::Unreliable, Mode::Reliable, Mode::Passive];
                let any = draw.pick(&mode);
                let mode = pattern.mode.unwrap_or(any);
                let size = match draw.below(100) {
                    0..5 => 0,
                    n if n < 5 + pattern.large => u64::MAX,
                    n if n < 15 + pattern.large => draw.log(1, 1 << 20),
                    _ => draw.log(1, 300),
                };
                if !self.send(index, peer, mode, size, true) {
                    break;
                }
            }
        }
    }

    /// Changes the cap of a channel, so that what waits still leaves soon.
    fn cap(&mut self, index: usize, peer: PeerId) {
        // A twentieth a second: then the backlog leaves in twenty seconds.
        let slowest = self.plan.roles[index].backlog / 20 + 1;
        let address = self.actors[index].address;
        let draw = &mut self.actors[index].draw;
        let rate = u32::try_from(draw.log(slowest, 1 << 32)).unwrap_or(u32::MAX);
        let channel = u8::try_from(draw.below(8)).unwrap_or(0);
        let host = self.world.host_mut(address);
        // There may be fewer channels, and the peer may have ended.
        let changed = host.set_channel_rate(peer, ChannelId(channel), rate);
        self.report.fault("other caps", u64::from(changed.is_ok()));
        self.change_rates(index, peer);
    }

    /// Changes the rate to a peer, the rate from it, or the host's cap, so that what waits still leaves
    /// soon.
    fn change_rates(&mut self, index: usize, peer: PeerId) {
        let hosts = self.actors.len() as u64;
        let slowest = (self.plan.roles[index].backlog / 20).max(5000);
        let actor = &mut self.actors[index];
        let host = self.world.host_mut(actor.address);
        let mut draw = |low| u32::try_from(actor.rates.log(low, 1 << 32)).unwrap_or(u32::MAX);
        let (rate, shared) = (draw(slowest), draw(slowest * hosts));
        // The peer may have ended.
        let (kind, changed) = match actor.rates.below(3) {
            0 => (
                "other rates to peers",
                host.set_send_rate(peer, rate).is_ok(),
            ),
            1 => (
                "other rates from peers",
                host.set_receive_rate(peer, rate).is_ok(),
            ),
            _ => {
                host.set_host_send_rate(shared);
                (actor.cap, actor.meter) = (shared, None);
                ("other rates of hosts", true)
            }
        };
        self.report.fault(kind, u64::from(changed));
    }

    /// The peers to which a host is connected.
    pub(super) fn live(&self, index: usize) -> impl Iterator<Item = PeerId> {
        let actor = &self.actors[index];
        let connected = actor
            .peers
            .iter()
            .filter(|(_, meta)| meta.since.is_some() && !meta.left);
        connected.map(|(&peer, _)| peer)
    }

    /// Sends a packet of this size, or of the largest possible, with options that are drawn. If `bounded` is true,
    /// only if what waits is delivered soon once the network heals. False if there is no room.
    pub(super) fn send(
        &mut self,
        index: usize,
        peer: PeerId,
        mode: Mode,
        size: u64,
        bounded: bool,
    ) -> bool {
        // `Writable` must not be told after the room was used up again.
        self.hear(index);
        let Some(known) = self.world.host(self.actors[index].address).peer(peer) else {
            return false;
        };
        let (channels, max, queued) = (known.channels(), known.max_packet(), known.queued_bytes());
        if channels == 0 {
            return false;
        }
        let len = usize::try_from(size).unwrap_or(max).min(max);
        if bounded && queued + len > self.backlog(index, peer) {
            return false;
        }
        let actor = &mut self.actors[index];
        let channel = u8::try_from(actor.draw.below(channels.into())).unwrap_or(0);
        // Half of all packets are copied for sure, and a third if the host finds that they should be.
        let copies = actor.draw.below(6).checked_sub(2);
        let copies = copies.and_then(|copies| u8::try_from(copies).ok());
        let wishes = wishes(&mut actor.draw, mode, self.contract.token());
        let wishes = keyed(&mut actor.keys, wishes, (channel, self.contract.token()));
        let fickle = wishes.fickle.then(|| actor.draw.often(50));
        let to = (peer, channel);
        let is_accepted = self.submit(index, to, (wishes, copies), len);
        if is_accepted {
            self.cancel(index, to, wishes.receipt, fickle);
        }
        is_accepted
    }

    /// Sends a packet that is not given up. False if there is no room.
    pub(super) fn send_plain(
        &mut self,
        index: usize,
        peer: PeerId,
        mode: Mode,
        len: usize,
    ) -> bool {
        self.hear(index);
        let Some(known) = self.world.host(self.actors[index].address).peer(peer) else {
            return false;
        };
        let len = len.min(known.max_packet());
        let channels = known.channels().max(1);
        let channel = self.actors[index].draw.below(channels.into());
        let channel = u8::try_from(channel).unwrap_or(0);
        self.submit(index, (peer, channel), (mode.into(), None), len)
    }

    /// Hands a packet of about `len` bytes over to a host, with this number of copies if it is given. False if the
    /// host does not take it.
    fn submit(
        &mut self,
        index: usize,
        (peer, channel): (PeerId, u8),
        (wishes, copies): (Wishes, Option<u8>),
        len: usize,
    ) -> bool {
        let (address, side) = (self.actors[index].address, self.actors[index].side);
        let host = self.world.host_mut(address);
        let (max, before) = host.peer(peer).map_or((0, 0), |known| {
            (known.max_packet(), known.stats().packets_replaced)
        });
        // A packet that may not come must differ from one that has to.
        let may_miss = wishes.may_end() || wishes.key.is_some();
        let len = if may_miss { len.max(NAMED) } else { len };
        let packet = self.contract.packet(side, peer, len);
        if packet.len() > max {
            return false; // a handshake that was damaged, and no room for a number
        }
        let mut options = wishes.options();
        if let Some(copies) = copies {
            options = options.redundancy(copies);
        }
        match host.send(peer, ChannelId(channel), packet.clone(), options) {
            Ok(()) => {
                let after = host.peer(peer).map(|known| known.stats().packets_replaced);
                let replaces = after > Some(before);
                self.report.fault("states replaced", u64::from(replaces));
                let to = (side, peer);
                self.contract.sent(to, channel, wishes, packet, replaces);
                true
            }
            Err(SendError::Full) => {
                if let Some(life) = self.contract.peers[side].get_mut(&peer) {
                    life.full = true;
                }
                self.report.fault("full queues", 1);
                false
            }
            Err(SendError::NotConnected | SendError::Disconnecting | SendError::UnknownPeer) => {
                false
            }
            Err(error) => panic!("{error}: {len} bytes on channel {channel}"),
        }
    }

    /// Cancels a packet that was sent just now, or the one that was to be cancelled later.
    fn cancel(
        &mut self,
        index: usize,
        at: (PeerId, u8),
        token: Option<u64>,
        at_once: Option<bool>,
    ) {
        let (Some(token), Some(at_once)) = (token, at_once) else {
            return;
        };
        let actor = &mut self.actors[index];
        let cancelled = if at_once {
            Some((at, token))
        } else {
            actor.regretted.replace((at, token))
        };
        if let Some(((peer, channel), token)) = cancelled {
            let host = self.world.host_mut(actor.address);
            host.cancel(peer, ChannelId(channel), token);
        }
    }

    /// The most bytes that may wait for a peer, so that they leave within a minute over a good line.
    pub(super) fn backlog(&self, index: usize, peer: PeerId) -> usize {
        let remote = self.actors[index]
            .peers
            .get(&peer)
            .map_or(index, |meta| meta.remote);
        let roles = [&self.plan.roles[index], &self.plan.roles[remote]];
        let slowest = roles
            .map(|role| role.backlog)
            .into_iter()
            .min()
            .unwrap_or(0);
        usize::try_from(slowest).unwrap_or(usize::MAX)
    }
}

/// The options of a packet of this mode.
fn wishes(draw: &mut Draw, mode: Mode, token: u64) -> Wishes {
    let receipt = draw.often(30).then_some(token);
    Wishes {
        mode,
        ttl: draw.often(15).then(|| draw.millis(10, 3000)),
        receipt,
        fickle: receipt.is_some() && draw.often(20),
        key: None,
    }
}

/// The options of a packet of this channel, perhaps with a key. States are cancelled more often than others, as much
/// may be wrong with those before them.
fn keyed(draw: &mut Draw, wishes: Wishes, (channel, token): (u8, u64)) -> Wishes {
    if !draw.often(20) {
        return wishes;
    }
    let receipt = draw.often(60).then_some(token);
    Wishes {
        receipt: wishes.receipt.or(receipt),
        fickle: wishes.fickle || receipt.is_some() && draw.often(30),
        key: Some(draw.below(2 + u64::from(channel % 2))),
        ..wishes
    }
}
