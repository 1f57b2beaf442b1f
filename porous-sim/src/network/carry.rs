//! Datagrams on their way, with the ECN fields of their IP headers.

use alloc::vec::Vec;

use porous_proto::{Ecn, Instant};

use super::{Network, SimAddress};
use crate::Fate;
use crate::trace::{Happening, Print};

impl<A: SimAddress> Network<A> {
    pub(crate) fn send_marked(
        &mut self,
        now: Instant,
        pair: (A, A),
        ecn: Ecn,
        datagram: Vec<u8>,
    ) -> Fate {
        self.now = self.now.max(now);
        let now = self.now;
        let print = Print::of(&datagram);
        #[cfg(feature = "swarm")]
        let is_short = matches!(datagram.first(), Some(0x40..=0x7F));
        let link = self.link_mut(pair);
        let before = link.next_delivery();
        let fate = link.send_marked(now, ecn, datagram);
        let after = link.next_delivery();
        self.reindex(pair, before, after);
        self.trace.record(self.now, pair, fate.into(), print);
        let damage = match fate {
            Fate::Carried { damaged: true, .. } => Happening::Damaged,
            Fate::BadChecksum { .. } => Happening::BadChecksum,
            Fate::Carried { .. } | Fate::Lost | Fate::QueueFull | Fate::TooLarge | Fate::Cut => {
                return fate;
            }
        };
        self.trace.record(self.now, pair, damage, print);
        #[cfg(feature = "swarm")]
        if damage == Happening::Damaged && !is_short {
            self.damaged.push(pair);
        }
        fate
    }

    pub(crate) fn receive_marked(&mut self, now: Instant) -> Option<((A, A), Ecn, Vec<u8>)> {
        self.now = self.now.max(now);
        let &(due, pair) = self.due.first()?;
        if due > self.now {
            return None;
        }
        let link = self.links.get_mut(&pair)?;
        let (ecn, datagram) = link.receive_marked(self.now)?;
        let after = link.next_delivery();
        self.reindex(pair, Some(due), after);
        let print = Print::of(&datagram);
        self.trace
            .record(self.now, pair, Happening::Delivered, print);
        Some((pair, ecn, datagram))
    }
}
