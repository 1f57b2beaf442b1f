//! The faults are over: the network is good, clocks are steady, applications read and connect. Now
//! every promise has to be kept, within bounds.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::{Disconnect, DisconnectReason, Instant, Mode, PeerId, PeerState, PeerStats};

use super::stage::Stage;
use crate::Intercept;

const SECOND: Duration = Duration::from_secs(1);

/// Datagrams sent before must be out of the network before a connection without a checksum begins.
const DRAIN: Duration = Duration::from_secs(8);

/// In seconds: half a connection times out after at most 20 s, a fruitless attempt after 10 s, and what
/// waits to be sent leaves within a minute.
const PATIENCE: u32 = 120;

/// A peer that has ended is remembered for 30 s, by clocks that were 5 % wrong.
const LINGER: Duration = Duration::from_secs(34);

/// In seconds: unreliable packets that came in part are given up after 2 s, those that wait after 5 s.
const REST: u32 = 30;

/// Datagrams a second, one way, on a connection that has nothing to send: ten pings, ten answers,
/// and acknowledgements of these.
const IDLE: u64 = 34;

impl Stage {
    /// From the end of the faults to the end of the run.
    pub(super) fn heal(&mut self) {
        self.recover();
        self.wait(PATIENCE, "deliver", Self::settled);
        // Whatever was delivered, all connections work, and their two ends belong together.
        for index in 0..self.actors.len() {
            self.hear(index);
            let peers: Vec<PeerId> = self.live(index).collect();
            for (peer, mode) in peers.iter().flat_map(|&peer| {
                [Mode::Reliable, Mode::Unreliable, Mode::Passive].map(|mode| (peer, mode))
            }) {
                self.send(index, peer, mode, 9, false);
            }
        }
        self.wait(PATIENCE, "deliver more", Self::settled);
        self.still = true;
        self.wait(REST, "come to rest", Self::rests);
        self.stay_quiet();
        self.part();
        self.check_strangers();
    }

    /// Waits until every host is connected and every packet delivered.
    fn recover(&mut self) {
        let calm = self.journal.calm_at().max(self.world.now() + DRAIN);
        self.heal_links();
        self.healed = true;
        for index in 0..self.actors.len() {
            let address = self.actors[index].address;
            self.actors[index].reads_at = Instant::ZERO;
            self.world.set_clock_drift(address, 0);
            self.world.set_socket_buffer(address, 1 << 20);
            self.listen(index);
            self.drop_doubtful(index);
            // Nothing is sent from now on, and applications read in time.
            let quiet = super::actor::Pattern::quiet(Instant::from_micros(u64::MAX), SECOND / 10);
            self.actors[index].pattern = quiet;
            self.actors[index].dials_at = calm;
        }
        self.run_until(Instant::from_micros(calm.as_micros() - 1));
        // Datagrams that were changed on their way have arrived by now, or never will.
        self.tainted.clear();
        (0..self.actors.len()).for_each(|index| self.drop_doubtful(index));
    }

    /// Ends connections that were not judged, and those that may have begun with changed bytes.
    fn drop_doubtful(&mut self, index: usize) {
        let lives = &self.contract.peers[self.actors[index].side];
        let all = !self.plan.judged;
        let unsure = |peer: &PeerId| {
            let life = lives.get(peer);
            all || life.is_some_and(|life| !life.judged || !life.connected)
        };
        let peers = self.actors[index].peers.keys().copied();
        let doubtful: Vec<PeerId> = peers.filter(unsure).collect();
        for peer in doubtful {
            self.disconnect(index, peer, Disconnect::Now { reason: 0 });
        }
    }

    /// Waits until `holds` is true, for at most `seconds` seconds.
    fn wait(&mut self, seconds: u32, what: &str, holds: fn(&Self) -> Result<(), String>) {
        let mut lack = Ok(());
        for _ in 0..seconds {
            lack = holds(self);
            if lack.is_ok() {
                return;
            }
            self.run_until(self.world.now() + SECOND);
        }
        if let Err(lack) = lack {
            panic!("it does not {what} in {seconds} s on a good network: {lack}");
        }
    }

    /// Checks that all hosts are connected as wanted, and all packets have been delivered.
    fn settled(&self) -> Result<(), String> {
        for (index, actor) in self.actors.iter().enumerate() {
            for &target in &self.plan.roles[index].dials {
                let mut ways = actor.peers.values().filter(|meta| meta.remote == target);
                let established = ways.clone().any(|meta| meta.since.is_some());
                if !established || ways.nth(1).is_some() {
                    return Err(format!(
                        "{} is not connected to host {target}",
                        actor.address
                    ));
                }
            }
            for (&peer, meta) in &actor.peers {
                self.is_settled(index, peer, meta.remote)?;
            }
        }
        Ok(())
    }

    fn is_settled(&self, index: usize, peer: PeerId, remote: usize) -> Result<(), String> {
        let (actor, address) = (&self.actors[index], self.actors[index].address);
        let life = &self.contract.peers[actor.side][&peer];
        let Some(known) = self.world.host(address).peer(peer) else {
            return Err(format!("{address} {peer:?} is gone without an end"));
        };
        let lack = |what: &str| {
            let stats = known.stats();
            let judged = life.judged;
            Err(format!(
                "{address} {peer:?} with host {remote} {what}: {judged} {stats:?}"
            ))
        };
        if known.state() != PeerState::Connected {
            return lack("is not connected");
        }
        // The model is not told of packets on a connection that may have begun with changed bytes.
        if life.judged && !life.sent.is_complete() {
            return lack("has sent what was not delivered");
        }
        if known.queued_bytes() > 0 {
            return lack("is still sending");
        }
        if life.full {
            return lack("was not told of room");
        }
        let back = self.actors[remote]
            .peers
            .values()
            .filter(|meta| meta.remote == index);
        if back.count() != 1 {
            return lack("is not known there, or twice");
        }
        Ok(())
    }

    /// True if a host has thrown out packets that came from another host.
    fn made_room(&self, index: usize, from: usize) -> bool {
        let actor = &self.actors[index];
        let mut ways = actor.peers.iter().filter(|(_, meta)| meta.remote == from);
        ways.any(|(&peer, _)| {
            let known = self.world.host(actor.address).peer(peer);
            let thrown_out = |stats: PeerStats| stats.packets_evicted + stats.packets_incomplete;
            known.is_some_and(|known| thrown_out(known.stats()) > 0)
        })
    }

    /// Checks that nothing is under way, in or out.
    fn rests(&self) -> Result<(), String> {
        self.settled()?;
        for (index, actor) in self.actors.iter().enumerate() {
            let audit = self.world.host(actor.address).audit();
            if !audit.is_at_rest() {
                return Err(format!("{}: {audit:?}", actor.address));
            }
            for (&peer, meta) in &actor.peers {
                let made_room = self.made_room(meta.remote, index);
                let told = self.contract.check_receipts((actor.side, peer), made_room);
                told.map_err(|lack| format!("{} {peer:?}: {lack}", actor.address))?;
            }
        }
        Ok(())
    }

    /// Checks that the hosts stay connected, and that this costs no more than pings.
    fn stay_quiet(&mut self) {
        const FOR: u64 = 25;
        let before = self.sent();
        for _ in 0..FOR {
            self.run_until(self.world.now() + SECOND);
            assert_eq!(self.settled(), Ok(()), "it does not stay like this");
        }
        let ends: usize = self.actors.iter().map(|actor| actor.peers.len()).sum();
        let (sent, most) = (self.sent() - before, IDLE * FOR * ends as u64);
        assert!(
            sent <= most,
            "{ends} peers with nothing to say sent {sent} datagrams in {FOR} s"
        );
        // A host with nothing to say pings four times in its timeout, which is at most 20 s.
        let least = 3 * ends as u64;
        assert!(
            sent >= least,
            "{ends} peers sent {sent} datagrams in {FOR} s: they are dead"
        );
    }

    fn sent(&self) -> u64 {
        self.world.network().stats().sent
    }

    /// All hosts leave, in good order, and nothing stays.
    fn part(&mut self) {
        self.lose_first_goodbyes();
        let mut last = Vec::new();
        for index in 0..self.actors.len() {
            self.hear(index);
            let peers: Vec<PeerId> = self.live(index).collect();
            for peer in peers {
                self.send(index, peer, Mode::Reliable, 100, false);
                last.push((self.actors[index].side, peer));
                // A host that is told first need not say goodbye.
                let flush = Disconnect::Flush {
                    reason: 1,
                    deadline: 20 * SECOND,
                };
                self.disconnect(index, peer, flush);
            }
        }
        self.wait(40, "part", Self::parted);
        for (side, peer) in last {
            let life = &self.contract.peers[side][&peer];
            let (reason, undelivered) = life.ended.unwrap_or((DisconnectReason::Silent, 0));
            let told = matches!(
                reason,
                DisconnectReason::ByUs(1) | DisconnectReason::ByPeer(1)
            );
            assert!(
                told,
                "the last goodbye was {reason:?} with {undelivered} undelivered"
            );
        }
        self.run_until(self.world.now() + LINGER);
        for actor in &self.actors {
            let audit = self.world.host(actor.address).audit();
            assert_eq!(
                audit,
                Default::default(),
                "{} keeps something",
                actor.address
            );
        }
    }

    /// The first goodbye from each host to each other gets lost, and has to be repeated.
    fn lose_first_goodbyes(&mut self) {
        const GOODBYE: u8 = 0xF0;
        let mut lost = BTreeSet::new();
        self.world.intercept(move |passing| {
            let first = passing.datagram.first() == Some(&GOODBYE);
            if first && lost.insert((passing.from, passing.to)) {
                Intercept::Drop
            } else {
                Intercept::Pass
            }
        });
    }

    fn parted(&self) -> Result<(), String> {
        let left = self.actors.iter().find(|actor| !actor.peers.is_empty());
        left.map_or(Ok(()), |actor| {
            Err(format!("{} has {:?}", actor.address, actor.peers))
        })
    }
}
