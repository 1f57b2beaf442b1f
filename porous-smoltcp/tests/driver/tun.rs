//! A host on smoltcp and one on a socket of the same machine, joined by a device of Linux: the kernel's
//! UDP on one side, smoltcp's on the other.
//!
//! Needs the right to make devices, `/dev/net/tun` and the program `ip`. Without them the tests say
//! so and pass, unless the environment says `POROUS_REQUIRE_TUN=1`.

use core::net::{IpAddr, Ipv4Addr};
use std::io;
use std::os::fd::AsRawFd;
use std::process::Command;

use porous_smoltcp::{
    ChannelId, Config, Disconnect, DisconnectReason, Event, Listen, Mode, PeerId, SmolHost, time,
};
use porous_std::{Clock, OsRng, UdpHost};
use smoltcp::iface::{Config as InterfaceConfig, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Medium, TunTapInterface, wait};
use smoltcp::socket::udp::Socket;
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{EthernetAddress, HardwareAddress, IpCidr};

/// Far longer than any of these tests waits.
const LIMIT: Duration = Duration::from_secs(30);

/// A device, whose end in the kernel has the first address of a network of its own. It is gone when
/// it is dropped, or when the process ends.
struct Link {
    device: TunTapInterface,
    kernel: IpAddr,
    ours: IpAddr,
    prefix: u8,
}

/// The addresses of the two ends: the first two of a network that no other test and no other
/// process has, among those for tests (RFC 2544) or the unique local ones (RFC 4193).
fn network(is_ipv6: bool, index: u8) -> (IpAddr, IpAddr, u8) {
    let process = std::process::id();
    if is_ipv6 {
        let [a, b, c, d] = process.to_be_bytes();
        let ip = |last| IpAddr::from([0xfd, b'p', a, b, c, d, 0, index, 0, 0, 0, 0, 0, 0, 0, last]);
        return (ip(1), ip(2), 64);
    }
    let block = process % 8192 * 4 + u32::from(index);
    let first = u32::from(Ipv4Addr::new(198, 18, 0, 0)) + 4 * block;
    let ip = |last| Ipv4Addr::from(first + last).into();
    (ip(1), ip(2), 30)
}

fn run_ip(arguments: &[&str]) -> io::Result<()> {
    let output = Command::new("ip").args(arguments).output();
    let output = output.map_err(|error| io::Error::other(format!("ip: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("ip {arguments:?}: {text}")))
}

impl Link {
    fn open(medium: Medium, is_ipv6: bool) -> io::Result<Self> {
        let index = u8::from(medium == Medium::Ethernet) + 2 * u8::from(is_ipv6);
        let name = format!("prs{}n{index}", std::process::id());
        let (kernel, ours, prefix) = network(is_ipv6, index);
        let device = TunTapInterface::new(&name, medium)
            .map_err(|error| io::Error::new(error.kind(), format!("/dev/net/tun: {error}")))?;
        let address = format!("{kernel}/{prefix}");
        let mut add = vec!["address", "add", &address, "dev", &name];
        if is_ipv6 {
            add.push("nodad");
        }
        run_ip(&add)?;
        run_ip(&["link", "set", "dev", &name, "up"])?;
        Ok(Self {
            device,
            kernel,
            ours,
            prefix,
        })
    }
}

/// The link, or `None` if this machine cannot have one and `POROUS_REQUIRE_TUN` is not set.
fn link(medium: Medium, is_ipv6: bool) -> Option<Link> {
    let error = match Link::open(medium, is_ipv6) {
        Ok(link) => return Some(link),
        Err(error) => error,
    };
    let wanted = std::env::var_os("POROUS_REQUIRE_TUN").is_some();
    assert!(
        !wanted,
        "POROUS_REQUIRE_TUN is set, but there is no device: {error}"
    );
    eprintln!("skipped: no device for a test over Linux ({error})");
    None
}

/// Both hosts. The one on smoltcp connects, that of `porous-std` listens.
struct Both {
    link: Link,
    clock: Clock,
    interface: Interface,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
    smol: SmolHost<OsRng>,
    udp: UdpHost,
    to_udp: PeerId,
    to_smol: Option<PeerId>,
    is_connected: bool,
    ended: [Option<DisconnectReason>; 2],
    received: [Vec<Vec<u8>>; 2],
}

impl Both {
    fn new(mut link: Link, medium: Medium) -> Self {
        let clock = Clock::start();
        let hardware = match medium {
            Medium::Ip => HardwareAddress::Ip,
            Medium::Ethernet => EthernetAddress([2, 0, 0, 0, 0, 2]).into(),
        };
        let config = InterfaceConfig::new(hardware);
        let mut interface = Interface::new(config, &mut link.device, time::to_smoltcp(clock.now()));
        let cidr = IpCidr::new(link.ours.into(), link.prefix);
        interface.update_ip_addrs(|all| all.push(cidr).unwrap());

        let mut udp = UdpHost::bind((link.kernel, 0), Config::new()).unwrap();
        udp.listen(Listen::Open).unwrap();
        let mut smol = SmolHost::new(Config::client(), OsRng::default());
        let to = udp.local_addr().unwrap().into();
        let to_udp = smol.host_mut().connect(clock.now(), to).unwrap();
        let mut socket = Socket::new(smol.packet_buffer(8), smol.packet_buffer(8));
        socket.bind(7777).unwrap();
        let mut sockets = SocketSet::new(vec![]);
        Self {
            link,
            clock,
            interface,
            socket: sockets.add(socket),
            sockets,
            smol,
            udp,
            to_udp,
            to_smol: None,
            is_connected: false,
            ended: [None; 2],
            received: [Vec::new(), Vec::new()],
        }
    }

    fn now(&self) -> Instant {
        time::to_smoltcp(self.clock.now())
    }

    /// Sleeps until the device has a packet, but only for a moment, as the other host has to be served, too.
    fn turn(&mut self) {
        let now = self.now();
        let device = &mut self.link.device;
        self.interface.poll(now, device, &mut self.sockets);
        let socket = self.sockets.get_mut(self.socket);
        self.smol.step(now, socket).unwrap();
        self.interface.poll(now, device, &mut self.sockets);
        self.udp.step().unwrap();
        self.read();
        self.udp.step().unwrap();

        let moment = now + Duration::from_millis(1);
        let due = self.smol.poll_at(now, self.sockets.get(self.socket));
        let due = [
            due,
            self.interface.poll_at(now, &self.sockets),
            Some(moment),
        ];
        let due = due.into_iter().flatten().min().unwrap();
        // A difference of smoltcp's times has no sign.
        let sleep = due.max(now) - now;
        wait(self.link.device.as_raw_fd(), Some(sleep)).unwrap();
    }

    fn read(&mut self) {
        let [from_udp, from_smol] = &mut self.received;
        let host = self.smol.host_mut();
        while let Some(event) = host.poll_event() {
            match event {
                Event::Connected { .. } => self.is_connected = true,
                Event::Readable { peer } => {
                    while let Some(packet) = host.receive(peer) {
                        from_udp.push(packet.payload.to_vec());
                    }
                }
                Event::Disconnected { reason, .. } => self.ended[0] = Some(reason),
                Event::Request { .. } | Event::Writable { .. } | _ => {}
            }
        }
        while let Some(event) = self.udp.poll_event() {
            match event {
                Event::Connected { peer, .. } => self.to_smol = Some(peer),
                Event::Readable { peer } => {
                    while let Some(packet) = self.udp.receive(peer) {
                        from_smol.push(packet.payload.to_vec());
                    }
                }
                Event::Disconnected { reason, .. } => self.ended[1] = Some(reason),
                Event::Request { .. } | Event::Writable { .. } | _ => {}
            }
        }
    }

    fn until(&mut self, what: &str, done: impl Fn(&Self) -> bool) {
        let end = self.now() + LIMIT;
        while !done(self) {
            assert!(self.now() < end, "{what} did not come: {:?}", self.ended);
            self.turn();
        }
    }
}

const PACKETS: u8 = 40;

/// The packet with this number: a small one, or one that travels in fragments.
fn packet(number: u8) -> Vec<u8> {
    let len = if number % 4 == 3 { 10_000 } else { 100 };
    vec![number; len]
}

const fn mode(number: u8) -> Mode {
    if number % 8 < 4 {
        Mode::Unreliable
    } else {
        Mode::Reliable
    }
}

/// Checks that all reliable packets and some others have come, whole and in order.
fn check(received: &[Vec<u8>]) {
    assert!(received.windows(2).all(|two| two[0][0] < two[1][0]));
    assert!(received.iter().all(|bytes| *bytes == packet(bytes[0])));
    let of = |wanted| {
        received
            .iter()
            .filter(move |bytes| mode(bytes[0]) == wanted)
    };
    assert_eq!(of(Mode::Reliable).count(), usize::from(PACKETS) / 2);
    assert!(of(Mode::Unreliable).count() > 0);
}

/// Connects, exchanges packets of two modes both ways, disconnects.
fn meet(medium: Medium) {
    for is_ipv6 in [false, true] {
        let Some(link) = link(medium, is_ipv6) else {
            return;
        };
        let mut both = Both::new(link, medium);
        both.until("the connection", |both| {
            both.is_connected && both.to_smol.is_some()
        });

        for number in 0..PACKETS {
            let (channel, mode, packet) = (ChannelId(0), mode(number), packet(number));
            let host = both.smol.host_mut();
            host.send(both.to_udp, channel, packet.clone(), mode)
                .unwrap();
            let peer = both.to_smol.unwrap();
            both.udp.send(peer, channel, packet, mode).unwrap();
        }
        // The last packet is reliable, and comes after all before it have come or never will.
        let has_last = |received: &Vec<Vec<u8>>| received.last() == Some(&packet(PACKETS - 1));
        both.until("the packets", |both| both.received.iter().all(has_last));
        for received in &both.received {
            check(received);
        }

        let now = both.clock.now();
        let go = Disconnect::Now { reason: 7 };
        both.smol
            .host_mut()
            .disconnect(now, both.to_udp, go)
            .unwrap();
        both.until("the end", |both| both.ended.iter().all(Option::is_some));
        let by = [DisconnectReason::ByUs(7), DisconnectReason::ByPeer(7)];
        assert_eq!(both.ended.map(Option::unwrap), by);
        assert_eq!(both.smol.socket_stats().send_lost, 0);
    }
}

#[test]
fn smoltcp_and_the_kernel_understand_each_other_over_ip() {
    meet(Medium::Ip);
}

#[test]
fn smoltcp_and_the_kernel_understand_each_other_over_ethernet() {
    meet(Medium::Ethernet);
}
