//! Two hosts on one interface, in virtual time. Their datagrams go through a loopback device that can be
//! told to fail.

use core::fmt;

use chacha20::ChaCha8Rng;
use porous_sim::Seed;
use porous_smoltcp::{
    ChannelId, Config, Disconnect, DisconnectReason, Event, Listen, Mode, PeerId, SmolHost, time,
};
use smoltcp::iface::{Config as InterfaceConfig, Interface, PollResult, SocketHandle, SocketSet};
use smoltcp::phy::{
    ChecksumCapabilities, Device, DeviceCapabilities, FaultInjector, Loopback, Medium,
};
use smoltcp::socket::udp::Socket;
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{EthernetAddress, HardwareAddress, IpAddress, IpCidr, IpEndpoint, IpVersion};

/// The medium and the protocol that carry the datagrams.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) medium: Medium,
    pub(crate) version: IpVersion,
}

/// Each medium with each protocol.
pub(crate) const PATHS: [Path; 4] = [
    Path::new(Medium::Ip, IpVersion::Ipv4),
    Path::new(Medium::Ip, IpVersion::Ipv6),
    Path::new(Medium::Ethernet, IpVersion::Ipv4),
    Path::new(Medium::Ethernet, IpVersion::Ipv6),
];

impl Path {
    pub(crate) const fn new(medium: Medium, version: IpVersion) -> Self {
        Self { medium, version }
    }

    /// The address of the interface.
    pub(crate) const fn here(self) -> IpAddress {
        match self.version {
            IpVersion::Ipv4 => IpAddress::v4(10, 0, 0, 1),
            IpVersion::Ipv6 => IpAddress::v6(0xfd00, 0, 0, 0, 0, 0, 0, 1),
        }
    }

    /// An address on the same link that no host has.
    pub(crate) const fn nobody(self) -> IpAddress {
        match self.version {
            IpVersion::Ipv4 => IpAddress::v4(10, 0, 0, 99),
            IpVersion::Ipv6 => IpAddress::v6(0xfd00, 0, 0, 0, 0, 0, 0, 0x99),
        }
    }

    fn hardware(self) -> HardwareAddress {
        match self.medium {
            Medium::Ip => HardwareAddress::Ip,
            Medium::Ethernet => EthernetAddress([2, 0, 0, 0, 0, 1]).into(),
        }
    }
}

/// A loopback device with checksums or without.
pub(crate) struct Wire {
    device: Loopback,
    checksum: ChecksumCapabilities,
}

impl Wire {
    fn new(path: Path, checksum: ChecksumCapabilities) -> Self {
        let device = Loopback::new(path.medium);
        Self { device, checksum }
    }
}

impl Device for Wire {
    type RxToken<'a> = <Loopback as Device>::RxToken<'a>;
    type TxToken<'a> = <Loopback as Device>::TxToken<'a>;

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = self.device.capabilities();
        capabilities.checksum = self.checksum.clone();
        capabilities
    }

    fn receive(&mut self, now: Instant) -> Option<(Self::RxToken<'_>, Self::TxToken<'_>)> {
        self.device.receive(now)
    }

    fn transmit(&mut self, now: Instant) -> Option<Self::TxToken<'_>> {
        self.device.transmit(now)
    }
}

/// The path and the seed that replay a failure.
impl fmt::Display for Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} at {}", self.seed, self.path, self.now)
    }
}

/// A host, its socket, and the events and packets that it has had.
pub(crate) struct End {
    pub(crate) host: SmolHost<ChaCha8Rng>,
    pub(crate) socket: SocketHandle,
    pub(crate) peer: Option<PeerId>,
    pub(crate) ended: Option<DisconnectReason>,
    pub(crate) received: Vec<(u8, Mode, Vec<u8>)>,
}

/// The interface and everything on it. The first end connects, the second listens.
pub(crate) struct Net {
    pub(crate) seed: Seed,
    pub(crate) path: Path,
    pub(crate) now: Instant,
    pub(crate) interface: Interface,
    pub(crate) device: FaultInjector<Wire>,
    pub(crate) sockets: SocketSet<'static>,
    pub(crate) ends: [End; 2],
}

pub(crate) const CLIENT: usize = 0;
pub(crate) const SERVER: usize = 1;
pub(crate) const PORTS: [u16; 2] = [50_000, 7777];

impl Net {
    /// Two hosts whose sockets have room for `room` of the longest datagrams each way.
    pub(crate) fn new(path: Path, configs: [Config; 2], room: usize) -> Self {
        Self::over(
            Wire::new(path, ChecksumCapabilities::ignored()),
            path,
            configs,
            room,
        )
    }

    /// As [`new`](Self::new), and smoltcp verifies the checksums.
    pub(crate) fn checksummed(path: Path, configs: [Config; 2], room: usize) -> Self {
        Self::over(
            Wire::new(path, ChecksumCapabilities::default()),
            path,
            configs,
            room,
        )
    }

    fn over(wire: Wire, path: Path, configs: [Config; 2], room: usize) -> Self {
        let seed = Seed::from_env(Seed::new(1));
        let now = Instant::ZERO;
        // The generator of the device must not be 0.
        let [a, b, c, d, ..] = seed.child("device", 0).get().to_le_bytes();
        let dice = u32::from_le_bytes([a | 1, b, c, d]);
        let mut device = FaultInjector::new(wire, dice);
        let config = InterfaceConfig::new(path.hardware());
        let mut interface = Interface::new(config, &mut device, now);
        interface.update_ip_addrs(|all| all.push(IpCidr::new(path.here(), 24)).unwrap());
        let mut sockets = SocketSet::new(Vec::new());
        let mut index = 0;
        let ends = configs.map(|config| {
            let host = SmolHost::new(config, seed.stream("host", index as u64));
            let mut socket = Socket::new(host.packet_buffer(room), host.packet_buffer(room));
            socket.bind(PORTS[index]).unwrap();
            index += 1;
            End {
                host,
                socket: sockets.add(socket),
                peer: None,
                ended: None,
                received: Vec::new(),
            }
        });
        Self {
            seed,
            path,
            now,
            interface,
            device,
            sockets,
            ends,
        }
    }

    /// As [`new`](Self::new), with the client connected to the server.
    pub(crate) fn connected(path: Path, configs: [Config; 2], room: usize) -> Self {
        let mut net = Self::new(path, configs, room);
        net.connect();
        net
    }

    pub(crate) fn connect(&mut self) {
        self.ends[SERVER]
            .host
            .host_mut()
            .listen(Listen::Open)
            .unwrap();
        self.ask(self.endpoint(SERVER));
        let both = |net: &Self| net.ends.iter().all(|end| end.peer.is_some());
        self.run_until("the connection", 10, both);
    }

    /// Lets the client ask the host at this address for a connection.
    pub(crate) fn ask(&mut self, to: IpEndpoint) -> PeerId {
        let now = time::to_porous(self.now);
        self.ends[CLIENT].host.host_mut().connect(now, to).unwrap()
    }

    pub(crate) fn endpoint(&self, end: usize) -> IpEndpoint {
        (self.path.here(), PORTS[end]).into()
    }

    pub(crate) fn socket(&mut self, end: usize) -> &mut Socket<'static> {
        self.sockets.get_mut(self.ends[end].socket)
    }

    /// Polls the interface, steps both hosts, and reads all events. True if any packet moved.
    pub(crate) fn turn(&mut self) -> bool {
        let moved = self
            .interface
            .poll(self.now, &mut self.device, &mut self.sockets);
        for end in &mut self.ends {
            let socket = self.sockets.get_mut(end.socket);
            end.host.step(self.now, socket).unwrap();
            end.read();
        }
        moved == PollResult::SocketStateChanged
    }

    /// Turns once a millisecond until `done` returns true.
    pub(crate) fn run_until(&mut self, what: &str, seconds: u64, done: impl Fn(&Self) -> bool) {
        let end = self.now + Duration::from_secs(seconds);
        while !done(self) {
            assert!(self.now < end, "{what} did not come, {self}");
            self.now += Duration::from_millis(1);
            self.turn();
        }
    }

    pub(crate) fn run_for(&mut self, millis: u64) {
        let end = self.now + Duration::from_millis(millis);
        self.run_until("the end", u64::MAX >> 40, |net| net.now >= end);
    }

    pub(crate) fn send(&mut self, from: usize, channel: u8, mode: Mode, payload: Vec<u8>) {
        let end = &mut self.ends[from];
        let (peer, host) = (end.peer.unwrap(), end.host.host_mut());
        host.send(peer, ChannelId(channel), payload, mode).unwrap();
    }

    /// Disconnects the client after all packets were delivered, and checks that both hosts report it.
    pub(crate) fn disconnect(&mut self) {
        let (now, end) = (time::to_porous(self.now), &mut self.ends[CLIENT]);
        let flush = Disconnect::Flush {
            reason: 7,
            deadline: core::time::Duration::from_secs(30),
        };
        let host = end.host.host_mut();
        host.disconnect(now, end.peer.unwrap(), flush).unwrap();
        let both = |net: &Self| net.ends.iter().all(|end| end.ended.is_some());
        self.run_until("the end of the connection", 60, both);
        let by = [DisconnectReason::ByUs(7), DisconnectReason::ByPeer(7)];
        assert_eq!(
            self.ends.each_ref().map(|end| end.ended.unwrap()),
            by,
            "{self}"
        );
    }
}

impl End {
    fn read(&mut self) {
        let host = self.host.host_mut();
        while let Some(event) = host.poll_event() {
            match event {
                Event::Connected { peer, .. } => self.peer = Some(peer),
                Event::Readable { peer } => {
                    while let Some(packet) = host.receive(peer) {
                        let payload = packet.payload.to_vec();
                        self.received.push((packet.channel.0, packet.mode, payload));
                    }
                }
                Event::Disconnected { reason, .. } => self.ended = Some(reason),
                Event::Request { .. } | Event::Writable { .. } => {}
                Event::Receipt { .. } | _ => unreachable!("no other event"),
            }
        }
    }

    /// The packets of one mode, in the order in which they came.
    pub(crate) fn received(&self, mode: Mode) -> Vec<&[u8]> {
        let of_mode = self.received.iter().filter(|packet| packet.1 == mode);
        of_mode.map(|packet| &packet.2[..]).collect()
    }
}
