//! The same calls again, on a host that is made anew.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use core::convert::Infallible;
use core::fmt;
use std::io::{self, Read};
use std::sync::Mutex;

use bytes::Bytes;
use porous_proto::hooks::recording::config;
use porous_proto::route::QuicLb;
use porous_proto::seal::Provider;
use porous_proto::{ConnectionIds, Instant};
use rand_core::{TryCryptoRng, TryRng};

use crate::field::Value;
use crate::reader::{Entry, Trace, TraceError};
use crate::record::{Ids, Record};
use crate::recorder::{Keep, RECORD_MAX, Recorder, Sink};
use crate::traced::{About, TracedHost};

/// What a replay has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Replayed {
    /// Records of the trace.
    pub records: u64,
    /// Datagrams that came.
    pub received: u64,
    /// Datagrams that left, each as it was recorded.
    pub sent: u64,
    /// Events, each as it was recorded.
    pub events: u64,
    /// The last time that the host was told.
    pub until: Instant,
    /// Whether payloads were compared as well.
    pub payloads: bool,
    /// Whether the recording ended in order: else the program that was recorded has crashed, or still runs.
    pub has_ended: bool,
}

/// Where a replay differs from its trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The record, from 1 on.
    pub record: u64,
    /// The time of the record, or of the last one before that has a time.
    pub time: Instant,
    /// The kind of the record, and the value that differs.
    pub what: String,
    /// What the trace says.
    pub expected: Value,
    /// What the host did.
    pub got: Value,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            record,
            time,
            what,
            expected,
            got,
        } = self;
        let time = time.as_micros();
        let (seconds, micros) = (time / 1_000_000, time % 1_000_000);
        write!(f, "record {record} at {seconds}.{micros:06} s: {what}: ")?;
        write!(f, "expected {}, got {}", Short(expected), Short(got))?;
        if let (Value::Bytes(expected), Value::Bytes(got)) = (expected, got) {
            let differs = expected.iter().zip(got).position(|(a, b)| a != b);
            let at = differs.unwrap_or_else(|| expected.len().min(got.len()));
            write!(f, ", from byte {at} on")?;
        }
        Ok(())
    }
}

/// A value on a part of a line.
struct Short<'a>(&'a Value);

impl fmt::Display for Short<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::None => f.write_str("nothing"),
            Value::Bool(yes) => f.write_str(if *yes { "yes" } else { "no" }),
            Value::Number(number) => write!(f, "{number}"),
            Value::Text(text) if text.is_empty() => f.write_str("nothing"),
            Value::Text(text) => f.write_str(text),
            Value::Bytes(bytes) => {
                const SHOWN: usize = 32;
                for byte in bytes.iter().take(SHOWN) {
                    write!(f, "{byte:02x}")?;
                }
                let dots = if bytes.len() > SHOWN { ".." } else { "" };
                write!(f, "{dots} ({} bytes)", bytes.len())
            }
            Value::List(values) => write!(f, "{} values", values.len()),
            Value::Fields(fields) => {
                for (i, (name, value)) in fields.iter().enumerate() {
                    let comma = if i > 0 { " " } else { "" };
                    write!(f, "{comma}{name}={}", Short(value))?;
                }
                Ok(())
            }
        }
    }
}

/// Why a replay came to no end, or to another one.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReplayError {
    /// The trace cannot be read, or not to its end. What was before has been the same.
    Trace(TraceError),
    /// The host did something else than is recorded.
    Differs(Difference),
    /// No replay of such a trace is possible.
    Impossible {
        /// The record that says so, from 1 on.
        record: u64,
        /// Why.
        why: &'static str,
    },
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trace(error) => error.fmt(f),
            Self::Differs(difference) => difference.fmt(f),
            Self::Impossible { record, why } => write!(f, "record {record}: {why}"),
        }
    }
}

impl core::error::Error for ReplayError {}

impl From<TraceError> for ReplayError {
    fn from(error: TraceError) -> Self {
        Self::Trace(error)
    }
}

/// A random source that draws what was drawn before, and zeros when that is used up.
#[derive(Clone, Debug, Default)]
struct Again(Arc<Mutex<VecDeque<u8>>>);

impl Again {
    fn add(&self, drawn: &[u8]) {
        if let Ok(mut queue) = self.0.lock() {
            queue.extend(drawn);
        }
    }

    fn draw(&self, to: &mut [u8]) {
        if let Ok(mut queue) = self.0.lock() {
            to.fill_with(|| queue.pop_front().unwrap_or_default());
        }
    }

    /// What was not drawn must not be drawn later.
    fn clear(&self) {
        if let Ok(mut queue) = self.0.lock() {
            queue.clear();
        }
    }
}

impl TryRng for Again {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.draw(&mut bytes);
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.draw(&mut bytes);
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, dst: &mut [u8]) -> Result<(), Infallible> {
        self.draw(dst);
        Ok(())
    }
}

impl TryCryptoRng for Again {}

/// What the host that is made anew does.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<Record>>>);

impl Sink for Heard {
    fn put(&mut self, record: &Record) -> io::Result<()> {
        if let Ok(mut heard) = self.0.lock() {
            heard.push(record.clone());
        }
        Ok(())
    }
}

impl Heard {
    fn take(&self) -> Vec<Record> {
        self.0
            .lock()
            .map_or_else(|_| Vec::new(), |mut heard| core::mem::take(&mut *heard))
    }
}

/// A host that is made anew, and what it is told.
struct Stage {
    host: TracedHost<Again>,
    draws: Again,
    heard: Heard,
    provider: &'static dyn Provider,
    keep: Keep,
    buffer: Vec<u8>,
    /// For packets whose payloads are not kept.
    zeros: Bytes,
}

/// Replays a trace: makes a host anew, calls it as it was called, and compares all that it does. `provider`
/// is the cryptography of hosts that seal.
///
/// A replay takes as much memory as the host did that was recorded: see `porous_proto::Config`. Traces from
/// strangers say themselves how much that is.
///
/// # Errors
///
/// [`ReplayError::Differs`] at the first difference.
///
/// ```
/// # use porous_proto::hooks::doc::example_provider as provider;
/// use porous_trace::{ReplayError, Trace, replay};
///
/// let empty = b"\x93POROUS\n\x01\x00\x00\x00";
/// let replayed = replay(Trace::read(&empty[..])?, provider());
/// assert!(matches!(replayed, Err(ReplayError::Impossible { record: 1, .. })));
/// # Ok::<(), porous_trace::TraceError>(())
/// ```
pub fn replay(
    mut trace: Trace<impl Read>,
    provider: &'static dyn Provider,
) -> Result<Replayed, ReplayError> {
    let keep = trace.keep();
    let mut replayed = Replayed {
        payloads: keep.payloads,
        ..Replayed::default()
    };
    let mut stage: Option<Stage> = None;
    let mut drawn: Option<Entry> = None;
    for entry in &mut trace {
        let entry = entry?;
        let (number, record) = (entry.number, &entry.record);
        replayed.records = number;
        replayed.until = record.now().unwrap_or(replayed.until);
        if matches!(record, Record::Draws { .. }) {
            if drawn.replace(entry).is_some() {
                let why = "what was drawn belongs to no call";
                return Err(ReplayError::Impossible {
                    record: number,
                    why,
                });
            }
            continue;
        }
        let expected: Vec<Entry> = drawn.take().into_iter().chain([entry.clone()]).collect();
        let heard = match &mut stage {
            Some(stage) => stage.call(&expected),
            None => Stage::make(&expected, keep, provider).map(|(made, heard)| {
                stage = Some(made);
                heard
            }),
        };
        let impossible = |why| ReplayError::Impossible {
            record: number,
            why,
        };
        let heard = heard.map_err(impossible)?;
        if let Some(difference) = compare(&expected, &heard, replayed.until) {
            return Err(ReplayError::Differs(difference));
        }
        replayed.received += u64::from(matches!(record, Record::Datagram { .. }));
        replayed.sent += u64::from(matches!(record, Record::Transmit { .. }));
        replayed.events += u64::from(matches!(record, Record::Event { .. }));
        replayed.has_ended |= matches!(record, Record::End { .. });
    }
    if stage.is_none() {
        let (record, why) = (1, "the trace is empty: it says of no host how it was made");
        return Err(ReplayError::Impossible { record, why });
    }
    Ok(replayed)
}

impl Stage {
    /// Makes the host that the first records tell of.
    fn make(
        records: &[Entry],
        keep: Keep,
        provider: &'static dyn Provider,
    ) -> Result<(Self, Vec<Record>), &'static str> {
        let Some(Record::Host {
            settings,
            local,
            began,
            ..
        }) = records.last().map(|entry| &entry.record)
        else {
            return Err("the trace does not begin with a host");
        };
        let config = config(settings).map_err(|setting| match setting {
            "congestion" => "the host has a congestion controller of the application's own",
            _ => "the configuration makes no sense",
        })?;
        if config.seals() && !keep.keys {
            return Err(
                "the host seals, and the trace has no keys: it can be read, and replayed only if \
                 it is recorded with its keys",
            );
        }
        let (draws, heard) = (Again::default(), Heard::default());
        let mut host = TracedHost::new(config, Again::default());
        draws.add(drawn(records));
        let recorder = Recorder::to(heard.clone(), keep);
        let about = About::new(*local, *began);
        // It is new.
        let _begins = host.record(recorder, about, draws.clone());
        draws.clear();
        let stage = Self {
            buffer: vec![0; host.max_datagram_size()],
            zeros: Bytes::from(vec![0; RECORD_MAX]),
            host,
            draws,
            heard,
            provider,
            keep,
        };
        let heard = stage.heard.take();
        Ok((stage, heard))
    }

    /// Calls the host as the last of these records tells. Returns what it did.
    fn call(&mut self, records: &[Entry]) -> Result<Vec<Record>, &'static str> {
        self.draws.add(drawn(records));
        if let Some(Entry { record, .. }) = records.last() {
            // Without `_`, so that no call can be forgotten.
            match record {
                Record::Host { .. } => return Err("the trace tells of a second host"),
                Record::Draws { .. } => {}
                Record::End { .. } => {
                    // Nothing can fail, as nothing is written.
                    let _ended = self.host.end_recording();
                }
                Record::Connect { .. }
                | Record::ConnectSealed { .. }
                | Record::Security { .. }
                | Record::ConnectionIds { .. }
                | Record::Send { .. } => self.give(record)?,
                Record::Datagram { .. }
                | Record::Unreachable { .. }
                | Record::Backlog { .. }
                | Record::PortClosed { .. }
                | Record::Timeout { .. }
                | Record::UnixTime { .. }
                | Record::Transmit { .. }
                | Record::Idle { .. }
                | Record::Event { .. }
                | Record::Receive { .. } => self.drive(record),
                Record::Listen { .. }
                | Record::Envelope { .. }
                | Record::Accept { .. }
                | Record::Refuse { .. }
                | Record::Cancel { .. }
                | Record::ChannelRate { .. }
                | Record::SendRate { .. }
                | Record::ReceiveRate { .. }
                | Record::HostSendRate { .. }
                | Record::Disconnect { .. }
                | Record::DisconnectAll { .. }
                | Record::Drain { .. } => self.command(record),
            }
        }
        self.draws.clear();
        Ok(self.heard.take())
    }

    /// Calls by which the host is handed more than numbers.
    #[expect(clippy::wildcard_enum_match_arm, reason = "`call` has sorted them")]
    fn give(&mut self, record: &Record) -> Result<(), &'static str> {
        let host = &mut self.host;
        match record {
            Record::Connect {
                now, to, greeting, ..
            } => {
                let _recorded = host.connect_with(*now, to, greeting);
            }
            Record::ConnectSealed { now, to, keys, .. } => {
                let credentials = keys.as_ref().and_then(|keys| keys.credentials());
                let credentials = credentials.ok_or("the trace has no keys of this call")?;
                let _recorded = host.connect_sealed(*now, to, &credentials);
            }
            // Of a host that does not seal it decides whether plain connections are let in, and no more.
            Record::Security { keys: None } => {
                return Err("the trace has no keys: record with them to replay it");
            }
            Record::Security { keys: Some(keys) } => {
                let security = keys.security(self.provider);
                host.set_security(security.ok_or("the host sealed by other cryptography")?);
            }
            Record::ConnectionIds { ids, .. } => {
                let _recorded = host.set_connection_ids(made(ids)?);
            }
            Record::Send {
                peer,
                channel,
                options,
                length,
                payload,
                ..
            } => {
                let zeros = || {
                    let length = usize::try_from(*length).ok();
                    let length = length.filter(|length| *length <= self.zeros.len());
                    length.map(|length| self.zeros.slice(..length))
                };
                let packet = match payload {
                    Some(payload) => Bytes::from(payload.clone()),
                    None if self.keep.payloads => return Err("the packet is missing"),
                    None => zeros().ok_or("the packet is longer than a trace can say")?,
                };
                let _recorded = host.send(*peer, *channel, packet, options.options());
            }
            _ => {}
        }
        Ok(())
    }

    /// Calls of a driver, and those by which the application takes what is there.
    #[expect(clippy::wildcard_enum_match_arm, reason = "`call` has sorted them")]
    fn drive(&mut self, record: &Record) {
        let host = &mut self.host;
        match record {
            Record::Datagram {
                now,
                from,
                ecn,
                bytes,
                ..
            } => {
                let _recorded = host.handle_datagram(*now, *from, *ecn, bytes);
            }
            Record::Unreachable { now, to } => host.handle_unreachable(*now, *to),
            Record::Backlog { now, waits } => host.handle_backlog(*now, *waits),
            Record::PortClosed { at } => host.handle_port_closed(*at),
            Record::Timeout { now, .. } => host.handle_timeout(*now),
            Record::UnixTime { now, seconds } => host.set_unix_time(*now, *seconds),
            Record::Transmit { now, .. } | Record::Idle { now, .. } => {
                let _recorded = host.poll_transmit(*now, &mut self.buffer);
            }
            Record::Event { .. } => {
                let _recorded = host.poll_event();
            }
            Record::Receive { peer, .. } => {
                let _recorded = host.receive(*peer);
            }
            _ => {}
        }
    }

    /// Calls by which the application says what it wants.
    #[expect(clippy::wildcard_enum_match_arm, reason = "`call` has sorted them")]
    fn command(&mut self, record: &Record) {
        let host = &mut self.host;
        match record {
            Record::Listen { policy, .. } => {
                let _recorded = host.listen(*policy);
            }
            Record::Envelope { bytes } => host.set_envelope(*bytes),
            Record::Accept { now, peer, .. } => {
                let _recorded = host.accept(*now, *peer);
            }
            Record::Refuse {
                now, peer, data, ..
            } => {
                let _recorded = host.refuse(*now, *peer, data);
            }
            Record::Cancel {
                peer,
                channel,
                token,
                ..
            } => {
                let _recorded = host.cancel(*peer, *channel, *token);
            }
            Record::ChannelRate {
                peer,
                channel,
                bytes_a_second,
                ..
            } => {
                let _recorded = host.set_channel_rate(*peer, *channel, *bytes_a_second);
            }
            Record::SendRate {
                peer,
                bytes_a_second,
                ..
            } => {
                let _recorded = host.set_send_rate(*peer, *bytes_a_second);
            }
            Record::ReceiveRate {
                peer,
                bytes_a_second,
                ..
            } => {
                let _recorded = host.set_receive_rate(*peer, *bytes_a_second);
            }
            Record::HostSendRate { bytes_a_second } => host.set_host_send_rate(*bytes_a_second),
            Record::Disconnect { now, peer, how, .. } => {
                let _recorded = host.disconnect(*now, *peer, *how);
            }
            Record::DisconnectAll { now, how } => host.disconnect_all(*now, *how),
            Record::Drain {
                now,
                reason,
                deadline,
            } => host.drain(*now, *reason, *deadline),
            _ => {}
        }
    }
}

/// What the call of the last of these records drew.
fn drawn(records: &[Entry]) -> &[u8] {
    match records {
        [
            Entry {
                record: Record::Draws { bytes },
                ..
            },
            _,
        ] => bytes,
        _ => &[],
    }
}

fn made(ids: &Ids) -> Result<ConnectionIds, &'static str> {
    let (first, second) = ids.numbers;
    Ok(match ids.kind {
        0 => ConnectionIds::Random,
        1 => ConnectionIds::Sharded {
            shard: first,
            bits: second,
        },
        2 => {
            let lb = QuicLb::new(first, &ids.server);
            let lb = lb.map_err(|_| "such connection ids make no sense")?;
            ConnectionIds::QuicLb(match (ids.is_encrypted, ids.key) {
                (false, _) => lb,
                (true, Some(key)) => encrypted(lb, key)?,
                (true, None) => {
                    return Err("the key of connection ids is not in the trace");
                }
            })
        }
        _ => return Err("a function of the application made the connection ids"),
    })
}

#[cfg(feature = "quic-lb")]
#[expect(clippy::unnecessary_wraps, reason = "as without the feature")]
const fn encrypted(ids: QuicLb, key: [u8; 16]) -> Result<QuicLb, &'static str> {
    Ok(ids.encrypted(key))
}

#[cfg(not(feature = "quic-lb"))]
const fn encrypted(_: QuicLb, _: [u8; 16]) -> Result<QuicLb, &'static str> {
    Err("connection ids were encrypted, which takes the feature quic-lb")
}

/// The first difference between what is recorded and what the host did.
fn compare(expected: &[Entry], got: &[Record], until: Instant) -> Option<Difference> {
    let record = expected.last().map_or(0, |entry| entry.number);
    let differs = |what: String, expected, got| Difference {
        record,
        time: until,
        what,
        expected,
        got,
    };
    for (i, Entry { record, .. }) in expected.iter().enumerate() {
        let name = record.name();
        let Some(other) = got.get(i) else {
            let nothing = Value::Text("no such thing".to_owned());
            return Some(differs("what happens".to_owned(), name_of(record), nothing));
        };
        if record.number() != other.number() {
            let what = "what happens".to_owned();
            return Some(differs(what, name_of(record), name_of(other)));
        }
        let (ours, theirs) = (record.fields(), other.fields());
        for ((field, expected), (_, got)) in ours.into_iter().zip(theirs) {
            if !is_same(name, field, &expected, &got) {
                return Some(differs(format!("{name}, {field}"), expected, got));
            }
        }
    }
    let more = got.get(expected.len())?;
    let nothing = Value::Text("no more".to_owned());
    Some(differs("what happens".to_owned(), nothing, name_of(more)))
}

fn name_of(record: &Record) -> Value {
    Value::Text(record.name().to_owned())
}

fn is_same(record: &str, field: &str, expected: &Value, got: &Value) -> bool {
    match (record, field) {
        // Another version may do the same.
        ("host", "version") => true,
        // Of a datagram that was ignored and is not kept as it was, nobody can tell the cause.
        ("received", "became") => match (expected, got) {
            (Value::Text(expected), Value::Text(got)) => {
                expected == got || expected.starts_with("ignored") && got.starts_with("ignored")
            }
            _ => false,
        },
        _ => expected == got,
    }
}
