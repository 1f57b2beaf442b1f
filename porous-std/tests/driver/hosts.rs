//! Hosts for the tests, and functions that drive them.

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use porous_std::{
    ChannelId, Clock, Conditioner, Config, Event, Instant, Listen, Mode, PeerId, UdpHost,
};

/// Far longer than any of these tests waits.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

pub(crate) const TICK: Duration = Duration::from_millis(1);

pub(crate) fn elapsed(clock: &Clock) -> Duration {
    clock.now().saturating_duration_since(Instant::ZERO)
}

/// Drives both hosts until `wanted` accepts an event of the first, and returns what it made of it.
pub(crate) fn until<T, C: Conditioner, D: Conditioner>(
    host: &mut UdpHost<C>,
    other: &mut UdpHost<D>,
    wanted: impl Fn(Event<SocketAddr>) -> Option<T>,
) -> T {
    let clock = Clock::start();
    while elapsed(&clock) < LIMIT {
        other.step().unwrap();
        host.wait(TICK).unwrap();
        while let Some(event) = host.poll_event() {
            if let Some(found) = wanted(event) {
                return found;
            }
        }
    }
    panic!("the event did not come");
}

pub(crate) fn connected(event: Event<SocketAddr>) -> Option<(PeerId, SocketAddr)> {
    let Event::Connected { peer, address } = event else {
        return None;
    };
    Some((peer, address))
}

pub(crate) fn readable(event: Event<SocketAddr>) -> Option<PeerId> {
    let Event::Readable { peer } = event else {
        return None;
    };
    Some(peer)
}

pub(crate) fn server(address: &str) -> UdpHost {
    let mut server = UdpHost::bind(address, Config::new()).unwrap();
    server.listen(Listen::Open).unwrap();
    server
}

/// Connects the two, and sends a packet each way.
pub(crate) fn converse<C: Conditioner>(mut server: UdpHost, mut client: UdpHost<C>, to: IpAddr) {
    let to = SocketAddr::new(to, server.local_addr().unwrap().port());
    let peer = client.connect(to).unwrap();
    assert_eq!(until(&mut client, &mut server, connected), (peer, to));
    client
        .send(peer, ChannelId(0), &b"there"[..], Mode::Reliable)
        .unwrap();

    let (peer, address) = until(&mut server, &mut client, connected);
    assert_eq!(address.ip(), to.ip(), "as the client has it");
    assert_eq!(address.port(), client.local_addr().unwrap().port());
    assert_eq!(server.address(peer), Some(address));
    let readable_peer = until(&mut server, &mut client, readable);
    assert_eq!(readable_peer, peer);
    assert_eq!(server.receive(peer).unwrap().payload, "there");

    server
        .send(peer, ChannelId(0), vec![7; 5000], Mode::Passive)
        .unwrap();
    let peer = until(&mut client, &mut server, readable);
    assert_eq!(client.receive(peer).unwrap().payload, vec![7; 5000]);
}

pub(crate) fn client(address: &str) -> UdpHost {
    UdpHost::bind(address, Config::client()).unwrap()
}
