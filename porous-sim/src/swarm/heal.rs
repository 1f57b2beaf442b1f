//! The faults are over: the network is good, clocks are steady, applications read and connect. Now
//! every promise has to be kept, within bounds.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::{Disconnect, DisconnectReason, Instant, Mode, PeerId, PeerState, PeerStats};

use super::actor::Pattern;
use super::stage::Stage;
use crate::Intercept;

const SECOND: Duration = Duration::from_secs(1);

/// Datagrams sent before must be out of the network before a connection without a checksum begins.
const DRAIN: Duration = Duration::from_secs(8);

/// The most seconds until all is delivered: half a connection times out after at most 20 s, a fruitless
/// attempt after 10 s, and what waits to be sent leaves within a minute.
const PATIENCE: u32 = 120;

/// The time until a host has forgotten all peers: a peer that has ended is remembered for 30 s, by clocks
/// that were 5 % wrong.
const LINGER: Duration = Duration::from_secs(34);

/// The most seconds until nothing is under way: unreliable packets that came in part are given up after
/// 2 s, those that wait to be sent after 5 s.
const REST: u32 = 30;

/// Datagrams a second, one way, on a connection that has nothing to send: ten pings, ten answers,
/// and acknowledgements of these.
const IDLE: u64 = 34;

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The network and the hosts have faults.
    Faulty,
    /// All is well, and every promise has to be kept.
    Healed,
    /// All is well, and no host sends or connects unless told to.
    Still,
}

impl Phase {
    /// True once the faults are over.
    pub(super) fn is_healed(self) -> bool {
        self != Self::Faulty
    }
}

/// What has to come true on a good network, within a bound.
#[derive(Debug)]
struct Promise {
    /// What the hosts do, for the message of a failure.
    what: &'static str,
    /// The most seconds until the promise is kept.
    seconds: u32,
    /// Checks that the promise is kept; the error says what is lacking.
    check: fn(&Stage) -> Result<(), String>,
    /// What is done each second until then.
    meanwhile: fn(&mut Stage),
}

const DELIVERED: Promise = Promise {
    what: "deliver",
    seconds: PATIENCE,
    check: settled,
    meanwhile: |_| {},
};

const DELIVERED_MORE: Promise = Promise {
    what: "deliver more",
    check: works,
    meanwhile: probe_again,
    ..DELIVERED
};

const AT_REST: Promise = Promise {
    what: "come to rest",
    seconds: REST,
    check: rests,
    ..DELIVERED
};

const PARTED: Promise = Promise {
    what: "part",
    seconds: 40,
    check: parted,
    ..DELIVERED
};

impl Promise {
    /// Lets time pass until the promise is kept.
    ///
    /// # Panics
    ///
    /// If the promise is not kept in time.
    fn hold(&self, stage: &mut Stage) {
        let mut lack = Ok(());
        for _ in 0..self.seconds {
            lack = (self.check)(stage);
            if lack.is_ok() {
                return;
            }
            (self.meanwhile)(stage);
            stage.run_until(stage.world.now() + SECOND);
        }
        if let Err(lack) = lack {
            let Self { what, seconds, .. } = self;
            panic!("it does not {what} in {seconds} s on a good network: {lack}");
        }
    }
}

/// From the end of the faults to the end of the run.
pub(super) fn heal(stage: &mut Stage) {
    recover(stage);
    DELIVERED.hold(stage);
    // Whatever was delivered, all connections work, and their two ends belong together. One mode after the other, as
    // there need not be room for more than one packet.
    for mode in [Mode::Reliable, Mode::Unreliable, Mode::Passive] {
        for index in 0..stage.actors.len() {
            stage.hear(index);
            let peers: Vec<PeerId> = stage.live(index).collect();
            for peer in peers {
                let is_taken = probe(stage, index, peer, mode);
                assert!(is_taken, "{peer:?} of host {index} takes no packet");
            }
        }
        DELIVERED_MORE.hold(stage);
    }
    stage.phase = Phase::Still;
    AT_REST.hold(stage);
    stay_quiet(stage);
    part(stage);
    stage.check_strangers();
}

/// Sends a packet that has to show that a connection works. False if there is no room.
fn probe(stage: &mut Stage, index: usize, peer: PeerId, mode: Mode) -> bool {
    let (side, number) = (stage.actors[index].side, stage.contract.token());
    let is_taken = stage.send_plain(index, peer, mode, 9);
    if is_taken {
        stage.contract.probes(side, peer, number, mode);
    }
    is_taken
}

/// Sends unreliable packets to the peers that none has reached: any one may get lost, and is not repeated.
fn probe_again(stage: &mut Stage) {
    for index in 0..stage.actors.len() {
        let lives = &stage.contract.peers[stage.actors[index].side];
        let lacks = |peer: &PeerId| {
            let mut modes = lives[peer].probes.values();
            modes.any(|mode| *mode == Mode::Unreliable)
        };
        let peers: Vec<PeerId> = stage.live(index).filter(lacks).collect();
        for peer in peers {
            // There may be room for one alone.
            let _ = probe(stage, index, peer, Mode::Unreliable);
        }
    }
}

/// Checks that a packet of each mode has come through each connection, once it was healed, and nothing is lacking.
fn works(stage: &Stage) -> Result<(), String> {
    settled(stage)?;
    for actor in &stage.actors {
        for &peer in actor.peers.keys() {
            let life = &stage.contract.peers[actor.side][&peer];
            if life.judged && !life.probes.is_empty() {
                let (address, probes) = (actor.address, &life.probes);
                return Err(format!("{address} {peer:?} has not delivered {probes:?}"));
            }
        }
    }
    Ok(())
}

/// Ends the faults, and waits until nothing of them is under way.
fn recover(stage: &mut Stage) {
    let calm = stage.journal.calm_at().max(stage.world.now() + DRAIN);
    stage.heal_links();
    stage.phase = Phase::Healed;
    for index in 0..stage.actors.len() {
        let address = stage.actors[index].address;
        stage.actors[index].reads_at = Instant::ZERO;
        stage.world.set_clock_drift(address, 0);
        stage.world.set_socket_buffer(address, 1 << 20);
        // A fault may have changed how the host listens.
        stage.listen(index);
        drop_doubtful(stage, index);
        // Nothing is sent from now on, and applications read in time.
        let quiet = Pattern::quiet(Instant::from_micros(u64::MAX), SECOND / 10);
        stage.actors[index].pattern = quiet;
        // Not before all old datagrams are out of the network: without a checksum, a new connection would
        // take their bytes.
        stage.actors[index].dials_at = calm;
    }
    stage.run_until(Instant::from_micros(calm.as_micros() - 1));
    // To the microsecond before hosts connect again. Datagrams that were changed on their way have arrived
    // by now, or never will.
    stage.tainted.clear();
    // Again, as attempts from before may have been established meanwhile.
    (0..stage.actors.len()).for_each(|index| drop_doubtful(stage, index));
}

/// Ends connections that were not judged, and those that may have begun with changed bytes: their two ends
/// may have agreed on different values, so that nothing is promised of them.
fn drop_doubtful(stage: &mut Stage, index: usize) {
    let lives = &stage.contract.peers[stage.actors[index].side];
    let all = !stage.plan.judged;
    let unsure = |peer: &PeerId| {
        let life = lives.get(peer);
        all || life.is_some_and(|life| !life.judged || !life.connected)
    };
    let peers = stage.actors[index].peers.keys().copied();
    let doubtful: Vec<PeerId> = peers.filter(unsure).collect();
    for peer in doubtful {
        stage.disconnect(index, peer, Disconnect::Now { reason: 0 });
    }
}

/// Checks that all hosts are connected as wanted, and all packets have been delivered.
fn settled(stage: &Stage) -> Result<(), String> {
    for (index, actor) in stage.actors.iter().enumerate() {
        for &target in &stage.plan.roles[index].dials {
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
            is_settled(stage, index, peer, meta.remote)?;
        }
    }
    Ok(())
}

/// Checks that a peer, with the host `remote`, is connected and has nothing to do.
fn is_settled(stage: &Stage, index: usize, peer: PeerId, remote: usize) -> Result<(), String> {
    let (actor, address) = (&stage.actors[index], stage.actors[index].address);
    let life = &stage.contract.peers[actor.side][&peer];
    let Some(known) = stage.world.host(address).peer(peer) else {
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
    // The two ends belong together: the other host has one connection with this one, and no other.
    let back = stage.actors[remote]
        .peers
        .values()
        .filter(|meta| meta.remote == index);
    if back.count() != 1 {
        return lack("is not known there, or twice");
    }
    Ok(())
}

/// True if a host has thrown out packets that came from another host.
fn made_room(stage: &Stage, index: usize, from: usize) -> bool {
    let actor = &stage.actors[index];
    let mut ways = actor.peers.iter().filter(|(_, meta)| meta.remote == from);
    ways.any(|(&peer, _)| {
        let known = stage.world.host(actor.address).peer(peer);
        let thrown_out = |stats: PeerStats| stats.packets_evicted + stats.packets_incomplete;
        known.is_some_and(|known| thrown_out(known.stats()) > 0)
    })
}

/// Checks that nothing is under way, in or out.
fn rests(stage: &Stage) -> Result<(), String> {
    settled(stage)?;
    for (index, actor) in stage.actors.iter().enumerate() {
        let audit = stage.world.host(actor.address).audit();
        if !audit.is_at_rest() {
            return Err(format!("{}: {audit:?}", actor.address));
        }
        for (&peer, meta) in &actor.peers {
            let made_room = made_room(stage, meta.remote, index);
            let told = stage.contract.check_receipts((actor.side, peer), made_room);
            told.map_err(|lack| format!("{} {peer:?}: {lack}", actor.address))?;
        }
    }
    Ok(())
}

/// Checks that the hosts stay connected, and that this costs no more than pings.
fn stay_quiet(stage: &mut Stage) {
    const FOR: u64 = 25;
    let before = sent(stage);
    for _ in 0..FOR {
        stage.run_until(stage.world.now() + SECOND);
        assert_eq!(settled(stage), Ok(()), "it does not stay like this");
    }
    let ends: usize = stage.actors.iter().map(|actor| actor.peers.len()).sum();
    let (sent, most) = (sent(stage) - before, IDLE * FOR * ends as u64);
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

/// Datagrams that all hosts have sent so far.
fn sent(stage: &Stage) -> u64 {
    stage.world.network().stats().sent
}

/// All hosts leave, in good order, and nothing stays.
fn part(stage: &mut Stage) {
    lose_first_goodbyes(stage);
    let mut last = Vec::new();
    for index in 0..stage.actors.len() {
        stage.hear(index);
        let peers: Vec<PeerId> = stage.live(index).collect();
        for peer in peers {
            // The flush has to deliver this first.
            stage.send_plain(index, peer, Mode::Reliable, 100);
            last.push((stage.actors[index].side, peer));
            // A host that is told first need not say goodbye.
            let flush = Disconnect::Flush {
                reason: 1,
                deadline: 20 * SECOND,
            };
            stage.disconnect(index, peer, flush);
        }
    }
    PARTED.hold(stage);
    // The end is told with the reason of either host. Any other reason is no goodbye.
    for (side, peer) in last {
        let life = &stage.contract.peers[side][&peer];
        let (reason, undelivered) = life.ended.unwrap_or((DisconnectReason::Silent, 0));
        let told = matches!(
            reason,
            DisconnectReason::ByUs(1) | DisconnectReason::ByPeer(1)
        );
        assert!(
            told,
            "the last goodbye was {reason:?} with {undelivered} undelivered"
        );
        // A flush that succeeds ends when all has arrived, and before the other host's may have ended the connection.
        let is_flushed = undelivered == 0 && (life.sent.is_complete() || !life.judged);
        assert!(
            is_flushed || reason == DisconnectReason::ByPeer(1),
            "{peer:?} of side {side} has left before {undelivered} packets were delivered"
        );
    }
    stage.run_until(stage.world.now() + LINGER);
    for actor in &stage.actors {
        let audit = stage.world.host(actor.address).audit();
        assert_eq!(
            audit,
            Default::default(),
            "{} keeps something",
            actor.address
        );
    }
}

/// The first goodbye from each host to each other gets lost, and has to be repeated.
fn lose_first_goodbyes(stage: &mut Stage) {
    const GOODBYE: u8 = 0xF0;
    let mut lost = BTreeSet::new();
    stage.world.intercept(move |passing| {
        let first = passing.datagram.first() == Some(&GOODBYE);
        if first && lost.insert((passing.from, passing.to)) {
            Intercept::Drop
        } else {
            Intercept::Pass
        }
    });
}

/// Checks that no host has a peer.
fn parted(stage: &Stage) -> Result<(), String> {
    let left = stage.actors.iter().find(|actor| !actor.peers.is_empty());
    left.map_or(Ok(()), |actor| {
        Err(format!("{} has {:?}", actor.address, actor.peers))
    })
}
