//! The progress of large packets, asked at both ends while they are sent.

use core::time::Duration;

use porous_proto::{ChannelId, Event, Mode, Outcome, SendOptions, SendProgress};
use porous_sim::{LinkConfig, Pair, Seed};
use porous_tests::{config, events};

const MS: Duration = Duration::from_millis(1);
const CHANNEL: ChannelId = ChannelId(0);
const LEN: u32 = 500_000;

/// The bytes of the packet with this receipt that were sent and acknowledged.
fn sent(pair: &Pair, receipt: u64) -> Option<SendProgress> {
    let peer = pair.world.host(Pair::A).peer(pair.peer(Pair::A));
    let peer = peer.expect("it is connected");
    peer.send_progress(CHANNEL, receipt)
}

fn received(pair: &Pair) -> Option<u32> {
    let peer = pair.world.host(Pair::B).peer(pair.peer(Pair::B));
    let progress = peer.expect("it is connected").receive_progress(CHANNEL)?;
    assert_eq!(progress.len, LEN);
    Some(progress.received)
}

/// A pair that sends two large packets, with the receipts 7 and 8.
fn sending(seed: u64, mode: Mode, loss: f64) -> Pair {
    let line = LinkConfig::new().delay(30 * MS).loss(loss);
    let slow = config::new().bandwidth(200_000, u32::MAX).expect("a rate");
    let slow = slow.unreliable_age(Duration::MAX).expect("it is not zero");
    let mut pair = Pair::new(Seed::new(seed), line, slow, config::new());
    pair.connect_to_listener();
    events(&mut pair.world, Pair::A);
    let from = pair.peer(Pair::A);
    for receipt in [7, 8] {
        let options = SendOptions::new(mode).receipt(receipt);
        let packet = vec![7; LEN as usize];
        let host = pair.world.host_mut(Pair::A);
        assert_eq!(host.send(from, CHANNEL, packet, options), Ok(()));
    }
    pair
}

/// D15.
#[test]
fn a_large_packet_is_followed_at_both_ends() {
    for (seed, mode, loss) in [
        (1, Mode::Reliable, 0.0),
        (2, Mode::Reliable, 5.0),
        (3, Mode::Passive, 5.0),
        (4, Mode::Unreliable, 0.0),
    ] {
        let mut pair = sending(seed, mode, loss);
        assert_eq!(sent(&pair, 9), None, "nobody has sent it");
        let waiting = sent(&pair, 8).expect("it waits");
        let numbers = (waiting.len, waiting.sent, waiting.acknowledged);
        assert_eq!(numbers, (LEN, 0, 0));
        let (mut last, mut seen, mut told) = ((0, 0, 0), 0, Vec::new());
        while told.is_empty() {
            pair.world.run_for(20 * MS);
            told = events(&mut pair.world, Pair::A);
            let Some(progress) = sent(&pair, 7) else {
                continue;
            };
            // If all of the first packet has come, the progress may be that of the next.
            let come = received(&pair).filter(|&come| come >= last.2);
            let come = come.unwrap_or(if last.2 > 0 { LEN } else { 0 });
            let now = (progress.sent, progress.acknowledged, come);
            assert!(
                now.0 >= last.0 && now.1 >= last.1 && now.1 <= now.2 && now.2 <= now.0,
                "{seed}: {now:?}"
            );
            assert!(progress.len == LEN && now.1 < LEN, "{seed}: {now:?}");
            seen += u32::from(now > last && now.1 > 0);
            last = now;
        }
        let is_told = |event: &Event<u32>| {
            let delivered = Outcome::Delivered;
            matches!(event, Event::Receipt { token: 7, outcome, .. } if *outcome == delivered)
        };
        assert!(told.iter().all(is_told), "{seed}: {told:?}");
        assert!(seen > 20, "{seed}: {seen}");
        assert_eq!(sent(&pair, 7), None, "that is told");
        assert!(sent(&pair, 8).is_some_and(|next| next.sent > 0), "{seed}");
    }
}

/// A packet that was cancelled, and one that fits into a datagram. D15.
#[test]
fn what_is_given_up_or_small_has_no_progress_in_between() {
    let line = LinkConfig::new().delay(30 * MS);
    let slow = config::new().bandwidth(200_000, u32::MAX).expect("a rate");
    let mut pair = Pair::new(Seed::new(1), line, slow, config::new());
    pair.connect_to_listener();
    let (from, to) = (pair.peer(Pair::A), pair.peer(Pair::B));
    let host = pair.world.host_mut(Pair::A);
    let options = SendOptions::new(Mode::Reliable);
    for (receipt, len) in [(1, 100), (2, LEN as usize)] {
        let sent = host.send(from, CHANNEL, vec![7; len], options.receipt(receipt));
        assert_eq!(sent, Ok(()));
    }
    pair.world.run_for(300 * MS);
    let peer = |pair: &Pair, receipt| {
        let peer = pair.world.host(Pair::A).peer(from);
        peer.and_then(|peer| peer.send_progress(CHANNEL, receipt))
    };
    assert_eq!(peer(&pair, 1), None);
    assert!(peer(&pair, 2).is_some_and(|large| large.acknowledged > 10_000));
    assert!(pair.world.host_mut(Pair::A).cancel(from, CHANNEL, 2));
    assert_eq!(peer(&pair, 2), None);
    pair.world.run_for(500 * MS);
    let remote = pair.world.host(Pair::B).peer(to).expect("it is connected");
    assert_eq!(
        remote.receive_progress(CHANNEL),
        None,
        "a tombstone has come"
    );
}
