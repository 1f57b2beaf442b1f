//! The bytes of a datagram beside those of the packets in it: the table in `docs/wire.md`, "Overhead".
#![expect(clippy::unwrap_used, reason = "a test")]

use alloc::collections::BTreeMap;

use core::time::Duration;

use porous_proto::{Config, Mode, Policy, Priority};
use porous_sim::Pair;
use porous_tests::{Kind, config, line, record, seed};

const TICK: Duration = Duration::from_micros(16_667);

/// The packets that are sent each tick: their channels, mode and length.
#[derive(Clone, Copy, Debug)]
struct Load {
    channels: &'static [u8],
    mode: Mode,
    len: usize,
}

const UNRELIABLE: Load = Load {
    channels: &[0],
    mode: Mode::Unreliable,
    len: 200,
};
const RELIABLE: Load = Load {
    channels: &[0],
    mode: Mode::Reliable,
    len: 24,
};
const TEN: Load = Load {
    channels: &[0, 1, 2, 0, 1, 2, 0, 1, 2, 0],
    mode: Mode::Unreliable,
    len: 16,
};

/// The datagrams of a host of a game at 60 Hz to a host with connection ids of this length: the number of
/// datagrams for each overhead in bytes, and the widths of their frame ids.
/// `marks`: both hosts mark their data.
fn overheads(load: Load, id_len: u8, marks: bool) -> (BTreeMap<usize, usize>, Vec<u8>) {
    let with = |config: Config| {
        let config = config.policy(Policy::Modern).ecn(marks);
        config.channels(&[Priority::Low; 3]).unwrap()
    };
    let client = with(config::client()).connection_id_len(id_len).unwrap();
    let mut pair = Pair::new(seed(), line(), client, with(config::new()));
    pair.connect_to_listener();
    let mut tape = None;
    for tick in 0..780 {
        // The datagrams of the first two seconds are not yet those of a steady flow, and a frame id that had
        // to be wide then stays so for two seconds more.
        if tick == 300 {
            tape = Some(record(&mut pair.world));
        }
        for host in [Pair::A, Pair::B] {
            for &channel in load.channels {
                let sent = pair.send(host, channel, load.mode, vec![7; load.len]);
                assert_eq!(sent, Ok(()), "{}", pair.world.seed());
            }
        }
        pair.world.run_for(TICK);
        for host in [Pair::A, Pair::B] {
            pair.receive_all(host);
        }
    }
    let datagrams = tape.unwrap().of(Pair::B, Kind::Short);
    let payload = load.channels.len() * load.len;
    let (mut overheads, mut widths) = (BTreeMap::new(), Vec::new());
    for taped in datagrams {
        let overhead = taped.datagram.len().saturating_sub(payload);
        *overheads.entry(overhead).or_default() += 1;
        widths.push((taped.datagram[0] >> 4 & 3) + 1);
    }
    (overheads, widths)
}

#[test]
fn datagrams_are_as_short_as_the_table_says() {
    for (load, expected) in [(UNRELIABLE, 16), (RELIABLE, 16), (TEN, 32)] {
        for (id_len, less, marks) in [(4, 0, false), (2, 2, false), (0, 4, false), (4, 0, true)] {
            let (overheads, widths) = overheads(load, id_len, marks);
            let context = format!("{load:?} {id_len} {marks}: {overheads:?}");
            let all: usize = overheads.values().sum();
            assert!(all >= 480, "{context}");
            // The other datagrams also tell of windows, of a sentinel, or of an id that was left out.
            let usual = overheads.get(&(expected - less + usize::from(marks)));
            assert!(usual.is_some_and(|usual| 3 * usual >= 2 * all), "{context}");
            assert!(widths.iter().all(|&width| width == 1), "{context}");
        }
    }
}
