//! Packets of all modes, channels and sizes, in an order that follows from one number.
#![expect(clippy::cast_possible_truncation, reason = "bytes of a pattern")]

use porous_proto::{ChannelId, Mode, PeerId, SendError};
use porous_sim::{Pair, World};

use crate::Model;

/// The packets that one host of a pair sends, and the contract for what the other receives.
#[derive(Debug)]
pub struct Traffic {
    from: u32,
    peer: PeerId,
    channels: u8,
    max: usize,
    serial: u64,
    state: u64,
    /// The packets that were sent and delivered.
    pub model: Model,
}

impl Traffic {
    /// Packets of up to `max` bytes from one host of the pair to the other, on all channels.
    #[must_use]
    pub fn new(pair: &Pair, from: u32, max: usize, seed: u64) -> Self {
        let peer = pair.peer(from);
        let channels = pair
            .world
            .host(from)
            .peer(peer)
            .map_or(0, |peer| peer.channels());
        let model = Model::new(channels);
        Self {
            from,
            peer,
            channels,
            max,
            serial: 0,
            state: seed | 1,
            model,
        }
    }

    fn draw(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    /// Sends one packet of any mode and size. Returns false if the send buffer is full.
    ///
    /// # Panics
    ///
    /// If `send` fails for another reason.
    pub fn send(&mut self, world: &mut World) -> bool {
        let mode = [Mode::Unreliable, Mode::Reliable, Mode::Passive][(self.draw() % 3) as usize];
        self.send_as(world, mode)
    }

    /// Sends one packet of this mode and of any size. Returns false if the send buffer is full.
    ///
    /// # Panics
    ///
    /// If `send` fails for another reason.
    pub fn send_as(&mut self, world: &mut World, mode: Mode) -> bool {
        let channel = u8::try_from(self.draw() % u64::from(self.channels)).unwrap_or(0);
        // Small packets are as frequent as large ones. Eight bytes make each packet unlike the others,
        // but some packets are shorter or empty.
        let limit = self.max.min(1 << (self.draw() % 14)) as u64;
        let len = (self.draw() % (limit + 1)) as usize;
        let serial = self.serial;
        let mut packet = serial.to_le_bytes().to_vec();
        packet.extend((8..len).map(|n| (serial as usize * 31 + n) as u8));
        packet.truncate(len);
        match world
            .host_mut(self.from)
            .send(self.peer, ChannelId(channel), packet.clone(), mode)
        {
            Ok(()) => {
                self.serial += 1;
                self.model.sent(channel, mode, packet);
                true
            }
            Err(SendError::Full) => false,
            Err(error) => panic!("{error}; {}", world.seed()),
        }
    }

    /// Takes everything that the other host has received, and checks it against the contract.
    pub fn receive(&mut self, world: &mut World, at: PeerId) {
        let context = world.seed().to_string();
        while let Some(packet) = world.host_mut(Pair::other(self.from)).receive(at) {
            self.model.delivered(&packet, &context);
        }
    }
}
