//! IPv4, IPv6, and both.

use crate::lab::Lab;
use crate::space::Space;

/// A client and a server on one wire, each with addresses of both families.
fn wire(lab: &Lab) -> [Space; 2] {
    let [client, server] = ["client", "server"].map(|name| lab.space(name));
    lab.wire(
        (&client, &["10.1.0.1/24", "fd01::1/64"]),
        (
            &server,
            &["10.1.0.2/24", "fd01::2/64", "10.1.0.3/24", "fd01::3/64"],
        ),
    );
    [client, server]
}

/// Connects a client to a server at these addresses, and lets them exchange packets.
fn talk(name: &str, bind: &str, server_bind: &str, to: &str) {
    let Some(lab) = Lab::open(name) else { return };
    let [client, server] = wire(&lab);
    let mut server = server.host(&format!("{server_bind} listen"));
    let mut client = client.host(&format!("{bind} talk connect={to}"));
    assert_eq!(client.connected(), to);
    server.connected();
    client.hears(100);
}

#[test]
fn ipv4_over_a_wire() {
    talk("v4", "0.0.0.0:0", "0.0.0.0:7000", "10.1.0.2:7000");
}

#[test]
fn ipv6_over_a_wire() {
    talk("v6", "[fd01::1]:0", "[fd01::2]:7000", "[fd01::2]:7000");
}

#[test]
fn a_server_for_both_families_serves_clients_of_each_over_a_wire() {
    let Some(lab) = Lab::open("both") else { return };
    let [client, server] = wire(&lab);
    let mut server = server.host("[::]:7000 listen");
    let clients = [
        ("0.0.0.0:0", "10.1.0.2:7000"),
        ("[::]:0", "[fd01::2]:7000"),
        ("[::]:0", "10.1.0.2:7000"),
    ];
    let mut clients = clients.map(|(bind, to)| client.host(&format!("{bind} talk connect={to}")));
    for client in &mut clients {
        client.connected();
        client.hears(100);
    }
    let peers = clients.map(|_| server.connected());
    let of_ipv4 = peers
        .iter()
        .filter(|peer| peer.starts_with("10.1.0.1:"))
        .count();
    assert_eq!(of_ipv4, 2, "{peers:?}");
}

#[test]
fn a_server_with_many_addresses_answers_from_the_one_that_was_asked() {
    for (name, bind) in [("many4", "0.0.0.0:7000"), ("many6", "[::]:7000")] {
        let Some(lab) = Lab::open(name) else { return };
        let [client, server] = wire(&lab);
        let _server = server.host(&format!("{bind} listen"));
        let all = [
            "10.1.0.2:7000",
            "10.1.0.3:7000",
            "[fd01::2]:7000",
            "[fd01::3]:7000",
        ];
        for to in all
            .iter()
            .filter(|to| bind.starts_with('[') || !to.starts_with('['))
        {
            let mut client = client.host(&format!("[::]:0 talk connect={to}"));
            assert_eq!(client.connected(), *to);
            client.hears(20);
        }
    }
}
