//! Two hosts over smoltcp: an interface on a loopback device, and a socket for each host.

use alloc::vec::Vec;

use porous_smoltcp::{ChannelId, Config, Event, Listen, Mode, SmolHost, time};
use smoltcp::iface::{Config as InterfaceConfig, Interface, SocketSet};
use smoltcp::phy::{Loopback, Medium};
use smoltcp::socket::udp::Socket;
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};

use crate::Counter;

type Toy = SmolHost<Counter>;

const HERE: IpAddress = IpAddress::v4(127, 0, 0, 1);

fn socket(host: &Toy, port: u16) -> Option<Socket<'static>> {
    let mut socket = Socket::new(host.packet_buffer(4), host.packet_buffer(4));
    socket.bind(port).ok()?;
    Some(socket)
}

/// Sends a packet to each peer that connects, and reads all others.
fn read(host: &mut Toy, received: &mut Vec<u8>) -> Option<()> {
    let host = host.host_mut();
    while let Some(event) = host.poll_event() {
        match event {
            Event::Connected { peer, .. } => {
                let hello = &b"hello"[..];
                host.send(peer, ChannelId(0), hello, Mode::Reliable).ok()?;
            }
            Event::Readable { peer } => {
                while let Some(packet) = host.receive(peer) {
                    received.extend_from_slice(&packet.payload);
                }
            }
            _ => {}
        }
    }
    Some(())
}

/// The packets that two hosts have received from each other after a while.
pub(crate) fn exchange() -> Option<Vec<u8>> {
    let mut now = Instant::ZERO;
    let mut device = Loopback::new(Medium::Ip);
    let config = InterfaceConfig::new(HardwareAddress::Ip);
    let mut interface = Interface::new(config, &mut device, now);
    let mut has_address = false;
    interface.update_ip_addrs(|all| has_address = all.push(IpCidr::new(HERE, 8)).is_ok());
    if !has_address {
        return None;
    }

    let mut client = Toy::new(Config::client(), Counter(1));
    let mut server = Toy::new(Config::new(), Counter(2));
    let mut sockets = SocketSet::new(Vec::new());
    let client_socket = sockets.add(socket(&client, 1)?);
    let server_socket = sockets.add(socket(&server, 2)?);
    server.host_mut().listen(Listen::Open).ok()?;
    let to = (HERE, 2).into();
    client.host_mut().connect(time::to_porous(now), to).ok()?;

    let mut received = Vec::new();
    for _ in 0..100 {
        interface.poll(now, &mut device, &mut sockets);
        client.step(now, sockets.get_mut(client_socket)).ok()?;
        server.step(now, sockets.get_mut(server_socket)).ok()?;
        read(&mut client, &mut received)?;
        read(&mut server, &mut received)?;
        now += Duration::from_millis(1);
    }
    Some(received)
}
