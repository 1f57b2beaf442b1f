//! Attackers that copy, invent and repeat datagrams from other addresses: they move no peer, and few
//! bytes are sent to them.

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use core::cell::RefCell;

use porous_proto::PeerId;
use porous_sim::{Intercept, LinkConfig, World};

use super::{A, B, MS, ROUTER, SECOND, deliver, moves, receive, send, simple};

/// The sender, the receiver and the bytes of a datagram that passes.
type Seen = Rc<RefCell<Vec<(u32, u32, Vec<u8>)>>>;

/// A connection of which an attacker sees each datagram.
fn tapped(seed: u64) -> (World, PeerId, PeerId, Seen) {
    let (mut world, client, server) = simple(seed);
    let seen = Seen::default();
    let tap = Rc::clone(&seen);
    world.intercept(move |passing| {
        let datagram = passing.datagram.to_vec();
        tap.borrow_mut().push((passing.from, passing.to, datagram));
        Intercept::Pass
    });
    (world, client, server, seen)
}

/// Copies of the datagrams of the client come from these addresses, before the originals if `early` is
/// true, else after them. Both hosts send meanwhile. Returns by address the bytes of the copies, and the
/// bytes that B sent to it.
fn copies(from: &[u32], early: bool, seed: u64) -> (World, [PeerId; 2], BTreeMap<u32, [u64; 2]>) {
    let (mut world, client, server, seen) = tapped(seed);
    let mut bytes = BTreeMap::<u32, [u64; 2]>::new();
    for n in 0..200 {
        send(&mut world, A, client, [n]);
        send(&mut world, B, server, [n]);
        world.flush(A);
        // A copy that a neighbour of B sends at once arrives before the original.
        for (source, _, datagram) in seen.take() {
            if source == ROUTER {
                for &copy in from {
                    let delay = if early { MS } else { 31 * MS };
                    let link = LinkConfig::new().delay(delay);
                    world.network_mut().set_link(copy, B, link);
                    bytes.entry(copy).or_default()[0] += datagram.len() as u64;
                    world.inject(copy, B, datagram.clone());
                }
            }
        }
        world.run_for(50 * MS);
        count(&seen, from, &mut bytes);
    }
    (world, [client, server], bytes)
}

/// Counts the bytes that B has sent to these addresses.
fn count(seen: &Seen, to: &[u32], bytes: &mut BTreeMap<u32, [u64; 2]>) {
    for (_, target, datagram) in seen.borrow().iter() {
        if to.contains(target) {
            bytes.entry(*target).or_default()[1] += datagram.len() as u64;
        }
    }
}

/// D10.
#[test]
fn copies_from_other_addresses_move_no_peer_and_get_few_bytes() {
    for early in [true, false] {
        for count in [1, 100] {
            let from: Vec<u32> = (5000..5000 + count).collect();
            let (mut world, [client, server], bytes) = copies(&from, early, count.into());
            let what = format!("{early} {count}");
            assert_eq!(moves(&mut world), [], "{what}");
            assert_eq!(world.host(B).address(server), Some(ROUTER), "{what}");
            let all: Vec<u8> = (0..200).collect();
            assert_eq!(receive(&mut world, A, client), all, "{what}");
            assert_eq!(receive(&mut world, B, server), all, "{what}");
            let asked = bytes.values().filter(|[_, got]| *got > 0).count();
            for (address, [sent, got]) in bytes {
                assert!(got <= 3 * sent, "{what}: {address} sent {sent}, got {got}");
            }
            // A copy that comes after the original is not the newest frame, and its address is not
            // challenged.
            assert_eq!(asked > 0, early, "{what}: {asked} were asked");
        }
    }
}

#[test]
fn early_copies_from_many_addresses_delay_a_move_only_while_they_come() {
    let from: Vec<u32> = (5000..5100).collect();
    let (mut world, [client, server], _) = copies(&from, true, 1);
    world.rebind(A, ROUTER + 1);
    send(&mut world, A, client, [1]);
    world.run_for(1500 * MS);
    send(&mut world, A, client, [2]);
    world.run_for(SECOND);
    assert_eq!(moves(&mut world), [(ROUTER, ROUTER + 1)]);
    receive(&mut world, B, server);
    deliver(&mut world, A, client, (B, server), 200 * MS);
}
