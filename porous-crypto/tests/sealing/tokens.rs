//! Tokens: each field of them one off, and each bit of them wrong.

use core::convert::Infallible;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use porous_proto::hooks::sealing::{Door, UsedTokens};
use porous_proto::seal::{
    Claims, ClaimsError, Provider, Psk, Suite, Token, TokenKey, TokenRefusal, Unsupported,
};
use rand_core::{TryCryptoRng, TryRng};

use crate::{PROVIDER, flips, kit, suites};

/// A generator of bytes that count.
pub(crate) struct Counting(pub(crate) u8);

impl TryRng for Counting {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for byte in bytes {
            *byte = self.0;
            self.0 = self.0.wrapping_add(1);
        }
        Ok(())
    }
}

impl TryCryptoRng for Counting {}

const APPLICATION: u64 = 9;
const SERVER: u64 = 0x51;
const NOW: u64 = 1_800_000_000;
const HOUR: u64 = 3600;
const IP: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

fn key() -> TokenKey {
    TokenKey::from_bytes([0xAB; 32])
}

fn claims() -> Claims {
    Claims::new(APPLICATION, 42, NOW..NOW + 30).key_number(7)
}

fn mint(claims: &Claims) -> Vec<u8> {
    let (token, _) = Token::mint(&PROVIDER, &key(), claims, &mut Counting(0)).unwrap();
    token.as_bytes().to_vec()
}

/// A server that takes the tokens of the key 7.
fn door(keys: &[(u8, TokenKey)]) -> Door<'_> {
    Door {
        provider: &PROVIDER,
        application: APPLICATION,
        server: Some(SERVER),
        keys,
        max_lifetime: HOUR,
        used: UsedTokens::new(2),
    }
}

/// What such a server says of a token, at a time and from an address.
fn enter_at(token: &[u8], now: Option<u64>, ip: Option<IpAddr>) -> Result<Claims, TokenRefusal> {
    let ip = ip.map(|ip| match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
        IpAddr::V6(ip) => ip.octets(),
    });
    let keys = [(1, TokenKey::from_bytes([0; 32])), (7, key())];
    door(&keys).enter(token, now, ip).map(|(claims, _)| claims)
}

fn enter(token: &[u8]) -> Result<Claims, TokenRefusal> {
    enter_at(token, Some(NOW), Some(IP))
}

/// A token whose sealed part is `body`, written once more from the format's description.
fn sealed(version: u8, expires: u64, body: &[u8]) -> Vec<u8> {
    let suite = Suite::new(version).unwrap();
    let head = [&[version, 7][..], &expires.to_le_bytes(), &[3; 24]].concat();
    let input = [b"porous token", &head[..]].concat();
    let [sealing, _] = kit(suite).hkdf::<2>(key().as_bytes(), &input, &[]);
    let aad = [b"porous token", &APPLICATION.to_le_bytes()[..], &head].concat();
    let mut body = body.to_vec();
    let tag = PROVIDER.aead(suite, &sealing).seal(0, &aad, &mut body);
    [head, body, tag.to_vec()].concat()
}

/// The sealed part of a token without audiences or an address.
fn body(flags: u8, count: u8, rest: &[u8]) -> Vec<u8> {
    [
        &42_u64.to_le_bytes()[..],
        &NOW.to_le_bytes(),
        &[flags, count],
        rest,
    ]
    .concat()
}

#[test]
fn every_field_is_carried() {
    for suite in suites() {
        let full = claims().suite(suite).single_use().ip(IP);
        let full = [SERVER, 1, 2, u64::MAX]
            .iter()
            .fold(full, |claims, server| claims.audience(*server).unwrap());
        let full = full.user_data(&[7; 255]).unwrap();
        let token = mint(&full);
        assert_eq!(token.len(), Token::MAX);
        assert_eq!(token.len(), 372);
        assert_eq!(enter(&token), Ok(full.clone()));
        assert_eq!(full.bound_ip(), Some(IP));
        assert_eq!(full.audiences()[3], u64::MAX);
        let empty = claims().suite(suite);
        let token = mint(&empty);
        assert_eq!(token.len(), Token::MIN);
        assert_eq!(token.len(), 69);
        assert_eq!(enter(&token), Ok(empty));
    }
}

#[test]
fn tokens_have_limits() {
    let four = [1, 2, 3, 4]
        .iter()
        .fold(claims(), |claims, id| claims.audience(*id).unwrap());
    assert_eq!(four.audience(5), Err(ClaimsError::TooManyAudiences));
    assert_eq!(
        claims().user_data(&[0; 256]),
        Err(ClaimsError::UserDataTooLong)
    );
    assert_eq!(enter(&[1; 68]), Err(TokenRefusal::Malformed));
    assert_eq!(enter(&[1; 373]), Err(TokenRefusal::Malformed));
}

#[test]
fn a_token_with_a_wrong_bit_is_refused() {
    for suite in suites() {
        let claims = claims()
            .suite(suite)
            .single_use()
            .audience(SERVER)
            .unwrap()
            .ip(IP);
        let token = mint(&claims);
        assert!(enter(&token).is_ok());
        for (bit, flipped) in flips(&token).enumerate() {
            let refusal = enter(&flipped).unwrap_err();
            match bit / 8 {
                0 => assert!(matches!(
                    refusal,
                    TokenRefusal::Version | TokenRefusal::Forged
                )),
                1 => assert_eq!(refusal, TokenRefusal::Key),
                2..10 => assert!(
                    matches!(
                        refusal,
                        TokenRefusal::Expired | TokenRefusal::Lifetime | TokenRefusal::Forged
                    ),
                    "{refusal:?}"
                ),
                _ => assert_eq!(refusal, TokenRefusal::Forged, "{bit}"),
            }
        }
    }
}

#[test]
fn versions_and_keys_that_are_not_known_are_refused() {
    let mut token = mint(&claims());
    for version in [0, 3, 255] {
        token[0] = version;
        assert_eq!(enter(&token), Err(TokenRefusal::Version));
    }
    for number in [0, 6, 8] {
        let token = mint(&claims().key_number(number));
        assert_eq!(enter(&token), Err(TokenRefusal::Key));
    }
    assert_eq!(
        enter(&mint(&claims().key_number(1))),
        Err(TokenRefusal::Forged)
    );
    assert_eq!(enter(&mint(&claims())), Ok(claims()));
}

/// 30 s are allowed for clocks that differ.
#[test]
fn a_token_expires() {
    let token = mint(&claims());
    let at = |now| enter_at(&token, Some(now), Some(IP));
    assert_eq!(at(NOW + 59), Ok(claims()));
    assert_eq!(at(NOW + 60), Err(TokenRefusal::Expired));
    assert_eq!(at(u64::MAX), Err(TokenRefusal::Expired));
    assert_eq!(enter_at(&token, None, Some(IP)), Err(TokenRefusal::Time));
}

#[test]
fn a_token_that_lasts_for_too_long_is_refused() {
    for (lifetime, taken) in [
        (HOUR + 30, true),
        (HOUR + 31, false),
        (u64::MAX - NOW, false),
    ] {
        let long = Claims::new(APPLICATION, 42, NOW..NOW + lifetime).key_number(7);
        let expected = if taken {
            Ok(long.clone())
        } else {
            Err(TokenRefusal::Lifetime)
        };
        assert_eq!(enter(&mint(&long)), expected);
    }
    // At the end of time nothing overflows.
    let last = Claims::new(APPLICATION, 42, 0..u64::MAX).key_number(7);
    assert!(enter_at(&mint(&last), Some(u64::MAX - 1), None).is_ok());
}

#[test]
fn a_token_of_another_application_is_refused() {
    let other = Claims::new(APPLICATION + 1, 42, NOW..NOW + 30).key_number(7);
    assert_eq!(enter(&mint(&other)), Err(TokenRefusal::Forged));
}

#[test]
fn a_token_for_other_servers_is_refused() {
    for (server, taken) in [(SERVER - 1, false), (SERVER, true), (SERVER + 1, false)] {
        let named = claims().audience(7).unwrap().audience(server).unwrap();
        let expected = if taken {
            Ok(named.clone())
        } else {
            Err(TokenRefusal::Audience)
        };
        assert_eq!(enter(&mint(&named)), expected);
    }
    // A server without an id takes only tokens without audiences.
    let keys = [(7, key())];
    let mut nameless = Door {
        server: None,
        ..door(&keys)
    };
    let named = mint(&claims().audience(0).unwrap());
    let refused = nameless.enter(&named, Some(NOW), None).map(|_| ());
    assert_eq!(refused, Err(TokenRefusal::Audience));
    assert!(nameless.enter(&mint(&claims()), Some(NOW), None).is_ok());
}

#[test]
fn a_token_of_another_address_is_refused() {
    let bound = mint(&claims().ip(IP));
    let from = |ip| enter_at(&bound, Some(NOW), ip).map(|_| ());
    assert_eq!(from(Some(IP)), Ok(()));
    let mapped = Ipv4Addr::new(192, 0, 2, 1).to_ipv6_mapped();
    assert_eq!(from(Some(IpAddr::V6(mapped))), Ok(()));
    for other in [
        IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)),
        IpAddr::V6(Ipv6Addr::LOCALHOST),
        IpAddr::V6(Ipv4Addr::new(192, 0, 2, 1).to_ipv6_compatible()),
    ] {
        assert_eq!(from(Some(other)), Err(TokenRefusal::Ip));
    }
    assert_eq!(from(None), Err(TokenRefusal::Ip));
    assert!(enter_at(&mint(&claims()), Some(NOW), None).is_ok());
}

/// A backend that writes tokens otherwise than they are described.
#[test]
fn what_no_backend_writes_is_refused() {
    let data = &[3, b'a', b'n', b'a'][..];
    for version in suites().map(Suite::number) {
        let of = |body: Vec<u8>| enter(&sealed(version, NOW + 30, &body)).map(|_| ());
        assert_eq!(of(body(0, 0, data)), Ok(()));
        assert_eq!(of(body(1, 0, data)), Ok(()));
        for bit in 2..8 {
            assert_eq!(of(body(1 << bit, 0, data)), Err(TokenRefusal::Malformed));
        }
        let audiences = |count: u8| [SERVER.to_le_bytes()].repeat(count.into()).concat();
        assert_eq!(of(body(0, 4, &[&audiences(4), data].concat())), Ok(()));
        for (count, has) in [(5, 5), (1, 0), (2, 1), (0, 1), (255, 4)] {
            let body = body(0, count, &[&audiences(has), data].concat());
            assert_eq!(of(body), Err(TokenRefusal::Malformed), "{count}, {has}");
        }
        let ip = Ipv4Addr::new(192, 0, 2, 1).to_ipv6_mapped().octets();
        assert_eq!(of(body(2, 0, &[&ip, data].concat())), Ok(()));
        assert_eq!(of(body(2, 0, data)), Err(TokenRefusal::Malformed));
        assert_eq!(
            of(body(0, 0, &[&ip, data].concat())),
            Err(TokenRefusal::Malformed)
        );
        for length in [2, 4, 255] {
            let body = body(0, 0, &[length, b'a', b'n', b'a']);
            assert_eq!(of(body), Err(TokenRefusal::Malformed), "{length}");
        }
    }
}

#[test]
fn a_token_of_one_use_counts_once_and_never_more_than_there_is_room_for() {
    let keys = [(7, key())];
    let mut door = door(&keys);
    let token = |random, expires| {
        let claims = Claims::new(APPLICATION, 42, NOW..expires).key_number(7);
        let claims = claims.single_use();
        let minted = Token::mint(&PROVIDER, &key(), &claims, &mut Counting(random));
        minted.unwrap().0.as_bytes().to_vec()
    };
    let [a, b, c] = [token(1, NOW + 30), token(2, NOW + 90), token(3, NOW + 90)];
    let mut enter = |token: &[u8], now| door.enter(token, Some(now), None).map(|_| ());
    assert_eq!(enter(&a, NOW), Ok(()));
    assert_eq!(enter(&a, NOW), Err(TokenRefusal::Used));
    assert_eq!(enter(&b, NOW), Ok(()));
    assert_eq!(enter(&c, NOW), Err(TokenRefusal::Full));
    // The first token would be taken until then, if it had not been used.
    assert_eq!(enter(&c, NOW + 59), Err(TokenRefusal::Full));
    assert_eq!(enter(&a, NOW + 59), Err(TokenRefusal::Used));
    assert_eq!(enter(&c, NOW + 60), Ok(()));
    assert_eq!(enter(&a, NOW + 60), Err(TokenRefusal::Expired));
    assert_eq!(
        enter(&a, NOW),
        Err(TokenRefusal::Used),
        "the clock was put back"
    );
    // Others are not counted.
    assert_eq!(enter(&mint(&claims()), NOW), Ok(()));
    assert_eq!(enter(&mint(&claims()), NOW), Ok(()));
}

#[test]
fn tokens_that_differ_in_their_random_bytes_have_other_secrets() {
    let mint = |random| Token::mint(&PROVIDER, &key(), &claims(), &mut Counting(random)).unwrap();
    let ((a, psk), (b, other)) = (mint(0), mint(1));
    assert_ne!(a.as_bytes()[34..], b.as_bytes()[34..]);
    assert_ne!(psk.as_bytes(), other.as_bytes());
    let shown = format!("{a:?} {psk:?} {:?}", key());
    assert_eq!(
        shown,
        "Token { suite: Some(1), key_number: 7, expires: 1800000030, len: 69 } Psk(..) TokenKey(..)"
    );
}

#[test]
fn a_suite_that_tokens_do_not_have_is_an_error() {
    for number in [3, 192] {
        let claims = claims().suite(Suite::new(number).unwrap());
        let minted = Token::mint(&PROVIDER, &key(), &claims, &mut Counting(0));
        assert_eq!(minted.err().map(|Unsupported| number), Some(number));
    }
}

#[test]
fn the_secret_of_a_token_is_not_the_servers_to_choose() {
    let keys = [(7, key())];
    let (token, psk) = Token::mint(&PROVIDER, &key(), &claims(), &mut Counting(0)).unwrap();
    let entered = door(&keys).enter(token.as_bytes(), Some(NOW), None);
    let same: Psk = entered.unwrap().1;
    assert_eq!(same.as_bytes(), psk.as_bytes());
}
