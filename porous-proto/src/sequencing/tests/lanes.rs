//! Shares and caps of channels (`docs/deviations.md` T21).

use alloc::vec;

use super::*;
use crate::config::Channel as Settings;
use crate::frame::Length;

/// A sender with a channel for each of these settings. [`next`] cuts fragments of 1000 bytes.
fn sender(policy: Policy, settings: &[Settings]) -> Sequencing {
    let channels = u8::try_from(settings.len()).unwrap();
    let params = SequencingParams {
        channels,
        priorities: Channels::new(channels),
        policy,
        max_packet: 1 << 20,
        remote_budget: 1 << 40,
        ..params(1 << 14, 1 << 11)
    };
    Sequencing::new(params, 0, AGE).with_channels(settings)
}

fn weight(weight: u8) -> Settings {
    Settings::new(Priority::Low).weight(weight)
}

fn capped(rate: u32) -> Settings {
    Settings::new(Priority::Low).rate(rate)
}

fn fill(sender: &mut Sequencing, channel: u8, packets: usize, len: usize) {
    for _ in 0..packets {
        sender.send(channel, vec![7; len].into(), Mode::Reliable);
    }
}

/// The channel of the next message, and its length.
fn next(sender: &mut Sequencing) -> Option<(u8, usize)> {
    let message = sender.next_message(Priority::Low, 1000)?.message;
    let Message::Packet(packet) = message else {
        unreachable!("{message:?}")
    };
    Some((packet.channel, packet.payload.length()))
}

/// P10.
#[test]
fn channels_share_by_weight_whatever_the_sizes_of_their_packets() {
    for (weights, lens) in [
        ([25, 75], [1000, 1000]),
        ([1, 3], [1000, 20]),
        ([255, 1], [100, 100_000]),
        ([7, 11], [3, 700]),
        ([1, 1], [1, 1000]),
    ] {
        let mut sender = sender(Policy::Modern, &weights.map(weight));
        for channel in [0, 1] {
            // A megabyte, or as many packets as a window has ids.
            let packets = (1_000_000 / lens[usize::from(channel)]).min(16_000);
            fill(&mut sender, channel, packets, lens[usize::from(channel)]);
        }
        let mut sent = [0_u64; 2];
        for _ in 0..900 {
            let (channel, len) = next(&mut sender).unwrap();
            // A message counts 8 bytes more than its payload.
            sent[usize::from(channel)] += len as u64 + 8;
        }
        let all: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
        for channel in [0, 1] {
            let due = sent.iter().sum::<u64>() * u64::from(weights[channel]) / all;
            let off = sent[channel].abs_diff(due);
            assert!(off <= 1008, "{weights:?} {lens:?}: {sent:?}");
        }
    }
}

/// P10.
#[test]
fn no_channel_waits_for_longer_than_a_message_of_each_other() {
    let mut sender = sender(Policy::Modern, &[weight(255), weight(1), weight(1)]);
    fill(&mut sender, 0, 2, 500_000);
    for _ in 0..300 {
        assert_eq!(next(&mut sender), Some((0, 1000)));
    }
    for channel in [1, 2] {
        fill(&mut sender, channel, 1, 10);
    }
    let turns: Vec<_> = (0..3).map(|_| next(&mut sender).unwrap().0).collect();
    assert!(turns.contains(&1) && turns.contains(&2), "{turns:?}");
}

/// P10.
#[test]
fn a_silent_channel_is_owed_nothing() {
    let mut sender = sender(Policy::Modern, &[weight(1), weight(1)]);
    fill(&mut sender, 0, 1, 500_000);
    for _ in 0..300 {
        assert_eq!(next(&mut sender), Some((0, 1000)));
    }
    fill(&mut sender, 1, 1, 100_000);
    let turns: Vec<_> = (0..20).map(|_| next(&mut sender).unwrap().0).collect();
    assert_eq!(turns.iter().filter(|&&channel| channel == 1).count(), 10);
}

#[test]
fn the_least_weight_has_its_turns() {
    let mut sender = sender(Policy::Modern, &[weight(255), weight(1)]);
    for channel in [0, 1] {
        fill(&mut sender, channel, 10, 100_000);
    }
    let mut waited = 0;
    let mut turns = 0;
    while let Some((channel, _)) = next(&mut sender) {
        waited = if channel == 1 { 0 } else { waited + 1 };
        turns += u32::from(channel == 1);
        assert!(waited <= 256, "after {turns}");
        if turns == 4 {
            return;
        }
    }
    unreachable!("{turns}");
}

/// P10.
#[test]
fn under_the_papers_policy_there_are_no_weights() {
    let mut sender = sender(Policy::Paper, &[weight(255), weight(1)]);
    fill(&mut sender, 0, 1, 10_000);
    fill(&mut sender, 1, 10, 1);
    let turns: Vec<_> = (0..20).map(|_| next(&mut sender).unwrap().0).collect();
    assert_eq!(turns, [0, 1].repeat(10));
}

/// Sends from `from` until `until`, whenever a channel is due: the bytes of each channel.
fn run(sender: &mut Sequencing, from: Instant, until: Instant) -> Vec<u64> {
    let mut sent = vec![0; usize::from(sender.table.params.channels)];
    let mut now = from;
    while now < until {
        sender.look(now);
        while let Some((channel, len)) = next(sender) {
            sent[usize::from(channel)] += len as u64 + 8;
        }
        sender.audit(&mut Audit::default(), LONGEST);
        assert!(sender.scheduler.lanes.due() > now, "it wakes in vain");
        now = sender.scheduler.lanes.due();
    }
    sent
}

#[test]
fn a_cap_holds_its_channel_back_and_no_other() {
    for policy in [Policy::Paper, Policy::Modern] {
        let mut sender = sender(policy, &[capped(10_000), capped(30_000), weight(1)]);
        for channel in 0..3 {
            fill(&mut sender, channel, 2, 200_000);
        }
        let until = NOW + Duration::from_secs(5);
        let sent = run(&mut sender, NOW, until);
        assert!((50_000..=51_008).contains(&sent[0]), "{policy:?}: {sent:?}");
        assert!(
            (150_000..=151_008).contains(&sent[1]),
            "{policy:?}: {sent:?}"
        );
        assert_eq!(sent[2], 2 * (200_000 + 200 * 8), "{policy:?}");
        // A channel without a cap does not wait for those that their caps hold back.
        fill(&mut sender, 2, 1, 10);
        sender.look(until);
        assert_eq!(next(&mut sender), Some((2, 10)));
    }
}

#[test]
fn a_cap_below_a_message_a_second_stalls_nothing_for_good() {
    let mut sender = sender(Policy::Modern, &[capped(1)]);
    fill(&mut sender, 0, 1, 3000);
    let sent = run(&mut sender, NOW, NOW + Duration::from_secs(3 * 1008));
    assert_eq!(sent, [3 * 1008]);
}

#[test]
fn a_packet_that_a_cap_holds_back_grows_old() {
    let mut sender = sender(Policy::Modern, &[capped(1)]);
    for _ in 0..2 {
        sender.send(0, Bytes::from_static(b"abc"), Mode::Unreliable);
    }
    sender.look(NOW);
    assert!(next(&mut sender).is_some() && next(&mut sender).is_none());
    sender.look(NOW + AGE + Duration::from_micros(1));
    assert_eq!(sender.totals().expired, 1);
}

#[test]
fn a_cap_can_be_changed_while_it_holds_its_channel_back() {
    let mut sender = sender(Policy::Modern, &[capped(1)]);
    fill(&mut sender, 0, 3, 92);
    sender.look(NOW);
    assert!(next(&mut sender).is_some() && next(&mut sender).is_none());
    assert_eq!(sender.scheduler.lanes.due(), NOW + Duration::from_secs(100));
    sender.set_rate(0, 100, NOW);
    sender.look(NOW);
    assert!(next(&mut sender).is_none());
    assert_eq!(sender.scheduler.lanes.due(), NOW + Duration::from_secs(1));
    sender.set_rate(0, u32::MAX, NOW);
    sender.look(NOW);
    assert!(next(&mut sender).is_some() && next(&mut sender).is_some());
    assert!(sender.scheduler.lanes.due().is_never());
    sender.audit(&mut Audit::default(), LONGEST);
}
