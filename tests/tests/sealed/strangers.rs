//! What a listener spends on strangers, who have not shown that they receive where they send from.

use allocation_counter::measure;
use porous_crypto::RustCrypto;
use porous_proto::seal::{Credentials, Security, Suite};
use porous_proto::{Config, Disposition, Ecn, Host, Instant, Listen};
use porous_sim::{ChaCha8Rng, Seed};
use porous_tests::forge::split;
use porous_tests::recorder::{Calls, Recorder};

use crate::scene::{MS, SUITES};

const STRANGERS: u32 = 100_000;

const SERVER: u32 = 1;

fn host(suite: Suite, recorder: &'static Recorder, index: u64) -> Host<ChaCha8Rng, u32> {
    let config = Config::new().sealed(&[suite]).unwrap();
    let mut host = Host::new(config, Seed::new(1).stream("host", index));
    host.set_security(Security::new(recorder));
    host
}

/// The first request of a client, and the one that brings a cookie back with message 1.
fn requests(suite: Suite) -> [Vec<u8>; 2] {
    let recorder = Recorder::leaked(&RustCrypto);
    let [mut client, mut server] = [8, 9].map(|index| host(suite, recorder, index));
    server.listen(Listen::Open).unwrap();
    let credentials = Credentials::new();
    let connects = client.connect_sealed(Instant::ZERO, &[SERVER], &credentials);
    connects.unwrap();
    let said = |host: &mut Host<ChaCha8Rng, u32>| {
        let mut buf = [0; 1200];
        let transmit = host.poll_transmit(Instant::ZERO, &mut buf);
        transmit.unwrap().datagram.to_vec()
    };
    let request = said(&mut client);
    server.handle_datagram(Instant::ZERO, 7, Ecn::NotEct, &request);
    let cookie = said(&mut server);
    client.handle_datagram(Instant::ZERO, SERVER, Ecn::NotEct, &cookie);
    [request, said(&mut client)]
}

#[test]
fn strangers_cost_neither_memory_nor_cryptography() {
    for suite in SUITES {
        for datagram in requests(suite) {
            let recorder = Recorder::leaked(&RustCrypto);
            let mut server = host(suite, recorder, 0);
            server.listen(Listen::Open).unwrap();
            let (mut datagram, mut buf, mut now) = (datagram, [0; 1200], Instant::ZERO);
            let (mut answers, mut allocations) = (0, 0);
            for stranger in 0..STRANGERS {
                // 20,000 a second, as many as are answered.
                now = now + MS / 20;
                // Another nonce, in the request behind message 1 as well.
                let (forms, _) = split(&datagram);
                let lengths: Vec<_> = forms.iter().map(|form| form.len()).collect();
                let mut start = 0;
                for length in lengths {
                    datagram[start + 8..start + 12].copy_from_slice(&stranger.to_le_bytes());
                    start += length;
                }
                let used = measure(|| {
                    let taken =
                        server.handle_datagram(now, 1000 + stranger, Ecn::NotEct, &datagram);
                    assert!(matches!(taken, Disposition::Ignored(_)), "{taken:?}");
                    while server.poll_transmit(now, &mut buf).is_some() {
                        answers += 1;
                    }
                    server.handle_timeout(now);
                });
                // The first answers make the queues.
                if stranger >= 100 {
                    allocations += used.count_total;
                }
            }
            assert!(answers > STRANGERS / 2, "{answers}");
            assert_eq!(allocations, 0);
            assert_eq!(recorder.calls(), Calls::default());
            assert_eq!(server.all_peers().count(), 0);
        }
    }
}
