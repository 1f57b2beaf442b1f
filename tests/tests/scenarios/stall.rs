//! Nothing stalls for good (§3.1.1, §3.2.2): wherever in its windows a sender is when the network fails
//! or the reader sleeps, it goes on afterwards.
#![expect(clippy::unwrap_used, reason = "a test")]

use core::time::Duration;

use porous_proto::{Config, Event, Ignored, Mode, PeerState, SendError};
use porous_sim::{LinkConfig, Pair, Seed};
use porous_tests::{Traffic, config, connected, ended, events, seed};

const MS: Duration = Duration::from_millis(1);
const BOTH: [u32; 2] = [Pair::A, Pair::B];

fn line() -> LinkConfig {
    LinkConfig::new().delay(20 * MS)
}

/// The smallest windows, so that their edges are soon reached.
fn small() -> Config {
    let config = config::new().timeout(Duration::from_secs(60)).unwrap();
    config.windows(16, 16).unwrap()
}

fn pair(seed: Seed, a: Config, b: Config) -> Pair {
    let mut pair = Pair::new(seed, line(), a, b);
    pair.connect_to_listener();
    pair
}

/// `count` packets from A, numbered from `first`, one every 10 ms.
fn send(pair: &mut Pair, modes: &[Mode], first: u32, count: u32) {
    for n in first..first + count {
        let mode = modes[n as usize % modes.len()];
        let sent = pair.send(Pair::A, 0, mode, n.to_le_bytes().to_vec());
        assert_eq!(sent, Ok(()), "{}", pair.world.seed());
        pair.world.run_for(10 * MS);
    }
}

fn numbers(pair: &mut Pair, at: u32) -> Vec<u32> {
    let got = pair.receive_all(at);
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    got.iter().map(|packet| number(&packet.payload)).collect()
}

/// A sends `lost` packets of these modes while the links `down` are cut; then the links are mended.
fn gap(modes: &[Mode], lost: u32, down: &[(u32, u32)]) {
    let mut pair = pair(Seed::new(u64::from(lost)), small(), small());
    let context = format!("{lost} {modes:?}, {down:?} cut; {}", pair.world.seed());
    send(&mut pair, modes, 0, 5);
    pair.world.run_for(100 * MS);
    assert_eq!(numbers(&mut pair, Pair::B), [0, 1, 2, 3, 4], "{context}");
    for &(from, to) in down {
        let network = pair.world.network_mut();
        network.set_link(from, to, line().down(true));
    }
    send(&mut pair, modes, 5, lost);
    pair.world.run_for(500 * MS);
    numbers(&mut pair, Pair::B);
    pair.world.network_mut().mend();
    for _ in 0..100 {
        pair.world.run_for(10 * MS);
        numbers(&mut pair, Pair::B);
    }
    // Within a second, every packet that waited has come or is lost: from here on all packets come at
    // once.
    let mut got = Vec::new();
    for n in 0..40 {
        send(&mut pair, modes, 5 + lost + n, 1);
        got.extend(numbers(&mut pair, Pair::B));
    }
    pair.world.run_for(100 * MS);
    got.extend(numbers(&mut pair, Pair::B));
    assert_eq!(got, (5 + lost..45 + lost).collect::<Vec<_>>(), "{context}");
}

#[test]
fn a_gap_of_any_length_is_overcome() {
    let ways: [&[(u32, u32)]; 3] = [
        &[(Pair::A, Pair::B)],
        &[(Pair::B, Pair::A)],
        &[(Pair::A, Pair::B), (Pair::B, Pair::A)],
    ];
    let modes: [&[Mode]; 4] = [
        &[Mode::Unreliable],
        &[Mode::Passive],
        &[Mode::Unreliable, Mode::Passive, Mode::Unreliable],
        &[Mode::Unreliable, Mode::Unreliable, Mode::Reliable],
    ];
    for lost in 0..=50 {
        for (modes, down) in modes.iter().flat_map(|m| ways.map(|down| (m, down))) {
            gap(modes, lost, down);
        }
    }
}

#[test]
fn a_flood_into_nowhere_resumes_as_soon_as_there_is_a_network() {
    for number in 0..10 {
        let mut pair = pair(Seed::new(number), small(), small());
        let context = pair.world.seed();
        pair.world.network_mut().partition(&[Pair::A], &[Pair::B]);
        for n in 0..1000_u32 {
            for from in BOTH {
                // Packets that the windows do not let pass wait in the send queue.
                let packet = n.to_le_bytes().to_vec();
                let sent = pair.send(from, 0, Mode::Unreliable, packet);
                assert_eq!(sent, Ok(()), "{context}");
            }
            pair.world
                .run_for(20 * MS + MS * u32::try_from(number).unwrap());
        }
        // Under the modern policy, frames that the remote host does not acknowledge are soon followed by
        // pings alone.
        let cut = pair.world.network().stats().cut;
        assert!(cut > config::by_policy(20, 100), "{cut}; {context}");
        pair.world.network_mut().mend();
        let healed = pair.world.now();
        let (mut first, mut got) = ([None; 2], [0, 0]);
        for _ in 0..1000 {
            pair.world.run_for(10 * MS);
            for (side, at) in BOTH.into_iter().enumerate() {
                let news = numbers(&mut pair, at);
                got[side] = *news.last().unwrap_or(&got[side]);
                if !news.is_empty() {
                    first[side].get_or_insert_with(|| pair.world.now());
                }
            }
        }
        for side in [0, 1] {
            let first = first[side].map(|at| at.saturating_duration_since(healed));
            let in_time = first.is_some_and(|waited| waited < Duration::from_secs(2));
            assert!(in_time, "{first:?} after the network came back; {context}");
            assert_eq!(got[side], 999, "{context}");
        }
        for at in BOTH {
            let told = events(&mut pair.world, at);
            assert!(ended(&told).is_empty(), "{told:?}; {context}");
            let peer = pair.world.host(at).peer(pair.peer(at)).unwrap();
            assert_eq!(peer.queued_bytes(), 0, "{context}");
        }
    }
}

const BUDGET: u32 = 64 * 1024;

/// Sends until the buffer is full. Returns the number of packets that it took, and whether it was full.
fn fill(traffic: &mut Traffic, pair: &mut Pair, mode: Option<Mode>) -> (u32, bool) {
    for sent in 0..20 {
        let accepted = match mode {
            Some(mode) => traffic.send_as(&mut pair.world, mode),
            None => traffic.send(&mut pair.world),
        };
        if !accepted {
            return (sent, true);
        }
    }
    (20, false)
}

/// B's application does not read for ten seconds, while A's sends as much as it may.
fn sleeping_reader(mode: Option<Mode>) {
    let config = config::new().receive_budget(16 * 1024, BUDGET).unwrap();
    // No unreliable packet makes room in the queue by growing too old.
    let config = config
        .send_budget(BUDGET)
        .unwrap()
        .unreliable_age(Duration::MAX)
        .unwrap();
    let mut pair = pair(seed(), config.clone(), config);
    let context = format!("{mode:?}; {}", pair.world.seed());
    let (a, b) = (pair.peer(Pair::A), pair.peer(Pair::B));
    let mut there = Traffic::new(&pair, Pair::A, 6000, 3);
    let mut back = Traffic::new(&pair, Pair::B, 6000, 5);
    let mut late = (0, false);
    for round in 0..1000 {
        let (sent, full) = fill(&mut there, &mut pair, mode);
        if round >= 500 {
            late = (late.0 + sent, full);
        }
        back.send_as(&mut pair.world, Mode::Reliable);
        pair.world.run_for(10 * MS);
        back.receive(&mut pair.world, a);
        let queued = pair.world.host(Pair::A).peer(a).unwrap().queued_bytes();
        assert!(queued <= BUDGET as usize, "{queued} queued; {context}");
    }
    if mode != Some(Mode::Unreliable) {
        assert_eq!(late, (0, true), "the sender does not wait; {context}");
    }
    pair.world.run_for(200 * MS);
    back.receive(&mut pair.world, a);
    assert!(back.model.is_complete(), "the other direction; {context}");
    assert_eq!(back.model.counts(Mode::Reliable).0, 1000, "{context}");
    let told = events(&mut pair.world, Pair::A);
    assert!(ended(&told).is_empty() && connected(&told).is_empty());

    // Read in one go, these are the bytes that B has kept.
    let mut kept = 0;
    for packet in pair.receive_all(Pair::B) {
        kept += packet.payload.len() + 64;
        there.model.delivered(&packet, &context);
    }
    assert!(kept <= BUDGET as usize, "{kept} bytes kept; {context}");
    assert!(kept >= BUDGET as usize / 2, "only {kept} kept; {context}");
    pair.world.run_for(1000 * MS);
    if mode != Some(Mode::Unreliable) {
        let told = events(&mut pair.world, Pair::A);
        let writable = Event::Writable { peer: a };
        assert!(told.contains(&writable), "{told:?}; {context}");
    }
    for _ in 0..500 {
        fill(&mut there, &mut pair, mode);
        pair.world.run_for(10 * MS);
        there.receive(&mut pair.world, b);
    }
    pair.world.run_for(5000 * MS);
    there.receive(&mut pair.world, b);
    pair.world.run_for(1000 * MS);
    assert!(there.model.is_complete(), "{context}");
    let [sender, reader] =
        [(Pair::A, a), (Pair::B, b)].map(|(at, peer)| pair.world.host(at).peer(peer).unwrap());
    assert_eq!(reader.state(), PeerState::Connected, "{context}");
    assert_eq!(sender.queued_bytes(), 0, "{context}");
    let stats = pair.world.host(Pair::B).stats();
    assert_eq!(stats.ignored(Ignored::OverBudget), 0, "{context}");
    let delivered = reader.stats().packets_received.total();
    assert!(delivered > 1000, "only {delivered} in all; {context}");
}

#[test]
fn a_reader_that_sleeps_stalls_its_sender_and_loses_nothing_reliable() {
    sleeping_reader(Some(Mode::Reliable));
    sleeping_reader(None);
}

#[test]
fn a_reader_that_sleeps_keeps_no_more_than_its_budget_of_what_may_be_lost() {
    sleeping_reader(Some(Mode::Passive));
    sleeping_reader(Some(Mode::Unreliable));
}

/// T8.
#[test]
fn a_full_send_buffer_is_told_once_and_so_is_the_room_in_it() {
    // The packets of one mode may take 10,000 bytes of it.
    let mut pair = pair(
        seed(),
        config::new().send_budget(11_428).unwrap(),
        config::new(),
    );
    let context = pair.world.seed();
    while pair.send(Pair::A, 0, Mode::Reliable, vec![0; 936]).is_ok() {}
    for _ in 0..3 {
        let again = pair.send(Pair::A, 0, Mode::Reliable, vec![0; 936]);
        assert_eq!(again, Err(SendError::Full), "{context}");
    }
    assert_eq!(events(&mut pair.world, Pair::A), [], "{context}");
    pair.world.run_for(1000 * MS);
    let writable = Event::Writable {
        peer: pair.peer(Pair::A),
    };
    assert_eq!(events(&mut pair.world, Pair::A), [writable], "{context}");
    assert_eq!(pair.receive_all(Pair::B).len(), 10, "{context}");
    pair.world.run_for(1000 * MS);
    assert_eq!(events(&mut pair.world, Pair::A), [], "{context}");
}
