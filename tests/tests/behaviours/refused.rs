//! What a host refuses, and that nothing of it stays. Between the hosts a datagram takes 20 ms.

use core::time::Duration;

use porous_proto::{Integrity, Mode, SendError};
use porous_sim::Pair;
use porous_tests::{Kind, config, ended, events, line, record_while, seed};

use crate::{A, B, MODES, MS, stats};

/// 32: the largest allowed packet is delivered; one that is a byte longer is refused by name, and nothing
/// of it is sent.
#[test]
fn the_largest_packet_passes_and_a_byte_more_is_refused() {
    const LARGEST: usize = 1 << 20;
    // given: the default limits
    let mut pair = Pair::new(seed(), line(), config::client(), config::new());
    // The socket buffer of B holds everything that is sent in a round trip.
    pair.world.set_socket_buffer(B, usize::MAX);
    pair.connect_to_listener();
    let packet: Vec<u8> = (0..LARGEST).map(|n| (n * 7).to_le_bytes()[1]).collect();
    for mode in MODES {
        // when: a packet is one byte too long / then: nothing is queued, nothing is sent
        let before = stats(&pair, A);
        let refused = pair.send(A, 0, mode, vec![0; LARGEST + 1]);
        assert_eq!(refused, Err(SendError::TooLarge), "{mode:?}");
        pair.world.flush(A);
        assert_eq!(stats(&pair, A), before, "{mode:?}");

        // when: one of the largest size / then: it arrives
        assert_eq!(pair.send(A, 0, mode, packet.clone()), Ok(()), "{mode:?}");
        pair.world.run_for(Duration::from_secs(10));
        let got = pair.receive_all(B);
        assert!(got.len() == 1 && got[0].payload == packet, "{mode:?}");
    }
}

/// 58: a datagram that was cut off at any byte has no effect at all, not even by its whole messages. No
/// peer is disconnected for it: another than the remote host may have cut the datagram off.
#[test]
fn a_datagram_that_is_cut_off_leaves_nothing_behind() {
    // given: a datagram with packets on two channels, and nothing else under way
    let server = config::new().channels(&[porous_proto::Priority::Low; 2]);
    let server = server.unwrap_or_else(|error| panic!("{error}"));
    let server = server.integrity(Integrity::Crc32c);
    let mut pair = Pair::new(seed(), line(), server.clone(), server);
    pair.connect_to_listener();
    pair.world.run_for(Duration::from_secs(5));
    let tape = record_while(&mut pair.world, |_| porous_sim::Intercept::Drop);
    for channel in [0, 1, 1] {
        let sent = pair.send(A, channel, Mode::Reliable, vec![channel; 40]);
        assert_eq!(sent, Ok(()));
    }
    pair.world.flush(A);
    let sent = tape.of(A, Kind::Short);
    let whole = sent.first().map(|taped| taped.datagram.clone());
    let whole = whole.unwrap_or_else(|| panic!("nothing was sent; {}", seed()));
    pair.world.stop_intercepting();
    let before = (stats(&pair, B), pair.world.host(B).stats().ignored_total());

    // when: every shorter datagram comes
    for len in 0..whole.len() {
        pair.world.inject(A, B, whole[..len].to_vec());
    }
    pair.world.run_for(20 * MS);

    // then: all of them were counted, and nothing else has changed
    let ignored = pair.world.host(B).stats().ignored_total();
    assert_eq!(ignored, before.1 + whole.len() as u64, "{}", seed());
    assert_eq!(
        stats(&pair, B).datagrams_received,
        before.0.datagrams_received
    );
    assert_eq!(pair.receive_all(B), [], "{}", seed());
    assert_eq!(events(&mut pair.world, B), [], "{}", seed());

    // ... and the whole one is taken
    pair.world.inject(A, B, whole);
    pair.world.run_for(20 * MS);
    let got: Vec<u8> = pair
        .receive_all(B)
        .iter()
        .map(|got| got.channel.0)
        .collect();
    assert_eq!(got.len(), 3, "{got:?}; {}", seed());
    assert_eq!(ended(&events(&mut pair.world, B)), [], "{}", seed());
}
