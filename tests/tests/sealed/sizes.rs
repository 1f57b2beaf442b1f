//! What a seal adds to a datagram.

use alloc::rc::Rc;
use core::cell::RefCell;

use porous_proto::Mode;
use porous_sim::Intercept;
use porous_tests::forge::is_short;

use crate::scene::{CLIENT, MS, Packet, Plan, SECOND};

/// The lengths of the datagrams that bring unreliable packets of 64 bytes.
fn lengths(plan: Plan) -> Vec<usize> {
    let mut scene = plan.connected();
    scene.run_for(2 * SECOND);
    let seen = Rc::new(RefCell::new(Vec::new()));
    let lengths = Rc::clone(&seen);
    scene.attack(move |passing, _| {
        // Others are acknowledgements and pings.
        if passing.from == CLIENT && is_short(passing.datagram) && passing.datagram.len() > 64 {
            lengths.borrow_mut().push(passing.datagram.len());
        }
        Intercept::Pass
    });
    for _ in 0..20 {
        assert!(scene.send(CLIENT, &Packet::new(0, Mode::Unreliable, vec![7; 64])));
        scene.run_for(100 * MS);
    }
    seen.take()
}

/// A tag of 16 bytes in the place of a check of 4.
#[test]
fn a_sealed_datagram_is_twelve_bytes_longer() {
    for plan in Plan::all(3) {
        let (sealed, plain) = (lengths(plan.clone()), lengths(plan.plain()));
        assert_eq!((sealed.len(), plain.len()), (20, 20));
        let differences = sealed
            .iter()
            .zip(&plain)
            .map(|(sealed, plain)| sealed - plain);
        assert!(
            differences.clone().all(|more| more == 12),
            "{sealed:?} and {plain:?}"
        );
    }
}
