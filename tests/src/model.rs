//! The contract: what may be delivered, what must be, in which order, at most once, byte for byte.

use porous_proto::{Mode, Received};

/// What was sent on the channels of one direction, and what has been delivered of it.
#[derive(Debug)]
pub struct Model {
    channels: Vec<Channel>,
}

#[derive(Debug, Default)]
struct Channel {
    sent: Vec<(Mode, Vec<u8>)>,
    /// The first packet that may still be delivered.
    next: usize,
    delivered: [u64; 3],
}

impl Model {
    /// A direction with so many channels.
    #[must_use]
    pub fn new(channels: u8) -> Self {
        Self {
            channels: (0..channels).map(|_| Channel::default()).collect(),
        }
    }

    /// A packet was accepted by `send`. Packets should differ: of two that are the same, the first
    /// is taken for delivered, so that one which came twice could pass for the other.
    pub fn sent(&mut self, channel: u8, mode: Mode, packet: Vec<u8>) {
        self.channels[usize::from(channel)]
            .sent
            .push((mode, packet));
    }

    /// A packet was delivered.
    ///
    /// # Panics
    ///
    /// If it was never sent, or came before, or a reliable one was skipped for it, or one that was
    /// sent later has been delivered already.
    pub fn delivered(&mut self, packet: &Received, context: &str) {
        let channel = &mut self.channels[usize::from(packet.channel.0)];
        let rest = &channel.sent[channel.next..];
        let same =
            |(mode, bytes): &(Mode, Vec<u8>)| *mode == packet.mode && *bytes == packet.payload;
        let found = rest.iter().position(same);
        let Some(skipped) = found else {
            panic!("{packet:?} out of order, doubled, or never sent like this; {context}");
        };
        let lost = rest[..skipped]
            .iter()
            .any(|(mode, _)| *mode == Mode::Reliable);
        assert!(!lost, "a reliable packet was skipped; {context}");
        channel.next += skipped + 1;
        channel.delivered[packet.mode as usize] += 1;
    }

    /// How many packets of this mode were sent, and how many delivered.
    #[must_use]
    pub fn counts(&self, mode: Mode) -> (u64, u64) {
        let sent = |channel: &Channel| channel.sent.iter().filter(|(m, _)| *m == mode).count();
        let sent: usize = self.channels.iter().map(sent).sum();
        let delivered = self
            .channels
            .iter()
            .map(|channel| channel.delivered[mode as usize])
            .sum();
        (sent as u64, delivered)
    }

    /// Whether every reliable packet has been delivered.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let (sent, delivered) = self.counts(Mode::Reliable);
        sent == delivered
    }
}
