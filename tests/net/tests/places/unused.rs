//! Requests from forged, unused addresses of the server's own network. The server's kernel asks the link
//! for each address, and keeps the answer to it for three seconds.

use std::sync::{Mutex, PoisonError};

use crate::actor::Actor;
use crate::lab::Lab;
use crate::space::Space;

/// The number of clients.
const CLIENTS: usize = 6;

/// The longest time that a peer's question may wait for its answer, in milliseconds. Each host takes up to
/// 10 ms of it until it looks at its socket.
const PATIENCE: u64 = 50;

/// The length of the flood, in tenths of a second: longer than a kernel keeps an answer.
const TENTHS: usize = 45;

/// The first of the unused addresses, and the server.
const IPV4: [&str; 2] = ["10.9.1.0:0", "10.9.0.1:7000"];
const IPV6: [&str; 2] = ["[fd09::1:0]:0", "[fd09::1]:7000"];

/// Held during a flood: the delays of several floods at once would be those of the processor.
static FLOOD: Mutex<()> = Mutex::new(());

/// A server, a machine that forges, and one with clients, all on one network, and a machine beyond a
/// router.
fn network(lab: &Lab) -> [Space; 4] {
    let [server, forger, clients, switch] = ["s", "f", "c", "w"].map(|name| lab.space(name));
    let (router, newcomer) = (lab.router("r"), lab.space("n"));
    switch.run("ip link add name sw type bridge");
    switch.run("ip link set sw up");
    let ends: [(&Space, &[&str]); 4] = [
        (&server, &["10.9.0.1/16", "fd09::1/64"]),
        (&forger, &["fd09::4/64"]),
        (&clients, &["10.9.0.2/16"]),
        (&router, &["10.9.0.3/16"]),
    ];
    for end in ends {
        lab.wire(end, (&switch, &[]));
        switch.run(&format!("ip link set to-{} master sw", end.0.name()));
    }
    // The forger may send from addresses that it does not have, and answers for none of them.
    forger.set("net/ipv6/ip_nonlocal_bind", "1");
    forger.set("net/ipv4/conf/all/arp_ignore", "8");
    forger.set("net/ipv4/conf/to-w/arp_ignore", "8");
    forger.run("ip route add local 10.9.0.0/16 dev lo");
    forger.run("ip rule add pref 5 to 10.9.0.1 lookup main");
    forger.run("ip rule add pref 10 lookup local");
    forger.run("ip rule delete pref 0");
    forger.run("ip route add 10.9.0.1/32 dev to-w");
    lab.wire((&newcomer, &["10.2.0.2/24"]), (&router, &["10.2.0.1/24"]));
    newcomer.run("ip route add default via 10.2.0.1");
    server.run("ip route add default via 10.9.0.3");
    [server, forger, clients, newcomer]
}

/// The longest time that each client waits for an answer, for each tenth of a second.
fn waits(clients: &mut [Actor], tenths: usize) -> Vec<u64> {
    let mut waits = Vec::new();
    for _ in 0..tenths {
        for client in &mut *clients {
            let line = client.until("how long it waits", |line| line.is("peer"));
            waits.push(line.value("slowest"));
        }
    }
    waits
}

/// Floods a server whose socket has a send buffer of `buffer` bytes with `rate` requests a second.
fn flood(name: &str, buffer: u32, rate: u32, from_to: [&str; 2]) {
    let Some(lab) = Lab::open(name) else { return };
    let _alone = FLOOD.lock().unwrap_or_else(PoisonError::into_inner);
    let [server_space, forger, clients, newcomer] = network(&lab);
    let mut server = server_space.host(&format!("[::]:7000 listen buffer={buffer}"));
    let mut clients: Vec<_> = (0..CLIENTS)
        .map(|_| clients.host("0.0.0.0:0 talk size=1000 connect=10.9.0.1:7000"))
        .collect();
    for client in &mut clients {
        client.connected();
    }
    // Until waits from the time of connecting are no longer reported.
    waits(&mut clients, 10);
    let [from, to] = from_to;
    let mut flood = forger.host(&format!("{from} flood={to} rate={rate}"));
    let waits = waits(&mut clients, TENTHS);
    let sent: u64 = flood.now("flood").unwrap().value("sent");
    let withheld: u64 = server.now("socket").unwrap().value("withheld");
    let asked = server_space
        .run("ip neigh show nud incomplete nud failed dev to-w")
        .lines()
        .count();
    assert!(
        sent > 1000 && withheld > 100 && asked > 50,
        "{sent} {withheld} {asked}"
    );
    let slowest = waits.iter().max().unwrap();
    eprintln!("{sent} requests, {withheld} answers withheld: {slowest} ms at most");
    // Once, the processor may have run another process.
    let late = waits.iter().filter(|&&wait| wait > PATIENCE).count();
    assert!(
        late * 20 < waits.len(),
        "{late} late of {}: {waits:?}",
        waits.len()
    );
    // A newcomer that is no neighbour is let in.
    newcomer.host("0.0.0.0:0 connect=10.9.0.1:7000").connected();
}

#[test]
fn few_requests_of_unused_addresses_delay_no_connected_peer() {
    flood("few", 425_984, 400, IPV4);
}

#[test]
fn many_requests_of_unused_addresses_delay_no_connected_peer() {
    flood("many", 425_984, 10_000, IPV4);
}

#[test]
fn requests_of_unused_addresses_delay_nobody_of_a_server_with_a_small_buffer() {
    flood("small", 65_536, 10_000, IPV4);
}

#[test]
fn requests_of_unused_addresses_of_ipv6_delay_no_connected_peer() {
    flood("six", 425_984, 10_000, IPV6);
}
