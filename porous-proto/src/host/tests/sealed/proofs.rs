//! Which hosts get a sealed connection, and what the two know of each other then.

use super::*;
use crate::seal::{Claims, Token, TokenKey, TokenRefusal};

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
    let grouped = security().psk(7, psk(3)).unwrap().require_proof();
    let both = named.clone().psk(7, psk(3)).unwrap().require_proof();
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

/// D17.
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
            // A host that can seal does.
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

/// D17.
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
        outcome(grouped().require_proof(), &plain()),
        refused,
        "proves nothing"
    );
    for number in [7, 8] {
        let credentials = plain().psk(number, psk(if number == 7 { 3 } else { 4 }));
        let outcome = outcome(grouped().require_proof(), &credentials);
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
    let both = named().psk(7, psk(3)).unwrap().require_proof();
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

/// The application of all hosts here, and the second of all tokens.
const NOW: u64 = 1_800_000_000;

fn token_key() -> TokenKey {
    TokenKey::from_bytes([8; 32])
}

/// Claims of a token for client 42 that lasts a minute.
fn claims() -> Claims {
    Claims::new(0, 42, NOW..NOW + 60)
}

/// A token, and its psk, as a backend hands them out.
fn mint(claims: &Claims, seed: u64) -> (Token, Psk) {
    Token::mint(&Toy, &token_key(), claims, &mut ExampleRng(seed)).unwrap()
}

/// A server that lets nobody in without a token.
fn guarded() -> Security {
    security()
        .token_key(0, token_key())
        .unwrap()
        .require_proof()
}

/// A world whose server is guarded, and knows the time.
fn guarded_world(server: Security) -> World {
    let mut world = World::secure();
    let now = world.now;
    world.host(SERVER).set_security(server);
    world.host(SERVER).set_unix_time(now, NOW);
    world
}

/// What comes of an attempt with this token: the client's id as the server knows it, or why the token was refused.
fn admitted(server: Security, claims: &Claims) -> Result<u64, TokenRefusal> {
    let mut world = guarded_world(server);
    let (token, psk) = mint(claims, 5);
    world.connect_by(&Credentials::new().token(token, psk));
    world.run(2000 * MS);
    if world.connected_at() == [CLIENT, SERVER] {
        let peer = world.peer(SERVER);
        let secured = world.hosts[&SERVER].peer(peer).unwrap().secured().unwrap();
        return Ok(secured.client_id().unwrap());
    }
    let refused = DisconnectReason::Refused(Refusal::Security);
    assert_eq!(world.ended(CLIENT), Some(refused));
    let stats = world.hosts[&SERVER].stats();
    let mut told = TokenRefusal::ALL
        .iter()
        .copied()
        .filter(|&cause| stats.tokens_refused(cause) > 0);
    let cause = told.next().unwrap();
    assert_eq!(told.next(), None, "one cause");
    Err(cause)
}

/// D17.
#[test]
fn a_token_lets_its_client_in() {
    let claims = claims().user_data(b"ana").unwrap().single_use();
    let mut world = guarded_world(guarded().server_id(0x51));
    let (token, psk) = mint(&claims, 5);
    world.connect_by(&Credentials::new().token(token, psk));
    world.run(500 * MS);
    world.check();
    let peer = world.peer(SERVER);
    let secured = world.hosts[&SERVER].peer(peer).unwrap().secured().unwrap();
    assert_eq!(
        (secured.client_id(), secured.user_data()),
        (Some(42), &b"ana"[..])
    );
    assert_eq!(secured.psk(), None);
    // The client knows what it has shown, and the wire does not say it again.
    let peer = world.peer(CLIENT);
    let secured = world.hosts[&CLIENT].peer(peer).unwrap().secured().unwrap();
    assert_eq!(secured.client_id(), None);
}

#[test]
fn a_token_that_is_not_right_lets_nobody_in() {
    assert_eq!(admitted(guarded(), &claims()), Ok(42));
    let lasts = |validity| Claims::new(0, 42, validity);
    // 30 s are allowed for clocks that differ.
    assert_eq!(admitted(guarded(), &lasts(NOW - 60..NOW - 29)), Ok(42));
    let expired = lasts(NOW - 60..NOW - 30);
    assert_eq!(admitted(guarded(), &expired), Err(TokenRefusal::Expired));
    let minutes = || guarded().max_token_lifetime(Duration::from_secs(600));
    assert_eq!(admitted(minutes(), &lasts(NOW..NOW + 630)), Ok(42));
    let long = lasts(NOW..NOW + 631);
    assert_eq!(admitted(minutes(), &long), Err(TokenRefusal::Lifetime));
    let other_key = claims().key_number(1);
    assert_eq!(admitted(guarded(), &other_key), Err(TokenRefusal::Key));
    let changed = security()
        .token_key(0, TokenKey::from_bytes([9; 32]))
        .unwrap();
    assert_eq!(admitted(changed, &claims()), Err(TokenRefusal::Forged));
    let other_application = Claims::new(1, 42, NOW..NOW + 60);
    assert_eq!(
        admitted(guarded(), &other_application),
        Err(TokenRefusal::Forged)
    );
    let named = || claims().audience(0x51).unwrap();
    assert_eq!(admitted(guarded().server_id(0x51), &named()), Ok(42));
    let elsewhere = admitted(guarded().server_id(0x52), &named());
    assert_eq!(elsewhere, Err(TokenRefusal::Audience));
    let bound = claims().ip([192, 0, 2, 1].into());
    assert_eq!(admitted(guarded(), &bound), Err(TokenRefusal::Ip));
    let none = guarded().used_tokens(0);
    assert_eq!(
        admitted(none, &claims().single_use()),
        Err(TokenRefusal::Full)
    );
}

#[test]
fn a_server_that_does_not_know_the_time_takes_no_token() {
    let mut world = World::secure();
    world.host(SERVER).set_security(guarded());
    let (token, psk) = mint(&claims(), 5);
    world.connect_by(&Credentials::new().token(token, psk));
    world.run(2000 * MS);
    assert!(world.connected_at().is_empty());
    let stats = world.hosts[&SERVER].stats();
    assert!(stats.tokens_refused(TokenRefusal::Time) > 0);
}

#[test]
fn time_goes_on_for_a_server_that_was_told_it_once() {
    let mut world = guarded_world(guarded());
    world.run(Duration::from_secs(91));
    let (token, psk) = mint(&claims(), 5);
    world.connect_by(&Credentials::new().token(token, psk));
    world.run(2000 * MS);
    let stats = world.hosts[&SERVER].stats();
    assert!(stats.tokens_refused(TokenRefusal::Expired) > 0);
}

#[test]
fn a_token_bound_to_an_address_lets_in_from_there() {
    for (own, is_right) in [([192, 0, 2, 1], true), ([192, 0, 2, 2], false)] {
        let mut world = guarded_world(guarded());
        world.host(SERVER).set_ip_of(|_| [192, 0, 2, 1].into());
        let (token, psk) = mint(&claims().ip(own.into()), 5);
        world.connect_by(&Credentials::new().token(token, psk));
        world.run(2000 * MS);
        assert_eq!(!world.connected_at().is_empty(), is_right, "{own:?}");
    }
}

#[test]
fn a_token_without_its_secret_is_worth_nothing_and_is_not_used_up() {
    let mut world = guarded_world(guarded());
    let (token, true_psk) = mint(&claims().single_use(), 5);
    world.connect_by(&Credentials::new().token(token.clone(), psk(1)));
    world.run(2000 * MS);
    let refused = DisconnectReason::Refused(Refusal::Security);
    assert_eq!(world.ended(CLIENT), Some(refused));
    world.connect_by(&Credentials::new().token(token, true_psk));
    world.run(2000 * MS);
    assert_eq!(world.connected_at(), [CLIENT, SERVER]);
}

#[test]
fn a_token_of_one_use_makes_one_connection() {
    let mut world = guarded_world(guarded());
    let (token, psk) = mint(&claims().single_use(), 5);
    let credentials = Credentials::new().token(token, psk);
    // Its message 2 is lost for a while: the repeated request is the same use.
    let mut lost = 2;
    world.connect_by(&credentials);
    world.run_with(2000 * MS, &mut |_, from, datagram| {
        let is_lost = from == SERVER && kind(datagram) == 0xD2 && lost > 0;
        lost -= usize::from(is_lost);
        if is_lost {
            vec![]
        } else {
            vec![datagram.to_vec()]
        }
    });
    assert_eq!(world.connected_at(), [CLIENT, SERVER]);
    // Another host that got hold of token and secret.
    let mut thief = Host::<_, u32>::new(sealed(), ExampleRng(77));
    thief.set_security(security());
    world.hosts.insert(CLIENT, thief);
    world.events.clear();
    world.connect_by(&credentials);
    world.run(2000 * MS);
    assert!(world.connected_at().is_empty());
    let stats = world.hosts[&SERVER].stats();
    assert!(stats.tokens_refused(TokenRefusal::Used) > 0);
    assert_eq!(world.ended(SERVER), None, "the true one goes on");
}

/// Two clients of one account, at the two addresses of one world.
#[test]
fn a_client_has_one_connection_unless_it_may_have_several() {
    for is_one in [true, false] {
        let mut world = guarded_world(guarded().one_per_client(is_one));
        let (token, psk) = mint(&claims(), 5);
        world.connect_by(&Credentials::new().token(token, psk));
        world.run(500 * MS);
        let first = world.peer(SERVER);
        let mut other = Host::<_, u32>::new(sealed(), ExampleRng(77));
        other.set_security(security());
        let (token, psk) = mint(&claims(), 6);
        let credentials = Credentials::new().token(token, psk);
        let now = world.now;
        other.connect_sealed(now, &[SERVER], &credentials).unwrap();
        let mut buf = [0; 1200];
        for _ in 0..6 {
            while let Some(transmit) = other.poll_transmit(now, &mut buf) {
                let server = world.host(SERVER);
                server.handle_datagram(now, 3, Ecn::NotEct, transmit.datagram);
            }
            while let Some(transmit) = world.host(SERVER).poll_transmit(now, &mut buf) {
                let to = if transmit.to == 3 {
                    Some(&mut other)
                } else {
                    None
                };
                let datagram = transmit.datagram;
                to.map(|other| other.handle_datagram(now, SERVER, Ecn::NotEct, datagram));
            }
        }
        world.run(Duration::ZERO);
        let restarted = is_one.then_some(DisconnectReason::Restarted);
        assert_eq!(world.ended(SERVER), restarted);
        let server = world.host(SERVER);
        let is_live = server.peers().any(|(peer, _)| peer == first);
        assert_eq!(
            (is_live, server.peers().count()),
            (!is_one, if is_one { 1 } else { 2 })
        );
    }
}
