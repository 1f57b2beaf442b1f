//! The contract: what may be delivered, what must be, in which order, at most once, byte for byte.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use porous_proto::{Mode, Received};

/// The packets that were sent on the channels of one direction of a connection, and which of them may
/// still come.
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
    /// The packets that may still be delivered.
    open: VecDeque<Open>,
    sent: [u64; 3],
    delivered: [u64; 3],
    /// Packets that must be delivered and were not yet.
    missing: u64,
}

#[derive(Clone, Debug)]
struct Open {
    mode: Mode,
    packet: Vec<u8>,
    /// True if the packet has to be delivered.
    needed: bool,
    /// Of the packets with one key only the newest has to be.
    #[cfg_attr(
        not(feature = "swarm"),
        expect(dead_code, reason = "the swarm alone sends states")
    )]
    key: Option<u64>,
}

impl Model {
    /// A direction with this many channels.
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

    /// Notes that `send` accepted a packet. Packets should differ: of two equal ones the first is taken for
    /// delivered, so that a packet which came twice could pass for the other.
    ///
    /// # Panics
    ///
    /// If the model has no such channel.
    ///
    /// ```
    /// use porous_proto::Mode;
    ///
    /// let mut model = porous_sim::Model::new(1);
    /// model.sent(0, Mode::Reliable, vec![1]);
    /// assert!(!model.is_complete());
    /// ```
    pub fn sent(&mut self, channel: u8, mode: Mode, packet: Vec<u8>) {
        self.push(channel, mode, packet, mode == Mode::Reliable);
    }

    /// As [`sent`](Self::sent), for a packet that may be given up although it is reliable: it has a
    /// time to live, or may be cancelled.
    ///
    /// # Panics
    ///
    /// If the model has no such channel.
    ///
    /// ```
    /// use porous_proto::Mode;
    ///
    /// let mut model = porous_sim::Model::new(1);
    /// model.sent_for_a_while(0, Mode::Reliable, vec![1]);
    /// assert!(model.is_complete());
    /// ```
    pub fn sent_for_a_while(&mut self, channel: u8, mode: Mode, packet: Vec<u8>) {
        self.push(channel, mode, packet, false);
    }

    fn push(&mut self, channel: u8, mode: Mode, packet: Vec<u8>, needed: bool) {
        let open = Open {
            mode,
            packet,
            needed,
            key: None,
        };
        self.channels[usize::from(channel)].push(open, None);
    }

    /// Notes that `send` accepted a packet with a key: the one before it with the same key need not arrive any more.
    /// `is_kept` is true if the packet may not be given up for another reason, `replaces` if it took the place of
    /// the one before, which then never comes.
    #[cfg(feature = "swarm")]
    pub(crate) fn sent_state(
        &mut self,
        (channel, key): (u8, u64),
        (mode, is_kept): (Mode, bool),
        packet: Vec<u8>,
        replaces: bool,
    ) {
        let channel = &mut self.channels[usize::from(channel)];
        let has_key = |open: &Open| open.key == Some(key);
        let older = channel.open.iter().rposition(has_key);
        if let Some(index) = older {
            let needed = core::mem::take(&mut channel.open[index].needed);
            channel.missing -= u64::from(needed);
        }
        assert!(!replaces || older.is_some(), "no state was to be replaced");
        let open = Open {
            mode,
            packet,
            needed: is_kept && mode == Mode::Reliable,
            key: Some(key),
        };
        channel.push(open, older.filter(|_| replaces));
    }

    /// Notes that a packet was delivered.
    ///
    /// # Panics
    ///
    /// If the packet was never sent, came before, was delivered after a packet that was sent later, or if
    /// a reliable packet was skipped for it. The message ends with `context`.
    ///
    /// ```should_panic
    /// use porous_proto::{ChannelId, Mode, Received};
    ///
    /// let payload = vec![1].into();
    /// let stray = Received { channel: ChannelId(0), mode: Mode::Reliable, payload };
    /// porous_sim::Model::new(1).delivered(&stray, "it was never sent");
    /// ```
    pub fn delivered(&mut self, packet: &Received, context: &str) {
        let (channel, skipped) = self.find(packet, context);
        // The channel is in order: packets that were sent before this one can come no more.
        let mut passed = channel.open.drain(..skipped);
        let lost = passed.any(|open| open.needed);
        assert!(!lost, "a reliable packet was skipped; {context}");
        drop(passed);
        channel.deliver(0);
    }

    /// Notes that a packet was delivered on a channel without an order.
    ///
    /// # Panics
    ///
    /// If the packet was never sent, or came before. The message ends with `context`.
    ///
    /// ```
    /// use porous_proto::{ChannelId, Mode, Received};
    ///
    /// let mut model = porous_sim::Model::new(1);
    /// model.sent(0, Mode::Reliable, vec![1]);
    /// model.sent(0, Mode::Reliable, vec![2]);
    /// for n in [2, 1] {
    ///     let payload = vec![n].into();
    ///     let packet = Received { channel: ChannelId(0), mode: Mode::Reliable, payload };
    ///     model.delivered_unordered(&packet, "in any order");
    /// }
    /// assert!(model.is_complete());
    /// ```
    pub fn delivered_unordered(&mut self, packet: &Received, context: &str) {
        let (channel, index) = self.find(packet, context);
        channel.deliver(index);
    }

    fn find(&mut self, packet: &Received, context: &str) -> (&mut Channel, usize) {
        let channel = &mut self.channels[usize::from(packet.channel.0)];
        let same = |open: &Open| open.mode == packet.mode && open.packet == packet.payload;
        let Some(index) = channel.open.iter().position(same) else {
            panic!("{packet:?} out of order, doubled, or never sent like this; {context}");
        };
        (channel, index)
    }

    /// The number of packets of this mode that were sent, and of those that were delivered.
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

    /// True if every reliable packet has been delivered that was not sent [for a
    /// while](Self::sent_for_a_while).
    ///
    /// ```
    /// assert!(porous_sim::Model::new(3).is_complete());
    /// ```
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.channels.iter().all(|channel| channel.missing == 0)
    }
}

impl Channel {
    /// Adds a packet, behind all others or in the place of one of them.
    fn push(&mut self, open: Open, place: Option<usize>) {
        self.sent[open.mode as usize] += 1;
        // A packet with a time to live, or one that may be cancelled, need not arrive.
        self.missing += u64::from(open.needed);
        match place {
            Some(index) => self.open[index] = open,
            None => self.open.push_back(open),
        }
    }

    fn deliver(&mut self, index: usize) {
        if let Some(open) = self.open.remove(index) {
            self.missing -= u64::from(open.needed);
            self.delivered[open.mode as usize] += 1;
        }
    }
}

#[cfg(all(test, feature = "swarm"))]
mod tests {
    use alloc::vec;

    use super::*;

    fn deliver(model: &mut Model, n: u8) {
        let payload = vec![n].into();
        let (channel, mode) = (porous_proto::ChannelId(0), Mode::Reliable);
        let packet = Received {
            channel,
            mode,
            payload,
        };
        model.delivered(&packet, "");
    }

    fn state(model: &mut Model, n: u8, replaces: bool) {
        model.sent_state((0, 1), (Mode::Reliable, true), vec![n], replaces);
    }

    #[test]
    fn of_two_states_the_last_has_to_come() {
        let mut model = Model::new(1);
        state(&mut model, 1, false);
        model.sent(0, Mode::Reliable, vec![2]);
        state(&mut model, 3, false);
        deliver(&mut model, 2);
        assert!(!model.is_complete());
        deliver(&mut model, 3);
        assert!(model.is_complete());
    }

    #[test]
    #[should_panic(expected = "a reliable packet was skipped")]
    fn the_last_state_is_not_skipped() {
        let mut model = Model::new(1);
        state(&mut model, 1, false);
        model.sent(0, Mode::Reliable, vec![2]);
        deliver(&mut model, 2);
    }

    #[test]
    #[should_panic(expected = "never sent like this")]
    fn a_state_that_was_replaced_never_comes() {
        let mut model = Model::new(1);
        state(&mut model, 1, false);
        model.sent(0, Mode::Reliable, vec![2]);
        state(&mut model, 3, true);
        for n in [3, 2, 1] {
            deliver(&mut model, n);
        }
    }
}
