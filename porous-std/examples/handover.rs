//! Several hosts on one socket, for systems that cannot bring datagrams to one of several sockets by their
//! content. One thread receives, and hands each datagram to the thread of the host that it is for. Hosts send
//! by themselves. Where the system can, `UdpHost::bind_shards` is simpler, and receives on all cores.
//! `cargo run --release -p porous-std --example handover`
#![expect(clippy::unwrap_used, reason = "a failed step ends the example")]

extern crate alloc;

use alloc::sync::Arc;
use core::cell::RefCell;
use core::hash::{Hash, Hasher};
use core::net::SocketAddr;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::hash::DefaultHasher;
use std::io::{self, ErrorKind, Write as _, stdout};
use std::net::UdpSocket;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use porous_std::proto::route::shard;
use porous_std::{
    ChannelId, Config, ConnectionIds, Endpoint, Event, Instant, Listen, Mode, UdpHost,
};
use porous_udp::{SystemSocket, bind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::SockRef;

const HOSTS: usize = 4;
/// The bits that tell four hosts apart.
const BITS: u8 = 2;
/// Datagrams that wait for a host. Further ones are lost, as in a full socket.
const WAITING: usize = 1024;
const CLIENTS: usize = 20;
const PAUSE: Duration = Duration::from_millis(5);

type Datagram = (SocketAddr, Vec<u8>);

/// What a host takes for its socket.
#[derive(Debug)]
struct Handed {
    /// That of all hosts, to send.
    socket: Arc<UdpSocket>,
    inbox: Receiver<Datagram>,
    /// The datagram that has ended a wait.
    first: RefCell<Option<Datagram>>,
}

impl Handed {
    /// Sleeps until there is a datagram, but not longer than this.
    fn wait(&self, longest: Duration) {
        *self.first.borrow_mut() = self.inbox.recv_timeout(longest).ok();
    }
}

impl SystemSocket for Handed {
    fn options(&self) -> SockRef<'_> {
        SockRef::from(&*self.socket)
    }

    fn send_to(&self, datagram: &[u8], to: SocketAddr) -> io::Result<usize> {
        self.socket.send_to(datagram, to)
    }

    fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let next = self.first.borrow_mut().take();
        let next = next.or_else(|| self.inbox.try_recv().ok());
        let (from, datagram) = next.ok_or(ErrorKind::WouldBlock)?;
        let length = datagram.len().min(buffer.len());
        buffer[..length].copy_from_slice(&datagram[..length]);
        Ok((length, from))
    }
}

/// The host that a datagram is for: that of its connection, or else always the same for one address.
fn owner(datagram: &[u8], from: SocketAddr) -> usize {
    if let Some(shard) = shard(datagram, BITS) {
        return shard.into();
    }
    let mut hasher = DefaultHasher::new();
    from.hash(&mut hasher);
    usize::try_from(hasher.finish() % 4).unwrap()
}

/// Receives all datagrams, and hands them to their hosts.
fn receive(socket: &UdpSocket, hosts: &[SyncSender<Datagram>; HOSTS], stop: &AtomicBool) {
    let mut buffer = [0; 2048];
    while !stop.load(Ordering::Relaxed) {
        match socket.recv_from(&mut buffer) {
            Ok((length, from)) => {
                let datagram = buffer[..length].to_vec();
                let host = &hosts[owner(&datagram, from)];
                // A host that does not keep up loses datagrams, and holds up no other.
                let _full = host.try_send((from, datagram));
            }
            // The hosts have made the socket non-blocking.
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let pause = Timespec::try_from(PAUSE).unwrap();
                let _interrupted = poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&pause));
            }
            Err(_) => {} // of one datagram, or of a client that is gone
        }
    }
}

/// A host that answers each packet with its own number.
fn serve(mut host: Endpoint<Handed>, shard: u8, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let due = host.deadline().unwrap_or(Instant::ZERO + Duration::MAX);
        let until = due.saturating_duration_since(host.now());
        host.socket().wait(until.min(PAUSE));
        host.receive_datagrams().unwrap();
        while let Some(event) = host.poll_event() {
            let Event::Readable { peer } = event else {
                continue;
            };
            while let Some(packet) = host.receive(peer) {
                host.send(peer, packet.channel, vec![shard], Mode::Reliable)
                    .unwrap();
            }
        }
        host.transmit().unwrap();
    }
}

/// Asks the server, and returns the number of the host that answers.
fn ask(server: SocketAddr) -> u8 {
    let mut client = UdpHost::bind("127.0.0.1:0", Config::client()).unwrap();
    let peer = client.connect(server).unwrap();
    loop {
        client.wait(PAUSE).unwrap();
        while let Some(event) = client.poll_event() {
            if matches!(event, Event::Connected { .. }) {
                client
                    .send(peer, ChannelId(0), "who?", Mode::Reliable)
                    .unwrap();
            }
            assert!(!matches!(event, Event::Disconnected { .. }), "{event:?}");
        }
        if let Some(packet) = client.receive(peer) {
            return packet.payload[0];
        }
    }
}

fn main() -> io::Result<()> {
    let socket = Arc::new(bind("127.0.0.1:0")?);
    let server = socket.local_addr()?;
    let stop = AtomicBool::new(false);
    let config = Config::new().divided_among(4);
    let mut answers = [0; HOSTS];
    thread::scope(|scope| {
        let senders = [0, 1, 2, 3].map(|shard| {
            let (sender, inbox) = sync_channel(WAITING);
            let (socket, first) = (Arc::clone(&socket), RefCell::new(None));
            let (config, stop) = (config.clone(), &stop);
            scope.spawn(move || {
                let handed = Handed {
                    socket,
                    inbox,
                    first,
                };
                let mut host = Endpoint::plain(handed, config).unwrap();
                let ids = ConnectionIds::Sharded { shard, bits: BITS };
                host.set_connection_ids(ids).unwrap();
                host.listen(Listen::Open).unwrap();
                serve(host, shard, stop);
            });
            sender
        });
        let (socket, stop) = (&socket, &stop);
        scope.spawn(move || receive(socket, &senders, stop));
        for _ in 0..CLIENTS {
            answers[usize::from(ask(server))] += 1;
        }
        stop.store(true, Ordering::Relaxed);
    });
    writeln!(
        stdout(),
        "clients that each of {HOSTS} hosts has answered: {answers:?}"
    )
}
