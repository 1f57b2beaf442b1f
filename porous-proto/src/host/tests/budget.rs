//! The receive budget of a host whose peer does not keep to it.

use alloc::vec;
use alloc::vec::Vec;

use super::work::Victim;
use crate::frame::{Fragment, Message, Packet};
use crate::{Config, Disposition, Ignored, Mode};

const MAX_PACKET: u32 = 8000;
const BUDGET: u32 = MAX_PACKET + 64;
/// The bytes that a packet counts beside its length.
const CHARGE: usize = 64;
const FULL: usize = 1152;

fn packet(id: u32, mode: Mode, fragment: Option<Fragment>, payload: &[u8]) -> Message<&[u8]> {
    Message::Packet(Packet {
        mode,
        channel: 0,
        id,
        dependency: u16::from(id > 0),
        fragment,
        receipt: false,
        payload,
    })
}

#[test]
fn a_packet_that_was_thrown_out_for_its_own_fragment_is_counted_anew() {
    let config = Config::new().receive_budget(MAX_PACKET, BUDGET).unwrap();
    let mut victim = Victim::with(config);
    let part = |offset, payload| {
        let len = u32::try_from(FULL + 10).unwrap();
        packet(1, Mode::Unreliable, Fragment::new(offset, len), payload)
    };
    // The last fragment, which is short, comes first. Passive packets then leave room for the first
    // fragment if the last one makes room for it, but not for the 64 bytes of a packet that begins anew.
    let (short, long) = ([1; 10], [2; FULL]);
    assert_eq!(
        victim.take(None, &[part(1152, &short)]),
        Disposition::Handled(victim.peer)
    );
    let free = FULL - 20;
    let mut fill = BUDGET as usize - (short.len() + CHARGE) - free;
    for id in 2.. {
        if fill < CHARGE {
            break;
        }
        let payload: Vec<u8> = vec![3; (fill - CHARGE).min(FULL)];
        let taken = victim.take(None, &[packet(id, Mode::Passive, None, &payload)]);
        assert_eq!(taken, Disposition::Handled(victim.peer));
        fill -= payload.len() + CHARGE;
    }
    let kept = BUDGET as usize - free - fill;
    assert_eq!(victim.host.audit().kept, kept as u64);

    let taken = victim.take(None, &[part(0, &long)]);
    assert_eq!(taken, Disposition::Ignored(Ignored::OverBudget));
    assert!(victim.host.audit().kept <= BUDGET.into());
}
