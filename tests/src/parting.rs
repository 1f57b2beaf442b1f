//! Pairs of hosts that disconnect: the beginnings and ends of the tests of §2.5 and of silence.

use core::time::Duration;

use porous_proto::{Disconnect, DisconnectReason, Event, Mode, Received};
use porous_sim::{LinkConfig, Pair, Seed};

use crate::{config, ended, events};

/// The seed of a test that needs only one.
#[must_use]
pub fn seed() -> Seed {
    Seed::from_env(Seed::new(1))
}

/// A line that takes 20 ms one way.
#[must_use]
pub const fn line() -> LinkConfig {
    LinkConfig::new().delay(Duration::from_millis(20))
}

/// A has connected to B, which listens, and no datagram is under way.
///
/// # Panics
///
/// If the two are not connected; the message names the seed.
pub fn quiet_pair(seed: Seed, links: LinkConfig) -> Pair {
    let mut pair = Pair::new(seed, links, config::client(), config::new());
    pair.connect_to_listener();
    pair.world.run_for(Duration::from_secs(1));
    for address in [Pair::A, Pair::B] {
        assert_eq!(events(&mut pair.world, address), [], "{seed}");
    }
    pair
}

/// The host at `address` disconnects the other.
///
/// # Panics
///
/// If it cannot.
pub fn disconnect(pair: &mut Pair, address: u32, how: Disconnect) {
    let peer = pair.peer(address);
    let done = pair.world.disconnect(address, peer, how);
    assert_eq!(done, Ok(()), "{}", pair.world.seed());
}

/// The host at `address` disconnects after everything is delivered, for which there is ample time.
#[must_use]
pub const fn flush(reason: u32) -> Disconnect {
    Disconnect::Flush {
        reason,
        deadline: Duration::from_secs(30),
    }
}

/// Queues `count` reliable packets of 500 bytes.
///
/// # Panics
///
/// If the send buffer refuses one; the message names the seed.
pub fn queue(pair: &mut Pair, address: u32, count: u8) {
    for n in 0..count {
        let sent = pair.send(address, 0, Mode::Reliable, vec![n; 500]);
        assert_eq!(sent, Ok(()), "{}", pair.world.seed());
    }
}

/// These are the packets that [`queue`] has sent, all and in order.
///
/// # Panics
///
/// If one is missing or out of order; the message names the seed.
pub fn assert_all(got: &[Received], count: u8, context: &str) {
    let first: Vec<_> = got.iter().map(|packet| packet.payload[0]).collect();
    let sent: Vec<_> = (0..count).collect();
    assert_eq!(first, sent, "{context}");
    assert!(
        got.iter().all(|packet| packet.payload.len() == 500),
        "{context}"
    );
}

/// The host at `address` was told this end of the connection, once, and of nothing afterwards.
///
/// # Panics
///
/// If it was told anything else; the message names the seed.
pub fn assert_told(pair: &mut Pair, address: u32, end: (DisconnectReason, u32), context: &str) {
    let told = events(&mut pair.world, address);
    let context = format!("{address}: {told:?}; {context}; {}", pair.world.seed());
    let peer = pair.peer(address);
    assert_eq!(ended(&told), [(peer, end.0, end.1)], "{context}");
    let last = told.last();
    assert!(
        matches!(last, Some(Event::Disconnected { .. })),
        "{context}"
    );
}
