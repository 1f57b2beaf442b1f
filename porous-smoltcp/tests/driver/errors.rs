//! Tests of what the driver does about each error of its socket, by the table in the crate's
//! documentation. The sockets are smoltcp's own.

use porous_smoltcp::{
    BadAddress, Config, ConnectError, DisconnectReason, Listen, Mode, SmolHost, SocketClosed,
    SocketStats, time,
};
use smoltcp::phy::{ChecksumCapabilities, Device, Medium, TxToken};
use smoltcp::socket::udp::{PacketBuffer, PacketMetadata, Socket};
use smoltcp::time::Instant;
use smoltcp::wire::{
    IpAddress, IpEndpoint, IpProtocol, IpRepr, IpVersion, Ipv4Packet, UdpPacket, UdpRepr,
};

use crate::net::{CLIENT, Net, PATHS, PORTS, Path, SERVER};

const IPV4: Path = PATHS[0];

fn configs() -> [Config; 2] {
    [Config::client(), Config::new()]
}

/// A buffer with room for `entries` datagrams and `bytes`.
fn buffer(entries: usize, bytes: usize) -> PacketBuffer<'static> {
    PacketBuffer::new(vec![PacketMetadata::EMPTY; entries], vec![0; bytes])
}

#[test]
fn a_socket_that_is_closed_ends_the_driver_until_it_is_bound_again() {
    let mut net = Net::connected(IPV4, configs(), 4);
    net.socket(CLIENT).close();
    net.send(CLIENT, 0, Mode::Reliable, vec![7]);
    let end = &mut net.ends[CLIENT];
    let (due, stats) = (end.host.host().poll_timeout(), end.host.host().stats());
    let socket = net.sockets.get_mut(end.socket);
    for _ in 0..3 {
        assert_eq!(end.host.step(net.now, socket), Err(SocketClosed));
    }
    assert_eq!(end.host.host().poll_timeout(), due, "nothing has changed");
    assert_eq!(end.host.host().stats(), stats, "nothing has changed");

    net.socket(CLIENT).bind(PORTS[CLIENT]).unwrap();
    net.run_until("the packet", 5, |net| !net.ends[SERVER].received.is_empty());
    net.disconnect();
}

#[test]
fn a_datagram_to_no_address_is_lost_and_holds_no_other() {
    for path in PATHS {
        let none = match path.version {
            IpVersion::Ipv4 => IpAddress::v4(0, 0, 0, 0),
            IpVersion::Ipv6 => IpAddress::v6(0, 0, 0, 0, 0, 0, 0, 0),
        };
        let mut net = Net::new(path, configs(), 1);
        for (lost, to) in (1..).zip([(path.here(), 0), (none, 7777)]) {
            net.ask(to.into());
            net.turn();
            let stats = net.ends[CLIENT].host.socket_stats();
            assert_eq!((stats.send_lost, stats.send_delayed), (lost, 0), "{net}");
            assert_eq!(net.socket(CLIENT).send_queue(), 0, "{net}");
            let ended = net.ends[CLIENT].ended.take();
            assert_eq!(ended, Some(DisconnectReason::Unreachable), "{net}");
        }
        net.connect();
    }
}

#[test]
fn a_datagram_for_the_other_family_than_the_sockets_is_lost() {
    for path in PATHS {
        let other = match path.version {
            IpVersion::Ipv4 => PATHS[1].here(),
            IpVersion::Ipv6 => PATHS[0].here(),
        };
        let mut net = Net::new(path, configs(), 4);
        net.socket(CLIENT).close();
        net.socket(CLIENT)
            .bind((path.here(), PORTS[CLIENT]))
            .unwrap();
        net.ask((other, 7777).into());
        net.turn();
        net.turn();
        let stats = net.ends[CLIENT].host.socket_stats();
        assert_eq!((stats.send_lost, stats.send_delayed), (1, 0), "{net}");
        // A host of its own family is served.
        net.connect();
    }
}

#[test]
fn an_address_of_which_nothing_can_come_is_an_error() {
    for path in PATHS {
        let mut net = Net::new(path, configs(), 1);
        net.socket(CLIENT).close();
        net.socket(CLIENT)
            .bind((path.here(), PORTS[CLIENT]))
            .unwrap();
        let (any, all, other) = match path.version {
            IpVersion::Ipv4 => (
                IpAddress::v4(0, 0, 0, 0),
                IpAddress::v4(255, 255, 255, 255),
                PATHS[1].here(),
            ),
            IpVersion::Ipv6 => (
                IpAddress::v6(0, 0, 0, 0, 0, 0, 0, 0),
                IpAddress::v6(0xff02, 0, 0, 0, 0, 0, 0, 1),
                PATHS[0].here(),
            ),
        };
        let bad = [
            ((any, 7).into(), BadAddress::Unspecified),
            ((path.here(), 0).into(), BadAddress::PortZero),
            ((all, 7).into(), BadAddress::Broadcast),
            ((other, 7).into(), BadAddress::Family),
            ((path.here(), PORTS[CLIENT]).into(), BadAddress::Itself),
        ];
        let (now, good) = (net.now, net.endpoint(SERVER));
        let end = &mut net.ends[CLIENT];
        let socket = net.sockets.get(end.socket);
        for (to, why) in bad {
            let refused = Err(ConnectError::BadAddress(why));
            assert_eq!(end.host.connect(now, socket, to), refused, "{to}");
        }
        let mut all: Vec<_> = bad.iter().map(|(to, _)| *to).collect();
        let refused = Err(ConnectError::BadAddress(BadAddress::Unspecified));
        assert_eq!(end.host.connect_any(now, socket, &all), refused);
        all.push(good);
        let too_long = end.host.connect_with(now, socket, &all, &[7; 256]);
        assert_eq!(too_long, Err(ConnectError::TooLong));
        let peer = end.host.connect_any(now, socket, &all).unwrap();
        assert_eq!(end.host.host().address(peer), Some(good));
    }
}

#[test]
fn a_greeting_comes_with_the_request() {
    for path in PATHS {
        let mut net = Net::new(path, configs(), 4);
        let (now, to) = (net.now, net.endpoint(SERVER));
        let server = &mut net.ends[SERVER].host;
        server.host_mut().listen(Listen::Ask).unwrap();
        let end = &mut net.ends[CLIENT];
        let socket = net.sockets.get(end.socket);
        end.host
            .connect_with(now, socket, &[to], b"board 7")
            .unwrap();
        let came = |net: &Net| net.ends[SERVER].host.host().peers().next().is_some();
        net.run_until("the request", 10, came);
        let (_, peer) = net.ends[SERVER].host.host().peers().next().unwrap();
        assert_eq!(peer.greeting(), b"board 7", "{net}");
    }
}

#[test]
fn a_datagram_that_is_longer_than_the_whole_buffer_is_lost() {
    for (entries, bytes) in [(2, 1199), (0, 1200), (0, 0)] {
        let mut net = Net::new(IPV4, configs(), 4);
        let mut socket = Socket::new(buffer(4, 4800), buffer(entries, bytes));
        socket.bind(PORTS[CLIENT]).unwrap();
        *net.socket(CLIENT) = socket;
        net.ask(net.endpoint(SERVER));
        net.turn();
        let stats = net.ends[CLIENT].host.socket_stats();
        assert_eq!(
            (stats.send_lost, stats.send_delayed),
            (1, 0),
            "{entries} {bytes}"
        );
        net.run_until("the end", 20, |net| net.ends[CLIENT].ended.is_some());
        let ended = net.ends[CLIENT].ended;
        assert_eq!(ended, Some(DisconnectReason::NeverAnswered));
    }
}

#[test]
fn a_buffer_that_is_just_as_long_as_the_datagram_is_enough() {
    let mut net = Net::new(IPV4, configs(), 4);
    let mut socket = Socket::new(buffer(1, 1200), buffer(2, 1200));
    socket.bind(PORTS[CLIENT]).unwrap();
    // The next datagram has to wait for this one, and must not be taken for one that never fits.
    socket.send_slice(&[0], net.endpoint(SERVER)).unwrap();
    *net.socket(CLIENT) = socket;
    net.ask(net.endpoint(SERVER));
    let end = &mut net.ends[CLIENT];
    let socket = net.sockets.get_mut(end.socket);
    end.host.step(net.now, socket).unwrap();
    let stats = end.host.socket_stats();
    assert_eq!((stats.send_lost, stats.send_delayed), (0, 1));
    net.ends[SERVER]
        .host
        .host_mut()
        .listen(Listen::Open)
        .unwrap();
    net.run_until("the connection", 5, |net| net.ends[CLIENT].peer.is_some());
    assert_eq!(net.ends[CLIENT].host.socket_stats().send_lost, 0);
    net.disconnect();
}

/// The first datagram of a client.
fn request() -> Vec<u8> {
    let mut net = Net::new(IPV4, configs(), 1);
    net.ask(net.endpoint(SERVER));
    let mut request = vec![0; 1200];
    let host = net.ends[CLIENT].host.host_mut();
    let now = time::to_porous(Instant::ZERO);
    assert_eq!(
        host.poll_transmit(now, &mut request)
            .unwrap()
            .datagram
            .len(),
        1200
    );
    request
}

/// Puts an IPv4 packet into the device that no socket would send.
fn inject(net: &mut Net, from: IpEndpoint, to: IpEndpoint, payload: &[u8]) {
    let udp = UdpRepr {
        src_port: from.port,
        dst_port: to.port,
    };
    let len = udp.header_len() + payload.len();
    let ip = IpRepr::new(from.addr, to.addr, IpProtocol::Udp, len, 64);
    let checksums = ChecksumCapabilities::default();
    let token = net.device.transmit(net.now).unwrap();
    token.consume(ip.header_len() + len, |packet| {
        ip.emit(&mut *packet, &checksums);
        let mut packet = Ipv4Packet::new_unchecked(packet);
        let mut datagram = UdpPacket::new_unchecked(packet.payload_mut());
        let fill = |bytes: &mut [u8]| bytes.copy_from_slice(payload);
        udp.emit(
            &mut datagram,
            &from.addr,
            &to.addr,
            payload.len(),
            fill,
            &checksums,
        );
    });
}

#[test]
fn a_stranger_without_an_address_costs_the_answer_to_it() {
    let request = request();
    let mut net = Net::new(Path::new(Medium::Ip, IpVersion::Ipv4), configs(), 1);
    net.ends[SERVER]
        .host
        .host_mut()
        .listen(Listen::Open)
        .unwrap();
    let (here, to) = (net.path.here(), net.endpoint(SERVER));
    let strangers = [(here, 0), (IpAddress::v4(0, 0, 0, 0), 7)];
    for (count, from) in (1..).zip(strangers) {
        inject(&mut net, from.into(), to, &request);
        net.turn();
        let server = &net.ends[SERVER].host;
        assert_eq!(server.host().stats().datagrams_received, count);
        assert_eq!(server.socket_stats().send_lost, count);
    }
    net.connect();
}

#[test]
fn nothing_to_receive_is_no_error() {
    let mut net = Net::new(IPV4, configs(), 4);
    for _ in 0..3 {
        net.turn();
    }
    for end in &net.ends {
        assert_eq!(end.host.socket_stats(), SocketStats::default());
        assert_eq!(end.host.host().stats().datagrams_received, 0);
    }
}

#[test]
fn what_is_longer_than_any_datagram_of_the_host_is_read_and_ignored() {
    let mut net = Net::connected(IPV4, configs(), 4);
    let before = net.ends[SERVER].host.host().stats().datagrams_received;
    let (from, to) = ((net.path.here(), 9).into(), net.endpoint(SERVER));
    inject(&mut net, from, to, &[0; 1400]);
    inject(&mut net, from, to, &[]);
    net.turn();
    let stats = net.ends[SERVER].host.host().stats();
    assert_eq!(stats.datagrams_received - before, 2);
    net.disconnect();
}

#[test]
fn a_host_before_the_epoch_waits_for_it() {
    let rng = porous_sim::Seed::new(1).stream("host", 0);
    let mut host = SmolHost::new(Config::client(), rng);
    let mut socket = Socket::new(buffer(4, 4800), buffer(4, 4800));
    socket.bind(1).unwrap();
    let to = (IPV4.here(), 7777).into();
    let before = Instant::from_secs(-5);
    host.host_mut()
        .connect(time::to_porous(before), to)
        .unwrap();
    host.step(before, &mut socket).unwrap();
    assert_eq!(socket.send_queue(), 1200);
    let due = host.poll_at(before, &socket).unwrap();
    assert!(due > Instant::ZERO, "{due}");
}
