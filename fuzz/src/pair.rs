//! Two hosts, the datagrams between them, and applications that keep to the rules.

use core::time::Duration;

use porous_proto::{
    ChannelId, ConfigError, Disconnect, Ecn, Host, Instant, Listen, PeerId, PeerState, SendError,
};
use porous_sim::{ChaCha8Rng, Seed};
use porous_tests::{Kind, kind};

use crate::Contract;
use crate::ops::{Fate, Link, Op, Packets, Setup};

/// How long a datagram takes, when it may.
const DELAY: Duration = Duration::from_millis(10);
/// Datagrams without a checksum must not be later than this (`docs/wire.md`, "Integrity").
const LATENESS: Duration = Duration::from_millis(1900);
/// More than that is not under way.
const UNDER_WAY: usize = 300;
/// So much time must be enough for everything.
const PATIENCE: Duration = Duration::from_secs(90);
/// A host that has more to do than this within one call or one instant does not come to rest.
const RESTLESS: usize = 20_000;

#[derive(Clone, Debug)]
struct Datagram {
    to: usize,
    since: Instant,
    bytes: Vec<u8>,
}

/// Two hosts, which are each other's address 0 and 1.
#[derive(Debug)]
pub struct Pair {
    setup: Setup,
    hosts: [Host<ChaCha8Rng, u8>; 2],
    now: Instant,
    under_way: Vec<Datagram>,
    reading: [bool; 2],
    /// What was promised, and what happened.
    pub contract: Contract,
    /// A canary: every so many packets the harness takes one and tells nobody.
    pub loses: Option<u32>,
    received: u32,
}

impl Pair {
    /// Two hosts that have begun to connect.
    ///
    /// # Errors
    ///
    /// None: all values are within their ranges.
    pub fn new(setup: Setup) -> Result<Self, ConfigError> {
        let config = setup.config()?;
        let host = |index| Host::new(config.clone(), Seed::new(1).stream("host", index));
        let mut pair = Self {
            setup,
            hosts: [host(0), host(1)],
            now: Instant::ZERO,
            under_way: Vec::new(),
            reading: [true; 2],
            contract: Contract::default(),
            loses: None,
            received: 0,
        };
        if setup.both {
            pair.link(1, Link::Connect);
        } else {
            pair.link(1, Link::Listen(true));
        }
        pair.link(0, Link::Connect);
        Ok(pair)
    }

    /// Does it.
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
            Op::Pass(eighths) => {
                self.run(Duration::from_millis(u64::from(eighths) * 12), false);
            }
            Op::Run(eighths) => self.run(Duration::from_millis(u64::from(eighths) * 4), true),
        }
        self.poll();
    }

    fn newest(&self, side: usize) -> Option<PeerId> {
        let peers = &self.contract.peers[side];
        let live = peers.iter().filter(|(_, life)| life.ended.is_none());
        live.last().map(|(&peer, _)| peer)
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
            Link::Listen(open) => {
                let policy = if open { Listen::Open } else { Listen::Closed };
                assert_eq!(host.listen(policy), Ok(()));
                return;
            }
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

    fn send(&mut self, side: usize, packets: Packets) {
        let Some(peer) = self.newest(side) else {
            return;
        };
        let channels = self.hosts[side]
            .peer(peer)
            .map_or(0, |peer| peer.channels());
        let channel = packets.channel % channels.max(1);
        // Many long packets would take the heap, and show nothing that some do not.
        let count = usize::from(packets.count).min(1 + 50_000 / (packets.len() + 1));
        for _ in 0..count {
            let packet = self.contract.packet(side, packets.len());
            let (id, mode) = (ChannelId(channel), packets.mode());
            match self.hosts[side].send(peer, id, packet.clone(), mode) {
                Ok(()) => self.contract.sent(side, peer, channel, mode, packet),
                Err(SendError::Full) => {
                    self.contract.begin(side, peer, false).full = true;
                    return;
                }
                Err(SendError::UnknownChannel) => panic!("{channel} of {channels} channels"),
                Err(_) => return,
            }
        }
    }

    /// Takes up to so many packets, of the peers that were told to have some.
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
                    self.contract.received(side, peer, packet);
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
                let bytes = &mut self.under_way[index].bytes;
                if self.setup.checksum && kind(bytes) == Kind::Short {
                    let at = usize::from(at) % bytes.len();
                    bytes[at] ^= bits;
                }
            }
        }
    }

    fn deliver(&mut self, datagram: &Datagram) {
        let late = self.now.saturating_duration_since(datagram.since) > LATENESS;
        if self.setup.checksum || !late {
            let from = if datagram.to == 0 { 1 } else { 0 };
            let host = &mut self.hosts[datagram.to];
            host.handle_datagram(self.now, from, Ecn::NotEct, &datagram.bytes);
        }
    }

    /// What a driver and an application do after anything happened.
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
            // Whoever has ended is read while it is remembered.
            let ended = self.contract.peers[side]
                .values()
                .any(|life| life.readable && life.ended.is_some());
            if self.reading[side] || ended {
                self.receive(side, usize::MAX);
            }
        }
    }

    /// Lets time pass, from one thing that happens to the next.
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

    /// The network heals and the applications read: all that was promised must come true.
    pub fn heal(&mut self) {
        self.reading = [true; 2];
        for side in 0..2 {
            self.receive(side, usize::MAX);
        }
        for _ in 0..90 {
            self.run(PATIENCE / 90, true);
        }
        let alive = [0, 1].map(|side| self.check_side(side));
        assert_eq!(alive[0], alive[1], "one is connected to nobody");
    }

    /// How many peers are connected. They owe nothing, and nobody else is there.
    fn check_side(&self, side: usize) -> usize {
        let mut alive = 0;
        for (&id, life) in &self.contract.peers[side] {
            let context = format!("{side} {id:?}");
            if let Some((_, undelivered)) = life.ended {
                let all = undelivered > 0 || !life.connected || life.sent.is_complete();
                assert!(all, "acknowledged, but not delivered; {context}");
                continue;
            }
            let peer = self.hosts[side]
                .peer(id)
                .expect("who has not ended is there");
            assert_eq!(
                (peer.state(), life.connected),
                (PeerState::Connected, true),
                "{context}"
            );
            assert_eq!(
                (peer.queued_bytes(), peer.stats().flight),
                (0, 0),
                "{context}"
            );
            assert!(!life.full, "`Writable` was not told; {context}");
            assert!(
                life.sent.is_complete(),
                "a reliable packet is missing; {context}"
            );
            alive += 1;
        }
        assert!(alive <= 1, "{alive} connections to one address");
        alive
    }
}
