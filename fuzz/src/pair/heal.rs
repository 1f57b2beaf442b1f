//! The end of each input: the network heals, and every promise must be kept.

use porous_proto::{Peer, PeerState};

use super::{PATIENCE, Pair, SECOND};

impl Pair {
    /// The network heals and the applications read: every promise must be kept.
    pub fn heal(&mut self) {
        (self.reading, self.healed) = ([true; 2], true);
        for side in 0..2 {
            self.receive(side, usize::MAX);
        }
        let (mut settled, mut since) = (Ok(()), 0);
        for _ in 0..PATIENCE {
            self.run(SECOND, true);
            settled = self.check();
            since = if settled.is_ok() { since + 1 } else { 0 };
            // Datagrams from before may have connected both, each to an attempt that the other had
            // given up. Then both are told soon.
            if since > 3 {
                return;
            }
        }
        panic!("not settled for {since} s: {settled:?}");
    }

    fn check(&self) -> Result<(), String> {
        if self.check_side(0)? == self.check_side(1)? {
            Ok(())
        } else {
            Err("one is connected to nobody".into())
        }
    }

    /// The number of connected peers. They owe nothing, and there is no other peer.
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
