//! Two hosts and nothing else: what most tests need.

use alloc::vec::Vec;
use core::ops::ControlFlow;
use core::time::Duration;

use porous_proto::{
    ChannelId, Config, Event, Instant, Listen, Mode, PeerId, Received, SendError, SendOptions,
};

use crate::{LinkConfig, Seed, World};

/// The longest time that two hosts may take to connect.
const PATIENCE: Duration = Duration::from_secs(60);

/// A world of two hosts, [`A`](Self::A) and [`B`](Self::B), which know each other's address.
///
/// ```
/// use core::time::Duration;
/// use porous_proto::{Config, Mode};
/// use porous_sim::{LinkConfig, Pair, Seed};
///
/// let line = LinkConfig::new().delay(Duration::from_millis(20)).loss(5.0);
/// let mut pair = Pair::new(Seed::new(1), line, Config::client(), Config::new());
/// pair.connect_to_listener();
///
/// let sent: Vec<_> = (0..10).map(|n| (0, Mode::Reliable, vec![n])).collect();
/// let got = pair.exchange(Pair::A, sent, Duration::from_secs(5));
/// let bytes: Vec<u8> = got.iter().map(|packet| packet.payload[0]).collect();
/// assert_eq!(bytes, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
/// ```
#[derive(Debug)]
pub struct Pair {
    /// The world of the two.
    pub world: World,
    /// The peer id that each host has for the other.
    peers: [Option<PeerId>; 2],
}

impl Pair {
    /// The address of the first host.
    pub const A: u32 = 1;
    /// The address of the second host.
    pub const B: u32 = 2;

    /// Two hosts that are not connected, with these conditions in both directions.
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_sim::{LinkConfig, Pair, Seed};
    ///
    /// let pair = Pair::new(Seed::new(1), LinkConfig::new(), Config::client(), Config::new());
    /// assert_eq!(pair.world.host(Pair::A).peers().count(), 0);
    /// ```
    #[must_use]
    pub fn new(seed: Seed, links: LinkConfig, a: Config, b: Config) -> Self {
        let mut world = World::new(seed, links);
        world.add_host(Self::A, a);
        world.add_host(Self::B, b);
        Self {
            world,
            peers: [None; 2],
        }
    }

    /// Lets B listen and A connect to it. Returns when both are connected.
    ///
    /// # Panics
    ///
    /// If the two do not connect within a minute; the message names the seed.
    ///
    /// ```
    /// use porous_proto::{Config, PeerState};
    /// use porous_sim::{LinkConfig, Pair, Seed};
    ///
    /// let mut pair = Pair::new(Seed::new(1), LinkConfig::new(), Config::client(), Config::new());
    /// pair.connect_to_listener();
    /// let b = pair.world.host(Pair::A).peer(pair.peer(Pair::A)).unwrap();
    /// assert_eq!(b.state(), PeerState::Connected);
    /// ```
    pub fn connect_to_listener(&mut self) {
        let seed = self.world.seed();
        let listens = self.world.host_mut(Self::B).listen(Listen::Open);
        assert_eq!(listens, Ok(()), "{seed}");
        let connects = self.world.connect(Self::A, Self::B);
        assert!(connects.is_ok(), "{connects:?}; {seed}");
        self.run_until_connected();
    }

    /// Lets both connect to each other at once. Returns when both are connected.
    ///
    /// # Panics
    ///
    /// If the two do not connect within a minute; the message names the seed.
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_sim::{LinkConfig, Pair, Seed};
    ///
    /// let mut pair = Pair::new(Seed::new(1), LinkConfig::new(), Config::new(), Config::new());
    /// pair.connect_both();
    /// assert_eq!(pair.world.host(Pair::B).address(pair.peer(Pair::B)), Some(Pair::A));
    /// ```
    pub fn connect_both(&mut self) {
        let seed = self.world.seed();
        for (from, to) in [(Self::A, Self::B), (Self::B, Self::A)] {
            let connects = self.world.connect(from, to);
            assert!(connects.is_ok(), "{connects:?}; {seed}");
        }
        self.run_until_connected();
    }

    /// The peer id that the host at `address` has for the other.
    ///
    /// # Panics
    ///
    /// If the two were never connected.
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_sim::{LinkConfig, Pair, Seed};
    ///
    /// let mut pair = Pair::new(Seed::new(1), LinkConfig::new(), Config::client(), Config::new());
    /// pair.connect_to_listener();
    /// let b = pair.peer(Pair::A);
    /// assert_eq!(pair.world.host(Pair::A).address(b), Some(Pair::B));
    /// ```
    #[must_use]
    pub fn peer(&self, address: u32) -> PeerId {
        self.peers[usize::from(address == Self::B)].expect("the pair was connected")
    }

    /// Sends a packet from the host at `from` to the other.
    ///
    /// # Errors
    ///
    /// Those of [`Host::send`](porous_proto::Host::send).
    ///
    /// # Panics
    ///
    /// If the two were never connected.
    ///
    /// ```
    /// use porous_proto::{Config, Mode};
    /// use porous_sim::{LinkConfig, Pair, Seed};
    ///
    /// let mut pair = Pair::new(Seed::new(1), LinkConfig::new(), Config::client(), Config::new());
    /// pair.connect_to_listener();
    /// pair.send(Pair::B, 0, Mode::Unreliable, b"you have the ball".to_vec())?;
    /// # Ok::<(), porous_proto::SendError>(())
    /// ```
    pub fn send(
        &mut self,
        from: u32,
        channel: u8,
        options: impl Into<SendOptions>,
        packet: Vec<u8>,
    ) -> Result<(), SendError> {
        let peer = self.peer(from);
        let host = self.world.host_mut(from);
        host.send(peer, ChannelId(channel), packet, options)
    }

    /// Takes out the packets that the host at `address` has received by now.
    ///
    /// # Panics
    ///
    /// If the two were never connected.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_proto::{Config, Mode};
    /// use porous_sim::{LinkConfig, Pair, Seed};
    ///
    /// let mut pair = Pair::new(Seed::new(1), LinkConfig::new(), Config::client(), Config::new());
    /// pair.connect_to_listener();
    /// pair.send(Pair::A, 0, Mode::Unreliable, b"jump".to_vec())?;
    /// pair.world.run_for(Duration::from_millis(1));
    /// assert_eq!(&pair.receive_all(Pair::B)[0].payload[..], b"jump");
    /// # Ok::<(), porous_proto::SendError>(())
    /// ```
    pub fn receive_all(&mut self, address: u32) -> Vec<Received> {
        let peer = self.peer(address);
        let host = self.world.host_mut(address);
        core::iter::from_fn(|| host.receive(peer)).collect()
    }

    /// Sends all these packets from the host at `from`, each with its channel, mode and content, as fast
    /// as the host accepts them. Returns the packets that the other host received, as soon as these are as
    /// many as were sent, or else after `patience`. Events of both hosts stay in their queues.
    ///
    /// # Panics
    ///
    /// If the two were never connected, or if a packet is refused for another reason than a full send
    /// buffer; the message names the seed.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_proto::{Config, Mode};
    /// use porous_sim::{LinkConfig, Pair, Seed};
    ///
    /// let mut pair = Pair::new(Seed::new(1), LinkConfig::new(), Config::client(), Config::new());
    /// pair.connect_to_listener();
    /// let sent = [(0, Mode::Passive, vec![1; 3000]), (0, Mode::Reliable, vec![2; 20])];
    /// let got = pair.exchange(Pair::B, sent, Duration::from_secs(1));
    /// assert_eq!((got[0].payload.len(), got[1].payload.len()), (3000, 20));
    /// ```
    pub fn exchange(
        &mut self,
        from: u32,
        packets: impl IntoIterator<Item = (u8, Mode, Vec<u8>)>,
        patience: Duration,
    ) -> Vec<Received> {
        let mut packets = packets.into_iter().peekable();
        let (mut sent, mut got) = (0, Vec::new());
        let limit = self.world.now() + patience;
        loop {
            while let Some((channel, mode, packet)) = packets.peek() {
                if !self.try_send(from, *channel, *mode, packet) {
                    break;
                }
                sent += 1;
                packets.next();
            }
            got.extend(self.receive_all(Self::other(from)));
            let done = packets.peek().is_none() && got.len() >= sent;
            if done || !self.step_before(limit) {
                return got;
            }
        }
    }

    /// The address of the other host.
    ///
    /// ```
    /// use porous_sim::Pair;
    ///
    /// assert_eq!(Pair::other(Pair::A), Pair::B);
    /// assert_eq!(Pair::other(Pair::B), Pair::A);
    /// ```
    #[must_use]
    pub const fn other(address: u32) -> u32 {
        if address == Self::A { Self::B } else { Self::A }
    }

    /// Sends a packet. False if the send buffer is full.
    fn try_send(&mut self, from: u32, channel: u8, mode: Mode, packet: &[u8]) -> bool {
        match self.send(from, channel, mode, packet.to_vec()) {
            Ok(()) => true,
            Err(SendError::Full) => false,
            Err(error) => panic!("{error}; replay with {}", self.world.seed()),
        }
    }

    /// Takes one step. False if the next step is later than `limit`; then the time is `limit`.
    fn step_before(&mut self, limit: Instant) -> bool {
        if self
            .world
            .next_happening()
            .is_some_and(|next| next <= limit)
        {
            return self.world.step().is_some();
        }
        self.world.run_until(limit);
        false
    }

    fn run_until_connected(&mut self) {
        self.peers = [None; 2];
        let (limit, seed) = (self.world.now() + PATIENCE, self.world.seed());
        let peers = &mut self.peers;
        let connected = self.world.drive(limit, |world| {
            for (peer, address) in peers.iter_mut().zip([Self::A, Self::B]) {
                if peer.is_none() {
                    *peer = connected_peer(world, address);
                }
            }
            match peers.iter().all(Option::is_some) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        assert!(
            connected.is_some(),
            "not connected after {PATIENCE:?}: {peers:?}; replay with {seed}"
        );
    }
}

/// The peer that the next events of this host report as connected.
fn connected_peer(world: &mut World, address: u32) -> Option<PeerId> {
    while let Some(event) = world.poll_event(address) {
        if let Event::Connected { peer, .. } = event {
            return Some(peer);
        }
        // An attempt that has failed would otherwise only show as a timeout of the test.
        let disconnected = matches!(event, Event::Disconnected { .. });
        let seed = world.seed();
        assert!(!disconnected, "{address}: {event:?}; replay with {seed}");
    }
    None
}

#[cfg(test)]
mod tests;
