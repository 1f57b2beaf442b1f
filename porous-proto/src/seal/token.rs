//! Tokens: the bytes by which a backend admits a client to a game server, without talking to the server.

use core::fmt;

use arrayvec::ArrayVec;
use rand_core::CryptoRng;

use super::claims::{Claims, LEAST_BYTES, MOST_BYTES};
use super::crypto::Crypto;
use super::hkdf::{expand, extract};
use super::noise::TAG;
use super::provider::{Provider, Suite, Unsupported};
use super::secret::{Psk, Secret, TokenKey};
use crate::frame;
use crate::wire::{NoRoom, Reader, Writer};

/// What all that is hashed and sealed of a token begins with.
const LABEL: &[u8; 12] = b"porous token";

/// Bytes that are not sealed.
const HEAD: usize = 1 + 1 + 8 + RANDOM;

const RANDOM: usize = 24;

/// Why a server does not take a token. Each is counted by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenRefusal {
    /// It is too short or too long, or what was sealed in it is no token of this version.
    Malformed,
    /// Its version is not known, or the provider does not have the suite.
    Version,
    /// The server has no key of this number.
    Key,
    /// The server has not been told what time it is.
    Time,
    /// It expired more than 30 s ago.
    Expired,
    /// It lasts for longer than the server allows.
    Lifetime,
    /// It was made with another key or for another application, or it was changed.
    Forged,
    /// It is for other servers.
    Audience,
    /// It is bound to another address, or the server does not know addresses.
    Ip,
    /// It may be used once, and was.
    Used,
    /// It may be used once, and the server has no room to remember that it was.
    Full,
}

impl TokenRefusal {
    /// Each cause, in the order in which hosts count them.
    pub const ALL: &'static [Self] = &[
        Self::Malformed,
        Self::Version,
        Self::Key,
        Self::Time,
        Self::Expired,
        Self::Lifetime,
        Self::Forged,
        Self::Audience,
        Self::Ip,
        Self::Used,
        Self::Full,
    ];

    /// The number of causes.
    pub(crate) const COUNT: usize = Self::ALL.len();

    /// The names of the causes for machines, in their order.
    pub(crate) const NAMES: [&'static str; Self::COUNT] = [
        "malformed",
        "version",
        "key",
        "time",
        "expired",
        "lifetime",
        "forged",
        "audience",
        "ip",
        "used",
        "full",
    ];

    /// The position of this cause's counter.
    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for TokenRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "this is no token: check that all of it was passed on",
            Self::Version => "unknown version of a token, or a suite that the provider lacks",
            Self::Key => "no key has this number: give the server the key of the backend",
            Self::Time => "the server does not know the time: tell it the Unix time",
            Self::Expired => "the token has expired: get another one",
            Self::Lifetime => "the token lasts for too long: let the backend make shorter ones",
            Self::Forged => "made with another key, for another application, or changed",
            Self::Audience => "the token is for other servers",
            Self::Ip => "the token is bound to another address",
            Self::Used => "the token was used already: get another one",
            Self::Full => "too many tokens of one use are remembered: wait until some expire",
        })
    }
}

impl core::error::Error for TokenRefusal {}

impl From<Unsupported> for TokenRefusal {
    fn from(_: Unsupported) -> Self {
        Self::Version
    }
}

/// A token as it is on the wire, 69 to 372 bytes. The client cannot read it, and everybody on the path can
/// see it; what proves that the token is the client's own is the [`Psk`] that belongs to it.
///
/// | bytes | field | |
/// |---|---|---|
/// | 1 | version | 1: sealed by ChaCha20-Poly1305, 2: by AES-256-GCM; both with SHA-256 |
/// | 1 | key number | which of the server's keys |
/// | 8 | expires | Unix seconds |
/// | 24 | random | never twice |
/// | | *sealed from here on, with the nonce 0* | |
/// | 8 | client id | |
/// | 8 | created | Unix seconds |
/// | 1 | flags | bit 0: single use; bit 1: bound to an address; all others 0 |
/// | 1 | n | 0 to 4 |
/// | 8 n | audiences | ids of servers |
/// | 0 or 16 | address | IPv6, or IPv4 mapped to it |
/// | 1 | u | |
/// | u | user data | |
/// | 16 | tag | |
///
/// Numbers are little-endian. The sealing key and the psk of the connection are the two outputs of HKDF with
/// the token key as its salt, and `porous token` and the first 34 bytes as its input. So each token has a
/// sealing key of its own, and needs no nonce. What is sealed together with the head is `porous token`, the
/// id of the application (8 bytes), and the head.
///
/// ```
/// use porous_proto::seal::Token;
///
/// assert!(Token::from_bytes(b"no token").is_none());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Token(ArrayVec<u8, { Self::MAX }>);

// The form that carries a token is read below this room, which it must not know of.
const _: () = assert!(Token::MAX == frame::TOKEN_MAX);

impl Token {
    /// The most bytes of a token.
    pub const MAX: usize = HEAD + MOST_BYTES + TAG;

    /// The fewest bytes of a token.
    pub const MIN: usize = HEAD + LEAST_BYTES + TAG;

    /// Makes a token, and the secret that belongs to it. The client gets both over a channel that is secret
    /// itself, such as HTTPS.
    ///
    /// # Errors
    ///
    /// If the provider does not have the [suite](Claims::suite) of the claims, or if tokens do not.
    ///
    /// ```
    /// use porous_proto::seal::{Claims, Provider, Psk, Token, TokenKey, Unsupported};
    /// use rand_core::CryptoRng;
    ///
    /// fn admit<R: CryptoRng>(
    ///     provider: &'static dyn Provider, // as `&RustCrypto` of porous-crypto
    ///     key: &TokenKey,
    ///     client: u64,
    ///     now: u64,
    ///     rng: &mut R,
    /// ) -> Result<(Token, Psk), Unsupported> {
    ///     let claims = Claims::new(0x7069_6e67, client, now..now + 30).single_use();
    ///     Token::mint(provider, key, &claims, rng)
    /// }
    /// # let _ = admit::<porous_proto::hooks::doc::ExampleRng>;
    /// ```
    pub fn mint<R: CryptoRng>(
        provider: &'static dyn Provider,
        key: &TokenKey,
        claims: &Claims,
        rng: &mut R,
    ) -> Result<(Self, Psk), Unsupported> {
        let crypto = Crypto::new(provider, claims.suite)?;
        let version = version_of(claims.suite).ok_or(Unsupported)?;
        let mut random = [0; RANDOM];
        rng.fill_bytes(&mut random);
        let mut bytes = [0; Self::MAX];
        let mut writer = Writer::new(&mut bytes);
        // Claims are never longer than a token has room for.
        let end = write(&mut writer, version, claims, &random).map_err(|NoRoom| Unsupported)?;
        let (head, rest) = bytes.split_first_chunk_mut().ok_or(Unsupported)?;
        let (sealing, psk) = derive(crypto, key, head);
        let body = rest.get_mut(..end - HEAD).ok_or(Unsupported)?;
        let mut aead = crypto.aead(sealing.bytes());
        let tag = aead.seal(0, &associated(claims.application, head), body);
        let mut token = ArrayVec::new();
        token.extend(bytes.into_iter().take(end).chain(tag));
        Ok((Self(token), psk))
    }

    /// The token that these bytes are; `None` if they are fewer than [`MIN`](Self::MIN) or more than
    /// [`MAX`](Self::MAX). Whether a server takes the token, only the server can tell.
    ///
    /// ```
    /// use porous_proto::seal::Token;
    ///
    /// let token = Token::from_bytes(&[1; 80]).expect("it is long enough");
    /// assert_eq!(token.as_bytes(), [1; 80]);
    /// ```
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let token = ArrayVec::try_from(bytes).ok()?;
        (bytes.len() >= Self::MIN).then_some(Self(token))
    }

    /// The bytes, as they are on the wire.
    ///
    /// ```
    /// use porous_proto::seal::Token;
    ///
    /// assert_eq!(Token::from_bytes(&[1; 69]).map(|token| token.as_bytes().len()), Some(69));
    /// ```
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The number of the key that it was made with. Everybody can read it.
    ///
    /// ```
    /// use porous_proto::seal::Token;
    ///
    /// assert_eq!(Token::from_bytes(&[1; 80]).map(|token| token.key_number()), Some(1));
    /// ```
    #[must_use]
    pub fn key_number(&self) -> u8 {
        self.head().key_number
    }

    /// The Unix second in which it expires. Everybody can read it.
    ///
    /// ```
    /// use porous_proto::seal::Token;
    ///
    /// let token = Token::from_bytes(&[0; 80]).expect("it is long enough");
    /// assert_eq!(token.expires(), 0);
    /// ```
    #[must_use]
    pub fn expires(&self) -> u64 {
        self.head().expires
    }

    /// Opens the token: what it says, and the secret that belongs to it. Whether it has expired, and where
    /// it counts, is not looked at: a server's host does that.
    ///
    /// # Errors
    ///
    /// [`Version`](TokenRefusal::Version), [`Forged`](TokenRefusal::Forged), and, if the backend does not
    /// write tokens as described here, [`Malformed`](TokenRefusal::Malformed).
    ///
    /// ```
    /// use porous_proto::seal::{Provider, Token, TokenKey};
    ///
    /// /// Prints what a token says, for an operator.
    /// fn show(provider: &'static dyn Provider, key: &TokenKey, application: u64, token: &Token) {
    ///     match token.open(provider, key, application) {
    ///         Ok((claims, _)) => println!("{claims:?}"),
    ///         Err(refusal) => println!("{refusal}"),
    ///     }
    /// }
    /// # let _ = show;
    /// ```
    pub fn open(
        &self,
        provider: &'static dyn Provider,
        key: &TokenKey,
        application_id: u64,
    ) -> Result<(Claims, Psk), TokenRefusal> {
        let head = self.head();
        let suite = head.suite.ok_or(TokenRefusal::Version)?;
        let crypto = Crypto::new(provider, suite)?;
        let (head_bytes, sealed) = self.0.split_first_chunk().ok_or(TokenRefusal::Malformed)?;
        let (body, tag) = sealed.split_last_chunk().ok_or(TokenRefusal::Malformed)?;
        let (sealing, psk) = derive(crypto, key, head_bytes);
        let mut text: ArrayVec<u8, MOST_BYTES> = body.iter().copied().take(MOST_BYTES).collect();
        let mut aead = crypto.aead(sealing.bytes());
        if !aead.open(0, &associated(application_id, head_bytes), &mut text, tag) {
            return Err(TokenRefusal::Forged);
        }
        let claims = Claims::new(application_id, 0, 0..head.expires);
        let claims = claims.suite(suite).key_number(head.key_number);
        let claims = claims.decode(&text).ok_or(TokenRefusal::Malformed)?;
        Ok((claims, psk))
    }

    /// What names this token and no other: its tag.
    pub(crate) fn id(&self) -> [u8; TAG] {
        self.0.last_chunk().copied().unwrap_or_default()
    }

    pub(super) fn head(&self) -> Head {
        let mut reader = Reader::new(&self.0);
        // A token is long enough for them.
        Head {
            suite: reader.u8().ok().and_then(suite_of),
            key_number: reader.u8().unwrap_or_default(),
            expires: reader.u64().unwrap_or_default(),
        }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = self.head();
        f.debug_struct("Token")
            .field("suite", &head.suite.map(Suite::number))
            .field("key_number", &head.key_number)
            .field("expires", &head.expires)
            .field("len", &self.0.len())
            .finish()
    }
}

/// What is not sealed in a token.
pub(super) struct Head {
    /// `None` if the version is not known.
    pub(super) suite: Option<Suite>,
    pub(super) key_number: u8,
    pub(super) expires: u64,
}

const fn version_of(suite: Suite) -> Option<u8> {
    match suite {
        Suite::CHACHA_POLY => Some(1),
        Suite::AES_GCM => Some(2),
        _ => None,
    }
}

const fn suite_of(version: u8) -> Option<Suite> {
    match version {
        1 => Some(Suite::CHACHA_POLY),
        2 => Some(Suite::AES_GCM),
        _ => None,
    }
}

/// Writes a token that is not sealed yet, without its tag. Gives its length.
fn write(
    writer: &mut Writer<'_>,
    version: u8,
    claims: &Claims,
    random: &[u8; RANDOM],
) -> Result<usize, NoRoom> {
    writer.u8(version)?;
    writer.u8(claims.key_number)?;
    writer.u64(claims.expires)?;
    writer.bytes(random)?;
    claims.encode(writer)?;
    Ok(writer.position())
}

/// The key that seals a token with this head, and the psk that belongs to it.
fn derive(crypto: Crypto, key: &TokenKey, head: &[u8; HEAD]) -> (Secret, Psk) {
    let key = extract(crypto, key.as_bytes(), [LABEL, head]);
    let [sealing, psk] = expand(crypto, &key, &[]);
    (sealing, Psk::from_secret(psk))
}

/// What is sealed together with the claims.
fn associated(application: u64, head: &[u8; HEAD]) -> [u8; LABEL.len() + 8 + HEAD] {
    let mut bytes = [0; LABEL.len() + 8 + HEAD];
    let parts = LABEL.iter().copied().chain(application.to_le_bytes());
    for (to, from) in bytes.iter_mut().zip(parts.chain(*head)) {
        *to = from;
    }
    bytes
}
