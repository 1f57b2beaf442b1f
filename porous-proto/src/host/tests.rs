//! Two hosts in memory, for what the scenario tests do not look at.

use core::time::Duration;

use crate::doc::{ExampleRng, example_pair};
use crate::{ChannelId, Disconnect, Event, Host, Instant, Mode, PeerId, PeerState};

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
    assert_eq!(reason, crate::DisconnectReason::TimedOut); // C10
    assert_eq!(host.poll_timeout(), None);
}
