//! Clients that send nothing, behind a router that gives them another port.

use porous_proto::{PeerState, Policy};
use porous_tests::state;

use super::*;

/// A client and a server with these timeouts, in seconds; the client sends nothing.
fn idle(seed: u64, timeouts: [u32; 2], policy: Policy, link: LinkConfig) -> (World, [PeerId; 2]) {
    let [client, server] = timeouts;
    let host = |config: Config, timeout| config.policy(policy).timeout(timeout * SECOND).unwrap();
    let (client, server) = (
        host(config::client(), client),
        host(config::new().roaming(true), server),
    );
    let (world, client, server) = connect_as(seed, link, client, server);
    (world, [client, server])
}

const TIMEOUTS: [u32; 6] = [2, 4, 10, 30, 60, 600];

/// Pings have to keep to the shorter of the two timeouts. D13.
#[test]
fn no_idle_client_is_lost_when_its_router_forgets_it() {
    for policy in [Policy::Modern, Policy::Paper] {
        for timeouts in TIMEOUTS.into_iter().flat_map(|a| TIMEOUTS.map(|b| [a, b])) {
            for number in 0..40 {
                let seed = 100 * u64::from(timeouts[0] + timeouts[1]) + number;
                let (mut world, [client, server]) = idle(seed, timeouts, policy, LinkConfig::new());
                world.run_for(5 * SECOND + 137 * MS * u32::try_from(number).unwrap());
                world.rebind(A, ROUTER + 1);
                world.run_for((timeouts[0].min(timeouts[1]) + 2) * SECOND);
                let states = [(A, client), (B, server)].map(|(at, peer)| state(&world, at, peer));
                let context = format!("{timeouts:?} {policy:?}, {}", world.seed());
                assert_eq!(states, [Some(PeerState::Connected); 2], "{context}");
                assert_eq!(moves(&mut world), [(ROUTER, ROUTER + 1)], "{context}");
            }
        }
    }
}

/// An exchange has two datagrams, the ping and its answer, and by it both hosts learn that the other is there.
/// D13.
#[test]
fn one_exchange_of_pings_in_a_quarter_of_the_shorter_timeout_is_enough_for_both() {
    for timeouts in [[10, 10], [10, 60], [60, 10], [4, 30], [2, 30], [30, 4]] {
        let (mut world, _) = idle(7, timeouts, Policy::Modern, LinkConfig::new());
        world.run_for(10 * SECOND);
        let sent = |world: &World| -> u64 {
            let sent = |at| world.host(at).stats().datagrams_sent;
            sent(A) + sent(B)
        };
        let before = sent(&world);
        world.run_for(600 * SECOND);
        let sent = sent(&world) - before;
        let quarters = u64::from(4 * 600 / timeouts[0].min(timeouts[1]));
        let most = 2 * quarters;
        assert!((most / 2..=most).contains(&sent), "{timeouts:?}: {sent}");
    }
}
