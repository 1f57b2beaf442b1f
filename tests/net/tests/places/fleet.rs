//! Two servers behind a balancer, and clients behind a router that gives them other ports in mid-session. The
//! recipes of `docs/scale/` are used as they stand.

use crate::actor::Actor;
use crate::lab::Lab;
use crate::nat::{Mapping, nat, remap};
use crate::space::Space;

/// The clients of a test. With the ports that they have, and the hash of the recipe, both servers get some.
const CLIENTS: u16 = 6;

/// The address that clients connect to.
const PUBLIC: &str = "192.0.2.1:7777";

const RECIPE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scale/balancer.nft");

/// The machines of a test. The addresses are those of the recipes.
pub(crate) struct Fleet {
    clients: Space,
    router: Space,
    pub(crate) balancer: Space,
    servers: [Space; 2],
}

impl Fleet {
    pub(crate) fn new(lab: &Lab) -> Self {
        let fleet = Self {
            clients: lab.space("c"),
            router: lab.router("r"),
            balancer: lab.router("b"),
            servers: ["s1", "s2"].map(|name| lab.space(name)),
        };
        let (balancer, router) = (&fleet.balancer, &fleet.router);
        lab.wire(
            (&fleet.clients, &["10.9.0.2/24"]),
            (router, &["10.9.0.1/24"]),
        );
        lab.wire((router, &["192.0.2.2/24"]), (balancer, &["192.0.2.1/24"]));
        let [one, two] = &fleet.servers;
        lab.wire((one, &["10.0.1.2/24"]), (balancer, &["10.0.1.1/24"]));
        lab.wire((two, &["10.0.2.2/24"]), (balancer, &["10.0.2.1/24"]));
        fleet.clients.run("ip route add default via 10.9.0.1");
        one.run("ip route add default via 10.0.1.1");
        two.run("ip route add default via 10.0.2.1");
        nat(router, "to-b", Mapping::KeepsPort);
        fleet
    }

    /// Starts the servers, with these options.
    pub(crate) fn serve(&self, options: &str) -> [Actor; 2] {
        [1, 2].map(|id| {
            let all = format!("0.0.0.0:7777 listen timeout=3 id={id} {options}");
            self.servers[id - 1].host(&all)
        })
    }

    /// A client with this port, with these options.
    pub(crate) fn client(&self, port: u16, options: &str) -> Actor {
        let all = format!("0.0.0.0:{port} talk timeout=3 connect={PUBLIC} {options}");
        let mut client = self.clients.host(all.trim_end());
        assert_eq!(client.connected(), PUBLIC);
        client
    }

    /// Clients that are connected, `options` those of each by its number.
    pub(crate) fn clients(&self, options: impl Fn(u16) -> &'static str) -> Vec<Actor> {
        let client = |number| self.client(7000 + number, options(number));
        (0..CLIENTS).map(client).collect()
    }

    /// Gives each client another port.
    pub(crate) fn remap(&self) {
        remap(&self.router, "to-b", Mapping::EachItsOwn);
    }

    /// Lets clients connect, and gives them other ports: each server follows all of its own, and gets no other.
    pub(crate) fn assert_clients_with_new_ports_stay(&self) {
        let mut servers = self.serve("roaming");
        let mut clients = self.clients(|_| "");
        all_hear(&mut clients);
        let had = counts(&mut servers, "connected");
        assert_eq!(had.iter().sum::<usize>(), clients.len());
        assert!(had.iter().all(|had| *had > 0), "{had:?}");
        self.remap();
        all_hear(&mut clients);
        // A router that is busy may forget a mapping which it has just made, and give another port once more.
        let moved = counts(&mut servers, "moved");
        assert!(
            moved[0] >= had[0] && moved[1] >= had[1],
            "{moved:?} of {had:?}"
        );
        assert_eq!(counts(&mut servers, "connected"), had);
    }
}

/// Waits until all clients have more answers. It fails if the connection of any has ended.
pub(crate) fn all_hear(clients: &mut [Actor]) {
    for client in clients {
        client.hears(20);
    }
}

/// The number of lines of this kind that the servers have printed.
pub(crate) fn counts(servers: &mut [Actor; 2], word: &str) -> [usize; 2] {
    servers.each_mut().map(|server| server.count(word))
}

#[test]
fn clients_with_new_ports_stay_with_their_servers_behind_nftables() {
    let Some(lab) = Lab::open("nft") else { return };
    let fleet = Fleet::new(&lab);
    fleet.balancer.run(&format!("nft -f {RECIPE}"));
    fleet.assert_clients_with_new_ports_stay();
}

#[test]
fn a_server_that_is_taken_from_newcomers_keeps_its_clients() {
    let Some(lab) = Lab::open("leave") else {
        return;
    };
    let fleet = Fleet::new(&lab);
    fleet.balancer.run(&format!("nft -f {RECIPE}"));
    let mut servers = fleet.serve("roaming");
    let mut clients = fleet.clients(|_| "");
    let [first, _] = counts(&mut servers, "connected");
    assert!(first > 0);
    fleet.balancer.firewall(
        "delete element ip porous newcomers { 0 }; \
         add element ip porous newcomers { 0 : 10.0.2.2 }",
    );
    clients.extend((0..CLIENTS).map(|number| fleet.client(8000 + number, "")));
    fleet.remap();
    all_hear(&mut clients);
    let all = clients.len();
    assert_eq!(counts(&mut servers, "connected"), [first, all - first]);
}
