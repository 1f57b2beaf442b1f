//! Handshakes with another implementation of Noise, `snow`: each side with ours on the other.

use porous_proto::hooks::sealing::{Initiator, Keys, Responder, Setup};
use porous_proto::seal::{Provider, Psk, SecretKey, Suite};
use proptest::collection::vec;
use proptest::prelude::*;
use snow::{Builder, HandshakeState};

use crate::{PROVIDER, kit};

#[derive(Clone, Debug)]
struct Case {
    suite: Suite,
    server: Option<[u8; 32]>,
    psk: Option<[u8; 32]>,
    prologue: Vec<u8>,
    ephemerals: [[u8; 32]; 2],
    payloads: [Vec<u8>; 2],
}

fn case() -> impl Strategy<Value = Case> {
    let suites = proptest::sample::select(PROVIDER.suites().to_vec());
    let keys = (
        any::<Option<[u8; 32]>>(),
        any::<Option<[u8; 32]>>(),
        any::<[[u8; 32]; 2]>(),
    );
    let texts = (
        vec(any::<u8>(), 0..600),
        vec(any::<u8>(), 0..=255),
        vec(any::<u8>(), 0..=266),
    );
    (suites, keys, texts).prop_map(|(suite, keys, texts)| {
        let (server, psk, ephemerals) = keys;
        let (prologue, first, second) = texts;
        Case {
            suite,
            server,
            psk,
            prologue,
            ephemerals,
            payloads: [first, second],
        }
    })
}

impl Case {
    fn snow(&self, is_initiator: bool) -> HandshakeState {
        let pattern = if self.server.is_some() {
            "NKpsk0"
        } else {
            "NNpsk0"
        };
        let aead = if self.suite == Suite::CHACHA_POLY {
            "ChaChaPoly"
        } else {
            "AESGCM"
        };
        let name = format!("Noise_{pattern}_25519_{aead}_SHA256");
        let psk = self.psk.unwrap_or([0; 32]);
        let kit = kit(self.suite);
        let public = self
            .server
            .map(|key| kit.public_key(&SecretKey::from_bytes(key)).unwrap());
        let mut builder = Builder::new(name.parse().unwrap());
        builder = builder.prologue(&self.prologue).unwrap();
        builder = builder.psk(0, &psk).unwrap();
        let own = &self.ephemerals[usize::from(!is_initiator)];
        builder = builder.fixed_ephemeral_key_for_testing_only(own);
        if is_initiator {
            if let Some(public) = &public {
                builder = builder.remote_public_key(public.as_bytes()).unwrap();
            }
            return builder.build_initiator().unwrap();
        }
        if let Some(secret) = &self.server {
            builder = builder.local_private_key(secret).unwrap();
        }
        builder.build_responder().unwrap()
    }

    fn start(&self, setup: &Setup<'_>, out: &mut [u8]) -> (Initiator, usize) {
        let kit = kit(self.suite);
        let server = self
            .server
            .map(|key| kit.public_key(&SecretKey::from_bytes(key)).unwrap());
        let own = self.ephemerals[0];
        Initiator::start(setup, server.as_ref(), own, &self.payloads[0], out).unwrap()
    }

    /// Compares what snow has come to with our keys.
    fn compare(&self, snow: HandshakeState, keys: &Keys) {
        assert_eq!(snow.get_handshake_hash(), keys.binding);
        let is_initiator = snow.is_initiator();
        let mut transport = snow.into_transport_mode().unwrap();
        let [to, from] = if is_initiator { [0, 1] } else { [1, 0] };
        let mut sealed = [0; 64];
        let length = transport.write_message(b"said", &mut sealed).unwrap();
        let mut aead = PROVIDER.aead(self.suite, &keys.keys[to]);
        let (text, tag) = sealed[..length].split_at_mut(4);
        assert!(aead.open(0, &[], text, (&*tag).try_into().unwrap()));
        assert_eq!(text, b"said");

        let mut answer = *b"heard";
        let tag = PROVIDER
            .aead(self.suite, &keys.keys[from])
            .seal(0, &[], &mut answer);
        let mut out = [0; 64];
        let sealed = [&answer[..], &tag].concat();
        let length = transport.read_message(&sealed, &mut out).unwrap();
        assert_eq!(&out[..length], b"heard");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn a_handshake_with_snow_gives_both_the_same(case in case()) {
        let psk = case.psk.map(Psk::from_bytes);
        let setup = Setup { kit: kit(case.suite), prologue: &case.prologue, psk: psk.as_ref() };
        let (mut message, mut out) = ([0; 1024], [0; 1024]);

        // Our side begins.
        let mut snow = case.snow(false);
        let (initiator, length) = case.start(&setup, &mut message);
        let length = snow.read_message(&message[..length], &mut out).unwrap();
        prop_assert_eq!(&out[..length], &case.payloads[0][..]);
        let length = snow.write_message(&case.payloads[1], &mut message).unwrap();
        let (ours, length) = initiator.finish(&message[..length], &mut out).unwrap();
        prop_assert_eq!(&out[..length], &case.payloads[1][..]);
        case.compare(snow, &ours);

        // Snow's begins.
        let mut snow = case.snow(true);
        let length = snow.write_message(&case.payloads[0], &mut message).unwrap();
        let opened = Responder::open(&setup, case.server, &message[..length], &mut out);
        let (responder, length) = opened.unwrap();
        prop_assert_eq!(&out[..length], &case.payloads[0][..]);
        let reply = responder.reply(case.ephemerals[1], &case.payloads[1], &mut message);
        let (keys, length) = reply.unwrap();
        let length = snow.read_message(&message[..length], &mut out).unwrap();
        prop_assert_eq!(&out[..length], &case.payloads[1][..]);
        case.compare(snow, &keys);
        prop_assert_eq!(keys, ours);
    }
}
