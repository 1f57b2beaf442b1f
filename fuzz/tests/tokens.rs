//! Any bytes as a token: they are read without harm, what opens has one spelling, and a server lets in only the
//! bearer of a token that counts.

use bolero::generator::produce;
use bolero::{TypeGenerator, check};
use core::net::IpAddr;
use porous_fuzz::insider::{Stranger, kit, offer, terms};
use porous_proto::hooks::doc::example_provider;
use porous_proto::seal::{Claims, Psk, Security, Suite, Token, TokenKey};
use porous_proto::{Config, Disposition, Ecn, Host, Instant, Listen};
use porous_sim::{ChaCha8Rng, Seed};

/// Unix seconds.
const NOW: u64 = 1_800_000_000;

/// The server's id.
const SERVER: u64 = 0x51;

/// The number of the server's key.
const NUMBER: u8 = 1;

/// The bytes of a token that are not sealed.
const HEAD: usize = 34;

/// Bytes that may be a token.
#[derive(Clone, Debug, TypeGenerator)]
enum Bytes {
    /// Any.
    Any(#[generator(produce::<Vec<u8>>().with().len(1..373_usize))] Vec<u8>),
    /// Any, sealed as a backend would.
    Sealed(
        Head,
        #[generator(produce::<Vec<u8>>().with().len(0..323_usize))] Vec<u8>,
    ),
    /// What a token may say, sealed as a backend would.
    Spelled(Head, Spelled, Damage),
    /// The same: drawn more often.
    Spelled2(Head, Spelled, Damage),
}

/// A byte that is changed: its place, and the bits to flip.
#[derive(Clone, Copy, Debug, TypeGenerator)]
enum Damage {
    None,
    None2,
    BeforeItIsSealed(u16, u8),
    After(u16, u8),
}

/// What is not sealed in a token.
#[derive(Clone, Copy, Debug, TypeGenerator)]
struct Head {
    /// 1 if it is above 2.
    #[generator(0..8_u8)]
    version: u8,
    /// That of the server's key if it is above 1.
    #[generator(0..4_u8)]
    number: u8,
    /// Minutes from now; none at all if they are 69.
    #[generator(-3..70_i8)]
    expires: i8,
    random: u8,
}

/// What is sealed in a token.
#[derive(Clone, Debug, TypeGenerator)]
struct Spelled {
    client: u64,
    created: u64,
    #[generator(0..5_u8)]
    flags: u8,
    #[generator(produce::<Vec<bool>>().with().len(0..6_usize))]
    audiences: Vec<bool>,
    ip: [u8; 16],
    #[generator(produce::<Vec<u8>>().with().len(0..256_usize))]
    data: Vec<u8>,
    /// Bytes too many.
    #[generator(0..20_u8)]
    more: u8,
}

impl Head {
    fn bytes(self) -> [u8; HEAD] {
        let version = if self.version > 2 { 1 } else { self.version };
        let number = if self.number > 1 { NUMBER } else { self.number };
        let expires = match self.expires {
            69 => u64::MAX,
            minutes => NOW.saturating_add_signed(60 * i64::from(minutes)),
        };
        let mut bytes = [self.random; HEAD];
        (bytes[0], bytes[1]) = (version, number);
        bytes[2..10].copy_from_slice(&expires.to_le_bytes());
        bytes
    }
}

impl Spelled {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = [self.client.to_le_bytes(), self.created.to_le_bytes()].concat();
        let count = u8::try_from(self.audiences.len()).expect("5 at most");
        bytes.extend([self.flags, count]);
        for is_ours in &self.audiences {
            let server = if *is_ours { SERVER } else { SERVER + 1 };
            bytes.extend(server.to_le_bytes());
        }
        if self.flags & 2 != 0 {
            bytes.extend(self.ip);
        }
        bytes.push(u8::try_from(self.data.len()).expect("255 at most"));
        bytes.extend(&self.data);
        if self.more == 1 {
            bytes.push(0);
        }
        bytes
    }
}

/// What is sealed in a token that says this, by `docs/wire.md`.
fn respell(claims: &Claims) -> Vec<u8> {
    let ip = claims.bound_ip().map(|ip| match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
        IpAddr::V6(ip) => ip.octets(),
    });
    let flags = u8::from(claims.is_single_use()) | u8::from(ip.is_some()) << 1;
    let client = claims.client_id().to_le_bytes();
    let mut bytes = [client, claims.validity().start.to_le_bytes()].concat();
    let count = u8::try_from(claims.audiences().len()).expect("4 at most");
    bytes.extend([flags, count]);
    bytes.extend(claims.audiences().iter().flat_map(|id| id.to_le_bytes()));
    bytes.extend(ip.into_iter().flatten());
    bytes.push(u8::try_from(claims.data().len()).expect("255 at most"));
    bytes.extend(claims.data());
    bytes
}

fn token_key() -> TokenKey {
    TokenKey::from_bytes([5; 32])
}

/// The key that seals a token with this head, and the psk.
fn keys(head: &[u8]) -> [[u8; 32]; 2] {
    let input = [b"porous token", head].concat();
    kit().hkdf(token_key().as_bytes(), &input, &[])
}

/// A token with this head in which this is sealed.
fn seal(head: [u8; HEAD], mut text: Vec<u8>) -> Vec<u8> {
    let [key, _] = keys(&head);
    let aad = [&b"porous token"[..], &[0; 8], &head].concat();
    let mut aead = example_provider().aead(Suite::CHACHA_POLY, &key);
    let tag = aead.seal(0, &aad, &mut text);
    [&head[..], &text, &tag].concat()
}

fn flip(bytes: &mut [u8], at: u16, bits: u8) {
    bytes[usize::from(at) % bytes.len()] ^= bits;
}

impl Bytes {
    /// The bytes, and what was sealed in them.
    fn make(&self) -> (Vec<u8>, Option<Vec<u8>>) {
        match self {
            Self::Any(bytes) => (bytes.clone(), None),
            Self::Sealed(head, text) => (seal(head.bytes(), text.clone()), Some(text.clone())),
            Self::Spelled(head, spelled, damage) | Self::Spelled2(head, spelled, damage) => {
                let mut text = spelled.bytes();
                if let Damage::BeforeItIsSealed(at, bits) = *damage {
                    flip(&mut text, at, bits);
                }
                let mut bytes = seal(head.bytes(), text.clone());
                if let Damage::After(at, bits) = *damage {
                    flip(&mut bytes, at, bits);
                }
                (bytes, Some(text))
            }
        }
    }
}

/// What the bytes say, if they are a token; then there is one spelling of that.
fn open(bytes: &[u8], text: Option<&[u8]>) -> Option<Claims> {
    let token = Token::from_bytes(bytes)?;
    assert!((Token::MIN..=Token::MAX).contains(&bytes.len()) && token.as_bytes() == bytes);
    let (claims, psk) = token.open(example_provider(), &token_key(), 0).ok()?;
    assert_eq!(claims.validity().end, token.expires());
    assert_eq!(psk.as_bytes(), &keys(&bytes[..HEAD])[1]);
    assert_eq!(Some(&respell(&claims)[..]), text, "{claims:?}");
    Some(claims)
}

/// Whether the server takes a token that says this.
fn counts(claims: &Claims, number: u8) -> bool {
    let expires = claims.validity().end;
    let audiences = claims.audiences();
    number == NUMBER
        && (NOW - 29..=NOW + 3600 + 30).contains(&expires)
        && (audiences.is_empty() || audiences.contains(&SERVER))
        && claims.bound_ip().is_none()
}

fn server() -> Host<ChaCha8Rng, u8> {
    let sealed = Config::new().sealed(&[Suite::CHACHA_POLY]);
    let mut host = Host::new(sealed.expect("one suite"), Seed::new(1).stream("host", 0));
    let security = Security::new(example_provider()).token_key(NUMBER, token_key());
    let security = security.expect("one key").server_id(SERVER);
    host.set_security(security.require_proof());
    host.set_unix_time(Instant::ZERO, NOW);
    assert_eq!(host.listen(Listen::Open), Ok(()));
    host
}

/// Shows a server the token, with the psk that belongs to it or with none. Whether the bearer is let in.
fn show(host: &mut Host<ChaCha8Rng, u8>, from: u8, token: &[u8], knows_psk: bool) -> bool {
    let stranger = Stranger::ask(host, Instant::ZERO, from, &offer());
    let [_, psk] = keys(token.get(..HEAD).unwrap_or_default());
    let psk = knows_psk.then(|| Psk::from_bytes(psk));
    let (_, datagram) = stranger.message(&terms(Some(token.to_vec())), psk.as_ref());
    let taken = host.handle_datagram(Instant::ZERO, from, Ecn::NotEct, &datagram);
    let _ = host.audit();
    matches!(taken, Disposition::Accepted(_))
}

/// True if the token opens, and true if it was taken.
fn run(bytes: &Bytes) -> [bool; 2] {
    let (token, text) = bytes.make();
    let claims = open(&token, text.as_deref());
    if token.len() > Token::MAX {
        return [claims.is_some(), false]; // no form has room for it
    }
    let mut host = server();
    assert!(!show(&mut host, 1, &token, false), "without the secret");
    let is_taken = show(&mut host, 2, &token, true);
    let is_good = claims
        .as_ref()
        .is_some_and(|claims| counts(claims, token[1]));
    assert_eq!(is_taken, is_good, "{claims:?}");
    let client = host
        .peers()
        .find_map(|(_, peer)| peer.secured()?.client_id());
    assert_eq!(
        client,
        claims.as_ref().filter(|_| is_good).map(Claims::client_id)
    );
    let again = claims
        .as_ref()
        .is_some_and(|claims| !claims.is_single_use());
    assert_eq!(show(&mut host, 3, &token, true), is_taken && again);
    [claims.is_some(), is_taken]
}

#[test]
fn any_bytes_as_a_token_are_taken_only_if_they_are_one() {
    check!()
        .with_type::<Bytes>()
        .with_iterations(2000)
        .for_each(|bytes| {
            run(bytes);
        });
}

/// Tokens that do not open test little.
#[test]
fn tokens_are_drawn_that_open_and_that_are_taken() {
    let drawn = (0..1000).map(|n| {
        let generator = produce::<Bytes>();
        run(&porous_fuzz::drawn(Seed::new(n), &generator))
    });
    let mut counts = [0; 2];
    for told in drawn {
        for (count, is_so) in counts.iter_mut().zip(told) {
            *count += u32::from(is_so);
        }
    }
    let [opened, taken] = counts;
    assert!(opened > 100 && taken > 10 && taken < opened, "{counts:?}");
}
