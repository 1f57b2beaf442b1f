//! What has to hold at every moment.

use core::time::Duration;

use porous_proto::{ChannelId, DisconnectReason, Instant, Peer, PeerId};

use super::spoof;
use super::stage::Stage;

/// Events are told when applications look, and the remote host's may come later than ours.
const PROCEEDINGS: Duration = Duration::from_secs(3);

/// The time that a step of a host and the drift of its clock may add.
const LATE: Duration = Duration::from_millis(200);

/// The end of a connection that has to be explained.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    pub(super) own: usize,
    pub(super) side: usize,
    pub(super) peer: PeerId,
    pub(super) remote: usize,
    pub(super) at: Instant,
    /// True if our application ended the connection.
    pub(super) left: bool,
}

impl Stage {
    /// Checks the accounts of a host, and its limits.
    pub(super) fn check(&mut self, index: usize) {
        let (actor, role) = (&self.actors[index], &self.plan.roles[index]);
        let host = self.world.host(actor.address);
        let _ = host.audit();
        for (peer, state) in host.all_peers() {
            // A packet that is larger than the budget is taken if nothing else waits.
            let (queued, one) = (state.queued_bytes() as u64, state.max_packet() as u64 + 64);
            assert!(
                queued <= role.send_budget.max(one),
                "{queued} bytes wait for {peer:?}"
            );
            check_figures(state);
        }
        self.check_cap(index);
        self.report.checks += 1;
    }

    /// Checks that a host keeps to its cap. Frames outside of the cap are not told apart here:
    /// acknowledgements are short, and probes repeat once what was sent under the cap, or are few.
    fn check_cap(&mut self, index: usize) {
        const FEW: u64 = 20;
        const SHORT: u64 = 120;
        let (now, actor) = (self.world.now(), &mut self.actors[index]);
        let stats = self.world.host(actor.address).stats();
        let Some((since, before)) = actor.meter else {
            actor.meter = Some((now, stats));
            return;
        };
        let elapsed = now.saturating_duration_since(since);
        if elapsed < Duration::from_secs(1) {
            return;
        }
        actor.meter = Some((now, stats));
        let cap = u128::from(actor.cap);
        let data = u64::try_from(cap * (elapsed + LATE).as_micros() / 1_000_000);
        let sent = stats.bytes_sent - before.bytes_sent;
        let datagrams = stats.datagrams_sent - before.datagrams_sent;
        let longest = self.world.host(actor.address).max_datagram_size() as u64;
        let most = 2 * data.unwrap_or(u64::MAX / 4) + SHORT * datagrams + FEW * longest;
        assert!(
            sent <= most,
            "{sent} bytes in {elapsed:?}, with a cap of {cap}"
        );
    }

    /// Checks that no stranger was ever taken for a peer.
    pub(super) fn check_strangers(&self) {
        for actor in self.actors.iter().filter(|actor| actor.alive) {
            for stranger in spoof::NOBODY {
                let known = self.world.watch(actor.address).knows(stranger);
                assert!(
                    !known,
                    "{stranger} is nobody, and a peer of {}",
                    actor.address
                );
            }
        }
    }

    /// Checks that every connection has ended for a reason.
    pub(super) fn judge(&mut self) {
        let now = self.world.now();
        while let Some(trial) = self.trials.first().copied() {
            if trial.at + PROCEEDINGS > now {
                return;
            }
            self.trials.remove(0);
            let is_judged = self.judge_one(trial);
            self.report.ends += u64::from(is_judged);
        }
    }

    /// Judges the end of a connection. False if it is none that is judged.
    fn judge_one(&self, trial: Trial) -> bool {
        let life = &self.contract.peers[trial.side][&trial.peer];
        let Some((reason, undelivered)) = life.ended else {
            return false;
        };
        let Trial {
            own, remote, at, ..
        } = trial;
        let what = || {
            let address = self.actors[own].address;
            format!(
                "{address} {:?}, with host {remote}, at {at:?}: {reason:?}",
                trial.peer
            )
        };
        if !life.judged || !life.connected {
            return false;
        }
        let by_us = matches!(reason, DisconnectReason::ByUs(_));
        let refused = matches!(reason, DisconnectReason::Refused(_));
        let timeout = self.plan.roles[own].timeout;
        let caused = || self.journal.explains([own, remote], at, timeout);
        let explained = !refused && (trial.left || !by_us && caused());
        let history = || self.journal.history([own, remote], at);
        assert!(
            explained,
            "a connection ended without a cause: {}; {}",
            what(),
            history()
        );
        // A host that was killed has read nothing since, whatever it had acknowledged.
        let heard = life.other.is_some_and(|(side, peer)| {
            let current = self.actors[remote].side == side && self.actors[remote].alive;
            let reader = self.contract.peers[side].get(&peer);
            current && reader.is_some_and(|life| life.ended.is_some() && life.judged)
        });
        // An acknowledged packet has arrived, and the remote application has read all that has arrived.
        if heard && undelivered == 0 {
            assert!(
                life.sent.is_complete(),
                "acknowledged, but lost: {}",
                what()
            );
        }
        true
    }
}

/// Checks that the figures of a connection are in range, and fit together.
fn check_figures(peer: &Peer) {
    let stats = peer.stats();
    assert!(stats.frames_spurious <= stats.frames_lost, "{stats:?}");
    assert!(stats.frames_lost <= stats.frames_sent, "{stats:?}");
    assert!(
        stats.loss_sent.max(stats.loss_received) <= 10_000,
        "{stats:?}"
    );
    assert!(stats.quality <= 100, "{stats:?}");
    let waiting = |id| u64::from(peer.channel_stats(ChannelId(id)).waiting);
    let waiting: u64 = (0..peer.channels()).map(waiting).sum();
    // Each packet counts 64 bytes at least, but for the next one to be sent of its priority.
    let counted = 64 * waiting.saturating_sub(2);
    let queued = peer.queued_bytes() as u64;
    assert!(counted <= queued, "{waiting} packets of {stats:?}");
}
