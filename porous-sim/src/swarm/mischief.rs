//! What goes wrong with hosts in the fault phase.

use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::{Disconnect, Listen, Mode, PeerId};

use super::stage::{Job, Stage, micros};

impl Stage {
    /// Disturbs a host in one of several ways.
    pub(super) fn mischief(&mut self) {
        let index = self.chance.index(self.actors.len());
        if !self.actors[index].alive {
            return;
        }
        self.hear(index);
        match self.chance.below(100) {
            0..14 => self.cut(),
            14..28 => self.hitch(index),
            28..36 => self.drift(index),
            36..44 => self.jump(index),
            44..52 => self.kill(index),
            52..58 => self.rebind(index),
            58..70 => self.stop_reading(index),
            70..86 => self.disconnect_one(index),
            86..92 => self.fill(index),
            92..96 => self.shrink_socket(index),
            _ => self.change_policy(index),
        }
    }

    fn hitch(&mut self, index: usize) {
        let (now, pause) = (self.world.now(), self.chance.millis(20, 15_000));
        self.world.hitch(self.actors[index].address, pause);
        self.disturb_host(index, now, now + pause);
        self.report.fault("hitches", 1);
    }

    fn drift(&mut self, index: usize) {
        let ppm = i32::try_from(self.chance.log(1, 50_000)).unwrap_or(0);
        let ppm = if self.chance.often(50) { ppm } else { -ppm };
        self.world.set_clock_drift(self.actors[index].address, ppm);
        self.report.fault("clock drifts", 1);
    }

    /// A clock that was put back stands still for a host until it shows again the latest time that it
    /// had shown before: for longer, if it was put back before.
    fn jump(&mut self, index: usize) {
        let (now, address) = (self.world.now(), self.actors[index].address);
        let back = self.chance.often(50);
        let most = if back { 15_000 } else { 4_000_000 };
        let by = self.chance.millis(1, most);
        let signed = i64::try_from(micros(by)).unwrap_or(0);
        let latest = self.actors[index].latest.max(self.world.time_at(address));
        self.actors[index].latest = latest;
        self.world
            .jump_clock(address, if back { -signed } else { signed });
        // The clock runs at most five percent too fast or too slow.
        let stands = latest.saturating_duration_since(self.world.time_at(address));
        let stands = stands + stands / 10;
        self.disturb_host(index, now, now + stands);
        let kind = if back {
            "clocks put back"
        } else {
            "clocks put forward"
        };
        self.report.fault(kind, 1);
    }

    /// The program ends without a word, and starts again later.
    fn kill(&mut self, index: usize) {
        let now = self.world.now();
        self.hear(index);
        self.world.remove_host(self.actors[index].address);
        self.actors[index].alive = false;
        for meta in self.actors[index].peers.values() {
            if let Some(since) = meta.since {
                self.report.connected += micros(now.saturating_duration_since(since));
            }
        }
        self.actors[index].peers.clear();
        let pause = if self.chance.often(40) {
            Duration::ZERO
        } else {
            self.chance.millis(1, 30_000)
        };
        // The program is back when the faults are over.
        let back = (now + pause).min(self.end);
        self.disturb_host(index, now, back);
        self.at(back, Job::Revive(index));
        self.report.fault("restarts", 1);
    }

    pub(super) fn revive(&mut self, index: usize) {
        if self.chance.often(35) {
            self.new_address(index);
            self.report.fault("moves", 1);
        }
        self.start(index);
    }

    fn rebind(&mut self, index: usize) {
        if self.plan.roles[index].nat.is_none() {
            return;
        }
        let now = self.world.now();
        let outside = self.new_outside(index);
        self.world.rebind(self.actors[index].address, outside);
        self.actors[index].public = outside;
        self.apply_all();
        if !self.is_followed(index) {
            self.disturb_host(index, now, now);
        }
        self.report.fault("routers that forgot", 1);
    }

    /// True if all connections of a host are established, with hosts that follow it: then another
    /// address is no excuse for the end of one of them.
    fn is_followed(&self, index: usize) -> bool {
        const SETTLED: Duration = Duration::from_secs(2);
        let (now, actor) = (self.world.now(), &self.actors[index]);
        actor.peers.values().all(|meta| {
            let settled = meta.since.is_some_and(|since| since + SETTLED <= now);
            settled && self.plan.roles[meta.remote].roams
        })
    }

    fn stop_reading(&mut self, index: usize) {
        let now = self.world.now();
        self.actors[index].reads_at = now + self.chance.millis(50, 60_000);
        self.report.fault("readers that stopped", 1);
    }

    fn some_peer(&mut self, index: usize) -> Option<PeerId> {
        let peers: Vec<PeerId> = self.actors[index].peers.keys().copied().collect();
        let which = self.chance.index(peers.len().max(1));
        peers.get(which).copied()
    }

    fn disconnect_one(&mut self, index: usize) {
        let Some(peer) = self.some_peer(index) else {
            return;
        };
        let reason = u32::try_from(self.chance.below(1000)).unwrap_or(0);
        let how = if self.chance.often(50) {
            let deadline = self.chance.millis(1, 10_000);
            Disconnect::Flush { reason, deadline }
        } else {
            Disconnect::Now { reason }
        };
        self.disconnect(index, peer, how);
        self.report.fault("disconnections", 1);
    }

    pub(super) fn disconnect(&mut self, index: usize, peer: PeerId, how: Disconnect) {
        // The end may be known already, and not told yet.
        let address = self.actors[index].address;
        if self.world.disconnect(address, peer, how).is_ok() {
            self.leave(index, peer);
        }
    }

    /// Sends until there is no more room, if all of it can be delivered in time.
    fn fill(&mut self, index: usize) {
        let Some(peer) = self.some_peer(index) else {
            return;
        };
        let mode = self
            .chance
            .pick(&[Mode::Reliable, Mode::Passive, Mode::Unreliable]);
        let size = self.chance.log(1, 2000);
        let bounded = self.plan.roles[index].send_budget > self.backlog(index, peer) as u64;
        for _ in 0..2000 {
            if !self.send(index, peer, mode, size, bounded) {
                break;
            }
        }
        self.report.fault("bursts", 1);
    }

    fn shrink_socket(&mut self, index: usize) {
        let bytes = usize::try_from(self.chance.log(4000, 100_000)).unwrap_or(0);
        self.world
            .set_socket_buffer(self.actors[index].address, bytes);
        self.report.fault("short socket buffers", 1);
    }

    fn change_policy(&mut self, index: usize) {
        let policy = self
            .chance
            .pick(&[Listen::Closed, Listen::Open, Listen::Ask]);
        if self.plan.roles[index].listens {
            let listens = self
                .world
                .host_mut(self.actors[index].address)
                .listen(policy);
            assert_eq!(listens, Ok(()));
            self.report.fault("policies changed", 1);
        }
    }
}
