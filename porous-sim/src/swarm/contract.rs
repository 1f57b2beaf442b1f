//! What hosts owe their applications, whatever the network does: the order of events, and by
//! connection what [`Model`] says of packets.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use core::time::Duration;

use porous_proto::{DisconnectReason, Event, Mode, Outcome, PeerId, Received, SendOptions};

use crate::{Model, SimAddress};

/// Packets of at least this many bytes begin with their number, which tells sender and receiver.
/// Shorter ones are sent once others have told which peers of two hosts are the ends of one connection.
pub(super) const NAMED: usize = 4;

/// A peer as its application knows it.
#[derive(Debug)]
pub struct Life {
    /// True while the peer waits to be let in: `Request` was told.
    pub asking: bool,
    /// True once `Connected` was told.
    pub connected: bool,
    /// Set once `Disconnected` was told: the reason, and the number of undelivered packets.
    pub ended: Option<(DisconnectReason, u32)>,
    /// True if `Readable` was told, and the peer was not read empty since.
    pub readable: bool,
    /// True if `send` failed with `Full`, and `Writable` was not told since.
    pub full: bool,
    /// The packets sent to the peer, and those of them that were delivered.
    pub sent: Model,
    /// True if packets to and from the peer are held against the model.
    pub judged: bool,
    /// The outcomes of packets with a receipt, by their tokens.
    pub receipts: BTreeMap<u64, Option<Outcome>>,
    /// Packets with a receipt whose number is the token, with their options: true once they were delivered.
    pub delivered: BTreeMap<u64, (Wishes, bool)>,
    /// The packets that have to show that the connection works and have not come, by their numbers, with their modes.
    /// Once one has come, the others of its mode are no longer here.
    pub probes: BTreeMap<u64, Mode>,
    /// The side and the peer at the other end of this connection, once a packet has told.
    pub other: Option<(usize, PeerId)>,
    /// The greeting to the peer, with the request to connect.
    pub greets: Vec<u8>,
    /// The peer's own greeting, once it is known.
    pub greeted: Option<Vec<u8>>,
}

/// The options of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Wishes {
    /// Its mode.
    pub mode: Mode,
    /// Its time to live, if it has one.
    pub ttl: Option<Duration>,
    /// The token of its receipt, if it has one.
    pub receipt: Option<u64>,
    /// True if the packet may be cancelled.
    pub fickle: bool,
    /// Its key, if it has one.
    pub key: Option<u64>,
}

impl Wishes {
    /// The options as the host takes them.
    #[doc(hidden)]
    #[must_use]
    pub fn options(&self) -> SendOptions {
        let options = SendOptions::new(self.mode);
        let options = self.ttl.map_or(options, |ttl| options.ttl(ttl));
        let options = self.key.map_or(options, |key| options.key(key));
        self.receipt.map_or(options, |token| options.receipt(token))
    }

    /// True if the packet may be given up, even if it is reliable.
    #[doc(hidden)]
    #[must_use]
    pub fn may_end(&self) -> bool {
        self.ttl.is_some() || self.fickle
    }
}

impl From<Mode> for Wishes {
    fn from(mode: Mode) -> Self {
        Self {
            mode,
            ttl: None,
            receipt: None,
            fickle: false,
            key: None,
        }
    }
}

/// What happened at all sides. A side is a host from its start to its end: a host that was killed and
/// started again is another side.
#[derive(Debug)]
pub struct Contract {
    /// All peers of each side.
    pub peers: Vec<BTreeMap<PeerId, Life>>,
    /// The side that sent each packet, and its peer that the packet went to, by the packet's number.
    named: Vec<(usize, PeerId)>,
    /// The sides and channels that are read without an order.
    unordered: BTreeSet<(usize, u8)>,
    /// The number of channels of all connections, or a larger one.
    channels: u8,
}

impl Contract {
    /// A contract with this number of sides.
    #[doc(hidden)]
    #[must_use]
    pub fn new(sides: usize) -> Self {
        let mut contract = Self {
            peers: Vec::new(),
            named: Vec::new(),
            unordered: BTreeSet::new(),
            channels: 255,
        };
        contract.peers.resize_with(sides, BTreeMap::new);
        contract
    }

    /// A contract without sides, between hosts that have this number of channels.
    pub(crate) fn with_channels(channels: u8) -> Self {
        Self {
            channels,
            ..Self::new(0)
        }
    }

    /// Adds a side. Returns its number.
    #[doc(hidden)]
    pub fn add_side(&mut self) -> usize {
        self.peers.push(BTreeMap::new());
        self.peers.len() - 1
    }

    /// A side reads this channel without an order.
    #[doc(hidden)]
    pub fn has_no_order(&mut self, side: usize, channel: u8) {
        self.unordered.insert((side, channel));
    }

    /// The application has named a peer, or has heard of it.
    #[doc(hidden)]
    pub fn begin(&mut self, side: usize, peer: PeerId, connected: bool) -> &mut Life {
        let channels = self.channels;
        let life = self.peers[side].entry(peer).or_insert_with(|| Life {
            asking: false,
            connected: false,
            ended: None,
            readable: false,
            full: false,
            sent: Model::new(channels),
            judged: true,
            receipts: BTreeMap::new(),
            delivered: BTreeMap::new(),
            probes: BTreeMap::new(),
            other: None,
            greets: Vec::new(),
            greeted: None,
        });
        assert!(
            !(life.connected && connected) && life.ended.is_none(),
            "connected twice or late"
        );
        life.connected |= connected;
        life.asking &= !connected;
        life
    }

    /// Takes an event: at most one `Request`, at most one `Connected`, then exactly one `Disconnected`,
    /// and nothing after it.
    #[doc(hidden)]
    pub fn told<A: SimAddress>(&mut self, side: usize, event: Event<A>) {
        let (Event::Request { peer, .. }
        | Event::Connected { peer, .. }
        | Event::Readable { peer }
        | Event::Writable { peer }
        | Event::Receipt { peer, .. }
        | Event::PeerMoved { peer, .. }
        | Event::PathNarrowed { peer, .. }
        | Event::Disconnected { peer, .. }) = event
        else {
            unreachable!("another event: {event:?}");
        };
        if matches!(event, Event::Connected { .. }) {
            self.begin(side, peer, true);
            return;
        }
        if matches!(event, Event::Request { .. }) {
            assert!(!self.peers[side].contains_key(&peer), "{event:?} is late");
            self.begin(side, peer, false).asking = true;
            return;
        }
        let life = self.peers[side]
            .get_mut(&peer)
            .expect("a peer that was told");
        assert_eq!(life.ended, None, "{event:?} after the end");
        if let Event::Disconnected {
            reason,
            undelivered,
            ..
        } = event
        {
            assert_ne!(reason, DisconnectReason::InternalError, "a bug was caught");
            let open = life.receipts.iter().find(|(_, told)| told.is_none());
            assert_eq!(open, None, "a receipt is missing at the end");
            life.ended = Some((reason, undelivered));
            return;
        }
        if let Event::Receipt { token, outcome, .. } = event {
            // The sender's word may be followed by the receiver's, but only if that is another one.
            let told = life.receipts.get_mut(&token);
            let before = told.expect("it was sent").replace(outcome);
            assert_ne!(before, Some(outcome), "{event:?} twice");
            return;
        }
        assert!(life.connected, "{event:?} before `Connected`");
        if let Event::PeerMoved { .. } | Event::PathNarrowed { .. } = event {
            return;
        }
        // Both are told once, until the application has acted on them.
        let readable = matches!(event, Event::Readable { .. });
        let before = if readable { life.readable } else { !life.full };
        assert!(!before, "{event:?} twice");
        if readable {
            life.readable = true;
        } else {
            life.full = false;
        }
    }

    /// Checks the last outcome of each receipt, where both ends live and nothing is under way. `made_room`
    /// is true if the receiver has thrown packets out of its receive budget.
    pub(super) fn check_receipts(
        &self,
        (side, peer): (usize, PeerId),
        made_room: bool,
    ) -> Result<(), String> {
        let life = &self.peers[side][&peer];
        let other = life
            .other
            .and_then(|(side, peer)| self.peers[side].get(&peer));
        if !life.judged || other.is_none_or(|other| !other.judged) {
            return Ok(());
        }
        for (token, &(wishes, delivered)) in &life.delivered {
            let told = life.receipts[token];
            // What has made room is told of when a later packet of its channel is received. Only unreliable packets do.
            let excused = made_room && !delivered && wishes.mode == Mode::Unreliable;
            if (told == Some(Outcome::Delivered)) != delivered && !excused {
                return Err(format!("{token} is {told:?}, delivered: {delivered}"));
            }
            // A reliable packet that was not called back ends by a newer one with its key alone, as cancelled.
            let is_kept = wishes.mode == Mode::Reliable && !wishes.may_end();
            let is_over = matches!(told, Some(Outcome::Lost | Outcome::Expired));
            if is_kept && is_over {
                return Err(format!("{token} is {told:?}, and reliable"));
            }
        }
        Ok(())
    }

    /// The application has answered a request.
    pub(super) fn answered(&mut self, side: usize, peer: PeerId) {
        if let Some(life) = self.peers[side].get_mut(&peer) {
            life.asking = false;
        }
    }

    /// Compares the greetings of the two ends of a connection: each has read what the other has said.
    fn compare_greetings(&self, one: (usize, PeerId), other: (usize, PeerId)) {
        let life = |(side, peer): (usize, PeerId)| &self.peers[side][&peer];
        let (one, other) = (life(one), life(other));
        for (reader, speaker) in [(one, other), (other, one)] {
            if let (Some(read), true) = (&reader.greeted, reader.judged && speaker.judged) {
                assert_eq!(*read, speaker.greets, "a greeting that was not sent");
            }
        }
    }

    /// The packet that this side sends next to a peer, of about `len` bytes.
    #[doc(hidden)]
    pub fn packet(&mut self, side: usize, peer: PeerId, len: usize) -> Vec<u8> {
        let is_known = self.begin(side, peer, false).other.is_some();
        let number = u32::try_from(self.named.len()).expect("few packets");
        let mut packet = number.to_le_bytes().to_vec();
        // Without all of the number, once both ends know each other: the model compares the bytes alone.
        if len < NAMED && is_known {
            packet.truncate(len);
            return packet;
        }
        packet.extend((NAMED..len).map(|place| byte(number, place)));
        packet
    }

    /// `send` has accepted the packet. `replaces` is true if it took the place of one that waited with its key.
    #[doc(hidden)]
    pub fn sent(
        &mut self,
        (side, peer): (usize, PeerId),
        channel: u8,
        wishes: Wishes,
        packet: Vec<u8>,
        replaces: bool,
    ) {
        self.named.push((side, peer));
        let life = self.begin(side, peer, false);
        if let Some(token) = wishes.receipt {
            life.receipts.insert(token, None);
            if packet.len() >= NAMED {
                life.delivered.insert(token, (wishes, false));
            }
        }
        let mode = wishes.mode;
        if let Some(key) = wishes.key {
            let kept = (mode, !wishes.may_end());
            life.sent.sent_state((channel, key), kept, packet, replaces);
        } else if wishes.may_end() {
            life.sent.sent_for_a_while(channel, mode, packet);
        } else {
            life.sent.sent(channel, mode, packet);
        }
    }

    /// The packet with this number has to show that the connection works.
    pub(crate) fn probes(&mut self, side: usize, peer: PeerId, number: u64, mode: Mode) {
        self.begin(side, peer, false).probes.insert(number, mode);
    }

    /// A token that no packet has, and the number of the next packet.
    #[doc(hidden)]
    #[must_use]
    pub fn token(&self) -> u64 {
        self.named.len() as u64
    }

    /// The application has read all packets of a peer.
    pub(crate) fn has_read(&mut self, side: usize, peer: PeerId) {
        if let Some(life) = self.peers[side].get_mut(&peer) {
            life.readable = false;
        }
    }

    /// `receive` has given out the packet: in order, once, as it was sent, to one peer only.
    #[doc(hidden)]
    pub fn received(&mut self, side: usize, peer: PeerId, packet: &Received) {
        let life = self.peers[side]
            .get_mut(&peer)
            .expect("a peer that was told");
        // Bytes may have changed on the way: a number in them would accuse another packet.
        if !life.judged {
            return;
        }
        // The first packet with a number tells which two peers are the ends of one connection.
        if let (None, Some(number)) = (life.other, packet.payload.first_chunk::<NAMED>()) {
            let number = u32::from_le_bytes(*number) as usize;
            let (other, name) = *self.named.get(number).expect("it was sent");
            life.other = Some((other, name));
            let sender = self.peers[other].get_mut(&name);
            let sender = sender.expect("a peer that was told");
            let before = sender.other.replace((side, peer));
            assert!(
                before.is_none_or(|known| known == (side, peer)),
                "two peers hear one connection"
            );
            self.compare_greetings((side, peer), (other, name));
        }
        let (other, name) = self.peers[side][&peer].other.expect("a packet told");
        let sender = self.peers[other]
            .get_mut(&name)
            .expect("a peer that was told");
        if !sender.judged {
            return;
        }
        if let Some(number) = packet.payload.first_chunk::<NAMED>() {
            let number = u64::from(u32::from_le_bytes(*number));
            sender.delivered.entry(number).and_modify(|it| it.1 = true);
            if let Some(probed) = sender.probes.remove(&number) {
                sender.probes.retain(|_, mode| *mode != probed);
            }
        }
        if self.unordered.contains(&(side, packet.channel.0)) {
            sender.sent.delivered_unordered(packet, "");
        } else {
            sender.sent.delivered(packet, "");
        }
    }
}

/// The byte at a place of the packet with this number: it tells of both, so that no part of another packet, or of
/// another place, passes for it.
fn byte(number: u32, place: usize) -> u8 {
    // A packet of the swarm is much shorter.
    let place = u32::try_from(place).unwrap_or(u32::MAX);
    let mixed = number.wrapping_mul(0x85EB_CA6B) ^ place.wrapping_mul(0x9E37_79B1);
    mixed.to_be_bytes()[0]
}
