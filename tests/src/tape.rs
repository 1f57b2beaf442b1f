//! A record of the datagrams that hosts send.

use alloc::rc::Rc;
use core::cell::RefCell;

use porous_proto::Instant;
use porous_sim::{Intercept, Passing, World};

use crate::{Kind, kind};

/// A datagram that was sent, whether or not it arrived.
#[derive(Clone, Debug)]
pub struct Taped {
    /// The time of sending.
    pub at: Instant,
    /// The address of the sender.
    pub from: u32,
    /// The address of the receiver.
    pub to: u32,
    /// The bytes.
    pub datagram: Vec<u8>,
}

/// All datagrams that were sent since the recording began.
#[derive(Clone, Debug, Default)]
pub struct Tape(Rc<RefCell<Vec<Taped>>>);

impl Tape {
    /// All datagrams that were sent by now.
    #[must_use]
    pub fn all(&self) -> Vec<Taped> {
        self.0.borrow().clone()
    }

    /// The datagrams of this kind from this host.
    #[must_use]
    pub fn of(&self, from: u32, what: Kind) -> Vec<Taped> {
        let mut all = self.all();
        all.retain(|taped| taped.from == from && kind(&taped.datagram) == what);
        all
    }
}

/// Records all datagrams that are sent from now on. Replaces the hook of the world.
pub fn record(world: &mut World) -> Tape {
    record_while(world, |_| Intercept::Pass)
}

/// Records all datagrams that are sent from now on, while a hook decides what becomes of them.
pub fn record_while(
    world: &mut World,
    mut hook: impl FnMut(&Passing<'_, u32>) -> Intercept + 'static,
) -> Tape {
    let tape = Tape::default();
    let hand = tape.clone();
    world.intercept(move |passing| {
        hand.0.borrow_mut().push(Taped {
            at: passing.now,
            from: passing.from,
            to: passing.to,
            datagram: passing.datagram.to_vec(),
        });
        hook(passing)
    });
    tape
}
