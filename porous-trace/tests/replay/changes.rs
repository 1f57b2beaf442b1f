//! A replay sees each change of a record.

use alloc::collections::BTreeSet;

use porous_proto::{Config, Disconnect, Listen};
use porous_trace::{Keep, ReplayError, Trace, TraceError};

use crate::world::{World, address, replayed};

const HEAD: usize = 12;

fn small_trace(keep: Keep) -> Vec<u8> {
    let mut world = World::new(2, &[Config::new(), Config::new()], keep);
    world.loss = 0;
    world.stations[0].host.listen(Listen::Open).unwrap();
    let client = &mut world.stations[1].host;
    client
        .connect_with(world.now, &[address(1)], b"hi")
        .unwrap();
    world.talk(12);
    let now = world.now;
    let server = &mut world.stations[0].host;
    server.disconnect_all(now, Disconnect::Now { reason: 0 });
    world.turns(20);
    world.stations[0].host.end_recording().unwrap();
    world.stations[0].file.bytes()
}

/// The records, each with its length and its check.
fn records(trace: &[u8]) -> Vec<&[u8]> {
    let (mut rest, mut all) = (&trace[HEAD..], Vec::new());
    while let Some(length) = rest.first_chunk::<4>() {
        let length = u32::from_le_bytes(*length) as usize + 8;
        let (record, behind) = rest.split_at(length);
        all.push(record);
        rest = behind;
    }
    all
}

fn joined(trace: &[u8], records: &[Vec<u8>]) -> Vec<u8> {
    [&trace[..HEAD], &records.concat()].concat()
}

/// The record with this content, and the check that fits.
fn checked(content: &[u8]) -> Vec<u8> {
    let check = crc::Crc::<u32>::new(&crc::CRC_32_ISCSI).checksum(content);
    let length = u32::try_from(content.len()).unwrap();
    [&length.to_le_bytes()[..], content, &check.to_le_bytes()[..]].concat()
}

#[test]
fn a_record_that_is_missing_is_noticed() {
    let trace = small_trace(Keep::nothing().payloads());
    assert!(replayed(&trace).is_ok());
    let all: Vec<Vec<u8>> = records(&trace).iter().map(|one| one.to_vec()).collect();
    let mut unnoticed = BTreeSet::new();
    for at in 0..all.len() {
        let mut without = all.clone();
        let gone = without.remove(at);
        if replayed(&joined(&trace, &without)).is_ok() {
            unnoticed.insert(gone[4]);
        }
    }
    // A trace without its end is one of a program that crashed.
    assert_eq!(unnoticed, [63].into());
}

#[test]
fn a_bit_that_has_changed_is_noticed() {
    for keep in [Keep::nothing(), Keep::nothing().payloads()] {
        let trace = small_trace(keep);
        let all: Vec<Vec<u8>> = records(&trace).iter().map(|one| one.to_vec()).collect();
        let mut seen = BTreeSet::new();
        let mut unnoticed = BTreeSet::new();
        for at in 0..all.len() {
            let content = &all[at][4..all[at].len() - 4];
            // One record of each kind, and each of its bytes, but for the middle of long ones.
            if !seen.insert(content[0]) {
                continue;
            }
            for byte in (1..content.len()).filter(|at| *at < 80 || at + 20 > content.len()) {
                let mut changed = content.to_vec();
                changed[byte] ^= 1;
                let mut records = all.clone();
                records[at] = checked(&changed);
                if replayed(&joined(&trace, &records)).is_ok() {
                    unnoticed.insert((content[0], byte));
                }
            }
        }
        assert!(seen.len() > 10, "{seen:?}");
        // What the host has done is compared bit by bit, but for the time at which it was asked: a microsecond
        // more or less changes nothing here.
        let is_output = |(kind, byte): &(u8, usize)| match kind {
            16 | 17 | 7 => *byte > 8,
            18 | 19 | 63 => true,
            _ => false,
        };
        let missed: Vec<_> = unnoticed.iter().filter(|it| is_output(it)).collect();
        assert!(missed.is_empty(), "{missed:?}");
        // What it was told is seen by what it does: an address, a draw that is used, a datagram that is taken.
        let unnoticed = &unnoticed;
        let told = |kind| (1..40).filter(move |byte| !unnoticed.contains(&(kind, *byte)));
        assert!(told(2).count() > 10 && told(3).count() > 10);
    }
}

#[test]
fn a_trace_that_is_damaged_or_cut_is_told_with_its_record() {
    let trace = small_trace(Keep::nothing());
    let count = records(&trace).len() as u64;
    let mut damaged = trace.clone();
    let last = damaged.len() - 5;
    damaged[last] ^= 1;
    let why = replayed(&damaged).unwrap_err();
    let is_told = |why: &ReplayError, number| match why {
        ReplayError::Trace(TraceError::Damaged { record } | TraceError::Cut { record }) => {
            *record == number
        }
        _ => false,
    };
    assert!(is_told(&why, count), "{why}");
    for less in 1..17 {
        let why = replayed(&trace[..trace.len() - less]).unwrap_err();
        assert!(is_told(&why, count), "{why}");
    }
    // Without its last record, which says that it has ended, it is a trace of a program that crashed.
    let crashed = replayed(&trace[..trace.len() - 17]).unwrap();
    assert!(!crashed.has_ended);
}

#[test]
fn what_is_no_trace_is_refused() {
    let read = |bytes: &[u8]| Trace::read(bytes).map(|_| ()).unwrap_err();
    for no_trace in [&b""[..], b"\x93POROUS", b"GET / HTTP/1.1\r\n\r\n"] {
        assert!(matches!(read(no_trace), TraceError::NotATrace));
    }
    let newer = read(b"\x93POROUS\n\x02\x00\x00\x00");
    assert!(matches!(newer, TraceError::Version(2)), "{newer}");
    let long = [&b"\x93POROUS\n\x01\x00\x00\x00"[..], &[255; 4]].concat();
    let mut trace = Trace::read(&long[..]).unwrap();
    let too_long = trace.next().unwrap().unwrap_err();
    assert!(matches!(too_long, TraceError::TooLong { record: 1 }));
    assert!(trace.next().is_none());
    let unknown = [&b"\x93POROUS\n\x01\x00\x00\x00"[..], &checked(&[99])].concat();
    let unknown = Trace::read(&unknown[..]).unwrap().next().unwrap();
    assert!(matches!(
        unknown,
        Err(TraceError::Unknown {
            record: 1,
            kind: 99
        })
    ));
}
