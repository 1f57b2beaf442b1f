//! The host: its turns, and the lines that it prints.

use alloc::collections::BTreeMap;
use core::error::Error;
use core::net::SocketAddr;
use core::time::Duration;
use std::io::{self, Write};

use porous_std::proto::seal::{Credentials, Security};
use porous_std::{ChannelId, Event, Instant, Listen, PeerId, RustCrypto, SocketBuffers, UdpHost};

use crate::options::Options;
use crate::talk::Talk;

/// The time between two ticks, at which each peer is asked.
const TICK: Duration = Duration::from_millis(10);

/// Questions to each peer in a tick.
const QUESTIONS: usize = 2;

/// Ticks from one report to the next.
const TICKS_A_REPORT: u32 = 10;

pub(crate) struct Actor {
    host: UdpHost,
    talks: BTreeMap<PeerId, Talk>,
    talk: bool,
    size: usize,
    next_tick: Instant,
    ticks: u32,
}

/// Writes one line for the test, and flushes it.
pub(crate) fn tell(text: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{text}")
}

/// Sets the send buffer to this size as the system counts it: Linux gives twice the size that it is asked
/// for.
fn set_send_buffer(host: &UdpHost, bytes: usize) -> Result<(), Box<dyn Error>> {
    let wanted = SocketBuffers {
        send: bytes / 2,
        ..SocketBuffers::default()
    };
    let given = host.endpoint().set_socket_buffers(wanted)?.send;
    if given == bytes {
        Ok(())
    } else {
        Err(format!("a buffer of {given} bytes instead of {bytes}").into())
    }
}

impl Actor {
    pub(crate) fn start(options: &Options) -> Result<Self, Box<dyn Error>> {
        let mut host = UdpHost::bind(options.bind, options.config.clone())?;
        if let Some(buffer) = options.buffer {
            set_send_buffer(&host, buffer)?;
        }
        host.set_connection_ids(options.ids)?;
        if options.sealed {
            host.set_security(Security::new(&RustCrypto).allow_plain());
        }
        if options.listen {
            host.listen(Listen::Open)?;
        }
        if let Some(address) = options.connect {
            match options.sealed {
                true => host.connect_sealed(&[address], &Credentials::new())?,
                false => host.connect(address)?,
            };
        }
        tell(&format!("bound address={}", host.local_addr()?))?;
        Ok(Self {
            next_tick: host.now(),
            host,
            talks: BTreeMap::new(),
            talk: options.talk,
            size: options.size,
            ticks: 0,
        })
    }

    pub(crate) fn command(&mut self, line: &str) -> Result<(), Box<dyn Error>> {
        let (command, argument) = line.split_once(' ').unwrap_or((line, ""));
        if command != "connect" {
            return Err(format!("no such command: {line}").into());
        }
        let addresses = argument.split(' ').map(str::parse::<SocketAddr>);
        let addresses = addresses.collect::<Result<Vec<_>, _>>()?;
        self.host.connect_any(&addresses)?;
        Ok(())
    }

    pub(crate) fn turn(&mut self) -> Result<(), Box<dyn Error>> {
        let rest = self.next_tick.saturating_duration_since(self.host.now());
        self.host.wait(rest)?;
        while let Some(event) = self.host.poll_event() {
            self.take(event)?;
        }
        if self.host.now() >= self.next_tick {
            self.next_tick = self.host.now() + TICK;
            self.ticks += 1;
            self.ask()?;
            if self.ticks % TICKS_A_REPORT == 0 {
                self.report()?;
            }
        }
        Ok(())
    }

    fn take(&mut self, event: Event<SocketAddr>) -> Result<(), Box<dyn Error>> {
        match event {
            Event::Connected { peer, address } => {
                self.talks.insert(peer, Talk::default());
                tell(&format!("connected peer={address}"))?;
            }
            Event::PeerMoved { from, to, .. } => tell(&format!("moved from={from} to={to}"))?,
            Event::PathNarrowed { bytes, .. } => tell(&format!("narrowed bytes={bytes}"))?,
            Event::Readable { peer } => self.answer(peer)?,
            Event::Disconnected { peer, reason, .. } => {
                self.talks.remove(&peer);
                tell(&format!("ended reason={reason:?}"))?;
            }
            Event::Request { .. } | Event::Writable { .. } | Event::Receipt { .. } | _ => {}
        }
        Ok(())
    }

    fn answer(&mut self, peer: PeerId) -> Result<(), Box<dyn Error>> {
        while let Some(packet) = self.host.receive(peer) {
            let talk = self.talks.entry(peer).or_default();
            let now = self.host.now();
            if let Some(answer) = talk.hear(now, &packet.payload, self.size)? {
                // A peer that has left by now needs no answer. If the host had no room for an answer, the
                // other side would notice that it is missing.
                let _ = self.host.send(peer, ChannelId(0), answer, packet.mode);
            }
        }
        Ok(())
    }

    fn ask(&mut self) -> Result<(), Box<dyn Error>> {
        let now = self.host.now();
        let talking = self.talks.iter_mut().filter(|_| self.talk);
        for (peer, talk) in talking {
            for _ in 0..QUESTIONS {
                if let Some((mode, question)) = talk.ask(now, self.size) {
                    self.host.send(*peer, ChannelId(0), question, mode)?;
                }
            }
        }
        Ok(())
    }

    fn report(&mut self) -> io::Result<()> {
        let now = self.host.now();
        for (peer, talk) in &mut self.talks {
            let (Some(state), Some(address)) = (self.host.peer(*peer), self.host.address(*peer))
            else {
                continue;
            };
            let slowest = talk.slowest(now).as_millis();
            let Talk {
                answers, questions, ..
            } = talk;
            let stats = state.stats();
            tell(&format!(
                "peer address={address} answers={answers} questions={questions} mtu={} lost={} \
                 rtt={} ecn={} marked={} slowest={slowest}",
                stats.path_mtu,
                stats.frames_lost,
                stats.rtt.as_millis(),
                stats.ecn,
                stats.frames_marked,
            ))?;
        }
        let stats = self.host.socket_stats();
        tell(&format!(
            "socket unsent={} withheld={} errors={}",
            stats.send_lost, stats.answers_withheld, stats.receive_errors
        ))
    }
}
