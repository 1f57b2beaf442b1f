//! NATs as homes have them, made with nft.

use crate::lab::Lab;
use crate::space::Space;

/// The way in which a router maps the addresses of hosts behind it (RFC 4787).
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mapping {
    /// The port stays the same for all destinations, as long as no other host has it.
    KeepsPort,
    /// Another port for each destination: "symmetric".
    EachItsOwn,
    /// This port, for all datagrams from port 7000.
    To(u16),
}

impl Mapping {
    fn rule(self) -> String {
        match self {
            Self::KeepsPort => "masquerade".into(),
            Self::EachItsOwn => "meta l4proto udp masquerade to :20000-29999 fully-random".into(),
            Self::To(port) => format!("udp sport 7000 masquerade to :{port}"),
        }
    }
}

/// Makes a NAT of a router. Its outer side is the device `outer`. Only datagrams from addresses that a
/// host has sent to come in, and the router itself answers no one.
pub(crate) fn nat(router: &Space, outer: &str, mapping: Mapping) {
    router.firewall(&format!(
        "add table ip n; \
         add chain ip n post {{ type nat hook postrouting priority 100; }}; \
         add chain ip n pre {{ type nat hook prerouting priority -100; }}; \
         add chain ip n input {{ type filter hook input priority 0; }}; \
         add rule ip n input iifname {outer} drop; \
         add rule ip n post oifname {outer} {}",
        mapping.rule()
    ));
}

/// Makes the router forget its mappings, as when it is switched off, and map anew.
pub(crate) fn remap(router: &Space, outer: &str, mapping: Mapping) {
    let rule = mapping.rule();
    router.firewall(&format!(
        "flush chain ip n post; add rule ip n post oifname {outer} {rule}"
    ));
    router.run("conntrack -F");
}

/// A client behind a NAT, and a server.
fn behind_nat(lab: &Lab, mapping: Mapping) -> [Space; 3] {
    let (client, router, server) = (lab.space("c"), lab.router("r"), lab.space("s"));
    lab.wire((&client, &["10.1.0.2/24"]), (&router, &["10.1.0.1/24"]));
    lab.wire((&server, &["192.0.2.2/24"]), (&router, &["192.0.2.1/24"]));
    client.run("ip route add default via 10.1.0.1");
    nat(&router, "to-s", mapping);
    [client, router, server]
}

const CLIENT: &str = "0.0.0.0:7000 talk connect=192.0.2.2:7000 timeout=3";

/// Roaming is off, so that the server ignores datagrams from the new address.
#[test]
fn without_roaming_a_router_that_forgets_ends_the_connection() {
    let Some(lab) = Lab::open("forget") else {
        return;
    };
    let [client, router, server] = behind_nat(&lab, Mapping::To(20_000));
    let mut server = server.host("0.0.0.0:7000 listen timeout=3");
    let mut client = client.host(CLIENT);
    client.connected();
    assert_eq!(server.connected(), "192.0.2.1:20000");
    client.hears(50);
    remap(&router, "to-s", Mapping::To(30_000));
    for actor in [&mut client, &mut server] {
        assert_eq!(actor.ended(), "Silent");
    }
}

#[test]
fn a_router_that_forgets_costs_no_connection_of_a_server_that_roams() {
    let Some(lab) = Lab::open("roam") else { return };
    let [client, router, server] = behind_nat(&lab, Mapping::To(20_000));
    let mut server = server.host("0.0.0.0:7000 listen roaming timeout=3");
    let mut client = client.host(CLIENT);
    client.connected();
    server.connected();
    let mut from = "192.0.2.1:20000".to_owned();
    for port in [30_000, 20_000] {
        client.hears(50);
        remap(&router, "to-s", Mapping::To(port));
        let to = format!("192.0.2.1:{port}");
        assert_eq!(server.moved(), [from, to.clone()]);
        from = to;
    }
    client.hears(50);
}

#[test]
fn a_router_that_draws_another_port_costs_no_connection_of_a_server_that_roams() {
    let Some(lab) = Lab::open("draw") else { return };
    let [client, router, server] = behind_nat(&lab, Mapping::KeepsPort);
    let mut server = server.host("0.0.0.0:7000 listen roaming timeout=3");
    let mut client = client.host(CLIENT);
    client.connected();
    let before = server.connected();
    assert_eq!(before, "192.0.2.1:7000");
    client.hears(50);
    remap(&router, "to-s", Mapping::EachItsOwn);
    let [from, to] = server.moved();
    assert_eq!(from, before);
    assert!(to.starts_with("192.0.2.1:2"), "{to}");
    client.hears(50);
}

/// The server finds the client again when the client sends: an acknowledgement, or a ping at the latest.
#[test]
fn a_router_that_forgets_costs_no_connection_of_a_client_that_only_listens() {
    let Some(lab) = Lab::open("quiet") else {
        return;
    };
    let [client, router, server] = behind_nat(&lab, Mapping::To(20_000));
    let mut server = server.host("0.0.0.0:7000 listen roaming talk");
    let mut client = client.host("0.0.0.0:7000 connect=192.0.2.2:7000");
    client.connected();
    server.connected();
    server.hears(50);
    remap(&router, "to-s", Mapping::To(30_000));
    assert_eq!(server.moved(), ["192.0.2.1:20000", "192.0.2.1:30000"]);
    server.hears(50);
}

/// A server in a home, whose router forwards a port.
#[test]
fn a_server_behind_a_router_may_restart_and_clients_behind_another_come_back() {
    let Some(lab) = Lab::open("restart") else {
        return;
    };
    let (home, outside) = (lab.space("s"), lab.router("h"));
    let (client, router) = (lab.space("c"), lab.router("r"));
    lab.wire((&home, &["10.1.0.2/24"]), (&outside, &["10.1.0.1/24"]));
    lab.wire((&client, &["10.1.0.2/24"]), (&router, &["10.1.0.1/24"]));
    lab.wire((&outside, &["192.0.2.2/24"]), (&router, &["192.0.2.1/24"]));
    home.run("ip route add default via 10.1.0.1");
    client.run("ip route add default via 10.1.0.1");
    nat(&router, "to-h", Mapping::KeepsPort);
    nat(&outside, "to-r", Mapping::KeepsPort);
    outside.firewall("add rule ip n pre iifname to-r udp dport 7000 dnat to 10.1.0.2:7000");

    let server = home.host("0.0.0.0:7000 listen");
    let mut client = client.host("0.0.0.0:7000 talk connect=192.0.2.2:7000 timeout=60");
    assert_eq!(client.connected(), "192.0.2.2:7000");
    client.hears(50);
    drop(server);
    client.reports(5);
    let mut server = home.host("0.0.0.0:7000 listen");
    // The new server does not know the connection, and says so.
    assert_eq!(client.ended(), "LostByPeer");
    client.command("connect 192.0.2.2:7000");
    client.connected();
    assert_eq!(server.connected(), "192.0.2.1:7000");
    client.hears(50);
}
