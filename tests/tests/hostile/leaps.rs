//! Packets forged in the name of an honest guest that leap over those that it has yet to send, by
//! an attacker that gets one datagram past every check, in the place of one that is lost.

use core::ops::Range;
use core::time::Duration;

use porous_proto::{Channel, ChannelId, Config, Mode, PeerId, Priority};
use porous_tests::encoder::{Check, Message, Shape, Short};
use porous_tests::{nonce_peer, nonce_self};

use crate::guest::{GUEST, Guest};
use crate::peers::{PASSIVE, RELIABLE, UNRELIABLE, assert_taken, packet, sentinel, tombstone};
use crate::scene::{Cost, FRAGMENT, Scene, case_of_many, config};

/// N_Q, and a leap that is believed at once at most.
const WINDOW: u16 = 256;
const LEAP: u16 = 32;

/// The channel that is attacked, and one on which nothing of interest is sent.
const ATTACKED: u8 = 1;
const OTHER: ChannelId = ChannelId(3);

/// All that may be said of the packet `id` of a channel.
fn forgeries(id: u16) -> Vec<Message> {
    let mut all = Vec::new();
    for mode in [UNRELIABLE, RELIABLE, PASSIVE] {
        let forged = |len| packet(mode, ATTACKED, id.into(), len);
        all.push(forged(1).into());
        all.push(forged(FRAGMENT).part(0, 2304).into());
    }
    all.push(tombstone(ATTACKED, id, 0));
    all.push(sentinel(ATTACKED, id / 32 * 32 + 31, 0));
    all
}

/// The id after `newest` that has these low bytes.
fn after(newest: u64, low: &[u8]) -> u64 {
    let space = 1_u64 << (8 * low.len());
    let low = low
        .iter()
        .rev()
        .fold(0, |id, &byte| id << 8 | u64::from(byte));
    newest + 1 + (low + space - (newest + 1) % space) % space
}

/// The newest frame that the guest has sent: each id follows from the one before.
fn newest(guest: &Guest) -> u64 {
    let mut newest = None;
    for said in guest.said.iter().filter(|said| said[0] >> 6 == 1) {
        let width = usize::from((said[0] >> 4 & 3) + 1);
        let low = &said[5..5 + width];
        newest = Some(newest.map_or_else(|| low[0].into(), |newest| after(newest, low)));
    }
    newest.unwrap()
}

/// What the checks of the guest are made from.
fn check(guest: &Guest) -> Check {
    let ack = guest.said.iter().find(|said| said[0] == 0xD0).unwrap();
    let nonce = |at: Range<usize>| u64::from_le_bytes(ack[at].try_into().unwrap());
    Check {
        is_crc: false,
        nonces: [nonce(nonce_self()), nonce(nonce_peer())],
    }
}

/// A frame of the guest is lost, and this comes in its place.
fn forge(scene: &mut Scene, guest: &mut Guest, message: Message) {
    guest.meet(scene);
    let peer = guest.peer.unwrap();
    let sent = guest.host.send(peer, OTHER, &b"lost"[..], Mode::Unreliable);
    assert_eq!(sent, Ok(()));
    let (newest, check) = (newest(guest), check(guest));
    let mut buf = [0; 1200];
    let transmit = guest.host.poll_transmit(scene.now, &mut buf).unwrap();
    let lost = transmit.datagram;
    let width = (lost[0] >> 4 & 3) + 1;
    let low = &lost[5..5 + usize::from(width)];
    let forged = Short {
        connection_id: lost[1..5].to_vec(),
        id: after(newest, low),
        width,
        nonce: lost[0] & 2 != 0,
        ack_now: false,
        ack: None,
        messages: vec![message],
    };
    let shape = Shape {
        id_bytes: 2,
        window: WINDOW.into(),
        check: Some(check),
    };
    assert_taken(scene.deliver(GUEST, &forged.encode(&shape)));
}

/// The guest's peer at the host.
fn peer(scene: &Scene) -> PeerId {
    let host = &scene.host.host;
    let is_there = |id: &PeerId| host.address(*id) == Some(GUEST);
    host.peers().map(|(id, _)| id).find(is_there).unwrap()
}

/// The numbers that have come in this mode, as the guest sends them.
fn numbers(scene: &mut Scene, into: &mut [Vec<u32>; 2]) {
    let peer = peer(scene);
    while let Some(got) = scene.host.call(|host| host.receive(peer)) {
        if let Ok(number) = <[u8; 4]>::try_from(&got.payload[..]) {
            let [reliable, unreliable] = &mut *into;
            let list = match got.mode {
                Mode::Reliable => reliable,
                Mode::Unreliable | Mode::Passive => unreliable,
            };
            list.push(u32::from_le_bytes(number));
        }
    }
}

/// The guest sends as many of both modes, in turn, one each 10 ms: what of it comes.
fn talk(scene: &mut Scene, guest: &mut Guest, count: u32) -> [Vec<u32>; 2] {
    let mut got = [Vec::new(), Vec::new()];
    let peer = guest.peer.unwrap();
    for number in 0..count {
        for mode in [Mode::Reliable, Mode::Unreliable] {
            let payload = number.to_le_bytes().to_vec();
            let sent = guest.host.send(peer, ChannelId(ATTACKED), payload, mode);
            assert_eq!(sent, Ok(()));
            guest.stay(scene, Duration::from_millis(10));
            numbers(scene, &mut got);
        }
    }
    guest.stay(scene, Duration::from_secs(3));
    numbers(scene, &mut got);
    got
}

fn with_order(unordered: bool) -> Config {
    let mut channel = Channel::new(Priority::Low);
    if unordered {
        channel = channel.unordered();
    }
    config().channel(ChannelId(ATTACKED), channel).unwrap()
}

/// `[X13 X15 X19]` A packet is forged that is so far ahead, in every mode, whole and in part, and so
/// are its sentinel and its tombstone, on a channel that is in use and on one that was never used: what
/// the guest sends afterwards all comes, in order. P14.
#[test]
fn a_forged_leap_of_any_kind_silences_no_channel() {
    let cost = Cost {
        bytes: 40_000,
        steps: 1000,
    };
    for unordered in [false, true] {
        for used in [0_u16, 20] {
            for ahead in [5, LEAP, LEAP + 1, 200] {
                for kind in 0..forgeries(0).len() {
                    let context = format!("{unordered} {used} {ahead} {kind}");
                    case_of_many(with_order(unordered), cost, |scene| {
                        let mut guest = Guest::arrive_with(scene, with_order(unordered), 7);
                        guest.stay(scene, Duration::from_secs(1));
                        talk(scene, &mut guest, u32::from(used / 2));
                        let forged = forgeries(used + ahead).swap_remove(kind);
                        forge(scene, &mut guest, forged);
                        numbers(scene, &mut [Vec::new(), Vec::new()]);
                        if ahead <= LEAP {
                            // It was believed, and the guest hears of it before it goes on.
                            guest.stay(scene, Duration::from_secs(2));
                        }
                        let [mut reliable, unreliable] = talk(scene, &mut guest, 150);
                        if unordered {
                            reliable.sort_unstable(); // a few may have been sent again
                        }
                        assert!(
                            reliable.iter().copied().eq(0..150),
                            "{context}: {reliable:?}"
                        );
                        assert!(unreliable.len() >= 140, "{context}: {unreliable:?}");
                        guest.leave(scene);
                    });
                }
            }
        }
    }
}
