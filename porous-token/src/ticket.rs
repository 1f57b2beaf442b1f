//! What a backend hands to a player's game.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use base64ct::{Base64, Encoding};
use porous_crypto::RustCrypto;
use porous_proto::seal::{Claims, Provider, Psk, PublicKey, Token, TokenKey, Unsupported};
use rand_core::CryptoRng;

/// The first byte of a ticket.
const VERSION: u8 = 1;

/// What is wrong with a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TicketError {
    /// More than [`Ticket::MAX_SERVERS`] addresses.
    TooManyServers,
    /// The text is not base64.
    NotBase64,
    /// A later version of this crate made it.
    Version,
    /// It was cut, or is something else.
    Malformed,
}

impl fmt::Display for TicketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooManyServers => "a ticket has at most 32 addresses: leave some out",
            Self::NotBase64 => "a ticket is base64: check that all of it was passed on",
            Self::Version => "a ticket of an unknown version: use a newer porous-token",
            Self::Malformed => "this is no ticket: check that all of it was passed on",
        })
    }
}

impl core::error::Error for TicketError {}

/// All that a player's game needs to connect to a server: the token, the secret that belongs to it, where
/// servers are, and by which key they are known.
///
/// It is a secret until it was used: hand it out over HTTPS, and do not log it. `Debug` shows no secret.
///
/// ```
/// # use porous_proto::hooks::doc::example_rng;
/// use porous_token::{Claims, Ticket, TokenKey};
///
/// # let mut rng = example_rng();
/// let key = TokenKey::generate(&mut rng);
/// let ticket = Ticket::mint(&key, &Claims::new(0x7069_6e67, 42, 0..30), &mut rng)?;
/// assert_eq!(ticket.token().expires(), 30);
/// # Ok::<(), porous_token::Unsupported>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ticket {
    token: Token,
    psk: Psk,
    server_key: Option<PublicKey>,
    servers: Vec<SocketAddr>,
}

impl Ticket {
    /// The most addresses of servers.
    pub const MAX_SERVERS: usize = 32;

    /// Makes a token, and a ticket of it, without addresses.
    ///
    /// # Errors
    ///
    /// If the suite of the claims is neither of the two that tokens have.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// use porous_token::{Claims, Ticket, TokenKey};
    ///
    /// # let mut rng = example_rng();
    /// let key = TokenKey::generate(&mut rng);
    /// let ticket = Ticket::mint(&key, &Claims::new(0x7069_6e67, 42, 0..30), &mut rng)?;
    /// # let _ = ticket;
    /// # Ok::<(), porous_token::Unsupported>(())
    /// ```
    pub fn mint<R: CryptoRng>(
        key: &TokenKey,
        claims: &Claims,
        rng: &mut R,
    ) -> Result<Self, Unsupported> {
        Self::mint_with(&RustCrypto, key, claims, rng)
    }

    /// Like [`mint`](Self::mint), with the cryptography of another provider.
    ///
    /// # Errors
    ///
    /// If the provider does not have the suite of the claims, or tokens do not.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// use porous_crypto::RustCrypto;
    /// use porous_token::{Claims, Ticket, TokenKey};
    ///
    /// # let mut rng = example_rng();
    /// let key = TokenKey::generate(&mut rng);
    /// let claims = Claims::new(0x7069_6e67, 42, 0..30);
    /// let ticket = Ticket::mint_with(&RustCrypto, &key, &claims, &mut rng)?;
    /// # let _ = ticket;
    /// # Ok::<(), porous_token::Unsupported>(())
    /// ```
    pub fn mint_with<R: CryptoRng>(
        provider: &'static dyn Provider,
        key: &TokenKey,
        claims: &Claims,
        rng: &mut R,
    ) -> Result<Self, Unsupported> {
        let (token, psk) = Token::mint(provider, key, claims, rng)?;
        Ok(Self {
            token,
            psk,
            server_key: None,
            servers: Vec::new(),
        })
    }

    /// Where the servers are that take the token, at most 32. An address of IPv6 loses its scope and its
    /// flow label, which mean something on one machine only.
    ///
    /// # Errors
    ///
    /// If there are more.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// use porous_token::{Claims, Ticket, TokenKey};
    ///
    /// # let mut rng = example_rng();
    /// let key = TokenKey::generate(&mut rng);
    /// let ticket = Ticket::mint(&key, &Claims::new(0x7069_6e67, 42, 0..30), &mut rng)?;
    /// let ticket = ticket.with_servers(&["192.0.2.1:7777".parse()?])?;
    /// assert_eq!(ticket.servers()[0].port(), 7777);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn with_servers(mut self, servers: &[SocketAddr]) -> Result<Self, TicketError> {
        if servers.len() > Self::MAX_SERVERS {
            return Err(TicketError::TooManyServers);
        }
        self.servers = servers
            .iter()
            .map(|server| SocketAddr::new(server.ip(), server.port()))
            .collect();
        Ok(self)
    }

    /// The public key by which the servers are known: without it, a game knows a server by the psk alone,
    /// which every server that has the token key knows.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// use porous_token::{Claims, PublicKey, Ticket, TokenKey};
    ///
    /// # let mut rng = example_rng();
    /// let key = TokenKey::generate(&mut rng);
    /// let server_key = PublicKey::from_bytes(&[9; 32]).expect("32 bytes");
    /// let ticket = Ticket::mint(&key, &Claims::new(0x7069_6e67, 42, 0..30), &mut rng)?;
    /// let ticket = ticket.with_server_key(server_key.clone());
    /// assert_eq!(ticket.server_key(), Some(&server_key));
    /// # Ok::<(), porous_token::Unsupported>(())
    /// ```
    #[must_use]
    pub fn with_server_key(mut self, key: PublicKey) -> Self {
        self.server_key = Some(key);
        self
    }

    /// The token, which goes to the server.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// # use porous_token::{Claims, Ticket, TokenKey};
    /// # let mut rng = example_rng();
    /// # let key = TokenKey::generate(&mut rng);
    /// let ticket = Ticket::mint(&key, &Claims::new(0x7069_6e67, 42, 0..30), &mut rng)?;
    /// assert_eq!(ticket.token().as_bytes().len(), 69);
    /// # Ok::<(), porous_token::Unsupported>(())
    /// ```
    #[must_use]
    pub const fn token(&self) -> &Token {
        &self.token
    }

    /// The secret that belongs to the token, which never goes anywhere.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// # use porous_token::{Claims, Ticket, TokenKey};
    /// # let mut rng = example_rng();
    /// # let key = TokenKey::generate(&mut rng);
    /// let ticket = Ticket::mint(&key, &Claims::new(0x7069_6e67, 42, 0..30), &mut rng)?;
    /// let (_, psk) = ticket.token().open(&porous_crypto::RustCrypto, &key, 0x7069_6e67)?;
    /// assert_eq!(psk.as_bytes(), ticket.psk().as_bytes());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn psk(&self) -> &Psk {
        &self.psk
    }

    /// Where the servers are; none if the game knows otherwise.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// # use porous_token::{Claims, Ticket, TokenKey};
    /// # let mut rng = example_rng();
    /// # let key = TokenKey::generate(&mut rng);
    /// let ticket = Ticket::mint(&key, &Claims::new(0x7069_6e67, 42, 0..30), &mut rng)?;
    /// assert!(ticket.servers().is_empty());
    /// # Ok::<(), porous_token::Unsupported>(())
    /// ```
    #[must_use]
    pub fn servers(&self) -> &[SocketAddr] {
        &self.servers
    }

    /// The public key by which the servers are known, if the backend tells.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// # use porous_token::{Claims, Ticket, TokenKey};
    /// # let mut rng = example_rng();
    /// # let key = TokenKey::generate(&mut rng);
    /// let ticket = Ticket::mint(&key, &Claims::new(0x7069_6e67, 42, 0..30), &mut rng)?;
    /// assert_eq!(ticket.server_key(), None);
    /// # Ok::<(), porous_token::Unsupported>(())
    /// ```
    #[must_use]
    pub const fn server_key(&self) -> Option<&PublicKey> {
        self.server_key.as_ref()
    }

    /// The Unix second in which the token expires.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// # use porous_token::{Claims, Ticket, TokenKey};
    /// # let mut rng = example_rng();
    /// # let key = TokenKey::generate(&mut rng);
    /// let ticket = Ticket::mint(&key, &Claims::new(0x7069_6e67, 42, 0..30), &mut rng)?;
    /// assert_eq!(ticket.expires(), 30);
    /// # Ok::<(), porous_token::Unsupported>(())
    /// ```
    #[must_use]
    pub fn expires(&self) -> u64 {
        self.token.expires()
    }

    /// The ticket in bytes, secret and all: 104 to 1080.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// # use porous_token::{Claims, Ticket, TokenKey};
    /// # let mut rng = example_rng();
    /// # let key = TokenKey::generate(&mut rng);
    /// let ticket = Ticket::mint(&key, &Claims::new(0x7069_6e67, 42, 0..30), &mut rng)?;
    /// assert_eq!(ticket.to_bytes().len(), 104);
    /// # Ok::<(), porous_token::Unsupported>(())
    /// ```
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        // All at once: memory that was outgrown would keep a copy of the secret.
        let mut bytes = Vec::with_capacity(MOST_BYTES);
        bytes.push(VERSION);
        bytes.extend(self.psk.as_bytes());
        let key = self.server_key().map_or(&[][..], PublicKey::as_bytes);
        push_length(&mut bytes, key.len());
        bytes.extend(key);
        push_length(&mut bytes, self.servers.len());
        for server in &self.servers {
            match server.ip() {
                IpAddr::V4(ip) => {
                    bytes.push(4);
                    bytes.extend(ip.octets());
                }
                IpAddr::V6(ip) => {
                    bytes.push(6);
                    bytes.extend(ip.octets());
                }
            }
            bytes.extend(server.port().to_le_bytes());
        }
        bytes.extend(self.token.as_bytes());
        bytes
    }

    /// The ticket that these bytes are.
    ///
    /// # Errors
    ///
    /// [`Version`](TicketError::Version) and [`Malformed`](TicketError::Malformed).
    ///
    /// ```
    /// use porous_token::{Ticket, TicketError};
    ///
    /// assert_eq!(Ticket::from_bytes(&[1, 2, 3]).err(), Some(TicketError::Malformed));
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TicketError> {
        if bytes.first().is_some_and(|version| *version != VERSION) {
            return Err(TicketError::Version);
        }
        read(bytes).ok_or(TicketError::Malformed)
    }

    /// The ticket as text: base64 with padding, RFC 4648 §4. Fit for JSON.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// # use porous_token::{Claims, Ticket, TokenKey};
    /// # let mut rng = example_rng();
    /// # let key = TokenKey::generate(&mut rng);
    /// let ticket = Ticket::mint(&key, &Claims::new(0x7069_6e67, 42, 0..30), &mut rng)?;
    /// assert_eq!(ticket.to_text().len(), 140);
    /// # Ok::<(), porous_token::Unsupported>(())
    /// ```
    #[must_use]
    pub fn to_text(&self) -> String {
        Base64::encode_string(&self.to_bytes())
    }

    /// The ticket that this text is; blanks around it do not count.
    ///
    /// # Errors
    ///
    /// [`NotBase64`](TicketError::NotBase64), and those of [`from_bytes`](Self::from_bytes).
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// # use porous_token::{Claims, Ticket, TokenKey};
    /// # let mut rng = example_rng();
    /// # let key = TokenKey::generate(&mut rng);
    /// let ticket = Ticket::mint(&key, &Claims::new(0x7069_6e67, 42, 0..30), &mut rng)?;
    /// let same = Ticket::from_text(&ticket.to_text())?;
    /// assert_eq!(same.to_bytes(), ticket.to_bytes());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn from_text(text: &str) -> Result<Self, TicketError> {
        let bytes = Base64::decode_vec(text.trim_ascii());
        Self::from_bytes(&bytes.map_err(|_| TicketError::NotBase64)?)
    }
}

/// The most bytes of a ticket.
const MOST_BYTES: usize =
    1 + 32 + 1 + PublicKey::MAX + 1 + Ticket::MAX_SERVERS * (1 + 16 + 2) + Token::MAX;

fn push_length(bytes: &mut Vec<u8>, length: usize) {
    // Both lengths are at most 65.
    bytes.push(u8::try_from(length).unwrap_or(u8::MAX));
}

/// `None` if these bytes are no ticket.
fn read(bytes: &[u8]) -> Option<Ticket> {
    let (_, bytes) = bytes.split_first()?;
    let (psk, bytes) = bytes.split_first_chunk::<32>()?;
    let (length, bytes) = bytes.split_first()?;
    let (key, bytes) = bytes.split_at_checked((*length).into())?;
    let server_key = match key {
        [] => None,
        key => Some(PublicKey::from_bytes(key)?),
    };
    let (count, mut bytes) = bytes.split_first()?;
    let count = usize::from(*count);
    if count > Ticket::MAX_SERVERS {
        return None;
    }
    let mut servers = Vec::with_capacity(count);
    for _ in 0..count {
        let (server, rest) = read_server(bytes)?;
        servers.push(server);
        bytes = rest;
    }
    Some(Ticket {
        token: Token::from_bytes(bytes)?,
        psk: Psk::from_bytes(*psk),
        server_key,
        servers,
    })
}

fn read_server(bytes: &[u8]) -> Option<(SocketAddr, &[u8])> {
    let (family, bytes) = bytes.split_first()?;
    let (ip, bytes): (IpAddr, _) = match family {
        4 => {
            let (ip, bytes) = bytes.split_first_chunk::<4>()?;
            (Ipv4Addr::from(*ip).into(), bytes)
        }
        6 => {
            let (ip, bytes) = bytes.split_first_chunk::<16>()?;
            (Ipv6Addr::from(*ip).into(), bytes)
        }
        _ => return None,
    };
    let (port, bytes) = bytes.split_first_chunk()?;
    Some((SocketAddr::new(ip, u16::from_le_bytes(*port)), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{format, vec};
    use porous_proto::hooks::doc::example_rng;

    fn key() -> TokenKey {
        TokenKey::from_bytes([0xAB; 32])
    }

    fn ticket() -> Ticket {
        let claims = Claims::new(9, 42, 0..30).key_number(7);
        Ticket::mint(&key(), &claims, &mut example_rng()).unwrap()
    }

    fn full() -> Ticket {
        let servers: Vec<SocketAddr> = (0..32)
            .map(|port| {
                let v4 = SocketAddr::from(([192, 0, 2, 1], port));
                let v6 = SocketAddr::from((Ipv6Addr::LOCALHOST, port));
                if port % 2 == 0 { v4 } else { v6 }
            })
            .collect();
        let ticket = ticket().with_servers(&servers).unwrap();
        ticket.with_server_key(PublicKey::from_bytes(&[9; 65]).unwrap())
    }

    #[test]
    fn a_ticket_is_carried_in_bytes_and_in_text() {
        for ticket in [ticket(), full()] {
            for same in [
                Ticket::from_bytes(&ticket.to_bytes()),
                Ticket::from_text(&ticket.to_text()),
                Ticket::from_text(&format!("  {}\n", ticket.to_text())),
            ] {
                let same = same.unwrap();
                assert_eq!(same.token(), ticket.token());
                assert_eq!(same.psk().as_bytes(), ticket.psk().as_bytes());
                assert_eq!(same.servers(), ticket.servers());
                assert_eq!(same.server_key(), ticket.server_key());
                assert_eq!((same.expires(), ticket.token().key_number()), (30, 7));
            }
        }
    }

    #[test]
    fn the_bytes_of_a_ticket_are_as_described() {
        let ticket = ticket().with_servers(&["192.0.2.1:7777".parse().unwrap()]);
        let ticket = ticket.unwrap();
        let key = PublicKey::from_bytes(&[9; 3]).unwrap();
        let bytes = ticket.clone().with_server_key(key).to_bytes();
        let (psk, token) = (ticket.psk().as_bytes(), ticket.token().as_bytes());
        let expected = [
            &[1],
            &psk[..],
            &[3, 9, 9, 9, 1, 4, 192, 0, 2, 1, 0x61, 0x1E],
            token,
        ];
        assert_eq!(bytes, expected.concat());
    }

    #[test]
    fn bytes_that_are_no_ticket_are_refused() {
        for ticket in [ticket(), full()] {
            let bytes = ticket.to_bytes();
            // A token that was cut may still be one, which only the server can tell.
            let token = bytes.len() - ticket.token().as_bytes().len();
            for length in 0..token + Token::MIN {
                let cut = Ticket::from_bytes(&bytes[..length]);
                assert_eq!(cut.err(), Some(TicketError::Malformed), "{length}");
            }
            let long = [&bytes[..], &[0; 373]].concat();
            assert_eq!(
                Ticket::from_bytes(&long).err(),
                Some(TicketError::Malformed)
            );
        }
        let with = |at: usize, value: u8| {
            let mut bytes = full().to_bytes();
            bytes[at] = value;
            Ticket::from_bytes(&bytes).err()
        };
        assert_eq!(with(0, 0), Some(TicketError::Version));
        assert_eq!(with(0, 2), Some(TicketError::Version));
        assert_eq!(with(33, 66), Some(TicketError::Malformed));
        assert_eq!(with(99, 33), Some(TicketError::Malformed));
        for family in [0, 5, 255] {
            assert_eq!(with(100, family), Some(TicketError::Malformed));
        }
        for text in ["?", "AQ", "AQ==="] {
            assert_eq!(
                Ticket::from_text(text).err(),
                Some(TicketError::NotBase64),
                "{text}"
            );
        }
    }

    #[test]
    fn there_are_at_most_32_servers() {
        let server: SocketAddr = "192.0.2.1:1".parse().unwrap();
        let many = ticket().with_servers(&vec![server; 33]);
        assert_eq!(many.err(), Some(TicketError::TooManyServers));
        assert_eq!(full().to_bytes().len(), 1 + 32 + 66 + 1 + 16 * 26 + 69);
        assert_eq!(MOST_BYTES, 1080);
        let of = |count: u8| {
            let servers = [4, 192, 0, 2, 1, 1, 0].repeat(count.into());
            let start = [&[1][..], &[7; 32], &[0, count], &servers].concat();
            Ticket::from_bytes(&[&start, ticket().token().as_bytes()].concat())
        };
        assert_eq!(of(32).unwrap().servers().len(), 32);
        assert_eq!(of(33).err(), Some(TicketError::Malformed));
    }

    #[test]
    fn what_means_something_on_one_machine_only_is_left_out() {
        let scoped = core::net::SocketAddrV6::new(Ipv6Addr::LOCALHOST, 7, 3, 2);
        let ticket = ticket().with_servers(&[scoped.into()]).unwrap();
        let plain = SocketAddr::from((Ipv6Addr::LOCALHOST, 7));
        assert_eq!(ticket.servers(), [plain]);
    }

    #[test]
    fn the_servers_key_opens_the_token_of_a_ticket() {
        let ticket = ticket();
        let (claims, psk) = ticket.token().open(&RustCrypto, &key(), 9).unwrap();
        assert_eq!(claims.client_id(), 42);
        assert_eq!(psk.as_bytes(), ticket.psk().as_bytes());
        assert!(ticket.token().open(&RustCrypto, &key(), 8).is_err());
    }

    #[test]
    fn no_secret_of_a_ticket_is_printed() {
        let shown = format!("{:?}", ticket());
        assert!(shown.contains("psk: Psk(..)"), "{shown}");
    }
}
