//! What a sampler tells a recorder.
#![expect(clippy::unwrap_used, reason = "a test")]

extern crate alloc;

mod common;

use alloc::collections::{BTreeMap, BTreeSet};
use core::time::Duration;

use common::Crowd;
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use porous_metrics::Sampler;
#[cfg(feature = "seal")]
use porous_proto::seal::TokenRefusal;
use porous_proto::{ChannelId, Disconnect, Ecn, Ignored, Instant, Mode, PeerId, PeerState};
use porous_std::{Config, UdpHost};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

impl Crowd {
    fn peers(&self) -> Vec<PeerId> {
        self.server.peers().map(|(peer, _)| peer).collect()
    }

    /// The server sends each client a packet.
    fn send(&mut self) {
        for peer in self.peers() {
            let packet = &[7; 100][..];
            let sent = self
                .server
                .send(peer, ChannelId(0), packet, Mode::Unreliable);
            sent.unwrap();
        }
    }

    fn disconnect(&mut self, peer: PeerId) {
        let how = Disconnect::Now { reason: 0 };
        self.server.disconnect(self.now, peer, how).unwrap();
    }
}

/// A recorder, and a sampler that tells it of the server of a crowd.
struct Watch {
    recorder: DebuggingRecorder,
    snapshotter: Snapshotter,
    sampler: Sampler,
}

/// The values by name and labels, as `porous_peers{host=lobby,state=connected}`.
type Values = BTreeMap<String, DebugValue>;

impl Watch {
    fn new() -> Self {
        let recorder = DebuggingRecorder::new();
        Self {
            snapshotter: recorder.snapshotter(),
            recorder,
            sampler: Sampler::new("lobby"),
        }
    }

    fn sample(&mut self, crowd: &Crowd) -> Values {
        let (sampler, now) = (&mut self.sampler, crowd.now);
        metrics::with_local_recorder(&self.recorder, || sampler.sample(&crowd.server, now));
        self.values()
    }

    fn values(&self) -> Values {
        let all = self.snapshotter.snapshot().into_vec();
        let named = all.into_iter().map(|(key, _, _, value)| {
            let labels = key.key().labels();
            let labels: Vec<_> = labels
                .map(|it| format!("{}={}", it.key(), it.value()))
                .collect();
            (
                format!("{}{{{}}}", key.key().name(), labels.join(",")),
                value,
            )
        });
        named.collect()
    }
}

fn counter(values: &Values, name: &str) -> u64 {
    match values.get(name) {
        Some(DebugValue::Counter(count)) => *count,
        other => panic!("{name}: {other:?}"),
    }
}

fn gauge(values: &Values, name: &str) -> f64 {
    match values.get(name) {
        Some(DebugValue::Gauge(value)) => value.0,
        other => panic!("{name}: {other:?}"),
    }
}

fn histogram(values: &Values, name: &str) -> Vec<f64> {
    match values.get(name) {
        Some(DebugValue::Histogram(values)) => values.iter().map(|value| value.0).collect(),
        other => panic!("{name}: {other:?}"),
    }
}

fn frames(values: &Values) -> [u64; 4] {
    ["sent", "lost", "spurious", "marked"].map(|what| {
        counter(
            values,
            &format!("porous_frames_total{{host=lobby,what={what}}}"),
        )
    })
}

#[test]
fn counters_are_what_the_host_has_counted() {
    let mut crowd = Crowd::new(5);
    let now = crowd.now;
    crowd.server.handle_datagram(now, 3, Ecn::NotEct, b"?");
    let values = Watch::new().sample(&crowd);
    let stats = crowd.server.stats();
    let of = |name: &str| counter(&values, name);
    let directions = [
        ("sent", stats.datagrams_sent, stats.bytes_sent),
        ("received", stats.datagrams_received, stats.bytes_received),
    ];
    for (direction, datagrams, bytes) in directions {
        let labels = format!("{{host=lobby,direction={direction}}}");
        assert_eq!(of(&format!("porous_datagrams_total{labels}")), datagrams);
        assert_eq!(of(&format!("porous_bytes_total{labels}")), bytes);
    }
    assert_eq!(of("porous_ignored_total{host=lobby,cause=malformed}"), 1);
    let stateless = stats.ignored(Ignored::Stateless);
    assert_eq!(
        of("porous_ignored_total{host=lobby,cause=stateless}"),
        stateless
    );
    assert_eq!(of("porous_handshakes_total{host=lobby,step=accepted}"), 5);
    assert_eq!(of("porous_handshakes_total{host=lobby,step=connected}"), 5);
    assert_eq!(
        of("porous_handshakes_total{host=lobby,step=source_full}"),
        0
    );
}

#[cfg(feature = "seal")]
#[test]
fn each_fault_of_a_token_has_a_series_of_its_own() {
    let values = Watch::new().sample(&Crowd::new(1));
    let is_of_tokens = |name: &&String| name.starts_with("porous_tokens_refused_total{");
    let series: Vec<&String> = values.keys().filter(is_of_tokens).collect();
    assert_eq!(series.len(), TokenRefusal::ALL.len());
    for cause in ["malformed", "expired", "used"] {
        let name = format!("porous_tokens_refused_total{{host=lobby,cause={cause}}}");
        assert_eq!(counter(&values, &name), 0);
    }
}

#[test]
fn newcomers_that_an_overloaded_host_refuses_are_counted() {
    let mut crowd = Crowd::new(1);
    for _ in 0..30 {
        crowd.run(100 * MS, |_| true);
        crowd.server.handle_backlog(crowd.now, true);
    }
    crowd.clients.connect(crowd.now, 1).unwrap();
    crowd.run(50 * MS, |_| true);
    let values = Watch::new().sample(&crowd);
    let name = "porous_handshakes_total{host=lobby,step=overloaded}";
    assert_eq!(counter(&values, name), 1);
}

#[test]
fn peers_are_counted_by_state_and_measured() {
    let mut crowd = Crowd::new(5);
    let peers = crowd.peers();
    crowd.run(SECOND, |_| true);
    crowd.disconnect(peers[0]);
    let values = Watch::new().sample(&crowd);
    let of = |state: &str| {
        gauge(
            &values,
            &format!("porous_peers{{host=lobby,state={state}}}"),
        )
    };
    assert_eq!(
        [of("connecting"), of("connected"), of("disconnecting")],
        [0.0, 4.0, 1.0]
    );
    let rtts = histogram(&values, "porous_rtt_seconds{host=lobby}");
    assert_eq!(rtts.len(), 4, "connected peers alone");
    assert!(
        rtts.iter().all(|rtt| (0.02..0.04).contains(rtt)),
        "{rtts:?}"
    );
    let quality = histogram(&values, "porous_quality{host=lobby}");
    assert_eq!(quality, [100.0; 4]);
    let queued = histogram(&values, "porous_queued_bytes{host=lobby}");
    assert_eq!(queued, [0.0; 4]);
    for direction in ["sent", "received"] {
        let name = format!("porous_loss_ratio{{host=lobby,direction={direction}}}");
        assert_eq!(histogram(&values, &name), [0.0; 4]);
    }
}

#[test]
fn losses_are_shares_and_what_waits_is_in_bytes() {
    let mut crowd = Crowd::new(1);
    let mut number = 0;
    for _ in 0..100 {
        crowd.send();
        // Every fourth datagram to or from the client is lost.
        crowd.run(Duration::from_millis(50), |_| {
            number += 1;
            number % 4 != 0
        });
    }
    crowd.send();
    let values = Watch::new().sample(&crowd);
    let loss = histogram(&values, "porous_loss_ratio{host=lobby,direction=sent}");
    assert!((0.1..0.5).contains(&loss[0]), "{loss:?}");
    let queued = histogram(&values, "porous_queued_bytes{host=lobby}");
    assert!((164.0..1000.0).contains(&queued[0]), "{queued:?}");
    let [sent, lost, spurious, marked] = frames(&values);
    assert!(sent > 80 && lost >= 8, "{sent} {lost}");
    assert!(spurious <= lost && marked == 0, "{spurious} {marked}");
}

/// The frames to each peer that ever was: those of peers that have ended stay as they were.
#[derive(Default)]
struct Books(BTreeMap<PeerId, [u64; 4]>);

impl Books {
    fn note(&mut self, crowd: &Crowd) {
        for peer in crowd.peers() {
            self.0.entry(peer).or_default();
        }
        for (&peer, frames) in &mut self.0 {
            if let Some(peer) = crowd.server.peer(peer) {
                let stats = peer.stats();
                *frames = [
                    stats.frames_sent,
                    stats.frames_lost,
                    stats.frames_spurious,
                    stats.frames_marked,
                ];
            }
        }
    }

    fn total(&self) -> [u64; 4] {
        let sum = |n: usize| self.0.values().map(|frames| frames[n]).sum();
        [0, 1, 2, 3].map(sum)
    }
}

/// Also to those that come and leave between two samples.
#[test]
fn frames_to_peers_that_end_stay_counted() {
    let mut crowd = Crowd::new(20);
    let (mut watch, mut books) = (Watch::new(), Books::default());
    books.note(&crowd);
    let mut number = 0;
    for round in 0..30 {
        crowd.send();
        crowd.run(300 * MS, |_| {
            number += 1;
            number % 10 != 0
        });
        for peer in crowd.peers().into_iter().take(2) {
            crowd.disconnect(peer);
        }
        crowd.run(100 * MS, |_| true);
        books.note(&crowd);
        for n in 0..2 {
            let (now, address) = (crowd.now, 1000 + 2 * round + n);
            crowd.clients.connect(now, address).unwrap();
        }
        crowd.run(200 * MS, |_| true);
        books.note(&crowd);
        if round % 5 == 4 {
            assert_eq!(frames(&watch.sample(&crowd)), books.total(), "{round}");
        }
    }
    let before = books.total();
    assert!(before[0] > 500 && before[1] > 20, "{before:?}");
    // When all are gone and forgotten.
    for peer in crowd.peers() {
        crowd.disconnect(peer);
    }
    crowd.run(SECOND, |_| true);
    books.note(&crowd);
    crowd.run(60 * SECOND, |_| true);
    assert!(
        books
            .0
            .keys()
            .all(|&peer| crowd.server.peer(peer).is_none())
    );
    assert_eq!(frames(&watch.sample(&crowd)), books.total());
}

#[test]
fn a_thousand_peers_take_their_turn_in_each_sample() {
    let mut crowd = Crowd::new(2100);
    let mut watch = Watch::new();
    let mut counts = Vec::new();
    for _ in 0..5 {
        let values = watch.sample(&crowd);
        assert_eq!(
            gauge(&values, "porous_peers{host=lobby,state=connected}"),
            2100.0
        );
        counts.push(histogram(&values, "porous_rtt_seconds{host=lobby}").len());
        crowd.now = crowd.now + SECOND;
    }
    assert_eq!(counts, [1000, 1000, 100, 1000, 1000]);
    // The last ones are gone when it would be their turn.
    for peer in crowd.peers().into_iter().skip(500) {
        crowd.disconnect(peer);
    }
    let values = watch.sample(&crowd);
    assert_eq!(
        histogram(&values, "porous_rtt_seconds{host=lobby}").len(),
        500
    );
}

/// As many series as there are names and causes, however many peers there are.
#[test]
fn no_label_is_of_a_peer() {
    let names = |clients| {
        let crowd = Crowd::new(clients);
        let values = Watch::new().sample(&crowd);
        values.into_keys().collect::<BTreeSet<_>>()
    };
    let few = names(1);
    let faults = if cfg!(feature = "seal") { 11 } else { 0 };
    assert_eq!(few.len(), 4 + 17 + 4 + faults + 4 + 3 + 5);
    assert_eq!(names(40), few);
    assert!(
        few.iter().all(|name| name.contains("{host=lobby")),
        "{few:?}"
    );
}

#[test]
fn a_sample_is_taken_once_a_second_however_often_it_is_asked_for() {
    let mut crowd = Crowd::new(1);
    let mut sampler = Sampler::new("lobby");
    let mut taken = 0;
    let start = crowd.now;
    for tick in 0..600 {
        crowd.now = start + Duration::from_micros(16_667 * tick);
        taken += u32::from(sampler.sample(&crowd.server, crowd.now));
    }
    assert!((10..=11).contains(&taken), "{taken} in ten seconds");
    // A timer of a second that is early or late by a twentieth.
    let mut sampler = Sampler::new("lobby");
    for second in 0..20_u64 {
        let error = if second % 2 == 0 { 0 } else { 50 };
        let now = Instant::from_micros(1000 * (1000 * second + error));
        assert!(sampler.sample(&crowd.server, now), "{second}");
    }
}

#[test]
fn without_a_recorder_nothing_happens_and_one_that_comes_later_gets_the_counts() {
    let mut crowd = Crowd::new(3);
    let mut watch = Watch::new();
    porous_metrics::describe();
    assert!(watch.sampler.sample(&crowd.server, crowd.now));
    assert!(watch.values().is_empty());
    crowd.now = crowd.now + SECOND;
    let values = watch.sample(&crowd);
    assert_eq!(
        counter(
            &values,
            "porous_handshakes_total{host=lobby,step=connected}"
        ),
        3
    );
}

#[test]
fn a_host_of_a_driver_is_sampled_with_its_socket() {
    let mut client = UdpHost::bind("127.0.0.1:0", Config::client()).unwrap();
    let peer = client.connect(([127, 0, 0, 1], 9).into()).unwrap();
    client.step().unwrap();
    assert_eq!(client.peer(peer).unwrap().state(), PeerState::Connecting);
    let mut watch = Watch::new();
    metrics::with_local_recorder(&watch.recorder, || {
        watch.sampler.sample(client.host(), client.now());
        watch.sampler.sample_socket(&client.socket_stats());
    });
    let values = watch.values();
    assert_eq!(
        gauge(&values, "porous_peers{host=lobby,state=connecting}"),
        1.0
    );
    assert_eq!(
        counter(&values, "porous_datagrams_total{host=lobby,direction=sent}"),
        1
    );
    for (what, count) in [
        ("send_lost", client.socket_stats().send_lost),
        ("send_delayed", 0),
        ("answers_withheld", 0),
        ("receive_errors", client.socket_stats().receive_errors),
    ] {
        let name = format!("porous_socket_total{{host=lobby,what={what}}}");
        assert_eq!(counter(&values, &name), count);
    }
}
