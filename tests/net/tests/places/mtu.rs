//! A part of the path begins to take only shorter packets, in the middle of a connection.

use crate::actor::{Actor, Line};
use crate::lab::Lab;
use crate::space::Space;

/// A client, two routers and a server, with addresses of both families.
struct Path {
    client: Space,
    near: Space,
    far: Space,
    server: Space,
}

impl Path {
    fn new(lab: &Lab) -> Self {
        let path = Self {
            client: lab.space("c"),
            near: lab.router("n"),
            far: lab.router("f"),
            server: lab.space("s"),
        };
        let wire = |number: u8, a: &Space, b: &Space| {
            let ends = [1, 2].map(|last| {
                [
                    format!("10.{number}.0.{last}/24"),
                    format!("fd0{number}::{last}/64"),
                ]
            });
            let [a_end, b_end] = ends
                .each_ref()
                .map(|end| end.each_ref().map(String::as_str));
            lab.wire((a, &a_end), (b, &b_end));
        };
        wire(1, &path.near, &path.client);
        wire(2, &path.near, &path.far);
        wire(3, &path.far, &path.server);
        for (space, ipv4, ipv6) in [
            (&path.client, "10.1.0.1", "fd01::1"),
            (&path.near, "10.2.0.2", "fd02::2"),
            (&path.far, "10.2.0.1", "fd02::1"),
            (&path.server, "10.3.0.1", "fd03::1"),
        ] {
            space.run(&format!("ip route add default via {ipv4}"));
            space.run(&format!("ip -6 route add default via {ipv6}"));
        }
        path
    }

    /// A client that is connected to the server at this address, and the server. Both have found that the
    /// path carries datagrams of 1452 bytes, and send such.
    fn connect(&self, to: &str) -> [Actor; 2] {
        let mut server = self.server.host("[::]:7000 listen size=1380 pmtu=1452");
        let options = "[::]:0 talk size=1380 pmtu=1452 connect";
        let mut client = self.client.host(&format!("{options}={to}"));
        assert_eq!(client.connected(), to);
        for actor in [&mut client, &mut server] {
            let found = |line: &Line| line.is("peer") && line.value::<u16>("mtu") == 1452;
            actor.until("the largest datagram", found);
        }
        [client, server]
    }

    /// From now on the middle carries packets of 1280 bytes, the minimum of IPv6.
    fn shrink(&self) {
        self.near.run("ip link set to-f mtu 1280");
        self.far.run("ip link set to-n mtu 1280");
    }
}

/// Shrinks the path, and checks that everything goes on in datagrams that fit with `heads` bytes of
/// headers.
fn goes_on(mut actors: [Actor; 2], heads: u16, shrink: impl FnOnce()) {
    shrink();
    actors[0].hears(400);
    for actor in &mut actors {
        let mtu = actor.now("peer").map_or(0, |line| line.value::<u16>("mtu"));
        assert!((1200..=1280 - heads).contains(&mtu), "{mtu}");
    }
}

const IPV4: u16 = 20 + 8;
const IPV6: u16 = 40 + 8;

#[test]
fn a_path_that_shrinks_costs_no_connection() {
    let Some(lab) = Lab::open("mtu") else { return };
    let path = Path::new(&lab);
    goes_on(path.connect("10.3.0.2:7000"), IPV4, || path.shrink());
}

#[test]
fn a_path_of_ipv6_that_shrinks_costs_no_connection() {
    let Some(lab) = Lab::open("mtu6") else { return };
    let path = Path::new(&lab);
    goes_on(path.connect("[fd03::2]:7000"), IPV6, || path.shrink());
}

#[test]
fn a_path_that_shrinks_and_says_nothing_costs_no_connection() {
    let Some(lab) = Lab::open("hole") else { return };
    let path = Path::new(&lab);
    for router in [&path.near, &path.far] {
        router.firewall(
            "add table ip f; add chain ip f output { type filter hook output priority 0; }; \
             add rule ip f output icmp type destination-unreachable drop",
        );
    }
    goes_on(path.connect("10.3.0.2:7000"), IPV4, || path.shrink());
}

/// As with a tunnel that is switched on: the system refuses to send longer packets.
#[test]
fn a_device_that_takes_shorter_packets_than_before_costs_no_connection() {
    let Some(lab) = Lab::open("tunnel") else {
        return;
    };
    let path = Path::new(&lab);
    goes_on(path.connect("10.3.0.2:7000"), IPV4, || {
        path.client.run("ip link set to-n mtu 1280");
        path.near.run("ip link set to-c mtu 1280");
    });
}

/// The middle drops longer packets without an ICMP message: packets of 1000 bytes go on in fragments.
#[test]
fn a_path_that_carries_less_than_connections_begin_with_costs_no_connection() {
    let Some(lab) = Lab::open("narrow") else {
        return;
    };
    let path = Path::new(&lab);
    let mut server = path.server.host("[::]:7000 listen size=1000");
    let to = "10.3.0.2:7000";
    let options = format!("[::]:0 talk size=1000 connect={to}");
    let mut client = path.client.host(&options);
    assert_eq!(client.connected(), to);
    client.hears(50);
    path.near.firewall(
        "add table ip f; add chain ip f forward { type filter hook forward priority 0; }; \
         add rule ip f forward meta length > 800 drop",
    );
    for actor in [&mut client, &mut server] {
        let line = actor.until("a narrow path", |line| line.is("narrowed"));
        assert_eq!(line.value::<u16>("bytes"), 512);
    }
    client.hears(400);
}
