//! Strangers that send more than a host can read.

use allocation_counter::measure;
use porous_smoltcp::{ChannelId, Config, Mode};
use smoltcp::iface::SocketHandle;
use smoltcp::socket::udp::{PacketBuffer, PacketMetadata, Socket};

use crate::net::{CLIENT, Net, PATHS, PORTS, SERVER};

/// The most datagrams that a step takes in, as the crate's documentation says.
const RECEIVES_PER_STEP: usize = 1024;

fn configs() -> [Config; 2] {
    [Config::client(), Config::new()]
}

/// Room for very many small datagrams.
fn wide() -> PacketBuffer<'static> {
    PacketBuffer::new(vec![PacketMetadata::EMPTY; 4096], vec![0; 1 << 17])
}

/// A socket on the same interface that is no peer.
fn stranger(net: &mut Net) -> SocketHandle {
    let mut socket = Socket::new(wide(), wide());
    socket.bind(9).unwrap();
    net.sockets.add(socket)
}

/// Sends `count` datagrams of 16 bytes to the server.
fn flood(net: &mut Net, stranger: SocketHandle, count: usize) {
    let to = net.endpoint(SERVER);
    let socket = net.sockets.get_mut::<Socket<'_>>(stranger);
    for number in 0..count {
        let [byte, ..] = number.to_le_bytes();
        socket.send_slice(&[byte; 16], to).unwrap();
    }
}

#[test]
fn one_step_takes_no_more_than_its_bound_and_sends_all_the_same() {
    let mut net = Net::connected(PATHS[0], configs(), 4);
    let stranger = stranger(&mut net);
    let mut socket = Socket::new(wide(), wide());
    socket.bind(PORTS[SERVER]).unwrap();
    *net.socket(SERVER) = socket;
    net.run_for(1500);

    flood(&mut net, stranger, 3000);
    for _ in 0..2 {
        net.interface
            .poll(net.now, &mut net.device, &mut net.sockets);
    }
    net.send(SERVER, 0, Mode::Reliable, vec![7]);
    for left in [3000 - RECEIVES_PER_STEP, 3000 - 2 * RECEIVES_PER_STEP, 0] {
        let end = &mut net.ends[SERVER];
        let socket = net.sockets.get_mut::<Socket<'_>>(end.socket);
        end.host.step(net.now, socket).unwrap();
        assert_eq!(socket.recv_queue(), 16 * left);
        assert!(socket.send_queue() > 0, "it has sent");
        let due = end.host.poll_at(net.now, socket).unwrap();
        assert_eq!(due <= net.now, left > 0, "what is left is due at once");
    }
    net.run_until("the packet", 5, |net| !net.ends[CLIENT].received.is_empty());
}

#[test]
fn a_flood_does_not_starve_a_connection() {
    for path in PATHS {
        let mut net = Net::connected(path, configs(), 4);
        let stranger = stranger(&mut net);
        for number in 0..200 {
            net.send(SERVER, 0, Mode::Reliable, vec![number; 500]);
            net.send(CLIENT, 0, Mode::Reliable, vec![number; 500]);
            flood(&mut net, stranger, 100);
            net.run_for(2);
        }
        let end = net.now.secs() + 20;
        while net.ends.iter().any(|end| end.received.len() < 200) {
            assert!(net.now.secs() < end, "{net}");
            flood(&mut net, stranger, 100);
            net.run_for(2);
        }
        let garbage = net.ends[SERVER].host.host().stats().datagrams_received;
        assert!(garbage > 1000, "{garbage} {net}");
        net.disconnect();
    }
}

#[test]
fn the_driver_takes_no_memory_for_a_datagram() {
    let mut net = Net::connected(PATHS[0], configs(), 16);
    let stranger = stranger(&mut net);
    // First everything that grows once grows, so that the measure shows only what grows always.
    let mut made = Vec::new();
    for _ in 0..40 {
        flood(&mut net, stranger, 16);
        let end = &mut net.ends[SERVER];
        for _ in 0..30 {
            let (peer, host) = (end.peer.unwrap(), end.host.host_mut());
            let packet = &[0; 1000][..];
            host.send(peer, ChannelId(0), packet, Mode::Unreliable)
                .unwrap();
        }
        for _ in 0..2 {
            net.interface
                .poll(net.now, &mut net.device, &mut net.sockets);
        }
        let end = &mut net.ends[SERVER];
        let socket = net.sockets.get_mut::<Socket<'_>>(end.socket);
        let (before, now) = (end.host.host().stats(), net.now);
        made.push(measure(|| end.host.step(now, socket).unwrap()).count_total);
        let after = end.host.host().stats();
        assert!(after.datagrams_received - before.datagrams_received >= 16);
        assert!(after.datagrams_sent - before.datagrams_sent > 10);
        net.run_for(200);
    }
    assert!(
        net.ends[SERVER].host.socket_stats().send_delayed > 20,
        "some are held"
    );
    assert_eq!(made[20..], [0; 20], "{made:?}");
}
