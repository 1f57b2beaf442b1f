//! What has to hold once the choices are made and the network is good.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::{DisconnectReason, Mode, PeerId, PeerState};

use super::actor::Actor;
use super::run::{Again, GOODBYE, Run};
use super::scene::{Kind, Parting, Word};

/// The time from one look at a promise to the next.
const PAUSE: Duration = Duration::from_millis(100);

/// The time until a host has forgotten all peers: a peer that has ended is remembered for 30 s.
const LINGER: Duration = Duration::from_secs(32);

/// Longer than the silence that ends a connection, which is 10 s.
const QUIET: Duration = Duration::from_secs(12);

/// The same by the rules of the paper, by which a host with nothing to say sends a hundred times as many pings: they
/// would take most of the time of an exploration.
const QUIET_PAPER: Duration = Duration::from_secs(1);

/// Datagrams a second at most on a connection that has nothing to send, both ways: ten pings, ten answers and their
/// acknowledgements each.
const IDLE: u64 = 68;

/// What has to come true within a bound.
#[derive(Debug)]
pub(super) struct Promise {
    /// What the hosts do, for the message of a failure.
    what: &'static str,
    /// The most seconds until the promise is kept.
    seconds: u64,
    /// Checks that the promise is kept; the error says what is lacking.
    check: fn(&Run<'_>) -> Result<(), String>,
}

/// An attempt that lost its first requests is through after some seconds; half a connection times out after 10 s.
pub(super) const DELIVERED: Promise = Promise {
    what: "connect and deliver",
    seconds: 40,
    check: is_settled,
};

const DELIVERED_MORE: Promise = Promise {
    what: "deliver more",
    seconds: 10,
    check: is_settled,
};

/// Unreliable packets that came in part are given up after 2 s, those that wait to be sent after 2 s.
const AT_REST: Promise = Promise {
    what: "come to rest",
    seconds: 20,
    check: rests,
};

const PARTED: Promise = Promise {
    what: "part",
    seconds: 40,
    check: has_parted,
};

impl Promise {
    /// Lets time pass until the promise is kept.
    ///
    /// # Panics
    ///
    /// If the promise is not kept in time.
    pub(super) fn hold(&self, run: &mut Run<'_>) -> Result<(), Again> {
        let end = run.world.now() + Duration::from_secs(self.seconds);
        loop {
            let kept = (self.check)(run);
            if kept.is_ok() {
                return Ok(());
            }
            if run.world.now() >= end {
                let Self { what, seconds, .. } = self;
                panic!("the hosts do not {what} in {seconds} s on a good network: {kept:?}");
            }
            run.run_until(run.world.now() + PAUSE)?;
        }
    }
}

/// From the last step of a scene to the end of its run.
pub(super) fn keep(run: &mut Run<'_>) -> Result<(), Again> {
    if run.ends_connected() {
        DELIVERED.hold(run)?;
        run.heal();
        say_more(run);
        DELIVERED_MORE.hold(run)?;
        AT_REST.hold(run)?;
        stay_quiet(run)?;
        let hosts = 1..;
        for (number, _) in hosts.zip(0..run.actors.len()) {
            run.leave(number, Parting::Flush);
        }
    }
    PARTED.hold(run)?;
    run.heal();
    run.run_until(run.world.now() + LINGER)?;
    check_ends(run);
    for (number, _) in (1..).zip(&run.actors) {
        let audit = run.world.host(number).audit();
        assert_eq!(audit, Default::default(), "{number} keeps something");
    }
    Ok(())
}

/// All hosts send one packet of each mode to all their peers.
fn say_more(run: &mut Run<'_>) {
    for number in (1..).take(run.actors.len()) {
        let peers: Vec<PeerId> = run.actor(number).connected().map(|it| it.0).collect();
        for peer in peers {
            for mode in [Mode::Reliable, Mode::Unreliable, Mode::Passive] {
                // Not on the channel whose last packet may still be there in part.
                let (channel, len) = (1, 9);
                run.probe(number, peer, Word { channel, mode, len });
            }
        }
    }
}

/// Whether all that wanted to be are connected, both ends agree, and all that has to be is delivered.
fn is_settled(run: &Run<'_>) -> Result<(), String> {
    for (number, actor) in (1..).zip(&run.actors) {
        if let Some(dials) = actor.dials {
            // It may be connected with another one of them as well, if that one has dialed.
            if !actor.connected().any(|(_, to)| dials.contains(&to)) {
                return Err(format!("{number} is connected with none of {dials:?}"));
            }
        }
        let live: Vec<PeerId> = run.world.host(number).peers().map(|it| it.0).collect();
        let known: Vec<PeerId> = actor.connected().map(|it| it.0).collect();
        if live != known {
            return Err(format!("{number} has {live:?}, and was told of {known:?}"));
        }
        for (peer, remote) in actor.connected() {
            let settled = is_settled_with(run, (number, actor), peer, remote);
            settled.map_err(|lack| format!("{number} {peer:?}, with {remote}: {lack}"))?;
        }
    }
    Ok(())
}

/// Whether the two ends of a connection agree, and have delivered all.
fn is_settled_with(
    run: &Run<'_>,
    (number, actor): (u32, &Actor),
    peer: PeerId,
    remote: u32,
) -> Result<(), String> {
    let there = &run.actors[remote as usize - 1];
    let back: Vec<PeerId> = there
        .connected()
        .filter(|&(_, to)| to == number)
        .map(|it| it.0)
        .collect();
    let &[back] = &back[..] else {
        return Err(format!("there it is {back:?}"));
    };
    let life = &run.contract.peers[actor.side][&peer];
    let other = life.other;
    if other.is_some_and(|other| other != (there.side, back)) {
        return Err(format!("it hears {other:?}, and there it is {back:?}"));
    }
    let Some(known) = run.world.host(number).peer(peer) else {
        return Err("it is gone without an end".into());
    };
    let ends = [
        known.secured(),
        run.world
            .host(remote)
            .peer(back)
            .and_then(|peer| peer.secured()),
    ];
    let bindings = ends.map(|end| end.map(|secured| secured.binding()));
    if bindings[0] != bindings[1] {
        return Err("its ends have sealed in two handshakes".into());
    }
    if known.state() != PeerState::Connected {
        return Err(format!("it is {:?}", known.state()));
    }
    if !life.sent.is_complete() {
        return Err("what was sent is not delivered".into());
    }
    if !life.probes.is_empty() {
        return Err(format!("{:?} has not come", life.probes));
    }
    if known.queued_bytes() > 0 {
        return Err(format!("{} bytes wait", known.queued_bytes()));
    }
    let address = run.world.host(number).address(peer);
    if address != Some(there.place) {
        return Err(format!(
            "it is sent to {address:?}, and is at {}",
            there.place
        ));
    }
    Ok(())
}

/// Whether nothing is under way, in or out.
fn rests(run: &Run<'_>) -> Result<(), String> {
    is_settled(run)?;
    for (number, _) in (1..).zip(&run.actors) {
        let audit = run.world.host(number).audit();
        if !audit.is_at_rest() {
            return Err(format!("{number}: {audit:?}"));
        }
    }
    match run.wire.is_empty() {
        true => Ok(()),
        false => Err("datagrams are under way".into()),
    }
}

/// Hosts with nothing to say stay connected, and send no more than pings.
fn stay_quiet(run: &mut Run<'_>) -> Result<(), Again> {
    let quiet = match run.scene.kind {
        Kind::Paper => QUIET_PAPER,
        Kind::Plain | Kind::Sealed => QUIET,
    };
    let before = run.effort.datagrams;
    run.run_until(run.world.now() + quiet)?;
    DELIVERED_MORE.hold(run)?;
    let ends: usize = run
        .actors
        .iter()
        .map(|actor| actor.connected().count())
        .sum();
    let (sent, most) = (
        run.effort.datagrams - before,
        IDLE * quiet.as_secs() * ends as u64,
    );
    assert!(
        sent <= most,
        "{ends} peers with nothing to say sent {sent} datagrams in {quiet:?}"
    );
    Ok(())
}

/// Whether no host has a peer.
fn has_parted(run: &Run<'_>) -> Result<(), String> {
    let mut actors = (1..).zip(&run.actors);
    let left = actors.find(|(_, actor)| !actor.peers.is_empty());
    left.map_or(Ok(()), |(number, actor)| {
        Err(format!("{number} has {:?}", actor.peers))
    })
}

/// Each end of the connections that were left was told that one of the two hosts has left, what was acknowledged was
/// delivered, and so was all that a flush was to deliver.
fn check_ends(run: &Run<'_>) {
    for &(side, peer, flushes) in &run.parting {
        let life = &run.contract.peers[side][&peer];
        let (reason, undelivered) = life.ended.expect("no host has a peer");
        let told = matches!(
            reason,
            DisconnectReason::ByUs(GOODBYE) | DisconnectReason::ByPeer(GOODBYE)
        );
        assert!(
            told,
            "the last goodbye of {peer:?} of side {side} was {reason:?} with {undelivered} undelivered"
        );
        assert!(
            undelivered > 0 || life.sent.is_complete(),
            "{peer:?} of side {side}: acknowledged, but lost"
        );
        let is_flushed = flushes && reason == DisconnectReason::ByUs(GOODBYE);
        assert!(
            !is_flushed || undelivered == 0,
            "{peer:?} of side {side} has left before {undelivered} packets were delivered"
        );
    }
}
