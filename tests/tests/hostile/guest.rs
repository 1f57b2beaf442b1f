//! An honest host that comes and talks while an attack is going on, and whose datagrams are recorded.

use core::time::Duration;

use porous_proto::{
    ChannelId, Config, Disconnect, Ecn, Event, Host, Instant, Listen, Mode, PeerId, PeerState,
};
use porous_sim::{ChaCha8Rng, Seed};

use crate::metered::Victim;
use crate::scene::{HOST, Scene, config};

/// Where the guest is.
pub(crate) const GUEST: u32 = 3;

/// The guest, and the datagrams of both sides.
pub(crate) struct Guest {
    pub(crate) host: Victim,
    pub(crate) peer: Option<PeerId>,
    /// What it has said.
    pub(crate) said: Vec<Vec<u8>>,
    /// What it has heard.
    pub(crate) heard: Vec<Vec<u8>>,
    read: usize,
    /// Addresses from which copies of all its datagrams come, before the originals do.
    pub(crate) copied_from: Vec<u32>,
}

impl Guest {
    /// A guest that listens, and does not connect by itself.
    pub(crate) fn idle(seed: u64) -> Self {
        Self::with(config(), seed)
    }

    fn with(config: Config, seed: u64) -> Self {
        let mut host: Host<ChaCha8Rng, u32> = Host::new(config, Seed::new(seed).stream("guest", 0));
        assert_eq!(host.listen(Listen::Open), Ok(()));
        Self {
            host,
            peer: None,
            said: Vec::new(),
            heard: Vec::new(),
            read: 0,
            copied_from: Vec::new(),
        }
    }

    /// A guest that begins to connect.
    pub(crate) fn arrive(scene: &mut Scene, seed: u64) -> Self {
        Self::arrive_with(scene, config(), seed)
    }

    /// The same, with this configuration.
    pub(crate) fn arrive_with(scene: &mut Scene, config: Config, seed: u64) -> Self {
        scene.trust(GUEST);
        let mut guest = Self::with(config, seed);
        guest.read = scene.said.len();
        guest.peer = guest.host.connect(scene.now, HOST).ok();
        guest
    }

    pub(crate) const fn address(&self) -> u32 {
        GUEST
    }

    pub(crate) fn is_connected(&self) -> bool {
        let peer = self.peer.and_then(|peer| self.host.peer(peer));
        peer.is_some_and(|peer| peer.state() == PeerState::Connected)
    }

    /// Hears what was said to it since the last time, and says what it has to, at once.
    pub(crate) fn meet(&mut self, scene: &mut Scene) {
        let now = scene.now;
        self.read = self.read.min(scene.said.len());
        for (to, datagram) in &scene.said[self.read..] {
            if *to == GUEST {
                self.heard.push(datagram.clone());
                self.host.handle_datagram(now, HOST, Ecn::NotEct, datagram);
            }
        }
        self.read = scene.said.len();
        self.host.handle_timeout(now);
        let mut buf = [0; 1200];
        while let Some(transmit) = self.host.poll_transmit(now, &mut buf) {
            let datagram = transmit.datagram.to_vec();
            for &from in &self.copied_from {
                scene.deliver(from, &datagram);
            }
            // So that another one's copies come first the next time.
            let by = self.copied_from.len().min(1);
            self.copied_from.rotate_left(by);
            scene.deliver(GUEST, &datagram);
            self.said.push(datagram);
        }
    }

    /// Hears something that the host has not said.
    pub(crate) fn hear_from_nobody(&mut self, scene: &Scene, datagram: &[u8]) {
        self.host
            .handle_datagram(scene.now, HOST, Ecn::NotEct, datagram);
    }

    /// Both talk for this time.
    pub(crate) fn stay(&mut self, scene: &mut Scene, time: Duration) {
        let end: Instant = scene.now + time;
        while scene.now < end {
            self.meet(scene);
            scene.pass(Duration::from_millis(10));
        }
    }

    /// Sends a reliable packet.
    pub(crate) fn send(&mut self, payload: Vec<u8>) {
        let peer = self.peer.unwrap();
        let sent = self.host.send(peer, ChannelId(0), payload, Mode::Reliable);
        assert_eq!(sent, Ok(()));
    }

    /// Says goodbye, and hears it.
    pub(crate) fn leave(&mut self, scene: &mut Scene) {
        let how = Disconnect::Now { reason: 3 };
        let done = self.host.disconnect(scene.now, self.peer.unwrap(), how);
        assert_eq!(done, Ok(()));
        self.stay(scene, Duration::from_millis(100));
        let is_end = |event: &Event<u32>| matches!(event, Event::Disconnected { .. });
        let ended = core::iter::from_fn(|| self.host.poll_event()).any(|event| is_end(&event));
        assert!(ended, "no goodbye");
    }
}
