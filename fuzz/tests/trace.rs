//! Any bytes as a trace, and any records in an order that no host had: they are read and replayed without harm.

extern crate alloc;

use alloc::sync::Arc;
use bolero::generator::produce;
use bolero::{TypeGenerator, check};
use core::net::SocketAddr;
use porous_proto::hooks::doc::example_provider;
use porous_proto::{ChannelId, Config, Ecn, Instant, Listen, Mode, PeerId};
use porous_sim::Seed;
use porous_trace::{About, Keep, Recorder, Talk, Trace, TracedHost, fields, replay};
use std::io::Write;
use std::sync::{LazyLock, Mutex};

/// The most records of a run.
const RECORDS: usize = 60;

#[derive(Clone, Default)]
struct File(Arc<Mutex<Vec<u8>>>);

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("nobody panics").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A trace of a short connection, as it is written.
static TRACE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let addresses: [SocketAddr; 2] = [1, 2].map(|port| ([127, 0, 0, 1], port).into());
    let files = [File::default(), File::default()];
    let mut hosts = [0, 1].map(|i| {
        let mut host = TracedHost::new(Config::new(), Seed::new(i).stream("host", 0));
        let recorder = Recorder::new(
            files[usize::try_from(i).expect("0 or 1")].clone(),
            Keep::nothing().payloads(),
        );
        let begun = host.record(recorder, About::default(), Seed::new(i).stream("again", 0));
        begun.expect("it is new");
        host
    });
    hosts[0].listen(Listen::Open).expect("it may");
    let connecting = hosts[1].connect_with(Instant::ZERO, &addresses[..1], b"hi");
    connecting.expect("it has no peer");
    for turn in 0..40 {
        let now = Instant::from_micros(1_000_000 + turn * 20_000);
        for at in 0..2 {
            let mut buf = [0; 1500];
            hosts[at].handle_timeout(now);
            while let Some(transmit) = hosts[at].poll_transmit(now, &mut buf) {
                let datagram = transmit.datagram.to_vec();
                hosts[1 - at].handle_datagram(now, addresses[at], Ecn::Ect0, &datagram);
            }
            while hosts[at].poll_event().is_some() {}
            let peers: Vec<PeerId> = hosts[at].peers().map(|(id, _)| id).collect();
            for peer in peers {
                while hosts[at].receive(peer).is_some() {}
                let _full = hosts[at].send(peer, ChannelId(0), "hello", Mode::Reliable);
            }
        }
    }
    drop(hosts);
    files[0].0.lock().expect("nobody panics").clone()
});

/// The head of the file, and its records with length and check.
fn parts() -> (&'static [u8], Vec<&'static [u8]>) {
    let (head, mut rest) = TRACE.split_at(12);
    let mut records = Vec::new();
    while let Some(length) = rest.first_chunk::<4>() {
        let length = u32::from_le_bytes(*length) as usize + 8;
        let (record, behind) = rest.split_at(length);
        records.push(record);
        rest = behind;
    }
    (head, records)
}

/// A record of the true trace, changed and with a check that fits.
#[derive(Clone, Debug, TypeGenerator)]
struct Changed {
    /// Near the one before it.
    step: u8,
    /// The places and values of bytes that are changed.
    #[generator(produce::<Vec<(u16, u8)>>().with().len(0..4_usize))]
    bytes: Vec<(u16, u8)>,
    /// Bytes that are cut off.
    cut: u8,
}

fn checked(content: &[u8]) -> Vec<u8> {
    let check = crc::Crc::<u32>::new(&crc::CRC_32_ISCSI).checksum(content);
    let length = u32::try_from(content.len()).expect("short");
    let mut record = length.to_le_bytes().to_vec();
    record.extend(content);
    record.extend(check.to_le_bytes());
    record
}

/// Reads all of it, and replays it.
fn use_it(trace: &[u8]) {
    if let Ok(records) = Trace::read(trace) {
        let (mut talk, local) = (Talk::default(), ([127, 0, 0, 1], 1).into());
        for entry in records.map_while(Result::ok) {
            let _shown = entry.record.fields();
            if let Some(wire) = entry.record.wire() {
                let read = talk.read(wire.remote, local, wire.bytes);
                let _json = fields::forms(&read.forms, wire.bytes, read.at);
            }
        }
    }
    if let Ok(records) = Trace::read(trace) {
        let _same = replay(records, example_provider());
    }
}

#[test]
fn any_bytes_are_no_harm_as_a_trace() {
    let bytes = produce::<Vec<u8>>().with().len(0..400_usize);
    check!().with_generator(bytes).for_each(|bytes: &Vec<u8>| {
        use_it(bytes);
        use_it(&[&TRACE[..12], bytes].concat());
        use_it(&[&TRACE[..12], &checked(bytes)].concat());
    });
}

#[test]
fn any_records_are_no_harm_in_a_replay() {
    let (head, records) = parts();
    let changes = produce::<Vec<Changed>>().with().len(0..RECORDS);
    check!()
        .with_generator(changes)
        .for_each(|changes: &Vec<Changed>| {
            let mut trace = head.to_vec();
            // The host as it was made, or changed as well.
            let is_same = changes.first().is_none_or(|change| change.step < 200);
            let mut at = if is_same { 2 } else { 0 };
            trace.extend(records[..at].concat());
            for change in changes {
                at = (at + usize::from(change.step % 4)) % records.len();
                let record = records[at];
                let mut content = record[4..record.len() - 4].to_vec();
                // Seldom: a record that is cut short is refused before the host hears of it.
                let cut = change.cut.saturating_sub(240);
                let end = content.len().saturating_sub(cut.into());
                content.truncate(end.max(1));
                for (place, value) in &change.bytes {
                    let place = usize::from(*place) % content.len();
                    content[place] = *value;
                }
                trace.extend(checked(&content));
            }
            use_it(&trace);
        });
}

#[test]
fn the_trace_itself_is_replayed() {
    let replayed = replay(
        Trace::read(&TRACE[..]).expect("a trace"),
        example_provider(),
    );
    assert!(replayed.expect("the same").has_ended);
}
