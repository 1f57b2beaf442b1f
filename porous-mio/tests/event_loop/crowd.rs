//! The scenarios that every driver has to pass, in one event loop.

use core::net::SocketAddr;
use core::time::Duration;

use porous_mio::{
    ChannelId, Clock, Config, Disconnect, Event, Listen, MioHost, Mode, PeerId, SendError,
};
use porous_tests::crowd;
use porous_tests::drivers::{Drivers, End, Happened};

use crate::event_loop::{EventLoop, READABLE, WRITABLE, elapsed};

/// All hosts in one loop.
struct InOneLoop {
    turns: EventLoop,
    clock: Clock,
}

impl InOneLoop {
    fn new() -> Self {
        Self {
            turns: EventLoop::new(),
            clock: Clock::start(),
        }
    }

    fn bind(&mut self, config: Config) -> usize {
        let host = MioHost::bind("127.0.0.1:0", config).unwrap();
        self.turns.add(host, READABLE | WRITABLE)
    }

    fn handle(&mut self, host: usize, event: Event<SocketAddr>) -> Vec<(End, Happened)> {
        match event {
            Event::Connected { peer, address } => {
                vec![((host, peer), Happened::Connected(address))]
            }
            Event::Readable { peer } => {
                let host_there = &mut self.turns.hosts[host];
                let packets = core::iter::from_fn(|| host_there.receive(peer));
                let told = packets.map(|packet| ((host, peer), Happened::Received(packet)));
                told.collect()
            }
            Event::Disconnected {
                peer,
                reason,
                undelivered,
            } => vec![((host, peer), Happened::Ended(reason, undelivered))],
            Event::Request { .. } | Event::Writable { .. } | _ => panic!("{event:?}"),
        }
    }
}

impl Drivers for InOneLoop {
    fn server(&mut self, config: Config) -> usize {
        let host = self.bind(config);
        self.turns.hosts[host].listen(Listen::Open).unwrap();
        host
    }

    fn client(&mut self, config: Config, to: SocketAddr) -> usize {
        let host = self.bind(config);
        self.turns.hosts[host].connect(to).unwrap();
        host
    }

    fn address(&self, host: usize) -> SocketAddr {
        self.turns.hosts[host].local_addr().unwrap()
    }

    fn turn(&mut self, at_most: Duration) -> Vec<(End, Happened)> {
        self.turns.turn(at_most);
        let mut all = Vec::new();
        for host in 0..self.turns.hosts.len() {
            while let Some(event) = self.turns.hosts[host].poll_event() {
                all.extend(self.handle(host, event));
            }
        }
        all
    }

    fn send(
        &mut self,
        (host, peer): End,
        channel: ChannelId,
        packet: Vec<u8>,
        mode: Mode,
    ) -> Result<(), SendError> {
        self.turns.hosts[host].send(peer, channel, packet, mode)
    }

    fn disconnect(&mut self, end: End, how: Disconnect) {
        let (host, peer): (usize, PeerId) = end;
        self.turns.hosts[host].disconnect(peer, how).unwrap();
    }

    fn elapsed(&self) -> Duration {
        elapsed(&self.clock)
    }

    fn counts(&self, host: usize) -> (u64, u64) {
        let host = &self.turns.hosts[host];
        let received = host.stats().datagrams_received;
        (received, host.socket_stats().send_lost)
    }
}

#[test]
fn fifty_clients_and_their_server_share_a_loop() {
    crowd::a_crowd_talks(InOneLoop::new(), 1);
}

#[test]
fn several_servers_share_a_loop_with_their_clients() {
    crowd::a_crowd_talks(InOneLoop::new(), 3);
}

#[test]
fn a_flooded_server_shares_a_loop_with_others() {
    crowd::a_flood_on_one_host_holds_up_no_other(InOneLoop::new());
}

#[test]
fn two_hosts_that_share_a_loop_converse() {
    crowd::two_converse(InOneLoop::new());
}
