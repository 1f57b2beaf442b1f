//! The contract: what may be delivered, what must be, in which order, at most once, byte for byte.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use porous_proto::{Mode, Received};

/// What was sent on the channels of one direction of a connection, and what of it may still come.
///
/// ```
/// use core::time::Duration;
/// use porous_proto::{Config, Mode};
/// use porous_sim::{LinkConfig, Model, Pair, Seed};
///
/// let line = LinkConfig::new().delay(Duration::from_millis(20)).loss(20.0);
/// let mut pair = Pair::new(Seed::new(1), line, Config::client(), Config::new());
/// pair.connect_to_listener();
/// let packets: Vec<_> = (0..9).map(|n| (0, Mode::Reliable, vec![n])).collect();
/// let mut model = Model::new(1);
/// for (channel, mode, packet) in &packets {
///     model.sent(*channel, *mode, packet.clone());
/// }
/// for packet in pair.exchange(Pair::A, packets, Duration::from_secs(5)) {
///     model.delivered(&packet, "seed 1");
/// }
/// assert!(model.is_complete());
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    channels: Vec<Channel>,
}

#[derive(Clone, Debug, Default)]
struct Channel {
    /// What may still be delivered.
    open: VecDeque<(Mode, Vec<u8>)>,
    sent: [u64; 3],
    delivered: [u64; 3],
}

impl Model {
    /// A direction with so many channels.
    ///
    /// ```
    /// assert!(porous_sim::Model::new(1).is_complete());
    /// ```
    #[must_use]
    pub fn new(channels: u8) -> Self {
        let mut all = Vec::new();
        all.resize_with(channels.into(), Channel::default);
        Self { channels: all }
    }

    /// A packet was accepted by `send`. Packets should differ: of two that are the same, the first
    /// is taken for delivered, so that one which came twice could pass for the other.
    ///
    /// # Panics
    ///
    /// If there is no such channel.
    ///
    /// ```
    /// use porous_proto::Mode;
    ///
    /// let mut model = porous_sim::Model::new(1);
    /// model.sent(0, Mode::Reliable, vec![1]);
    /// assert!(!model.is_complete());
    /// ```
    pub fn sent(&mut self, channel: u8, mode: Mode, packet: Vec<u8>) {
        let channel = &mut self.channels[usize::from(channel)];
        channel.sent[mode as usize] += 1;
        channel.open.push_back((mode, packet));
    }

    /// A packet was delivered.
    ///
    /// # Panics
    ///
    /// If it was never sent, or came before, or a reliable one was skipped for it, or one that was
    /// sent later has been delivered already. The message ends with `context`.
    ///
    /// ```should_panic
    /// use porous_proto::{ChannelId, Mode, Received};
    ///
    /// let payload = vec![1].into();
    /// let stray = Received { channel: ChannelId(0), mode: Mode::Reliable, payload };
    /// porous_sim::Model::new(1).delivered(&stray, "it was never sent");
    /// ```
    pub fn delivered(&mut self, packet: &Received, context: &str) {
        let channel = &mut self.channels[usize::from(packet.channel.0)];
        let same =
            |(mode, bytes): &(Mode, Vec<u8>)| *mode == packet.mode && *bytes == packet.payload;
        let Some(skipped) = channel.open.iter().position(same) else {
            panic!("{packet:?} out of order, doubled, or never sent like this; {context}");
        };
        let mut passed = channel.open.drain(..=skipped).take(skipped);
        let lost = passed.any(|(mode, _)| mode == Mode::Reliable);
        assert!(!lost, "a reliable packet was skipped; {context}");
        drop(passed);
        channel.delivered[packet.mode as usize] += 1;
    }

    /// How many packets of this mode were sent, and how many delivered.
    ///
    /// ```
    /// use porous_proto::Mode;
    ///
    /// let mut model = porous_sim::Model::new(2);
    /// model.sent(1, Mode::Passive, vec![1]);
    /// assert_eq!(model.counts(Mode::Passive), (1, 0));
    /// ```
    #[must_use]
    pub fn counts(&self, mode: Mode) -> (u64, u64) {
        let sum = |of: fn(&Channel) -> &[u64; 3]| {
            let each = self
                .channels
                .iter()
                .map(|channel| of(channel)[mode as usize]);
            each.sum()
        };
        (
            sum(|channel| &channel.sent),
            sum(|channel| &channel.delivered),
        )
    }

    /// Whether every reliable packet has been delivered.
    ///
    /// ```
    /// assert!(porous_sim::Model::new(3).is_complete());
    /// ```
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let (sent, delivered) = self.counts(Mode::Reliable);
        sent == delivered
    }
}
