//! Channels that are silent while others are not, for more packets than ids on the wire can tell apart.
//! Between A and B a datagram takes 20 ms.

use core::time::Duration;

use porous_proto::{
    Config, Disposition, Ecn, HostStats, Ignored, Malformed, Mode, PeerState, Policy, Priority,
};
use porous_sim::Pair;
use porous_tests::{Kind, Model, Tape, config, line, quiet_pair, record, seed, state};

const A: u32 = Pair::A;
const B: u32 = Pair::B;

/// More ids than two bytes can tell apart.
const ROUND: u32 = (1 << 16) + 100;

fn pair() -> Pair {
    let two = |config: Config| config.channels(&[Priority::Low; 2]).expect("two");
    let (a, b) = (two(config::client()), two(config::new()));
    let mut pair = Pair::new(seed(), line(), a, b);
    pair.connect_to_listener();
    pair
}

/// Sends `count` packets of four bytes from A to B on this channel, in these modes in turn. All arrive.
fn carry(pair: &mut Pair, model: &mut Model, channel: u8, count: u32, modes: &[Mode]) {
    let seed = pair.world.seed();
    let mode = |n: u32| modes[n as usize % modes.len()];
    let packets = (0..count).map(|n| (channel, mode(n), n.to_le_bytes().to_vec()));
    for (channel, mode, packet) in packets.clone() {
        model.sent(channel, mode, packet);
    }
    let got = pair.exchange(A, packets, Duration::from_secs(600));
    for packet in &got {
        model.delivered(packet, &seed.to_string());
    }
    assert_eq!(got.len(), count as usize, "{seed}");
}

const ALL: [Mode; 3] = [Mode::Unreliable, Mode::Reliable, Mode::Passive];

#[test]
fn a_channel_goes_on_after_another_went_round() {
    let (mut pair, mut model) = (pair(), Model::new(2));
    for mode in ALL {
        carry(&mut pair, &mut model, 0, 50, &ALL);
        carry(&mut pair, &mut model, 1, ROUND, &[mode]);
    }
    carry(&mut pair, &mut model, 0, 50, &ALL);
}

/// A reliable packet is no dependency of a packet a full turn of the ids later, and the reliable packets
/// after it are waited for again (Q7).
#[test]
fn reliable_packets_are_waited_for_after_a_round_without_any() {
    let (mut pair, mut model) = (pair(), Model::new(2));
    carry(&mut pair, &mut model, 0, 5, &[Mode::Reliable]);
    carry(&mut pair, &mut model, 0, ROUND, &[Mode::Unreliable]);
    let lossy = line().loss(30.0);
    pair.world.network_mut().set_all(lossy);
    carry(&mut pair, &mut model, 0, 500, &[Mode::Reliable]);
}

/// The datagrams from A that hold this packet.
fn with_packet(tape: &Tape, packet: &[u8]) -> Vec<Vec<u8>> {
    let short = tape.of(A, Kind::Short).into_iter();
    short
        .map(|taped| taped.datagram)
        .filter(|datagram| datagram.windows(packet.len()).any(|part| part == packet))
        .collect()
}

/// T11: a frame that is too old cannot be told from a duplicate.
#[test]
fn a_frame_outside_the_window_is_not_acknowledged() {
    let mut pair = quiet_pair(seed(), line());
    let seed = pair.world.seed();
    let tape = record(&mut pair.world);
    // More than the 448 frames that a frame may be late.
    let packet = |n: u32| [n.to_be_bytes(), *b"mark"].concat().repeat(125);
    let packets = (0..500).map(|n| (0, Mode::Reliable, packet(n)));
    let got = pair.exchange(A, packets, Duration::from_secs(60));
    assert_eq!(got.len(), 500, "{seed}");
    pair.world.run_for(Duration::from_secs(1));
    let now = pair.world.now();
    let host = pair.world.host_mut(B);
    // One byte does not tell ids apart that are this far apart, but the check does.
    let old = [Ignored::TooOld, Ignored::Malformed(Malformed::Integrity)];
    for (n, dispositions, answered) in [
        (0, &old[..], false),
        (499, &[Ignored::Duplicate], true),
        (1, &old, false),
    ] {
        let datagrams = with_packet(&tape, &packet(n));
        assert_eq!(datagrams.len(), 1, "{n}; {seed}");
        let taken = host.handle_datagram(now, A, Ecn::NotEct, &datagrams[0]);
        let is_expected = |&cause: &Ignored| taken == Disposition::Ignored(cause);
        assert!(
            dispositions.iter().any(is_expected),
            "{n} {taken:?}; {seed}"
        );
        let answer = host.poll_transmit(now, &mut [0; 1200]).is_some();
        assert_eq!(answer, answered, "{n}; {seed}");
    }
}

/// The datagrams and the bytes of UDP payload that both hosts of a silent connection send in a minute.
fn of_a_minute(policy: Policy) -> (u64, u64) {
    let (a, b) = (
        config::client().policy(policy),
        config::new().policy(policy),
    );
    let mut pair = Pair::new(seed(), line(), a, b);
    pair.connect_to_listener();
    pair.world.run_for(Duration::from_secs(20));
    let sent = |pair: &Pair| {
        let stats = [A, B].map(|host| pair.world.host(host).stats());
        let sum = |of: fn(&HostStats) -> u64| stats.iter().map(of).sum::<u64>();
        (
            sum(|stats| stats.datagrams_sent),
            sum(|stats| stats.bytes_sent),
        )
    };
    let before = sent(&pair);
    pair.world.run_for(Duration::from_secs(600));
    let after = sent(&pair);
    ((after.0 - before.0) / 10, (after.1 - before.1) / 10)
}

/// T27, D13. Under the modern policy a ping of 14 bytes and an answer of 16 each 2.5 s, from a host after the
/// other. Under the paper's each host pings each second, with ids of four bytes; where both ping at once,
/// answer and ping share a datagram. Four bytes of each datagram are the check.
#[test]
fn a_silent_connection_costs_eleven_bytes_a_second() {
    let (datagrams, bytes) = of_a_minute(Policy::Modern);
    assert!((46..=48).contains(&datagrams), "{datagrams}");
    // Ids that begin elsewhere than at 0 take up to four bytes at first.
    assert!((655..=720).contains(&bytes), "{bytes}");
    let (datagrams, bytes) = of_a_minute(Policy::Paper);
    assert!((170..=240).contains(&datagrams), "{datagrams}");
    assert!((3500..=4600).contains(&bytes), "{bytes}");
}

/// T24. Under the paper's policy both hosts ping, each second; under the modern one each of them in turn,
/// each 2.5 s, a quarter of the timeout.
#[test]
fn a_silent_connection_is_pinged_now_and_then() {
    for (policy, most) in [(Policy::Paper, 190), (Policy::Modern, 50)] {
        let (a, b) = (
            config::client().policy(policy),
            config::new().policy(policy),
        );
        let mut pair = Pair::new(seed(), line(), a, b);
        pair.connect_to_listener();
        pair.world.run_for(Duration::from_secs(5));
        let sent = |pair: &Pair| pair.world.host(A).stats().datagrams_sent;
        let before = sent(&pair);
        pair.world.run_for(Duration::from_secs(60));
        let sent = sent(&pair) - before;
        assert!(
            (most / 4..=most).contains(&sent),
            "{sent}, {policy:?}; {}",
            pair.world.seed()
        );
    }
}

/// With a longer timeout, the keepalive sets the interval: a host that was pinged pings when it is over, and its ping
/// is there 20 ms later. So 600 s hold one exchange for each 15.02, 5.02 or 1.02 s: a ping of one host and an answer
/// of the other, each a datagram.
#[test]
fn a_silent_connection_is_pinged_as_often_as_the_keepalive_says() {
    for (keepalive, exchanges) in [(None, 40), (Some(5), 120), (Some(1), 589)] {
        let quiet = |config: Config| {
            let config = config.policy(Policy::Modern);
            let config = config.timeout(Duration::from_secs(90)).unwrap();
            match keepalive {
                Some(seconds) => config.keepalive(Duration::from_secs(seconds)).unwrap(),
                None => config,
            }
        };
        let (a, b) = (quiet(config::client()), quiet(config::new()));
        let mut pair = Pair::new(seed(), line(), a, b);
        pair.connect_to_listener();
        pair.world.run_for(Duration::from_secs(5));
        let sent = |pair: &Pair| [A, B].map(|at| pair.world.host(at).stats().datagrams_sent);
        let before = sent(&pair);
        pair.world.run_for(Duration::from_secs(600));
        let after = sent(&pair);
        let sent = [after[0] - before[0], after[1] - before[1]];
        // The first and the last may be in the time or not.
        let is_right = |sent: &u64| (exchanges - 1..=exchanges).contains(sent);
        let seed = pair.world.seed();
        assert!(sent.iter().all(is_right), "{keepalive:?}: {sent:?}; {seed}");
    }
}

/// T24. For each timeout the pings are frequent enough, even if some are lost.
#[test]
fn a_silent_connection_with_a_short_timeout_lives() {
    for timeout in [1000, 2500, 10_000] {
        let short = |config: Config| config.timeout(Duration::from_millis(timeout)).unwrap();
        let (a, b) = (short(config::client()), config::new());
        let mut pair = Pair::new(seed(), line().loss(10.0), a, b);
        pair.connect_to_listener();
        pair.world.run_for(Duration::from_secs(60));
        for at in [A, B] {
            assert_eq!(
                state(&pair.world, at, pair.peer(at)),
                Some(PeerState::Connected)
            );
        }
    }
}

/// T24. When data flows again, T_rtt follows the line as fast as before.
#[test]
fn round_trip_times_are_measured_again_when_data_flows() {
    let mut pair = quiet_pair(seed(), line());
    pair.world.run_for(Duration::from_secs(30));
    let slower = line().delay(Duration::from_millis(100));
    pair.world.network_mut().set_all(slower);
    for n in 0..60 {
        let sent = pair.send(A, 0, Mode::Unreliable, vec![n]);
        assert_eq!(sent, Ok(()));
        pair.world.run_for(Duration::from_millis(50));
    }
    let rtt = pair
        .world
        .host(A)
        .peer(pair.peer(A))
        .expect("B")
        .stats()
        .rtt;
    assert!(rtt > Duration::from_millis(180), "{rtt:?}");
}
