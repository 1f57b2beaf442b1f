//! Who gets a sealed connection, and what the two hosts know of each other then.

use super::*;

/// The secret key of a server, and the public one of the toy.
pub(super) fn server_keys(byte: u8) -> (SecretKey, PublicKey) {
    let public = PublicKey::from_bytes(&[byte; 32]).unwrap();
    (SecretKey::from_bytes([byte; 32]), public)
}

pub(super) fn psk(byte: u8) -> Psk {
    Psk::from_bytes([byte; 32])
}

/// How the two hosts of a test prove who they are.
pub(super) fn proofs() -> [(Security, Credentials); 4] {
    let (secret, public) = server_keys(5);
    let plain = || Credentials::new().greeting(b"hello").unwrap();
    let named = security().identity(&secret).unwrap();
    let grouped = security().psk(7, psk(3)).unwrap().require_psk();
    let both = named.clone().psk(7, psk(3)).unwrap().require_psk();
    [
        (security(), plain()),
        (named, plain().server_key(public.clone())),
        (grouped, plain().psk(7, psk(3))),
        (both, plain().server_key(public).psk(7, psk(3))),
    ]
}

/// What a host can do, and wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Sealed,
    SealedOrPlain,
    /// With a suite that the others do not have.
    Other,
}

/// Suite 1 under another number.
#[derive(Debug)]
struct OtherToy;

impl crate::seal::Provider for OtherToy {
    fn suites(&self) -> &[Suite] {
        const SUITES: [Suite; 1] = [Suite::AES_GCM];
        &SUITES
    }

    fn public_key(&self, suite: Suite, secret: &SecretKey) -> Result<PublicKey, crate::seal::Weak> {
        Toy.public_key(suite, secret)
    }

    fn agree(
        &self,
        suite: Suite,
        secret: &SecretKey,
        public: &[u8],
    ) -> Result<crate::seal::Shared, crate::seal::Weak> {
        Toy.agree(suite, secret, public)
    }

    fn hash(&self, suite: Suite, parts: &[&[u8]]) -> [u8; 32] {
        Toy.hash(suite, parts)
    }

    fn aead(&self, suite: Suite, key: &[u8; 32]) -> alloc::boxed::Box<dyn crate::seal::Aead> {
        Toy.aead(suite, key)
    }
}

impl Kind {
    const ALL: [Self; 4] = [Self::Plain, Self::Sealed, Self::SealedOrPlain, Self::Other];

    fn config(self) -> Config {
        match self {
            Self::Plain => Config::new(),
            Self::Sealed | Self::SealedOrPlain => sealed(),
            Self::Other => Config::new().sealed(&[Suite::AES_GCM]).unwrap(),
        }
    }

    fn security(self) -> Option<Security> {
        match self {
            Self::Plain => None,
            Self::Sealed => Some(security()),
            Self::SealedOrPlain => Some(security().allow_plain()),
            Self::Other => Some(Security::new(&OtherToy)),
        }
    }
}

#[test]
fn nobody_falls_back_to_a_plain_connection() {
    for client in Kind::ALL {
        for server in Kind::ALL {
            let mut world = World::new(client.config(), server.config());
            for (at, kind) in [(CLIENT, client), (SERVER, server)] {
                if let Some(security) = kind.security() {
                    world.host(at).set_security(security);
                }
            }
            let now = world.now;
            let host = world.host(CLIENT);
            // Who can seal does.
            let attempt = if client == Kind::Plain {
                host.connect(now, SERVER)
            } else {
                host.connect_sealed(now, &[SERVER], &Credentials::new())
            };
            attempt.unwrap();
            world.run(2000 * MS);
            let seals = [Kind::Sealed, Kind::SealedOrPlain];
            let is_sealed = (seals.contains(&client) && seals.contains(&server))
                || (client == Kind::Other && server == Kind::Other);
            let is_plain =
                client == Kind::Plain && [Kind::Plain, Kind::SealedOrPlain].contains(&server);
            let context = alloc::format!("{client:?} to {server:?}");
            if is_sealed || is_plain {
                assert_eq!(world.connected_at(), [CLIENT, SERVER], "{context}");
                for at in [CLIENT, SERVER] {
                    let peer = world.peer(at);
                    let secured = world.hosts[&at].peer(peer).unwrap().secured();
                    assert_eq!(secured.is_some(), is_sealed, "{context}");
                }
            } else {
                assert!(world.connected_at().is_empty(), "{context}");
                let refused = DisconnectReason::Refused(Refusal::Security);
                assert_eq!(world.ended(CLIENT), Some(refused), "{context}");
            }
        }
    }
}

#[test]
fn a_plain_attempt_of_a_host_that_could_seal_is_plain() {
    let mut world = World::secure();
    world.host(SERVER).set_security(security().allow_plain());
    let now = world.now;
    world.host(CLIENT).connect(now, SERVER).unwrap();
    world.run(500 * MS);
    assert_eq!(world.connected_at(), [CLIENT, SERVER]);
    let peer = world.peer(CLIENT);
    assert!(world.hosts[&CLIENT].peer(peer).unwrap().secured().is_none());
    world.check();
}

#[test]
fn a_host_that_cannot_seal_says_so() {
    let now = Instant::ZERO;
    let credentials = Credentials::new();
    let mut host = Host::<_, u32>::new(sealed(), example_rng());
    let attempt = host.connect_sealed(now, &[SERVER], &credentials);
    assert_eq!(attempt, Err(ConnectError::NotSealed), "no cryptography");
    host.set_security(Security::new(&OtherToy));
    let attempt = host.connect_sealed(now, &[SERVER], &credentials);
    assert_eq!(attempt, Err(ConnectError::NotSealed), "without the suite");
    host.set_security(security());
    assert!(host.connect_sealed(now, &[SERVER], &credentials).is_ok());
    let mut host = Host::<_, u32>::new(Config::new(), example_rng());
    host.set_security(security());
    let attempt = host.connect_sealed(now, &[SERVER], &credentials);
    assert_eq!(attempt, Err(ConnectError::NotSealed), "no suites");
}

/// What comes of an attempt with these credentials at a server with this security.
fn outcome(
    server: Security,
    credentials: &Credentials,
) -> Result<(bool, Option<u32>), DisconnectReason> {
    let mut world = World::secure();
    world.host(SERVER).set_security(server);
    world.connect_by(credentials);
    world.run(2000 * MS);
    match world.proved() {
        Some((key, psk)) => Ok((key.is_some(), psk)),
        None => Err(world.ended(CLIENT).unwrap()),
    }
}

#[test]
fn hosts_are_who_they_say_or_there_is_no_connection() {
    let refused = Err(DisconnectReason::Refused(Refusal::Security));
    let ((secret, public), (other_secret, other)) = (server_keys(5), server_keys(6));
    let plain = Credentials::new;
    let named = || security().identity(&secret).unwrap();
    assert_eq!(outcome(named(), &plain()), Ok((false, None)), "named none");
    assert_eq!(
        outcome(named(), &plain().server_key(public.clone())),
        Ok((true, None))
    );
    assert_eq!(
        outcome(named(), &plain().server_key(other.clone())),
        refused,
        "another key"
    );
    assert_eq!(
        outcome(security(), &plain().server_key(public.clone())),
        refused,
        "no key"
    );
    // While clients learn a new key, the server has both.
    let two = named().identity(&other_secret).unwrap();
    for key in [public.clone(), other] {
        assert_eq!(
            outcome(two.clone(), &plain().server_key(key)),
            Ok((true, None))
        );
    }
    let grouped = || security().psk(7, psk(3)).unwrap().psk(8, psk(4)).unwrap();
    assert_eq!(outcome(grouped(), &plain()), Ok((false, None)));
    assert_eq!(
        outcome(grouped().require_psk(), &plain()),
        refused,
        "proves nothing"
    );
    for number in [7, 8] {
        let credentials = plain().psk(number, psk(if number == 7 { 3 } else { 4 }));
        let outcome = outcome(grouped().require_psk(), &credentials);
        assert_eq!(outcome, Ok((false, Some(number))));
    }
    assert_eq!(
        outcome(grouped(), &plain().psk(7, psk(4))),
        refused,
        "another secret"
    );
    assert_eq!(
        outcome(grouped(), &plain().psk(9, psk(3))),
        refused,
        "another number"
    );
    assert_eq!(
        outcome(security(), &plain().psk(7, psk(3))),
        refused,
        "no psk"
    );
    let both = named().psk(7, psk(3)).unwrap().require_psk();
    let credentials = plain().server_key(public).psk(7, psk(3));
    assert_eq!(outcome(both, &credentials), Ok((true, Some(7))));
}

#[test]
fn a_host_has_two_key_pairs_and_four_psks() {
    let keys = [1, 2, 3].map(|byte| server_keys(byte).0);
    let two = security().identity(&keys[0]).unwrap().identity(&keys[1]);
    let third = two.unwrap().identity(&keys[2]);
    assert_eq!(third.err(), Some(SecurityError::TooMany));
    let four = (1..=4)
        .try_fold(security(), |all, n| all.psk(n, psk(1)))
        .unwrap();
    assert_eq!(
        four.clone().psk(5, psk(1)).err(),
        Some(SecurityError::TooMany)
    );
    // One with the number of another takes its place.
    let changed = four.psk(4, psk(2)).unwrap();
    let credentials = Credentials::new().psk(4, psk(2));
    assert_eq!(outcome(changed, &credentials), Ok((false, Some(4))));
}

/// A key of zeros would agree on the same with everybody, if the toy did not take it for a key like others: its
/// agreement is the exclusive or of both keys.
#[test]
fn what_is_no_key_of_a_server_is_refused_at_once() {
    let mut host = Host::<_, u32>::new(sealed(), ExampleRng(11));
    host.set_security(security());
    // The secret that the check draws is the next that the generator gives.
    let mut rng = ExampleRng(11);
    let _ = Host::<_, u32>::new(sealed(), &mut rng);
    let drawn = SecretKey::generate(&mut rng);
    let key = PublicKey::from_bytes(drawn.as_bytes()).unwrap();
    let credentials = Credentials::new().server_key(key);
    let attempt = host.connect_sealed(Instant::ZERO, &[SERVER], &credentials);
    assert_eq!(attempt, Err(ConnectError::ServerKey));
}
