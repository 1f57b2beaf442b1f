//! Where the cases take place: a host, a friend that does nothing wrong, and attackers.

use alloc::collections::{BTreeMap, BTreeSet};
use core::time::Duration;

use porous_crypto::RustCrypto;
use porous_proto::seal::{Credentials, Security, Suite};
use porous_proto::{
    ChannelId, Config, Disposition, Ecn, Event, Host, Ignored, Instant, Listen, Mode, PeerId,
    PeerState, Priority,
};
use porous_sim::Seed;
use porous_tests::config::is_sealed;
use porous_tests::encoder::{Ack, Message, Offer, Short};
use porous_tests::remote::Remote;

use crate::costs::{self, Cost, test_of};
use crate::metered::{Metered, Victim};
use crate::peers::{BAD_ACK, all_up_to, hear};

/// The address of the host.
pub(crate) const HOST: u32 = 0;
/// The address of the friend, a peer that does nothing wrong.
pub(crate) const FRIEND: u32 = 1;
/// The address of the enemy of [`Scene::enemy`].
pub(crate) const ENEMY: u32 = 2;
/// The first of 100 million addresses that no case has used yet.
pub(crate) const STRANGER: u32 = 1000;

/// Calls after which a host that still has something to say will never come to rest.
const RESTLESS: usize = 100_000;
/// Datagrams after which the books are audited only when time passes: an audit takes long.
const AUDITS: u64 = 1000;
/// Bytes that the host may hold after a case: tables do not shrink.
pub(crate) const FLOOR: i64 = 8 * 1024;
/// Bytes more for each peer that was there at the same time.
pub(crate) const PLACE: i64 = 2 * 1024;
/// Packets that the friends exchange before a case begins: more frames than a host remembers.
const CHATS: u32 = 70;
const SECOND: Duration = Duration::from_secs(1);

/// The configuration of a host, if the case does not care.
pub(crate) fn config() -> Config {
    let config = porous_tests::config::new().max_peers(8);
    let config = config.channels(&[Priority::Low; 4]).unwrap();
    let config = config.receive_budget(65_536, 262_144).unwrap();
    config.windows(256, 256).unwrap()
}

/// An offer that fits [`config`].
pub(crate) fn offer() -> Offer {
    Offer {
        application: 0,
        channels: 4,
        datagram: 1200,
        packet: 65_536,
        budget: 262_144,
        windows: [8, 8],
        rates: [u32::MAX; 2],
        integrity: 0,
        extensions: 0,
        path_mtu: None,
        sealed: &[],
        timeout: None,
    }
}

/// The length of the fragments of packets, with [`config`].
pub(crate) const FRAGMENT: usize = 1200 - 48;

/// Attacks a host that is configured by [`config`].
#[track_caller]
pub(crate) fn case(attack: impl FnOnce(&mut Scene)) {
    case_with(config(), attack);
}

/// Attacks a host that is configured like this.
#[track_caller]
pub(crate) fn case_with(config: Config, attack: impl FnOnce(&mut Scene)) {
    case_named(test_of(&attack), |scenes| scenes.attack(config, attack));
}

/// A case of several scenes.
#[track_caller]
pub(crate) fn case_of_many(act: impl FnOnce(&mut Scenes)) {
    case_named(test_of(&act), act);
}

/// A case of several scenes, for a function that the test `name` calls with a closure of its own.
#[track_caller]
pub(crate) fn case_named(name: &str, act: impl FnOnce(&mut Scenes)) {
    let mut scenes = Scenes::default();
    act(&mut scenes);
    // Some cases are none under the paper's policy.
    if let Some(cost) = scenes.most {
        costs::judge(name, cost);
    }
}

/// The scenes of a case. It costs what the dearest of them costs.
#[derive(Default)]
pub(crate) struct Scenes {
    most: Option<Cost>,
}

impl Scenes {
    /// Attacks a host that is configured like this. The friend must not notice, and nothing may
    /// remain of the attackers when they are silent.
    #[track_caller]
    pub(crate) fn attack(&mut self, config: Config, attack: impl FnOnce(&mut Scene)) {
        let mut scene = Scene::new(config);
        attack(&mut scene);
        let cost = scene.host.cost();
        self.most = Some(self.most.map_or(cost, |most| most.max(cost)));
        scene.assert_friendship();
        scene.assert_over();
    }
}

/// A host, and its friend, enemies and strangers.
pub(crate) struct Scene {
    pub(crate) host: Metered,
    pub(crate) now: Instant,
    /// Datagrams that the host has sent, with their addresses, since this was last emptied.
    pub(crate) said: Vec<(u32, Vec<u8>)>,
    /// Events of the host since this was last emptied.
    pub(crate) events: Vec<Event<u32>>,
    friend: Victim,
    /// The friend as the host knows it, and the host as the friend knows it.
    friends: [PeerId; 2],
    /// Addresses that the host may speak to as it likes.
    proved: BTreeSet<u32>,
    /// Bytes that came from each other address, less those that were sent there.
    credit: BTreeMap<u32, i64>,
    /// Bytes that may go to such an address for each byte from it: more than 1 if the host follows its peers.
    pub(crate) times: i64,
    delivered: u64,
    /// The most peers at a time.
    crowd: usize,
    /// Bytes that other tables may keep which the case has filled.
    pub(crate) tables: i64,
}

impl Scene {
    fn new(config: Config) -> Self {
        let seed = Seed::new(1);
        let config = if is_sealed() {
            config.sealed(&[Suite::CHACHA_POLY]).unwrap()
        } else {
            config
        };
        let security = || Security::new(&RustCrypto).allow_plain();
        let mut friend = Host::new(config.clone(), seed.stream("host", 1));
        let host = Metered::new(|| {
            let mut host = Host::new(config, seed.stream("host", 0));
            host.set_security(security());
            host
        });
        friend.set_security(security());
        let there = if is_sealed() {
            friend.connect_sealed(Instant::ZERO, &[HOST], &Credentials::new())
        } else {
            friend.connect(Instant::ZERO, HOST)
        };
        let there = there.unwrap();
        let mut scene = Self {
            host,
            now: Instant::ZERO,
            said: Vec::new(),
            events: Vec::new(),
            friend,
            friends: [there, there],
            proved: BTreeSet::from([FRIEND]),
            credit: BTreeMap::new(),
            times: 1,
            delivered: 0,
            crowd: 0,
            tables: 0,
        };
        assert_eq!(scene.host.call(|host| host.listen(Listen::Open)), Ok(()));
        scene.pass(SECOND);
        scene.friends[0] = scene.host.host.peers().next().unwrap().0;
        scene.settle_friendship();
        scene.begin();
        scene
    }

    /// The friends talk until the friend costs no more memory than it will later.
    fn settle_friendship(&mut self) {
        let [here, there] = self.friends;
        for _ in 0..CHATS {
            let send =
                |host: &mut Victim, to| host.send(to, ChannelId(0), &b""[..], Mode::Unreliable);
            assert_eq!(self.host.call(|host| send(host, here)), Ok(()));
            assert_eq!(send(&mut self.friend, there), Ok(()));
            self.pass(Duration::from_millis(20));
            self.read(FRIEND);
            while self.friend.receive(there).is_some() {}
        }
        self.pass(SECOND);
    }

    /// From now on costs are counted. Forgets earlier datagrams and events.
    pub(crate) fn begin(&mut self) {
        self.said.clear();
        self.events.clear();
        self.host.begin();
    }

    /// From now on the host may speak to this address as it likes.
    pub(crate) fn trust(&mut self, address: u32) {
        self.proved.insert(address);
    }

    /// An enemy that is connected. Costs are counted from then on.
    pub(crate) fn enemy(&mut self) -> Remote<u32> {
        self.enemy_at(ENEMY, &offer())
    }

    /// [`Self::enemy`] at this address and with this offer.
    pub(crate) fn enemy_at(&mut self, address: u32, offer: &Offer) -> Remote<u32> {
        self.flush();
        self.proved.insert(address);
        let now = self.now;
        let mut enemy = None;
        self.host
            .call(|host| enemy = Some(Remote::connect(host, now, address, offer)));
        let mut enemy = enemy.unwrap();
        self.flush();
        self.hear(&mut enemy);
        // An acknowledgement of what the host has sent, and a pong of no ping, complete it.
        let ack = self.acknowledgement(&enemy);
        if self.send(&mut enemy, Some(ack), Vec::new()) == BAD_ACK {
            // Ids do not begin at 0, and the enemy has heard none.
            enemy.next = 0;
            self.send(&mut enemy, None, Vec::new());
        }
        self.begin();
        enemy
    }

    /// The host tries to connect to [`ENEMY`], which has not answered yet.
    pub(crate) fn attempt(&mut self) -> Remote<u32> {
        self.flush();
        self.proved.insert(ENEMY);
        let now = self.now;
        let mut enemy = None;
        self.host
            .call(|host| enemy = Some(Remote::attempt(host, now, ENEMY, 256)));
        self.begin();
        enemy.unwrap()
    }

    /// An acknowledgement of the newest frame and of those of the 32 before it that the enemy has
    /// heard.
    pub(crate) fn acknowledgement(&self, enemy: &Remote<u32>) -> Ack {
        let (largest, width) = enemy.newest;
        Ack {
            width,
            ranges: Vec::new(),
            ..all_up_to(enemy, largest)
        }
    }

    /// The enemy sends its next frame, and hears what is said to it.
    pub(crate) fn send(
        &mut self,
        enemy: &mut Remote<u32>,
        ack: Option<Ack>,
        messages: Vec<Message>,
    ) -> Disposition {
        let frame = enemy.short(ack.clone(), messages.clone());
        let taken = self.send_frame(enemy, &frame);
        if taken != Disposition::Ignored(Ignored::TooFarAhead) {
            return taken;
        }
        // After many that were refused it needs two of them.
        let frame = enemy.short(ack, messages);
        self.send_frame(enemy, &frame)
    }

    /// The enemy sends this frame, and hears what is said to it.
    pub(crate) fn send_frame(&mut self, enemy: &mut Remote<u32>, frame: &Short) -> Disposition {
        let disposition = self.deliver(enemy.address, &frame.encode(&enemy.shape));
        self.hear(enemy);
        disposition
    }

    fn hear(&self, enemy: &mut Remote<u32>) {
        let said = self.said.iter().filter(|(to, _)| *to == enemy.address);
        let said: Vec<_> = said.map(|(_, said)| &said[..]).collect();
        hear(enemy, &said);
    }

    /// Hands a datagram to the host, and lets it say what it has to say.
    pub(crate) fn deliver(&mut self, from: u32, datagram: &[u8]) -> Disposition {
        let len = i64::try_from(datagram.len()).unwrap();
        *self.credit.entry(from).or_default() += self.times * len;
        let now = self.now;
        let disposition = self
            .host
            .call(|host| host.handle_datagram(now, from, Ecn::NotEct, datagram));
        self.delivered += 1;
        if self.delivered < AUDITS {
            self.audit();
        }
        self.flush();
        disposition
    }

    /// Lets the host say and tell all that it has to. An address that has proved nothing gets no more
    /// bytes than came from there.
    pub(crate) fn flush(&mut self) {
        let (mut buf, now) = ([0; 1200], self.now);
        let mut calls = 0..RESTLESS;
        loop {
            let next = self.host.call(|host| {
                let transmit = host.poll_transmit(now, &mut buf);
                transmit.map(|transmit| (transmit.to, transmit.datagram.len()))
            });
            let Some((to, len)) = next else { break };
            assert!(calls.next().is_some(), "datagrams without end");
            if to == FRIEND {
                let (friend, datagram) = (&mut self.friend, &buf[..len]);
                friend.handle_datagram(now, HOST, Ecn::NotEct, datagram);
                continue;
            }
            let credit = self.credit.entry(to).or_default();
            *credit -= i64::try_from(len).unwrap();
            let proved = self.proved.contains(&to);
            assert!(proved || *credit >= 0, "{to} gets more than it has sent");
            self.said.push((to, buf[..len].to_vec()));
        }
        while let Some(event) = self.host.call(Host::poll_event) {
            assert!(calls.next().is_some(), "events without end");
            self.events.push(event);
        }
    }

    /// Lets time pass. Enemies and strangers are silent.
    pub(crate) fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        for _ in 0..RESTLESS {
            self.friendship();
            let hosts = [&self.host.host, &self.friend];
            let due = hosts.into_iter().filter_map(Host::poll_timeout).min();
            let Some(due) = due.filter(|&due| due <= end) else {
                self.now = end;
                self.audit();
                return;
            };
            self.now = self.now.max(due);
            let now = self.now;
            self.host.call(|host| host.handle_timeout(now));
            self.friend.handle_timeout(now);
        }
        panic!("the host does not come to rest");
    }

    /// Audits the books of the host.
    fn audit(&mut self) {
        self.crowd = self.crowd.max(self.host.host.audit().peers);
    }

    fn friendship(&mut self) {
        let (mut buf, now) = ([0; 1200], self.now);
        self.flush();
        while let Some(transmit) = self.friend.poll_transmit(now, &mut buf) {
            let datagram = transmit.datagram;
            self.host
                .call(|host| host.handle_datagram(now, FRIEND, Ecn::NotEct, datagram));
        }
        self.flush();
        while self.friend.poll_event().is_some() {}
    }

    /// The state of the first peer at this address, which may have ended.
    pub(crate) fn state(&self, address: u32) -> Option<PeerState> {
        let host = &self.host.host;
        let peer = host
            .all_peers()
            .find(|(id, _)| host.address(*id) == Some(address));
        peer.map(|(_, peer)| peer.state())
    }

    /// The application reads all packets from this address: their number.
    pub(crate) fn read(&mut self, address: u32) -> usize {
        let host = &self.host.host;
        let is_there = |id: &PeerId| host.address(*id) == Some(address);
        let peers: Vec<_> = host
            .all_peers()
            .map(|(id, _)| id)
            .filter(is_there)
            .collect();
        let mut count = 0;
        for peer in peers {
            while self.host.call(|host| host.receive(peer).is_some()) {
                count += 1;
            }
        }
        count
    }

    /// The friend is connected still, and talks.
    fn assert_friendship(&mut self) {
        let [here, there] = self.friends;
        let (state, word) = (self.state(FRIEND), "a word".as_bytes());
        assert_eq!(state, Some(PeerState::Connected), "the friend has gone");
        let sent = self
            .host
            .call(|host| host.send(here, ChannelId(0), word, Mode::Reliable));
        assert_eq!(sent, Ok(()));
        let sent = self.friend.send(there, ChannelId(1), word, Mode::Reliable);
        assert_eq!(sent, Ok(()));
        self.pass(SECOND);
        let answer = self.friend.receive(there).map(|packet| packet.payload);
        assert_eq!(answer.as_deref(), Some(word));
        assert_eq!(self.read(FRIEND), 1, "the word of the friend");
    }

    /// When the attackers are silent all is as before.
    fn assert_over(&mut self) {
        self.pass(60 * SECOND);
        let host = &self.host.host;
        assert_eq!(host.all_peers().count(), 1, "somebody has stayed");
        let audit = host.audit();
        assert_eq!((audit.peers, audit.entries, audit.replies), (1, 0, 0));
        let left = self.host.bytes_left();
        let most = FLOOR + self.tables + PLACE * i64::try_from(self.crowd).unwrap();
        assert!(left <= most, "{left} bytes are still held");
    }
}
