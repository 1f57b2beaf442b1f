//! The host limits every controller in the same way (P12): a window that was not used does not allow a
//! burst.

use core::time::Duration;

use porous_proto::congestion::{Ack, Congestion, Controller, Trouble};
use porous_proto::{ChannelId, Config, Mode};
use porous_sim::{LinkConfig, Pair, Seed, Service};

const MS: Duration = Duration::from_millis(1);
const FRAME: Duration = Duration::from_micros(16_667);
const INITIAL: u32 = 12_000;

/// A controller that allows a gigabyte.
#[derive(Debug)]
struct Wide;

impl Controller for Wide {
    fn on_ack(&mut self, _: &Ack) {}

    fn on_trouble(&mut self, _: &Trouble) {}

    fn on_mtu(&mut self, _: u32) {}

    fn window(&self) -> u32 {
        1 << 30
    }
}

fn window(pair: &Pair) -> (u32, u32) {
    let host = pair.world.host(Pair::A);
    let stats = host.peer(pair.peer(Pair::A)).map(porous_proto::Peer::stats);
    stats.map_or((0, 0), |stats| (stats.window, stats.flight))
}

/// P12.
#[test]
fn a_window_that_was_not_used_gives_no_right_to_a_burst() {
    let config = Config::new().congestion(Congestion::Custom(|_| Box::new(Wide)));
    let line = LinkConfig::new().delay(30 * MS);
    let mut pair = Pair::new(Seed::new(1), line, config.clone(), config);
    pair.world.set_service(Pair::A, Service::tick(FRAME));
    pair.connect_to_listener();
    let peer = pair.peer(Pair::A);
    let send = |pair: &mut Pair, len| {
        let host = pair.world.host_mut(Pair::A);
        let taken = host.send(peer, ChannelId(0), vec![7; len], Mode::Reliable);
        assert_eq!(taken, Ok(()));
    };
    for _ in 0..180 {
        send(&mut pair, 100);
        pair.world.run_for(FRAME);
    }
    assert_eq!(window(&pair).0, INITIAL);
    send(&mut pair, 1 << 20);
    // Frames from before are acknowledged in the meantime, and widen the window once.
    pair.world.run_for(FRAME);
    let (wider, flight) = window(&pair);
    assert!(wider <= 2 * INITIAL && flight <= wider, "{wider}, {flight}");
    let mut most = INITIAL;
    for _ in 0..60 {
        pair.world.run_for(FRAME);
        let (window, flight) = window(&pair);
        assert!(flight <= window, "{flight} of {window}");
        most = most.max(window);
    }
    assert!(most > 4 * INITIAL, "what is used makes it wider: {most}");
    // A use of the window long ago does not count.
    pair.world.run_for(30_000 * MS);
    for _ in 0..60 {
        send(&mut pair, 100);
        pair.world.run_for(FRAME);
    }
    assert_eq!(window(&pair).0, INITIAL);
}
