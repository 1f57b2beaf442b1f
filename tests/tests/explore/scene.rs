//! A client and a server with an attacker between them, and what must be true whatever the attacker does.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::rc::Rc;
use core::cell::RefCell;
use core::time::Duration;

use porous_proto::seal::{
    Claims, Credentials, Provider, Psk, PublicKey, SecretKey, Secured, Security, Suite, Token,
    TokenKey,
};
use porous_proto::{
    ChannelId, Config, Disconnect, DisconnectReason, Event, Instant, Listen, Mode, PeerId,
    PeerState,
};
use porous_sim::explore::{Remembering, Schedule};
use porous_sim::{Intercept, LinkConfig, Seed, World};
use porous_tests::recorder::Recorder;

use crate::attacker::{Attacker, CLIENT, Datagram, SERVER};

/// The time that a datagram takes.
const DELAY: Duration = Duration::from_millis(20);

/// No attempt takes longer, and no packet comes later.
const LIMIT: Duration = Duration::from_secs(15);

const SECOND: Duration = Duration::from_secs(1);

/// The number of the psk.
const NUMBER: u32 = 7;

/// The id of the client in its token.
const PLAYER: u64 = 42;

/// Unix seconds at the beginning.
const NOW: u64 = 1_800_000_000;

const GOODBYE: u32 = 9;

/// By what the client proves its identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    Psk,
    /// It may be used once.
    Token,
}

/// What was before each run.
#[derive(Debug)]
pub(crate) struct Past {
    proof: Proof,
    recorder: &'static Recorder,
    server_key: PublicKey,
    credentials: Credentials,
    /// The first three datagrams of a handshake of the client, which was then started again. Message 1 never
    /// arrived.
    old: Vec<Datagram>,
}

impl Past {
    pub(crate) fn new(proof: Proof) -> Self {
        let recorder = Recorder::leaked(Remembering::leaked());
        let server_key = recorder
            .public_key(Suite::CHACHA_POLY, &identity())
            .unwrap();
        let credentials = Credentials::new().server_key(server_key.clone());
        let credentials = credentials.greeting(b"hello").unwrap();
        let credentials = match proof {
            Proof::Psk => credentials.psk(NUMBER, psk()),
            Proof::Token => {
                let claims = Claims::new(0, PLAYER, NOW..NOW + 30).single_use();
                let mut rng = Seed::new(1).stream("token", 0);
                let minted = Token::mint(recorder, &token_key(), &claims, &mut rng);
                let (token, psk) = minted.unwrap();
                credentials.token(token, psk)
            }
        };
        let mut past = Self {
            proof,
            recorder,
            server_key,
            credentials,
            old: Vec::new(),
        };
        past.old = past.handshake();
        past
    }

    /// The first three datagrams of a handshake, of which the third one is lost.
    fn handshake(&self) -> Vec<Datagram> {
        let mut world = self.world();
        let seen = Rc::new(RefCell::new(Vec::new()));
        let log = Rc::clone(&seen);
        world.intercept(move |passing| {
            log.borrow_mut().push(Datagram::of(passing));
            match passing.number {
                0 | 1 => Intercept::Pass,
                _ => Intercept::Drop,
            }
        });
        let attempt = world.connect_sealed(CLIENT, &[SERVER], &self.credentials);
        attempt.unwrap();
        world.run_for(3 * DELAY);
        let seen = seen.take();
        let kinds: Vec<_> = seen.iter().map(|datagram| datagram.bytes[0]).collect();
        assert_eq!(kinds, [0xC0, 0xC1, 0xD2]);
        seen
    }

    /// Both hosts, which are the same each time.
    fn world(&self) -> World {
        let mut world = World::new(Seed::new(1), LinkConfig::new().delay(DELAY));
        world.add_host(SERVER, config());
        let security = Security::new(self.recorder).identity(&identity()).unwrap();
        let security = match self.proof {
            Proof::Psk => security.psk(NUMBER, psk()).unwrap().allow_plain(),
            Proof::Token => security.token_key(0, token_key()).unwrap().require_proof(),
        };
        let server = world.host_mut(SERVER);
        server.set_security(security);
        server.set_unix_time(Instant::ZERO, NOW);
        server.listen(Listen::Open).unwrap();
        self.add_client(&mut world);
        world
    }

    /// A client, in the place of the one that was there.
    fn add_client(&self, world: &mut World) {
        world.add_host(CLIENT, config());
        world
            .host_mut(CLIENT)
            .set_security(Security::new(self.recorder));
    }

    /// What both hosts say that was proved is what was asked for.
    fn assert_proved(&self, at: u32, secured: &Secured) {
        assert_eq!(secured.server_key(), Some(&self.server_key), "{at}");
        let (psk, client) = match self.proof {
            Proof::Psk => (Some(NUMBER), None),
            Proof::Token => (None, (at == SERVER).then_some(PLAYER)),
        };
        assert_eq!((secured.psk(), secured.client_id()), (psk, client), "{at}");
    }
}

fn config() -> Config {
    Config::new().sealed(&[Suite::CHACHA_POLY]).unwrap()
}

fn identity() -> SecretKey {
    SecretKey::from_bytes([1; 32])
}

fn psk() -> Psk {
    Psk::from_bytes([2; 32])
}

fn token_key() -> TokenKey {
    TokenKey::from_bytes([3; 32])
}

/// The name of a sealed connection.
type Binding = [u8; 32];

/// What has come of a schedule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    /// When both hosts were connected with each other, from the beginning on.
    pub(crate) took: Option<Duration>,
    /// True if the server made a connection that the client does not have.
    pub(crate) is_revived: bool,
}

/// A run of two hosts.
struct Run<'p> {
    past: &'p Past,
    world: World,
    heard: Rc<RefCell<Vec<Datagram>>>,
    attacker: Attacker,
    /// The connections that each host was told of.
    connected: BTreeMap<(u32, Binding), PeerId>,
    /// All that the server ever had.
    server_had: BTreeSet<Binding>,
    /// Packets on their way: the receiver, the connection, the bytes; and whether they have to arrive.
    sent: BTreeMap<(u32, Binding, Vec<u8>), bool>,
    /// The connections that were said goodbye to at the server.
    parted: BTreeSet<PeerId>,
    took: Option<Duration>,
}

/// Runs two hosts with an attacker between them, which names its schedule if the run fails.
pub(crate) fn run(past: &Past, schedule: &mut Schedule) -> (Attacker, End) {
    past.recorder.forget();
    let mut run = Run::new(past);
    let attempt = run
        .world
        .connect_sealed(CLIENT, &[SERVER], &past.credentials);
    let there = attempt.unwrap();
    let is_done = run.drive(LIMIT, schedule, Run::is_done);
    run.attacker.let_go();
    if is_done {
        // What was held comes now, and changes nothing.
        run.drive(SECOND, schedule, |_| false);
        run.part(there, schedule);
    }
    let is_revived = run.server_had.iter().any(|binding| {
        let is_known = run.connected.contains_key(&(CLIENT, *binding));
        !is_known
    });
    let end = End {
        took: run.took,
        is_revived,
    };
    (run.attacker, end)
}

impl<'p> Run<'p> {
    fn new(past: &'p Past) -> Self {
        let mut world = past.world();
        // The client of the past is gone; this one has another source of chance.
        past.add_client(&mut world);
        let heard = Rc::new(RefCell::new(Vec::new()));
        let log = Rc::clone(&heard);
        world.intercept(move |passing| {
            log.borrow_mut().push(Datagram::of(passing));
            Intercept::Drop
        });
        Self {
            past,
            world,
            heard,
            attacker: Attacker::new(past.old.clone()),
            connected: BTreeMap::new(),
            server_had: BTreeSet::new(),
            sent: BTreeMap::new(),
            parted: BTreeSet::new(),
            took: None,
        }
    }

    /// Lets this time pass, or less if that is enough, which it then says.
    fn drive(
        &mut self,
        time: Duration,
        schedule: &mut Schedule,
        is_enough: impl Fn(&Self) -> bool,
    ) -> bool {
        let limit = self.world.now() + time;
        loop {
            // The hosts send first.
            self.world.next_happening();
            for datagram in self.heard.take() {
                self.attacker.decide(datagram, schedule);
            }
            for Datagram { from, to, bytes } in self.attacker.take() {
                self.world.inject(from, to, bytes);
            }
            if is_enough(self) {
                return true;
            }
            let next = self.world.next_happening();
            if next.is_none_or(|next| next > limit) {
                return false;
            }
            self.world.step();
            for at in [SERVER, CLIENT] {
                self.look_at(at);
            }
        }
    }

    /// The application of a host: it says two words to each peer, and listens.
    fn look_at(&mut self, at: u32) {
        let peers = self.world.host(at).all_peers();
        let peers: Vec<_> = peers.map(|(id, peer)| (id, peer.state())).collect();
        for &(id, state) in &peers {
            let secured = self.world.host(at).peer(id).and_then(|peer| peer.secured());
            let Some(secured) = secured else {
                assert_ne!(state, PeerState::Connected, "{at} is connected in plain");
                continue;
            };
            self.past.assert_proved(at, secured);
            let binding = *secured.binding();
            if at == SERVER {
                self.server_had.insert(binding);
            }
            assert!(
                self.server_had.contains(&binding),
                "the client has a connection that the server has not"
            );
        }
        while let Some(event) = self.world.poll_event(at) {
            let goodbye = DisconnectReason::ByPeer(GOODBYE);
            if let Event::Connected { peer, .. } = event {
                self.on_connected(at, peer);
            } else if let Event::Disconnected { peer, reason, .. } = event {
                if at == SERVER && reason == goodbye {
                    self.parted.insert(peer);
                }
            }
        }
        for (id, _) in peers {
            self.receive(at, id);
        }
    }

    fn binding(&self, at: u32, peer: PeerId) -> Binding {
        let peer = self.world.host(at).peer(peer).unwrap();
        *peer.secured().expect("a plain connection").binding()
    }

    fn on_connected(&mut self, at: u32, peer: PeerId) {
        let binding = self.binding(at, peer);
        let before = self.connected.insert((at, binding), peer);
        assert_eq!(before, None, "{at} has one connection twice");
        for (n, mode) in [(0, Mode::Reliable), (1, Mode::Unreliable)] {
            let to = CLIENT + SERVER - at;
            let bytes = [&at.to_le_bytes(), &[n][..], &binding].concat();
            let host = self.world.host_mut(at);
            host.send(peer, ChannelId(0), bytes.clone(), mode).unwrap();
            let is_reliable = mode == Mode::Reliable;
            self.sent.insert((to, binding, bytes), is_reliable);
        }
        let is_known = |at| self.connected.contains_key(&(at, binding));
        if is_known(CLIENT) && is_known(SERVER) {
            let took = self.world.now().saturating_duration_since(Instant::ZERO);
            self.took = self.took.or(Some(took));
        }
    }

    /// What comes was sent on this connection, and has not come before.
    fn receive(&mut self, at: u32, peer: PeerId) {
        while let Some(packet) = self.world.host_mut(at).receive(peer) {
            let binding = self.binding(at, peer);
            let key = (at, binding, packet.payload.to_vec());
            let sent = self.sent.remove(&key);
            assert!(
                sent.is_some(),
                "{at} received {key:?}, which was not sent, or came before"
            );
        }
    }

    /// Whether the two hosts are connected, and all is said that has to arrive.
    fn is_done(&self) -> bool {
        let client = self.connected.keys().find(|(at, _)| *at == CLIENT);
        let both = client.filter(|(_, binding)| self.connected.contains_key(&(SERVER, *binding)));
        both.is_some_and(|(_, binding)| {
            let mut waits = self.sent.iter();
            !waits.any(|((_, of, _), &has_to)| of == binding && has_to)
        })
    }

    /// The client says goodbye, and the server understands it.
    fn part(&mut self, there: PeerId, schedule: &mut Schedule) {
        let binding = self.binding(CLIENT, there);
        let here = self.connected[&(SERVER, binding)];
        let state = |run: &Self, at, peer| run.world.host(at).peer(peer).map(|peer| peer.state());
        let connected = Some(PeerState::Connected);
        assert_eq!(state(self, CLIENT, there), connected, "it was lost");
        assert_eq!(state(self, SERVER, here), connected, "it was lost");
        let how = Disconnect::Now { reason: GOODBYE };
        self.world.disconnect(CLIENT, there, how).unwrap();
        let heard = self.drive(SECOND, schedule, |run| run.parted.contains(&here));
        assert!(heard, "the server did not understand a goodbye");
        let _ = [CLIENT, SERVER].map(|at| self.world.host(at).audit());
    }
}
