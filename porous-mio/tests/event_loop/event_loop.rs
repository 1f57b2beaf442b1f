//! An event loop of hosts as a program would have it, with what the tests need.

use core::net::SocketAddr;
use core::time::Duration;
use std::io::ErrorKind;
use std::net::UdpSocket;

use mio::event::Source;
use mio::{Events, Interest, Poll, Token};
use porous_mio::{
    ChannelId, Clock, Conditioner, Config, Event, Instant, Listen, MioHost, MioSocket, Mode,
    PeerId, SystemSocket,
};

/// Far longer than any of these tests waits.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

pub(crate) const READABLE: Interest = Interest::READABLE;
pub(crate) const WRITABLE: Interest = Interest::WRITABLE;

pub(crate) fn elapsed(clock: &Clock) -> Duration {
    clock.now().saturating_duration_since(Instant::ZERO)
}

/// Hosts in one poll, each under its index as token.
pub(crate) struct EventLoop<C = (), S: SystemSocket = MioSocket> {
    pub(crate) poll: Poll,
    events: Events,
    pub(crate) hosts: Vec<MioHost<C, S>>,
}

impl<C: Conditioner, S: SystemSocket + Source> EventLoop<C, S> {
    pub(crate) fn new() -> Self {
        Self {
            poll: Poll::new().unwrap(),
            events: Events::with_capacity(256),
            hosts: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, mut host: MioHost<C, S>, interest: Interest) -> usize {
        let index = self.hosts.len();
        let registry = self.poll.registry();
        registry
            .register(&mut host, Token(index), interest)
            .unwrap();
        self.hosts.push(host);
        index
    }

    /// Sleeps, and hands each event to its host. Returns the hosts that had events.
    pub(crate) fn wait(&mut self, max: Duration) -> Vec<usize> {
        let timeouts = self.hosts.iter().filter_map(MioHost::timeout);
        let timeout = timeouts.min().unwrap_or(max).min(max);
        if let Err(error) = self.poll.poll(&mut self.events, Some(timeout)) {
            assert_eq!(error.kind(), ErrorKind::Interrupted);
        }
        let mut told = Vec::new();
        for event in &self.events {
            let Token(index) = event.token();
            self.hosts[index].handle_event(event);
            told.push(index);
        }
        told
    }

    /// Sleeps, and steps the hosts that are due. Returns how many were.
    pub(crate) fn turn(&mut self, max: Duration) -> usize {
        self.wait(max);
        let is_due = |host: &&mut MioHost<C, S>| host.timeout() == Some(Duration::ZERO);
        let due = self.hosts.iter_mut().filter(is_due);
        due.map(|host| host.step().unwrap()).count()
    }

    /// Waits until this host is due.
    pub(crate) fn wait_until_due(&mut self, host: usize) {
        let clock = Clock::start();
        while self.hosts[host].timeout() != Some(Duration::ZERO) {
            assert!(elapsed(&clock) < LIMIT, "the host is not told");
            self.wait(LIMIT);
        }
    }

    /// Turns the loop until this holds for a host.
    pub(crate) fn turn_until(&mut self, host: usize, holds: impl Fn(&MioHost<C, S>) -> bool) {
        let clock = Clock::start();
        while !holds(&self.hosts[host]) {
            assert!(elapsed(&clock) < LIMIT, "it does not come to this");
            self.turn(LIMIT);
        }
    }

    /// Turns the loop until a host has an event that is `wanted`. Other events of this host are dropped.
    pub(crate) fn until<T>(
        &mut self,
        host: usize,
        wanted: impl Fn(Event<SocketAddr>) -> Option<T>,
    ) -> T {
        let clock = Clock::start();
        while elapsed(&clock) < LIMIT {
            while let Some(event) = self.hosts[host].poll_event() {
                if let Some(found) = wanted(event) {
                    return found;
                }
            }
            self.turn(LIMIT);
        }
        panic!("the event did not come");
    }

    /// Connects a client to a server, and sends a packet each way.
    pub(crate) fn converse(&mut self, client: usize, server: usize) {
        let to = self.hosts[server].local_addr().unwrap();
        let peer = self.hosts[client].connect(to).unwrap();
        assert_eq!(self.until(client, connected), peer);
        self.hosts[client]
            .send(peer, ChannelId(0), &b"there"[..], Mode::Reliable)
            .unwrap();
        let back = self.until(server, connected);
        assert_eq!(self.until(server, readable), back);
        assert_eq!(self.hosts[server].receive(back).unwrap().payload, "there");
        self.hosts[server]
            .send(back, ChannelId(0), vec![7; 5000], Mode::Passive)
            .unwrap();
        assert_eq!(self.until(client, readable), peer);
        let packet = self.hosts[client].receive(peer).unwrap();
        assert_eq!(packet.payload, vec![7; 5000]);
    }
}

/// True if a host that was stepped lets the loop sleep, at once or, if this program was held up, soon.
pub(crate) fn sleeps<C: Conditioner, S: SystemSocket>(host: &mut MioHost<C, S>) -> bool {
    (0..100).any(|_| {
        host.step().unwrap();
        host.timeout() != Some(Duration::ZERO)
    })
}

pub(crate) fn connected(event: Event<SocketAddr>) -> Option<PeerId> {
    let Event::Connected { peer, .. } = event else {
        return None;
    };
    Some(peer)
}

pub(crate) fn readable(event: Event<SocketAddr>) -> Option<PeerId> {
    let Event::Readable { peer } = event else {
        return None;
    };
    Some(peer)
}

pub(crate) fn server() -> MioHost {
    let mut server = MioHost::bind("127.0.0.1:0", Config::new()).unwrap();
    server.listen(Listen::Open).unwrap();
    server
}

pub(crate) fn client() -> MioHost {
    MioHost::bind("127.0.0.1:0", Config::client()).unwrap()
}

/// A socket that is no host. It waits for datagrams, but not for ever.
pub(crate) fn stranger() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(LIMIT)).unwrap();
    socket
}
