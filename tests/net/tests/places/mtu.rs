//! The line between two routers takes shorter packets than before, in the middle of a connection.

use crate::actor::{Actor, Line};
use crate::lab::Lab;
use crate::space::Space;

/// What a packet may be longer than a datagram: the heads of IPv4 and UDP.
const HEADS: u16 = 28;

/// What a host with one peer has found.
fn path_mtu(actor: &mut Actor) -> u16 {
    actor.now("peer").map_or(0, |line| line.value("mtu"))
}

/// The middle of the path shrinks from 1500 to 1280 bytes, the least of IPv6. The routers say so if
/// `tell`.
fn shrink(name: &str, tell: bool) {
    let Some(lab) = Lab::open(name) else { return };
    let (client, server) = (lab.space("c"), lab.space("s"));
    let (near, far) = (lab.router("n"), lab.router("f"));
    lab.wire((&client, &["10.1.0.2/24"]), (&near, &["10.1.0.1/24"]));
    lab.wire((&near, &["10.2.0.1/24"]), (&far, &["10.2.0.2/24"]));
    lab.wire((&server, &["10.3.0.2/24"]), (&far, &["10.3.0.1/24"]));
    for (space, router) in [
        (&client, "10.1.0.1"),
        (&near, "10.2.0.2"),
        (&far, "10.2.0.1"),
        (&server, "10.3.0.1"),
    ] {
        space.run(&format!("ip route add default via {router}"));
    }
    let routers: [(&Space, &str); 2] = [(&near, "to-f"), (&far, "to-n")];
    if !tell {
        for (router, _) in routers {
            router.firewall(
                "add table ip f; \
                 add chain ip f output { type filter hook output priority 0; }; \
                 add rule ip f output icmp type destination-unreachable drop",
            );
        }
    }

    let mut server = server.host("0.0.0.0:7000 listen size=1380 pmtu=1452");
    let mut client = client.host("0.0.0.0:0 talk size=1380 connect=10.3.0.2:7000 pmtu=1452");
    client.connected();
    let found = |line: &Line| line.is("peer") && line.value::<u16>("mtu") == 1452;
    client.until("the largest datagram", found);
    server.until("the largest datagram", found);

    for (router, device) in routers {
        router.run(&format!("ip link set {device} mtu 1280"));
    }
    client.hears(400);
    for actor in [&mut client, &mut server] {
        let mtu = path_mtu(actor);
        assert!((1200..=1280 - HEADS).contains(&mtu), "{mtu}");
    }
}

#[test]
fn a_path_that_shrinks_costs_no_connection() {
    shrink("mtu", true);
}

#[test]
fn a_path_that_shrinks_and_says_nothing_costs_no_connection() {
    shrink("hole", false);
}
