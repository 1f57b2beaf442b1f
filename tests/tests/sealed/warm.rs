//! A sealed connection that has settled allocates no more than a plain one: nothing.

use allocation_counter::{measure, opt_out};
use porous_crypto::RustCrypto;
use porous_proto::seal::{Credentials, Security, Suite};
use porous_proto::{ChannelId, Config, Ecn, Host, Instant, Listen, Mode, PeerId};
use porous_sim::{ChaCha8Rng, Seed};
use porous_tests::recorder::Recorder;

use crate::scene::{MS, SUITES};

const SEED: Seed = Seed::new(1);
/// Packets that let every queue reach its size.
const WARM_UP: usize = 2000;
const PACKETS: usize = 500;

/// Two hosts over a perfect wire.
struct Wire {
    hosts: [Host<ChaCha8Rng, u8>; 2],
    now: Instant,
}

impl Wire {
    fn new(suite: Suite, recorder: &'static Recorder) -> (Self, [PeerId; 2]) {
        let hosts = [0, 1].map(|index| {
            let config = Config::new().sealed(&[suite]).unwrap();
            let mut host = Host::new(config, SEED.stream("host", index));
            host.set_security(Security::new(recorder));
            host
        });
        let mut wire = Self {
            hosts,
            now: Instant::ZERO,
        };
        let [client, server] = &mut wire.hosts;
        server.listen(Listen::Open).unwrap();
        let credentials = Credentials::new();
        let there = client.connect_sealed(Instant::ZERO, &[1], &credentials);
        for _ in 0..10 {
            wire.step();
        }
        let (back, peer) = wire.hosts[1].peers().next().unwrap();
        assert!(peer.secured().is_some());
        (wire, [there.unwrap(), back])
    }

    /// Five milliseconds pass, and both hosts send what they have to send.
    fn step(&mut self) {
        self.now = self.now + 5 * MS;
        let mut buf = [0; 1200];
        for from in [0, 1] {
            self.hosts[from].handle_timeout(self.now);
            while let Some(transmit) = self.hosts[from].poll_transmit(self.now, &mut buf) {
                let length = transmit.datagram.len();
                let address = u8::try_from(from).unwrap();
                let other = &mut self.hosts[1 - from];
                other.handle_datagram(self.now, address, Ecn::NotEct, &buf[..length]);
            }
        }
        for host in &mut self.hosts {
            while host.poll_event().is_some() {}
        }
    }
}

#[test]
fn a_warm_sealed_connection_allocates_nothing() {
    static BYTES: [u8; 20_000] = [7; 20_000];
    for suite in SUITES {
        for mode in [Mode::Unreliable, Mode::Reliable, Mode::Passive] {
            for wide in [false, true] {
                let recorder = Recorder::leaked_with(&RustCrypto, |note| opt_out(note));
                let (mut wire, [there, back]) = Wire::new(suite, recorder);
                let (mut allocations, mut received) = (0, 0);
                for n in 0..WARM_UP + PACKETS {
                    let length = match wide {
                        true => [1300, 20_000, 3000, 9000][n % 4],
                        false => n * 397 % 1100,
                    };
                    let used = measure(|| {
                        let sent = wire.hosts[0].send(there, ChannelId(0), &BYTES[..length], mode);
                        assert_eq!(sent, Ok(()));
                        wire.step();
                        while wire.hosts[1].receive(back).is_some() {
                            received += 1;
                        }
                    });
                    if n >= WARM_UP {
                        allocations += used.count_total;
                    }
                }
                assert_eq!(received, WARM_UP + PACKETS);
                assert_eq!(allocations, 0, "{suite:?} {mode:?}, wide: {wide}");
                assert!(recorder.calls().open > 2000);
            }
        }
    }
}
