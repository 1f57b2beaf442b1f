//! Calls of a host in any order with any argument: no panic, and every error is one that is documented for
//! the method. `docs/testing.md`, "Fuzzing", says which calls are made.

use bolero::generator::produce;
use bolero::{TypeGenerator, check};
use core::time::Duration;
use porous_fuzz::drawn;
use porous_proto::congestion::Congestion;
use porous_proto::{
    AnswerError, Channel, ChannelId, Config, ConfigError, ConnectError, Disconnect, Ecn, Host,
    Instant, Integrity, Listen, Mode, Peer, PeerId, PeerState, Policy, SendError, SendOptions,
};
use porous_sim::{ChaCha8Rng, Seed};

/// The configuration of a host.
#[derive(Clone, Copy, Debug, TypeGenerator)]
struct Setup {
    #[generator(0..8_u8)]
    application: u8,
    channels: u8,
    datagram: u16,
    packet: (u32, u32),
    send_budget: u32,
    windows: (u8, u8),
    rates: (u32, u32),
    checksum: bool,
    /// The last decimal digit chooses the length of the connection id, the tens choose the policy.
    connection_id: u8,
    max_peers: u8,
    timeouts: [Duration; 3],
    first_id: u64,
    weight: u8,
    rate: u32,
    host_rate: u32,
    controller: u8,
}

/// A call. The host is at address 0, another host at 1, and no host at other addresses.
#[derive(Clone, Debug, TypeGenerator)]
enum Call {
    Listen(#[generator(0..4_u8)] u8),
    Connect(#[generator(0..4_u8)] u8),
    Send(Name, u8, #[generator(0..3_u8)] u8, Length),
    /// Another cap of a channel.
    Cap(Name, u8, u32),
    /// Another rate to a peer, from a peer, or of the host.
    Rate(Name, u8, u32),
    /// Lets a peer in, or refuses it with this many bytes.
    Answer(Name, Option<u8>),
    Receive(Name),
    Disconnect(Name, Option<Duration>, u32),
    Datagram(
        u8,
        #[generator(produce::<Vec<u8>>().with().len(0..100_usize))] Vec<u8>,
    ),
    Timeout,
    Event,
    Inspect(Name),
    /// The other host connects to this one.
    Called,
    /// The two hosts exchange their datagrams, this many times.
    Exchange(#[generator(0..8_u8)] u8),
    /// The clock goes on, or jumps to any time.
    Clock(u32),
    Jump(u64),
    /// The system cannot send to an address, or its port is not bound.
    Unreachable(#[generator(0..4_u8)] u8),
    PortClosed(#[generator(0..5_u8)] u8),
}

/// A peer.
#[derive(Clone, Copy, Debug, TypeGenerator)]
enum Name {
    /// One of the existing peers.
    Known(u8),
    /// A peer id of any number.
    Any(u64),
}

#[derive(Clone, Copy, Debug, TypeGenerator)]
enum Length {
    Short(u8),
    Long(#[generator(0..200_000_u32)] u32),
}

/// Calls the setters for which a setup has values. A setter that returns an error is left out.
fn config(setup: &Setup) -> Config {
    let priorities = vec![porous_proto::Priority::High; setup.channels.into()];
    let channel = Channel::new(porous_proto::Priority::Low);
    let channel = channel.weight(setup.weight).rate(setup.rate);
    let [connect, timeout, disconnect] = setup.timeouts;
    let mut config = Config::new();
    let setters: [&dyn Fn(Config) -> Result<Config, ConfigError>; 10] = [
        &|config| config.channels(&priorities)?.channel(ChannelId(0), channel),
        &|config| config.max_datagram(setup.datagram),
        &|config| config.receive_budget(setup.packet.0, setup.packet.1),
        &|config| config.windows(1 << (setup.windows.0 % 20), 1 << (setup.windows.1 % 20)),
        &|config| config.bandwidth(setup.rates.0, setup.rates.1),
        &|config| {
            let lengths = [0, 1, 2, 3, 4, 5, 8, 9, 20, 21];
            config.connection_id_len(lengths[usize::from(setup.connection_id) % 10])
        },
        &|config| config.send_budget(setup.send_budget),
        &|config| config.connect_timeout(connect),
        &|config| config.timeout(timeout),
        &|config| config.disconnect_timeout(disconnect),
    ];
    for set in setters {
        config = set(config.clone()).unwrap_or(config);
    }
    let policies = [Policy::Modern, Policy::Paper];
    config
        .policy(policies[usize::from(setup.connection_id / 10 % 2)])
        .application_id(u64::from(setup.application == 0))
        .host_send_rate(setup.host_rate)
        .congestion(Congestion::BUILT_IN[usize::from(setup.controller) % 6])
        .max_peers(setup.max_peers.into())
        .integrity(if setup.checksum {
            Integrity::Crc32c
        } else {
            Integrity::Header
        })
        .first_id(setup.first_id >> 8)
}

/// A peer id from a number: none below 2^32 is one.
fn name_of(n: u64) -> PeerId {
    PeerId::from_u64(n.max(1 << 32)).expect("a name")
}

const fn is_over(state: PeerState) -> bool {
    matches!(state, PeerState::Disconnected | PeerState::Zombie)
}

struct Pair {
    hosts: [Host<ChaCha8Rng, u8>; 2],
    now: Instant,
}

impl Pair {
    fn peer(&self, name: Name) -> PeerId {
        match name {
            Name::Any(n) => name_of(n),
            Name::Known(n) => {
                let peers: Vec<_> = self.hosts[0].all_peers().map(|(id, _)| id).collect();
                let index = usize::from(n).checked_rem(peers.len());
                index.map_or_else(|| name_of(n.into()), |index| peers[index])
            }
        }
    }

    fn exchange(&mut self) {
        for side in 0..2 {
            let [a, b] = &mut self.hosts;
            let (from, to) = if side == 0 { (a, b) } else { (b, a) };
            let mut buf = vec![0; from.max_datagram_size()];
            for _ in 0..100 {
                let Some(transmit) = from.poll_transmit(self.now, &mut buf) else {
                    break;
                };
                if transmit.to == 1 - side {
                    to.handle_datagram(self.now, side, Ecn::Ect0, transmit.datagram);
                }
            }
        }
        self.hosts[1].handle_timeout(self.now);
        while self.hosts[1].poll_event().is_some() {}
    }

    fn send(&mut self, name: Name, channel: u8, mode: u8, length: Length) {
        let id = self.peer(name);
        let len = match length {
            Length::Short(len) => usize::from(len),
            Length::Long(len) => usize::try_from(len).expect("a short length"),
        };
        let before = self.hosts[0].peer(id).map(|peer| {
            let over = channel >= peer.channels();
            (
                peer.state(),
                over,
                len > peer.max_packet(),
                peer.queued_bytes(),
            )
        });
        let mode = [Mode::Unreliable, Mode::Reliable, Mode::Passive][usize::from(mode)];
        let number = len as u64;
        let options = SendOptions::new(mode).redundancy(u8::try_from(len % 7).unwrap_or(0));
        let options = match len % 5 {
            1 => options.ttl(Duration::from_millis(number % 3000)),
            2 => options.receipt(number % 16).key(number % 3),
            3 => options.key(number % 8),
            4 => options.receipt(number % 16).ttl(Duration::from_millis(1)),
            _ => options,
        };
        let sent = self.hosts[0].send(id, ChannelId(channel), vec![7; len], options);
        if len % 11 == 3 {
            self.hosts[0].cancel(id, ChannelId(channel), number % 16);
        }
        let expected = match (before, sent) {
            (None | Some((PeerState::Disconnected | PeerState::Zombie, ..)), sent) => {
                sent == Err(SendError::UnknownPeer)
            }
            (Some((PeerState::Connecting, ..)), sent) => sent == Err(SendError::NotConnected),
            (Some((PeerState::Disconnecting, ..)), sent) => sent == Err(SendError::Disconnecting),
            // A flush is under way.
            (Some(_), Err(SendError::Disconnecting)) => true,
            (Some((_, true, ..)), sent) => sent == Err(SendError::UnknownChannel),
            (Some((_, _, true, _)), sent) => sent == Err(SendError::TooLarge),
            (Some((_, _, _, queued)), Err(SendError::Full)) => queued > 0,
            (Some(_), sent) => sent.is_ok(),
        };
        assert!(expected, "{before:?} {sent:?}");
    }

    fn cap(&mut self, name: Name, channel: ChannelId, rate: u32) {
        let id = self.peer(name);
        let host = &mut self.hosts[0];
        let before = host.peer(id).map(|peer| (peer.state(), peer.channels()));
        let changed = host.set_channel_rate(id, channel, rate);
        let expected = match (before, changed) {
            (_, Ok(())) => before.is_some_and(|(_, channels)| channel.0 < channels),
            (None, error) => error == Err(SendError::UnknownPeer),
            (Some((PeerState::Connecting, 0)), error) => error == Err(SendError::NotConnected),
            (Some((state, 0)), error) => is_over(state) || error == Err(SendError::UnknownPeer),
            (Some((_, channels)), error) => {
                channel.0 >= channels && error == Err(SendError::UnknownChannel)
            }
        };
        assert!(expected, "{before:?} {changed:?}");
    }

    fn rate(&mut self, name: Name, which: u8, rate: u32) {
        let id = self.peer(name);
        let host = &mut self.hosts[0];
        let before = host.peer(id).map(|peer| (peer.state(), peer.channels()));
        let changed = match which % 3 {
            0 => host.set_send_rate(id, rate),
            1 => host.set_receive_rate(id, rate),
            _ => return host.set_host_send_rate(rate),
        };
        let expected = match (before, changed) {
            (_, Ok(())) => before.is_some_and(|(_, channels)| channels > 0),
            (None, error) => error == Err(SendError::UnknownPeer),
            (Some((PeerState::Connecting, 0)), error) => error == Err(SendError::NotConnected),
            (Some((state, 0)), error) => is_over(state) || error == Err(SendError::UnknownPeer),
            (Some(_), Err(_)) => false,
        };
        assert!(expected, "{before:?} {changed:?}");
    }

    fn connect(&mut self, to: u8) {
        let host = &mut self.hosts[0];
        let known: Vec<_> = host.peers().map(|(id, peer)| (id, peer.state())).collect();
        let open = |state| matches!(state, PeerState::Connecting | PeerState::Connected);
        let live = known
            .iter()
            .any(|(id, state)| host.address(*id) == Some(to) && open(*state));
        let connects = host.connect(self.now, to);
        let expected = match connects {
            Ok(_) | Err(ConnectError::OutOfConnectionIds) => !live,
            Err(_) => live,
        };
        assert!(expected, "{connects:?}");
    }

    fn call(&mut self, call: &Call, client: bool) {
        let now = self.now;
        match call {
            Call::Listen(open) => {
                let all = [Listen::Closed, Listen::Open, Listen::Ask, Listen::Full];
                let listens = self.hosts[0].listen(all[usize::from(*open)]);
                assert_eq!(listens.is_err(), *open > 0 && client);
            }
            Call::Connect(to) => self.connect(*to),
            Call::Send(name, channel, mode, length) => self.send(*name, *channel, *mode, *length),
            Call::Cap(name, channel, rate) => self.cap(*name, ChannelId(*channel), *rate),
            Call::Rate(name, which, rate) => self.rate(*name, *which, *rate),
            Call::Answer(name, yes) => {
                let id = self.peer(*name);
                let host = &mut self.hosts[0];
                let state = host.peer(id).map(Peer::state);
                let answered = match yes {
                    Some(len) => host.refuse(now, id, &vec![1; usize::from(*len)]),
                    None => host.accept(now, id),
                };
                let expected = match (answered, state) {
                    (Err(AnswerError::UnknownPeer), state) => state.is_none_or(is_over),
                    (Err(AnswerError::TooLong), _) => yes.is_some_and(|len| len > 64),
                    (Ok(()) | Err(_), state) => state.is_some(),
                };
                assert!(expected, "{answered:?} {state:?}");
            }
            Call::Receive(name) => drop(self.hosts[0].receive(self.peer(*name))),
            Call::Disconnect(name, flush, reason) => {
                let (id, reason) = (self.peer(*name), *reason);
                let live = self.hosts[0].peer(id).map(Peer::state);
                let live = live.is_some_and(|state| !is_over(state));
                let how = match *flush {
                    Some(deadline) => Disconnect::Flush { reason, deadline },
                    None => Disconnect::Now { reason },
                };
                assert_eq!(self.hosts[0].disconnect(now, id, how).is_ok(), live);
            }
            Call::Datagram(from, bytes) => {
                self.hosts[0].handle_datagram(now, *from, Ecn::Ce, bytes);
            }
            Call::Timeout => self.hosts[0].handle_timeout(now),
            Call::Event => drop(self.hosts[0].poll_event()),
            Call::Inspect(name) => {
                let (host, id) = (&self.hosts[0], self.peer(*name));
                assert_eq!(host.peer(id).is_some(), host.address(id).is_some());
                let told = host.peer(id).map(|peer| (peer.stats().rtt, peer.rtt()));
                assert!(
                    told.is_none_or(|(a, b)| a == b) && host.stats().ignored_total() < u64::MAX
                );
            }
            Call::Exchange(times) => (0..*times).for_each(|_| self.exchange()),
            Call::Called => drop(self.hosts[1].connect(now, 0)),
            Call::Clock(micros) => self.now = now + Duration::from_micros((*micros).into()),
            Call::Unreachable(to) => self.hosts[0].handle_unreachable(now, *to),
            Call::PortClosed(at) => {
                self.hosts[0].handle_port_closed(Some(*at).filter(|&at| at < 4));
            }
            Call::Jump(to) => self.now = Instant::from_micros(*to),
        }
    }
}

type Run = (Setup, Setup, bool, Vec<Call>);

fn run((a, b, same, calls): &Run) -> Pair {
    let b = if *same { a } else { b };
    let host = |setup, index| Host::new(config(setup), Seed::new(1).stream("host", index));
    let mut hosts = [host(a, 0), host(b, 1)];
    let client = hosts[0].listen(Listen::Open).is_err();
    assert_eq!(
        client,
        a.connection_id % 10 == 0,
        "only who has no connection ids cannot listen"
    );
    assert_eq!(hosts[0].listen(Listen::Closed), Ok(()));
    assert_eq!(
        hosts[1].listen(Listen::Open).is_err(),
        b.connection_id % 10 == 0
    );
    let mut pair = Pair {
        hosts,
        now: Instant::ZERO,
    };
    pair.call(&Call::Connect(1), client);
    pair.call(&Call::Exchange(5), client);
    for call in calls {
        pair.call(call, client);
    }
    pair
}

#[test]
fn any_call_with_any_argument_does_what_is_documented() {
    check!()
        .with_type::<Run>()
        .with_iterations(10_000)
        .for_each(|input| drop(run(input)));
}

#[test]
fn the_calls_reach_connections() {
    let mut connected = 0;
    for n in 0..200 {
        let input = drawn(Seed::new(n), &produce::<Run>());
        connected += run(&input).hosts[0].stats().connected;
    }
    assert!(connected > 100, "{connected} connections");
}
