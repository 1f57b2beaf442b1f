//! A stand-in for Godot's `SceneMultiplayer`, which uses a peer as that does, relays between clients as that does, and
//! checks what that takes for granted.

use alloc::collections::{BTreeMap, BTreeSet};

use porous_godot_core::{Error, Multiplayer, Net, Packet, SERVER, Signal, Status, TransferMode};
use porous_std::Bytes;

/// The first byte of a packet.
mod kind {
    /// A call: what the game says.
    pub(super) const CALL: u8 = 0;
    /// The server tells a client of another one.
    pub(super) const ADD: u8 = 1;
    /// The server tells a client that another one has left.
    pub(super) const REMOVE: u8 = 2;
    /// A call on its way from one client to another. The server puts the source in the place of the target.
    pub(super) const RELAY: u8 = 3;
}

/// What a game has heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) from: i32,
    pub(crate) channel: i32,
    pub(crate) mode: TransferMode,
    pub(crate) words: Vec<u8>,
}

/// What a game sees of one end: who is there, and what they say.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) peer: Multiplayer,
    /// Everybody whom the game may call, also through the server.
    pub(crate) connected: BTreeSet<i32>,
    /// Those of whom the peer has told, and who have not left.
    told: BTreeSet<i32>,
    /// Everybody who has ever left.
    pub(crate) left: Vec<i32>,
    pub(crate) heard: Vec<Call>,
    status: Status,
    /// Every change of the status.
    pub(crate) history: Vec<Status>,
    /// Called back while `peer_connected` is emitted: whom the scene then greets.
    pub(crate) greets: bool,
}

impl Scene {
    pub(crate) fn new(peer: Multiplayer) -> Self {
        let status = peer.status();
        assert_ne!(status, Status::Disconnected, "Godot refuses such a peer");
        Self {
            peer,
            connected: BTreeSet::new(),
            told: BTreeSet::new(),
            left: Vec::new(),
            heard: Vec::new(),
            status,
            history: vec![status],
            greets: false,
        }
    }

    /// What the engine does each frame.
    pub(crate) fn poll(&mut self, net: &mut impl Net) {
        self.look_at_status();
        if self.status == Status::Disconnected {
            return;
        }
        while let Some(signal) = self.peer.poll(net) {
            self.on_signal(net, signal);
        }
        self.look_at_status();
        if self.status != Status::Connected {
            assert_eq!(self.peer.available_packet_count(), 0);
            return;
        }
        while self.peer.available_packet_count() > 0 {
            let next = self.peer.next_packet().cloned();
            let packet = self.peer.get_packet();
            assert_eq!(next, packet);
            self.on_packet(net, &packet.expect("it was counted"));
        }
        assert_eq!(self.peer.get_packet(), None);
    }

    fn look_at_status(&mut self) {
        let status = self.peer.status();
        if status == self.status {
            return;
        }
        assert_ne!(status, Status::Connecting, "it was {:?}", self.status);
        self.status = status;
        self.history.push(status);
        if status == Status::Disconnected {
            assert!(self.told.is_empty(), "{:?} have not left", self.told);
            self.connected.clear();
        }
    }

    fn on_signal(&mut self, net: &mut impl Net, signal: Signal) {
        let own = self.peer.unique_id();
        match signal {
            Signal::PeerConnected(id) => {
                assert!(id >= 1 && id != own, "{id} at {own}");
                assert!(self.peer.is_server() || id == SERVER, "{id} at a client");
                assert_eq!(self.peer.status(), Status::Connected);
                assert!(self.told.insert(id), "{id} twice");
                if self.peer.is_server() {
                    self.introduce(net, id);
                }
                self.connected.insert(id);
                if self.greets {
                    self.call(net, id, (0, TransferMode::Reliable), b"welcome")
                        .expect("it is there");
                }
            }
            Signal::PeerDisconnected(id) => {
                assert!(self.told.remove(&id), "{id} was not there");
                self.forget(net, id);
            }
        }
    }

    /// Tells the newcomer of the others, and the others of the newcomer.
    fn introduce(&mut self, net: &mut impl Net, id: i32) {
        for other in self.connected.clone() {
            for (to, about) in [(other, id), (id, other)] {
                let told = self.put(net, to, (0, TransferMode::Reliable), kind::ADD, about, &[]);
                assert_eq!(told, Ok(()), "{to} is connected");
            }
        }
    }

    fn forget(&mut self, net: &mut impl Net, id: i32) {
        self.connected.remove(&id);
        self.left.push(id);
        if self.peer.is_server() {
            for other in self.connected.clone() {
                let how = (0, TransferMode::Reliable);
                self.put(net, other, how, kind::REMOVE, id, &[])
                    .expect("it is connected");
            }
        }
    }

    fn on_packet(&mut self, net: &mut impl Net, packet: &Packet) {
        assert!(
            self.told.contains(&packet.peer),
            "{} is a stranger",
            packet.peer
        );
        let (head, words) = packet.payload.split_first_chunk::<5>().expect("a head");
        let number = i32::from_be_bytes([head[1], head[2], head[3], head[4]]);
        match head[0] {
            kind::CALL => self.hear(packet, packet.peer, words),
            kind::ADD => assert!(self.connected.insert(number), "{number} twice"),
            kind::REMOVE => {
                assert!(self.connected.remove(&number), "{number} was not there");
                self.left.push(number);
            }
            kind::RELAY if self.peer.is_server() => self.relay(net, packet, number, words),
            kind::RELAY => self.hear(packet, number, words),
            other => panic!("kind {other}"),
        }
    }

    fn hear(&mut self, packet: &Packet, from: i32, words: &[u8]) {
        assert!(self.connected.contains(&from), "{from} is a stranger");
        self.heard.push(Call {
            from,
            channel: packet.channel,
            mode: packet.mode,
            words: words.to_vec(),
        });
    }

    /// Passes a call on: to all but its source, to one, or to all but one.
    fn relay(&mut self, net: &mut impl Net, packet: &Packet, target: i32, words: &[u8]) {
        let from = packet.peer;
        let how = (packet.channel, packet.mode);
        for to in self.connected.clone() {
            let is_meant = target == 0 || target == to || (target < 0 && to != -target);
            if to != from && is_meant {
                self.put(net, to, how, kind::RELAY, from, words)
                    .expect("it is connected");
            }
        }
        if target == 0 || (target < 0 && target != -SERVER) {
            self.hear(packet, from, words);
        }
    }

    /// Says something to one, to all (0), or to all but one (negative), as a game's call does.
    pub(crate) fn call(
        &mut self,
        net: &mut impl Net,
        to: i32,
        how: (i32, TransferMode),
        words: &[u8],
    ) -> Result<(), Error> {
        let relays = self.peer.is_server_relay_supported();
        if !self.peer.is_server() && to != SERVER && relays {
            return self.put(net, SERVER, how, kind::RELAY, to, words);
        }
        self.put(net, to, how, kind::CALL, 0, words)
    }

    fn put(
        &mut self,
        net: &mut impl Net,
        to: i32,
        (channel, mode): (i32, TransferMode),
        kind: u8,
        number: i32,
        words: &[u8],
    ) -> Result<(), Error> {
        self.peer.set_transfer_channel(channel);
        self.peer.set_transfer_mode(mode);
        self.peer.set_target_peer(to);
        let packet = [&[kind][..], &number.to_be_bytes(), words].concat();
        self.peer.put_packet(net, Bytes::from(packet))
    }

    /// What was heard on this channel with this mode, by the one that has said it.
    pub(crate) fn heard_by(&self, channel: i32, mode: TransferMode) -> BTreeMap<i32, Vec<Vec<u8>>> {
        let mut all: BTreeMap<i32, Vec<Vec<u8>>> = BTreeMap::new();
        let calls = self.heard.iter();
        for call in calls.filter(|call| call.channel == channel && call.mode == mode) {
            all.entry(call.from).or_default().push(call.words.clone());
        }
        all
    }
}
