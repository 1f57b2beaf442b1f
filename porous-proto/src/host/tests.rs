//! Two hosts in memory (§2.1), for what the scenario tests do not look at.

mod budget;
mod counts;
mod endings;
mod handshake;
mod ids;
mod news;
#[cfg(feature = "seal")]
mod sealed;
mod ways;
mod work;

use core::time::Duration;

use crate::hooks::doc::{ExampleRng, example_pair, example_rng};
use crate::{
    ChannelId, Config, Disconnect, Disposition, Ecn, Event, Host, Ignored, Instant, Listen, Mode,
    Outcome, PeerId, PeerState, SendOptions, UnknownPeer,
};

#[test]
fn two_hosts_connect_and_fall_silent() {
    let (mut host, peer) = example_pair();
    assert_eq!(
        host.peer(peer).map(|peer| peer.state()),
        Some(PeerState::Connected)
    );
    let mut buf = [0; 1200];
    assert!(host.poll_transmit(Instant::ZERO, &mut buf).is_none());
    assert!(host.poll_timeout().is_some_and(|due| due > Instant::ZERO));
}

fn last_event(host: &mut Host<ExampleRng, u32>) -> Option<Event<u32>> {
    core::iter::from_fn(|| host.poll_event()).last()
}

/// Steps the host until its deadlines are behind `end`.
fn run(host: &mut Host<ExampleRng, u32>, end: Instant) {
    let mut buf = [0; 1200];
    while let Some(due) = host.poll_timeout().filter(|&due| due <= end) {
        host.handle_timeout(due);
        while host.poll_transmit(due, &mut buf).is_some() {}
    }
}

fn state(host: &Host<ExampleRng, u32>, peer: PeerId) -> Option<PeerState> {
    host.peer(peer).map(|peer| peer.state())
}

#[test]
fn a_peer_that_hears_nothing_ends_once_and_is_deleted() {
    let (mut host, peer) = example_pair();
    host.send(peer, ChannelId(0), &b"lost"[..], Mode::Reliable)
        .unwrap();
    run(&mut host, Instant::ZERO + Duration::from_secs(60));
    assert!(matches!(
        last_event(&mut host),
        Some(Event::Disconnected { undelivered: 1, .. })
    ));
    assert_eq!(state(&host, peer), None);
    assert_eq!(host.poll_timeout(), None);
}

#[test]
fn a_disconnection_that_nobody_acknowledges_times_out() {
    let (mut host, peer) = example_pair();
    host.disconnect(Instant::ZERO, peer, Disconnect::Now { reason: 3 })
        .unwrap();
    assert_eq!(state(&host, peer), Some(PeerState::Disconnecting));
    run(&mut host, Instant::ZERO + Duration::from_secs(60));
    let Some(Event::Disconnected { reason, .. }) = last_event(&mut host) else {
        unreachable!()
    };
    assert_eq!(reason, crate::DisconnectReason::GoodbyeUnanswered); // C10
    assert_eq!(host.poll_timeout(), None);
}

#[test]
fn a_full_send_buffer_says_so_and_nothing_is_lost() {
    let (mut host, peer) = example_pair();
    let packet = bytes::Bytes::from(alloc::vec![0; 1 << 20]);
    let mut sent = 0;
    let error = loop {
        match host.send(peer, ChannelId(0), packet.clone(), Mode::Reliable) {
            Ok(()) => sent += 1,
            Err(error) => break error,
        }
    };
    assert_eq!((sent, error), (3, crate::SendError::Full)); // T8: 4 MiB with 64 bytes a packet
    let queued = host.peer(peer).map(|peer| peer.queued_bytes());
    assert_eq!(queued, Some(3 * ((1 << 20) + 64)));
    let large = alloc::vec![0; (1 << 20) + 1];
    let error = host.send(peer, ChannelId(0), large, Mode::Reliable);
    assert_eq!(error, Err(crate::SendError::TooLarge)); // Q4
}

#[test]
fn a_host_that_was_not_stepped_does_not_blame_its_peer() {
    let (mut host, peer) = example_pair();
    // A loading screen: no step for 15 s, with a timeout of 10 s.
    let back = Instant::ZERO + Duration::from_secs(15);
    host.handle_timeout(back);
    assert_eq!(state(&host, peer), Some(PeerState::Connected)); // T23
    run(&mut host, back + Duration::from_secs(9));
    assert_eq!(state(&host, peer), Some(PeerState::Connected));
    run(&mut host, back + Duration::from_secs(11));
    assert_eq!(state(&host, peer), None);
}

#[test]
fn a_peer_that_has_ended_cannot_be_disconnected() {
    let (mut host, peer) = example_pair();
    let how = Disconnect::Now { reason: 3 };
    host.disconnect(Instant::ZERO, peer, how).unwrap();
    // A second call while the disconnection is under way changes nothing.
    assert_eq!(host.disconnect(Instant::ZERO, peer, how), Ok(()));
    let ending = &mut host.table.get_mut(peer).unwrap().peer;
    let remote = ending.remote_nonce().unwrap();
    assert!(ending.on_disconnect(0, remote, 4, Instant::ZERO));
    assert_eq!(state(&host, peer), Some(PeerState::Disconnected));
    let error = host.disconnect(Instant::ZERO, peer, how);
    assert_eq!(error, Err(UnknownPeer));
}

/// The first byte of the answer of a host to a request, while this number of events of a peer wait.
fn answer_behind(events: u32, event: impl Fn(PeerId) -> Event<u32>) -> Option<u8> {
    let mut client = Host::<_, u32>::new(Config::client(), example_rng());
    let peer = client.connect(Instant::ZERO, 2).unwrap();
    let mut buf = [0; 1200];
    let request = client.poll_transmit(Instant::ZERO, &mut buf).unwrap();
    let request = request.datagram.to_vec();
    let mut host = Host::<_, u32>::new(Config::new(), example_rng());
    host.listen(Listen::Open).unwrap();
    for _ in 0..events {
        host.events.push(event(peer));
    }
    let taken = host.handle_datagram(Instant::ZERO, 1, Ecn::NotEct, &request);
    assert_eq!(taken, Disposition::Ignored(Ignored::Stateless));
    let answered = host.poll_transmit(Instant::ZERO, &mut buf);
    answered.map(|transmit| transmit.datagram[0])
}

/// C2.
#[test]
fn nobody_is_let_in_while_thousands_of_events_wait() {
    let come = |peer| Event::Connected { peer, address: 3 };
    for (events, answer) in [(4095, 0xC1), (4096, 0xE0), (4097, 0xE0)] {
        assert_eq!(answer_behind(events, come), Some(answer), "{events}");
    }
}

/// In each turn of a server as many peers may become readable as there are.
#[test]
fn newcomers_do_not_wait_until_thousands_are_read() {
    let (token, outcome) = (1, Outcome::Delivered);
    let usual: [fn(PeerId) -> Event<u32>; 2] = [
        |peer| Event::Readable { peer },
        |peer| Event::Writable { peer },
    ];
    for event in usual {
        assert_eq!(answer_behind(10_000, event), Some(0xC1));
    }
    let receipt = |peer| Event::Receipt {
        peer,
        token,
        outcome,
    };
    assert_eq!(answer_behind(10_000, receipt), Some(0xC1));
}

/// Newcomers are given up before connected peers, until the program has caught up.
#[test]
fn nobody_is_let_in_while_more_comes_than_the_program_takes_in() {
    let mut client = Host::<_, u32>::new(Config::client(), example_rng());
    client.connect(Instant::ZERO, 2).unwrap();
    let mut buf = [0; 1200];
    let request = client.poll_transmit(Instant::ZERO, &mut buf).unwrap();
    let request = request.datagram.to_vec();
    let mut host = Host::<_, u32>::new(Config::new(), example_rng());
    host.listen(Listen::Open).unwrap();
    let mut answer = |turn: u64, waits: bool| {
        let now = Instant::from_micros(turn * 50_000);
        host.handle_datagram(now, 1, Ecn::NotEct, &request);
        host.handle_backlog(now, waits);
        let answered = host.poll_transmit(now, &mut buf).unwrap();
        (answered.datagram[0], host.stats().overloaded)
    };
    for turn in 0..=20 {
        assert_eq!(answer(turn, true), (0xC1, 0), "{turn}");
    }
    assert_eq!(answer(21, true), (0xE0, 1));
    assert_eq!(answer(22, false), (0xE0, 2));
    assert_eq!(answer(23, true), (0xC1, 2));
}

#[test]
fn a_host_that_sleeps_after_a_reset_does_not_blame_its_peer() {
    let (mut host, peer) = example_pair();
    let tick = host.steps.advance(Instant::ZERO);
    let doubted = &mut host.table.get_mut(peer).unwrap().peer;
    doubted.on_reset(tick);
    host.settle(peer.slot);
    // The answer to our ping may have come while the host slept (T23).
    let back = Instant::ZERO + Duration::from_secs(8);
    host.handle_timeout(back);
    assert_eq!(state(&host, peer), Some(PeerState::Connected));
    run(&mut host, back + Duration::from_secs(5));
    assert!(matches!(
        last_event(&mut host),
        Some(Event::Disconnected { .. })
    ));
}
