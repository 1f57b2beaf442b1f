//! porous, under both policies, and with a copy of each reliable message.

use porous_proto::{
    ChannelId, Config, Ecn, Event, Host, Instant, Listen, Mode, PeerId, Policy, Priority,
    SendOptions,
};
use porous_sim::{ChaCha8Rng, Seed};

use crate::peer::{CHANNELS, Endpoint, Ends, State};

/// The policy of the paper, with the paper's windows.
pub(crate) fn paper(seed: u64) -> Ends {
    boxed(paper_pair(seed))
}

/// The recommended policy.
pub(crate) fn modern(seed: u64) -> Ends {
    boxed(modern_pair(seed))
}

/// The recommended policy without any copies.
pub(crate) fn modern_uncopied(seed: u64) -> Ends {
    boxed(modern_uncopied_pair(seed))
}

/// The recommended policy, with one copy of each reliable message in the spare bytes of a later datagram.
pub(crate) fn modern_copied(seed: u64) -> Ends {
    boxed(modern_copied_pair(seed))
}

/// The recommended policy, with the channels of `porous demo`.
pub(crate) fn modern_game(seed: u64) -> Ends {
    game(Policy::Modern, seed)
}

/// The policy of the paper, with the channels of `porous demo`.
pub(crate) fn paper_game(seed: u64) -> Ends {
    game(Policy::Paper, seed)
}

/// [`paper`] with its own type, for benches of porous alone.
pub(crate) fn paper_pair(seed: u64) -> [Porous; 2] {
    pair([Config::paper(), Config::paper()], seed)
}

/// [`modern`] with its own type, for benches of porous alone.
pub(crate) fn modern_pair(seed: u64) -> [Porous; 2] {
    let configs = [Config::client(), Config::new()];
    pair(configs.map(|c| c.policy(Policy::Modern)), seed)
}

/// [`modern_copied`] with its own type, for benches of porous alone.
pub(crate) fn modern_copied_pair(seed: u64) -> [Porous; 2] {
    with_copies(1, seed)
}

/// [`modern_uncopied`] with its own type, for benches of porous alone.
pub(crate) fn modern_uncopied_pair(seed: u64) -> [Porous; 2] {
    with_copies(0, seed)
}

fn with_copies(copies: u8, seed: u64) -> [Porous; 2] {
    let copies = Some(copies);
    modern_pair(seed).map(|end| Porous { copies, ..end })
}

fn game(policy: Policy, seed: u64) -> Ends {
    // The file, on the last channel, gives way to the game.
    let priorities = [
        Priority::High,
        Priority::High,
        Priority::High,
        Priority::Low,
    ];
    let configs = [Config::client(), Config::new()].map(|config| config.policy(policy));
    boxed(pair_with(configs, priorities, seed))
}

fn boxed(pair: [Porous; 2]) -> Ends {
    pair.map(|end| Box::new(end) as Box<dyn Endpoint>)
}

/// A host that connects, and one that listens.
fn pair(configs: [Config; 2], seed: u64) -> [Porous; 2] {
    pair_with(configs, [Priority::Low; CHANNELS as usize], seed)
}

/// [`pair`] with these priorities of its channels.
fn pair_with(
    [client, server]: [Config; 2],
    priorities: [Priority; CHANNELS as usize],
    seed: u64,
) -> [Porous; 2] {
    let host = |config: Config, index| {
        let config = config.channels(&priorities).expect("not too many");
        Host::new(config, Seed::new(seed).stream("porous", index))
    };
    let (mut client, mut server) = (host(client, 0), host(server, 1));
    server.listen(Listen::Open).expect("a server's");
    let peer = client.connect(Instant::ZERO, 1).expect("the first");
    [
        Porous::new(client, 1, Some(peer)),
        Porous::new(server, 0, None),
    ]
}

pub(crate) struct Porous {
    host: Host<ChaCha8Rng, u8>,
    /// The address of the other end.
    remote: u8,
    peer: Option<PeerId>,
    state: State,
    /// Copies of each reliable message; `None` if the host decides.
    copies: Option<u8>,
    buf: Vec<u8>,
}

impl Porous {
    fn new(host: Host<ChaCha8Rng, u8>, remote: u8, peer: Option<PeerId>) -> Self {
        Self {
            buf: vec![0; host.max_datagram_size()],
            host,
            remote,
            peer,
            state: State::Connecting,
            copies: None,
        }
    }

    fn send_by(&mut self, channel: u8, message: &[u8], options: SendOptions) -> bool {
        let Some(peer) = self.peer else { return false };
        let sent = self
            .host
            .send(peer, ChannelId(channel), message.to_vec(), options);
        sent.is_ok()
    }

    /// When the host has something to do, if no datagram comes before.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.host.poll_timeout()
    }
}

impl Endpoint for Porous {
    fn datagram_in(&mut self, now: Instant, datagram: &[u8]) {
        self.host
            .handle_datagram(now, self.remote, Ecn::NotEct, datagram);
    }

    fn service(&mut self, now: Instant) {
        self.host.handle_timeout(now);
        while let Some(event) = self.host.poll_event() {
            if let Event::Connected { peer, .. } = event {
                self.peer = Some(peer);
                self.state = State::Connected;
            } else if let Event::Disconnected { .. } = event {
                self.state = State::Lost;
            }
        }
    }

    fn received(&mut self) -> Option<Vec<u8>> {
        let received = self.host.receive(self.peer?)?;
        Some(received.payload.to_vec())
    }

    fn send(&mut self, channel: u8, message: &[u8], reliable: bool) -> bool {
        let options = if reliable {
            let options = SendOptions::new(Mode::Reliable);
            self.copies
                .map_or(options, |copies| options.redundancy(copies))
        } else {
            Mode::Unreliable.into()
        };
        self.send_by(channel, message, options)
    }

    fn send_passive(&mut self, channel: u8, message: &[u8]) -> bool {
        self.send_by(channel, message, Mode::Passive.into())
    }

    fn datagram_out(&mut self, now: Instant) -> Option<Vec<u8>> {
        let transmit = self.host.poll_transmit(now, &mut self.buf)?;
        Some(transmit.datagram.to_vec())
    }

    fn state(&self) -> State {
        self.state
    }
}
