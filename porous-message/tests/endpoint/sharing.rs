//! What channels get of a packet.

use porous_message::{MessageChannel, MessageConfig, Reason, Unsent};

use crate::carrier::{A, B, Both};

type Text = [u8; 50];

/// How many messages of each channel come, packet by packet.
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
    let config = MessageConfig::new(&[first, second]).unwrap().packet(600);
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
        let config = MessageConfig::new(&[channel]).unwrap().packet(100);
        let sent = Both::<[u8; 90]>::with(config).ends[A].send(0, [0; 90]);
        sent.map_err(|unsent| unsent.reason)
    };
    assert_eq!(send(RELIABLE), Ok(()));
    assert_eq!(send(RELIABLE.budget(80)), Err(Reason::TooLarge));
    let config = MessageConfig::new(&[RELIABLE]).unwrap().packet(90);
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
    // Of a packet of 100 bytes: 34 bits for the channel, 33 before the message.
    fn sent<const N: usize>(budget: usize) -> bool {
        let config = MessageConfig::new(&[RELIABLE.budget(budget)]).unwrap();
        let mut both = Both::<[u8; N]>::with(config.packet(100));
        let is_sent = both.ends[A].send(0, [7; N]).is_ok();
        let packet = both.write(A);
        assert_eq!(packet.is_some(), is_sent);
        is_sent
    }
    assert!(sent::<91>(100) && !sent::<92>(100));
    assert!(sent::<91>(usize::MAX) && !sent::<92>(usize::MAX));
    assert!(sent::<41>(50) && !sent::<42>(50));
}
