//! A router that loses packets.

use crate::lab::Lab;

#[test]
fn a_router_that_loses_every_tenth_packet_by_chance_costs_no_reliable_one() {
    let Some(lab) = Lab::open("loss") else { return };
    let (client, router, server) = (lab.space("c"), lab.router("r"), lab.space("s"));
    lab.wire((&client, &["10.1.0.2/24"]), (&router, &["10.1.0.1/24"]));
    lab.wire((&server, &["10.2.0.2/24"]), (&router, &["10.2.0.1/24"]));
    client.run("ip route add default via 10.1.0.1");
    server.run("ip route add default via 10.2.0.1");
    router.firewall(
        "add table ip f; add chain ip f forward { type filter hook forward priority 0; }; \
         add rule ip f forward meta l4proto udp numgen random mod 100 < 10 counter drop",
    );
    let _server = server.host("0.0.0.0:7000 listen");
    let mut client = client.host("0.0.0.0:0 talk connect=10.2.0.2:7000");
    client.connected();
    client.hears(400);
    let lost = client.now("peer").unwrap().value::<u64>("lost");
    assert!(lost > 10, "{lost}");
}
