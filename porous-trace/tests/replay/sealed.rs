//! Hosts that seal, with and without their keys in the trace.

use porous_crypto::RustCrypto;
use porous_proto::Config;
use porous_proto::Listen;
use porous_proto::seal::{Credentials, Psk, PublicKey, SecretKey, Security, Suite};
use porous_trace::{Keep, ReplayError};

use crate::world::{World, address, replayed};

const PSK: [u8; 32] = *b"the psk of this test, 32 bytes..";
const IDENTITY: [u8; 32] = *b"the identity of the server, 32 b";

fn connected(keep: Keep) -> World {
    let config = Config::new().sealed(&[Suite::CHACHA_POLY]).unwrap();
    let mut world = World::new(11, &[config.clone(), config], keep);
    let identity = SecretKey::from_bytes(IDENTITY);
    let public = {
        use porous_proto::seal::Provider;
        RustCrypto
            .public_key(Suite::CHACHA_POLY, &identity)
            .unwrap()
    };
    let public = PublicKey::from_bytes(public.as_bytes()).unwrap();
    let security = Security::new(&RustCrypto)
        .identity(&identity)
        .and_then(|security| security.psk(1, Psk::from_bytes(PSK)))
        .unwrap()
        .require_proof();
    let now = world.now;
    world.stations[0].host.set_security(security);
    world.stations[0].host.listen(Listen::Open).unwrap();
    let client = &mut world.stations[1].host;
    client.set_security(Security::new(&RustCrypto));
    let credentials = Credentials::new()
        .psk(1, Psk::from_bytes(PSK))
        .server_key(public)
        .greeting(b"Ada")
        .unwrap();
    client
        .connect_sealed(now, &[address(1)], &credentials)
        .unwrap();
    world.turns(300);
    assert_eq!(world.stations[0].peers.len(), 1);
    world.talk(100);
    world
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn with_its_keys_a_sealed_session_is_replayed_byte_for_byte() {
    let mut world = connected(Keep::nothing().keys());
    for replayed in world.replay_all() {
        assert!(replayed.sent > 50 && replayed.payloads);
    }
    assert!(holds(&world.stations[0].file.bytes(), &PSK));
}

#[test]
fn without_its_keys_it_can_be_read_and_not_replayed() {
    for keep in [Keep::nothing(), Keep::nothing().payloads()] {
        let mut world = connected(keep);
        for station in &mut world.stations {
            station.host.end_recording().unwrap();
            let bytes = station.file.bytes();
            assert!(!holds(&bytes, &PSK) && !holds(&bytes, &IDENTITY));
            let names: Vec<_> = porous_trace::Trace::read(&bytes[..])
                .unwrap()
                .map(|entry| entry.unwrap().record.name())
                .collect();
            assert!(!names.contains(&"draws") && names.contains(&"security"));
            let why = replayed(&bytes).unwrap_err();
            assert!(
                matches!(why, ReplayError::Impossible { record: 1, .. }),
                "{why}"
            );
            assert!(why.to_string().contains("keys"), "{why}");
        }
    }
}
