//! Which packets are delivered, and in which order. Between the hosts a datagram takes 20 ms.

use core::time::Duration;

use porous_proto::{Config, Mode};
use porous_sim::{Intercept, LinkConfig, Pair, Seed};
use porous_tests::{Kind, Model, config, kind, line, quiet_pair, record_while, seed};

use crate::{A, B, MODES, MS, numbers, stats};

/// 35: unreliable packets are delivered in order and at most once, although three of ten datagrams come
/// up to 40 ms later and are overtaken.
#[test]
fn unreliable_packets_never_come_out_of_order() {
    for number in 0..5 {
        // given: a link that reorders
        let link = line().reorder(30.0).reorder_by(40 * MS);
        let mut pair = quiet_pair(Seed::new(number), link);
        let held_back = |pair: &Pair| pair.world.network().link_stats(A, B).held_back;
        let before = held_back(&pair);

        // when: 1000 packets pass, one every 10 ms
        let mut got = Vec::new();
        for n in 0..1000_u32 {
            let sent = pair.send(A, 0, Mode::Unreliable, n.to_le_bytes().to_vec());
            assert_eq!(sent, Ok(()));
            pair.world.run_for(10 * MS);
            got.extend(numbers(&mut pair, B));
        }

        // then: each number is higher than the one before, and most of them came
        assert!(held_back(&pair) - before > 250, "seed {number}");
        let rising = got.windows(2).all(|two| two[0] < two[1]);
        assert!(rising, "seed {number}: {got:?}");
        assert!(got.len() > 600, "seed {number}: {}", got.len());
    }
}

/// Sends 1, 2 and 3, each in a datagram of its own, of which one is lost. Returns the packets that arrive
/// within two seconds, and the datagrams with data that were sent.
fn lose_one_of_three(mode: Mode, lost: u64) -> (Vec<u32>, usize) {
    let mut pair = quiet_pair(seed(), line());
    let mut count = 0;
    let tape = record_while(&mut pair.world, move |passing| {
        let data = passing.from == A && is_numbered(passing.datagram);
        count += u64::from(data);
        if data && count == lost {
            Intercept::Drop
        } else {
            Intercept::Pass
        }
    });
    let mut got = Vec::new();
    for n in 1..=3_u32 {
        let mut packet = n.to_le_bytes().to_vec();
        packet.extend([0x5A; 60]);
        assert_eq!(pair.send(A, 0, mode, packet), Ok(()));
        pair.world.run_for(5 * MS);
        got.extend(numbers(&mut pair, B));
    }
    for _ in 0..400 {
        pair.world.run_for(5 * MS);
        got.extend(numbers(&mut pair, B));
    }
    let sent = tape.of(A, Kind::Short);
    let data = sent.iter().filter(|taped| is_numbered(&taped.datagram));
    (got, data.count())
}

/// True if the datagram holds one of the packets above, or several whole ones.
fn is_numbered(datagram: &[u8]) -> bool {
    // The four bytes of the check stand behind the packet.
    let body = datagram.split_last_chunk::<4>().map(|(body, _)| body);
    kind(datagram) == Kind::Short && body.is_some_and(|body| body.ends_with(&[0x5A; 60]))
}

/// 37: the newest passive packet always arrives; packets that it has overtaken are never delivered.
#[test]
fn of_passive_packets_the_newest_counts() {
    // given: 1, 2 and 3 / when: 1 is lost / then: 3 is delivered, 1 never
    assert_eq!(lose_one_of_three(Mode::Passive, 1).0, [2, 3]);
    // ... when: 3 is lost / then: it comes again
    assert_eq!(lose_one_of_three(Mode::Passive, 3), (vec![1, 2, 3], 4));
    // ... where all are reliable, none is missing
    assert_eq!(lose_one_of_three(Mode::Reliable, 1), (vec![1, 2, 3], 4));
    // ... and an unreliable packet is not sent again
    assert_eq!(lose_one_of_three(Mode::Unreliable, 3), (vec![1, 2], 3));
}

/// A drops unreliable packets that are older than `age`, and ten datagrams fill its window.
fn impatient(age: Duration) -> Pair {
    let client = config::client().unreliable_age(age);
    let client = client.and_then(|client| client.bandwidth(60_000, u32::MAX));
    let client = client.unwrap_or_else(|error| panic!("{error}"));
    let mut pair = Pair::new(seed(), line(), client, config::new());
    pair.connect_to_listener();
    pair.world.run_for(Duration::from_secs(5));
    pair
}

/// 38: packets that have waited longer than 100 ms, because nothing got through for 300 ms, are not sent,
/// and are counted; there is no event for each.
#[test]
fn what_has_expired_in_a_blackout_is_not_sent_after_it() {
    // given
    let mut pair = impatient(100 * MS);

    // when: 30 packets are sent during 300 ms of darkness, and more after it
    pair.world.network_mut().partition(&[A], &[B]);
    for n in 0..100_u32 {
        if n == 30 {
            pair.world.network_mut().mend();
        }
        let mut packet = n.to_le_bytes().to_vec();
        packet.resize(1000, 0);
        assert_eq!(pair.send(A, 0, Mode::Unreliable, packet), Ok(()));
        pair.world.run_for(10 * MS);
    }
    pair.world.run_for(Duration::from_secs(3));

    // then: no older packet arrives, and the older ones were counted
    let got = numbers(&mut pair, B);
    assert!(got.iter().all(|&n| n >= 20), "{got:?}; {}", seed());
    let stats = stats(&pair, A);
    assert!(stats.packets_expired > 10 && !got.is_empty(), "{stats:?}");
    assert_eq!((stats.queued_bytes, stats.flight), (0, 0), "{stats:?}");
}

/// 38: the packet that was next in turn and found no room expires too, whole or in fragments. The frames
/// that fill the window here count as lost only after 90 ms, and the packet may wait for 50 ms. T8.
#[test]
fn the_packet_next_in_turn_expires_like_the_others() {
    for len in [1000, 3000] {
        // given: reliable packets that fill the window
        let mut pair = impatient(50 * MS);
        pair.world.network_mut().partition(&[A], &[B]);
        for _ in 0..10 {
            assert_eq!(pair.send(A, 0, Mode::Reliable, vec![1; 1100]), Ok(()));
        }

        // when: an unreliable packet waits behind them for 300 ms
        assert_eq!(pair.send(A, 0, Mode::Unreliable, vec![2; len]), Ok(()));
        pair.world.run_for(300 * MS);
        pair.world.network_mut().mend();
        pair.world.run_for(Duration::from_secs(3));

        // then: it is not sent, and the channel goes on without it
        assert_eq!(pair.send(A, 0, Mode::Reliable, vec![3; len]), Ok(()));
        pair.world.run_for(Duration::from_secs(3));
        let got: Vec<u8> = pair.receive_all(B).iter().map(|p| p.payload[0]).collect();
        assert_eq!(got, [&[1; 10][..], &[3]].concat(), "{len}; {}", seed());
        let stats = stats(&pair, A);
        let books = (stats.packets_expired, stats.queued_bytes, stats.flight);
        assert_eq!(books, (1, 0, 0), "{len}; {stats:?}");
    }
}

/// 39: a large packet that is unreliable stays unreliable: if a fragment is lost, the packet is lost, and
/// nothing of it is sent again.
#[test]
fn a_large_unreliable_packet_is_not_promoted() {
    for lost in 0..=6 {
        // given: a packet of five fragments, of which one is lost, or none
        let mut pair = quiet_pair(seed(), line());
        let mut nth = 0;
        let tape = record_while(&mut pair.world, move |passing| {
            nth += u64::from(passing.from == A && passing.datagram.len() > 200);
            let lost = passing.datagram.len() > 200 && nth == lost;
            if lost {
                Intercept::Drop
            } else {
                Intercept::Pass
            }
        });

        // when
        assert_eq!(pair.send(A, 0, Mode::Unreliable, vec![9; 5000]), Ok(()));
        pair.world.run_for(Duration::from_secs(5));

        // then: it was sent once, and arrives whole or not at all
        let sent = tape.of(A, Kind::Short);
        let sent = sent.iter().filter(|taped| taped.datagram.len() > 200);
        assert_eq!(sent.count(), 5, "{}", seed());
        let got = pair.receive_all(B);
        let modes: Vec<Mode> = got.iter().map(|packet| packet.mode).collect();
        let whole = lost == 0 || lost == 6;
        let expected = if whole {
            vec![Mode::Unreliable]
        } else {
            vec![]
        };
        assert_eq!(modes, expected, "fragment {lost}; {}", seed());
        let incomplete = stats(&pair, B).packets_incomplete;
        assert_eq!(incomplete, u64::from(!whole), "fragment {lost}");
    }
}

/// 42: 8192 packets of 2 to 16,384 bytes, in fragments of 500, over a link that loses one datagram in
/// twenty: delivered packets have the bytes that were sent, and all reliable ones are delivered.
#[test]
fn large_and_small_packets_arrive_bit_by_bit() {
    const PACKETS: usize = 8192;
    // given: datagrams of 548 bytes, so that fragments have 500
    let config = |config: Config| {
        let config = config.max_datagram(548);
        let config = config.and_then(|config| config.unreliable_age(Duration::from_secs(60)));
        config.unwrap_or_else(|error| panic!("{error}"))
    };
    let link = LinkConfig::new().delay(2 * MS).loss(5.0);
    let (a, b) = (config(config::client()), config(config::new()));
    let mut pair = Pair::new(seed(), link, a, b);
    pair.connect_to_listener();
    let mut model = Model::new(1);

    // when
    let mut chance = 0x2545_F491_u32;
    for n in 0..PACKETS {
        chance ^= chance << 13;
        chance ^= chance >> 17;
        chance ^= chance << 5;
        let mut packet = n.to_le_bytes()[..2].to_vec();
        let len = 2 + chance as usize % (16_384 - 1);
        packet.extend((2..len).map(|at| (chance as usize * at).to_le_bytes()[1]));
        let mode = MODES[n % 3];
        let sent = pair.send(A, 0, mode, packet.clone());
        assert_eq!(sent, Ok(()), "{}", seed());
        model.sent(0, mode, packet);
        pair.world.run_for(100 * MS);
        let context = format!("{}", pair.world.seed());
        for packet in pair.receive_all(B) {
            model.delivered(&packet, &context);
        }
    }
    pair.world.run_for(Duration::from_secs(60));
    for packet in pair.receive_all(B) {
        model.delivered(&packet, "at last");
    }

    // then: see `Model`; all reliable packets came, and of the others those that are not too long
    assert!(model.is_complete(), "{}", seed());
    for mode in [Mode::Unreliable, Mode::Passive] {
        let (sent, delivered) = model.counts(mode);
        assert!(delivered * 10 > sent * 4, "{mode:?}: {delivered} of {sent}");
    }
}
