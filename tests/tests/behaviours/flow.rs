//! How much a host may send, and when.

use core::ops::ControlFlow;
use core::time::Duration;

use porous_proto::{ChannelId, Event, Mode, Priority, SendError};
use porous_sim::{LinkConfig, Pair};
use porous_tests::{config, events, line, seed};

use crate::{A, B, MS};

/// 45: of four channels with 128 packets of 1024 bytes each, at 128 KiB/s, the urgent one is
/// emptied first; the others take equal turns, within 5 %. There are two priorities and no weights.
#[test]
fn urgent_channels_first_and_the_others_in_equal_parts() {
    // given: a channel of high priority behind three of low priority, all filled at once
    let lanes = [Priority::Low, Priority::Low, Priority::Low, Priority::High];
    let config = config::client().channels(&lanes);
    let config = config.and_then(|config| config.bandwidth(128 * 1024, u32::MAX));
    let config = config.unwrap_or_else(|error| panic!("{error}"));
    let server = config::new()
        .channels(&lanes)
        .unwrap_or_else(|error| panic!("{error}"));
    let mut pair = Pair::new(seed(), line().delay(50 * MS), config, server);
    pair.connect_to_listener();
    pair.world.run_for(Duration::from_secs(5));
    for n in 0..128_u8 {
        for channel in 0..4 {
            let sent = pair.send(A, channel, Mode::Reliable, vec![n; 1024]);
            assert_eq!(sent, Ok(()), "{}", seed());
        }
    }

    // when: they leave, one after the other
    let mut order = Vec::new();
    for _ in 0..600 {
        pair.world.run_for(10 * MS);
        let got = pair.receive_all(B);
        // Of packets that came at the same time, receiving takes turns between the channels.
        let mut came: Vec<u8> = got.iter().map(|packet| packet.channel.0).collect();
        came.sort_by_key(|&channel| channel != 3);
        order.extend(came);
    }

    // then
    assert_eq!(order.len(), 4 * 128, "{}", seed());
    assert!(
        order[..128].iter().all(|&channel| channel == 3),
        "{order:?}"
    );
    for half in [128 + 192, 128 + 96] {
        let so_far = &order[128..half];
        for channel in 0..3 {
            let share = so_far.iter().filter(|&&c| c == channel).count() * 100;
            let equal = so_far.len() * 100 / 3;
            assert!(
                share.abs_diff(equal) * 20 <= equal,
                "{channel}: {share}, {equal}"
            );
        }
    }
}

/// 47: of three packets of 100 KiB the second and the third find a send buffer of 160 KiB full; the first
/// arrives, and the others do as soon as there is room.
#[test]
fn a_full_send_buffer_refuses_the_next_and_harms_nothing() {
    const LEN: usize = 100 * 1024;
    // given
    let client = config::client().send_budget(160 * 1024).unwrap();
    let mut pair = Pair::new(seed(), line(), client, config::new());
    pair.connect_to_listener();

    // when: three packets at once
    let sent = [1, 2, 3].map(|n| pair.send(A, 0, Mode::Reliable, vec![n; LEN]));

    // then: the limit is named; the first is delivered, and there is room for each of the others
    assert_eq!(sent, [Ok(()), Err(SendError::Full), Err(SendError::Full)]);
    for n in 1..=3 {
        pair.world.run_for(Duration::from_secs(3));
        let got = pair.receive_all(B);
        assert!(got.len() == 1 && got[0].payload == vec![n; LEN], "{n}");
        let peer = pair.peer(A);
        let told = events(&mut pair.world, A).contains(&Event::Writable { peer });
        assert_eq!(told, n == 1, "packet {n}; {}", seed());
        if n < 3 {
            let next = vec![n + 1; LEN];
            assert_eq!(pair.send(A, 0, Mode::Reliable, next), Ok(()), "{}", seed());
        }
    }
}

/// 49: over a clean link with a round trip of 100 ms a stream of reliable packets of 64 KiB is ten
/// times as fast as ENet's 0.655 MB/s, the slow start included.
#[test]
fn a_clean_long_link_is_filled() {
    const PACKET: usize = 64 * 1024;
    const TOTAL: usize = 32 << 20;
    // given
    let links = LinkConfig::new().delay(50 * MS);
    let mut pair = Pair::new(seed(), links, config::client(), config::new());
    // The socket buffer of B holds everything that is sent in a round trip.
    pair.world.set_socket_buffer(B, usize::MAX);
    pair.connect_to_listener();
    let (a, b, start) = (pair.peer(A), pair.peer(B), pair.world.now());

    // when
    let (mut sent, mut received) = (0, 0);
    let done = pair.world.drive(start + Duration::from_secs(60), |world| {
        while sent < TOTAL {
            let packet = vec![7; PACKET];
            match world
                .host_mut(A)
                .send(a, ChannelId(0), packet, Mode::Reliable)
            {
                Ok(()) => sent += PACKET,
                Err(error) => {
                    assert_eq!(error, SendError::Full, "{}", seed());
                    break;
                }
            }
        }
        while let Some(got) = world.host_mut(B).receive(b) {
            received += got.payload.len();
        }
        match received {
            TOTAL => ControlFlow::Break(world.now().saturating_duration_since(start)),
            _ => ControlFlow::Continue(()),
        }
    });

    // then
    let took = done.unwrap_or_else(|| panic!("{received} of {TOTAL}; {}", seed()));
    let rate = TOTAL as u128 * 1000 / took.as_millis();
    assert!(rate > 6_550_000, "{rate} B/s; {}", seed());
}
