//! Two clients behind two routers, which are told of each other by a host outside and connect to each
//! other at the same time. How far that goes depends on the routers (RFC 4787, RFC 5128).

use crate::actor::Actor;
use crate::lab::Lab;
use crate::nat::{Mapping, nat};
use crate::space::Space;

/// The addresses that a router lets in to the port of its client.
#[derive(Clone, Copy, Debug)]
enum Filter {
    /// Addresses that the client has sent to, from the same port.
    Port,
    /// Addresses that the client has sent to, from any port.
    Address,
    /// All addresses.
    Open,
}

/// Lets more addresses in than connection tracking does by itself.
fn filter(router: &Space, filter: Filter) {
    let from = match filter {
        Filter::Port => return,
        Filter::Address => {
            router.firewall(
                "add set ip n known { type ipv4_addr; flags dynamic; timeout 1m; }; \
                 insert rule ip n post oifname to-p add @known { ip daddr }",
            );
            "ip saddr @known"
        }
        Filter::Open => "",
    };
    router.firewall(&format!(
        "add rule ip n pre iifname to-p {from} udp dport 7000 dnat to 10.1.0.2:7000"
    ));
}

/// A client and its router, with a host that connects to the one outside.
fn home(lab: &Lab, public: &Space, number: u8, (mapping, filtered): (Mapping, Filter)) -> Actor {
    let client = lab.space(&format!("c{number}"));
    let router = lab.router(&format!("n{number}"));
    // The homes have the same addresses inside, as many homes do.
    lab.wire((&client, &["10.1.0.2/24"]), (&router, &["10.1.0.1/24"]));
    let outside = |last: u8| format!("203.0.113.{}", 16 * number + last);
    let ends = [2, 1].map(|last| format!("{}/28", outside(last)));
    lab.wire((&router, &[&ends[0]]), (public, &[&ends[1]]));
    client.run("ip route add default via 10.1.0.1");
    router.run(&format!("ip route add default via {}", outside(1)));
    nat(&router, "to-p", mapping);
    filter(&router, filtered);
    // All ask the same address, that of the first line.
    client.host("0.0.0.0:7000 listen talk patience=3 connect=203.0.113.17:7000")
}

/// Two homes of these kinds. `Ok` if their clients connect to each other, or why not; `None` if this
/// machine cannot have a lab.
fn meet(name: &str, kinds: [(Mapping, Filter); 2]) -> Option<Result<(), String>> {
    let lab = Lab::open(name)?;
    let public = lab.router("p");
    let mut outside = public.host("0.0.0.0:7000 listen");
    let [first, second] = kinds;
    let mut clients = [
        home(&lab, &public, 1, first),
        home(&lab, &public, 2, second),
    ];
    // Sorted by address, as either may arrive first.
    let mut met = [outside.connected(), outside.connected()];
    met.sort();
    for (client, other) in clients.iter_mut().zip(met.iter().rev()) {
        client.connected();
        // A private address may be that of another machine in the other's network; here it is its own.
        client.command(&format!("connect 10.1.0.2:7000 {other}"));
    }
    let tried = clients.each_mut().map(Actor::tried);
    for (client, tried) in clients.iter_mut().zip(tried) {
        match tried {
            Ok(peer) => assert!(peer.starts_with("203.0.113."), "{peer}"),
            Err(reason) => return Some(Err(reason)),
        }
        client.hears(50);
    }
    Some(Ok(()))
}

const SYMMETRIC: (Mapping, Filter) = (Mapping::EachItsOwn, Filter::Port);

#[test]
fn clients_behind_routers_that_keep_ports_find_each_other() {
    let kind = (Mapping::KeepsPort, Filter::Port);
    if let Some(tried) = meet("cones", [kind, kind]) {
        assert_eq!(tried, Ok(()));
    }
}

#[test]
fn clients_behind_routers_that_change_ports_find_each_other() {
    let kind = |port| (Mapping::To(port), Filter::Port);
    if let Some(tried) = meet("ports", [kind(20_000), kind(30_000)]) {
        assert_eq!(tried, Ok(()));
    }
}

/// The other router lets a request in from the new port, and a host that listens takes it.
#[test]
fn a_client_behind_a_symmetric_router_finds_one_behind_a_router_that_lets_in() {
    for (name, filter) in [("open", Filter::Open), ("host", Filter::Address)] {
        let tried = meet(name, [SYMMETRIC, (Mapping::KeepsPort, filter)]);
        assert!(tried.is_none_or(|tried| tried == Ok(())), "{filter:?}");
    }
}

/// The port that the outside host saw is not the one that the other client would have to ask.
#[test]
fn a_client_behind_a_symmetric_router_does_not_find_one_behind_a_router_that_filters_ports() {
    for (name, other) in [
        ("symport", (Mapping::KeepsPort, Filter::Port)),
        ("symsym", SYMMETRIC),
    ] {
        let timed_out = Err("NeverAnswered".to_owned());
        let tried = meet(name, [SYMMETRIC, other]);
        assert!(tried.is_none_or(|tried| tried == timed_out), "{other:?}");
    }
}
