//! The hosts in their threads, and the clients that keep them busy or idle.

use core::iter::Sum;
use core::net::SocketAddr;
use core::sync::atomic::{AtomicU8, Ordering};
use core::time::Duration;
use std::io::{self, Write as _, stdout};
use std::thread;

use porous_std::{ChannelId, Clock, Config, Event, Instant, Listen, Mode, PeerId, UdpHost};
use rustix::event::{Timespec, poll};
use rustix::time::{ClockId, clock_gettime};

/// Threads of clients, and the clients of each, that keep the hosts busy.
const THREADS: usize = 2;
const CLIENTS: usize = 64;
const IDLE_CLIENTS: usize = 1000;
/// The time before the measurement, and that of the measurement.
const WARM: Duration = Duration::from_secs(5);
const MEASURED: Duration = Duration::from_secs(10);

/// The phases of a run.
const WARMING: u8 = 0;
const MEASURING: u8 = 1;
const OVER: u8 = 2;

/// What a host has done.
#[derive(Clone, Copy)]
struct Work {
    datagrams: u64,
    /// Of its thread, on a core.
    time: Duration,
}

impl Work {
    fn of(host: &UdpHost) -> Self {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Self {
            datagrams: host.stats().datagrams_received,
            time: Duration::try_from(time).unwrap(),
        }
    }

    fn since(self, before: Self) -> Self {
        Self {
            datagrams: self.datagrams - before.datagrams,
            time: self.time - before.time,
        }
    }
}

impl Sum for Work {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        let none = Self {
            datagrams: 0,
            time: Duration::ZERO,
        };
        all.fold(none, |sum, it| Self {
            datagrams: sum.datagrams + it.datagrams,
            time: sum.time + it.time,
        })
    }
}

fn rest(duration: Duration) {
    let timeout = Timespec::try_from(duration).unwrap();
    let _interrupted = poll(&mut [], Some(&timeout));
}

/// A host that reads its packets, and what it did while it was measured.
fn serve(mut host: UdpHost, phase: &AtomicU8) -> Work {
    let mut begun = None;
    loop {
        host.wait(Duration::from_millis(100)).unwrap();
        while let Some(event) = host.poll_event() {
            if let Event::Readable { peer } = event {
                while host.receive(peer).is_some() {}
            }
        }
        match phase.load(Ordering::Relaxed) {
            WARMING => {}
            MEASURING => {
                begun.get_or_insert_with(|| Work::of(&host));
            }
            _ => return Work::of(&host).since(begun.unwrap()),
        }
    }
}

/// Clients of the server, all connected.
fn clients(server: SocketAddr, count: usize) -> Vec<(UdpHost, PeerId)> {
    let mut clients: Vec<_> = (0..count)
        .map(|_| {
            let mut client = UdpHost::bind("127.0.0.1:0", Config::client()).unwrap();
            let peer = client.connect(server).unwrap();
            (client, peer)
        })
        .collect();
    let is_connected = |(client, peer): &(UdpHost, PeerId)| {
        let peer = client.peer(*peer).expect("connecting or connected");
        peer.state() == porous_std::PeerState::Connected
    };
    while !clients.iter().all(is_connected) {
        step(&mut clients);
    }
    clients
}

fn step(clients: &mut [(UdpHost, PeerId)]) {
    for (client, _) in clients {
        client.step().unwrap();
        while client.poll_event().is_some() {}
    }
}

/// What the hosts did while they were measured; `client` is told their address and the phase.
fn run(count: u8, threads: usize, client: impl Fn(SocketAddr, &AtomicU8) + Sync) -> Work {
    let config = Config::new().max_peers(4000).max_peers_per_source(4000);
    let hosts = UdpHost::bind_shards("127.0.0.1:0", count, config).unwrap();
    let server = hosts[0].local_addr().unwrap();
    let phase = AtomicU8::new(WARMING);
    thread::scope(|scope| {
        let start = |mut host: UdpHost| {
            host.listen(Listen::Open).unwrap();
            scope.spawn(|| serve(host, &phase))
        };
        let hosts: Vec<_> = hosts.into_iter().map(start).collect();
        for _ in 0..threads {
            scope.spawn(|| client(server, &phase));
        }
        rest(WARM);
        phase.store(MEASURING, Ordering::Relaxed);
        rest(MEASURED);
        phase.store(OVER, Ordering::Relaxed);
        hosts.into_iter().map(|host| host.join().unwrap()).sum()
    })
}

/// Clients that each send a packet of 100 bytes whenever it is their turn.
pub(crate) fn busy(count: u8) -> io::Result<()> {
    let work = run(count, THREADS, |server, phase| {
        let mut clients = clients(server, CLIENTS);
        while phase.load(Ordering::Relaxed) != OVER {
            for (client, peer) in &mut clients {
                // A client whose window is full sends nothing in this turn.
                let _full = client.send(*peer, ChannelId(0), &[7; 100][..], Mode::Unreliable);
            }
            step(&mut clients);
        }
    });
    let wall = work.datagrams / MEASURED.as_secs();
    let core = u128::from(work.datagrams) * 1_000_000 / work.time.as_micros().max(1);
    writeln!(
        stdout(),
        "{count} hosts, busy: {wall} datagrams a second; {core} in a second of a core"
    )
}

/// Clients that say nothing but that they are there.
pub(crate) fn idle(count: u8) -> io::Result<()> {
    let work = run(count, 1, |server, phase| {
        let mut clients = clients(server, IDLE_CLIENTS);
        let clock = Clock::start();
        while phase.load(Ordering::Relaxed) != OVER {
            step(&mut clients);
            rest(Duration::from_millis(10));
        }
        assert!(clock.now() > Instant::ZERO + MEASURED, "connected too late");
    });
    let share = work.time.as_micros() / MEASURED.as_millis();
    writeln!(
        stdout(),
        "{count} hosts, {IDLE_CLIENTS} idle clients: {} datagrams a second, {}.{} % of a core",
        work.datagrams / MEASURED.as_secs(),
        share / 10,
        share % 10
    )
}
