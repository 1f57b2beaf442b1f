//! Routers that mark packets instead of dropping them, and routers that drop packets with marks
//! (RFC 3168).

use crate::actor::{Actor, Line};
use crate::lab::Lab;
use crate::space::Space;

/// A client and a server that use marks, and the router between them.
fn connect(lab: &Lab, bind: &str) -> (Actor, Actor, Space) {
    let (client, router, server) = (lab.space("c"), lab.router("r"), lab.space("s"));
    lab.wire((&client, &["10.1.0.2/24"]), (&router, &["10.1.0.1/24"]));
    lab.wire((&server, &["10.2.0.2/24"]), (&router, &["10.2.0.1/24"]));
    client.run("ip route add default via 10.1.0.1");
    server.run("ip route add default via 10.2.0.1");
    router.firewall(
        "add table ip f; add chain ip f forward { type filter hook forward priority 0; }",
    );
    let server = server.host(&format!("{bind}:7000 listen"));
    let mut client = client.host(&format!("{bind}:0 talk connect=10.2.0.2:7000"));
    client.connected();
    (client, server, router)
}

fn uses_marks(line: &Line, yes: bool) -> bool {
    line.is("peer") && line.value::<bool>("ecn") == yes
}

/// Also on sockets for both families, to which the system reports marks of IPv4 in another way.
#[test]
fn marks_of_a_router_are_told_to_the_sender() {
    for (name, bind) in [("mark4", "0.0.0.0"), ("mark6", "[::]")] {
        let Some(lab) = Lab::open(name) else { return };
        let (mut client, mut server, router) = connect(&lab, bind);
        client.until("marks in use", |line| uses_marks(line, true));
        router
            .firewall("add rule ip f forward ip ecn ect0 numgen random mod 100 < 20 ip ecn set ce");
        for actor in [&mut client, &mut server] {
            actor.until("marks", |line| {
                line.is("peer") && line.value::<u64>("marked") > 10
            });
        }
        client.hears(50);
        assert_eq!(client.now("peer").unwrap().value::<u64>("lost"), 0);
    }
}

#[test]
fn a_router_that_removes_marks_or_drops_what_has_them_costs_no_connection() {
    for (name, rule) in [
        ("bleach", "ip ecn set not-ect"),
        ("drop", "ip ecn != not-ect drop"),
    ] {
        let Some(lab) = Lab::open(name) else { return };
        let (mut client, _server, router) = connect(&lab, "0.0.0.0");
        client.hears(50);
        router.firewall(&format!("add rule ip f forward {rule}"));
        client.until("the end of marks", |line| uses_marks(line, false));
        client.hears(100);
    }
}
