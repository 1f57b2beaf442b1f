//! Packets of all modes, channels and sizes from one host to another, and checks of what arrives.

use core::time::Duration;

use porous_proto::{ChannelId, Mode, Received};

use crate::Model;
use crate::drivers::{Drivers, End};

/// The channels of the hosts of a flow.
pub const CHANNELS: u8 = 3;

/// Several fragments.
const LARGEST: u64 = 5000;

/// The packets that one host sends to another.
#[derive(Debug)]
pub struct Flow {
    from: End,
    to: End,
    model: Model,
    every: Duration,
    due: Duration,
    state: u64,
    serial: usize,
}

impl Flow {
    /// `rate` is in packets a second.
    #[must_use]
    pub fn new(from: End, to: End, rate: u32) -> Self {
        Self {
            from,
            to,
            model: Model::new(CHANNELS),
            every: Duration::from_secs(1) / rate,
            due: Duration::ZERO,
            state: (from.1.to_u64() + (from.0 as u64) * 7919) << 1 | 1,
            serial: 0,
        }
    }

    /// The end that sends.
    #[must_use]
    pub const fn from(&self) -> End {
        self.from
    }

    /// A number below `end`.
    fn draw(&mut self, end: u64) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state % end).expect("a small number")
    }

    /// Sends the packets that are due at this time.
    pub fn send(&mut self, hosts: &mut impl Drivers, now: Duration) {
        while self.due <= now {
            self.due += self.every;
            let mode = [Mode::Unreliable, Mode::Reliable, Mode::Passive][self.draw(3)];
            let channel = u8::try_from(self.draw(CHANNELS.into())).expect("a channel");
            // Small packets are more frequent, and some are shorter than the number that tells them apart.
            let largest = [1, 8, 60, 200, 1000, LARGEST][self.draw(6)];
            let len = self.draw(largest + 1);
            let mut packet = self.serial.to_le_bytes().to_vec();
            packet.extend((8..len).map(|n| (self.serial * 31 + n).to_le_bytes()[0]));
            packet.truncate(len);
            let sent = hosts.send(self.from, ChannelId(channel), packet.clone(), mode);
            assert_eq!(sent, Ok(()), "there is room");
            self.serial += 1;
            self.model.sent(channel, mode, packet);
        }
    }

    /// Checks a packet that has arrived.
    pub fn received(&mut self, packet: &Received) {
        let context = format!("from {:?} to {:?}", self.from, self.to);
        self.model.delivered(packet, &context);
    }

    /// What was sent and what has arrived.
    #[must_use]
    pub const fn model(&self) -> &Model {
        &self.model
    }
}
