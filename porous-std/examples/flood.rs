//! Measures how strangers with tiny datagrams delay 63 honest clients of a server with a 60 Hz loop, and
//! the clients of an echo server without any protocol in the same run.
//! `cargo run --release -p porous-std --example flood -- 0 100000 300000` floods at these rates a second;
//! `buffer=212992` before the rates sets a smaller receive buffer. `send` instead of a rate measures the
//! longest sending call of a server that has 80 MB for its clients.
#![expect(clippy::unwrap_used, reason = "a failed step ends the measurement")]

extern crate alloc;

use alloc::sync::Arc;
use core::net::SocketAddr;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;
use std::io::{self, Write as _};
use std::net::UdpSocket;
use std::thread;

use porous_udp::{
    Bytes, ChannelId, Clock, Config, Endpoint, Event, Instant, Listen, Mode, PeerId, SocketBuffers,
    bind,
};
use rustix::event::{Timespec, poll};

const CLIENTS: usize = 63;
const TICK: Duration = Duration::from_nanos(16_666_667);
/// The time in which all threads begin, before each flood is measured.
const WARM: Duration = Duration::from_secs(1);
/// The time for which each flood is measured.
const MEASURED: Duration = Duration::from_secs(5);
/// Sockets of the strangers.
const STRANGERS: usize = 64;

/// A host without a driver, so that each half of a step is measured alone.
type Host = Endpoint<UdpSocket>;

fn host(config: Config) -> Host {
    Endpoint::new(bind("127.0.0.1:0").unwrap(), config).unwrap()
}

fn step(host: &mut Host) {
    host.receive_datagrams().unwrap();
    host.transmit().unwrap();
}

fn rest(duration: Duration) {
    let timeout = Timespec::try_from(duration).unwrap();
    let _interrupted = poll(&mut [], Some(&timeout));
}

/// The state that all threads share.
struct Run {
    clock: Clock,
    stop: AtomicBool,
    /// Datagrams that the server took in, and the microseconds that its longest turn took.
    taken: AtomicU64,
    longest: AtomicU64,
    flooded: AtomicU64,
}

impl Run {
    fn start() -> Self {
        Self {
            clock: Clock::start(),
            stop: AtomicBool::new(false),
            taken: AtomicU64::new(0),
            longest: AtomicU64::new(0),
            flooded: AtomicU64::new(0),
        }
    }

    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    fn is_measured(&self) -> bool {
        self.clock.now() > Instant::ZERO + WARM
    }

    fn ping(&self) -> [u8; 32] {
        let mut ping = [0; 32];
        ping[..8].copy_from_slice(&self.clock.now().as_micros().to_le_bytes());
        ping
    }

    /// The age of a ping in microseconds.
    fn age(&self, ping: &[u8]) -> u64 {
        let made = u64::from_le_bytes(ping[..8].try_into().unwrap());
        self.clock.now().as_micros().saturating_sub(made)
    }

    /// Runs sixty turns a second. A turn returns how many datagrams it took in.
    fn turns(&self, mut turn: impl FnMut() -> u64) {
        let mut next = self.clock.now();
        while self.goes_on() {
            let started = self.clock.now();
            let taken = turn();
            let ended = self.clock.now();
            if self.is_measured() {
                self.taken.fetch_add(taken, Ordering::Relaxed);
                let took = ended.saturating_duration_since(started).as_micros();
                let took = u64::try_from(took).unwrap();
                self.longest.fetch_max(took, Ordering::Relaxed);
            }
            next = (next + TICK).max(ended);
            rest(next.saturating_duration_since(ended));
        }
    }
}

/// Answers every datagram.
fn echo(run: &Run, socket: &UdpSocket) {
    socket.set_nonblocking(true).unwrap();
    let mut buffer = [0; 2048];
    run.turns(|| {
        let mut taken = 0;
        while let Ok((len, from)) = socket.recv_from(&mut buffer) {
            let _full = socket.send_to(&buffer[..len], from);
            taken += 1;
        }
        taken
    });
}

/// Answers every packet of its peers.
fn serve(run: &Run, mut host: Host) {
    host.listen(Listen::Open).unwrap();
    run.turns(|| {
        let before = host.stats().datagrams_received;
        step(&mut host);
        while let Some(event) = host.poll_event() {
            let Event::Readable { peer } = event else {
                continue;
            };
            while let Some(packet) = host.receive(peer) {
                let _full = host.send(peer, ChannelId(0), packet.payload, packet.mode);
            }
        }
        host.transmit().unwrap();
        host.stats().datagrams_received - before
    });
}

/// A client of a server, of either kind.
trait Client {
    fn ping(&mut self, run: &Run);
    fn hear(&mut self, heard: &mut dyn FnMut(&[u8]));
}

impl Client for UdpSocket {
    fn ping(&mut self, run: &Run) {
        let _full = self.send(&run.ping());
    }

    fn hear(&mut self, heard: &mut dyn FnMut(&[u8])) {
        let mut buffer = [0; 64];
        while let Ok(len) = self.recv(&mut buffer) {
            heard(&buffer[..len]);
        }
    }
}

impl Client for (Host, PeerId) {
    fn ping(&mut self, run: &Run) {
        let ping = run.ping().to_vec();
        // Refused before the client is connected.
        let _early = self.0.send(self.1, ChannelId(0), ping, Mode::Unreliable);
        self.0.transmit().unwrap();
    }

    fn hear(&mut self, heard: &mut dyn FnMut(&[u8])) {
        step(&mut self.0);
        while self.0.poll_event().is_some() {}
        while let Some(packet) = self.0.receive(self.1) {
            heard(&packet.payload);
        }
    }
}

/// Lets each client ping sixty times a second, and all receive once a millisecond. Returns the sorted ages
/// of the answers, and the number of pings.
fn talk(run: &Run, mut clients: Vec<impl Client>) -> (Vec<u64>, usize) {
    let now = run.clock.now();
    let count = u32::try_from(CLIENTS).unwrap();
    let mut next: Vec<_> = (0..count).map(|index| now + TICK * index / count).collect();
    let (mut ages, mut pings) = (Vec::new(), 0);
    while run.goes_on() {
        for (client, next) in clients.iter_mut().zip(&mut next) {
            client.hear(&mut |ping| {
                if run.is_measured() {
                    ages.push(run.age(ping));
                }
            });
            if run.clock.now() >= *next {
                *next = *next + TICK;
                client.ping(run);
                pings += usize::from(run.is_measured());
            }
        }
        rest(Duration::from_millis(1));
    }
    ages.sort_unstable();
    (ages, pings)
}

/// Sends datagrams of 8 bytes at this rate a second, if the machine can.
fn flood(run: &Run, to: SocketAddr, rate: u64) {
    let open = |_| {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(to).unwrap();
        socket
    };
    let sockets: Vec<_> = (0..STRANGERS).map(open).collect();
    let mut sent = 0;
    let mut sockets = sockets.iter().cycle();
    while run.goes_on() {
        let due = run.clock.now().as_micros() * rate / 1_000_000;
        // Datagrams that could not be sent in time are not made up for.
        sent = sent.max(due.saturating_sub(rate / 100));
        while sent < due {
            let _full = sockets.next().unwrap().send(&[0xa5; 8]);
            sent += 1;
            if run.is_measured() {
                run.flooded.fetch_add(1, Ordering::Relaxed);
            }
        }
        rest(Duration::from_micros(500));
    }
}

fn connect(to: SocketAddr) -> (Host, PeerId) {
    let mut host = host(Config::client());
    let peer = host.connect(to).unwrap();
    (host, peer)
}

/// The longest call that sends, with as many packets queued for each client as the host takes.
fn send() -> String {
    let run = Arc::new(Run::start());
    let mut server = host(Config::new());
    server.listen(Listen::Open).unwrap();
    let to = server.local_addr().unwrap();
    let clients = {
        let run = Arc::clone(&run);
        thread::spawn(move || {
            let clients = (0..CLIENTS).map(|_| connect(to)).collect();
            talk(&run, clients)
        })
    };
    let payload = Bytes::from(vec![7; 60_000]);
    let (mut longest, mut sent) = (Duration::ZERO, 0);
    while run.clock.now() < Instant::ZERO + WARM + MEASURED {
        server.receive_datagrams().unwrap();
        while server.poll_event().is_some() {}
        let peers: Vec<_> = server.peers().map(|(peer, _)| peer).collect();
        for peer in peers {
            // 1.3 MB for each of 63.
            while server.peer(peer).unwrap().stats().queued_bytes < 1_300_000
                && server
                    .send(peer, ChannelId(0), payload.clone(), Mode::Reliable)
                    .is_ok()
            {}
            while server.receive(peer).is_some() {}
        }
        let (began, before) = (run.clock.now(), server.stats().bytes_sent);
        server.transmit().unwrap();
        let took = run.clock.now().saturating_duration_since(began);
        if run.is_measured() {
            longest = longest.max(took);
            sent += server.stats().bytes_sent - before;
        }
        rest(TICK.saturating_sub(took));
    }
    run.stop.store(true, Ordering::Relaxed);
    clients.join().unwrap();
    let megabytes = sent / 1_000_000 / MEASURED.as_secs();
    format!(
        "sends {megabytes} MB a second, {} us in one call at most",
        longest.as_micros()
    )
}

fn measure(is_porous: bool, rate: u64, receive: usize) -> String {
    let run = Arc::new(Run::start());
    // The sockets of both servers have the same buffers.
    let host = host(Config::new());
    let wanted = SocketBuffers {
        receive,
        ..SocketBuffers::default()
    };
    let buffers = host.set_socket_buffers(wanted).unwrap();
    let to = host.local_addr().unwrap();
    let server = {
        let run = Arc::clone(&run);
        thread::spawn(move || {
            if is_porous {
                serve(&run, host);
            } else {
                echo(&run, host.socket());
            }
        })
    };
    let clients = {
        let run = Arc::clone(&run);
        thread::spawn(move || {
            if is_porous {
                talk(&run, (0..CLIENTS).map(|_| connect(to)).collect())
            } else {
                let open = |_| {
                    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
                    socket.connect(to).unwrap();
                    socket.set_nonblocking(true).unwrap();
                    socket
                };
                talk(&run, (0..CLIENTS).map(open).collect())
            }
        })
    };
    let flooder = {
        let run = Arc::clone(&run);
        thread::spawn(move || flood(&run, to, rate))
    };
    rest(WARM + MEASURED);
    run.stop.store(true, Ordering::Relaxed);
    server.join().unwrap();
    flooder.join().unwrap();
    let (ages, pings) = clients.join().unwrap();
    let at = |percent: usize| {
        let age = ages.get(ages.len() * percent / 100).copied();
        age.map_or_else(|| "-".into(), |age| format!("{}", age / 1000))
    };
    let each = |count: &AtomicU64| count.load(Ordering::Relaxed) / MEASURED.as_secs();
    format!(
        "{} {:7}/s sent {:7}/s taken {:7}/s: p50 {} ms, p99 {} ms, {} of {pings} answered, longest turn {} ms, receive buffer {}",
        if is_porous { "porous" } else { "echo  " },
        rate,
        each(&run.flooded),
        each(&run.taken),
        at(50),
        at(99),
        ages.len(),
        run.longest.load(Ordering::Relaxed) / 1000,
        buffers.receive,
    )
}

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let mut receive = SocketBuffers::default().receive;
    for argument in std::env::args().skip(1) {
        if let Some(bytes) = argument.strip_prefix("buffer=") {
            receive = bytes.parse().unwrap();
        } else if argument == "send" {
            writeln!(out, "{}", send())?;
        } else {
            let rate = argument.parse().unwrap();
            for is_porous in [false, true] {
                writeln!(out, "{}", measure(is_porous, rate, receive))?;
            }
        }
    }
    Ok(())
}
