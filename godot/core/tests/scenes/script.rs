//! A host whose events and packets are written down, for what a network seldom does.

use alloc::collections::VecDeque;

use porous_godot_core::{Error, Multiplayer, Net, Signal, Status};
use porous_std::{
    Bytes, ChannelId, Disconnect, DisconnectReason, Event, Listen, Mode, Outcome, Peer, PeerId,
    Received, SendError, SendOptions,
};

/// What the host tells, and what it was told.
#[derive(Default)]
struct Script {
    events: VecDeque<Event<u32>>,
    packets: VecDeque<Received>,
    sent: Vec<Bytes>,
    disconnected: Vec<Disconnect>,
}

impl Net for Script {
    type Address = u32;

    fn poll_event(&mut self) -> Option<Event<u32>> {
        self.events.pop_front()
    }

    fn receive(&mut self, _: PeerId) -> Option<Received> {
        self.packets.pop_front()
    }

    fn send(
        &mut self,
        _: PeerId,
        _: ChannelId,
        packet: Bytes,
        _: SendOptions,
    ) -> Result<(), SendError> {
        self.sent.push(packet);
        Ok(())
    }

    fn disconnect(&mut self, _: PeerId, how: Disconnect) {
        self.disconnected.push(how);
    }

    fn listen(&mut self, _: Listen) {}

    fn peer(&self, _: PeerId) -> Option<&Peer> {
        None
    }

    fn random(&mut self) -> u32 {
        5
    }
}

/// The id that comes from these 32 bits.
const ID: i32 = 7;

fn peer() -> PeerId {
    PeerId::from_u64(1 << 32).expect("a name")
}

fn connected() -> Event<u32> {
    let (peer, address) = (peer(), 9);
    Event::Connected { peer, address }
}

fn readable() -> Event<u32> {
    Event::Readable { peer: peer() }
}

fn delivered() -> Event<u32> {
    Event::Receipt {
        peer: peer(),
        token: 1,
        outcome: Outcome::Delivered,
    }
}

fn gone() -> Event<u32> {
    Event::Disconnected {
        peer: peer(),
        reason: DisconnectReason::Silent,
        undelivered: 0,
    }
}

fn packet(channel: u8, payload: &'static [u8]) -> Received {
    Received {
        channel: ChannelId(channel),
        mode: Mode::Reliable,
        payload: Bytes::from_static(payload),
    }
}

/// A server with these events, and packets on Godot's first reliable channel.
fn server(events: &[Event<u32>], packets: &[&'static [u8]]) -> (Multiplayer, Script) {
    let script = Script {
        events: events.iter().copied().collect(),
        packets: packets.iter().map(|bytes| packet(3, bytes)).collect(),
        ..Script::default()
    };
    (Multiplayer::server(), script)
}

fn signals(multiplayer: &mut Multiplayer, net: &mut Script) -> Vec<Signal> {
    core::iter::from_fn(|| multiplayer.poll(net)).collect()
}

const COMES: Signal = Signal::PeerConnected(ID);
const LEAVES: Signal = Signal::PeerDisconnected(ID);

#[test]
fn a_client_is_announced_once_by_its_receipt_or_by_its_first_packet() {
    for (events, expected) in [
        (&[connected()][..], &[][..]),
        (&[connected(), delivered()], &[COMES]),
        (&[connected(), readable()], &[COMES]),
        (&[connected(), readable(), delivered()], &[COMES]),
        (&[connected(), delivered(), delivered()], &[COMES]),
        // It has never been there.
        (&[connected(), gone()], &[]),
        (&[delivered(), readable(), gone()], &[]),
    ] {
        let (mut multiplayer, mut net) = server(events, &[]);
        let signals = signals(&mut multiplayer, &mut net);
        assert_eq!(signals, expected, "{events:?}");
        let greeting = [1, 0, 0, 0, 7];
        let is_greeted = net.sent == [&greeting[..]];
        assert_eq!(is_greeted, events[0] == connected());
    }
}

#[test]
fn the_end_of_a_peer_waits_for_its_last_packet() {
    let events = [connected(), readable(), gone()];
    let (mut multiplayer, mut net) = server(&events, &[b"last", b"words"]);
    assert_eq!(signals(&mut multiplayer, &mut net), [COMES]);
    assert_eq!(multiplayer.available_packet_count(), 2);
    // Nobody can be told anything any more, and to try is no error.
    multiplayer.set_target_peer(ID);
    let told = multiplayer.put_packet(&mut net, "too late".into());
    assert_eq!((told, net.sent.len()), (Ok(()), 1));

    assert_eq!(multiplayer.get_packet().expect("it waits").payload, "last");
    assert_eq!(signals(&mut multiplayer, &mut net), []);
    assert_eq!(multiplayer.get_packet().expect("it waits").peer, ID);
    assert_eq!(signals(&mut multiplayer, &mut net), [LEAVES]);
    let told = multiplayer.put_packet(&mut net, "too late".into());
    assert_eq!(told, Err(Error::UnknownPeer));
}

#[test]
fn a_peer_that_was_disconnected_is_not_heard_any_more() {
    for force in [false, true] {
        let (mut multiplayer, mut net) = server(&[connected(), readable()], &[b"a", b"b"]);
        assert_eq!(signals(&mut multiplayer, &mut net), [COMES]);
        net.packets.push_back(packet(3, b"c"));
        multiplayer
            .disconnect_peer(&mut net, ID, force)
            .expect("it is there");
        assert_eq!(multiplayer.available_packet_count(), 0);
        net.packets.push_back(packet(3, b"d"));
        net.events.extend([readable(), gone()]);
        let expected = if force { &[][..] } else { &[LEAVES] };
        assert_eq!(signals(&mut multiplayer, &mut net), expected);
        assert_eq!(multiplayer.available_packet_count(), 0);
        assert_eq!(net.disconnected.len(), 1);
    }
}

#[test]
fn packets_that_are_given_before_the_id_wait_for_it() {
    let mut multiplayer = Multiplayer::client(peer());
    let mut net = Script::default();
    net.events.extend([connected(), readable()]);
    net.packets.push_back(packet(3, b"early"));
    net.packets.push_back(packet(0, &[1, 0, 0, 0, 7]));
    net.packets.push_back(packet(3, b"late"));
    let expected = [Signal::PeerConnected(1)];
    assert_eq!(signals(&mut multiplayer, &mut net), expected);
    assert_eq!(multiplayer.unique_id(), ID);
    for word in ["early", "late"] {
        assert_eq!(multiplayer.get_packet().expect("it waits").payload, word);
    }
    net.events.push_back(gone());
    let expected = [Signal::PeerDisconnected(1)];
    assert_eq!(signals(&mut multiplayer, &mut net), expected);
    assert_eq!(multiplayer.status(), Status::Disconnected);
}
