//! A host that does what a script says, when the script says so.

use alloc::collections::{BTreeMap, VecDeque};
use core::net::SocketAddr;

use porous_proto::{ChannelId, Disposition, Ecn, Event, Host, Instant, Listen, PeerId, Received};
use porous_sim::{ChaCha8Rng, Seed};

use super::scripts::{Act, Script, Setup, TOKEN_TIME};

/// A datagram that comes.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    /// In microseconds.
    pub(crate) at: u64,
    pub(crate) from: SocketAddr,
    pub(crate) ecn: Ecn,
    pub(crate) bytes: Vec<u8>,
}

/// A datagram that leaves.
#[derive(Clone, Debug)]
pub(crate) struct Departure {
    pub(crate) to: SocketAddr,
    pub(crate) ecn: Ecn,
    pub(crate) bytes: Vec<u8>,
}

/// What a host has told its application.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    /// The packets of each channel, in order. Between channels there is none.
    pub(crate) packets: BTreeMap<u8, Vec<Received>>,
    /// What became of the connection.
    pub(crate) events: Vec<String>,
    /// The last word of each receipt.
    pub(crate) receipts: BTreeMap<u64, String>,
    /// Why which datagrams, by their numbers among those that came, were ignored.
    pub(crate) ignored: BTreeMap<usize, String>,
}

/// The host, and its part of the script.
pub(crate) struct Actor {
    host: Host<ChaCha8Rng, SocketAddr>,
    setup: fn() -> Setup,
    acts: VecDeque<(u64, Act)>,
    peer: Option<PeerId>,
    came: usize,
    told: Told,
}

fn host(setup: Setup, chance: ChaCha8Rng) -> Host<ChaCha8Rng, SocketAddr> {
    let mut host = Host::<_, SocketAddr>::new(setup.config, chance);
    if let Some(security) = setup.security {
        host.set_security(security);
        host.set_unix_time(Instant::ZERO, TOKEN_TIME);
    }
    host.set_same_host(|one, other| one.ip() == other.ip());
    host
}

impl Actor {
    /// The host at this place of the script. What it draws follows from the name of the script.
    pub(crate) fn new(script: &Script, place: usize) -> Self {
        let chance = Seed::new(1).stream(script.name, place as u64);
        let setup = script.hosts[place];
        let acts = script.acts.iter();
        let own = acts.filter(|(_, host, _)| *host == place);
        Self {
            host: host(setup(), chance),
            setup,
            acts: own.map(|(ms, _, act)| (ms * 1000, act.clone())).collect(),
            peer: None,
            came: 0,
            told: Told::default(),
        }
    }

    /// When the host has to be called next, in microseconds.
    pub(crate) fn next(&self) -> Option<u64> {
        let act = self.acts.front().map(|(at, _)| *at);
        let timeout = self.host.poll_timeout().map(Instant::as_micros);
        act.into_iter().chain(timeout).min()
    }

    pub(crate) fn handle(&mut self, arrival: &Arrival) {
        let now = Instant::from_micros(arrival.at);
        let host = &mut self.host;
        let became = host.handle_datagram(now, arrival.from, arrival.ecn, &arrival.bytes);
        if let Disposition::Ignored(why) = became {
            self.told.ignored.insert(self.came, format!("{why:?}"));
        }
        self.came += 1;
    }

    /// Does what has to be done by now. Gives what the host sends.
    pub(crate) fn turn(&mut self, now: u64) -> Vec<Departure> {
        let time = Instant::from_micros(now);
        while self.acts.front().is_some_and(|(at, _)| *at <= now) {
            let (_, act) = self.acts.pop_front().unwrap();
            self.act(time, act);
        }
        if self.host.poll_timeout().is_some_and(|at| at <= time) {
            self.host.handle_timeout(time);
        }
        let mut sent = Vec::new();
        let mut buffer = vec![0; self.host.max_datagram_size()];
        loop {
            self.listen();
            let Some(transmit) = self.host.poll_transmit(time, &mut buffer) else {
                return sent;
            };
            sent.push(Departure {
                to: transmit.to,
                ecn: transmit.ecn,
                bytes: transmit.datagram.to_vec(),
            });
        }
    }

    pub(crate) fn told(self) -> Told {
        self.told
    }

    fn act(&mut self, now: Instant, act: Act) {
        let host = &mut self.host;
        match act {
            Act::Listen(listen) => host.listen(listen).unwrap(),
            Act::Connect(to, greeting) => {
                self.peer = Some(host.connect_with(now, &[to], greeting).unwrap());
            }
            Act::ConnectSealed(to, credentials) => {
                self.peer = Some(host.connect_sealed(now, &[to], &credentials()).unwrap());
            }
            Act::Accept => host.accept(now, self.peer.unwrap()).unwrap(),
            Act::Refuse(data) => host.refuse(now, self.peer.unwrap(), data).unwrap(),
            Act::Send(channel, options, payload) => {
                let peer = self.peer.unwrap();
                host.send(peer, ChannelId(channel), payload, options)
                    .unwrap();
            }
            Act::ReceiveRate(rate) => host.set_receive_rate(self.peer.unwrap(), rate).unwrap(),
            Act::Disconnect(how) => host.disconnect(now, self.peer.unwrap(), how).unwrap(),
            Act::Restart => {
                self.host = self::host((self.setup)(), Seed::new(2).stream("restart", 0));
                self.host.listen(Listen::Open).unwrap();
            }
            // The router's doing, and not the host's.
            Act::Move(_) => {}
        }
    }

    /// Takes what the host tells.
    fn listen(&mut self) {
        while let Some(event) = self.host.poll_event() {
            let words = match event {
                Event::Request { peer, .. } => {
                    self.peer = Some(peer);
                    "asked".to_owned()
                }
                Event::Connected { peer, .. } => {
                    self.peer = Some(peer);
                    "connected".to_owned()
                }
                Event::Receipt { token, outcome, .. } => {
                    self.told.receipts.insert(token, format!("{outcome:?}"));
                    continue;
                }
                Event::PeerMoved { from, to, .. } => format!("moved from {from} to {to}"),
                Event::Disconnected { reason, .. } => format!("ended: {reason:?}"),
                Event::Readable { peer } => {
                    while let Some(packet) = self.host.receive(peer) {
                        let channel = packet.channel.0;
                        self.told.packets.entry(channel).or_default().push(packet);
                    }
                    continue;
                }
                other @ (Event::Writable { .. }
                | Event::PathNarrowed { .. }
                | Event::PortClosed { .. }
                | _) => format!("{other:?}"),
            };
            self.told.events.push(words);
        }
    }
}
