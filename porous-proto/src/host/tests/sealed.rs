//! Sealed connections between two hosts in memory, and an attacker between them. The cryptography is a toy:
//! what the true one keeps safe is tested with it (`porous-crypto`).

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::seal::toy::Toy;
use crate::seal::{Credentials, Psk, PublicKey, SecretKey, Security, SecurityError, Suite};
use crate::{ConnectError, DisconnectReason, Refusal};

const MS: Duration = Duration::from_millis(1);

/// The time that a datagram takes.
const DELAY: Duration = Duration::from_millis(20);

/// The addresses of the two hosts: the first one connects, the second one listens.
const CLIENT: u32 = 1;
const SERVER: u32 = 2;

/// What the attacker makes of the datagram with this number, which was sent from this address: the datagrams that
/// arrive in its place, at the other host, from that address.
type Attack<'a> = dyn FnMut(usize, u32, &[u8]) -> Vec<Vec<u8>> + 'a;

fn security() -> Security {
    Security::new(&Toy)
}

fn sealed() -> Config {
    Config::new().sealed(&[Suite::CHACHA_POLY]).unwrap()
}

/// Two hosts, and the datagrams between them.
struct World {
    now: Instant,
    hosts: BTreeMap<u32, Host<ExampleRng, u32>>,
    /// When they arrive, where, and what.
    flying: Vec<(Instant, u32, Vec<u8>)>,
    /// All datagrams that were sent, and from where.
    sent: Vec<(u32, Vec<u8>)>,
    events: Vec<(u32, Event<u32>)>,
    ignored: Vec<(u32, Ignored)>,
}

impl World {
    fn new(client: Config, server: Config) -> Self {
        let host = |config, seed| Host::<_, u32>::new(config, ExampleRng(seed));
        let mut hosts = BTreeMap::from([(CLIENT, host(client, 11)), (SERVER, host(server, 12))]);
        let listener = hosts.get_mut(&SERVER).unwrap();
        listener.listen(Listen::Open).unwrap();
        Self {
            now: Instant::ZERO,
            hosts,
            flying: Vec::new(),
            sent: Vec::new(),
            events: Vec::new(),
            ignored: Vec::new(),
        }
    }

    /// Two hosts that can seal.
    fn secure() -> Self {
        let mut world = Self::new(sealed(), sealed());
        world.host(CLIENT).set_security(security());
        world.host(SERVER).set_security(security());
        world
    }

    /// Two hosts with a sealed connection.
    fn connected() -> Self {
        let mut world = Self::secure();
        world.connect();
        world.run(500 * MS);
        assert_eq!(world.connected_at(), [CLIENT, SERVER]);
        world
    }

    fn host(&mut self, at: u32) -> &mut Host<ExampleRng, u32> {
        self.hosts.get_mut(&at).unwrap()
    }

    fn connect(&mut self) -> PeerId {
        self.connect_by(&Credentials::new().greeting(b"hello").unwrap())
    }

    fn connect_by(&mut self, credentials: &Credentials) -> PeerId {
        let now = self.now;
        let client = self.host(CLIENT);
        client.connect_sealed(now, &[SERVER], credentials).unwrap()
    }

    /// What both hosts say that was proved; `None` if the two are not connected.
    fn proved(&mut self) -> Option<(Option<PublicKey>, Option<u32>)> {
        if self.connected_at() != [CLIENT, SERVER] {
            return None;
        }
        let [client, server] = [CLIENT, SERVER].map(|at| {
            let peer = self.peer(at);
            let secured = self.hosts[&at].peer(peer).unwrap().secured().unwrap();
            (secured.server_key().cloned(), secured.psk())
        });
        assert_eq!(client, server);
        Some(client)
    }

    fn run(&mut self, time: Duration) {
        self.run_with(time, &mut |_, _, datagram| vec![datagram.to_vec()]);
    }

    /// Lets this time pass, with an attacker that sees and changes all that is sent.
    fn run_with(&mut self, time: Duration, attack: &mut Attack<'_>) {
        let end = self.now + time;
        loop {
            self.poll(attack);
            let due = self.hosts.values().filter_map(Host::poll_timeout).min();
            let due = due.unwrap_or(Instant::NEVER).max(self.now);
            let arrives = self.flying.iter().map(|&(at, ..)| at).min();
            let next = due.min(arrives.unwrap_or(Instant::NEVER));
            if next > end {
                break;
            }
            self.now = next;
            self.flying.sort_by_key(|&(at, ..)| at);
            let later = self.flying.partition_point(|&(at, ..)| at <= next);
            for (_, to, datagram) in self.flying.drain(..later).collect::<Vec<_>>() {
                self.deliver(to, &datagram);
            }
            for host in self.hosts.values_mut() {
                host.handle_timeout(next);
            }
        }
        self.now = end;
    }

    /// Hands a datagram to a host, as if it came from the other one.
    fn deliver(&mut self, to: u32, datagram: &[u8]) -> Disposition {
        let now = self.now;
        let (from, ecn) = (CLIENT + SERVER - to, Ecn::NotEct);
        let disposition = self.host(to).handle_datagram(now, from, ecn, datagram);
        if let Disposition::Ignored(cause) = disposition {
            self.ignored.push((to, cause));
        }
        disposition
    }

    /// Takes out what the hosts have to send and to say.
    fn poll(&mut self, attack: &mut Attack<'_>) {
        let mut buf = [0; 1200];
        for (&at, host) in &mut self.hosts {
            while let Some(transmit) = host.poll_transmit(self.now, &mut buf) {
                let datagram = transmit.datagram.to_vec();
                let arrive = attack(self.sent.len(), at, &datagram);
                self.sent.push((at, datagram));
                let to = transmit.to;
                let flies = |datagram| (self.now + DELAY, to, datagram);
                self.flying.extend(arrive.into_iter().map(flies));
            }
            let events = core::iter::from_fn(|| host.poll_event());
            self.events.extend(events.map(|event| (at, event)));
        }
    }

    /// The hosts that were told of a connection.
    fn connected_at(&self) -> Vec<u32> {
        let told = self.events.iter();
        let told = told.filter(|(_, event)| matches!(event, Event::Connected { .. }));
        let mut told: Vec<u32> = told.map(|&(at, _)| at).collect();
        told.sort_unstable();
        told
    }

    /// Why the peer of this host ended, if it has.
    fn ended(&self, host: u32) -> Option<DisconnectReason> {
        let mut events = self.events.iter().filter(|&&(at, _)| at == host);
        events.find_map(|(_, event)| {
            if let Event::Disconnected { reason, .. } = event {
                return Some(*reason);
            }
            None
        })
    }

    /// The only peer of this host.
    fn peer(&mut self, at: u32) -> PeerId {
        let (peer, _) = self.host(at).peers().next().unwrap();
        peer
    }

    fn send(&mut self, from: u32, packet: &'static [u8]) {
        let peer = self.peer(from);
        let host = self.host(from);
        host.send(peer, ChannelId(0), packet, Mode::Reliable)
            .unwrap();
    }

    fn received(&mut self, at: u32) -> Vec<Vec<u8>> {
        let peer = self.peer(at);
        let host = self.host(at);
        let packets = core::iter::from_fn(|| host.receive(peer));
        packets.map(|packet| packet.payload.to_vec()).collect()
    }

    /// Checks that the connection carries packets both ways.
    fn check(&mut self) {
        self.send(CLIENT, b"from the client");
        self.send(SERVER, b"from the server");
        self.run(500 * MS);
        assert_eq!(self.received(SERVER), [b"from the client"]);
        assert_eq!(self.received(CLIENT), [b"from the server"]);
    }
}

/// The secret key of a server, and the public one of the toy.
fn server_keys(byte: u8) -> (SecretKey, PublicKey) {
    let public = PublicKey::from_bytes(&[byte; 32]).unwrap();
    (SecretKey::from_bytes([byte; 32]), public)
}

fn psk(byte: u8) -> Psk {
    Psk::from_bytes([byte; 32])
}

/// How the two hosts of a test prove who they are.
fn proofs() -> [(Security, Credentials); 4] {
    let (secret, public) = server_keys(5);
    let plain = || Credentials::new().greeting(b"hello").unwrap();
    let named = security().identity(&secret).unwrap();
    let grouped = security().psk(7, psk(3)).unwrap().require_psk();
    let both = named.clone().psk(7, psk(3)).unwrap().require_psk();
    [
        (security(), plain()),
        (named, plain().server_key(public.clone())),
        (grouped, plain().psk(7, psk(3))),
        (both, plain().server_key(public).psk(7, psk(3))),
    ]
}

/// The kind of a datagram, by its byte 0.
fn kind(datagram: &[u8]) -> u8 {
    datagram[0]
}

fn contains(all: &[u8], part: &[u8]) -> bool {
    all.windows(part.len()).any(|window| window == part)
}

#[test]
fn a_sealed_connection_carries_packets_and_shows_none() {
    let mut world = World::connected();
    world.check();
    let shows = |(_, datagram): &(u32, Vec<u8>)| {
        contains(datagram, b"from the") || contains(datagram, b"hello")
    };
    assert!(!world.sent.iter().any(shows));
    // REQ, REQ with COOKIE, ACK with AUTH and REQ, ACK with AUTH and a short form; then short forms alone.
    let kinds: Vec<_> = world
        .sent
        .iter()
        .map(|(_, datagram)| kind(datagram))
        .collect();
    assert_eq!(kinds[..4], [0xC0, 0xC1, 0xD2, 0xD2]);
    assert!(
        kinds[4..].iter().all(|kind| kind & 0xC0 == 0x40),
        "{kinds:x?}"
    );
}

#[test]
fn both_hosts_know_a_sealed_connection_by_the_same_name() {
    let mut world = World::connected();
    let secured = [CLIENT, SERVER].map(|at| {
        let peer = world.peer(at);
        let host = &world.hosts[&at];
        let peer = host.peer(peer).unwrap();
        let secured = peer.secured().unwrap();
        let keys = (secured.export(b"voice"), secured.export(b"video"));
        (secured.suite(), *secured.binding(), keys)
    });
    assert_eq!(secured[0], secured[1]);
    let (voice, video) = secured[0].2;
    assert_ne!(voice, video);
    let peer = world.peer(SERVER);
    let server = &world.hosts[&SERVER];
    assert_eq!(server.peer(peer).unwrap().greeting(), b"hello");
    // Another connection has another name.
    let other = {
        let mut world = World::secure();
        let now = world.now;
        let other = Credentials::new().greeting(b"other").unwrap();
        world
            .host(CLIENT)
            .connect_sealed(now, &[SERVER], &other)
            .unwrap();
        world.run(500 * MS);
        let peer = world.peer(CLIENT);
        *world.hosts[&CLIENT]
            .peer(peer)
            .unwrap()
            .secured()
            .unwrap()
            .binding()
    };
    assert_ne!(secured[0].1, other);
}

#[test]
fn a_listener_that_asks_reads_the_sealed_greeting_first() {
    let mut world = World::secure();
    world.host(SERVER).listen(Listen::Ask).unwrap();
    world.connect();
    world.run(500 * MS);
    assert!(world.connected_at().is_empty());
    let asked = world.events.iter().find_map(|(at, event)| {
        if let Event::Request { peer, .. } = event {
            return (*at == SERVER).then_some(*peer);
        }
        None
    });
    let (peer, now) = (asked.unwrap(), world.now);
    let server = world.host(SERVER);
    assert_eq!(server.peer(peer).unwrap().greeting(), b"hello");
    assert!(server.peer(peer).unwrap().secured().is_some());
    server.accept(now, peer).unwrap();
    world.run(2000 * MS);
    assert_eq!(world.connected_at(), [CLIENT, SERVER]);
    world.check();
}

/// What a host can do, and wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Sealed,
    SealedOrPlain,
    /// With a suite that the others do not have.
    Other,
}

/// Suite 1 under another number.
#[derive(Debug)]
struct OtherToy;

impl crate::seal::Provider for OtherToy {
    fn suites(&self) -> &[Suite] {
        const SUITES: [Suite; 1] = [Suite::AES_GCM];
        &SUITES
    }

    fn public_key(&self, suite: Suite, secret: &SecretKey) -> Result<PublicKey, crate::seal::Weak> {
        Toy.public_key(suite, secret)
    }

    fn agree(
        &self,
        suite: Suite,
        secret: &SecretKey,
        public: &[u8],
    ) -> Result<crate::seal::Shared, crate::seal::Weak> {
        Toy.agree(suite, secret, public)
    }

    fn hash(&self, suite: Suite, parts: &[&[u8]]) -> [u8; 32] {
        Toy.hash(suite, parts)
    }

    fn aead(&self, suite: Suite, key: &[u8; 32]) -> alloc::boxed::Box<dyn crate::seal::Aead> {
        Toy.aead(suite, key)
    }
}

impl Kind {
    const ALL: [Self; 4] = [Self::Plain, Self::Sealed, Self::SealedOrPlain, Self::Other];

    fn config(self) -> Config {
        match self {
            Self::Plain => Config::new(),
            Self::Sealed | Self::SealedOrPlain => sealed(),
            Self::Other => Config::new().sealed(&[Suite::AES_GCM]).unwrap(),
        }
    }

    fn security(self) -> Option<Security> {
        match self {
            Self::Plain => None,
            Self::Sealed => Some(security()),
            Self::SealedOrPlain => Some(security().allow_plain()),
            Self::Other => Some(Security::new(&OtherToy)),
        }
    }
}

#[test]
fn nobody_falls_back_to_a_plain_connection() {
    for client in Kind::ALL {
        for server in Kind::ALL {
            let mut world = World::new(client.config(), server.config());
            for (at, kind) in [(CLIENT, client), (SERVER, server)] {
                if let Some(security) = kind.security() {
                    world.host(at).set_security(security);
                }
            }
            let now = world.now;
            let host = world.host(CLIENT);
            // Who can seal does.
            let attempt = if client == Kind::Plain {
                host.connect(now, SERVER)
            } else {
                host.connect_sealed(now, &[SERVER], &Credentials::new())
            };
            attempt.unwrap();
            world.run(2000 * MS);
            let seals = [Kind::Sealed, Kind::SealedOrPlain];
            let is_sealed = (seals.contains(&client) && seals.contains(&server))
                || (client == Kind::Other && server == Kind::Other);
            let is_plain =
                client == Kind::Plain && [Kind::Plain, Kind::SealedOrPlain].contains(&server);
            let context = alloc::format!("{client:?} to {server:?}");
            if is_sealed || is_plain {
                assert_eq!(world.connected_at(), [CLIENT, SERVER], "{context}");
                for at in [CLIENT, SERVER] {
                    let peer = world.peer(at);
                    let secured = world.hosts[&at].peer(peer).unwrap().secured();
                    assert_eq!(secured.is_some(), is_sealed, "{context}");
                }
            } else {
                assert!(world.connected_at().is_empty(), "{context}");
                let refused = DisconnectReason::Refused(Refusal::Security);
                assert_eq!(world.ended(CLIENT), Some(refused), "{context}");
            }
        }
    }
}

#[test]
fn a_plain_attempt_of_a_host_that_could_seal_is_plain() {
    let mut world = World::secure();
    world.host(SERVER).set_security(security().allow_plain());
    let now = world.now;
    world.host(CLIENT).connect(now, SERVER).unwrap();
    world.run(500 * MS);
    assert_eq!(world.connected_at(), [CLIENT, SERVER]);
    let peer = world.peer(CLIENT);
    assert!(world.hosts[&CLIENT].peer(peer).unwrap().secured().is_none());
    world.check();
}

#[test]
fn a_host_that_cannot_seal_says_so() {
    let now = Instant::ZERO;
    let credentials = Credentials::new();
    let mut host = Host::<_, u32>::new(sealed(), example_rng());
    let attempt = host.connect_sealed(now, &[SERVER], &credentials);
    assert_eq!(attempt, Err(ConnectError::NotSealed), "no cryptography");
    host.set_security(Security::new(&OtherToy));
    let attempt = host.connect_sealed(now, &[SERVER], &credentials);
    assert_eq!(attempt, Err(ConnectError::NotSealed), "without the suite");
    host.set_security(security());
    assert!(host.connect_sealed(now, &[SERVER], &credentials).is_ok());
    let mut host = Host::<_, u32>::new(Config::new(), example_rng());
    host.set_security(security());
    let attempt = host.connect_sealed(now, &[SERVER], &credentials);
    assert_eq!(attempt, Err(ConnectError::NotSealed), "no suites");
}

#[test]
fn a_greeting_that_does_not_fit_is_too_long() {
    let config = sealed().request_size(512).unwrap();
    let mut host = Host::<_, u32>::new(config, example_rng());
    host.set_security(security());
    let greeting = |len: usize| Credentials::new().greeting(&vec![7; len]).unwrap();
    let now = Instant::ZERO;
    let too_long = host.connect_sealed(now, &[SERVER], &greeting(255));
    assert_eq!(
        too_long,
        Ok(host.peers().next().unwrap().0),
        "one channel leaves room"
    );
    let config = sealed().channels(&[crate::Priority::Low; 255]).unwrap();
    let config = config.request_size(512).unwrap();
    let mut host = Host::<_, u32>::new(config, example_rng());
    host.set_security(security());
    let too_long = host.connect_sealed(now, &[SERVER], &greeting(255));
    assert_eq!(too_long, Err(ConnectError::TooLong));
    assert!(host.connect_sealed(now, &[SERVER], &greeting(200)).is_ok());
}

/// Whatever an attacker does to one datagram of the handshake: the connection comes up a round of requests
/// later, and is the one that was meant.
#[test]
fn a_handshake_with_a_changed_byte_comes_up_all_the_same() {
    for (server, credentials) in proofs() {
        let begun = || {
            let mut world = World::secure();
            world.host(SERVER).set_security(server.clone());
            world.connect_by(&credentials);
            world
        };
        let mut clean = begun();
        clean.run(500 * MS);
        let proved = clean.proved().unwrap();
        let sent = clean.sent.iter().take(4);
        let lengths: Vec<usize> = sent.map(|(_, datagram)| datagram.len()).collect();
        for (number, length) in lengths.into_iter().enumerate() {
            // Padding is zeros: one of its bytes is as good as another.
            for place in (0..length).filter(|&place| place < 300 || place % 97 == 0) {
                let mut world = begun();
                let bit = 1 << (place % 8);
                world.run_with(3000 * MS, &mut |n, _, datagram| {
                    let mut changed = datagram.to_vec();
                    if n == number {
                        changed[place] ^= bit;
                    }
                    vec![changed]
                });
                let context = alloc::format!("{credentials:?}: datagram {number}, byte {place}");
                assert_eq!(world.proved().as_ref(), Some(&proved), "{context}");
                let peer = world.peer(SERVER);
                let greeting = world.hosts[&SERVER].peer(peer).unwrap().greeting();
                assert_eq!(greeting, b"hello", "{context}");
                world.check();
            }
        }
    }
}

/// What comes of an attempt with these credentials at a server with this security.
fn outcome(
    server: Security,
    credentials: &Credentials,
) -> Result<(bool, Option<u32>), DisconnectReason> {
    let mut world = World::secure();
    world.host(SERVER).set_security(server);
    world.connect_by(credentials);
    world.run(2000 * MS);
    match world.proved() {
        Some((key, psk)) => Ok((key.is_some(), psk)),
        None => Err(world.ended(CLIENT).unwrap()),
    }
}

#[test]
fn hosts_are_who_they_say_or_there_is_no_connection() {
    let refused = Err(DisconnectReason::Refused(Refusal::Security));
    let ((secret, public), (other_secret, other)) = (server_keys(5), server_keys(6));
    let plain = Credentials::new;
    let named = || security().identity(&secret).unwrap();
    assert_eq!(outcome(named(), &plain()), Ok((false, None)), "named none");
    assert_eq!(
        outcome(named(), &plain().server_key(public.clone())),
        Ok((true, None))
    );
    assert_eq!(
        outcome(named(), &plain().server_key(other.clone())),
        refused,
        "another key"
    );
    assert_eq!(
        outcome(security(), &plain().server_key(public.clone())),
        refused,
        "no key"
    );
    // While clients learn a new key, the server has both.
    let two = named().identity(&other_secret).unwrap();
    for key in [public.clone(), other] {
        assert_eq!(
            outcome(two.clone(), &plain().server_key(key)),
            Ok((true, None))
        );
    }
    let grouped = || security().psk(7, psk(3)).unwrap().psk(8, psk(4)).unwrap();
    assert_eq!(outcome(grouped(), &plain()), Ok((false, None)));
    assert_eq!(
        outcome(grouped().require_psk(), &plain()),
        refused,
        "proves nothing"
    );
    for number in [7, 8] {
        let credentials = plain().psk(number, psk(if number == 7 { 3 } else { 4 }));
        let outcome = outcome(grouped().require_psk(), &credentials);
        assert_eq!(outcome, Ok((false, Some(number))));
    }
    assert_eq!(
        outcome(grouped(), &plain().psk(7, psk(4))),
        refused,
        "another secret"
    );
    assert_eq!(
        outcome(grouped(), &plain().psk(9, psk(3))),
        refused,
        "another number"
    );
    assert_eq!(
        outcome(security(), &plain().psk(7, psk(3))),
        refused,
        "no psk"
    );
    let both = named().psk(7, psk(3)).unwrap().require_psk();
    let credentials = plain().server_key(public).psk(7, psk(3));
    assert_eq!(outcome(both, &credentials), Ok((true, Some(7))));
}

#[test]
fn a_host_has_two_key_pairs_and_four_psks() {
    let keys = [1, 2, 3].map(|byte| server_keys(byte).0);
    let two = security().identity(&keys[0]).unwrap().identity(&keys[1]);
    let third = two.unwrap().identity(&keys[2]);
    assert_eq!(third.err(), Some(SecurityError::TooMany));
    let four = (1..=4)
        .try_fold(security(), |all, n| all.psk(n, psk(1)))
        .unwrap();
    assert_eq!(
        four.clone().psk(5, psk(1)).err(),
        Some(SecurityError::TooMany)
    );
    // One with the number of another takes its place.
    let changed = four.psk(4, psk(2)).unwrap();
    let credentials = Credentials::new().psk(4, psk(2));
    assert_eq!(outcome(changed, &credentials), Ok((false, Some(4))));
}

/// A key of zeros would agree on the same with everybody, if the toy did not take it for a key like others: its
/// agreement is the exclusive or of both keys.
#[test]
fn what_is_no_key_of_a_server_is_refused_at_once() {
    let mut host = Host::<_, u32>::new(sealed(), ExampleRng(11));
    host.set_security(security());
    // The secret that the check draws is the next that the generator gives.
    let mut rng = ExampleRng(11);
    let _ = Host::<_, u32>::new(sealed(), &mut rng);
    let drawn = SecretKey::generate(&mut rng);
    let key = PublicKey::from_bytes(drawn.as_bytes()).unwrap();
    let credentials = Credentials::new().server_key(key);
    let attempt = host.connect_sealed(Instant::ZERO, &[SERVER], &credentials);
    assert_eq!(attempt, Err(ConnectError::ServerKey));
}

#[test]
fn a_handshake_with_a_datagram_cut_short_comes_up_all_the_same() {
    for number in 0..4 {
        for keep in [
            0, 1, 2, 3, 22, 23, 24, 25, 56, 57, 72, 78, 79, 90, 150, 511, 1199,
        ] {
            let mut world = World::secure();
            world.connect();
            world.run_with(3000 * MS, &mut |n, _, datagram| {
                let keep = if n == number { keep } else { datagram.len() };
                vec![datagram[..keep.min(datagram.len())].to_vec()]
            });
            assert_eq!(world.connected_at(), [CLIENT, SERVER], "{number} {keep}");
            world.check();
        }
    }
}

/// The plain rule, that a short form stands for a lost acknowledgement, has no place here: it would be
/// sealed with keys that the initiator does not have.
#[test]
fn the_answer_of_a_responder_is_made_once_and_repeated() {
    for lost in 1..4 {
        let mut world = World::secure();
        world.connect();
        let mut left = lost;
        world.run_with(6000 * MS, &mut |_, from, datagram| {
            let is_lost = from == SERVER && kind(datagram) != 0xC1 && left > 0;
            left -= usize::from(is_lost);
            if is_lost {
                vec![]
            } else {
                vec![datagram.to_vec()]
            }
        });
        assert_eq!(world.connected_at(), [CLIENT, SERVER], "{lost}");
        let answers: Vec<_> = (world.sent.iter())
            .filter(|(at, datagram)| *at == SERVER && kind(datagram) == 0xD2)
            .map(|(_, datagram)| datagram[..78].to_vec())
            .collect();
        assert!(answers.len() >= 2, "{lost}");
        assert!(answers.windows(2).all(|two| two[0] == two[1]), "{lost}");
        world.check();
    }
}

/// By then the initiator has it, and whoever repeats the request of old is somebody else.
#[test]
fn a_responder_that_was_heard_answers_no_request_any_more() {
    let mut world = World::connected();
    world.check();
    let proof = world
        .sent
        .iter()
        .find(|(at, datagram)| *at == CLIENT && kind(datagram) == 0xD2);
    let (_, proof) = proof.unwrap().clone();
    let before = world.sent.len();
    world.deliver(SERVER, &proof);
    world.run(2000 * MS);
    let answers = world.sent[before..]
        .iter()
        .filter(|(_, datagram)| kind(datagram) >= 0xC0);
    assert_eq!(answers.count(), 0);
}

#[test]
fn what_was_recorded_is_of_no_use() {
    let mut world = World::connected();
    world.check();
    let (recorded, connected) = (world.sent.clone(), world.connected_at());
    for (from, datagram) in &recorded {
        for to in [CLIENT, SERVER] {
            let taken = world.deliver(to, datagram);
            // A request is answered, as it may be a repetition; nothing else is taken, from wherever it seems
            // to come.
            let is_request = kind(datagram) & 0xF0 == 0xC0 || kind(datagram) == 0xD2;
            let is_ignored = matches!(taken, Disposition::Ignored(_));
            assert!(is_ignored || is_request, "{from} to {to}: {taken:?}");
        }
    }
    world.run(1000 * MS);
    assert_eq!(world.connected_at(), connected);
    assert!(world.received(SERVER).is_empty() && world.received(CLIENT).is_empty());
    world.check();
}

#[test]
fn every_changed_byte_of_a_sealed_datagram_is_seen() {
    let mut world = World::connected();
    world.send(CLIENT, b"one packet");
    let mut caught = Vec::new();
    world.run_with(DELAY, &mut |_, from, datagram| {
        if from == CLIENT && caught.is_empty() {
            caught = datagram.to_vec();
            return vec![];
        }
        vec![datagram.to_vec()]
    });
    for place in 0..caught.len() {
        for bit in 0..8 {
            let mut changed = caught.clone();
            changed[place] ^= 1 << bit;
            let taken = world.deliver(SERVER, &changed);
            assert!(
                matches!(taken, Disposition::Ignored(_)),
                "{place} {bit}: {taken:?}"
            );
        }
    }
    for keep in 0..caught.len() {
        let taken = world.deliver(SERVER, &caught[..keep]);
        assert!(
            matches!(taken, Disposition::Ignored(_)),
            "{keep}: {taken:?}"
        );
    }
    assert!(world.received(SERVER).is_empty());
    assert!(matches!(
        world.deliver(SERVER, &caught),
        Disposition::Handled(_)
    ));
    assert_eq!(world.received(SERVER), [b"one packet"]);
}

/// The forms that a forger who has seen the handshake can write for a connection.
fn forgeries(world: &World) -> Vec<Vec<u8>> {
    let [client, server] = [CLIENT, SERVER].map(|at| {
        let (_, datagram) = world
            .sent
            .iter()
            .find(|(from, datagram)| *from == at && kind(datagram) == 0xD2)
            .unwrap();
        u64::from_le_bytes(*datagram[7..].first_chunk().unwrap())
    });
    let mut forged = Vec::new();
    for (own, other) in [(client, server), (server, client)] {
        let head = |byte0: u8, length: u16| {
            let mut form = vec![byte0];
            form.extend(length.to_le_bytes());
            form.extend(crate::frame::VERSION.to_le_bytes());
            form.extend(own.to_le_bytes());
            form.extend(other.to_le_bytes());
            form
        };
        let with = |byte0, length, body: &[u8]| [head(byte0, length), body.to_vec()].concat();
        forged.push(with(0xF0, 24, &[7, 0, 0, 0]));
        forged.push(with(0xF1, 20, &[]));
        forged.push(with(0xF8, 40, &[7; 20]));
        forged.push(with(0xF9, 36, &[7; 16]));
        forged.push(refusal_to(&other.to_le_bytes()));
    }
    forged
}

#[test]
fn nobody_else_ends_a_sealed_connection() {
    let mut world = World::connected();
    world.check();
    for forged in forgeries(&world) {
        for to in [CLIENT, SERVER] {
            world.deliver(to, &forged);
        }
    }
    world.run(1000 * MS);
    assert_eq!((world.ended(CLIENT), world.ended(SERVER)), (None, None));
    assert!(world.ignored.contains(&(CLIENT, Ignored::Unauthenticated)));
    assert!(world.ignored.contains(&(SERVER, Ignored::Unauthenticated)));
    world.check();
}

/// REJ, reason 2, to the host with this nonce.
fn refusal_to(nonce: &[u8]) -> Vec<u8> {
    let version = crate::frame::VERSION.to_le_bytes();
    [
        &[0xE0, 26, 0][..],
        &version,
        &[0; 8],
        nonce,
        &[2],
        &version,
        &[0],
    ]
    .concat()
}

#[test]
fn a_forged_refusal_keeps_nobody_out() {
    let mut world = World::secure();
    world.connect();
    // As soon as the client has asked, a refusal comes, before the true answer.
    world.run_with(1000 * MS, &mut |n, from, datagram| {
        let mut arrive = vec![datagram.to_vec()];
        if n < 4 && from == SERVER {
            arrive.insert(0, refusal_to(&datagram[15..23]));
        }
        arrive
    });
    assert_eq!(world.connected_at(), [CLIENT, SERVER]);
    world.check();
}

/// Who sees the cookie of the server can send others, which arrive together with it.
#[test]
fn forged_cookies_behind_the_true_one_keep_nobody_out() {
    let mut world = World::secure();
    world.connect();
    world.run_with(500 * MS, &mut |_, _, datagram| {
        let mut arrive = vec![datagram.to_vec()];
        if kind(datagram) == 0xC1 {
            for n in 7..15 {
                let mut forged = datagram.to_vec();
                forged[n] ^= 0x55;
                arrive.push(forged);
            }
        }
        arrive
    });
    assert_eq!(world.connected_at(), [CLIENT, SERVER]);
    world.check();
}

#[test]
fn a_true_refusal_ends_a_sealed_attempt_a_quarter_of_a_second_later() {
    let mut world = World::secure();
    world.host(SERVER).listen(Listen::Full).unwrap();
    world.connect();
    world.run(2 * DELAY + 240 * MS);
    assert_eq!(world.ended(CLIENT), None);
    world.run(11 * MS);
    let full = DisconnectReason::Refused(Refusal::Full);
    assert_eq!(world.ended(CLIENT), Some(full));
}

#[test]
fn a_sealed_goodbye_ends_both_hosts() {
    for at in [CLIENT, SERVER] {
        let mut world = World::connected();
        world.check();
        let (now, peer) = (world.now, world.peer(at));
        let before = world.sent.len();
        world
            .host(at)
            .disconnect(now, peer, Disconnect::Now { reason: 9 })
            .unwrap();
        world.run(500 * MS);
        let other = CLIENT + SERVER - at;
        assert_eq!(world.ended(at), Some(DisconnectReason::ByUs(9)));
        assert_eq!(world.ended(other), Some(DisconnectReason::ByPeer(9)));
        let kinds: Vec<_> = world.sent[before..]
            .iter()
            .map(|(_, it)| kind(it))
            .collect();
        assert_eq!(kinds, [0xF8, 0xF9]);
    }
}

/// The responder is connected with message 1, and cannot know whether message 2 has come: a goodbye has to be
/// understood with the keys and without.
#[test]
fn a_goodbye_of_a_responder_that_heard_nothing_yet_is_understood() {
    for has_keys in [false, true] {
        let mut world = World::secure();
        world.connect();
        // The server's first datagrams with keys are lost, or the client's.
        world.run_with(3 * DELAY + 10 * MS, &mut |_, from, datagram| {
            let is_lost = if has_keys {
                from == CLIENT && kind(datagram) & 0xC0 == 0x40
            } else {
                from == SERVER && kind(datagram) == 0xD2
            };
            if is_lost {
                vec![]
            } else {
                vec![datagram.to_vec()]
            }
        });
        let (now, peer) = (world.now, world.peer(SERVER));
        let how = Disconnect::Now { reason: 9 };
        world.host(SERVER).disconnect(now, peer, how).unwrap();
        world.run_with(1000 * MS, &mut |_, from, datagram| {
            let is_lost = from == CLIENT && kind(datagram) & 0xC0 == 0x40;
            if is_lost {
                vec![]
            } else {
                vec![datagram.to_vec()]
            }
        });
        assert_eq!(
            world.ended(CLIENT),
            Some(DisconnectReason::ByPeer(9)),
            "{has_keys}"
        );
        assert_eq!(
            world.ended(SERVER),
            Some(DisconnectReason::ByUs(9)),
            "{has_keys}"
        );
    }
}

#[test]
fn an_address_agrees_on_keys_five_times_at_once() {
    let mut server = World::secure();
    let mut buf = [0; 1200];
    // Clients that prove themselves, all from one address. Their cookies are limited as well: they take a
    // while to collect.
    let mut proofs = Vec::new();
    for seed in 0..20 {
        let mut client = Host::<_, u32>::new(sealed(), ExampleRng(100 + seed));
        client.set_security(security());
        let now = server.now;
        let credentials = Credentials::new();
        client.connect_sealed(now, &[SERVER], &credentials).unwrap();
        let request = client.poll_transmit(now, &mut buf).unwrap();
        server.deliver(SERVER, request.datagram);
        let cookie = server.host(SERVER).poll_transmit(now, &mut buf).unwrap();
        client.handle_datagram(now, SERVER, Ecn::NotEct, cookie.datagram);
        let proof = client.poll_transmit(now, &mut buf).unwrap();
        proofs.push(proof.datagram.to_vec());
        server.now = now + 250 * MS;
    }
    let mut accepted = 0;
    for proof in &proofs {
        let taken = server.deliver(SERVER, proof);
        if matches!(taken, Disposition::Accepted(_)) {
            accepted += 1;
        } else {
            assert_eq!(taken, Disposition::Ignored(Ignored::TooManyReplies));
        }
    }
    assert_eq!(accepted, 5);
    // A repetition of what was accepted takes no agreement.
    let repeated = server.deliver(SERVER, &proofs[4]);
    assert!(matches!(repeated, Disposition::Handled(_)), "{repeated:?}");
    server.now = server.now + 50 * MS;
    assert!(matches!(
        server.deliver(SERVER, &proofs[5]),
        Disposition::Accepted(_)
    ));
}

#[test]
fn keys_change_and_nothing_is_lost() {
    let mut world = World::new(sealed(), sealed());
    for at in [CLIENT, SERVER] {
        let often = security().rekey_after(16, Duration::from_secs(3600));
        world.host(at).set_security(often);
    }
    world.connect();
    world.run(500 * MS);
    let (mut phases, mut count) = (Vec::new(), 0_u32);
    for round in 0..600_u32 {
        for at in [CLIENT, SERVER] {
            let peer = world.peer(at);
            let packet = round.to_le_bytes().to_vec();
            world
                .host(at)
                .send(peer, ChannelId(0), packet, Mode::Reliable)
                .unwrap();
        }
        // One datagram in four is lost, and one in four comes late and twice.
        let mut held: Option<Vec<u8>> = None;
        world.run_with(10 * MS, &mut |_, from, datagram| {
            if from == CLIENT && kind(datagram) & 0xC0 == 0x40 {
                phases.push(kind(datagram) & 0x08 != 0);
            }
            count += 1;
            match count % 4 {
                0 => vec![],
                1 => {
                    let before = held.replace(datagram.to_vec());
                    before.into_iter().collect()
                }
                2 => {
                    let late = held.take();
                    [
                        vec![datagram.to_vec()],
                        late.clone().into_iter().collect(),
                        late.into_iter().collect(),
                    ]
                    .concat()
                }
                _ => vec![datagram.to_vec()],
            }
        });
    }
    world.run(5000 * MS);
    for at in [CLIENT, SERVER] {
        let all: Vec<Vec<u8>> = (0..600_u32).map(|n| n.to_le_bytes().to_vec()).collect();
        assert_eq!(world.received(at), all);
    }
    let changes = phases.windows(2).filter(|two| two[0] != two[1]).count();
    assert!(changes > 10, "{changes}");
    assert_eq!((world.ended(CLIENT), world.ended(SERVER)), (None, None));
}

#[test]
fn a_plain_connection_has_no_phases() {
    let (mut host, peer) = example_pair();
    let id = host.table.get_mut(peer).unwrap().peer.connection_id();
    let mut frame = vec![0x48];
    frame.extend(id.as_bytes());
    frame.extend([0; 9]);
    let taken = host.handle_datagram(Instant::ZERO, 2, Ecn::NotEct, &frame);
    let reserved = Ignored::Malformed(crate::Malformed::Reserved);
    assert_eq!(taken, Disposition::Ignored(reserved));
}

/// An attacker on the path can write in plain from the client's address, where the server lets plain hosts in.
#[test]
fn a_plain_newcomer_takes_no_sealed_connection_away() {
    let mut world = World::secure();
    world.host(SERVER).set_security(security().allow_plain());
    world.connect();
    world.run(500 * MS);
    let mut plain = Host::<_, u32>::new(Config::new(), ExampleRng(99));
    let attempt = plain.connect(world.now, SERVER).unwrap();
    let mut buf = [0; 1200];
    for _ in 0..4 {
        let now = world.now;
        while let Some(transmit) = plain.poll_transmit(now, &mut buf) {
            let datagram = transmit.datagram.to_vec();
            world.deliver(SERVER, &datagram);
        }
        while let Some(transmit) = world.host(SERVER).poll_transmit(now, &mut buf) {
            plain.handle_datagram(now, SERVER, Ecn::NotEct, transmit.datagram);
        }
    }
    assert_eq!(state(&plain, attempt), Some(PeerState::Connected));
    assert_eq!(world.host(SERVER).peers().count(), 2);
    world.run(100 * MS);
    assert_eq!(world.ended(SERVER), None);
    // A plain connection would have given way.
    assert!(
        world
            .host(SERVER)
            .peers()
            .any(|(_, peer)| peer.secured().is_some())
    );
}

#[test]
fn a_client_that_starts_again_takes_the_place_of_its_former_connection() {
    let mut world = World::connected();
    let mut again = Host::<_, u32>::new(sealed(), ExampleRng(98));
    again.set_security(security());
    world.hosts.insert(CLIENT, again);
    world.events.clear();
    world.connect();
    world.run(1000 * MS);
    assert_eq!(world.connected_at(), [CLIENT, SERVER]);
    assert_eq!(world.ended(SERVER), Some(DisconnectReason::Restarted));
    world.check();
}
