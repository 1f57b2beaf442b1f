//! The figures of the paper that can be seen from outside, as scenarios. Between A and B a
//! datagram takes 20 ms.

use alloc::rc::Rc;
use core::cell::Cell;
use core::time::Duration;
use porous_proto::{ChannelId, Disconnect, DisconnectReason, Instant, Mode, PeerState, PeerStats};
use porous_sim::{Intercept, LinkConfig, Pair, Passing, Seed, World};
use porous_tests::{
    Kind, Tape, assert_talk, config, ended, events, kind, one_connection, record, record_while,
    state,
};

const A: u32 = Pair::A;
const B: u32 = Pair::B;

const fn millis(millis: u64) -> Instant {
    Instant::from_micros(millis * 1000)
}

fn pair() -> Pair {
    let seed = Seed::from_env(Seed::new(1));
    let line = LinkConfig::new().delay(Duration::from_millis(20));
    Pair::new(seed, line, config::new(), config::new())
}

/// Both connect to each other while `hook` decides about datagrams. Returns the datagrams that were sent,
/// and when each host became connected.
fn both_connect(
    world: &mut World,
    hook: impl FnMut(&Passing<'_, u32>) -> Intercept + 'static,
) -> (Tape, [Instant; 2]) {
    let seed = world.seed();
    let tape = record_while(world, hook);
    let peers = [
        (A, world.connect(A, B).expect("there is no peer yet")),
        (B, world.connect(B, A).expect("there is no peer yet")),
    ];
    let mut since = [None; 2];
    while since.contains(&None) && world.now() < millis(5000) {
        assert!(world.step().is_some(), "{seed}");
        for ((address, peer), since) in peers.iter().zip(&mut since) {
            match state(world, *address, *peer) {
                Some(PeerState::Connecting) => assert_eq!(*since, None, "{seed}"),
                Some(PeerState::Connected) => *since = since.or(Some(world.now())),
                other => panic!("{address} is {other:?}; replay with {seed}"),
            }
        }
    }
    let since = since.map(|since| since.unwrap_or_else(|| panic!("not connected; {seed}")));
    (tape, since)
}

/// Drops the first datagram of this kind from this host, and counts the drops in `dropped`.
fn drop_first(
    from: u32,
    what: Kind,
    dropped: &Rc<Cell<u32>>,
) -> impl FnMut(&Passing<'_, u32>) -> Intercept + use<> {
    let dropped = Rc::clone(dropped);
    move |passing| {
        if passing.from == from && kind(passing.datagram) == what && dropped.get() == 0 {
            dropped.set(1);
            return Intercept::Drop;
        }
        Intercept::Pass
    }
}

#[test]
fn figure_02_a_lost_acknowledgement_is_repeated() {
    let mut world = pair().world;
    let seed = world.seed();
    let dropped = Rc::new(Cell::new(0));
    let mut first = drop_first(A, Kind::Acknowledge, &dropped);
    // A is connected before B, and its first datagram of the connection would say so, in place of the
    // acknowledgement. In the figure A has nothing to send.
    let (tape, [a, b]) = both_connect(&mut world, move |passing| {
        if passing.from == A && kind(passing.datagram) == Kind::Short {
            return Intercept::Drop;
        }
        first(passing)
    });
    assert_eq!(dropped.get(), 1, "{seed}");
    assert_eq!(a, millis(40), "{seed}");
    // B asked again, and A, which was connected, acknowledged again: B was waiting for that.
    let acks = tape.of(A, Kind::Acknowledge);
    let again = tape.of(B, Kind::Request)[1].at;
    assert!(again > acks[0].at, "{seed}");
    assert_eq!(
        acks[1].at,
        (again + Duration::from_millis(20)).max(a),
        "{seed}"
    );
    assert_eq!(b, acks[1].at + Duration::from_millis(20), "{seed}");
    world.stop_intercepting();
    let ends = one_connection(&mut world, "figure 2 (a)");
    assert_talk(&mut world, ends, "figure 2 (a)");
}

/// C9.
#[test]
fn figure_02_a_the_first_datagram_stands_for_a_lost_acknowledgement() {
    let mut world = pair().world;
    let seed = world.seed();
    let dropped = Rc::new(Cell::new(0));
    let hook = drop_first(A, Kind::Acknowledge, &dropped);
    let (tape, [a, b]) = both_connect(&mut world, hook);
    assert_eq!(dropped.get(), 1, "{seed}");
    assert_eq!((a, b), (millis(40), millis(60)), "{seed}");
    assert_eq!(tape.of(A, Kind::Short)[0].at, a, "{seed}");
    let ends = one_connection(&mut world, "figure 2 (a)");
    assert_talk(&mut world, ends, "figure 2 (a)");
}

#[test]
fn figure_02_b_acknowledgement_before_request() {
    let mut world = pair().world;
    let seed = world.seed();
    let dropped = Rc::new(Cell::new(0));
    let hook = drop_first(B, Kind::Request, &dropped);
    let (tape, [a, b]) = both_connect(&mut world, hook);
    assert_eq!(dropped.get(), 1, "{seed}");
    let first = |from, what, nth: usize| tape.of(from, what)[nth].at;
    // A's request arrived and was acknowledged; A knows this and waits for B's request.
    assert_eq!(first(B, Kind::Acknowledge, 0), millis(20), "{seed}");
    let again = first(B, Kind::Request, 1);
    assert!(again > millis(20), "{seed}");
    assert_eq!(a, again + Duration::from_millis(20), "{seed}");
    assert_eq!(first(A, Kind::Acknowledge, 0), a, "{seed}");
    assert_eq!(b, a + Duration::from_millis(20), "{seed}");
    let ends = one_connection(&mut world, "figure 2 (b)");
    assert_talk(&mut world, ends, "figure 2 (b)");
}

#[test]
fn figure_03_disconnection_survives_a_lost_acknowledgement() {
    let mut pair = pair();
    pair.connect_both();
    let (a, b) = (pair.peer(A), pair.peer(B));
    let mut world = pair.world;
    let seed = world.seed();
    let start = world.now();
    let dropped = Rc::new(Cell::new(0));
    let tape = record_while(&mut world, drop_first(B, Kind::DisconnectAck, &dropped));
    let bye = Disconnect::Now { reason: 3 };
    assert_eq!(world.disconnect(A, a, bye), Ok(()), "{seed}");
    assert_eq!(
        state(&world, A, a),
        Some(PeerState::Disconnecting),
        "{seed}"
    );
    assert_eq!(state(&world, B, b), Some(PeerState::Connected), "{seed}");

    // The request arrives, the acknowledgement does not.
    world.run_until(start + Duration::from_millis(60));
    assert_eq!(dropped.get(), 1, "{seed}");
    assert_eq!(
        state(&world, A, a),
        Some(PeerState::Disconnecting),
        "{seed}"
    );
    assert_eq!(state(&world, B, b), Some(PeerState::Disconnected), "{seed}");
    assert_eq!(tape.of(A, Kind::Disconnect).len(), 1, "{seed}");

    // A asks again, and B acknowledges again.
    world.run_for(Duration::from_secs(1));
    assert_eq!(tape.of(A, Kind::Disconnect).len(), 2, "{seed}");
    assert_eq!(tape.of(B, Kind::DisconnectAck).len(), 2, "{seed}");
    for (address, peer, why) in [
        (A, a, DisconnectReason::ByUs(3)),
        (B, b, DisconnectReason::ByPeer(3)),
    ] {
        assert_eq!(
            state(&world, address, peer),
            Some(PeerState::Disconnected),
            "{seed}"
        );
        let told = events(&mut world, address);
        assert_eq!(ended(&told), [(peer, why, 0)], "{seed}");
    }
}

fn stats(pair: &Pair, address: u32) -> PeerStats {
    let peer = pair.world.host(address).peer(pair.peer(address));
    peer.expect("it is connected").stats()
}

/// The path of Figure 4: a packet becomes a message of its type in a frame, and a packet again.
fn one_packet_through_every_layer(pair: &mut Pair, from: u32, mode: Mode, message_type: u8) {
    let packet = b"a packet of its mode";
    let context = format!("{mode:?} from {from}; {}", pair.world.seed());
    let tape = record(&mut pair.world);
    // User packets go into a channel object ...
    let sent = pair.send(from, 0, mode, packet.to_vec());
    assert_eq!(sent, Ok(()), "{context}");
    let queued = stats(pair, from).queued_bytes as usize;
    assert!(queued >= packet.len(), "{context}");
    // ... which makes messages, which the transfer layer puts into a UDP frame ...
    pair.world.flush(from);
    let flight = stats(pair, from).flight as usize;
    assert!(flight > packet.len(), "{context}");
    let frames = tape.of(from, Kind::Short);
    assert_eq!(frames.len(), 1, "{context}");
    let frame = &frames[0].datagram;
    let (frame, _check) = frame.split_last_chunk::<4>().expect("a check");
    let head = frame.len() - packet.len();
    assert_eq!(&frame[head..], packet, "{context}");
    // Head (LL = 0, S set) and two bytes of packet id; a dependency may follow.
    let shapes = [(head - 3, 0x08), (head - 4, 0x0C)];
    let shape = |&(at, flags): &(usize, u8)| frame[at] == message_type << 5 | flags;
    assert!(shapes.iter().any(shape), "{frame:02x?}; {context}");
    // ... and all the way up on the other side.
    pair.world.run_for(Duration::from_millis(20));
    let got = pair.receive_all(Pair::other(from));
    assert_eq!(got.len(), 1, "{context}");
    let got = (got[0].channel, got[0].mode, &got[0].payload[..]);
    assert_eq!(got, (ChannelId(0), mode, &packet[..]), "{context}");
    // The acknowledgement comes back, and nothing is left.
    pair.world.run_for(Duration::from_millis(500));
    let after = stats(pair, from);
    assert_eq!((after.flight, after.queued_bytes), (0, 0), "{context}");
}

/// Q11.
#[test]
fn figure_04_one_packet_of_each_mode_through_every_layer_both_ways() {
    let mut pair = pair();
    pair.connect_both();
    pair.world.run_for(Duration::from_secs(1));
    let seed = pair.world.seed();
    for from in [A, B] {
        let to = Pair::other(from);
        let (before, before_there) = (stats(&pair, from), stats(&pair, to));
        for (mode, message_type) in [
            (Mode::Unreliable, 0),
            (Mode::Reliable, 1),
            (Mode::Passive, 2),
        ] {
            one_packet_through_every_layer(&mut pair, from, mode, message_type);
        }
        let (after, there) = (stats(&pair, from), stats(&pair, to));
        for (counts, before) in [
            (after.packets_sent, before.packets_sent),
            (there.packets_received, before_there.packets_received),
        ] {
            assert_eq!(before.total(), 0, "{seed}");
            let each = (counts.unreliable, counts.reliable, counts.passive);
            assert_eq!(each, (1, 1, 1), "{seed}");
        }
        assert!(after.frames_sent >= before.frames_sent + 3, "{seed}");
        assert_eq!(after.frames_lost, 0, "{seed}");
    }
}
