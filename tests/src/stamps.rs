//! Packets that hold the time at which they were sent, and the times that packets take.

use core::time::Duration;

use porous_proto::{Instant, Received};
use porous_sim::Pair;

/// A packet of this many bytes, at least 8, that holds the time `now`.
#[must_use]
pub fn stamped(now: Instant, len: usize) -> Vec<u8> {
    let mut packet = now.as_micros().to_le_bytes().to_vec();
    packet.resize(len.max(8), 0);
    packet
}

/// The time at which a [stamped](stamped()) packet was sent.
///
/// # Panics
///
/// If the packet is shorter than 8 bytes.
#[must_use]
pub fn sent_at(packet: &Received) -> Instant {
    let stamp = packet.payload.first_chunk().expect("a stamped packet");
    Instant::from_micros(u64::from_le_bytes(*stamp))
}

/// Runs for this time. Returns the packets that these hosts of the pair received, each with the time, to the
/// millisecond, at which it came.
pub fn receive_for(pair: &mut Pair, hosts: &[u32], time: Duration) -> Vec<(Instant, Received)> {
    let (end, mut got) = (pair.world.now() + time, Vec::new());
    while pair.world.now() < end {
        let next = pair.world.now() + Duration::from_millis(1);
        pair.world.run_until(next.min(end));
        let now = pair.world.now();
        for &host in hosts {
            got.extend(
                pair.receive_all(host)
                    .into_iter()
                    .map(|packet| (now, packet)),
            );
        }
    }
    got
}

/// The smallest of these ascending values that `percent` of them do not exceed.
///
/// # Panics
///
/// If there is none.
#[must_use]
pub fn percentile<T: Copy>(ascending: &[T], percent: usize) -> T {
    ascending[(ascending.len() - 1) * percent / 100]
}
