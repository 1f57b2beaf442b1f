//! Short datagrams that arrive: the traffic of connections (`docs/wire.md`, "Short forms").

use rand_core::CryptoRng;

use super::{Address, Host};
use crate::event::{Ecn, Ignored};
use crate::frame::Short;
use crate::peer::{PeerState, Tick};

impl<R: CryptoRng, A: Address> Host<R, A> {
    /// A short datagram: the slot of the peer that took it.
    pub(super) fn on_short(
        &mut self,
        tick: Tick,
        from: A,
        ecn: Ecn,
        short: &Short<'_>,
    ) -> Result<u32, Ignored> {
        let Some(slot) = self.find_connection(from, short.connection_id) else {
            return Err(self.on_unknown_connection(from, short.connection_id));
        };
        let way = self.peers.way_in(slot, from);
        let Some((_, peer)) = self.peers.at_mut(slot) else {
            return Err(Ignored::UnknownConnection);
        };
        let (was, follows) = (peer.state(), peer.follows());
        if way.is_none() && !(self.config.roaming && was == PeerState::Connected) {
            return Err(Ignored::WrongAddress);
        }
        let tick = Tick {
            may_keep: self.kept.limit(slot),
            ..tick
        };
        let result = peer.handle_short(way.unwrap_or(0), short, ecn, &self.offer, tick);
        if let (PeerState::Connecting, PeerState::Connected) = (was, peer.state()) {
            self.retire_others(slot, tick, from);
        }
        self.choose_way(slot);
        match result {
            Ok(words) => {
                if let (true, true, Some(way)) = (follows, words.is_newest, way) {
                    self.peers.make_main(slot, way);
                }
                self.on_path_words(slot, (from, words, short.bytes.len()), tick);
                Ok(slot)
            }
            Err(cause) => {
                if cause == Ignored::OverBudget {
                    self.kept.refuse(slot);
                }
                // An acknowledgement of a duplicate may be due.
                self.settle(slot);
                Err(cause)
            }
        }
    }

    /// A newcomer has proved itself: whoever else was connected at its address is gone
    /// (`deviations.md` C5).
    fn retire_others(&mut self, newcomer: u32, tick: Tick, address: A) {
        loop {
            let next = self
                .peers
                .by_address(address)
                .find(|&(slot, peer)| {
                    let is_at = self.peers.way(slot, address) == Some(0);
                    slot != newcomer && is_at && peer.state().is_live() && !peer.is_attempt()
                })
                .map(|(slot, _)| slot);
            let Some(slot) = next else { return };
            if let Some((_, peer)) = self.peers.at_mut(slot) {
                peer.replace(tick.now);
            }
            self.settle(slot);
        }
    }
}
