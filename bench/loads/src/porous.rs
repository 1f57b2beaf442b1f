//! porous, under both policies, plain and sealed.

use porous_crypto::RustCrypto;
use porous_proto::seal::{Credentials, Security, Suite};
use porous_proto::{
    ChannelId, Config, Ecn, Event, Host, Instant, Listen, Mode, PeerId, Policy, Priority,
};
use porous_sim::{ChaCha8Rng, Seed};

use crate::node::{Node, Protocol, Setup};

/// The recommended policy.
pub const MODERN: Protocol = Protocol {
    name: "porous-modern",
    open: |setup| Box::new(Porous::new(Policy::Modern, None, setup)),
    carries: |_| true,
};

/// The policy of the paper.
pub const PAPER: Protocol = Protocol {
    name: "porous-paper",
    open: |setup| Box::new(Porous::new(Policy::Paper, None, setup)),
    carries: |_| true,
};

/// The recommended policy, sealed by ChaCha20-Poly1305.
pub const CHACHA: Protocol = Protocol {
    name: "porous-chacha",
    open: |setup| Box::new(Porous::new(Policy::Modern, Some(Suite::CHACHA_POLY), setup)),
    carries: |_| true,
};

/// The recommended policy, sealed by AES-256-GCM.
pub const AES: Protocol = Protocol {
    name: "porous-aes",
    open: |setup| Box::new(Porous::new(Policy::Modern, Some(Suite::AES_GCM), setup)),
    carries: |_| true,
};

struct Porous {
    host: Host<ChaCha8Rng, usize>,
    /// The peers, by the numbers of the remote hosts, which are their addresses.
    peers: Vec<Option<PeerId>>,
    is_sealed: bool,
    buf: Vec<u8>,
}

impl Porous {
    fn new(policy: Policy, suite: Option<Suite>, setup: Setup) -> Self {
        let priorities = vec![Priority::Low; setup.channels.into()];
        let config = Config::new().channels(&priorities);
        // Thousands of clients connect at the same instant.
        let config = config.and_then(|config| config.reply_limits(100_000, 1_000_000));
        let config = config.expect("within the limits").policy(policy);
        let mut config = config.max_peers(setup.remotes as u32);
        if let Some(suite) = suite {
            config = config.sealed(&[suite]).expect("one suite");
        }
        let mut host = Host::new(config, Seed::new(setup.seed).stream("porous", 0));
        if suite.is_some() {
            host.set_security(Security::new(&RustCrypto));
        }
        host.listen(Listen::Open)
            .expect("a configuration of a server");
        Self {
            buf: vec![0; host.max_datagram_size()],
            host,
            peers: vec![None; setup.remotes],
            is_sealed: suite.is_some(),
        }
    }
}

impl Node for Porous {
    fn connect(&mut self, now: Instant) {
        if self.is_sealed {
            let begun = self.host.connect_sealed(now, &[0], &Credentials::new());
            begun.expect("the first");
        } else {
            self.host.connect(now, 0).expect("the first");
        }
    }

    fn datagram_in(&mut self, now: Instant, from: usize, datagram: &[u8]) {
        self.host.handle_datagram(now, from, Ecn::NotEct, datagram);
    }

    fn service(&mut self, now: Instant, read: &mut dyn FnMut(usize, &[u8])) {
        self.host.handle_timeout(now);
        while let Some(event) = self.host.poll_event() {
            if let Event::Readable { peer } = event {
                let from = self.host.address(peer).expect("a peer");
                while let Some(received) = self.host.receive(peer) {
                    read(from, &received.payload);
                }
            } else if let Event::Connected { peer, .. } = event {
                let from = self.host.address(peer).expect("a peer");
                self.peers[from] = Some(peer);
            }
        }
    }

    fn send(&mut self, to: usize, channel: u8, message: &[u8], reliable: bool) -> bool {
        let mode = if reliable {
            Mode::Reliable
        } else {
            Mode::Unreliable
        };
        let Some(peer) = self.peers[to] else {
            return false;
        };
        let sent = self.host.send(peer, ChannelId(channel), message, mode);
        sent.is_ok()
    }

    fn datagrams_out(&mut self, now: Instant, put: &mut dyn FnMut(usize, &[u8])) {
        while let Some(transmit) = self.host.poll_transmit(now, &mut self.buf) {
            put(transmit.to, transmit.datagram);
        }
    }

    fn own_heap(&self) -> usize {
        self.buf.capacity() + self.peers.capacity() * size_of::<Option<PeerId>>()
    }
}
