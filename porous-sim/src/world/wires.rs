//! All that a datagram passes between two hosts.

use alloc::vec::Vec;

use porous_proto::{Ecn, Instant};

use crate::intercept::{Gate, Hook};
use crate::nat::Nats;
use crate::{Network, SimAddress};

/// A datagram that one host has sent to another, with the ECN field of its IP header.
#[derive(Debug)]
pub(super) struct Passage<A> {
    /// The sender: the host itself as it leaves, the address of its router as it arrives.
    pub(super) from: A,
    /// The receiver: the address that the sender knows as it leaves, the host itself as it arrives.
    pub(super) to: A,
    pub(super) ecn: Ecn,
    pub(super) datagram: Vec<u8>,
}

/// The way from host to host: the sender's router, the gate of the test, the network, and the receiver's
/// router.
#[derive(Debug)]
pub(super) struct Wires<A> {
    pub(super) nats: Nats<A>,
    gate: Gate<A>,
    pub(super) network: Network<A>,
}

impl<A: SimAddress> Wires<A> {
    /// A network without routers, and an open gate.
    pub(super) const fn new(network: Network<A>) -> Self {
        Self {
            nats: Nats::new(),
            gate: Gate::new(),
            network,
        }
    }

    /// Lets the hook decide about datagrams from now on, or lets all pass.
    pub(super) fn set_hook(&mut self, hook: Option<Hook<A>>) {
        self.gate.set(hook);
    }

    /// When the next datagram arrives, or goes on after a delay.
    pub(super) fn next(&self) -> Option<Instant> {
        let both = [self.network.next_delivery(), self.gate.next()];
        both.into_iter().flatten().min()
    }

    /// Sends a datagram.
    pub(super) fn send(&mut self, now: Instant, passage: Passage<A>) {
        let Passage { to, ecn, .. } = passage;
        // The router comes before the gate: a hook sees the addresses that the network sees.
        let from = self.nats.leaves(now, passage.from, to);
        let datagram = (ecn, passage.datagram);
        self.gate.send(now, (from, to), datagram, &mut self.network);
    }

    /// The next datagram that reaches a host at `now` or before. There need not be such a host.
    pub(super) fn receive(&mut self, now: Instant) -> Option<Passage<A>> {
        // A delayed datagram may go over a link without delay, and arrive at this instant.
        self.gate.release(now, &mut self.network);
        loop {
            let ((from, to), ecn, datagram) = self.network.receive_marked(now)?;
            // A router that lets a datagram in is asked as it arrives, not as it is sent: the way in may
            // have been opened, or forgotten, meanwhile.
            if let Some(to) = self.nats.arrives(now, from, to) {
                return Some(Passage {
                    from,
                    to,
                    ecn,
                    datagram,
                });
            }
        }
    }

    /// Gives the host behind a router another outside address, with the links of the one before.
    ///
    /// # Panics
    ///
    /// If the host is behind no router.
    pub(super) fn rebind(&mut self, inside: A, outside: A) {
        let router = self.nats.router(inside).cloned();
        let mut router = router.unwrap_or_else(|| panic!("{inside:?} is behind no router"));
        router.outside = [outside].into();
        if let Some(before) = self.nats.set(inside, router) {
            self.network.copy_links(before, outside);
        }
    }
}
