//! porous by porous-mio, both hosts in one event loop.

use core::time::Duration;
use std::io;

use porous_mio::mio::{Events, Interest, Poll, Token};
use porous_mio::{ChannelId, Config, Event, Listen, MioHost, Mode, PeerId};
use porous_std::Clock;

use super::{Done, Job, LENGTH, Processor, REPORT_EACH, UNDER_WAY, node_address};

const SERVER: usize = 0;
const CLIENT: usize = 1;

/// Two hosts in one event loop, and the peer of each.
struct Loop {
    poll: Poll,
    events: Events,
    hosts: [MioHost; 2],
    peers: [Option<PeerId>; 2],
}

impl Loop {
    fn connected() -> io::Result<Self> {
        let mut server = MioHost::bind(node_address(), Config::new())?;
        server.listen(Listen::Open).map_err(io::Error::other)?;
        let mut client = MioHost::bind(node_address(), Config::client())?;
        let to = server.local_addr()?;
        client.connect(to).map_err(io::Error::other)?;
        let poll = Poll::new()?;
        let mut hosts = [server, client];
        for (index, host) in hosts.iter_mut().enumerate() {
            let both = Interest::READABLE | Interest::WRITABLE;
            poll.registry().register(host, Token(index), both)?;
        }
        let mut turns = Self {
            poll,
            events: Events::with_capacity(64),
            hosts,
            peers: [None; 2],
        };
        while turns.peers.contains(&None) {
            turns.turn(&mut |_, _, _| {})?;
        }
        Ok(turns)
    }

    /// Sleeps until a host is due, serves the hosts, and tells what each has received.
    fn turn(&mut self, tell: &mut impl FnMut(&mut MioHost, usize, &[u8])) -> io::Result<()> {
        let timeout = self.hosts.iter().filter_map(MioHost::timeout).min();
        self.poll.poll(&mut self.events, timeout)?;
        for event in &self.events {
            self.hosts[event.token().0].handle_event(event);
        }
        for (index, host) in self.hosts.iter_mut().enumerate() {
            if host.timeout() == Some(Duration::ZERO) {
                host.step()?;
            }
            while let Some(event) = host.poll_event() {
                if let Event::Connected { peer, .. } = event {
                    self.peers[index] = Some(peer);
                }
                if let Event::Readable { peer } = event {
                    while let Some(packet) = host.receive(peer) {
                        tell(host, index, &packet.payload);
                    }
                }
            }
        }
        Ok(())
    }

    fn peer(&self, host: usize) -> io::Result<PeerId> {
        self.peers[host].ok_or_else(|| io::Error::other("it is connected"))
    }
}

fn send(host: &mut MioHost, peer: PeerId, message: &[u8]) {
    // A message without room would be lost: there is room for all that are under way.
    let sent = host.send(peer, ChannelId(0), message, Mode::Unreliable);
    debug_assert_eq!(sent, Ok(()));
}

pub(super) fn run(job: Job) -> io::Result<Done> {
    let turns = Loop::connected()?;
    match job {
        Job::Echoes(count) => echoes(turns, count),
        Job::Messages(count) => messages(turns, count),
    }
}

fn echoes(mut turns: Loop, count: usize) -> io::Result<Done> {
    let clock = Clock::start();
    let [here, there] = [turns.peer(SERVER)?, turns.peer(CLIENT)?];
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let begun = clock.now();
        send(&mut turns.hosts[CLIENT], there, &[7; LENGTH]);
        let mut is_back = false;
        while !is_back {
            turns.turn(&mut |host, index, message| match index {
                SERVER => send(host, here, message),
                _ => is_back = true,
            })?;
        }
        times.push(clock.now().saturating_duration_since(begun));
    }
    Ok(Done::Echoes(times))
}

fn messages(mut turns: Loop, count: u64) -> io::Result<Done> {
    let [here, there] = [turns.peer(SERVER)?, turns.peer(CLIENT)?];
    let processor = Processor::start()?;
    let (mut sent, mut read, mut reported) = (0, 0, 0);
    while reported < count {
        while sent < count && sent - reported < UNDER_WAY {
            send(&mut turns.hosts[CLIENT], there, &[7; LENGTH]);
            sent += 1;
        }
        turns.turn(&mut |host, index, message| {
            if index == SERVER {
                read += 1;
                if read % REPORT_EACH == 0 || read == count {
                    send(host, here, &u64::to_le_bytes(read));
                }
            } else if let Ok(report) = message.try_into() {
                reported = u64::from_le_bytes(report);
            }
        })?;
    }
    processor.done()
}
