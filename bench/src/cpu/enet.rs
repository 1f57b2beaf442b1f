//! rusty_enet: ENet's C code, translated.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::rc::Rc;
use std::time::Duration;

use porous_loads::node::{Mail, Node, Setup};
use porous_proto::Instant;
use rusty_enet::{
    Address, EventNoRef, Host, HostSettings, MTU_MAX, Packet, PacketReceived, PeerID, Socket,
};

/// The time that its clock shows at the start. ENet takes a time of 0 for "never", so the clock does not
/// begin there.
const EPOCH: Duration = Duration::from_secs(1);

pub(crate) fn open(setup: Setup) -> Box<dyn Node> {
    Box::new(Enet::new(setup))
}

/// The number of a remote host.
#[derive(Clone, Copy, PartialEq)]
struct Remote(usize);

impl Address for Remote {
    fn same_host(&self, other: &Self) -> bool {
        self == other
    }

    fn same(&self, other: &Self) -> bool {
        self == other
    }

    fn is_broadcast(&self) -> bool {
        false
    }
}

/// The datagrams at the host's socket.
#[derive(Default)]
struct Wires {
    /// Datagrams that have arrived, each with its sender. Buffers are used again.
    arrived: VecDeque<(usize, Vec<u8>)>,
    spare: Vec<Vec<u8>>,
    leaving: Mail,
}

impl Wires {
    /// The bytes of the heap that these take.
    fn heap(&self) -> usize {
        let arrived = self.arrived.iter().map(|(_, datagram)| datagram);
        let datagrams = arrived.chain(&self.spare).map(Vec::capacity);
        datagrams.sum::<usize>()
            + self.arrived.capacity() * size_of::<(usize, Vec<u8>)>()
            + self.spare.capacity() * size_of::<Vec<u8>>()
            + self.leaving.heap()
    }
}

struct Wire(Rc<RefCell<Wires>>);

impl Socket for Wire {
    type Address = Remote;
    type Error = Infallible;

    fn send(&mut self, to: Remote, buffer: &[u8]) -> Result<usize, Infallible> {
        self.0.borrow_mut().leaving.put(to.0, buffer);
        Ok(buffer.len())
    }

    fn receive(
        &mut self,
        buffer: &mut [u8; MTU_MAX],
    ) -> Result<Option<(Remote, PacketReceived)>, Infallible> {
        let mut wires = self.0.borrow_mut();
        let Some((from, datagram)) = wires.arrived.pop_front() else {
            return Ok(None);
        };
        let len = datagram.len();
        buffer[..len].copy_from_slice(&datagram);
        wires.spare.push(datagram);
        Ok(Some((Remote(from), PacketReceived::Complete(len))))
    }
}

struct Enet {
    host: Host<Wire>,
    wires: Rc<RefCell<Wires>>,
    clock: Rc<Cell<Duration>>,
    channels: u8,
    /// The peers, by the numbers of the remote hosts.
    peers: Vec<Option<PeerID>>,
    /// The numbers of the remote hosts, by peer.
    remotes: Vec<usize>,
}

impl Enet {
    fn new(setup: Setup) -> Self {
        let wires = Rc::new(RefCell::new(Wires::default()));
        let clock = Rc::new(Cell::new(EPOCH));
        let settings = HostSettings {
            peer_limit: setup.remotes,
            channel_limit: setup.channels.into(),
            time: {
                let clock = Rc::clone(&clock);
                Box::new(move || clock.get())
            },
            seed: Some((setup.seed as u32).wrapping_mul(0x9e37_79b9)),
            ..HostSettings::default()
        };
        let Ok(host) = Host::new(Wire(Rc::clone(&wires)), settings) else {
            unreachable!("the settings are valid")
        };
        Self {
            host,
            wires,
            clock,
            channels: setup.channels,
            peers: vec![None; setup.remotes],
            remotes: vec![0; setup.remotes],
        }
    }

    fn connected(&mut self, peer: PeerID) {
        let remote = self.host.peer(peer).address().map_or(0, |remote| remote.0);
        self.peers[remote] = Some(peer);
        self.remotes[peer.0] = remote;
    }
}

impl Node for Enet {
    fn connect(&mut self, _: Instant) {
        let begun = self.host.connect(Remote(0), self.channels.into(), 0);
        assert!(begun.is_ok(), "the first");
    }

    fn datagram_in(&mut self, _: Instant, from: usize, datagram: &[u8]) {
        let mut wires = self.wires.borrow_mut();
        let mut buffer = wires.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(datagram);
        wires.arrived.push_back((from, buffer));
    }

    fn service(&mut self, now: Instant, read: &mut dyn FnMut(usize, &[u8])) {
        self.clock
            .set(EPOCH + Duration::from_micros(now.as_micros()));
        while let Ok(Some(event)) = self.host.service() {
            match event.no_ref() {
                EventNoRef::Connect { peer, .. } => self.connected(peer),
                EventNoRef::Disconnect { .. } => {}
                EventNoRef::Receive { peer, packet, .. } => {
                    read(self.remotes[peer.0], packet.data());
                }
            }
        }
    }

    fn send(&mut self, to: usize, channel: u8, message: &[u8], reliable: bool) -> bool {
        let Some(peer) = self.peers[to] else {
            return false;
        };
        let packet = if reliable {
            Packet::reliable(message)
        } else {
            Packet::unreliable(message)
        };
        self.host.peer_mut(peer).send(channel, &packet).is_ok()
    }

    fn datagrams_out(&mut self, _: Instant, put: &mut dyn FnMut(usize, &[u8])) {
        self.host.flush();
        let mut wires = self.wires.borrow_mut();
        for (to, datagram) in wires.leaving.iter() {
            put(to, datagram);
        }
        wires.leaving.clear();
    }

    fn own_heap(&self) -> usize {
        self.wires.borrow().heap()
            + self.peers.capacity() * size_of::<Option<PeerID>>()
            + self.remotes.capacity() * size_of::<usize>()
    }
}
