//! A server that is told to stop: it gets rid of its peers without losing what was sent to them, and sends
//! newcomers to another one. Between two hosts a datagram takes 20 ms.

use core::time::Duration;

use porous_proto::{
    ChannelId, Disconnect, DisconnectReason, Event, Instant, Listen, Mode, Outcome, PeerId,
    PeerState, Refusal, SendError, SendOptions,
};
use porous_sim::{Intercept, Pair, Seed, World};
use porous_tests::{
    assert_all, assert_told, config, connected, ended, events, line, queue, quiet_pair, seed,
};

const A: u32 = Pair::A;
const B: u32 = Pair::B;
const NEWCOMER: u32 = 30;
const OTHER: u32 = 31;
const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// The reason that servers of these tests give.
const RESTART: u32 = 3;

const FULL: DisconnectReason = DisconnectReason::Refused(Refusal::Full);

fn drain(world: &mut World, address: u32, reason: u32, deadline: Duration) {
    let now = world.now();
    world.host_mut(address).drain(now, reason, deadline);
}

fn connect(world: &mut World, from: u32, to: u32) -> PeerId {
    let peer = world.connect(from, to);
    peer.unwrap_or_else(|error| panic!("{error}; replay with {}", world.seed()))
}

/// Lets time pass until this host is empty, and returns when that was.
fn empty(world: &mut World, address: u32, limit: Duration) -> Instant {
    let limit = world.now() + limit;
    while !world.host(address).is_empty() {
        assert!(world.now() < limit, "replay with {}", world.seed());
        world.run_for(MS);
    }
    world.now()
}

#[test]
fn a_host_that_drains_delivers_what_it_has_sent_and_takes_what_comes() {
    for number in 0..20 {
        let seed = Seed::from_env(Seed::new(number));
        for loss in [0.0, 20.0] {
            let context = format!("{loss} %; {seed}");
            let mut pair = quiet_pair(seed, line());
            pair.world.network_mut().set_all(line().loss(loss));
            queue(&mut pair, B, 100);
            queue(&mut pair, A, 3);
            pair.world.run_for(30 * MS);
            drain(&mut pair.world, B, RESTART, 30 * SECOND);
            let late = pair.send(B, 0, Mode::Reliable, vec![1]);
            assert_eq!(late, Err(SendError::Disconnecting), "{context}");
            assert!(!pair.world.host(B).is_empty(), "{context}");
            empty(&mut pair.world, B, 20 * SECOND);
            assert_told(
                &mut pair,
                A,
                (DisconnectReason::ByPeer(RESTART), 0),
                &context,
            );
            assert_all(&pair.receive_all(A), 100, &context);
            let got = pair.receive_all(B).len();
            assert!(got == 3 || loss > 0.0, "{got}; {context}");
            let told = events(&mut pair.world, B);
            assert!(
                matches!(ended(&told)[..], [(_, _, 0)]),
                "{told:?}; {context}"
            );
        }
    }
}

/// B has a peer, which keeps it from being empty for a while, and lets in nobody.
#[test]
fn hosts_that_connect_to_a_host_that_drains_are_refused_as_full() {
    // The newcomer asks before and after: its first request comes after 20 ms, and its cookie after 60.
    for early in [0, 10, 30, 50, 70] {
        for listen in [Listen::Open, Listen::Ask] {
            let context = format!("{early} ms early, {listen:?}; {}", seed());
            let mut pair = quiet_pair(seed(), line());
            let world = &mut pair.world;
            assert_eq!(world.host_mut(B).listen(listen), Ok(()));
            world.add_host(NEWCOMER, config::client());
            let newcomer = connect(world, NEWCOMER, B);
            world.run_for(early * MS);
            drain(world, B, RESTART, SECOND);
            world.run_for(200 * MS);
            let (told, told_b) = (events(world, NEWCOMER), events(world, B));
            // After 60 ms an open host has let the newcomer in.
            let end = match (early, listen) {
                (70, Listen::Open) => DisconnectReason::ByPeer(RESTART),
                _ => FULL,
            };
            assert_eq!(ended(&told), [(newcomer, end, 0)], "{context}");
            let by_us = DisconnectReason::ByUs(RESTART);
            let ends = ended(&told_b);
            assert!(
                ends.iter().all(|&(_, reason, _)| reason == by_us),
                "{context}"
            );
            let peers = if early == 70 { 2 } else { 1 };
            assert_eq!(ends.len(), peers, "{told_b:?}; {context}");
            // The host is empty, and goes on to refuse.
            assert!(world.host(B).is_empty(), "{context}");
            let again = connect(world, NEWCOMER, B);
            world.run_for(100 * MS);
            assert_eq!(
                ended(&events(world, NEWCOMER)),
                [(again, FULL, 0)],
                "{context}"
            );
            // Its application may change its mind.
            assert_eq!(world.host_mut(B).listen(Listen::Open), Ok(()));
            let again = connect(world, NEWCOMER, B);
            world.run_for(200 * MS);
            assert_eq!(connected(&events(world, NEWCOMER)), [again], "{context}");
        }
    }
}

#[test]
fn a_host_that_does_not_listen_drains_in_silence_and_gives_up_its_attempts() {
    let mut pair = quiet_pair(seed(), line());
    let world = &mut pair.world;
    // A is a client, and must not listen. It connects to one host more, which is about to let it in.
    world.add_host(OTHER, config::new());
    assert_eq!(world.host_mut(OTHER).listen(Listen::Open), Ok(()));
    let attempt = connect(world, A, OTHER);
    world.run_for(50 * MS);
    drain(world, A, RESTART, SECOND);
    assert!(!world.host(A).is_empty());
    world.run_for(200 * MS);
    assert!(world.host(A).is_empty());
    let told = events(world, A);
    let by_us = DisconnectReason::ByUs(RESTART);
    let ends = ended(&told);
    assert_eq!(ends.len(), 2, "{told:?}");
    assert!(
        ends.iter().all(|&(_, reason, _)| reason == by_us),
        "{told:?}"
    );
    assert!(ends.iter().any(|&(peer, ..)| peer == attempt), "{told:?}");
    world.add_host(NEWCOMER, config::client());
    connect(world, NEWCOMER, A);
    world.run_for(2 * SECOND);
    assert_eq!(world.network().link_stats(A, NEWCOMER).sent, 0);
}

/// The goodbye of an attempt that has met a host is said before the host is empty, and so is a refusal.
#[test]
fn a_host_is_not_empty_before_all_have_been_told() {
    let mut world = World::new(seed(), line());
    for address in [B, OTHER] {
        world.add_host(address, config::new());
        assert_eq!(world.host_mut(address).listen(Listen::Ask), Ok(()));
    }
    world.add_host(A, config::client());
    connect(&mut world, A, B);
    world.run_for(SECOND);
    connect(&mut world, B, OTHER);
    world.run_for(50 * MS); // the cookie has come
    let now = world.now();
    let host = world.host_mut(B);
    host.drain(now, RESTART, SECOND);
    assert_eq!(host.peers().count(), 0, "both are given up at once");
    let mut left = 0;
    let mut buf = [0; 1200];
    while !host.is_empty() {
        assert!(host.poll_transmit(now, &mut buf).is_some(), "{left}");
        left += 1;
    }
    assert_eq!(left, 2);
}

/// When B, whose peer has read nothing for long, is done with it.
fn took(how: impl Fn(&mut Pair)) -> (Duration, Vec<Event<u32>>) {
    let mut pair = quiet_pair(seed(), line());
    // Nothing that A says comes, so that the flush takes as long as it may.
    pair.world.intercept(|passing| match passing.from {
        A => Intercept::Drop,
        _ => Intercept::Pass,
    });
    queue(&mut pair, B, 1);
    let start = pair.world.now();
    how(&mut pair);
    while pair
        .world
        .host(B)
        .peers()
        .all(|(_, peer)| peer.state() != PeerState::Disconnecting)
    {
        pair.world.run_for(MS);
    }
    let took = pair.world.now().saturating_duration_since(start);
    pair.world.run_for(SECOND);
    (took, events(&mut pair.world, A))
}

#[test]
fn of_several_deadlines_the_earliest_counts_and_the_first_reason_is_told() {
    type How = fn(&mut Pair);
    let cases: [(&str, How, u64); 6] = [
        ("once", |pair| drain(&mut pair.world, B, 3, 4 * SECOND), 4),
        (
            "a later one",
            |pair| {
                drain(&mut pair.world, B, 3, 4 * SECOND);
                pair.world.run_for(SECOND);
                drain(&mut pair.world, B, 9, 4 * SECOND);
            },
            4,
        ),
        (
            "an earlier one",
            |pair| {
                drain(&mut pair.world, B, 3, 4 * SECOND);
                pair.world.run_for(SECOND);
                drain(&mut pair.world, B, 9, SECOND);
            },
            2,
        ),
        (
            "after a disconnection",
            |pair| {
                let peer = pair.peer(B);
                let flush = Disconnect::Flush {
                    reason: 3,
                    deadline: 2 * SECOND,
                };
                assert_eq!(pair.world.disconnect(B, peer, flush), Ok(()));
                drain(&mut pair.world, B, 9, 4 * SECOND);
            },
            2,
        ),
        (
            "again and again",
            |pair| {
                for _ in 0..50 {
                    drain(&mut pair.world, B, 3, 4 * SECOND);
                    pair.world.run_for(50 * MS);
                }
            },
            4,
        ),
        (
            "no time",
            |pair| {
                drain(&mut pair.world, B, 3, 4 * SECOND);
                pair.world.run_for(SECOND);
                drain(&mut pair.world, B, 9, Duration::ZERO);
            },
            1,
        ),
    ];
    for (case, how, seconds) in cases {
        let (took, told) = took(how);
        let expected = seconds * 1000..=seconds * 1000 + 2;
        let took = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        assert!(expected.contains(&took), "{case}: {took} ms");
        let by_peer = DisconnectReason::ByPeer(3);
        let reasons: Vec<_> = ended(&told).iter().map(|&(_, reason, _)| reason).collect();
        assert_eq!(reasons, [by_peer], "{case}");
    }
}

/// The longest time that a drain takes: nobody answers.
#[test]
fn a_drain_ends_a_disconnect_timeout_after_its_deadline() {
    let mut pair = quiet_pair(seed(), line());
    queue(&mut pair, B, 1);
    assert!(pair.world.remove_host(A));
    let start = pair.world.now();
    drain(&mut pair.world, B, RESTART, 2 * SECOND);
    let end = empty(&mut pair.world, B, 20 * SECOND);
    let took = end.saturating_duration_since(start);
    let patience = Duration::from_secs(5);
    assert!(took <= 2 * SECOND + patience + MS, "{took:?}");
    let told = events(&mut pair.world, B);
    let unanswered = DisconnectReason::GoodbyeUnanswered;
    assert_eq!(ended(&told), [(pair.peer(B), unanswered, 1)]);
}

/// A server in a rolling restart.
struct Server {
    address: u32,
    /// When it is told to stop, in turns.
    stops: u32,
    is_stopping: bool,
    /// Of each packet that was sent: to which address.
    sent: Vec<u32>,
    /// The numbers of those that were delivered.
    delivered: Vec<u32>,
}

/// Turns from when a server is told to stop to when the next process takes its place.
const REPLACED_AFTER: u32 = 20;

impl Server {
    fn begin(world: &mut World, address: u32, stops: u32) -> Self {
        world.add_host(address, config::new());
        assert_eq!(world.host_mut(address).listen(Listen::Open), Ok(()));
        Self {
            address,
            stops,
            is_stopping: false,
            sent: Vec::new(),
            delivered: Vec::new(),
        }
    }

    fn turn(&mut self, world: &mut World, turn: u32) {
        for event in events(world, self.address) {
            if let Event::Receipt { token, outcome, .. } = event {
                assert_eq!(outcome, Outcome::Delivered, "{}", world.seed());
                self.delivered.push(u32::try_from(token).expect("small"));
            }
        }
        if self.is_stopping && turn == self.stops + REPLACED_AFTER {
            assert!(world.host(self.address).is_empty(), "{}", world.seed());
            *self = Self {
                sent: core::mem::take(&mut self.sent),
                delivered: core::mem::take(&mut self.delivered),
                ..Self::begin(world, self.address, u32::MAX)
            };
        }
        let peers: Vec<_> = world.host(self.address).peers().map(|(id, _)| id).collect();
        for peer in peers {
            let number = u32::try_from(self.sent.len()).expect("few");
            let options = SendOptions::new(Mode::Reliable).receipt(number.into());
            let (host, packet) = (world.host_mut(self.address), number.to_le_bytes());
            let to = host.address(peer).expect("it is live");
            if host.send(peer, ChannelId(0), &packet[..], options).is_ok() {
                self.sent.push(to);
            }
        }
        if turn == self.stops {
            drain(world, self.address, RESTART, SECOND / 2);
            self.is_stopping = true;
        }
    }
}

/// A client that goes to the other server when one is full, or says that it stops.
struct Client {
    address: u32,
    /// In turns.
    begins: u32,
    /// The server that it asks next.
    next: u32,
    /// The server that it is connected to.
    at: Option<u32>,
    /// From which server, and the number of the packet.
    got: Vec<(u32, u32)>,
    ends: Vec<DisconnectReason>,
}

impl Client {
    fn turn(&mut self, world: &mut World, turn: u32) {
        if turn == self.begins {
            world.add_host(self.address, config::client());
            self.connect(world);
        }
        if turn < self.begins {
            return;
        }
        for event in events(world, self.address) {
            if let Event::Connected { address, .. } = event {
                self.at = Some(address);
            } else if let Event::Readable { peer } = event {
                let from = world.host(self.address).address(peer).expect("it is known");
                while let Some(packet) = world.host_mut(self.address).receive(peer) {
                    let number = packet.payload[..].try_into().expect("4 bytes");
                    self.got.push((from, u32::from_le_bytes(number)));
                }
            } else if let Event::Disconnected { reason, .. } = event {
                self.at = None;
                self.ends.push(reason);
                self.connect(world);
            }
        }
    }

    fn connect(&mut self, world: &mut World) {
        connect(world, self.address, self.next);
        self.next = if self.next == B { OTHER } else { B };
    }
}

/// Two servers are replaced, one after the other, while clients play and others come. Each packet that a
/// server was told is delivered has reached its client, once, and each client has a place in the end.
#[test]
fn a_rolling_restart_loses_no_packet_that_was_delivered() {
    for (number, loss) in [(0, 0.0), (1, 5.0), (2, 5.0), (3, 10.0)] {
        let seed = Seed::from_env(Seed::new(number));
        let mut world = World::new(seed, line().jitter(5 * MS).loss(loss));
        let mut servers = [(B, 100), (OTHER, 250)]
            .map(|(address, stops)| Server::begin(&mut world, address, stops));
        let mut clients: Vec<Client> = (0..12)
            .map(|n| Client {
                address: 100 + n,
                // The last four come while a server stops, and ask that one first.
                begins: [0, 0, 102, 252][n as usize / 3],
                next: [B, OTHER, B, OTHER][n as usize / 3],
                at: None,
                got: Vec::new(),
                ends: Vec::new(),
            })
            .collect();
        for turn in 0..400 {
            servers.iter_mut().for_each(|it| it.turn(&mut world, turn));
            clients.iter_mut().for_each(|it| it.turn(&mut world, turn));
            world.run_for(50 * MS);
        }
        for client in &clients {
            let context = format!("{}: {:?}; {loss} %; {seed}", client.address, client.ends);
            assert!(client.at.is_some(), "{context}");
            let [stops, full] = [DisconnectReason::ByPeer(RESTART), FULL]
                .map(|reason| client.ends.iter().filter(|&&end| end == reason).count());
            assert_eq!(stops + full, client.ends.len(), "{context}");
            assert!(full >= usize::from(client.begins > 0), "{context}");
            let mut got = client.got.clone();
            got.sort_unstable();
            got.dedup();
            assert_eq!(got.len(), client.got.len(), "each once; {context}");
            for server in &servers {
                let mine = |number: &&u32| server.sent[**number as usize] == client.address;
                let lost = |number: &&u32| !got.contains(&(server.address, **number));
                let lost: Vec<_> = server.delivered.iter().filter(mine).filter(lost).collect();
                assert!(lost.is_empty(), "{lost:?}; {context}");
            }
        }
        for server in &servers {
            assert!(server.delivered.len() > 1000, "{}", server.delivered.len());
        }
    }
}
