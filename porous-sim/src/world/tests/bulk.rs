//! Many events at one instant.

use super::*;

/// The run comes to an end, and is no loop.
#[test]
fn what_takes_no_time_may_be_a_lot() {
    const DATAGRAMS: u32 = 150_000;
    let mut world = World::new(Seed::new(7), LinkConfig::new());
    world.add_host(SERVER, Config::new());
    for _ in 0..DATAGRAMS {
        world.inject(PLAYER, SERVER, vec![0]);
        assert_eq!(world.step(), Some(at(0)));
    }
    let received = world.host(SERVER).stats().datagrams_received;
    assert_eq!(received, u64::from(DATAGRAMS));
}
