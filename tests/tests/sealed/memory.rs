//! What a sealed peer takes of memory beside a plain one.

use core::time::Duration;

use allocation_counter::measure;
use porous_crypto::RustCrypto;
use porous_proto::seal::{Credentials, Security, Suite};
use porous_proto::{ChannelId, Config, Ecn, Host, Instant, Listen, Mode, PeerState};
use porous_sim::Seed;

const SEED: Seed = Seed::new(5);

/// Two hosts that are connected, and have heard from each other, `suite` by which they seal.
fn pair(suite: Option<Suite>, number: u64) -> impl Sized {
    let config = suite.map_or(Config::new(), |suite| {
        Config::new().sealed(&[suite]).unwrap()
    });
    let mut hosts = [0, 1]
        .map(|end| Host::<_, u32>::new(config.clone(), SEED.stream("host", 2 * number + end)));
    let now = Instant::ZERO;
    if suite.is_some() {
        for host in &mut hosts {
            host.set_security(Security::new(&RustCrypto));
        }
    }
    hosts[1].listen(Listen::Open).unwrap();
    let peer = match suite {
        Some(_) => hosts[0].connect_sealed(now, &[1], &Credentials::new()),
        None => hosts[0].connect(now, 1),
    };
    let peer = peer.unwrap();
    let mut buf = [0; 1500];
    for round in 0..20 {
        let now = now + round * Duration::from_millis(20);
        for (from, to) in [(0, 1), (1, 0)] {
            hosts[from].handle_timeout(now);
            while let Some(transmit) = hosts[from].poll_transmit(now, &mut buf) {
                let datagram = transmit.datagram.to_vec();
                let from = u32::try_from(from).unwrap();
                hosts[to].handle_datagram(now, from, Ecn::NotEct, &datagram);
            }
        }
        if hosts[0].peer(peer).unwrap().state() == PeerState::Connected {
            let sent = hosts[0].send(peer, ChannelId(0), &[7][..], Mode::Unreliable);
            sent.unwrap();
        }
    }
    assert_eq!(hosts[1].peers().count(), 1);
    hosts
}

/// Bytes of heap that a host with one peer takes on average, by 40 pairs.
fn heap(suite: Option<Suite>) -> i64 {
    let mut hosts = Vec::with_capacity(40);
    let used = measure(|| hosts.extend((0..40).map(|number| pair(suite, number))));
    used.bytes_current / 80
}

/// The keys of three phases, the proof of the handshake, and the scratch buffer of a host: a kilobyte, and the key
/// schedules of AES beside that, which are 1.1 kB each.
#[test]
fn a_sealed_peer_takes_little_more_than_a_plain_one() {
    let plain = heap(None);
    for (suite, most) in [(Suite::CHACHA_POLY, 1024), (Suite::AES_GCM, 5000)] {
        let more = heap(Some(suite)) - plain;
        assert!(
            (200..=most).contains(&more),
            "{suite:?}: {more} bytes more than {plain}"
        );
    }
}
