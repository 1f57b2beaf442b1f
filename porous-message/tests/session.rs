//! Sessions over two hosts: the options that the two must agree on, and receipts of other packets.
#![expect(clippy::unwrap_used, reason = "a test")]

use core::time::Duration;

use porous_message::{Carrier, MessageChannel, MessageConfig, Session};
use porous_proto::{
    Channel, ChannelId, Config, DisconnectReason, Event, Instant, Listen, Mode, Outcome, PeerStats,
    Priority, Refusal, SendOptions,
};
use porous_sim::{LinkConfig, Pair, Seed, World};

const CHANNEL: ChannelId = ChannelId(0);

/// The event that a client with these messages gets from a server with those.
fn outcome(client: &MessageConfig, server: &MessageConfig) -> Option<Event<u32>> {
    let mut world = World::new(Seed::new(1), LinkConfig::new());
    world.add_host(1, Config::client().application_id(7 ^ client.fingerprint()));
    world.add_host(2, Config::new().application_id(7 ^ server.fingerprint()));
    world.host_mut(2).listen(Listen::Open).unwrap();
    world.connect(1, 2).unwrap();
    world.run_for(Duration::from_secs(1));
    world.poll_event(1)
}

fn config(channels: &[MessageChannel]) -> MessageConfig {
    MessageConfig::new(channels).unwrap()
}

#[test]
fn a_peer_with_other_channels_is_refused() {
    let channel = MessageChannel::reliable().blocks(1000);
    let ours = config(&[channel]);
    let is_refused = |event| {
        let Some(Event::Disconnected { reason, .. }) = event else {
            return false;
        };
        matches!(
            reason,
            DisconnectReason::Refused(Refusal::Incompatible { .. })
        )
    };
    let others = [
        config(&[channel, channel]),
        config(&[MessageChannel::unreliable()]),
        config(&[channel.window(100)]),
        config(&[channel.blocks(1001)]),
        config(&[channel.fragment(100)]),
        config(&[channel.block_window(1)]),
        ours.clone().messages_per_packet(10),
    ];
    for theirs in &others {
        assert!(is_refused(outcome(&ours, theirs)), "{theirs:?}");
    }
    let own_matter = channel.priority(3).budget(400).queue(5);
    let own_matter = MessageConfig::with_packet(&[own_matter], 500).unwrap();
    for theirs in [&ours, &own_matter] {
        let event = outcome(&ours, theirs);
        assert!(matches!(event, Some(Event::Connected { .. })), "{event:?}");
    }
    assert_eq!(
        ours.fingerprint(),
        8_280_373_900_557_979_646,
        "the same on every machine, for ever"
    );
}

#[test]
fn receipts_of_others_and_old_ones_change_nothing() {
    let mut session = Session::with_tokens(config(&[MessageChannel::reliable()]), 100);
    session.endpoint().send(0, 7_u8).unwrap();
    let carrier = Carrier::from(&PeerStats::default());
    assert_eq!(session.packets(Instant::ZERO, carrier).unwrap().len(), 1);
    for token in [0, 99, 101, 1 << 32, 100 + (1 << 16), u64::MAX] {
        session.receipt(token, Outcome::Delivered);
        session.receipt(token, Outcome::Lost);
        let packets = session.packets(Instant::ZERO, carrier).unwrap();
        assert!(packets.is_empty(), "{token}");
    }
    assert_eq!(session.endpoint().stats().packets_acked, 0);
    session.receipt(100, Outcome::Delivered);
    assert_eq!(session.endpoint().stats().packets_acked, 1);
}

#[test]
fn a_lost_packet_is_made_up_for_when_its_receipt_says_so() {
    let channel = Channel::new(Priority::High).unordered();
    let host = |config: Config| config.channel(CHANNEL, channel).unwrap();
    let line = LinkConfig::new().delay(Duration::from_millis(10));
    let mut pair = Pair::new(
        Seed::new(1),
        line,
        host(Config::client()),
        host(Config::new()),
    );
    pair.connect_to_listener();
    let config = config(&[MessageChannel::reliable()]);
    let mut session = Session::new(config.resend(porous_message::Resend::After(
        // Longer than this test lasts.
        Duration::from_secs(100),
    )));
    let mut other = Session::<u32>::new(self::config(&[MessageChannel::reliable()]));
    let down = LinkConfig::new().down(true);
    for number in 0..100_u32 {
        // A hundred milliseconds without a network.
        match number {
            20 => pair.world.network_mut().set_all(down),
            30 => pair.world.network_mut().set_all(line),
            _ => {}
        }
        session.endpoint().send(0, number).unwrap();
        while let Some(event) = pair.world.poll_event(Pair::A) {
            if let Event::Receipt { token, outcome, .. } = event {
                session.receipt(token, outcome);
            }
        }
        let (now, peer) = (pair.world.now(), pair.peer(Pair::A));
        let host = pair.world.host_mut(Pair::A);
        let carrier = Carrier::of(host.peer(peer).unwrap(), CHANNEL);
        for (packet, options) in session.packets(now, carrier).unwrap() {
            host.send(peer, CHANNEL, packet, options).unwrap();
        }
        for received in pair.receive_all(Pair::B) {
            other.receive_packet(&received.payload).unwrap();
        }
        pair.world.run_for(Duration::from_millis(10));
    }
    let mut expected = 0;
    while let Some(arrival) = other.endpoint().receive() {
        assert_eq!(arrival.message, expected);
        expected += 1;
    }
    assert!(expected > 90, "{expected}");
}

/// The state of a connection with this round trip, and a window that has room.
fn carrier(rtt: Duration) -> Carrier {
    let mut stats = PeerStats::default();
    (stats.rtt, stats.resend_timeout, stats.window) = (rtt, rtt + rtt / 2, 100_000);
    Carrier::from(&stats)
}

#[test]
fn packets_go_stale_when_their_messages_go_into_others() {
    for millis in [20, 120, 240, 1000] {
        let carrier = carrier(Duration::from_millis(millis));
        let mut session = Session::new(config(&[MessageChannel::reliable()]));
        session.endpoint().send(0, 7_u8).unwrap();
        let mut times = Vec::new();
        for tick in 0..400 {
            let now = Instant::from_micros(tick * 10_000);
            for (_, options) in session.packets(now, carrier).unwrap() {
                times.push((tick * 10, options));
            }
        }
        let (first, options) = times[0];
        // Ten milliseconds for the tick: before the first there is none.
        let patience = millis * 3 / 2;
        let ttl = Duration::from_millis(patience.max(100));
        assert_eq!(first, 0);
        assert_eq!(
            options,
            SendOptions::new(Mode::Unreliable).receipt(0).ttl(ttl)
        );
        assert_eq!(times[1].0, patience + 10, "round trips of {millis} ms");
    }
}

/// The last packet may exceed the room, so that there are two.
#[test]
fn a_session_writes_what_leaves_within_two_ticks_and_no_more() {
    let mut carrier = carrier(Duration::from_millis(50));
    let mut session = Session::new(config(&[MessageChannel::reliable()]));
    for _ in 0..1000 {
        session.endpoint().send(0, [7_u8; 1000]).unwrap();
    }
    let mut tick = 0;
    let mut written = |waiting| {
        carrier.waiting = waiting;
        tick += 1;
        let now = Instant::from_micros(tick * 16_000);
        session.packets(now, carrier).unwrap().len()
    };
    assert_eq!(written(0), 2, "nothing waits");
    assert_eq!(
        [written(2), written(2), written(2)],
        [0; 3],
        "nothing leaves"
    );
    // One packet has left, then one more: the session becomes as slow as the host.
    assert_eq!([written(1), written(2), written(1)], [1, 0, 1]);
    // All packets leave: the session writes twice as much each time.
    let faster = [written(0), written(0), written(0)];
    assert!(faster[0] < faster[1] && faster[1] < faster[2], "{faster:?}");
    // The window lets 100,000 bytes leave in 50 ms.
    assert!((0..100).all(|_| written(0) <= 66));
}

/// At one packet a tick the block would take 16 s.
#[test]
fn a_block_takes_what_the_path_carries() {
    let channel = Channel::new(Priority::High).unordered();
    let host = |config: Config| config.channel(CHANNEL, channel).unwrap();
    let line = LinkConfig::new()
        .delay(Duration::from_millis(20))
        .rate(8_000_000);
    let (a, b) = (host(Config::client()), host(Config::new()));
    let mut pair = Pair::new(Seed::new(1), line, a, b);
    pair.connect_to_listener();
    let config = config(&[MessageChannel::reliable().blocks(1 << 20)]);
    let mut sessions = [(); 2].map(|()| Session::<u8>::new(config.clone()));
    let sent = sessions[0].endpoint().send_block(0, 7, vec![1; 1 << 20]);
    sent.unwrap();
    let mut ticks = 0;
    while sessions[1].endpoint().receive().is_none() {
        for (session, address) in sessions.iter_mut().zip([Pair::A, Pair::B]) {
            for received in pair.receive_all(address) {
                session.receive_packet(&received.payload).unwrap();
            }
            while let Some(event) = pair.world.poll_event(address) {
                if let Event::Receipt { token, outcome, .. } = event {
                    session.receipt(token, outcome);
                }
            }
            let (now, peer) = (pair.world.now(), pair.peer(address));
            let host = pair.world.host_mut(address);
            let carrier = Carrier::of(host.peer(peer).unwrap(), CHANNEL);
            for (packet, options) in session.packets(now, carrier).unwrap() {
                host.send(peer, CHANNEL, packet, options).unwrap();
            }
        }
        pair.world.run_for(Duration::from_millis(16));
        ticks += 1;
        // The block takes 1.6 s; the line alone takes 1.1 s.
        assert!(ticks < 100, "{:?}", sessions[0].endpoint().stats());
    }
    // 4096 pieces, of which the queue of the line drops some at the start.
    let resent = sessions[0].endpoint().stats().resent;
    assert!(resent < 500, "{resent}");
}
