//! Sealed connections over links of all kinds.

use alloc::rc::Rc;
use core::cell::RefCell;

use porous_proto::{Disconnect, DisconnectReason, Mode};
use porous_sim::{Intercept, LinkConfig};

use crate::scene::{CLIENT, DELAY, MS, Packet, Plan, SECOND, SERVER, Scene};

const MODES: [Mode; 3] = [Mode::Unreliable, Mode::Reliable, Mode::Passive];

/// A link on which all goes wrong that can, and where no checksum of the system helps.
fn bad(loss: f64) -> LinkConfig {
    let link = LinkConfig::new().delay(DELAY).loss(loss);
    let link = link.reorder(20.0).reorder_by(100 * MS).duplicate(10.0);
    link.corrupt(5.0).truncate(2.0).udp_checksum(false)
}

#[test]
fn all_packets_come_over_a_clean_link() {
    for plan in Plan::all(3) {
        let mut scene = plan.connected();
        let models = scene.talk(&Packet::of(&MODES, 300), 5 * MS);
        for mode in MODES {
            for model in &models {
                assert_eq!(model.counts(mode), (100, 100), "{mode:?}");
            }
        }
        assert_eq!(scene.unopened(), 0);
        let calls = scene.recorder.calls();
        assert_eq!((calls.agree, calls.forged), (2, 0), "one for each host");
        assert!(calls.public_key <= 4, "{calls:?}");
    }
}

#[test]
fn reliable_packets_come_in_order_over_bad_links() {
    for plan in Plan::all(3) {
        for loss in [10.0, 20.0, 30.0] {
            let mut scene = plan.clone().link(bad(loss)).connected();
            let models = scene.talk(&Packet::of(&MODES, 200), 10 * MS);
            for model in &models {
                let (sent, got) = model.counts(Mode::Unreliable);
                assert!(got > sent / 4 && got < sent, "{got} of {sent}");
            }
            assert!(scene.unopened() > 0, "damage is seen");
            scene.check();
        }
    }
}

/// The phase bits of the short forms that this host sends, in their order.
fn phases(scene: &mut Scene, at: u32) -> Rc<RefCell<Vec<bool>>> {
    let phases = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&phases);
    scene.attack(move |passing, _| {
        if passing.from == at && passing.datagram[0] & 0xC0 == 0x40 {
            seen.borrow_mut().push(passing.datagram[0] & 8 != 0);
        }
        Intercept::Pass
    });
    phases
}

/// How often the key has changed.
fn changes(phases: &RefCell<Vec<bool>>) -> usize {
    let phases = phases.borrow();
    phases.windows(2).filter(|two| two[0] != two[1]).count()
}

#[test]
fn keys_that_change_all_the_time_cost_no_packet() {
    let link = LinkConfig::new().delay(DELAY).loss(30.0);
    let link = link.reorder(10.0).reorder_by(2 * SECOND).duplicate(5.0);
    let mut delivered = [0; 2];
    for plan in Plan::all(3) {
        let plan = plan.link(link);
        for (count, mut plan) in delivered.iter_mut().zip([plan.clone(), plan.plain()]) {
            plan.rekey_after = 16;
            let is_sealed = plan.suites.is_some();
            let mut scene = plan.connected();
            let phases = phases(&mut scene, SERVER);
            let models = scene.talk(&Packet::of(&MODES, 600), 10 * MS);
            let changes = changes(&phases);
            assert_eq!(changes > 10, is_sealed, "{changes}");
            for model in models {
                assert_eq!(model.counts(Mode::Reliable), (200, 200));
                *count += model.counts(Mode::Unreliable).1 + model.counts(Mode::Passive).1;
            }
            scene.check();
            assert_eq!(scene.ended(CLIENT), []);
            assert_eq!(scene.ended(SERVER), []);
        }
    }
    let [sealed, plain] = delivered;
    assert!(
        20 * sealed > 19 * plain,
        "{sealed}, but {plain} without a seal"
    );
}

#[test]
fn goodbyes_come_through_loss() {
    let link = LinkConfig::new().delay(DELAY).loss(30.0);
    for plan in Plan::all(5) {
        for at in [CLIENT, SERVER] {
            let mut scene = plan.clone().link(link).connected();
            scene.check();
            let peer = scene.peer(at);
            let how = Disconnect::Now { reason: 9 };
            scene.world.disconnect(at, peer, how).unwrap();
            scene.world.run_for(10 * SECOND);
            let other = CLIENT + SERVER - at;
            assert_eq!(scene.ended(at), [DisconnectReason::ByUs(9)]);
            assert_eq!(scene.ended(other), [DisconnectReason::ByPeer(9)]);
        }
    }
}
