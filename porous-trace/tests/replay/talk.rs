//! Datagrams are read by the handshakes before them.

use alloc::collections::BTreeSet;

use porous_crypto::RustCrypto;
use porous_proto::hooks::codec::Form;
use porous_proto::seal::{Credentials, Psk, Security, Suite};
use porous_proto::{Config, Integrity, Listen, Malformed};
use porous_trace::{Keep, Read, Talk, Trace, Unread};

use crate::world::{World, address};

/// A server and two clients that have talked. What the server got and sent, in its order: from, to, and bytes.
fn talked(
    config: &Config,
    loss: u32,
) -> Vec<(core::net::SocketAddr, core::net::SocketAddr, Vec<u8>)> {
    let keep = Keep::nothing().payloads();
    let configs = [config.clone(), config.clone(), config.clone()];
    let mut world = World::new(3, &configs, keep);
    world.loss = loss;
    let (now, psk) = (world.now, || Psk::from_bytes([7; 32]));
    let is_sealed = config.seals();
    if is_sealed {
        let security = Security::new(&RustCrypto).psk(1, psk()).unwrap();
        world.stations[0].host.set_security(security);
    }
    world.stations[0].host.listen(Listen::Open).unwrap();
    for station in &mut world.stations[1..] {
        let to = &[address(1)];
        let begun = if is_sealed {
            station.host.set_security(Security::new(&RustCrypto));
            let with = Credentials::new().psk(1, psk());
            station.host.connect_sealed(now, to, &with)
        } else {
            station.host.connect_with(now, to, b"")
        };
        begun.unwrap();
    }
    world.talk(300);
    let bytes = world.stations[0].file.bytes();
    let entries = Trace::read(&bytes[..]).unwrap();
    let mut all = Vec::new();
    for entry in entries.map_while(Result::ok) {
        if let Some(wire) = entry.record.wire() {
            let (own, remote) = (address(1), wire.remote);
            let (from, to) = if wire.is_sent {
                (own, remote)
            } else {
                (remote, own)
            };
            all.push((from, to, wire.bytes.to_vec()));
        }
    }
    all
}

#[test]
fn each_datagram_of_a_lossy_connection_is_read() {
    for config in [
        Config::new(),
        Config::paper().integrity(Integrity::Crc32c),
        Config::new().connection_id_len(20).unwrap(),
        Config::new().first_id((1 << 24) - 3),
    ] {
        let (mut talk, mut shorts) = (Talk::default(), 0);
        let settings = porous_proto::hooks::recording::settings(&config);
        talk.note_host(address(1), &settings);
        for (from, to, datagram) in talked(&config, 10) {
            let Read { forms, unread, .. } = talk.read(from, to, &datagram);
            assert_eq!(unread, None, "{config:?}: {forms:?}");
            shorts += forms
                .iter()
                .filter(|form| matches!(form, Form::Short(_)))
                .count();
        }
        assert!(shorts > 300, "{shorts}");
    }
}

#[test]
fn sealed_datagrams_have_the_id_that_a_listener_told_under_seal() {
    for length in [4, 7, 20] {
        let config = Config::new().connection_id_len(length).unwrap();
        let config = config.sealed(&[Suite::CHACHA_POLY]).unwrap();
        // With what the trace of the listener says of it, and by the datagrams alone, as in a pcap.
        let mut talks = [Talk::default(), Talk::default()];
        talks[0].note_host(
            address(1),
            &porous_proto::hooks::recording::settings(&config),
        );
        let mut ids = BTreeSet::new();
        for (from, to, datagram) in talked(&config, 10) {
            let reads = talks.each_mut().map(|talk| talk.read(from, to, &datagram));
            assert_eq!(reads[0], reads[1], "{length}: {from} to {to}");
            assert_eq!(reads[0].unread, None);
            for form in &reads[0].forms {
                if let (Form::SealedShort(short), true) = (form, to == address(1)) {
                    ids.insert(short.connection_id.clone());
                }
            }
        }
        // One of each client.
        assert_eq!(ids.len(), 2, "{length}: {ids:?}");
        assert!(ids.iter().all(|id| id.len() == usize::from(length)));
    }
}

#[test]
fn what_is_damaged_or_of_no_known_connection_is_said() {
    let all = talked(&Config::new(), 0);
    let is_short = |datagram: &[u8]| datagram[0] >> 6 == 1;
    // Without the handshake.
    let mut late = Talk::default();
    let (from, to, datagram) = all.iter().find(|(_, _, it)| is_short(it)).unwrap();
    let read = late.read(*from, *to, datagram);
    assert_eq!(read.unread, Some(Unread::UnknownConnection));
    assert_eq!(
        late.read(*from, *to, b"").unread,
        Some(Unread::Malformed(Malformed::Truncated))
    );

    let mut talk = Talk::default();
    for (from, to, datagram) in &all {
        let mut damaged = datagram.clone();
        let last = damaged.len() - 1;
        damaged[last] ^= 1;
        let read = talk.read(*from, *to, datagram);
        assert_eq!(read.unread, None);
        // The check is at the end.
        if is_short(datagram) {
            let why = talk.read(*from, *to, &damaged).unread;
            assert_eq!(why, Some(Unread::Malformed(Malformed::Integrity)));
        }
    }
}

#[test]
fn a_flood_of_handshakes_takes_no_more_than_its_bound() {
    let request = talked(&Config::new(), 0)
        .into_iter()
        .find(|(_, _, datagram)| datagram[0] == 0xC0)
        .unwrap();
    let (_, to, mut datagram) = request;
    let mut talk = Talk::default();
    for i in 0..20_000_u64 {
        datagram[7..15].copy_from_slice(&(i + 1).to_le_bytes());
        let [a, b, ..] = i.to_le_bytes();
        let from = ([10, 1, a, b], 4000).into();
        assert_eq!(talk.read(from, to, &datagram).unread, None);
    }
    // As text it has some hundred bytes a handshake.
    let kept = format!("{talk:?}").matches("Connect {").count();
    assert_eq!(kept, 4096);
}
