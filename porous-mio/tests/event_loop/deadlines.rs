//! Hosts that are woken by time alone.

use core::net::SocketAddr;
use core::time::Duration;

use porous_mio::sim::{LinkConfig, Seed};
use porous_mio::{ChannelId, Clock, Conditioner, Ecn, Instant, LinkConditioner, MioHost, Mode};

use crate::event_loop::{
    EventLoop, LIMIT, READABLE, WRITABLE, client, elapsed, server, sleeps, stranger,
};

#[test]
fn a_deadline_wakes_once_and_not_early() {
    let silent = stranger();
    let mut host = client();
    host.connect(silent.local_addr().unwrap()).unwrap();
    let mut turns = EventLoop::new();
    // Readability is reported at once, and then no more.
    turns.add(host, READABLE);
    assert_eq!(turns.turn(LIMIT), 1, "the request is due at once");
    for sent in 1..4 {
        assert_eq!(turns.hosts[0].stats().datagrams_sent, sent);
        assert_eq!(turns.turn(LIMIT), 1, "one sleep is long enough");
    }
}

#[test]
fn an_idle_host_has_no_deadline() {
    assert_eq!(server().timeout(), None);
}

#[test]
fn a_queued_packet_makes_the_host_due() {
    let mut turns = EventLoop::new();
    for host in [server(), client()] {
        turns.add(host, READABLE | WRITABLE);
    }
    turns.converse(1, 0);
    let host = &mut turns.hosts[1];
    assert!(sleeps(host));
    let (peer, _) = host.peers().next().unwrap();
    host.send(peer, ChannelId(0), "more", Mode::Reliable)
        .unwrap();
    assert_eq!(host.timeout(), Some(Duration::ZERO));
}

/// Events that the application does not poll are no reason to wake.
#[test]
fn a_host_whose_events_wait_sleeps() {
    let mut turns = EventLoop::new();
    for host in [server(), client()] {
        turns.add(host, READABLE | WRITABLE);
    }
    let to = turns.hosts[0].local_addr().unwrap();
    turns.hosts[1].connect(to).unwrap();
    let clock = Clock::start();
    let mut stepped = 0;
    while elapsed(&clock) < Duration::from_millis(300) {
        stepped += turns.turn(LIMIT);
    }
    assert!(stepped < 300, "{stepped} steps in 300 ms are a spin");
}

/// Loses the first three datagrams and delays each of the others for a while.
#[derive(Default)]
struct Bad {
    taken: usize,
    held: Vec<(Instant, SocketAddr, Vec<u8>)>,
}

impl Conditioner for Bad {
    fn take(&mut self, now: Instant, to: SocketAddr, _: Ecn, datagram: &[u8]) -> bool {
        self.taken += 1;
        if self.taken > 3 {
            let due = now + Duration::from_millis(10);
            self.held.push((due, to, datagram.to_vec()));
        }
        true
    }

    fn release(&mut self, now: Instant) -> Option<(SocketAddr, Ecn, Vec<u8>)> {
        if self.next_release()? > now {
            return None;
        }
        let (_, to, datagram) = self.held.remove(0);
        Some((to, Ecn::NotEct, datagram))
    }

    fn next_release(&self) -> Option<Instant> {
        self.held.first().map(|(due, ..)| *due)
    }
}

#[test]
fn a_datagram_held_by_a_conditioner_wakes_the_loop() {
    let receiver = stranger();
    let mut host = client();
    host.connect(receiver.local_addr().unwrap()).unwrap();
    let mut turns = EventLoop::new();
    let delays = Bad {
        taken: 3,
        ..Bad::default()
    };
    turns.add(host.with_conditioner(delays), READABLE);
    for due in ["the request", "its release"] {
        assert_eq!(turns.turn(LIMIT), 1, "{due}");
    }
    receiver.recv_from(&mut [0; 1500]).unwrap();
    assert_eq!(turns.hosts[0].stats().datagrams_sent, 1);
}

#[test]
fn hosts_converse_over_simulated_links() {
    let mut turns = EventLoop::new();
    let line = LinkConfig::new().delay(Duration::from_millis(10)).loss(5.0);
    for (host, seed) in [(server(), 1), (client(), 2)] {
        let network = LinkConditioner::new(line, Seed::new(seed));
        turns.add(host.with_conditioner(network), READABLE | WRITABLE);
    }
    let clock = Clock::start();
    turns.converse(1, 0);
    // Two round trips to connect, one to talk.
    assert!(elapsed(&clock) >= Duration::from_millis(60));
}

#[test]
fn a_conditioner_stands_in_between() {
    let mut turns = EventLoop::new();
    let bad = |host: MioHost| host.with_conditioner(Bad::default());
    for host in [server(), client()] {
        turns.add(bad(host), READABLE | WRITABLE);
    }
    turns.converse(1, 0);
    assert!(turns.hosts[0].endpoint().conditioner().taken > 3);
}
