//! One host with peers of every kind around it, which gets arbitrary datagrams. The peers are not
//! hosts: they speak through `wire` alone.

use core::time::Duration;

use porous_proto::hooks::doc::example_provider;
use porous_proto::hooks::work;
use porous_proto::seal::{Security, Suite};
use porous_proto::{
    ChannelId, Config, ConfigError, Disposition, Ecn, Event, Host, Instant, Integrity, Listen,
    Mode, PeerId, PeerState, Policy, Received,
};
use porous_sim::{ChaCha8Rng, Seed};

use crate::forms::{self, Frame, Nonce, Place, Step};
use porous_tests::encoder;
use porous_tests::remote::{Remote, nonce};

use crate::fill;
use crate::insider::{Act, Insider};
use crate::roaming::Roaming;

/// The longest fragment in bytes: the agreed length of datagrams, less 48.
pub const FRAGMENT: usize = 512 - 48;
/// Datagrams, events or packets that a host never has in a row: more mean that it does not stop.
const RESTLESS: usize = 3000;
const SECOND: Duration = Duration::from_secs(1);

/// The host, and the remotes around it.
#[derive(Debug)]
pub struct Target {
    /// The host.
    pub host: Host<ChaCha8Rng, u8>,
    now: Instant,
    remotes: Vec<Remote>,
    /// The newest cookie that was given out.
    pub cookie: u64,
    friend: Host<ChaCha8Rng, u8>,
    friends: [PeerId; 2],
    sealed: PeerId,
    /// Peers whose connections must go on, whatever others send.
    innocent: Vec<PeerId>,
    /// The factor by which drawn packet ids are multiplied.
    pub(crate) stride: u32,
    /// Peers that move, if the host follows them.
    pub roaming: Roaming,
    /// The keys of the plain peer, if it is connected by a sealed connection.
    pub(crate) insider: Option<Insider>,
}

/// What is different of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    /// It follows its peers.
    Roaming,
    /// It seals, and one of its peers does.
    Sealing,
}

const HOST: u8 = 100;

/// The address of a place.
#[must_use]
pub const fn address(place: Place) -> u8 {
    place as u8
}

fn config(
    policy: Policy,
    seal: Integrity,
    [frames, packets]: [u32; 2],
) -> Result<Config, ConfigError> {
    Ok(Config::new()
        .policy(policy)
        .channels(&[porous_proto::Priority::Low; 3])?
        .max_datagram(512)?
        .receive_budget(1000, 1064)?
        .windows(frames, packets)?
        .max_peers(8)
        .connect_timeout(3600 * SECOND)?
        .timeout(3600 * SECOND)?
        .integrity(seal))
}

impl Target {
    /// A host that follows this policy, with all its peers.
    ///
    /// # Panics
    ///
    /// If the handshakes do not go as the document says.
    ///
    /// # Errors
    ///
    /// None: the configuration is valid.
    pub fn new(policy: Policy) -> Result<Self, ConfigError> {
        Self::with_windows(policy, [6, 6])
    }

    /// As [`new`](Self::new), with the widest windows and ids of three bytes: packets leap from one end of a
    /// window to the other.
    ///
    /// # Panics
    ///
    /// As for `new`.
    ///
    /// # Errors
    ///
    /// None: the configuration is valid.
    pub fn wide(policy: Policy) -> Result<Self, ConfigError> {
        let mut target = Self::with_windows(policy, [16, 16])?;
        target.stride = 820;
        for remote in &mut target.remotes {
            remote.shape.id_bytes = 3;
        }
        Ok(target)
    }

    /// As [`new`](Self::new), but the host follows its peers (`docs/wire.md`, "Roaming").
    ///
    /// # Panics
    ///
    /// As for `new`.
    ///
    /// # Errors
    ///
    /// None: the configuration is valid.
    pub fn roaming(policy: Policy) -> Result<Self, ConfigError> {
        Self::with(policy, [6, 6], Kind::Roaming)
    }

    /// As [`new`](Self::new), but the connection of [`Place::Plain`] is sealed, by a toy for cryptography. The
    /// peer there has the keys, and all that it sends is well sealed, if it is to be.
    ///
    /// # Panics
    ///
    /// As for `new`.
    ///
    /// # Errors
    ///
    /// None: the configuration is valid.
    pub fn sealing(policy: Policy) -> Result<Self, ConfigError> {
        Self::with(policy, [6, 6], Kind::Sealing)
    }

    fn with_windows(policy: Policy, windows: [u8; 2]) -> Result<Self, ConfigError> {
        Self::with(policy, windows, Kind::Plain)
    }

    /// `windows` are logarithms.
    fn with(policy: Policy, windows: [u8; 2], kind: Kind) -> Result<Self, ConfigError> {
        let seed = Seed::new(1);
        let [header, all] = [Integrity::Header, Integrity::Crc32c]
            .map(|seal| config(policy, seal, windows.map(|log| 1 << log)));
        let config = header?.roaming(kind == Kind::Roaming);
        let config = match kind {
            Kind::Sealing => config.sealed(&[Suite::CHACHA_POLY])?,
            Kind::Plain | Kind::Roaming => config,
        };
        let mut host = Host::new(config, seed.stream("host", 0));
        if kind == Kind::Sealing {
            host.set_security(Security::new(example_provider()).allow_plain());
        }
        let mut friend = Host::new(all?, seed.stream("host", 1));
        let now = Instant::ZERO;
        assert_eq!(host.listen(Listen::Open), Ok(()));
        let there = friend.connect(now, HOST).expect("the first peer");
        for _ in 0..3 {
            carry(
                now,
                (&mut friend, address(Place::Friend)),
                (&mut host, HOST),
            );
        }
        let here = host.peers().next().expect("the friend").0;
        let same = fill::offer(forms::Offer::Same);
        let offer = encoder::Offer { windows, ..same };
        let sealing = encoder::Offer {
            integrity: 1,
            ..offer
        };
        let (plain, insider) = first_peer(&mut host, now, &offer, kind);
        let seal = Remote::connect(&mut host, now, address(Place::Sealed), &sealing);
        let sealed = host.peers().last().expect("it is connected").0;
        let attempt = Remote::attempt(&mut host, now, address(Place::Attempt), 1 << windows[1]);
        let gone = Remote::connect(&mut host, now, address(Place::Gone), &offer);
        let goodbye = encoder::long(0xF0, encoder::VERSION, gone.nonces, &[0; 4]);
        host.handle_datagram(now, address(Place::Gone), Ecn::NotEct, &goodbye);
        let mut target = Self {
            host,
            now,
            remotes: vec![plain, seal, attempt, gone],
            cookie: 1,
            friend,
            friends: [here, there],
            sealed,
            innocent: vec![here],
            stride: 1,
            roaming: Roaming::new(kind == Kind::Roaming),
            insider,
        };
        target.drain(&mut |_, _| {});
        Ok(target)
    }

    /// From now on the peer with a checksum must not be harmed: no form that comes names its nonces or has
    /// its check.
    pub fn spare_sealed(&mut self) {
        self.innocent.push(self.sealed);
    }

    /// The remote at a place. `None` for the friend, which is a real host, and for strangers.
    #[must_use]
    pub fn remote(&self, place: Place) -> Option<&Remote> {
        self.remotes.get(place as usize)
    }

    /// Applies an act of a peer that has keys. Returns what [`apply`](Self::apply) does.
    pub fn act(&mut self, act: &Act) -> Option<bool> {
        let text = match act {
            Act::Step(step) | Act::Step2(step) => return self.apply(step),
            Act::Text(_) | Act::Ping(_) => act.text()?,
        };
        let from = address(Place::Plain);
        let datagram = fill::sealed_text(self, &text);
        let handled = self.deliver(from, &datagram);
        self.answer(from, datagram.len());
        let _ = self.host.audit();
        Some(handled)
    }

    /// Applies a step. Returns true if the datagram of the step belonged to a peer, `None` if it had none.
    pub fn apply(&mut self, step: &Step) -> Option<bool> {
        let (from, datagram) = match step {
            Step::Form(from, form) => (from, fill::encode(self, from.place(), form)),
            Step::Damaged(from, form, at, bits) => {
                let mut datagram = fill::encode(self, from.place(), form);
                let at = usize::from(*at) % datagram.len();
                datagram[at] ^= bits;
                (from, datagram)
            }
            Step::Event(event) => {
                self.happen(*event);
                return None;
            }
        };
        let handled = self.deliver(address(from.place()), &datagram);
        self.answer(address(from.place()), datagram.len());
        let _ = self.host.audit();
        Some(handled)
    }

    fn happen(&mut self, event: forms::Event) {
        match event {
            forms::Event::Pass(millis) => self.pass(Duration::from_millis(millis.into())),
            forms::Event::Read => self.read(),
            forms::Event::Listen(open) => {
                let policy = if open > 0 {
                    Listen::Open
                } else {
                    Listen::Closed
                };
                assert_eq!(self.host.listen(policy), Ok(()));
            }
            forms::Event::Flood(few, many) => {
                let eighth = if few == 8 && many > 200 { many } else { few };
                let (datagram, count) = (fill::request(), 8 * usize::from(eighth));
                for _ in 0..count {
                    self.deliver(address(Place::Stranger), &datagram);
                }
                self.answer(address(Place::Stranger), count * datagram.len());
            }
        }
        let _ = self.host.audit();
    }

    /// Hands a datagram to the host, which costs no more than it may (`docs/design.md`, "What may a
    /// datagram cost?"). True if the datagram belonged to a peer.
    pub fn deliver(&mut self, from: u8, datagram: &[u8]) -> bool {
        let (before, len) = (work::done(), datagram.len() as u64);
        let taken = self
            .host
            .handle_datagram(self.now, from, Ecn::NotEct, datagram);
        let steps = work::done() - before;
        // A message may leap over the whole window, which the host searches 16 ids at a step.
        let leap = if self.stride > 1 { 4 * 65_536 / 16 } else { 0 };
        assert!(
            steps <= 600 + 40 * len + leap,
            "{steps} steps for {len} bytes"
        );
        match taken {
            Disposition::Handled(_) | Disposition::Accepted(_) => true,
            Disposition::Ignored(_) => false,
        }
    }

    /// Lets the host answer `len` bytes that came from `to`, and checks how much it sends: see
    /// `Roaming::assert_few`.
    pub fn answer(&mut self, to: u8, len: usize) {
        let is_peer = self
            .host
            .all_peers()
            .any(|(id, _)| self.host.address(id) == Some(to));
        let mut sent = 0;
        self.drain(&mut |address, bytes| {
            if address == to {
                sent += bytes;
            }
        });
        self.roaming.assert_few(to, is_peer, len, sent);
    }

    /// Takes out all datagrams and events of the host, and hands each datagram to its receiver.
    fn drain(&mut self, count: &mut dyn FnMut(u8, usize)) {
        let mut buf = [0; 1200];
        let mut calls = 0..RESTLESS;
        while let Some(transmit) = self.host.poll_transmit(self.now, &mut buf) {
            assert!(calls.next().is_some(), "datagrams without end");
            let (to, datagram) = (transmit.to, transmit.datagram);
            count(to, datagram.len());
            self.roaming.hear(datagram);
            if to == address(Place::Friend) {
                self.friend
                    .handle_datagram(self.now, HOST, Ecn::NotEct, datagram);
            } else if datagram[0] == 0xC1 {
                self.cookie = nonce(datagram);
            } else {
                let whose = self.roaming.whose(to, datagram);
                if let Some(remote) = self.remotes.get_mut(usize::from(whose)) {
                    remote.hear(datagram);
                }
            }
        }
        while let Some(event) = self.host.poll_event() {
            assert!(calls.next().is_some(), "events without end");
            if let Event::Disconnected { peer, .. } = event {
                assert!(!self.innocent.contains(&peer), "{event:?}");
            }
            self.roaming.moves += u32::from(matches!(event, Event::PeerMoved { .. }));
        }
        let peers = self.host.all_peers().count();
        assert!(peers <= 8 + 2 * 8 + 2, "{peers} peers");
    }

    /// Lets time pass.
    pub fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        for _ in 0..RESTLESS {
            self.friendship();
            let hosts = [&self.host, &self.friend];
            let due = hosts.into_iter().filter_map(Host::poll_timeout).min();
            let Some(due) = due.filter(|&due| due <= end) else {
                self.now = end;
                return;
            };
            self.now = self.now.max(due);
            self.host.handle_timeout(self.now);
            self.friend.handle_timeout(self.now);
        }
        panic!("the host does not come to rest");
    }

    fn friendship(&mut self) {
        let friend = (&mut self.friend, address(Place::Friend));
        carry(self.now, friend, (&mut self.host, HOST));
        self.drain(&mut |_, _| {});
        while self.friend.poll_event().is_some() {}
    }

    fn read(&mut self) {
        let peers: Vec<_> = self.host.all_peers().map(|(id, _)| id).collect();
        for peer in peers {
            let mut calls = 0..RESTLESS;
            while self.host.receive(peer).is_some() {
                assert!(calls.next().is_some(), "packets without end");
            }
        }
    }

    /// Checks that each peer that did nothing wrong is still connected, and that packets pass both ways.
    pub fn assert_unharmed(&mut self) {
        self.read();
        for peer in &self.innocent {
            let state = self.host.peer(*peer).map(porous_proto::Peer::state);
            assert_eq!(state, Some(PeerState::Connected));
        }
        let [here, there] = self.friends;
        let word = "a word".as_bytes();
        assert_eq!(
            self.host.send(here, ChannelId(2), word, Mode::Reliable),
            Ok(())
        );
        assert_eq!(
            self.friend.send(there, ChannelId(1), word, Mode::Reliable),
            Ok(())
        );
        self.pass(SECOND);
        let heard = [self.host.receive(here), self.friend.receive(there)];
        let heard = heard.map(|packet: Option<Received>| packet.map(|packet| packet.payload));
        assert_eq!(heard.map(|word| word.unwrap_or_default()), [word, word]);
    }

    /// The id of this frame of the remote at a place, which counts it as sent.
    pub fn frame(&mut self, to: Place, frame: Frame) -> u64 {
        let Some(remote) = self.remotes.get_mut(to as usize) else {
            return 0;
        };
        let id = match frame {
            Frame::Any(id) if id % 16 == 0 => return id.into(),
            Frame::Far(by) => return remote.next + u64::from(by),
            Frame::Next | Frame::Next2 | Frame::Next3 | Frame::Any(_) => remote.next,
            Frame::Ahead(by) => remote.next + u64::from(by),
            Frame::Behind(by) => remote.next.saturating_sub(by.into()),
        };
        remote.next = remote.next.max(id + 1);
        id
    }

    /// The value of a nonce.
    #[must_use]
    pub fn nonce(&self, nonce: Nonce) -> u64 {
        let of = |place, which: usize| self.remote(place).map_or(7, |remote| remote.nonces[which]);
        match nonce {
            Nonce::Zero => 0,
            Nonce::Peer(place) => of(place, 0),
            Nonce::Host(place) => of(place, 1),
            Nonce::Cookie => self.cookie,
            Nonce::Other(nonce) => nonce,
        }
    }
}

/// The plain peer, with its keys if it has any.
fn first_peer(
    host: &mut Host<ChaCha8Rng, u8>,
    now: Instant,
    offer: &encoder::Offer,
    kind: Kind,
) -> (Remote, Option<Insider>) {
    let address = address(Place::Plain);
    if kind != Kind::Sealing {
        return (Remote::connect(host, now, address, offer), None);
    }
    let sealing = encoder::Offer {
        sealed: &[1],
        ..*offer
    };
    let (remote, insider) = Insider::connect(host, now, address, &sealing);
    (remote, Some(insider))
}

/// Carries datagrams from one host to the other, and the answers back.
fn carry(
    now: Instant,
    (from, name): (&mut Host<ChaCha8Rng, u8>, u8),
    (to, other): (&mut Host<ChaCha8Rng, u8>, u8),
) {
    let mut buf = [0; 1200];
    while let Some(transmit) = from.poll_transmit(now, &mut buf) {
        to.handle_datagram(now, name, Ecn::NotEct, transmit.datagram);
    }
    while let Some(transmit) = to.poll_transmit(now, &mut buf) {
        if transmit.to == name {
            from.handle_datagram(now, other, Ecn::NotEct, transmit.datagram);
        }
    }
}
