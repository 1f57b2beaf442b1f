//! Sealed connections between two hosts in memory, and an attacker between them. The cryptography is a toy:
//! what the true one keeps safe is tested with it (`porous-crypto`).

mod attacks;
mod crosswise;
mod proofs;

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
                if [CLIENT, SERVER].contains(&to) {
                    self.flying.extend(arrive.into_iter().map(flies));
                }
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

/// The kind of a datagram, by its byte 0.
fn kind(datagram: &[u8]) -> u8 {
    datagram[0]
}

fn contains(all: &[u8], part: &[u8]) -> bool {
    all.windows(part.len()).any(|window| window == part)
}

/// D17.
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

/// D17.
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

/// D17.
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

/// D17.
#[test]
fn a_plain_connection_has_no_phases() {
    let mut world = World::secure();
    world.host(SERVER).set_security(security().allow_plain());
    let now = world.now;
    world.host(CLIENT).connect(now, SERVER).unwrap();
    world.run(500 * MS);
    let (_, newest) = world.sent.iter().rfind(|(at, _)| *at == CLIENT).unwrap();
    let mut frame = newest.clone();
    frame[0] |= 0x08;
    let taken = world.deliver(SERVER, &frame);
    let reserved = Ignored::Malformed(crate::Malformed::Reserved);
    assert_eq!(taken, Disposition::Ignored(reserved));
}

/// What else a host could say of a connection that it does not have.
#[test]
fn a_host_without_suites_answers_no_form_of_a_sealed_connection() {
    let mut sealed = World::connected();
    sealed.check();
    let mut host = Host::<_, u32>::new(Config::new(), example_rng());
    host.listen(Listen::Open).unwrap();
    let mut forms = sealed.sent.clone();
    for (_, form) in &mut forms {
        if kind(form) & 0xC0 == 0x40 {
            form[0] |= 0x08;
        }
    }
    for (_, form) in forms.iter().filter(|(_, form)| kind(form) & 0xF0 != 0xC0) {
        let taken = host.handle_datagram(Instant::ZERO, 9, Ecn::NotEct, form);
        let reserved = Ignored::Malformed(crate::Malformed::Reserved);
        assert_eq!(taken, Disposition::Ignored(reserved), "{:x}", kind(form));
    }
    assert!(host.poll_transmit(Instant::ZERO, &mut [0; 1200]).is_none());
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
