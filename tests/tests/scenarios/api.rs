//! Every error of the public interface, and the one panic: when they come, and that they change nothing.

use core::panic::AssertUnwindSafe;
use core::time::Duration;
use std::panic::catch_unwind;

use porous_proto::{
    BadAddress, ChannelId, Config, ConfigError, ConnectError, Disconnect, Ecn, Host, Instant,
    Listen, ListenError, Mode, PeerId, PeerState, Priority, SendError, UnknownPeer,
};
use porous_sim::{ChaCha8Rng, Pair, Seed};
use porous_tests::{disconnect, events, flush, line, quiet_pair};

const A: u32 = Pair::A;
const B: u32 = Pair::B;
/// No test here depends on chance.
const SEED: Seed = Seed::new(1);
const NOW: Disconnect = Disconnect::Now { reason: 0 };

fn host(config: Config) -> Host<ChaCha8Rng, u32> {
    Host::new(config, SEED.stream("host", 0))
}

fn send(pair: &mut Pair, channel: u8, len: usize) -> Result<(), SendError> {
    pair.send(A, channel, Mode::Reliable, vec![0; len])
}

#[test]
fn a_peer_that_was_never_there_is_unknown() {
    let mut pair = quiet_pair(SEED, line());
    let real = pair.peer(A).to_u64();
    for number in [real + 1, real + (1 << 32), u64::MAX] {
        let stranger = PeerId::from_u64(number).unwrap();
        let host = pair.world.host_mut(A);
        let sent = host.send(stranger, ChannelId(0), vec![0], Mode::Reliable);
        assert_eq!(sent, Err(SendError::UnknownPeer), "{number:#x}");
        let told = host.disconnect(Instant::ZERO, stranger, NOW);
        assert_eq!(told, Err(UnknownPeer), "{number:#x}");
        assert_eq!(host.receive(stranger), None, "{number:#x}");
        assert!(host.peer(stranger).is_none(), "{number:#x}");
        assert_eq!(host.address(stranger), None, "{number:#x}");
    }
    assert_eq!(send(&mut pair, 0, 1), Ok(()), "the real one is untouched");
    assert_eq!(events(&mut pair.world, A), []);
}

#[test]
fn a_peer_that_has_ended_is_unknown_and_stays_so_when_another_takes_its_place() {
    let mut pair = quiet_pair(SEED, line());
    let old = pair.peer(A);
    disconnect(&mut pair, A, NOW);
    pair.world.run_for(Duration::from_secs(1));
    assert_eq!(send(&mut pair, 0, 1), Err(SendError::UnknownPeer));
    pair.world.run_for(Duration::from_secs(60));
    assert_eq!(send(&mut pair, 0, 1), Err(SendError::UnknownPeer));
    let again = pair.world.disconnect(A, old, NOW);
    assert_eq!(again, Err(UnknownPeer));
    events(&mut pair.world, A);
    events(&mut pair.world, B);
    pair.connect_to_listener();
    assert_ne!(pair.peer(A), old);
    let host = pair.world.host_mut(A);
    let sent = host.send(old, ChannelId(0), vec![0], Mode::Reliable);
    assert_eq!(sent, Err(SendError::UnknownPeer));
    assert_eq!(pair.world.disconnect(A, old, NOW), Err(UnknownPeer));
    assert_eq!(send(&mut pair, 0, 1), Ok(()));
}

#[test]
fn a_peer_that_is_connecting_or_disconnecting_takes_no_packets() {
    let mut pair = Pair::new(SEED, line(), Config::new(), Config::new());
    pair.world.host_mut(B).listen(Listen::Open).unwrap();
    let peer = pair.world.connect(A, B).unwrap();
    let try_send = |pair: &mut Pair| {
        let host = pair.world.host_mut(A);
        host.send(peer, ChannelId(0), vec![0; 5000], Mode::Reliable)
    };
    assert_eq!(try_send(&mut pair), Err(SendError::NotConnected));
    pair.world.run_for(Duration::from_millis(30));
    assert_eq!(try_send(&mut pair), Err(SendError::NotConnected));
    pair.world.run_for(Duration::from_millis(200));
    assert_eq!(try_send(&mut pair), Ok(()));
    pair.world.disconnect(A, peer, flush(0)).unwrap();
    let state = pair.world.host(A).peer(peer).map(|peer| peer.state());
    assert_eq!(state, Some(PeerState::Connected), "it flushes first");
    assert_eq!(try_send(&mut pair), Err(SendError::Disconnecting));
    pair.world.disconnect(A, peer, NOW).unwrap();
    let state = pair.world.host(A).peer(peer).map(|peer| peer.state());
    assert_eq!(state, Some(PeerState::Disconnecting));
    assert_eq!(try_send(&mut pair), Err(SendError::Disconnecting));
    assert_eq!(pair.world.disconnect(A, peer, NOW), Ok(()), "once more");
}

/// C18.
#[test]
fn a_channel_beyond_those_of_the_host_with_fewer_is_unknown() {
    let channels = |count| Config::new().channels(&vec![Priority::Low; count]).unwrap();
    for (ours, theirs) in [(5, 3), (3, 5), (255, 255)] {
        let mut pair = Pair::new(SEED, line(), channels(ours), channels(theirs));
        pair.connect_to_listener();
        let fewer = u8::try_from(ours.min(theirs)).unwrap();
        let peer = pair.world.host(A).peer(pair.peer(A)).unwrap();
        assert_eq!(peer.channels(), fewer);
        assert_eq!(send(&mut pair, fewer - 1, 1), Ok(()));
        assert_eq!(send(&mut pair, fewer, 1), Err(SendError::UnknownChannel));
        assert_eq!(send(&mut pair, 255, 1), Err(SendError::UnknownChannel));
    }
}

#[test]
fn a_packet_of_the_agreed_size_passes_and_a_byte_more_does_not() {
    let sizes = |max| Config::new().receive_budget(max, 100_000).unwrap();
    for (ours, theirs) in [(7000, 5000), (5000, 7000), (5000, 5000)] {
        let mut pair = Pair::new(SEED, line(), sizes(ours), sizes(theirs));
        pair.connect_to_listener();
        let peer = pair.world.host(A).peer(pair.peer(A)).unwrap();
        assert_eq!(peer.max_packet(), 5000);
        assert_eq!(send(&mut pair, 0, 5001), Err(SendError::TooLarge));
        let peer = pair.world.host(A).peer(pair.peer(A)).unwrap();
        assert_eq!(peer.queued_bytes(), 0, "it was not queued");
        assert_eq!(send(&mut pair, 0, 5000), Ok(()));
        pair.world.run_for(Duration::from_secs(1));
        assert_eq!(pair.receive_all(B)[0].payload.len(), 5000);
    }
}

#[test]
fn one_packet_always_fits_into_the_send_buffer() {
    let tiny = Config::new().send_budget(1).unwrap();
    let mut pair = Pair::new(SEED, line(), tiny, Config::new());
    pair.connect_to_listener();
    for _ in 0..3 {
        assert_eq!(send(&mut pair, 0, 10_000), Ok(()));
        assert_eq!(send(&mut pair, 0, 0), Err(SendError::Full));
        pair.world.run_for(Duration::from_secs(1));
        assert_eq!(pair.receive_all(B).len(), 1);
    }
}

#[test]
fn a_host_that_may_not_listen_may_stop_listening() {
    let nameless = Config::new().connection_id_len(0).unwrap();
    for config in [Config::client(), nameless] {
        let mut host = host(config);
        assert_eq!(host.listen(Listen::Open), Err(ListenError::NotAllowed));
        assert_eq!(host.listen(Listen::Closed), Ok(()));
    }
    let mut host = host(Config::new());
    assert_eq!(host.listen(Listen::Open), Ok(()));
}

#[test]
fn connection_ids_run_out_and_come_back() {
    let mut host = host(Config::new().connection_id_len(1).unwrap());
    let (mut peers, mut to) = (Vec::new(), 0);
    while peers.len() < 256 && to < 100_000 {
        to += 1;
        match host.connect(Instant::ZERO, to) {
            Ok(peer) => peers.push(peer),
            Err(error) => assert_eq!(error, ConnectError::OutOfConnectionIds),
        }
    }
    assert_eq!(peers.len(), 256, "ids of one byte");
    let out = host.connect(Instant::ZERO, 0);
    assert_eq!(out, Err(ConnectError::OutOfConnectionIds));
    for &peer in &peers[..128] {
        assert_eq!(host.disconnect(Instant::ZERO, peer, NOW), Ok(()));
    }
    assert!(host.connect(Instant::ZERO, 0).is_ok());
    let live = host.connect(Instant::ZERO, 0);
    assert_eq!(live, Err(ConnectError::AlreadyConnected));
}

#[test]
fn a_configuration_holds_valid_values_only() {
    let new = Config::new;
    let of = |result: Result<Config, ConfigError>| result.err();
    let many = [Priority::High; 256];
    for (result, expected) in [
        (new().channels(&many[..1]), None),
        (new().channels(&many[..255]), None),
        (new().channels(&[]), Some(ConfigError::Channels)),
        (new().channels(&many), Some(ConfigError::Channels)),
        (new().request_size(512), None),
        (new().request_size(1200), None),
        (new().request_size(511), Some(ConfigError::RequestSize)),
        (new().request_size(1201), Some(ConfigError::RequestSize)),
        (new().max_datagram(512), None),
        (new().max_datagram(65_507), None),
        (new().max_datagram(511), Some(ConfigError::MaxDatagram)),
        (new().max_datagram(65_508), Some(ConfigError::MaxDatagram)),
        (new().windows(16, 65_536), None),
        (new().windows(65_536, 16), None),
        (new().windows(8, 16), Some(ConfigError::Window)),
        (new().windows(16, 8), Some(ConfigError::Window)),
        (new().windows(131_072, 16), Some(ConfigError::Window)),
        (new().windows(16, 17), Some(ConfigError::Window)),
        (new().windows(0, 16), Some(ConfigError::Window)),
        (new().receive_budget(1, 65), None),
        (
            new().receive_budget(1, 64),
            Some(ConfigError::ReceiveBudget),
        ),
        (
            new().receive_budget(0, 64),
            Some(ConfigError::Zero("max_packet")),
        ),
        (
            new().receive_budget(u32::MAX, u32::MAX - 1),
            Some(ConfigError::ReceiveBudget),
        ),
        (new().connection_id_len(0), None),
        (new().connection_id_len(20), None),
        (
            new().connection_id_len(21),
            Some(ConfigError::ConnectionIdLen),
        ),
        (new().reply_limits(1, 1), None),
        (new().reply_limits(1_000_000, 1_000_000), None),
        (new().reply_limits(0, 1), Some(ConfigError::ReplyLimit)),
        (new().reply_limits(1, 0), Some(ConfigError::ReplyLimit)),
        (
            new().reply_limits(1_000_001, 1),
            Some(ConfigError::ReplyLimit),
        ),
        (
            new().reply_limits(1, 1_000_001),
            Some(ConfigError::ReplyLimit),
        ),
        (new().bandwidth(1, 1), None),
        (
            new().bandwidth(0, 1),
            Some(ConfigError::Zero("bandwidth: send")),
        ),
        (
            new().bandwidth(1, 0),
            Some(ConfigError::Zero("bandwidth: receive")),
        ),
    ] {
        let shown = format!("{result:?}, not {expected:?}");
        assert_eq!(of(result), expected, "{shown}");
    }
}

/// Every host would refuse an offer with such a packet.
#[test]
fn no_packet_is_so_long_that_no_budget_could_hold_it() {
    for (packet, expected) in [
        (u32::MAX - 64, None),
        (u32::MAX - 63, Some(ConfigError::ReceiveBudget)),
        (u32::MAX, Some(ConfigError::ReceiveBudget)),
    ] {
        let config = Config::new().receive_budget(packet, u32::MAX);
        assert_eq!(config.err(), expected, "{packet}");
    }
}

#[test]
fn every_error_says_something_of_its_own() {
    let all: [&dyn core::error::Error; 20] = [
        &SendError::UnknownPeer,
        &SendError::NotConnected,
        &SendError::Disconnecting,
        &SendError::UnknownChannel,
        &SendError::TooLarge,
        &SendError::Full,
        &ConnectError::AlreadyConnected,
        &ConnectError::OutOfConnectionIds,
        &ConnectError::BadAddress(BadAddress::Family),
        &ConnectError::BadAddress(BadAddress::PortZero),
        &ConnectError::BadAddress(BadAddress::Unspecified),
        &ConnectError::BadAddress(BadAddress::Broadcast),
        &ConnectError::BadAddress(BadAddress::Itself),
        &ListenError::NotAllowed,
        &ConfigError::Channels,
        &ConfigError::MaxDatagram,
        &ConfigError::Window,
        &ConfigError::ReceiveBudget,
        &ConfigError::ConnectionIdLen,
        &ConfigError::Zero("timeout"),
    ];
    let mut texts: Vec<String> = all.iter().map(|error| error.to_string()).collect();
    assert_eq!(UnknownPeer.to_string(), SendError::UnknownPeer.to_string());
    assert!(texts.iter().all(|text| text.len() > 20), "{texts:?}");
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), 20, "{texts:?}");
}

#[test]
#[should_panic(expected = "the buffer is too short")]
fn a_buffer_that_is_too_short_panics() {
    host(Config::new()).poll_transmit(Instant::ZERO, &mut [0; 1199]);
}

#[test]
fn a_buffer_that_is_too_short_panics_before_anything_changes() {
    let mut host = host(Config::client().max_datagram(1400).unwrap());
    assert_eq!(host.max_datagram_size(), 1400);
    host.connect(Instant::ZERO, 7).unwrap();
    let mut short = [0; 1399];
    let poll = || host.poll_transmit(Instant::ZERO, &mut short).is_some();
    assert!(catch_unwind(AssertUnwindSafe(poll)).is_err());
    assert_eq!(short, [0; 1399]);
    let mut buf = [0; 1400];
    let transmit = host.poll_transmit(Instant::ZERO, &mut buf).unwrap();
    assert_eq!((transmit.to, transmit.ecn), (7, Ecn::NotEct));
    assert!(host.poll_transmit(Instant::ZERO, &mut buf).is_none());
}

#[test]
fn errors_cost_nothing_that_is_sent() {
    let run = |misuse: bool| {
        let mut pair = Pair::new(Seed::new(9), line(), Config::client(), Config::new());
        pair.connect_to_listener();
        for n in 0..50 {
            if misuse {
                let (a, stranger) = (pair.peer(A), PeerId::from_u64(u64::MAX).unwrap());
                let now = pair.world.now();
                let host = pair.world.host_mut(A);
                assert!(host.listen(Listen::Open).is_err());
                assert!(host.connect(now, B).is_err());
                assert!(host.disconnect(now, stranger, NOW).is_err());
                for (peer, channel, len) in [(stranger, 0, 1), (a, 9, 1), (a, 0, 2 << 20)] {
                    let sent = host.send(peer, ChannelId(channel), vec![0; len], Mode::Reliable);
                    assert!(sent.is_err());
                }
            }
            send(&mut pair, 0, 100 * n).unwrap();
            pair.world.run_for(Duration::from_millis(16));
        }
        pair.world.trace().digest()
    };
    assert_eq!(run(false), run(true), "{}", Seed::new(9));
}
