//! Hosts in threads of their own, and functions that drive them.
#![expect(clippy::wildcard_enum_match_arm, reason = "what else there may be")]

mod commands;
mod ends;
mod order;
mod room;
mod talk;
mod waking;

use alloc::collections::VecDeque;
use core::net::SocketAddr;
use core::time::Duration;
use std::thread;

use porous_std::{
    ChannelId, Clock, Conditioner, Config, Disconnect, DisconnectReason, Ecn, Event, HostThread,
    Instant, Listen, Mode, Output, PeerId, Received, ThreadError, UdpHost,
};

use crate::hosts::{LIMIT, elapsed};

pub(crate) fn spawn(config: Config) -> HostThread {
    let host = UdpHost::bind("127.0.0.1:0", config).unwrap();
    host.spawn().unwrap()
}

pub(crate) fn listening(config: Config) -> HostThread {
    let mut host = spawn(config);
    host.listen(Listen::Open).unwrap();
    host
}

/// Calls `step` until it returns something. Other threads run meanwhile.
pub(crate) fn soon<T>(what: &str, mut step: impl FnMut() -> Option<T>) -> T {
    let clock = Clock::start();
    while elapsed(&clock) < LIMIT {
        if let Some(found) = step() {
            return found;
        }
        thread::yield_now();
    }
    panic!("{what} did not come");
}

/// The most entries that either queue holds, at 64 bytes each.
pub(crate) const MOST: usize = (1 << 20) / 64;

/// Sends commands until both queues of a host are full. Returns how many results will come.
pub(crate) fn fill(host: &mut HostThread) -> usize {
    let mut asked = 0;
    let full = soon("two full queues", || {
        loop {
            match host.ask_stats() {
                Ok(()) => asked += 1,
                Err(error) => return (asked >= 2 * MOST).then_some(error),
            }
        }
    });
    assert_eq!((asked, full), (2 * MOST, ThreadError::Full));
    asked
}

/// The next output that `wanted` accepts. Others before it are dropped.
pub(crate) fn wait_for<T>(
    host: &mut HostThread,
    what: &str,
    wanted: impl Fn(&Output) -> Option<T>,
) -> T {
    soon(what, || {
        while let Some(output) = host.poll() {
            if let Some(found) = wanted(&output) {
                return Some(found);
            }
        }
        None
    })
}

pub(crate) fn wait_request(host: &mut HostThread) -> PeerId {
    wait_for(host, "a request", |output| match output {
        &Output::Event(Event::Request { peer, .. }) => Some(peer),
        _ => None,
    })
}

pub(crate) fn wait_connected(host: &mut HostThread) -> (PeerId, SocketAddr) {
    wait_for(host, "a connection", |output| match output {
        &Output::Event(Event::Connected { peer, address }) => Some((peer, address)),
        _ => None,
    })
}

pub(crate) fn wait_disconnected(host: &mut HostThread) -> (PeerId, DisconnectReason) {
    wait_for(host, "the end", |output| match output {
        &Output::Event(Event::Disconnected { peer, reason, .. }) => Some((peer, reason)),
        _ => None,
    })
}

pub(crate) fn wait_packet(host: &mut HostThread) -> (PeerId, Received) {
    wait_for(host, "a packet", |output| match output {
        Output::Packet { peer, packet } => Some((*peer, packet.clone())),
        _ => None,
    })
}

/// Two hosts that are connected.
pub(crate) struct Pair {
    pub(crate) server: HostThread,
    pub(crate) client: HostThread,
    pub(crate) to_client: PeerId,
    pub(crate) to_server: PeerId,
}

impl Pair {
    pub(crate) fn new(server: Config, client: Config) -> Self {
        Self::of(listening(server), spawn(client))
    }

    pub(crate) fn of(mut server: HostThread, mut client: HostThread) -> Self {
        let address = server.local_addr();
        client.connect(address).unwrap();
        let (to_server, at) = wait_connected(&mut client);
        assert_eq!(at, address);
        let (to_client, at) = wait_connected(&mut server);
        assert_eq!(at, client.local_addr());
        Self {
            server,
            client,
            to_client,
            to_server,
        }
    }

    /// The pair with client and server exchanged.
    pub(crate) fn turned(self) -> Self {
        Self {
            server: self.client,
            client: self.server,
            to_client: self.to_server,
            to_server: self.to_client,
        }
    }
}

/// A configuration for a host that gets no answer: at its end it waits for one for only 100 ms.
pub(crate) fn hasty() -> Config {
    Config::client()
        .disconnect_timeout(Duration::from_millis(100))
        .unwrap()
}

/// A thread that is connected to a host without a thread, which answers only when the test steps it.
pub(crate) fn by_hand(config: Config) -> (HostThread, PeerId, UdpHost) {
    by_hand_of(spawn(config))
}

pub(crate) fn by_hand_of(mut client: HostThread) -> (HostThread, PeerId, UdpHost) {
    let mut server = crate::hosts::server("127.0.0.1:0");
    client.connect(server.local_addr().unwrap()).unwrap();
    let peer = soon("a connection", || {
        server.step().unwrap();
        match client.poll()? {
            Output::Event(Event::Connected { peer, .. }) => Some(peer),
            _ => None,
        }
    });
    (client, peer, server)
}

/// The one peer of a host.
pub(crate) fn only_peer(host: &UdpHost) -> PeerId {
    let mut peers = host.peers();
    let (peer, _) = peers.next().unwrap();
    assert!(peers.next().is_none());
    peer
}

/// A game that sends numbered packets and keeps what comes back, in its order.
pub(crate) struct Sender {
    pub(crate) waiting: VecDeque<u32>,
    /// Packets that came back after `send` had taken them.
    pub(crate) returned: usize,
    pub(crate) taken: usize,
    unsent: Vec<u32>,
    size: usize,
}

impl Sender {
    pub(crate) fn new(count: u32, size: usize) -> Self {
        Self {
            waiting: (0..count).collect(),
            returned: 0,
            taken: 0,
            unsent: Vec::new(),
            size,
        }
    }

    /// Sends packets until one is not taken, at most `most`.
    pub(crate) fn send(&mut self, host: &mut HostThread, peer: PeerId, most: usize) {
        for _ in 0..most {
            let Some(&number) = self.waiting.front() else {
                return;
            };
            let mut payload = number.to_le_bytes().to_vec();
            payload.resize(self.size, 7);
            if let Err(unsent) = host.send(peer, ChannelId(0), payload, Mode::Reliable) {
                assert_eq!(number_of(&unsent.packet.payload), number);
                return;
            }
            self.waiting.pop_front();
            self.taken += 1;
        }
    }

    /// Polls all outputs that wait.
    pub(crate) fn poll(&mut self, host: &mut HostThread) {
        while let Some(output) = host.poll() {
            match output {
                Output::Unsent(unsent) => {
                    self.taken -= 1;
                    self.returned += 1;
                    self.unsent.push(number_of(&unsent.packet.payload));
                }
                Output::Event(Event::Writable { .. }) => {
                    for number in self.unsent.drain(..).rev() {
                        self.waiting.push_front(number);
                    }
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

/// The number of a packet of a [`Sender`].
pub(crate) fn number_of(payload: &[u8]) -> u32 {
    u32::from_le_bytes(payload[..4].try_into().unwrap())
}

/// A conditioner that counts how often its thread looks at the host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns(alloc::sync::Arc<core::sync::atomic::AtomicUsize>);

impl Turns {
    pub(crate) fn count(&self) -> usize {
        self.0.load(core::sync::atomic::Ordering::SeqCst)
    }

    /// Waits for a whole turn from beginning to end, with a command that has no effect.
    pub(crate) fn pass(&self, host: &mut HostThread) {
        let before = self.count();
        let nobody = PeerId::from_u64(u64::MAX).unwrap();
        soon("a turn", || {
            host.disconnect(nobody, Disconnect::Now { reason: 0 })
                .unwrap();
            (self.count() > before + 1).then_some(())
        });
    }
}

impl Conditioner for Turns {
    fn take(&mut self, _: Instant, _: SocketAddr, _: Ecn, _: &[u8]) -> bool {
        false
    }

    fn next_release(&self) -> Option<Instant> {
        self.0.fetch_add(1, core::sync::atomic::Ordering::SeqCst);
        None
    }
}

pub(crate) fn spawn_counted(config: Config) -> (HostThread, Turns) {
    let turns = Turns::default();
    let host = UdpHost::bind("127.0.0.1:0", config).unwrap();
    let host = host.with_conditioner(turns.clone()).spawn().unwrap();
    (host, turns)
}
