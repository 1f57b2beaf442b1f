//! A client whose network is away for a while.

use crate::actor::Actor;
use crate::lab::Lab;
use crate::space::Space;

/// A client, a router and a server.
fn path(lab: &Lab) -> [Space; 3] {
    let (client, router, server) = (lab.space("c"), lab.router("r"), lab.space("s"));
    lab.wire((&client, &["10.1.0.2/24"]), (&router, &["10.1.0.1/24"]));
    lab.wire((&server, &["10.2.0.2/24"]), (&router, &["10.2.0.1/24"]));
    client.run("ip route add default via 10.1.0.1");
    server.run("ip route add default via 10.2.0.1");
    [client, router, server]
}

/// How many datagrams the system refused to send.
fn unsent(actor: &mut Actor) -> u64 {
    actor.now("socket").map_or(0, |line| line.value("unsent"))
}

/// What the client loses for a second, and gets back.
fn lose(name: &str, lose: &[&str], find: &[&str]) {
    let Some(lab) = Lab::open(name) else { return };
    let [client_space, _router, server] = path(&lab);
    let _server = server.host("0.0.0.0:7000 listen");
    let mut client = client_space.host("0.0.0.0:0 talk connect=10.2.0.2:7000");
    client.connected();
    client.hears(50);
    assert_eq!(unsent(&mut client), 0);
    for words in lose {
        client_space.run(words);
    }
    client.reports(10);
    assert!(unsent(&mut client) > 0, "its network is there");
    for words in find {
        client_space.run(words);
    }
    client.hears(100);
}

#[test]
fn a_route_that_is_gone_for_a_second_costs_no_connection() {
    let route = "default via 10.1.0.1";
    lose(
        "route",
        &[&format!("ip route delete {route}")],
        &[&format!("ip route add {route}")],
    );
}

#[test]
fn a_device_that_is_down_for_a_second_costs_no_connection() {
    lose(
        "down",
        &["ip link set to-r down"],
        &["ip link set to-r up", "ip route add default via 10.1.0.1"],
    );
}

/// The host is told by ICMP, too, and does not believe it, as anyone can send that.
#[test]
fn a_router_that_says_unreachable_for_a_second_ends_nothing() {
    let Some(lab) = Lab::open("icmp") else { return };
    let [client, router, server] = path(&lab);
    let _server = server.host("0.0.0.0:7000 listen");
    let mut client = client.host("0.0.0.0:0 talk connect=10.2.0.2:7000");
    client.connected();
    client.hears(50);
    router.firewall(
        "add table ip f; add chain ip f forward { type filter hook forward priority 0; }; \
         add rule ip f forward meta l4proto udp reject with icmp type port-unreachable",
    );
    client.reports(10);
    router.firewall("delete table ip f");
    client.hears(100);
}

/// A phone that goes from one network to another: its old address is gone before it has the new one.
#[test]
fn a_client_with_a_new_address_keeps_its_connection_to_a_server_that_roams() {
    let Some(lab) = Lab::open("address") else {
        return;
    };
    let [client_space, _router, server] = path(&lab);
    let mut server = server.host("0.0.0.0:7000 listen roaming");
    let mut client = client_space.host("0.0.0.0:7000 talk connect=10.2.0.2:7000");
    client.connected();
    assert_eq!(server.connected(), "10.1.0.2:7000");
    client.hears(50);
    client_space.run("ip address delete 10.1.0.2/24 dev to-r");
    client.reports(3);
    client_space.run("ip address add 10.1.0.77/24 dev to-r");
    client_space.run("ip route add default via 10.1.0.1");
    assert_eq!(server.moved(), ["10.1.0.2:7000", "10.1.0.77:7000"]);
    client.hears(50);
}
