//! Flow control (`docs/wire.md`, "Budgets"): what a full buffer and a stopped reader may hold up, and
//! what they may not.
#![expect(clippy::unwrap_used, reason = "a test")]

use core::time::Duration;

use porous_proto::{
    Config, DisconnectReason, Ecn, Event, Ignored, Mode, PeerStats, Priority, SendError,
};
use porous_sim::{LinkConfig, Pair, Queue};
use porous_tests::{assert_told, config, disconnect, events, flush, seed};

const MS: Duration = Duration::from_millis(1);

/// The agreed length of a fragment, with the default `max_datagram`.
const FRAGMENT: u32 = 1152;

/// The send budget of which the packets of one mode may take 10,000 bytes.
const TEN: u32 = 11_428;

fn pair(delay: u32, a: Config, b: Config) -> Pair {
    let mut pair = Pair::new(seed(), LinkConfig::new().delay(delay * MS), a, b);
    pair.connect_to_listener();
    pair.world.run_for(2000 * MS);
    pair
}

/// Fills the send buffer of a host, and returns the number of packets of this length that it took.
fn fill(pair: &mut Pair, from: u32, mode: Mode, len: usize) -> usize {
    for sent in 0.. {
        match pair.send(from, 0, mode, vec![7; len]) {
            Ok(()) => assert!(sent < 1_000_000, "{}", pair.world.seed()),
            error => {
                assert_eq!(error, Err(SendError::Full), "{}", pair.world.seed());
                return sent;
            }
        }
    }
    unreachable!()
}

fn over_budget(pair: &Pair, at: u32) -> u64 {
    let stats = pair.world.host(at).stats();
    stats.ignored(Ignored::OverBudget)
}

/// T8.
#[test]
fn room_that_sending_itself_makes_is_told_at_once() {
    let mut pair = pair(300, config::new().send_budget(TEN).unwrap(), config::new());
    let context = pair.world.seed();
    assert_eq!(fill(&mut pair, Pair::A, Mode::Unreliable, 936), 10);
    assert_eq!(events(&mut pair.world, Pair::A), [], "{context}");
    pair.world.flush(Pair::A);
    let writable = Event::Writable {
        peer: pair.peer(Pair::A),
    };
    assert_eq!(events(&mut pair.world, Pair::A), [writable], "{context}");
    pair.world.run_for(2000 * MS);
    assert_eq!(events(&mut pair.world, Pair::A), [], "{context}");
    assert_eq!(pair.receive_all(Pair::B).len(), 10, "{context}");
}

/// A file on a channel of low priority: sent until `Full`, and again at `Writable`.
struct File {
    writable: bool,
    sent: usize,
}

impl File {
    const CHANNEL: u8 = 1;

    fn send(&mut self, pair: &mut Pair) {
        self.writable |= !events(&mut pair.world, Pair::A).is_empty();
        while self.writable {
            match pair.send(Pair::A, Self::CHANNEL, Mode::Reliable, vec![0; 1024]) {
                Ok(()) => self.sent += 1,
                error => {
                    assert_eq!(error, Err(SendError::Full), "{}", pair.world.seed());
                    self.writable = false;
                }
            }
        }
    }
}

/// A file on a slow line, and 600 packets of 200 bytes, one each 16 ms. Returns the number of these that
/// were accepted, the number received, and the number of the file's packets received.
fn beside_a_file(channel: u8, mode: Mode, budget: u32) -> (usize, usize, usize) {
    let priorities = [Priority::High, Priority::Low, Priority::Low];
    let config = config::new().channels(&priorities).unwrap();
    let line = LinkConfig::new().delay(20 * MS).rate(4_000_000);
    let line = line.queue(Queue::Bytes(100_000));
    let sender = config.clone().send_budget(budget).unwrap();
    let mut pair = Pair::new(seed(), line, sender, config);
    pair.connect_to_listener();
    events(&mut pair.world, Pair::A);
    let mut file = File {
        writable: true,
        sent: 0,
    };
    let (mut accepted, mut received, mut pieces) = (0, 0, 0);
    for _ in 0..600 {
        file.send(&mut pair);
        let sent = pair.send(Pair::A, channel, mode, vec![1; 200]);
        accepted += usize::from(sent.is_ok());
        pair.world.run_for(16 * MS);
        for packet in pair.receive_all(Pair::B) {
            received += usize::from(packet.payload.len() == 200);
            pieces += usize::from(packet.payload.len() == 1024);
        }
    }
    (accepted, received, pieces)
}

/// T8.
#[test]
fn a_file_that_fills_the_send_buffer_refuses_no_state() {
    for budget in [4 << 20, 256 * 1024] {
        for (channel, mode) in [
            (0, Mode::Unreliable),
            (0, Mode::Reliable),
            (2, Mode::Unreliable),
            (2, Mode::Passive),
            (File::CHANNEL, Mode::Unreliable),
        ] {
            let (accepted, received, pieces) = beside_a_file(channel, mode, budget);
            let context = format!("{channel} {mode:?} {budget}; {}", seed());
            assert_eq!(accepted, 600, "{context}");
            if channel == 0 {
                assert!(received >= 590, "{received}; {context}");
            }
            // And the file has the rest of the line: 4.8 MB in these 9.6 s.
            assert!(pieces >= 4000, "{pieces}; {context}");
        }
    }
}

/// States that are sent faster than the line takes them keep out neither the file nor the event that
/// tells the file to go on.
#[test]
fn states_that_fill_the_send_buffer_keep_no_file_out() {
    let config = config::new().channels(&[Priority::Low; 2]).unwrap();
    let line = LinkConfig::new().delay(20 * MS).rate(800_000);
    let line = line.queue(Queue::Bytes(20_000));
    let sender = config.clone().send_budget(400_000).unwrap();
    let mut pair = Pair::new(seed(), line, sender, config);
    pair.connect_to_listener();
    events(&mut pair.world, Pair::A);
    let mut file = File {
        writable: true,
        sent: 0,
    };
    let mut refused = 0;
    for _ in 0..600 {
        for _ in 0..20 {
            let sent = pair.send(Pair::A, 0, Mode::Unreliable, vec![1; 1000]);
            refused += usize::from(sent.is_err());
        }
        file.send(&mut pair);
        pair.world.run_for(16 * MS);
    }
    let context = format!("{refused} refused, {}; {}", file.sent, pair.world.seed());
    assert!(refused > 1000, "{context}");
    // The file gets a good part of its half of 960 kB, in packets of 1 kB.
    assert!(file.sent >= 300, "{context}");
}

/// Packets as large as the budget of their receiver allows, one after the other.
fn largest_packets(max: u32, mode: Mode) {
    let reader = config::new().receive_budget(max, max + 64).unwrap();
    let mut pair = pair(10, config::new(), reader);
    let context = format!("{max} {mode:?}; {}", pair.world.seed());
    let sent = (0..20).map(|n| (0, mode, vec![n; max as usize]));
    let got = pair.exchange(Pair::A, sent, Duration::from_secs(60));
    let numbers: Vec<_> = got.iter().map(|packet| packet.payload[0]).collect();
    assert_eq!(numbers, (0..20).collect::<Vec<_>>(), "{context}");
    assert_eq!(over_budget(&pair, Pair::B), 0, "{context}");
}

/// Q2.
#[test]
fn a_packet_may_take_the_whole_budget() {
    for max in [
        1,
        FRAGMENT - 1,
        FRAGMENT,
        FRAGMENT + 1,
        FRAGMENT + 5,
        2 * FRAGMENT,
        20_000,
    ] {
        for mode in [Mode::Unreliable, Mode::Reliable, Mode::Passive] {
            largest_packets(max, mode);
        }
    }
}

#[test]
fn a_lost_unreliable_packet_takes_nothing_of_the_budget() {
    const MAX: u32 = 20_000;
    let small = config::new().windows(16, 16).unwrap();
    let reader = small.clone().receive_budget(MAX, MAX + 64).unwrap();
    let mut pair = pair(10, small, reader);
    let context = pair.world.seed();
    for round in 0..20_u8 {
        pair.world.run_for(1000 * MS);
        // The packet that was read last has been reported. These packets are lost; of every second one,
        // the sentinel gets through when it is repeated.
        pair.world.network_mut().partition(&[Pair::A], &[Pair::B]);
        for _ in 0..2 {
            let sent = pair.send(Pair::A, 0, Mode::Unreliable, vec![0; 100]);
            assert_eq!(sent, Ok(()), "{context}");
        }
        pair.world.run_for(100 * MS);
        pair.world.network_mut().mend();
        let large = (0, Mode::Reliable, vec![round; MAX as usize]);
        let got = pair.exchange(Pair::A, [large], Duration::from_secs(20));
        assert_eq!(got.len(), 1, "round {round}; {context}");
    }
    assert_eq!(over_budget(&pair, Pair::B), 0, "{context}");
}

fn stats(pair: &Pair, at: u32) -> PeerStats {
    let peer = pair.world.host(at).peer(pair.peer(at));
    peer.unwrap().stats()
}

/// A pair of hosts in which B takes 1064 bytes until it reads.
fn narrow(age: Duration) -> Pair {
    let reader = config::new().receive_budget(1000, 1064).unwrap();
    let sender = config::new().send_budget(TEN).unwrap();
    let sender = sender.unreliable_age(age).unwrap();
    let mut pair = pair(10, sender, reader);
    // B gives back the part of its budget that this packet takes only when B reads.
    assert_eq!(pair.send(Pair::A, 0, Mode::Reliable, vec![0; 1000]), Ok(()));
    pair.world.run_for(500 * MS);
    assert_eq!(stats(&pair, Pair::A).queued_bytes, 0);
    pair
}

/// T8.
#[test]
fn unreliable_packets_that_wait_too_long_are_not_sent_and_make_room() {
    let mut pair = narrow(1000 * MS);
    let context = pair.world.seed();
    let writable = Event::Writable {
        peer: pair.peer(Pair::A),
    };
    // A reliable packet is in front of them, and blocked as well.
    assert_eq!(pair.send(Pair::A, 0, Mode::Reliable, vec![1; 100]), Ok(()));
    assert_eq!(fill(&mut pair, Pair::A, Mode::Unreliable, 936), 10);
    pair.world.run_for(999 * MS);
    assert_eq!(stats(&pair, Pair::A).packets_expired, 0, "{context}");
    assert_eq!(events(&mut pair.world, Pair::A), [], "{context}");
    pair.world.run_for(101 * MS);
    assert_eq!(stats(&pair, Pair::A).packets_expired, 10, "{context}");
    assert_eq!(stats(&pair, Pair::A).queued_bytes, 164, "{context}");
    assert_eq!(events(&mut pair.world, Pair::A), [writable], "{context}");
    // They leave no hole: later packets come at once when there is room.
    assert_eq!(
        pair.send(Pair::A, 0, Mode::Unreliable, vec![2; 100]),
        Ok(())
    );
    assert_eq!(pair.receive_all(Pair::B).len(), 1, "{context}");
    pair.world.run_for(100 * MS);
    let got = pair.receive_all(Pair::B);
    let first: Vec<_> = got.iter().map(|packet| packet.payload[0]).collect();
    assert_eq!(first, [1, 2], "{context}");
    assert_eq!(stats(&pair, Pair::A).packets_expired, 10, "{context}");
}

#[test]
fn unreliable_packets_that_may_wait_for_ever_do() {
    let mut pair = narrow(Duration::MAX);
    let context = pair.world.seed();
    assert_eq!(fill(&mut pair, Pair::A, Mode::Unreliable, 936), 10);
    pair.world.run_for(3_600_000 * MS);
    assert_eq!(stats(&pair, Pair::A).packets_expired, 0, "{context}");
    assert_eq!(stats(&pair, Pair::A).queued_bytes, 10_000, "{context}");
    assert_eq!(pair.receive_all(Pair::B).len(), 1, "{context}");
    pair.world.run_for(2000 * MS);
    // All came; B had room for one at a time.
    assert_eq!(stats(&pair, Pair::A).queued_bytes, 0, "{context}");
    assert_eq!(stats(&pair, Pair::B).packets_evicted, 9, "{context}");
    assert_eq!(pair.receive_all(Pair::B).len(), 1, "{context}");
}

#[test]
fn packets_of_the_shortest_age_leave_only_before_time_goes_on() {
    let mut pair = narrow(Duration::from_micros(1));
    let context = pair.world.seed();
    assert_eq!(pair.send(Pair::A, 0, Mode::Unreliable, vec![1; 10]), Ok(()));
    pair.world.run_for(MS);
    assert_eq!(stats(&pair, Pair::A).packets_expired, 1, "{context}");
    assert_eq!(pair.receive_all(Pair::B).len(), 1, "{context}");
    pair.world.run_for(1000 * MS);
    assert_eq!(pair.send(Pair::A, 0, Mode::Unreliable, vec![2; 10]), Ok(()));
    pair.world.run_for(100 * MS);
    assert_eq!(pair.receive_all(Pair::B).len(), 1, "{context}");
}

#[test]
fn a_host_that_was_not_called_drops_old_packets_when_it_is() {
    let mut pair = narrow(1000 * MS);
    let context = pair.world.seed();
    let (peer, later) = (pair.peer(Pair::A), pair.world.now() + 1100 * MS);
    assert_eq!(fill(&mut pair, Pair::A, Mode::Unreliable, 936), 10);
    pair.world.flush(Pair::A);
    // The host drops old packets when it is stepped, and when it is told the time before the next packet.
    let host = pair.world.host_mut(Pair::A);
    host.handle_timeout(later);
    assert_eq!(host.peer(peer).unwrap().queued_bytes(), 0, "{context}");
    assert_eq!(
        host.poll_event(),
        Some(Event::Writable { peer }),
        "{context}"
    );
    for time in [later, later + 1100 * MS] {
        assert_eq!(fill(&mut pair, Pair::A, Mode::Unreliable, 936), 10);
        let host = pair.world.host_mut(Pair::A);
        while host.poll_transmit(time, &mut [0; 1200]).is_some() {}
        host.handle_datagram(time + 1100 * MS, 9, Ecn::NotEct, &[]);
    }
    assert_eq!(stats(&pair, Pair::A).packets_expired, 20, "{context}");
}

#[test]
fn a_packet_that_was_sent_in_part_is_sent_to_its_end() {
    let line = LinkConfig::new().delay(10 * MS).rate(64_000);
    let line = line.queue(Queue::Bytes(100_000));
    let age = config::new().unreliable_age(200 * MS).unwrap();
    let mut pair = Pair::new(seed(), line, age, config::new());
    let context = pair.world.seed();
    pair.connect_to_listener();
    // Each has more than two seconds' worth of line: the second has not begun when it is too old.
    for n in 1..=2 {
        let sent = pair.send(Pair::A, 0, Mode::Unreliable, vec![n; 20_000]);
        assert_eq!(sent, Ok(()), "{context}");
    }
    pair.world.run_for(60_000 * MS);
    let got = pair.receive_all(Pair::B);
    assert_eq!(got.len(), 1, "{context}");
    assert_eq!(got[0].payload, vec![1; 20_000], "{context}");
    assert_eq!(stats(&pair, Pair::A).packets_expired, 1, "{context}");
}

#[test]
fn a_flush_does_not_wait_for_what_has_expired() {
    let mut pair = narrow(1000 * MS);
    assert_eq!(fill(&mut pair, Pair::A, Mode::Unreliable, 936), 10);
    disconnect(&mut pair, Pair::A, flush(0));
    pair.world.run_for(1030 * MS);
    assert_told(&mut pair, Pair::A, (DisconnectReason::ByUs(0), 0), "");
}

#[test]
fn what_waited_behind_an_expired_packet_goes_on() {
    let reader = config::new().receive_budget(1000, 1500).unwrap();
    let sender = config::new().unreliable_age(1000 * MS).unwrap();
    let mut pair = pair(10, sender, reader);
    let context = pair.world.seed();
    // B keeps 464 bytes. The second packet does not fit beside them, and the third has to wait for it.
    for (mode, len) in [
        (Mode::Reliable, 400),
        (Mode::Unreliable, 1000),
        (Mode::Reliable, 100),
    ] {
        assert_eq!(
            pair.send(Pair::A, 0, mode, vec![0; len]),
            Ok(()),
            "{context}"
        );
    }
    pair.world.run_for(900 * MS);
    assert_eq!(stats(&pair, Pair::A).queued_bytes, 1064 + 164, "{context}");
    pair.world.run_for(200 * MS);
    assert_eq!(stats(&pair, Pair::A).queued_bytes, 0, "{context}");
    let got = pair.receive_all(Pair::B);
    let lens: Vec<_> = got.iter().map(|packet| packet.payload.len()).collect();
    assert_eq!(lens, [400, 100], "{context}");
}

#[test]
fn the_send_budget_counts_every_byte_and_every_packet() {
    let blocked = |budget: u32| {
        // The remote host is gone: no packet leaves for good.
        let mut pair = pair(
            10,
            config::new().send_budget(budget).unwrap(),
            config::new(),
        );
        pair.world.network_mut().partition(&[Pair::A], &[Pair::B]);
        pair
    };
    // An eighth is kept for unreliable packets.
    for (budget, accepted) in [(561, 2), (562, 3), (563, 3)] {
        let mut pair = blocked(budget);
        assert_eq!(
            fill(&mut pair, Pair::A, Mode::Reliable, 100),
            accepted,
            "{budget}"
        );
    }
    // Empty packets count as well, so that their number is bounded.
    for (budget, accepted) in [(7313, 99), (7314, 100)] {
        let mut pair = blocked(budget);
        assert_eq!(
            fill(&mut pair, Pair::A, Mode::Reliable, 0),
            accepted,
            "{budget}"
        );
    }
    // One packet always fits, and then no more.
    let mut pair = blocked(1);
    assert_eq!(fill(&mut pair, Pair::A, Mode::Passive, 50_000), 1);
}

/// T8: 300 ms of what the link takes, at once, and a state in each 33 ms after it.
#[test]
fn a_burst_of_unreliable_packets_on_an_idle_connection_arrives_whole() {
    const BURST: usize = 375;
    for newer in [0, 30] {
        let line = LinkConfig::new().delay(25 * MS).rate(10_000_000);
        let line = line.queue(Queue::Bytes(1_000_000));
        let mut pair = Pair::new(seed(), line, config::client(), config::new());
        let context = pair.world.seed();
        pair.connect_to_listener();
        pair.world.run_for(1000 * MS);
        for _ in 0..BURST {
            let sent = pair.send(Pair::A, 0, Mode::Unreliable, vec![1; 1000]);
            assert_eq!(sent, Ok(()), "{context}");
        }
        for _ in 0..newer {
            pair.world.run_for(33 * MS);
            let sent = pair.send(Pair::A, 0, Mode::Unreliable, vec![2; 100]);
            assert_eq!(sent, Ok(()), "{context}");
        }
        pair.world.run_for(3000 * MS);
        assert_eq!(stats(&pair, Pair::A).packets_expired, 0, "{context}");
        let got = pair.receive_all(Pair::B).len();
        assert_eq!(got, BURST + newer, "{context}");
    }
}
