//! The share of a packet that each channel gets.

use porous_message::{
    Endpoint, Error, MessageChannel, MessageConfig, Reason, Serialize, Stream, Unsent,
};

use crate::carrier::{A, B, Both};

type Text = [u8; 50];

/// The number of messages of each channel in each packet.
fn shares(both: &mut Both<Text>, packets: usize) -> Vec<[usize; 2]> {
    (0..packets)
        .map(|_| {
            let packet = both.write(A).unwrap();
            both.read(&packet);
            both.ack(&packet);
            let mut share = [0; 2];
            while let Some(arrival) = both.ends[B].receive() {
                share[arrival.channel] += 1;
            }
            share
        })
        .collect()
}

fn both(first: MessageChannel, second: MessageChannel) -> Both<Text> {
    let config = MessageConfig::with_packet(&[first, second], 600).unwrap();
    let mut both = Both::with(config);
    for _ in 0..30 {
        both.ends[A].send(0, [0; 50]).unwrap();
        both.ends[A].send(1, [1; 50]).unwrap();
    }
    both
}

const RELIABLE: MessageChannel = MessageChannel::reliable();

#[test]
fn channels_of_higher_priority_choose_first() {
    let mut both = both(RELIABLE, RELIABLE.priority(1));
    assert_eq!(shares(&mut both, 3), [[0, 11], [0, 11], [3, 8]]);
}

#[test]
fn of_the_same_priority_the_first_one_chooses_first() {
    let mut both = both(RELIABLE, RELIABLE);
    assert_eq!(shares(&mut both, 3), [[11, 0], [11, 0], [8, 3]]);
}

#[test]
fn no_channel_takes_more_than_its_budget_and_all_get_on() {
    let first = RELIABLE.priority(1).budget(210);
    let mut both = both(first, RELIABLE);
    assert_eq!(shares(&mut both, 3), [[4, 7], [4, 7], [4, 7]]);
    let bytes = both.write(A).unwrap().bytes.len();
    assert!(bytes <= 600, "{bytes}");
}

#[test]
fn what_one_does_not_use_is_for_the_others() {
    let mut both = both(RELIABLE.budget(210).queue(1000), RELIABLE.priority(1));
    let shares = shares(&mut both, 10);
    assert_eq!(shares[0], [0, 11]);
    assert_eq!(shares[8], [4, 0]);
}

#[test]
fn a_message_that_no_packet_could_hold_is_refused() {
    let send = |channel: MessageChannel| {
        let config = MessageConfig::with_packet(&[channel], 100).unwrap();
        let sent = Both::<[u8; 90]>::with(config).ends[A].send(0, [0; 90]);
        sent.map_err(|unsent| unsent.reason)
    };
    assert_eq!(send(RELIABLE), Ok(()));
    assert_eq!(send(RELIABLE.budget(80)), Err(Reason::TooLarge));
    let config = MessageConfig::with_packet(&[RELIABLE], 90).unwrap();
    let sent = Both::<[u8; 90]>::with(config).ends[A].send(0, [0; 90]);
    let reason = Reason::TooLarge;
    assert_eq!(
        sent,
        Err(Unsent {
            message: [0; 90],
            reason
        })
    );
}

#[test]
fn the_largest_message_that_can_be_sent_fits_and_one_more_byte_is_refused() {
    // In a packet of 100 bytes: 34 bits for the channel, 33 before the message.
    fn sent<const N: usize>(budget: usize) -> bool {
        let config = MessageConfig::with_packet(&[RELIABLE.budget(budget)], 100).unwrap();
        let mut both = Both::<[u8; N]>::with(config);
        let is_sent = both.ends[A].send(0, [7; N]).is_ok();
        let packet = both.write(A);
        assert_eq!(packet.is_some(), is_sent);
        is_sent
    }
    assert!(sent::<91>(100) && !sent::<92>(100));
    assert!(sent::<91>(usize::MAX) && !sent::<92>(usize::MAX));
    assert!(sent::<41>(50) && !sent::<42>(50));
}

/// A message of any length up to 1050 bytes.
#[derive(Debug, PartialEq)]
struct Sized(Vec<u8>);

impl Sized {
    fn new(len: usize) -> Self {
        Self(vec![7; len])
    }
}

impl Serialize for Sized {
    fn blank() -> Self {
        Self(Vec::new())
    }

    fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
        stream.byte_vec(&mut self.0, 0..=1050)
    }
}

/// At each tick these messages are sent, each with its channel and length; after a second the large
/// message, or a block, on the second channel. Returns how many ticks the large one takes.
fn ticks_of_a_large_one(
    channels: &[MessageChannel],
    each: &[(usize, usize)],
    send: impl Fn(&mut Endpoint<Sized>),
) -> usize {
    let mut both = Both::new(channels);
    for tick in 0..1000 {
        for &(channel, len) in each {
            both.ends[A].send(channel, Sized::new(len)).unwrap();
        }
        if tick == 60 {
            send(&mut both.ends[A]);
        }
        let packets = [A, B].map(|end| both.write(end));
        for packet in packets.iter().flatten() {
            both.read(packet);
            both.ack(packet);
        }
        while let Some(arrival) = both.ends[B].receive() {
            if arrival.message.0.len() == 1000 || arrival.block.is_some() {
                return tick - 60;
            }
        }
        both.wait(16);
    }
    panic!("it starves");
}

/// Ticks in a second.
const SECOND: usize = 62;

#[test]
fn a_large_message_does_not_starve_beside_small_ones_of_the_same_priority() {
    let large = |end: &mut Endpoint<Sized>| end.send(1, Sized::new(1000)).unwrap();
    for first in [RELIABLE, MessageChannel::unreliable()] {
        for len in [60, 200, 400] {
            let ticks = ticks_of_a_large_one(&[first, RELIABLE], &[(0, len)], large);
            assert!(ticks < SECOND, "{ticks}");
            // The channel has small messages, too.
            let each = [(0, len), (1, 40)];
            let ticks = ticks_of_a_large_one(&[first, RELIABLE], &each, large);
            assert!(ticks < SECOND, "{ticks}");
        }
    }
    // Two large messages take turns.
    let channels = [RELIABLE; 3];
    let two = |end: &mut Endpoint<Sized>| {
        end.send(2, Sized::new(1001)).unwrap();
        end.send(1, Sized::new(1000)).unwrap();
    };
    let ticks = ticks_of_a_large_one(&channels, &[(0, 200)], two);
    assert!(ticks < SECOND, "{ticks}");
}

#[test]
fn pieces_as_large_as_packets_do_not_starve_beside_small_messages() {
    let channel = RELIABLE.blocks(10_000).fragment(1000);
    let block = |end: &mut Endpoint<Sized>| {
        end.send_block(1, Sized::new(0), vec![1; 1000]).unwrap();
    };
    for channel_of_others in [0, 1] {
        let each = [(channel_of_others, 200)];
        let ticks = ticks_of_a_large_one(&[RELIABLE, channel], &each, block);
        assert!(ticks < SECOND, "{ticks}");
    }
}

/// A channel that starves goes first once, not for good.
#[test]
fn one_that_has_more_than_fits_does_not_displace_its_equals() {
    let mut both = Both::new(&[RELIABLE, RELIABLE.queue(10_000).window(10_000)]);
    for _ in 0..9000 {
        both.ends[A].send(1, Sized::new(300)).unwrap();
    }
    let mut longest = 0;
    let mut waits = 0;
    for _ in 0..500 {
        let _ = both.ends[A].send(0, Sized::new(500));
        let packet = both.write(A).unwrap();
        both.read(&packet);
        both.ack(&packet);
        waits += 1;
        while let Some(arrival) = both.ends[B].receive() {
            if arrival.channel == 0 {
                longest = longest.max(waits);
                waits = 0;
            }
        }
        if let Some(told) = both.write(B) {
            both.read(&told);
            both.ack(&told);
        }
        both.wait(16);
    }
    assert!(longest <= 2, "{longest}");
}
