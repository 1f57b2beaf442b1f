//! What goes wrong with hosts in the fault phase.

use core::time::Duration;

use porous_proto::{Disconnect, Listen, Mode, PeerId};

use super::draw::Draw;
use super::stage::{Job, Stage, micros};

/// The most packets of a burst: short ones would take long to fill a budget.
const MOST_PACKETS: u32 = 2000;

/// One fault, with all that was drawn for it: what it does then draws nothing of the stream of faults.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mischief {
    /// Two hosts are cut off from each other for a while, one way or both.
    Cut {
        pair: (usize, usize),
        both: bool,
        pause: Duration,
    },
    /// The machine of the host does not call it for a while.
    Hitch(Duration),
    /// The clock of the host is too fast by this number of millionths from now on, or too slow.
    Drift(i32),
    /// The clock of the host is put forward by this number of microseconds, or back.
    Jump(i64),
    /// The program of the host ends without a word, and starts again after a while.
    Kill(Duration),
    /// The router of the host forgets the host's outside address.
    Rebind,
    /// The application does not read for a while.
    StopReading(Duration),
    /// The application ends a connection.
    Disconnect(PeerId, Disconnect),
    /// The application sends packets of one size until there is no more room.
    Fill { peer: PeerId, mode: Mode, size: u64 },
    /// The socket has room for this number of bytes from now on.
    ShrinkSocket(usize),
    /// The host listens in another way, if it does at all.
    ChangePolicy(Listen),
}

impl Mischief {
    /// Draws a fault of a host with these peers, in a world of this number of hosts. `None` if the fault
    /// would have needed a peer.
    pub(super) fn draw(chance: &mut Draw, hosts: usize, peers: &[PeerId]) -> Option<Self> {
        Some(match chance.below(100) {
            0..14 => Self::Cut {
                pair: chance.two(hosts),
                pause: chance.millis(50, 30_000),
                both: !chance.often(30),
            },
            14..28 => Self::Hitch(chance.millis(20, 15_000)),
            28..36 => {
                let ppm = i32::try_from(chance.log(1, 50_000)).unwrap_or(0);
                Self::Drift(if chance.often(50) { ppm } else { -ppm })
            }
            36..44 => {
                let is_back = chance.often(50);
                let most = if is_back { 15_000 } else { 4_000_000 };
                let by = i64::try_from(micros(chance.millis(1, most))).unwrap_or(0);
                Self::Jump(if is_back { -by } else { by })
            }
            44..52 => Self::Kill(match chance.often(40) {
                true => Duration::ZERO,
                false => chance.millis(1, 30_000),
            }),
            52..58 => Self::Rebind,
            58..70 => Self::StopReading(chance.millis(50, 60_000)),
            70..86 => {
                let peer = one_of(chance, peers)?;
                let reason = u32::try_from(chance.below(1000)).unwrap_or(0);
                let how = if chance.often(50) {
                    let deadline = chance.millis(1, 10_000);
                    Disconnect::Flush { reason, deadline }
                } else {
                    Disconnect::Now { reason }
                };
                Self::Disconnect(peer, how)
            }
            86..92 => Self::Fill {
                peer: one_of(chance, peers)?,
                mode: chance.pick(&[Mode::Reliable, Mode::Passive, Mode::Unreliable]),
                size: chance.log(1, 2000),
            },
            92..96 => {
                let bytes = usize::try_from(chance.log(4000, 100_000));
                Self::ShrinkSocket(bytes.unwrap_or(0))
            }
            _ => Self::ChangePolicy(chance.pick(&[Listen::Closed, Listen::Open, Listen::Ask])),
        })
    }

    /// The fault happens to a host.
    pub(super) fn strike(self, stage: &mut Stage, index: usize) {
        let (now, address) = (stage.world.now(), stage.actors[index].address);
        match self {
            Self::Cut { pair, both, pause } => stage.cut(pair, both, now + pause),
            Self::Hitch(pause) => {
                stage.world.hitch(address, pause);
                stage.disturb_host(index, now, now + pause);
                stage.report.fault("hitches", 1);
            }
            Self::Drift(ppm) => {
                stage.world.set_clock_drift(address, ppm);
                stage.report.fault("clock drifts", 1);
            }
            Self::Jump(by_micros) => jump(stage, index, by_micros),
            Self::Kill(pause) => kill(stage, index, pause),
            Self::Rebind => rebind(stage, index),
            Self::StopReading(pause) => {
                stage.actors[index].reads_at = now + pause;
                stage.report.fault("readers that stopped", 1);
            }
            Self::Disconnect(peer, how) => {
                stage.disconnect(index, peer, how);
                stage.report.fault("disconnections", 1);
            }
            Self::Fill { peer, mode, size } => {
                // Unbounded only if even a full send budget is delivered in time once the network heals.
                let budget = stage.plan.roles[index].send_budget;
                let bounded = budget > stage.backlog(index, peer) as u64;
                let mut tries = 0..MOST_PACKETS;
                while tries.next().is_some() && stage.send(index, peer, mode, size, bounded) {}
                stage.report.fault("bursts", 1);
            }
            Self::ShrinkSocket(bytes) => {
                stage.world.set_socket_buffer(address, bytes);
                stage.report.fault("short socket buffers", 1);
            }
            Self::ChangePolicy(policy) => {
                if stage.plan.roles[index].listens {
                    let listens = stage.world.host_mut(address).listen(policy);
                    assert_eq!(listens, Ok(()));
                    stage.report.fault("policies changed", 1);
                }
            }
        }
    }
}

/// One of the peers. Draws a number also if there is none.
fn one_of(chance: &mut Draw, peers: &[PeerId]) -> Option<PeerId> {
    let which = chance.index(peers.len().max(1));
    peers.get(which).copied()
}

/// Puts the clock of a host forward or back.
fn jump(stage: &mut Stage, index: usize, by_micros: i64) {
    let (now, address) = (stage.world.now(), stage.actors[index].address);
    // A clock that was put back stands still for a host until it shows again the latest time that it had
    // shown before: for longer, if it was put back before.
    let latest = stage.actors[index].latest.max(stage.world.time_at(address));
    stage.actors[index].latest = latest;
    stage.world.jump_clock(address, by_micros);
    let stands = latest.saturating_duration_since(stage.world.time_at(address));
    // The clock runs at most five percent too fast or too slow.
    let stands = stands + stands / 10;
    stage.disturb_host(index, now, now + stands);
    let kind = if by_micros < 0 {
        "clocks put back"
    } else {
        "clocks put forward"
    };
    stage.report.fault(kind, 1);
}

/// The program of a host ends without a word, and starts again later.
fn kill(stage: &mut Stage, index: usize, pause: Duration) {
    let now = stage.world.now();
    stage.world.remove_host(stage.actors[index].address);
    stage.actors[index].alive = false;
    for meta in stage.actors[index].peers.values() {
        if let Some(since) = meta.since {
            stage.report.connected += micros(now.saturating_duration_since(since));
        }
    }
    stage.actors[index].peers.clear();
    // The program is back when the faults are over: then all hosts have to connect.
    let back = (now + pause).min(stage.end);
    stage.disturb_host(index, now, back);
    stage.at(back, Job::Revive(index));
    stage.report.fault("restarts", 1);
}

/// The router of a host, if the host is behind one, gives it another outside address.
fn rebind(stage: &mut Stage, index: usize) {
    if stage.plan.roles[index].nat.is_none() {
        return;
    }
    let now = stage.world.now();
    let outside = stage.new_outside(index);
    stage.world.rebind(stage.actors[index].address, outside);
    stage.actors[index].public = outside;
    stage.apply_all();
    if !is_followed(stage, index) {
        stage.disturb_host(index, now, now);
    }
    stage.report.fault("routers that forgot", 1);
}

/// True if all connections of a host are established, with hosts that follow it: then another address is
/// no excuse for the end of one of them.
fn is_followed(stage: &Stage, index: usize) -> bool {
    // The other end of a younger connection may not be established yet.
    const SETTLED: Duration = Duration::from_secs(2);
    let (now, actor) = (stage.world.now(), &stage.actors[index]);
    actor.peers.values().all(|meta| {
        let settled = meta.since.is_some_and(|since| since + SETTLED <= now);
        settled && stage.plan.roles[meta.remote].roams
    })
}
