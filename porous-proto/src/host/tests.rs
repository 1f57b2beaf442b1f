//! Two hosts in memory.

use crate::doc::example_pair;
use crate::{Instant, PeerState};

#[test]
fn two_hosts_connect_and_fall_silent() {
    let (mut host, peer) = example_pair();
    assert_eq!(
        host.peer(peer).map(|peer| peer.state()),
        Some(PeerState::Connected)
    );
    let mut buf = [0; 1200];
    assert!(host.poll_transmit(Instant::ZERO, &mut buf).is_none());
}
