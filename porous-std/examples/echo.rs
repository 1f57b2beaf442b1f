//! A server that sends each packet back to its sender, on its channel and in its mode, until the first client has
//! left: `cargo run -p porous-std --example echo`. It prints its address. `scripts/python.sh` lets a client in
//! Python talk to it, which was written from `docs/wire.md`.
//!
//! What it sends on channel 3 has receipts. The client says by the reason of its goodbye how many packets of
//! channel 3 have come back, and the server compares this number with what its receipts say.
#![expect(clippy::unwrap_used, reason = "a failed step ends the example")]

extern crate alloc;

use alloc::collections::{BTreeMap, VecDeque};
use core::net::SocketAddr;
use core::time::Duration;
use std::io::{Write as _, stdout};

use porous_std::proto::{Ignored, Malformed, Outcome, SendOptions};
use porous_std::{
    ChannelId, Clock, Config, DisconnectReason, Event, Instant, Listen, Mode, PeerId, Priority,
    UdpHost,
};

/// After this time the server gives up waiting for its client.
const LIMIT: Duration = Duration::from_secs(120);

const WITH_RECEIPTS: ChannelId = ChannelId(3);

/// What no client that follows `docs/wire.md` makes a server ignore.
const FAULTS: [Ignored; 8] = [
    Ignored::Malformed(Malformed::Truncated), // counted together with all others
    Ignored::Duplicate,
    Ignored::TooOld,
    Ignored::BadAck,
    Ignored::BadMessage,
    Ignored::OverBudget,
    Ignored::TooFarAhead,
    Ignored::TooMuchWork,
];

/// The server and what it has heard.
struct Echo {
    host: UdpHost,
    /// Packets that are sent back as soon as there is room.
    back: VecDeque<(PeerId, ChannelId, Mode, Vec<u8>)>,
    /// The number of packets with a receipt, and the last word on each.
    asked: u64,
    told: BTreeMap<u64, Outcome>,
    left: Option<DisconnectReason>,
}

impl Echo {
    fn on_event(&mut self, event: Event<SocketAddr>) {
        match event {
            Event::Readable { peer } => {
                while let Some(packet) = self.host.receive(peer) {
                    let payload = packet.payload.to_vec();
                    self.back
                        .push_back((peer, packet.channel, packet.mode, payload));
                }
            }
            Event::Receipt { token, outcome, .. } => {
                self.told.insert(token, outcome);
            }
            Event::Disconnected { reason, .. } => self.left = Some(reason),
            Event::Connected { .. } | _ => {}
        }
    }

    fn send_back(&mut self) {
        while let Some((peer, channel, mode, payload)) = self.back.pop_front() {
            let mut options = SendOptions::new(mode);
            if channel == WITH_RECEIPTS {
                options = options.receipt(self.asked);
            }
            if self
                .host
                .send(peer, channel, &payload[..], options)
                .is_err()
            {
                // Later, when there is room.
                self.back.push_front((peer, channel, mode, payload));
                return;
            }
            self.asked += u64::from(channel == WITH_RECEIPTS);
        }
    }
}

fn main() {
    let config = Config::new().channels(&[Priority::Low; 4]).unwrap();
    let mut host = UdpHost::bind("127.0.0.1:0", config).unwrap();
    host.listen(Listen::Open).unwrap();
    let mut out = stdout().lock();
    writeln!(out, "{}", host.local_addr().unwrap()).unwrap();
    out.flush().unwrap();
    let mut echo = Echo {
        host,
        back: VecDeque::new(),
        asked: 0,
        told: BTreeMap::new(),
        left: None,
    };
    let clock = Clock::start();
    while echo.left.is_none() {
        assert!(
            clock.now() < Instant::ZERO + LIMIT,
            "the client has not left"
        );
        echo.host.wait(Duration::from_millis(100)).unwrap();
        while let Some(event) = echo.host.poll_event() {
            echo.on_event(event);
        }
        echo.send_back();
        echo.host.transmit().unwrap();
    }
    // The goodbye is acknowledged again while its acknowledgement gets lost.
    let end = clock.now() + Duration::from_secs(3);
    while clock.now() < end {
        echo.host.wait(Duration::from_millis(100)).unwrap();
    }
    let delivered = echo.told.values();
    let delivered = delivered.filter(|outcome| **outcome == Outcome::Delivered);
    let reason = u32::try_from(delivered.count()).unwrap();
    let stats = echo.host.stats();
    let faults = FAULTS.map(|cause| (cause, stats.ignored(cause)));
    writeln!(
        out,
        "packets with receipts: {}, delivered: {reason}; datagrams received: {}",
        echo.asked, stats.datagrams_received,
    )
    .unwrap();
    assert_eq!(echo.left, Some(DisconnectReason::ByPeer(reason)));
    assert!(faults.iter().all(|(_, count)| *count == 0), "{faults:?}");
}
