//! What two hosts owe their applications, whatever the network does: the order of events, and by
//! connection what `porous_tests::Model` says of packets.

use alloc::collections::BTreeMap;

use porous_proto::{DisconnectReason, Event, Mode, PeerId, Received};
use porous_tests::Model;

/// Packets of at least so many bytes begin with their number, and tell whose they are.
pub const NAMED: usize = 4;

/// A peer as its application knows it.
#[derive(Debug)]
pub struct Life {
    /// `Connected` was told.
    pub connected: bool,
    /// `Disconnected` was told, with so many packets undelivered.
    pub ended: Option<(DisconnectReason, u32)>,
    /// `Readable` was told, and the peer was not read empty since.
    pub readable: bool,
    /// `send` failed with `Full`, and `Writable` was not told since.
    pub full: bool,
    /// What was sent to it, and what of that was delivered.
    pub sent: Model,
    /// What the other host calls this connection, once a packet has told.
    other: Option<PeerId>,
    /// Packets too short to tell.
    nameless: Vec<Received>,
}

/// What happened on the two sides.
#[derive(Debug, Default)]
pub struct Contract {
    /// All peers of each side.
    pub peers: [BTreeMap<PeerId, Life>; 2],
    /// To whom each packet of a side was sent, by its number.
    named: [Vec<PeerId>; 2],
}

impl Contract {
    /// The application has named a peer, or has heard of it.
    pub fn begin(&mut self, side: usize, peer: PeerId, connected: bool) -> &mut Life {
        let life = self.peers[side].entry(peer).or_insert_with(|| Life {
            connected: false,
            ended: None,
            readable: false,
            full: false,
            sent: Model::new(255),
            other: None,
            nameless: Vec::new(),
        });
        assert!(
            !(life.connected && connected) && life.ended.is_none(),
            "connected twice or late"
        );
        life.connected |= connected;
        life
    }

    /// At most one `Connected`, then exactly one `Disconnected`, and nothing after it.
    pub fn told(&mut self, side: usize, event: Event<u8>) {
        let (Event::Connected { peer, .. }
        | Event::Readable { peer }
        | Event::Writable { peer }
        | Event::Disconnected { peer, .. }) = event
        else {
            unreachable!("another event: {event:?}");
        };
        if matches!(event, Event::Connected { .. }) {
            self.begin(side, peer, true);
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
            life.ended = Some((reason, undelivered));
            return;
        }
        let readable = matches!(event, Event::Readable { .. });
        assert!(life.connected, "{event:?} before `Connected`");
        assert_ne!(
            if readable { life.readable } else { !life.full },
            true,
            "{event:?} twice"
        );
        if readable {
            life.readable = true;
        } else {
            life.full = false;
        }
    }

    /// The packet that this side sends next to a peer, of `len` bytes.
    pub fn packet(&self, side: usize, len: usize) -> Vec<u8> {
        let number = u32::try_from(self.named[side].len()).expect("few packets");
        let mut packet = number.to_le_bytes().to_vec();
        packet.extend((NAMED..len).map(|n| n.to_le_bytes()[0]));
        if len < NAMED {
            packet.fill(0);
        }
        packet.truncate(len);
        packet
    }

    /// `send` has accepted it.
    pub fn sent(&mut self, side: usize, peer: PeerId, channel: u8, mode: Mode, packet: Vec<u8>) {
        self.named[side].push(peer);
        self.begin(side, peer, false)
            .sent
            .sent(channel, mode, packet);
    }

    /// `receive` has given it out: in order, once, as it was sent, to one peer only.
    pub fn received(&mut self, side: usize, peer: PeerId, packet: Received) {
        let [a, b] = &mut self.peers;
        let (ours, theirs) = if side == 0 { (a, b) } else { (b, a) };
        let life = ours.get_mut(&peer).expect("a peer that was told");
        if let (None, Some(number)) = (life.other, packet.payload.first_chunk::<NAMED>()) {
            let number = u32::from_le_bytes(*number) as usize;
            let other = *self.named[1 - side].get(number).expect("it was sent");
            life.other = Some(other);
            let sender = theirs.get_mut(&other).expect("a peer that was told");
            let before = sender.other.replace(peer);
            assert!(
                before.is_none_or(|known| known == peer),
                "two peers hear one connection"
            );
        }
        life.nameless.push(packet);
        if let Some(sender) = life.other.and_then(|other| theirs.get_mut(&other)) {
            for packet in life.nameless.drain(..) {
                sender.sent.delivered(&packet, "");
            }
        }
    }
}
