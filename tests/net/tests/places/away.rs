//! A client whose network is away for a while.

use core::time::Duration;

use porous_sim::LinkConfig;

use crate::actor::Actor;
use crate::lab::Lab;
use crate::space::Space;
use crate::wan::Wan;

/// A client, a router and a server.
fn path(lab: &Lab) -> [Space; 3] {
    let (client, router, server) = (lab.space("c"), lab.router("r"), lab.space("s"));
    lab.wire((&client, &["10.1.0.2/24"]), (&router, &["10.1.0.1/24"]));
    lab.wire((&server, &["10.2.0.2/24"]), (&router, &["10.2.0.1/24"]));
    client.run("ip route add default via 10.1.0.1");
    server.run("ip route add default via 10.2.0.1");
    [client, router, server]
}

/// The number of datagrams that the system refused to send.
fn unsent(actor: &mut Actor) -> u64 {
    actor.now("socket").map_or(0, |line| line.value("unsent"))
}

/// Takes the network of one of the two away by the commands `lose`, gives it back after a second by the
/// commands `find`, and checks that everything goes on.
fn lose(name: &str, at_server: bool, bind: &str, lose: &[&str], find: &[&str]) {
    let Some(lab) = Lab::open(name) else { return };
    let [client_space, _router, server_space] = path(&lab);
    let mut server = server_space.host(&format!("{bind}:7000 listen"));
    let mut client = client_space.host("0.0.0.0:0 talk connect=10.2.0.2:7000");
    client.connected();
    server.connected();
    client.hears(50);
    let (space, actor) = if at_server {
        (server_space, &mut server)
    } else {
        (client_space, &mut client)
    };
    assert_eq!(unsent(actor), 0);
    for words in lose {
        space.run(words);
    }
    actor.reports(10);
    assert!(unsent(actor) > 0, "its network is there");
    for words in find {
        space.run(words);
    }
    client.hears(100);
}

#[test]
fn a_route_that_is_gone_for_a_second_costs_no_connection() {
    let route = "default via 10.1.0.1";
    lose(
        "route",
        false,
        "0.0.0.0",
        &[&format!("ip route delete {route}")],
        &[&format!("ip route add {route}")],
    );
}

#[test]
fn a_device_that_is_down_for_a_second_costs_no_connection() {
    lose(
        "down",
        false,
        "0.0.0.0",
        &["ip link set to-r down"],
        &["ip link set to-r up", "ip route add default via 10.1.0.1"],
    );
}

#[test]
fn a_server_whose_address_is_gone_for_a_second_loses_nobody() {
    for (name, bind) in [("all4", "0.0.0.0"), ("all6", "[::]"), ("one", "10.2.0.2")] {
        lose(
            name,
            true,
            bind,
            &["ip address delete 10.2.0.2/24 dev to-r"],
            &[
                "ip address add 10.2.0.2/24 dev to-r",
                "ip route add default via 10.2.0.1",
            ],
        );
    }
}

/// The host receives ICMP errors, too, and does not believe them, as anyone can send them.
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

/// As systems change addresses once a day, so that nobody can track them (RFC 8981).
#[test]
fn a_client_that_prefers_another_of_its_addresses_keeps_its_connection() {
    let Some(lab) = Lab::open("prefers") else {
        return;
    };
    let [client_space, server] = ["c", "s"].map(|name| lab.space(name));
    lab.wire((&client_space, &["fd01::1/64"]), (&server, &["fd01::2/64"]));
    let mut server = server.host("[::]:7000 listen roaming");
    let mut client = client_space.host("[::]:7000 talk connect=[fd01::2]:7000");
    client.connected();
    assert_eq!(server.connected(), "[fd01::1]:7000");
    client.hears(50);
    client_space.run("ip address add fd01::77/64 dev to-s");
    client_space.run("ip address change fd01::1/64 dev to-s preferred_lft 0");
    assert_eq!(server.moved(), ["[fd01::1]:7000", "[fd01::77]:7000"]);
    client.hears(50);
}

/// The server has an address on each line, and still answers from the one that was asked.
#[test]
fn a_client_whose_wire_is_cut_goes_on_over_another_line_that_is_slower() {
    let Some(lab) = Lab::open("lines") else {
        return;
    };
    let [client_space, _router, server_space] = path(&lab);
    let slow = LinkConfig::new().delay(Duration::from_millis(50));
    let ends = [
        (&client_space, "10.3.0.1/24"),
        (&server_space, "10.3.0.2/24"),
    ];
    let _wan = Wan::open(ends, slow, 1);
    let mut server = server_space.host("0.0.0.0:7000 listen roaming");
    let mut client = client_space.host("0.0.0.0:7000 talk connect=10.2.0.2:7000");
    client.connected();
    server.connected();
    client.hears(50);
    client_space.run("ip link set to-r down");
    client_space.run("ip route add 10.2.0.2 via 10.3.0.2 dev wan");
    assert_eq!(server.moved(), ["10.1.0.2:7000", "10.3.0.1:7000"]);
    client.hears(50);
    server.until("the new round-trip time", |line| {
        line.is("peer") && line.value::<u64>("rtt") >= 100
    });
}
