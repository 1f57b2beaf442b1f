//! Clients that get each other's addresses.
#![expect(clippy::unwrap_used, reason = "a test")]

use porous_proto::{Config, Integrity, Listen, PeerId};
use porous_sim::{LinkConfig, Seed, World};
use porous_tests::{config, connected, events};

use super::{A, B, MS, ROUTER, SECOND, receive, send};

const C: u32 = 3;
/// The outside address of C.
const BESIDE: u32 = ROUTER + 50;
const NEW: u32 = ROUTER + 60;

/// Two clients of this kind behind a router, and B's peer ids of them.
struct Neighbours {
    world: World,
    clients: [PeerId; 2],
    servers: [PeerId; 2],
}

impl Neighbours {
    fn new(client: &Config) -> Self {
        let link = LinkConfig::new().delay(30 * MS);
        let mut world = World::new(Seed::new(1), link);
        let server = config::new().roaming(true).integrity(Integrity::Crc32c);
        world.add_host(B, server);
        world.host_mut(B).listen(Listen::Open).unwrap();
        let mut join = |host, outside| {
            world.add_host(host, client.clone());
            world.add_nat(host, outside, 30 * SECOND);
            let own = world.connect(host, B).unwrap();
            world.run_for(SECOND);
            (own, connected(&events(&mut world, B))[0])
        };
        let (a, c) = (join(A, ROUTER), join(C, BESIDE));
        Self {
            world,
            clients: [a.0, c.0],
            servers: [a.1, c.1],
        }
    }

    /// Each client and the server send each other this packet, and receive nothing else.
    fn talk(&mut self, word: u8) {
        for (n, host) in (0..).zip([A, C]) {
            send(
                &mut self.world,
                host,
                self.clients[usize::from(n)],
                [word + n],
            );
            send(
                &mut self.world,
                B,
                self.servers[usize::from(n)],
                [word + n + 2],
            );
        }
        self.world.run_for(3 * SECOND);
        for (n, host) in (0..).zip([A, C]) {
            let client = self.clients[usize::from(n)];
            let server = self.servers[usize::from(n)];
            assert_eq!(receive(&mut self.world, B, server), [word + n]);
            assert_eq!(receive(&mut self.world, host, client), [word + n + 2]);
        }
    }
}

#[test]
fn clients_may_swap_their_addresses() {
    for length in [0, 4] {
        let client = config::client().connection_id_len(length).unwrap();
        let mut both = Neighbours::new(&client);
        both.talk(10);
        both.world.rebind(A, NEW);
        both.world.rebind(C, ROUTER);
        both.world.rebind(A, BESIDE);
        both.talk(20);
        let [a, c] = both
            .servers
            .map(|server| both.world.host(B).address(server));
        assert_eq!((a, c), (Some(BESIDE), Some(ROUTER)));
        both.talk(30);
    }
}

#[test]
fn the_old_port_of_a_client_may_be_that_of_another_one_that_is_connected() {
    let mut both = Neighbours::new(&config::client());
    both.world.rebind(A, NEW);
    both.world.rebind(C, ROUTER);
    both.talk(10);
    let [a, c] = both
        .servers
        .map(|server| both.world.host(B).address(server));
    assert_eq!((a, c), (Some(NEW), Some(ROUTER)));
}

/// A third client, which comes when A has got another address, and gets A's old one.
fn newcomer(a_is_heard: bool) -> (Neighbours, Vec<PeerId>) {
    const D: u32 = 4;
    let mut both = Neighbours::new(&config::client());
    both.world.rebind(A, NEW);
    if a_is_heard {
        both.talk(10);
    }
    both.world.add_host(D, config::client());
    both.world.add_nat(D, ROUTER, 30 * SECOND);
    both.world.connect(D, B).unwrap();
    both.world.run_for(400 * MS);
    let new = connected(&events(&mut both.world, B));
    (both, new)
}

#[test]
fn a_newcomer_gets_the_old_address_of_a_peer_that_was_heard_at_its_new_one() {
    let (mut both, new) = newcomer(true);
    assert_eq!(new.len(), 1);
    both.talk(20);
    assert_eq!(both.world.host(B).address(new[0]), Some(ROUTER));
}

#[test]
fn a_newcomer_at_the_address_of_an_unheard_peer_is_taken_for_its_restart() {
    let (both, new) = newcomer(false);
    assert_eq!(new.len(), 1);
    let peers = both.world.host(B).peers();
    let live = peers.filter(|(_, peer)| peer.state() == porous_proto::PeerState::Connected);
    // C and the newcomer; under the paper's policy B has heard of A in the meantime.
    assert_eq!(live.count(), config::by_policy(2, 3));
}
