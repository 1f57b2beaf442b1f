//! Two hosts, the datagrams between them, and applications that keep the rules. At the end of each input
//! the network heals, and every promise must be kept.

use core::time::Duration;

use porous_proto::{
    ChannelId, ConfigError, Disconnect, Ecn, Host, Instant, Listen, Peer, PeerId, PeerState,
    SendError,
};
use porous_sim::{ChaCha8Rng, Seed};
use porous_tests::{Kind, kind};

use crate::ops::{Fate, Link, Op, Packets, Policy, Setup, Side};
use crate::{Contract, Wishes};

/// The time from the sending of a datagram to its arrival, unless an operation delivers it before.
const DELAY: Duration = Duration::from_millis(10);
/// The most datagrams under way, both directions together: more are dropped as they are sent.
const UNDER_WAY: usize = 300;
const SECOND: Duration = Duration::from_secs(1);
/// The most seconds from the end of the faults until every promise is kept.
const PATIENCE: u32 = 90;
/// The most datagrams and events of a host in one call, and the most steps of [`Pair::run`]. A host that
/// needs more never comes to rest.
const RESTLESS: usize = 20_000;

#[derive(Clone, Debug)]
struct Datagram {
    /// The side that gets the datagram.
    to: usize,
    /// When the datagram was sent.
    since: Instant,
    bytes: Vec<u8>,
}

/// Two hosts; each has the other at address 0 or 1.
#[derive(Debug)]
pub struct Pair {
    setup: Setup,
    hosts: [Host<ChaCha8Rng, u8>; 2],
    now: Instant,
    under_way: Vec<Datagram>,
    /// True for a side whose application reads packets as they come.
    reading: [bool; 2],
    /// True once the faults are over: from then on requests are accepted.
    healed: bool,
    /// The promises of the hosts, and what happened.
    pub contract: Contract,
    /// A canary: the harness receives every n-th packet and does not report it to the contract.
    pub loses: Option<u32>,
    /// Packets received so far, on both sides.
    received: u32,
}

impl Pair {
    /// Two hosts that have begun to connect.
    ///
    /// # Errors
    ///
    /// None: all values are within their ranges.
    pub fn new(setup: Setup) -> Result<Self, ConfigError> {
        let host = |config, index| Host::new(config, Seed::new(1).stream("host", index));
        let mut pair = Self {
            setup,
            hosts: [
                host(setup.config(Side::A)?, 0),
                host(setup.config(Side::B)?, 1),
            ],
            now: Instant::ZERO,
            under_way: Vec::new(),
            reading: [true; 2],
            healed: false,
            contract: Contract::new(2),
            loses: None,
            received: 0,
        };
        if setup.has_no_order() {
            for side in 0..2 {
                pair.contract.has_no_order(side, 0);
            }
        }
        if setup.both {
            pair.link(1, Link::Connect);
        } else {
            let policy = if setup.asks {
                Policy::Ask
            } else {
                Policy::Open
            };
            pair.link(1, Link::Listen(policy));
        }
        pair.link(0, Link::Connect);
        if setup.begun {
            pair.run(SECOND / 4, true);
            pair.answer(1, true);
            pair.run(SECOND / 4, true);
        }
        Ok(pair)
    }

    /// Applies an operation.
    pub fn apply(&mut self, op: Op) {
        match op {
            Op::Send(side, packets) => self.send(side as usize, packets),
            Op::Receive(side, count) => self.receive(side as usize, count.into()),
            Op::Reading(side, reading) => {
                self.reading[side as usize] = reading;
                if reading {
                    self.receive(side as usize, usize::MAX);
                }
            }
            Op::Link(side, link) if self.setup.links => self.link(side as usize, link),
            Op::Link(..) => {}
            Op::Datagram(which, fate) => self.datagram(which, fate),
            Op::Pass(part) => {
                self.run(Duration::from_millis(u64::from(part) * 3), false);
            }
            Op::Run(part) => self.run(Duration::from_millis(u64::from(part) * 4), true),
        }
        self.poll();
        for host in &self.hosts {
            let _ = host.audit();
        }
    }

    fn newest(&self, side: usize) -> Option<PeerId> {
        let peers = &self.contract.peers[side];
        let mut live = peers.iter().filter(|(_, life)| life.ended.is_none());
        live.next_back().map(|(&peer, _)| peer)
    }

    fn link(&mut self, side: usize, link: Link) {
        let (host, now) = (&mut self.hosts[side], self.now);
        let how = match link {
            Link::Connect => {
                if let Ok(peer) = host.connect(now, if side == 0 { 1 } else { 0 }) {
                    self.contract.begin(side, peer, false);
                }
                return;
            }
            Link::Listen(policy) => {
                let policy = match policy {
                    Policy::Closed => Listen::Closed,
                    Policy::Open => Listen::Open,
                    Policy::Ask => Listen::Ask,
                };
                assert_eq!(host.listen(policy), Ok(()));
                return;
            }
            Link::Answer(yes) => return self.answer(side, yes),
            Link::Disconnect => Disconnect::Now { reason: 1 },
            Link::Flush(eighths) => Disconnect::Flush {
                reason: 2,
                deadline: Duration::from_millis(u64::from(eighths) * 125),
            },
        };
        if let Some(peer) = self.newest(side) {
            assert_eq!(self.hosts[side].disconnect(now, peer, how), Ok(()));
        }
    }

    /// Answers all peers that ask; `yes` lets them in.
    fn answer(&mut self, side: usize, yes: bool) {
        let (host, now) = (&mut self.hosts[side], self.now);
        for (&peer, life) in &mut self.contract.peers[side] {
            if core::mem::take(&mut life.asking) && life.ended.is_none() {
                let answered = match yes {
                    true => host.accept(now, peer),
                    false => host.refuse(now, peer, b"no"),
                };
                assert_eq!(answered, Ok(()));
            }
        }
    }

    fn send(&mut self, side: usize, packets: Packets) {
        let Some(peer) = self.newest(side) else {
            return;
        };
        let channels = self.hosts[side]
            .peer(peer)
            .map_or(0, |peer| peer.channels());
        let channel = packets.channel % channels.max(1);
        // Many long packets would fill the heap, and show no more than a few.
        let count = usize::from(packets.count).min(1 + 50_000 / (packets.len() + 1));
        for _ in 0..count {
            let wishes = wishes(&packets, self.contract.token());
            // A packet that may not come must differ from one that has to, by the number in it.
            let len = packets.len().max(if wishes.may_end() { 4 } else { 0 });
            let packet = self.contract.packet(side, peer, len);
            let id = ChannelId(channel);
            // Some of the short packets are copied: by their length, so that the inputs of the corpus stay
            // what they were. The host decides about a quarter.
            let options = match u8::try_from(packets.len() % 4) {
                Ok(copies @ 1..) => wishes.options().redundancy(copies),
                _ => wishes.options(),
            };
            match self.hosts[side].send(peer, id, packet.clone(), options) {
                Ok(()) => {
                    let to = (side, peer);
                    self.contract.sent(to, channel, wishes, packet, false);
                    if let (true, Some(token)) = (wishes.fickle, wishes.receipt) {
                        self.hosts[side].cancel(peer, id, token);
                    }
                }
                Err(SendError::Full) => {
                    self.contract.begin(side, peer, false).full = true;
                    return;
                }
                Err(SendError::UnknownChannel) => panic!("{channel} of {channels} channels"),
                Err(_) => return,
            }
        }
    }

    /// Takes up to `count` packets, of the peers that were told to have some.
    fn receive(&mut self, side: usize, mut count: usize) {
        let lives = &self.contract.peers[side];
        let readable: Vec<_> = lives.iter().filter(|(_, life)| life.readable).collect();
        let readable: Vec<_> = readable.into_iter().map(|(&peer, _)| peer).collect();
        for peer in readable {
            while count > 0 {
                let Some(packet) = self.hosts[side].receive(peer) else {
                    if let Some(life) = self.contract.peers[side].get_mut(&peer) {
                        life.readable = false;
                    }
                    break;
                };
                count -= 1;
                self.received += 1;
                if self.loses.is_none_or(|every| self.received % every != 0) {
                    self.contract.received(side, peer, &packet);
                }
            }
        }
    }

    fn datagram(&mut self, which: u8, fate: Fate) {
        let Some(index) = usize::from(which).checked_rem(self.under_way.len()) else {
            return;
        };
        match fate {
            Fate::Deliver => {
                let datagram = self.under_way.remove(index);
                self.deliver(&datagram);
            }
            Fate::Duplicate => {
                let datagram = self.under_way[index].clone();
                self.deliver(&datagram);
            }
            Fate::Drop => drop(self.under_way.remove(index)),
            Fate::DropMany => {
                let mut number = 0;
                self.under_way.retain(|_| {
                    number += 1;
                    number % 2 == usize::from(which % 2)
                });
            }
            Fate::Swap(other) => {
                let other = usize::from(other) % self.under_way.len();
                self.under_way.swap(index, other);
            }
            Fate::Damage(at, bits) => {
                // Without a checksum nobody can tell damage from content, and long forms have none.
                let bytes = &mut self.under_way[index].bytes;
                if self.setup.checksum && kind(bytes) == Kind::Short {
                    let at = usize::from(at) % bytes.len();
                    bytes[at] ^= bits;
                }
            }
        }
    }

    fn deliver(&mut self, datagram: &Datagram) {
        let from = if datagram.to == 0 { 1 } else { 0 };
        let host = &mut self.hosts[datagram.to];
        host.handle_datagram(self.now, from, Ecn::NotEct, &datagram.bytes);
    }

    /// Does what a driver and an application do after any event.
    fn poll(&mut self) {
        let mut buf = [0; 1200];
        for side in 0..2 {
            let mut calls = 0..RESTLESS;
            while let Some(transmit) = self.hosts[side].poll_transmit(self.now, &mut buf) {
                assert!(calls.next().is_some(), "datagrams without end");
                assert_eq!(usize::from(transmit.to), 1 - side);
                if self.under_way.len() < UNDER_WAY {
                    self.under_way.push(Datagram {
                        to: 1 - side,
                        since: self.now,
                        bytes: transmit.datagram.to_vec(),
                    });
                }
            }
            while let Some(event) = self.hosts[side].poll_event() {
                assert!(calls.next().is_some(), "events without end");
                self.contract.told(side, event);
            }
            if self.healed {
                self.answer(side, true);
            }
            // The packets of a peer that has ended go with it when the host forgets it: an application that
            // does not read would lose them, and the contract would blame the host.
            let ended = self.contract.peers[side]
                .values()
                .any(|life| life.readable && life.ended.is_some());
            if self.reading[side] || ended {
                self.receive(side, usize::MAX);
            }
        }
    }

    /// Lets time pass, from one event to the next. Datagrams arrive if `arrive` is true, and stay under
    /// way otherwise.
    fn run(&mut self, time: Duration, arrive: bool) {
        let end = self.now + time;
        for _ in 0..RESTLESS {
            self.poll();
            let due = self.hosts.iter().filter_map(Host::poll_timeout).min();
            let arrival = self
                .under_way
                .iter()
                .map(|datagram| datagram.since + DELAY)
                .min();
            let next = due.into_iter().chain(arrival.filter(|_| arrive)).min();
            let Some(next) = next.filter(|&next| next <= end) else {
                self.now = end;
                self.hosts
                    .iter_mut()
                    .for_each(|host| host.handle_timeout(end));
                return;
            };
            self.now = self.now.max(next);
            if arrive {
                let before = |datagram: &Datagram| datagram.since + DELAY <= self.now;
                let under_way = core::mem::take(&mut self.under_way);
                let (arrived, rest): (Vec<_>, _) = under_way.into_iter().partition(before);
                self.under_way = rest;
                arrived.iter().for_each(|datagram| self.deliver(datagram));
            }
            let now = self.now;
            self.hosts
                .iter_mut()
                .for_each(|host| host.handle_timeout(now));
        }
        panic!("the hosts do not come to rest");
    }

    /// The network heals and the applications read: every promise must be kept.
    ///
    /// # Panics
    ///
    /// If a promise is broken, or not kept 90 s later.
    pub fn heal(&mut self) {
        (self.reading, self.healed) = ([true; 2], true);
        for side in 0..2 {
            self.receive(side, usize::MAX);
        }
        // The result of the last look, and the number of good looks in a row.
        let (mut settled, mut since) = (Ok(()), 0);
        for _ in 0..PATIENCE {
            self.run(SECOND, true);
            settled = self.check();
            since = if settled.is_ok() { since + 1 } else { 0 };
            // One good look is no proof. Datagrams from before the end of the faults may have connected
            // each host to an attempt that the other had given up; then both are told soon.
            if since > 3 {
                return;
            }
        }
        panic!("not settled for {since} s: {settled:?}");
    }

    /// Checks that both sides owe nothing, and are connected to each other or not at all.
    fn check(&self) -> Result<(), String> {
        if self.check_side(0)? == self.check_side(1)? {
            Ok(())
        } else {
            Err("one is connected to nobody".into())
        }
    }

    /// Checks that the peers of a side are connected and owe nothing. Returns their number.
    fn check_side(&self, side: usize) -> Result<usize, String> {
        let mut alive = 0;
        for (&id, life) in &self.contract.peers[side] {
            let lack = |what: &str| {
                let stats = self.hosts[side].peer(id).map(Peer::stats);
                let others = self.hosts[1 - side].stats();
                Err(format!(
                    "{what}; side {side}, {id:?}, {stats:?}; the other: {others:?}"
                ))
            };
            if let Some((_, undelivered)) = life.ended {
                // A peer that counts packets as undelivered may have lost them. If it counts none, all were
                // acknowledged.
                if undelivered == 0 && life.connected && !life.sent.is_complete() {
                    return lack("acknowledged, but not delivered");
                }
                continue;
            }
            let Some(peer) = self.hosts[side].peer(id) else {
                return lack("gone without an end");
            };
            match (peer.state(), life.connected) {
                (PeerState::Connected, true) => {}
                _ => return lack("neither connected nor ended"),
            }
            if (peer.queued_bytes(), peer.stats().flight) != (0, 0) {
                return lack("still sending");
            }
            if life.full {
                return lack("`Writable` was not told");
            }
            if !life.sent.is_complete() {
                return lack("a reliable packet is missing");
            }
            alive += 1;
        }
        if alive > 1 {
            return Err(format!("{alive} connections of {side} to one address"));
        }
        Ok(alive)
    }
}

/// The options of packets, by their length: so that the inputs of the corpus stay what they were.
fn wishes(packets: &Packets, token: u64) -> Wishes {
    let len = packets.len() as u64;
    let receipt = (len % 3 == 1).then_some(token);
    Wishes {
        mode: packets.mode(),
        ttl: (len % 5 == 2).then(|| Duration::from_millis(1 + len % 700)),
        receipt,
        fickle: receipt.is_some() && len % 7 == 0,
        key: None,
    }
}
