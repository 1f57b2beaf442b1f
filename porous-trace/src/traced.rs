//! A host whose every call can be recorded.

use core::net::SocketAddr;
use core::ops::Deref;
use core::time::Duration;
use core::{fmt, mem};
use std::{io, thread};

use porous_proto::hooks::recording::{self, CredentialsParts, OptionsParts};
use porous_proto::seal::{Credentials, Security};
use porous_proto::{
    AnswerError, Bytes, ChannelId, Config, ConnectError, ConnectionIds, ConnectionIdsError,
    Disconnect, Disposition, Ecn, Event, Host, Instant, Listen, ListenError, Payload, Peer, PeerId,
    PeerState, Received, SendError, SendOptions, Transmit, UnknownPeer, ip_source,
};
use rand_core::CryptoRng;

use crate::noted::{Noted, Notes};
use crate::record::{Got, Ids, Record};
use crate::recorder::{Keep, Recorder};

/// Why a recording did not begin.
///
/// ```
/// use porous_trace::RecordError;
///
/// assert!(RecordError::Begun.to_string().contains("before"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordError {
    /// The host was used already: nobody could replay what was before.
    Begun,
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Begun => {
                "the host was used already: record before it listens, connects or is stepped"
            }
        })
    }
}

impl core::error::Error for RecordError {}

/// What a driver knows and a host does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct About {
    /// The address of the socket.
    pub local: Option<SocketAddr>,
    /// Microseconds since 1970 when the host's clock showed 0; 0 if nobody knows.
    pub began: u64,
}

impl About {
    /// A socket that is bound to `local`, and a clock that showed 0 at `began`.
    ///
    /// ```
    /// let about = porous_trace::About::new(None, 0);
    /// assert_eq!(about, Default::default());
    /// ```
    #[must_use]
    pub const fn new(local: Option<SocketAddr>, began: u64) -> Self {
        Self { local, began }
    }
}

/// What of a host that was not used yet has to be done again when it is made anew.
#[derive(Debug)]
struct Fresh {
    config: Config,
    security: Option<Security>,
    ids: Option<ConnectionIds>,
}

/// Whether a host is recorded.
#[derive(Debug)]
enum Tape {
    /// Not yet, and it may be.
    Fresh(Box<Fresh>),
    /// Not, or no more. The error that has ended it, until it is told.
    Off(Option<io::Error>),
    /// It is.
    On(Box<Running>),
}

#[derive(Debug)]
struct Running {
    recorder: Recorder,
    notes: Notes,
    keep: Keep,
    /// Whether the host seals, so that what it draws are keys.
    seals: bool,
    /// The records so far.
    records: u64,
}

impl Running {
    /// Puts what a call has drawn, and then the call.
    fn put(&mut self, record: impl FnOnce(Keep) -> Record) -> io::Result<()> {
        let bytes = self.notes.take();
        if !bytes.is_empty() && (self.keep.keys || !self.seals) {
            self.recorder.put(&Record::Draws { bytes })?;
            self.records += 1;
        }
        self.recorder.put(&record(self.keep))?;
        self.records += 1;
        Ok(())
    }
}

impl Tape {
    const fn running(&self) -> Option<&Running> {
        match self {
            Self::On(running) => Some(running),
            Self::Fresh(_) | Self::Off(_) => None,
        }
    }

    /// Records a call. `record` is made only if somebody wants it.
    fn put(&mut self, record: impl FnOnce(Keep) -> Record) {
        let Self::On(running) = self else {
            if matches!(self, Self::Fresh(_)) {
                *self = Self::Off(None);
            }
            return;
        };
        let done = running.put(record);
        if let Err(error) = done {
            // The connections go on, and nothing more is written: a trace with a hole replays nothing.
            *self = Self::Off(Some(error));
        }
    }
}

/// A [`Host`] that can be recorded: it has the same methods, and passes each call on. What does not change a
/// host is asked of it by [`Deref`].
///
/// Its addresses are those of IP, and belong together as they do for the drivers of this project: addresses of
/// one IP are of one host, and [`ip_source`] tells the owner. Three functions of a host cannot be recorded,
/// and so are not here: `set_same_host`, `set_source_of` and `set_ip_of`.
///
/// ```
/// use porous_proto::{Config, Listen};
/// # use porous_proto::hooks::doc::example_rng;
/// use porous_trace::{About, Keep, Recorder, TracedHost};
///
/// let mut host = TracedHost::new(Config::new(), example_rng());
/// let recorder = Recorder::new(std::io::sink(), Keep::nothing());
/// host.record(recorder, About::default(), example_rng())?;
/// host.listen(Listen::Open)?;
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TracedHost<R> {
    host: Host<Noted<R>>,
    tape: Tape,
}

impl<R> Deref for TracedHost<R> {
    type Target = Host<Noted<R>>;

    fn deref(&self) -> &Self::Target {
        &self.host
    }
}

fn made<R: CryptoRng>(config: Config, rng: Noted<R>) -> Host<Noted<R>> {
    let mut host = Host::new(config, rng);
    host.set_same_host(|a: &SocketAddr, b| a.ip() == b.ip());
    host.set_source_of(|from| ip_source(from.ip()));
    host.set_ip_of(SocketAddr::ip);
    host
}

/// Why a call was refused, in words; nothing if it was not.
fn refused<T, E: fmt::Display>(result: &Result<T, E>) -> String {
    result.as_ref().err().map(E::to_string).unwrap_or_default()
}

fn parts(ids: &ConnectionIds, keep: Keep) -> Ids {
    let mut parts = Ids {
        kind: 0,
        numbers: (0, 0),
        server: Vec::new(),
        is_encrypted: false,
        key: None,
    };
    match ids {
        ConnectionIds::Random => {}
        ConnectionIds::Sharded { shard, bits } => {
            (parts.kind, parts.numbers) = (1, (*shard, *bits))
        }
        ConnectionIds::QuicLb(lb) => {
            let (rotation, key) = recording::quic_lb(lb);
            (parts.kind, parts.numbers) = (2, (rotation, 0));
            parts.server = lb.server().as_bytes().to_vec();
            parts.is_encrypted = key.is_some();
            parts.key = key.filter(|_| keep.keys);
        }
        ConnectionIds::Custom(_) | _ => parts.kind = 3,
    }
    parts
}

/// What an event says.
fn told(event: &Event<SocketAddr>) -> (Option<PeerId>, String) {
    let (peer, words) = match event {
        Event::Request { peer, address } => (peer, format!("request from {address}")),
        Event::Connected { peer, address } => (peer, format!("connected with {address}")),
        Event::Readable { peer } => (peer, "readable".to_owned()),
        Event::Writable { peer } => (peer, "writable".to_owned()),
        Event::Receipt {
            peer,
            token,
            outcome,
        } => (peer, format!("receipt {token}: {outcome:?}")),
        Event::PeerMoved { peer, from, to } => (peer, format!("moved from {from} to {to}")),
        Event::PathNarrowed { peer, bytes } => (peer, format!("path narrowed to {bytes} bytes")),
        Event::PortClosed { peer, address } => (peer, format!("port closed at {address}")),
        Event::Disconnected {
            peer,
            reason,
            undelivered,
        } => (
            peer,
            format!("disconnected: {reason:?}, {undelivered} undelivered"),
        ),
        _ => return (None, format!("{event:?}")),
    };
    (Some(*peer), words)
}

impl<R: CryptoRng> TracedHost<R> {
    /// A host that is not recorded yet.
    ///
    /// ```
    /// use porous_proto::Config;
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// assert_eq!(host.poll_timeout(), None);
    /// ```
    pub fn new(config: Config, rng: R) -> Self {
        let fresh = Fresh {
            config: config.clone(),
            security: None,
            ids: None,
        };
        Self {
            host: made(config, Noted::silent(rng)),
            tape: Tape::Fresh(Box::new(fresh)),
        }
    }

    /// Records the host from now on. The host is made anew, with numbers of `rng`, so that its trace begins
    /// with all that it has ever drawn. A `Security` and a way to make connection ids that were set stay.
    ///
    /// # Errors
    ///
    /// [`RecordError::Begun`] after any other call.
    ///
    /// ```
    /// use porous_proto::{Config, Listen};
    /// # use porous_proto::hooks::doc::example_rng;
    /// use porous_trace::{About, Keep, RecordError, Recorder, TracedHost};
    ///
    /// let mut host = TracedHost::new(Config::new(), example_rng());
    /// host.listen(Listen::Open)?;
    /// let recorder = Recorder::new(std::io::sink(), Keep::nothing());
    /// let late = host.record(recorder, About::default(), example_rng());
    /// assert_eq!(late, Err(RecordError::Begun));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn record(&mut self, recorder: Recorder, about: About, rng: R) -> Result<(), RecordError> {
        if !matches!(self.tape, Tape::Fresh(_)) {
            return Err(RecordError::Begun);
        }
        let Tape::Fresh(fresh) = mem::replace(&mut self.tape, Tape::Off(None)) else {
            return Err(RecordError::Begun);
        };
        let Fresh {
            config,
            security,
            ids,
        } = *fresh;
        let (notes, settings, keep) = (
            Notes::default(),
            recording::settings(&config),
            recorder.keep,
        );
        let seals = config.seals();
        self.host = made(config, Noted::noting(rng, notes.clone()));
        self.tape = Tape::On(Box::new(Running {
            recorder,
            notes,
            keep,
            seals,
            records: 0,
        }));
        self.tape.put(|_| Record::Host {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            local: about.local,
            began: about.began,
            settings,
        });
        if let Some(security) = security {
            self.set_security(security);
        }
        if let Some(ids) = ids {
            // It was taken before.
            let _taken = self.set_connection_ids(ids);
        }
        Ok(())
    }

    /// The error that has ended the recording, once.
    ///
    /// ```
    /// use porous_proto::Config;
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// assert!(host.recording_error().is_none());
    /// ```
    pub const fn recording_error(&mut self) -> Option<io::Error> {
        match &mut self.tape {
            Tape::Off(error) => error.take(),
            Tape::Fresh(_) | Tape::On(_) => None,
        }
    }

    /// Ends the recording, if there is one, and writes all of it. The host goes on.
    ///
    /// # Errors
    ///
    /// The error that has ended it before, if nobody has heard of it, or that of this end.
    ///
    /// ```
    /// use porous_proto::Config;
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// host.end_recording()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn end_recording(&mut self) -> io::Result<()> {
        end(&mut self.tape);
        self.recording_error().map_or(Ok(()), Err)
    }

    /// The host within, for questions.
    ///
    /// ```
    /// use porous_proto::Config;
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// assert_eq!(host.host().max_datagram_size(), 1200);
    /// ```
    #[must_use]
    pub const fn host(&self) -> &Host<Noted<R>> {
        &self.host
    }

    /// [`Host::handle_datagram`].
    ///
    /// ```
    /// use porous_proto::{Config, Disposition, Ecn, Instant};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// let from = ([127, 0, 0, 1], 4000).into();
    /// let became = host.handle_datagram(Instant::ZERO, from, Ecn::NotEct, b"garbage");
    /// assert!(matches!(became, Disposition::Ignored(_)));
    /// ```
    pub fn handle_datagram(
        &mut self,
        now: Instant,
        from: SocketAddr,
        ecn: Ecn,
        datagram: &[u8],
    ) -> Disposition {
        // A connection may begin or end by this very datagram.
        let is_blank = self.tape.running().is_some_and(|it| !it.keep.payloads);
        let before = is_blank.then(|| self.host.received_without_payloads(from, datagram));
        let disposition = self.host.handle_datagram(now, from, ecn, datagram);
        let host = &self.host;
        self.tape.put(|keep| {
            let (became, peer) = match disposition {
                Disposition::Handled(peer) => ("handled".to_owned(), Some(peer)),
                Disposition::Accepted(peer) => ("accepted".to_owned(), Some(peer)),
                Disposition::Ignored(why) => (format!("ignored: {why:?}"), None),
            };
            let bytes = if keep.payloads {
                datagram.to_vec()
            } else {
                let after = || host.received_without_payloads(from, datagram);
                let blank = before.flatten().or_else(after);
                blank.unwrap_or_else(|| host.head_alone(datagram))
            };
            Record::Datagram {
                now,
                from,
                ecn,
                bytes,
                became,
                peer,
            }
        });
        disposition
    }

    /// [`Host::handle_unreachable`].
    ///
    /// ```
    /// use porous_proto::{Config, Instant};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// host.handle_unreachable(Instant::ZERO, ([127, 0, 0, 1], 4000).into());
    /// ```
    pub fn handle_unreachable(&mut self, now: Instant, to: SocketAddr) {
        self.host.handle_unreachable(now, to);
        self.tape.put(|_| Record::Unreachable { now, to });
    }

    /// [`Host::handle_backlog`].
    ///
    /// ```
    /// use porous_proto::{Config, Instant};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// host.handle_backlog(Instant::ZERO, false);
    /// ```
    pub fn handle_backlog(&mut self, now: Instant, waits: bool) {
        self.host.handle_backlog(now, waits);
        self.tape.put(|_| Record::Backlog { now, waits });
    }

    /// [`Host::handle_port_closed`].
    ///
    /// ```
    /// use porous_proto::Config;
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// host.handle_port_closed(None);
    /// ```
    pub fn handle_port_closed(&mut self, at: Option<SocketAddr>) {
        self.host.handle_port_closed(at);
        self.tape.put(|_| Record::PortClosed { at });
    }

    /// [`Host::handle_timeout`].
    ///
    /// ```
    /// use porous_proto::{Config, Instant};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// host.handle_timeout(Instant::ZERO);
    /// ```
    pub fn handle_timeout(&mut self, now: Instant) {
        self.host.handle_timeout(now);
        let host = &self.host;
        self.tape.put(|_| Record::Timeout {
            now,
            next: host.poll_timeout(),
        });
    }

    /// [`Host::set_unix_time`].
    ///
    /// ```
    /// use porous_proto::{Config, Instant};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// host.set_unix_time(Instant::ZERO, 1_800_000_000);
    /// ```
    pub fn set_unix_time(&mut self, now: Instant, seconds: u64) {
        self.host.set_unix_time(now, seconds);
        self.tape.put(|_| Record::UnixTime { now, seconds });
    }

    /// [`Host::poll_transmit`].
    ///
    /// # Panics
    ///
    /// As the host does, if `buf` is too short.
    ///
    /// ```
    /// use porous_proto::{Config, Instant};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// let mut buf = vec![0; host.max_datagram_size()];
    /// assert_eq!(host.poll_transmit(Instant::ZERO, &mut buf), None);
    /// ```
    pub fn poll_transmit<'b>(
        &mut self,
        now: Instant,
        buf: &'b mut [u8],
    ) -> Option<Transmit<'b, SocketAddr>> {
        let transmit = self.host.poll_transmit(now, buf);
        let host = &self.host;
        self.tape.put(|keep| {
            let Some(transmit) = &transmit else {
                let next = host.poll_timeout();
                return Record::Idle { now, next };
            };
            let (to, datagram) = (transmit.to, transmit.datagram);
            let bytes = if keep.payloads {
                datagram.to_vec()
            } else {
                let blank = host.sent_without_payloads(to, datagram);
                blank.unwrap_or_else(|| host.head_alone(datagram))
            };
            Record::Transmit {
                now,
                to,
                ecn: transmit.ecn,
                dont_fragment: transmit.dont_fragment,
                to_stranger: transmit.to_stranger,
                bytes,
            }
        });
        transmit
    }

    /// [`Host::poll_event`].
    ///
    /// ```
    /// use porous_proto::Config;
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// assert_eq!(host.poll_event(), None);
    /// ```
    pub fn poll_event(&mut self) -> Option<Event<SocketAddr>> {
        let event = self.host.poll_event()?; // nothing changes if there is none
        self.tape.put(|_| {
            let (peer, words) = told(&event);
            Record::Event { peer, words }
        });
        Some(event)
    }

    /// [`Host::receive`].
    ///
    /// ```
    /// use porous_proto::{Config, PeerId};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// assert_eq!(host.receive(PeerId::from_u64(u64::MAX).unwrap()), None);
    /// ```
    pub fn receive(&mut self, peer: PeerId) -> Option<Received> {
        let received = self.host.receive(peer);
        self.tape.put(|_| Record::Receive {
            peer,
            packet: received.as_ref().map(|received| Got {
                channel: received.channel,
                mode: received.mode,
                length: u32::try_from(received.payload.len()).unwrap_or(u32::MAX),
            }),
        });
        received
    }

    /// [`Host::listen`].
    ///
    /// # Errors
    ///
    /// Those of the host.
    ///
    /// ```
    /// use porous_proto::{Config, Listen};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// host.listen(Listen::Open)?;
    /// # Ok::<(), porous_proto::ListenError>(())
    /// ```
    pub fn listen(&mut self, policy: Listen) -> Result<(), ListenError> {
        let result = self.host.listen(policy);
        self.tape.put(|_| Record::Listen {
            policy,
            refused: refused(&result),
        });
        result
    }

    /// [`Host::set_connection_ids`]. A trace of a host whose ids are [`Custom`](ConnectionIds::Custom) cannot
    /// be replayed.
    ///
    /// # Errors
    ///
    /// Those of the host.
    ///
    /// ```
    /// use porous_proto::{Config, ConnectionIds};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// host.set_connection_ids(ConnectionIds::Random)?;
    /// # Ok::<(), porous_proto::ConnectionIdsError>(())
    /// ```
    pub fn set_connection_ids(&mut self, ids: ConnectionIds) -> Result<(), ConnectionIdsError> {
        let result = self.host.set_connection_ids(ids);
        if let Tape::Fresh(fresh) = &mut self.tape {
            if result.is_ok() {
                fresh.ids = Some(ids);
            }
            return result;
        }
        self.tape.put(|keep| Record::ConnectionIds {
            ids: parts(&ids, keep),
            refused: refused(&result),
        });
        result
    }

    /// [`Host::set_envelope`].
    ///
    /// ```
    /// use porous_proto::Config;
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// host.set_envelope(8);
    /// ```
    pub fn set_envelope(&mut self, bytes: u8) {
        self.host.set_envelope(bytes);
        self.tape.put(|_| Record::Envelope { bytes });
    }

    /// [`Host::connect_with`].
    ///
    /// # Errors
    ///
    /// Those of the host.
    ///
    /// ```
    /// use porous_proto::{Config, Instant};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// let peer = host.connect_with(Instant::ZERO, &[([127, 0, 0, 1], 4000).into()], b"hi")?;
    /// # let _ = peer;
    /// # Ok::<(), porous_proto::ConnectError>(())
    /// ```
    pub fn connect_with(
        &mut self,
        now: Instant,
        to: &[SocketAddr],
        greeting: &[u8],
    ) -> Result<PeerId, ConnectError> {
        let result = self.host.connect_with(now, to, greeting);
        self.tape.put(|_| Record::Connect {
            now,
            to: to.to_vec(),
            greeting: greeting.to_vec(),
            peer: result.as_ref().ok().copied(),
            refused: refused(&result),
        });
        result
    }

    /// [`Host::connect_sealed`].
    ///
    /// # Errors
    ///
    /// Those of the host.
    ///
    /// ```
    /// use porous_proto::{Config, Instant, seal::Credentials};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// let to = [([127, 0, 0, 1], 4000).into()];
    /// assert!(host.connect_sealed(Instant::ZERO, &to, &Credentials::new()).is_err());
    /// ```
    pub fn connect_sealed(
        &mut self,
        now: Instant,
        to: &[SocketAddr],
        with: &Credentials,
    ) -> Result<PeerId, ConnectError> {
        let result = self.host.connect_sealed(now, to, with);
        self.tape.put(|keep| Record::ConnectSealed {
            now,
            to: to.to_vec(),
            keys: keep.keys.then(|| CredentialsParts::of(with)),
            peer: result.as_ref().ok().copied(),
            refused: refused(&result),
        });
        result
    }

    /// [`Host::set_security`].
    ///
    /// ```
    /// use porous_proto::{Config, seal::Security};
    /// # use porous_proto::hooks::doc::{example_provider, example_rng};
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// host.set_security(Security::new(example_provider()));
    /// ```
    pub fn set_security(&mut self, security: Security) {
        if let Tape::Fresh(fresh) = &mut self.tape {
            fresh.security = Some(security.clone());
            return self.host.set_security(security);
        }
        self.tape.put(|keep| Record::Security {
            keys: keep.keys.then(|| recording::security(&security)),
        });
        self.host.set_security(security);
    }

    /// [`Host::accept`].
    ///
    /// # Errors
    ///
    /// Those of the host.
    ///
    /// ```
    /// use porous_proto::{Config, Instant, PeerId};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// let nobody = PeerId::from_u64(u64::MAX).unwrap();
    /// assert!(host.accept(Instant::ZERO, nobody).is_err());
    /// ```
    pub fn accept(&mut self, now: Instant, peer: PeerId) -> Result<(), AnswerError> {
        let result = self.host.accept(now, peer);
        self.tape.put(|_| Record::Accept {
            now,
            peer,
            refused: refused(&result),
        });
        result
    }

    /// [`Host::refuse`].
    ///
    /// # Errors
    ///
    /// Those of the host.
    ///
    /// ```
    /// use porous_proto::{Config, Instant, PeerId};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// let nobody = PeerId::from_u64(u64::MAX).unwrap();
    /// assert!(host.refuse(Instant::ZERO, nobody, b"full").is_err());
    /// ```
    pub fn refuse(&mut self, now: Instant, peer: PeerId, data: &[u8]) -> Result<(), AnswerError> {
        let result = self.host.refuse(now, peer, data);
        self.tape.put(|_| Record::Refuse {
            now,
            peer,
            data: data.to_vec(),
            refused: refused(&result),
        });
        result
    }

    /// [`Host::send`].
    ///
    /// # Errors
    ///
    /// Those of the host.
    ///
    /// ```
    /// use porous_proto::{ChannelId, Config, Mode, PeerId, SendError};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// let nobody = PeerId::from_u64(u64::MAX).unwrap();
    /// let sent = host.send(nobody, ChannelId(0), "hello", Mode::Reliable);
    /// assert_eq!(sent, Err(SendError::UnknownPeer));
    /// ```
    pub fn send<'p>(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        packet: impl Into<Payload<'p>>,
        options: impl Into<SendOptions>,
    ) -> Result<(), SendError> {
        let (packet, options) = (packet.into(), options.into());
        let length = u32::try_from(packet.len()).unwrap_or(u32::MAX);
        let copy = self.tape.running().map(|_| match &packet {
            Payload::Copied(bytes) => Payload::Copied(bytes),
            Payload::Shared(bytes) => Payload::Shared(bytes.clone()),
        });
        let result = self.host.send(peer, channel, packet, options);
        self.tape.put(|keep| Record::Send {
            peer,
            channel,
            options: OptionsParts::of(&options),
            length,
            payload: copy.filter(|_| keep.payloads).map(|copy| match copy {
                Payload::Copied(bytes) => bytes.to_vec(),
                Payload::Shared(bytes) => bytes.to_vec(),
            }),
            refused: refused(&result),
        });
        result
    }

    /// [`Host::broadcast`], which is recorded as what it sends.
    ///
    /// ```
    /// use porous_proto::{ChannelId, Config, Mode};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// assert!(host.broadcast(ChannelId(0), "hello", Mode::Reliable).is_empty());
    /// ```
    pub fn broadcast(
        &mut self,
        channel: ChannelId,
        packet: impl Into<Bytes>,
        options: impl Into<SendOptions>,
    ) -> Vec<(PeerId, SendError)> {
        let (packet, options) = (packet.into(), options.into());
        let is_connected = |(_, peer): &(PeerId, &Peer)| peer.state() == PeerState::Connected;
        let connected = self.host.peers().filter(is_connected);
        let connected: Vec<PeerId> = connected.map(|(peer, _)| peer).collect();
        let unsent = |peer| {
            let sent = self.send(peer, channel, packet.clone(), options);
            Some((peer, sent.err()?))
        };
        connected.into_iter().filter_map(unsent).collect()
    }

    /// [`Host::cancel`].
    ///
    /// ```
    /// use porous_proto::{ChannelId, Config, PeerId};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// let nobody = PeerId::from_u64(u64::MAX).unwrap();
    /// assert!(!host.cancel(nobody, ChannelId(0), 7));
    /// ```
    pub fn cancel(&mut self, peer: PeerId, channel: ChannelId, token: u64) -> bool {
        let any = self.host.cancel(peer, channel, token);
        self.tape.put(|_| Record::Cancel {
            peer,
            channel,
            token,
            any,
        });
        any
    }

    /// [`Host::set_channel_rate`].
    ///
    /// # Errors
    ///
    /// Those of the host.
    ///
    /// ```
    /// use porous_proto::{ChannelId, Config, PeerId};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// let nobody = PeerId::from_u64(u64::MAX).unwrap();
    /// assert!(host.set_channel_rate(nobody, ChannelId(0), 20_000).is_err());
    /// ```
    pub fn set_channel_rate(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        bytes_a_second: u32,
    ) -> Result<(), SendError> {
        let result = self.host.set_channel_rate(peer, channel, bytes_a_second);
        self.tape.put(|_| Record::ChannelRate {
            peer,
            channel,
            bytes_a_second,
            refused: refused(&result),
        });
        result
    }

    /// [`Host::set_send_rate`].
    ///
    /// # Errors
    ///
    /// Those of the host.
    ///
    /// ```
    /// use porous_proto::{Config, PeerId};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// let nobody = PeerId::from_u64(u64::MAX).unwrap();
    /// assert!(host.set_send_rate(nobody, 20_000).is_err());
    /// ```
    pub fn set_send_rate(&mut self, peer: PeerId, bytes_a_second: u32) -> Result<(), SendError> {
        let result = self.host.set_send_rate(peer, bytes_a_second);
        self.tape.put(|_| Record::SendRate {
            peer,
            bytes_a_second,
            refused: refused(&result),
        });
        result
    }

    /// [`Host::set_receive_rate`].
    ///
    /// # Errors
    ///
    /// Those of the host.
    ///
    /// ```
    /// use porous_proto::{Config, PeerId};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// let nobody = PeerId::from_u64(u64::MAX).unwrap();
    /// assert!(host.set_receive_rate(nobody, 20_000).is_err());
    /// ```
    pub fn set_receive_rate(&mut self, peer: PeerId, bytes_a_second: u32) -> Result<(), SendError> {
        let result = self.host.set_receive_rate(peer, bytes_a_second);
        self.tape.put(|_| Record::ReceiveRate {
            peer,
            bytes_a_second,
            refused: refused(&result),
        });
        result
    }

    /// [`Host::set_host_send_rate`].
    ///
    /// ```
    /// use porous_proto::Config;
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// host.set_host_send_rate(1_250_000);
    /// ```
    pub fn set_host_send_rate(&mut self, bytes_a_second: u32) {
        self.host.set_host_send_rate(bytes_a_second);
        self.tape.put(|_| Record::HostSendRate { bytes_a_second });
    }

    /// [`Host::disconnect`].
    ///
    /// # Errors
    ///
    /// Those of the host.
    ///
    /// ```
    /// use porous_proto::{Config, Disconnect, Instant, PeerId};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// let nobody = PeerId::from_u64(u64::MAX).unwrap();
    /// assert!(host.disconnect(Instant::ZERO, nobody, Disconnect::Now { reason: 0 }).is_err());
    /// ```
    pub fn disconnect(
        &mut self,
        now: Instant,
        peer: PeerId,
        how: Disconnect,
    ) -> Result<(), UnknownPeer> {
        let result = self.host.disconnect(now, peer, how);
        self.tape.put(|_| Record::Disconnect {
            now,
            peer,
            how,
            refused: refused(&result),
        });
        result
    }

    /// [`Host::disconnect_all`].
    ///
    /// ```
    /// use porous_proto::{Config, Disconnect, Instant};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// host.disconnect_all(Instant::ZERO, Disconnect::Now { reason: 0 });
    /// ```
    pub fn disconnect_all(&mut self, now: Instant, how: Disconnect) {
        self.host.disconnect_all(now, how);
        self.tape.put(|_| Record::DisconnectAll { now, how });
    }

    /// [`Host::drain`].
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_proto::{Config, Instant};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = porous_trace::TracedHost::new(Config::new(), example_rng());
    /// host.drain(Instant::ZERO, 3, Duration::from_secs(30));
    /// ```
    pub fn drain(&mut self, now: Instant, reason: u32, deadline: Duration) {
        self.host.drain(now, reason, deadline);
        self.tape.put(|_| Record::Drain {
            now,
            reason,
            deadline,
        });
    }
}

/// Ends a recording, if there is one.
fn end(tape: &mut Tape) {
    if let Some(running) = tape.running() {
        let records = running.records;
        tape.put(|_| Record::End { records });
    }
    // Unless there is an error to be told.
    if !matches!(tape, Tape::Off(_)) {
        *tape = Tape::Off(None);
    }
}

impl<R> Drop for TracedHost<R> {
    fn drop(&mut self) {
        // A trace of a program that panics does not end in order, and says so by that.
        if !thread::panicking() {
            end(&mut self.tape);
        }
    }
}
