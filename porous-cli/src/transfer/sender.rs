//! The sender's connections, one after another until the receiver has the file.

use core::net::SocketAddr;
use core::time::Duration;

use porous_std::proto::seal::Credentials;
use porous_std::{Config, Disconnect, Event, Mode, Peer, PeerId, UdpHost};

use super::message::Message;
use super::outgoing::Outgoing;
use super::progress::Progress;
use super::{CHANNEL, LAST, config};
use crate::clock::Clock;
use crate::net::address::Place;
use crate::net::link::{NAP, NoLink, bind_client, connect, why};
use crate::stop::Stop;

/// The pause before another try to connect.
const PAUSE: Duration = Duration::from_millis(500);

/// The receiver has the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent;

/// What there is to tell of the connections.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Bytes that the receiver had before the first connection.
    pub(crate) resumed_from: u64,
    /// Connections that were made after the first.
    pub(crate) reconnected: u32,
}

/// How a connection has ended.
#[derive(Debug)]
enum End {
    Sent,
    /// It makes sense to connect again.
    Broken(String),
    /// It does not.
    Failed(String),
}

/// The host and the file.
#[derive(Debug)]
pub(crate) struct Sender {
    host: UdpHost,
    place: Place,
    addresses: Vec<SocketAddr>,
    credentials: Option<Credentials>,
    outgoing: Outgoing,
    /// The offset at which the receiver last wanted to begin; `None` before the first time.
    begun: Option<u64>,
    counts: Counts,
    progress: Progress,
    stop: Stop,
}

impl Sender {
    pub(crate) fn new(
        place: Place,
        addresses: Vec<SocketAddr>,
        credentials: Option<Credentials>,
        outgoing: Outgoing,
        stop: Stop,
    ) -> Result<Self, String> {
        let host = config(Config::client(), credentials.is_some()).and_then(bind_client);
        Ok(Self {
            host: host.map_err(|error| error.to_string())?,
            progress: Progress::new("sending", outgoing.len),
            place,
            addresses,
            credentials,
            outgoing,
            begun: None,
            counts: Counts::default(),
            stop,
        })
    }

    pub(crate) const fn counts(&self) -> Counts {
        self.counts
    }

    pub(crate) fn into_file(self) -> Outgoing {
        self.outgoing
    }

    /// Sends the file. After a connection that broke it tries to connect for `retry`, and as long again whenever
    /// the receiver has got more meanwhile.
    pub(crate) fn send(&mut self, retry: Duration, clock: Clock) -> Result<Sent, String> {
        let mut broken: Option<Duration> = None;
        loop {
            let before = self.begun;
            let end = self.connect(broken.is_some());
            if self.begun > before {
                broken = None;
            }
            let text = match end {
                End::Sent => return Ok(Sent),
                End::Failed(text) => return Err(text),
                End::Broken(text) => text,
            };
            let now = clock.elapsed();
            let since = *broken.get_or_insert(now);
            // Before the first connection there is nothing to go on with.
            if self.begun.is_none() || now.saturating_sub(since) >= retry {
                return Err(text);
            }
            self.pause(clock)?;
        }
    }

    /// Waits a little, so that a receiver that is started again is not asked in vain all the time.
    fn pause(&mut self, clock: Clock) -> Result<(), String> {
        let until = clock.elapsed() + PAUSE;
        while clock.elapsed() < until && !self.stop.is_asked() {
            self.host.wait(NAP).map_err(|error| error.to_string())?;
            while self.host.poll_event().is_some() {}
        }
        Ok(())
    }

    /// Makes one connection, and sends over it.
    fn connect(&mut self, is_again: bool) -> End {
        let Self {
            host,
            place,
            addresses,
            credentials,
            stop,
            ..
        } = self;
        let link = match connect(host, place, addresses, credentials.as_ref(), stop) {
            Ok(link) => link,
            Err(NoLink::Stopped) => return self.stopped(),
            Err(NoLink::NotNow(text)) => return End::Broken(text),
            Err(NoLink::Never(text)) => return End::Failed(text),
        };
        self.counts.reconnected += u32::from(is_again);
        match self.play(link.peer) {
            Ok(end) => end,
            Err(error) => End::Failed(format!("cannot send {}: {error}", self.outgoing.name)),
        }
    }

    fn stopped(&self) -> End {
        let (at, len) = (self.outgoing.at, self.outgoing.len);
        End::Failed(format!(
            "stopped after {at} of {len} bytes: another run goes on there"
        ))
    }

    /// Offers the file, and sends what the receiver does not have.
    fn play(&mut self, peer: PeerId) -> std::io::Result<End> {
        let offer = self.outgoing.offer().to_bytes();
        // The first packet of a connection finds room.
        let offered = self.host.send(peer, CHANNEL, offer, Mode::Reliable);
        offered.map_err(std::io::Error::other)?;
        let mut may_send = false;
        loop {
            if may_send {
                let Self { host, outgoing, .. } = self;
                outgoing.send(|piece| host.send(peer, CHANNEL, piece, Mode::Reliable))?;
                let queued = host.peer(peer).map_or(0, Peer::queued_bytes) as u64;
                self.progress.at(outgoing.at.saturating_sub(queued));
            }
            if self.stop.is_asked() {
                self.goodbye(peer)?;
                return Ok(self.stopped());
            }
            self.host.wait(NAP)?;
            while let Some(event) = self.host.poll_event() {
                match event {
                    Event::Readable { peer: from } if from == peer => {
                        if let Some(end) = self.read(peer, &mut may_send)? {
                            self.goodbye(peer)?;
                            return Ok(end);
                        }
                    }
                    Event::Disconnected {
                        peer: from, reason, ..
                    } if from == peer => {
                        // The last word may have come together with the goodbye.
                        if let Some(end) = self.read(peer, &mut may_send)? {
                            return Ok(end);
                        }
                        let why = why(reason, false);
                        return Ok(End::Broken(format!(
                            "the receiver does not have the file, and {why}"
                        )));
                    }
                    Event::Readable { .. } | Event::Writable { .. } | _ => {}
                }
            }
        }
    }

    /// Takes what the receiver says. `may_send` is true once it has said where to begin.
    fn read(&mut self, peer: PeerId, may_send: &mut bool) -> std::io::Result<Option<End>> {
        while let Some(packet) = self.host.receive(peer) {
            match Message::parse(&packet.payload) {
                Some(Message::Begin { offset }) if !*may_send => {
                    if !self.outgoing.begin(offset)? {
                        let text = "the receiver wants more than the file has".to_owned();
                        return Ok(Some(End::Failed(text)));
                    }
                    if self.begun.is_none() {
                        self.counts.resumed_from = offset;
                    }
                    self.begun = Some(offset);
                    self.progress.begin(offset);
                    *may_send = true;
                }
                Some(Message::Done) if *may_send => return Ok(Some(End::Sent)),
                Some(Message::Refused(why)) => {
                    return Ok(Some(End::Failed(why.text().to_owned())));
                }
                Some(
                    Message::Begin { .. }
                    | Message::Done
                    | Message::Offer { .. }
                    | Message::Data(_),
                )
                | None => {
                    let text = "the receiver says what makes no sense".to_owned();
                    return Ok(Some(End::Failed(text)));
                }
            }
        }
        Ok(None)
    }

    /// Ends the connection, and waits until the receiver knows.
    fn goodbye(&mut self, peer: PeerId) -> std::io::Result<()> {
        // The receiver may have ended it first.
        let _ = self.host.disconnect(peer, Disconnect::Now { reason: 0 });
        let until = self.host.now() + LAST;
        while !self.host.is_empty() && self.host.now() < until {
            self.host.wait(NAP)?;
            while self.host.poll_event().is_some() {}
        }
        Ok(())
    }
}
