//! The run: the probes, their echoes, and what is shown meanwhile.

use core::time::Duration;
use std::io;

use porous_metrics::History;
use porous_std::{
    Disconnect, DisconnectReason, Event, Instant, Mode, Peer, PeerStats, Received, UdpHost,
};

use super::PingArgs;
use super::stream::Stream;
use super::view;
use crate::echo::{CONTROL, MODES, Message, channel, place};
use crate::net::link::{Link, NAP};
use crate::out::Out;
use crate::screen::{PICTURE, Screen};
use crate::stop::Stop;

/// How long the last echoes may take, and the counts after them.
const LAST: Duration = Duration::from_secs(2);

/// Between two samples of the statistics.
const SAMPLE: Duration = Duration::from_millis(100);

/// A connection and its probes.
#[derive(Debug)]
pub(crate) struct Session {
    host: UdpHost,
    pub(crate) link: Link,
    pub(crate) is_sealed: bool,
    size: u16,
    channels: u8,
    is_long: bool,
    duration: Duration,
    /// One for each mode that is measured.
    pub(crate) streams: Vec<Stream>,
    pub(crate) history: History,
    /// The last statistics of the connection.
    pub(crate) stats: PeerStats,
    /// When the first probe was due.
    start: Instant,
    sampled: Instant,
    /// How long probes were sent.
    pub(crate) elapsed: Duration,
    /// True once the server has said what it has counted.
    pub(crate) has_counts: bool,
    pub(crate) ended: Option<DisconnectReason>,
}

impl Session {
    pub(crate) fn new(args: &PingArgs, host: UdpHost, link: Link) -> Self {
        let modes = MODES.into_iter().filter(|&mode| args.has(mode));
        let stream = |(mode, third)| Stream::new(mode, args.rate, third);
        let start = host.now();
        let secured = host.peer(link.peer).and_then(Peer::secured);
        Self {
            link,
            is_sealed: secured.is_some(),
            size: args.size,
            channels: args.channels,
            is_long: args.bidirectional,
            duration: Duration::from_secs(args.duration.into()),
            streams: modes.zip(0..).map(stream).collect(),
            history: History::new(),
            stats: PeerStats::default(),
            start,
            sampled: Instant::ZERO,
            elapsed: Duration::ZERO,
            has_counts: false,
            ended: None,
            host,
        }
    }

    /// Sends probes until the time is over, waits for the last echoes, and asks for the counts.
    pub(crate) fn play(&mut self, shown: &mut Shown, stop: &Stop) -> io::Result<()> {
        while self.ended.is_none() && !stop.is_asked() && self.elapsed() < self.duration {
            self.send_due();
            self.turn(self.pause())?;
            shown.show(self, stop);
        }
        if self.ended.is_none() && !stop.is_asked() {
            // Those that were due while the program slept.
            self.send_due();
        }
        self.elapsed = self.elapsed().min(self.duration);
        let is_complete = |session: &Self| session.streams.iter().all(Stream::is_complete);
        self.wait_for(is_complete)?;
        let question = Message::Question.to_bytes(0);
        let peer = self.link.peer;
        // Without room after two seconds, or without a connection, there are no counts.
        if self
            .host
            .send(peer, CONTROL, question, Mode::Reliable)
            .is_ok()
        {
            self.wait_for(|session| session.has_counts)?;
        }
        Ok(())
    }

    /// Says goodbye.
    pub(crate) fn close(self) -> io::Result<()> {
        self.host.close(Disconnect::Now { reason: 0 })
    }

    /// How long ago the first probe was due.
    pub(crate) fn elapsed(&self) -> Duration {
        self.host.now().saturating_duration_since(self.start)
    }

    fn wait_for(&mut self, is_done: impl Fn(&Self) -> bool) -> io::Result<()> {
        let until = self.host.now() + LAST;
        while self.ended.is_none() && !is_done(self) && self.host.now() < until {
            self.turn(NAP)?;
        }
        Ok(())
    }

    /// The time until the next probe is due.
    fn pause(&self) -> Duration {
        let next = self.streams.iter().map(Stream::next_due).min();
        next.unwrap_or(NAP).saturating_sub(self.elapsed()).min(NAP)
    }

    fn send_due(&mut self) {
        // None is due at the end itself: the number of probes does not depend on how busy the machine is.
        let elapsed = self.elapsed().min(self.duration - Duration::from_micros(1));
        let now = self.host.now();
        for stream in &mut self.streams {
            let mode = stream.mode;
            stream.send_due(elapsed, |serial| {
                let probe = Message::Probe {
                    is_long: self.is_long,
                    serial,
                    sent: now,
                };
                let turn = u8::try_from(serial % u64::from(self.channels)).unwrap_or(0);
                let packet = probe.to_bytes(self.size.into());
                let channel = channel(mode, turn);
                self.host
                    .send(self.link.peer, channel, packet, mode)
                    .is_ok()
            });
        }
    }

    /// Sleeps, and takes what has come.
    fn turn(&mut self, pause: Duration) -> io::Result<()> {
        self.host.wait(pause)?;
        while let Some(event) = self.host.poll_event() {
            match event {
                Event::Readable { peer } if peer == self.link.peer => self.read(),
                Event::Disconnected { peer, reason, .. } if peer == self.link.peer => {
                    self.read();
                    self.ended = Some(reason);
                }
                Event::Readable { .. } | Event::Writable { .. } | _ => {}
            }
        }
        let now = self.host.now();
        if now.saturating_duration_since(self.sampled) >= SAMPLE {
            self.sampled = now;
            // A connection that has ended keeps its last statistics.
            if let Some(peer) = self
                .host
                .peer(self.link.peer)
                .filter(|_| self.ended.is_none())
            {
                self.stats = peer.stats();
                self.history.sample(&self.stats, now);
            }
        }
        Ok(())
    }

    fn read(&mut self) {
        while let Some(packet) = self.host.receive(self.link.peer) {
            self.take(&packet);
        }
    }

    fn take(&mut self, packet: &Received) {
        let now = self.host.now();
        match Message::parse(&packet.payload) {
            Some(echo @ Message::Echo { .. }) => {
                let mut streams = self.streams.iter_mut();
                if let Some(stream) = streams.find(|stream| stream.mode == packet.mode) {
                    stream.take(echo, now);
                }
            }
            Some(Message::Counts(counts)) => {
                for stream in &mut self.streams {
                    stream.counted(counts[place(stream.mode)]);
                }
                self.has_counts = true;
            }
            // What a client says, and no server.
            Some(Message::Probe { .. } | Message::Question) | None => {}
        }
    }
}

/// What the user sees during the run: a view of the whole terminal, or a line for each second.
#[derive(Debug)]
pub(crate) struct Shown {
    out: Out,
    screen: Option<Screen>,
    drawn: Duration,
    /// Seconds of which a line was printed.
    lines: u64,
    title: String,
}

impl Shown {
    pub(crate) fn new(args: &PingArgs, out: Out) -> Self {
        let is_plain = args.plain || out.is_silent();
        Self {
            out,
            screen: if is_plain { None } else { Screen::take() },
            drawn: Duration::ZERO,
            lines: 0,
            title: format!("porous ping {}", args.to),
        }
    }

    fn show(&mut self, session: &Session, stop: &Stop) {
        let elapsed = session.elapsed();
        let Some(screen) = &mut self.screen else {
            let second = elapsed.as_secs();
            if second > self.lines {
                if self.lines == 0 {
                    self.out.print(view::HEAD);
                }
                self.lines = second;
                self.out.print(&view::line(session, second));
            }
            return;
        };
        if elapsed.saturating_sub(self.drawn) < PICTURE {
            return;
        }
        self.drawn = elapsed;
        let is_drawn = screen.draw(|frame| view::draw(session, &self.title, frame));
        if Screen::asks_to_stop() {
            stop.ask();
        }
        if !is_drawn {
            self.screen = None;
        }
    }

    /// Gives the terminal back.
    pub(crate) fn end(self) -> Out {
        self.out
    }
}
