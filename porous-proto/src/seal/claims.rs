//! What a token says of its bearer.

use core::fmt;
use core::net::{IpAddr, Ipv6Addr};
use core::ops::Range;

use arrayvec::ArrayVec;

use super::provider::Suite;
use crate::wire::{NoRoom, Reader, Writer};

/// The most servers that a token names.
const MOST_AUDIENCES: usize = 4;

/// The most bytes of user data.
const MOST_USER_DATA: usize = 255;

/// The most bytes of what is sealed in a token.
pub(super) const MOST_BYTES: usize = 8 + 8 + 1 + 1 + 8 * MOST_AUDIENCES + 16 + 1 + MOST_USER_DATA;

/// The least.
pub(super) const LEAST_BYTES: usize = 8 + 8 + 1 + 1 + 1;

const SINGLE_USE: u8 = 1 << 0;
const BOUND_TO_IP: u8 = 1 << 1;

/// Why a backend cannot make a token that says this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClaimsError {
    /// A token names 4 servers at most. Name none, and every server that has the key takes the token.
    TooManyAudiences,
    /// User data has 255 bytes at most.
    UserDataTooLong,
}

impl fmt::Display for ClaimsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooManyAudiences => "a token names at most 4 servers: name none to mean all",
            Self::UserDataTooLong => {
                "user data has at most 255 bytes: keep the rest at the backend"
            }
        })
    }
}

impl core::error::Error for ClaimsError {}

/// What a backend says of a client in a [`Token`](super::Token), and a game server believes: who the client
/// is, and where and until when the token counts.
///
/// ```
/// use porous_proto::seal::Claims;
///
/// let now = 1_800_000_000; // Unix seconds, from the backend's clock
/// let claims = Claims::new(0x7069_6e67, 42, now..now + 30)
///     .single_use()
///     .audience(0x51)?
///     .user_data(b"ana")?;
/// assert_eq!(claims.client_id(), 42);
/// # Ok::<(), porous_proto::seal::ClaimsError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Claims {
    pub(super) suite: Suite,
    pub(super) key_number: u8,
    pub(super) application: u64,
    client: u64,
    created: u64,
    pub(super) expires: u64,
    single_use: bool,
    audiences: ArrayVec<u64, MOST_AUDIENCES>,
    ip: Option<[u8; 16]>,
    user_data: ArrayVec<u8, MOST_USER_DATA>,
}

impl Claims {
    /// A token for the client with this id, to be used with the application of this
    /// [id](crate::Config::application_id) from the first of these Unix seconds to the last, exclusive. It
    /// counts more than once, from every address, and on every server that has the key.
    ///
    /// A short time is best: the token has only to outlast the way of the client from the backend to the
    /// server. Servers allow for 30 s by which clocks differ, and take no token that expires in more than an
    /// hour unless they are told to.
    ///
    /// ```
    /// use porous_proto::seal::Claims;
    ///
    /// let claims = Claims::new(0x7069_6e67, 42, 1_800_000_000..1_800_000_030);
    /// assert_eq!(claims.validity(), 1_800_000_000..1_800_000_030);
    /// ```
    #[must_use]
    pub const fn new(application_id: u64, client_id: u64, validity: Range<u64>) -> Self {
        Self {
            suite: Suite::CHACHA_POLY,
            key_number: 0,
            application: application_id,
            client: client_id,
            created: validity.start,
            expires: validity.end,
            single_use: false,
            audiences: ArrayVec::new_const(),
            ip: None,
            user_data: ArrayVec::new_const(),
        }
    }

    /// Which of the servers' keys the token is made with; they may have several, so that keys can be
    /// replaced. 0 if this is not called.
    ///
    /// ```
    /// use porous_proto::seal::Claims;
    ///
    /// let claims = Claims::new(1, 42, 0..30).key_number(7);
    /// # let _ = claims;
    /// ```
    #[must_use]
    pub const fn key_number(mut self, number: u8) -> Self {
        self.key_number = number;
        self
    }

    /// The suite that seals the token: [`CHACHA_POLY`](Suite::CHACHA_POLY), which is the default, or
    /// [`AES_GCM`](Suite::AES_GCM). It need not be that of the connection.
    ///
    /// ```
    /// use porous_proto::seal::{Claims, Suite};
    ///
    /// let claims = Claims::new(1, 42, 0..30).suite(Suite::AES_GCM);
    /// # let _ = claims;
    /// ```
    #[must_use]
    pub const fn suite(mut self, suite: Suite) -> Self {
        self.suite = suite;
        self
    }

    /// A server takes the token once. Two servers may each take it once, so name an
    /// [`audience`](Self::audience) as well; and a server that is restarted has forgotten what it took.
    ///
    /// ```
    /// use porous_proto::seal::Claims;
    ///
    /// assert!(Claims::new(1, 42, 0..30).single_use().is_single_use());
    /// ```
    #[must_use]
    pub const fn single_use(mut self) -> Self {
        self.single_use = true;
        self
    }

    /// One more server that takes the token, by an id that the backend gave it. Without any, every server
    /// that has the key takes it.
    ///
    /// # Errors
    ///
    /// If there are 4 already.
    ///
    /// ```
    /// use porous_proto::seal::Claims;
    ///
    /// let claims = Claims::new(1, 42, 0..30).audience(0x51)?;
    /// assert_eq!(claims.audiences(), [0x51]);
    /// # Ok::<(), porous_proto::seal::ClaimsError>(())
    /// ```
    pub fn audience(mut self, server_id: u64) -> Result<Self, ClaimsError> {
        let added = self.audiences.try_push(server_id);
        added.map_err(|_| ClaimsError::TooManyAudiences)?;
        Ok(self)
    }

    /// The token counts only from this address, from any port. The backend has to see the client at the
    /// address at which the server will, which two families of addresses, or a proxy, prevent.
    ///
    /// ```
    /// use core::net::Ipv4Addr;
    /// use porous_proto::seal::Claims;
    ///
    /// let claims = Claims::new(1, 42, 0..30).ip(Ipv4Addr::LOCALHOST.into());
    /// # let _ = claims;
    /// ```
    #[must_use]
    pub const fn ip(mut self, ip: IpAddr) -> Self {
        self.ip = Some(match ip {
            IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
            IpAddr::V6(ip) => ip.octets(),
        });
        self
    }

    /// Up to 255 bytes for the server's application, which the client cannot read.
    ///
    /// # Errors
    ///
    /// If there are more.
    ///
    /// ```
    /// use porous_proto::seal::Claims;
    ///
    /// let claims = Claims::new(1, 42, 0..30).user_data(b"ana")?;
    /// assert_eq!(claims.data(), b"ana");
    /// # Ok::<(), porous_proto::seal::ClaimsError>(())
    /// ```
    pub fn user_data(mut self, data: &[u8]) -> Result<Self, ClaimsError> {
        self.user_data = ArrayVec::try_from(data).map_err(|_| ClaimsError::UserDataTooLong)?;
        Ok(self)
    }

    /// Whose token this is.
    ///
    /// ```
    /// assert_eq!(porous_proto::seal::Claims::new(1, 42, 0..30).client_id(), 42);
    /// ```
    #[must_use]
    pub const fn client_id(&self) -> u64 {
        self.client
    }

    /// The Unix second in which it was made, and that in which it expires. Only the latter is checked: the
    /// former is for the application.
    ///
    /// ```
    /// assert_eq!(porous_proto::seal::Claims::new(1, 42, 0..30).validity(), 0..30);
    /// ```
    #[must_use]
    pub const fn validity(&self) -> Range<u64> {
        self.created..self.expires
    }

    /// Whether a server takes it once.
    ///
    /// ```
    /// assert!(!porous_proto::seal::Claims::new(1, 42, 0..30).is_single_use());
    /// ```
    #[must_use]
    pub const fn is_single_use(&self) -> bool {
        self.single_use
    }

    /// The servers that take it; all that have the key, if there are none.
    ///
    /// ```
    /// assert!(porous_proto::seal::Claims::new(1, 42, 0..30).audiences().is_empty());
    /// ```
    #[must_use]
    pub fn audiences(&self) -> &[u64] {
        &self.audiences
    }

    /// The address that it is bound to, if it is to one.
    ///
    /// ```
    /// use core::net::{IpAddr, Ipv4Addr};
    /// use porous_proto::seal::Claims;
    ///
    /// let ip = IpAddr::V4(Ipv4Addr::LOCALHOST);
    /// assert_eq!(Claims::new(1, 42, 0..30).ip(ip).bound_ip(), Some(ip));
    /// ```
    #[must_use]
    pub fn bound_ip(&self) -> Option<IpAddr> {
        self.ip.map(|ip| Ipv6Addr::from(ip).to_canonical())
    }

    /// What the backend adds for the server's application.
    ///
    /// ```
    /// assert_eq!(porous_proto::seal::Claims::new(1, 42, 0..30).data(), b"");
    /// ```
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.user_data
    }

    /// Whether the token counts from this address, of IPv6 or mapped to it. `None` is an address of another
    /// kind, from which no bound token counts.
    pub(super) fn counts_from(&self, ip: Option<[u8; 16]>) -> bool {
        self.ip.is_none() || self.ip == ip
    }

    /// Whether the token counts on this server, which may have no id.
    pub(super) fn counts_on(&self, server: Option<u64>) -> bool {
        let names = |server| self.audiences.contains(&server);
        self.audiences.is_empty() || server.is_some_and(names)
    }

    /// Writes what is sealed in a token.
    pub(super) fn encode(&self, writer: &mut Writer<'_>) -> Result<(), NoRoom> {
        let mut flags = 0;
        if self.single_use {
            flags |= SINGLE_USE;
        }
        if self.ip.is_some() {
            flags |= BOUND_TO_IP;
        }
        writer.u64(self.client)?;
        writer.u64(self.created)?;
        writer.u8(flags)?;
        write_length(writer, self.audiences.len())?;
        for audience in &self.audiences {
            writer.u64(*audience)?;
        }
        writer.bytes(self.ip.as_ref().map_or(&[][..], |ip| ip))?;
        write_length(writer, self.user_data.len())?;
        writer.bytes(&self.user_data)
    }

    /// Reads all of what was sealed in a token, of which `self` has what stands outside. `None` if no
    /// backend writes so.
    pub(super) fn decode(mut self, bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        self.client = reader.u64().ok()?;
        self.created = reader.u64().ok()?;
        let flags = reader.u8().ok()?;
        if flags & !(SINGLE_USE | BOUND_TO_IP) != 0 {
            return None;
        }
        self.single_use = flags & SINGLE_USE != 0;
        for _ in 0..reader.u8().ok()? {
            self.audiences.try_push(reader.u64().ok()?).ok()?;
        }
        if flags & BOUND_TO_IP != 0 {
            self.ip = Some(*reader.bytes(16).ok()?.first_chunk()?);
        }
        let length = reader.u8().ok()?;
        let data = reader.bytes(length.into()).ok()?;
        self.user_data = ArrayVec::try_from(data).ok()?;
        (reader.remaining() == 0).then_some(self)
    }
}

/// Writes a length that a byte has room for.
fn write_length(writer: &mut Writer<'_>, length: usize) -> Result<(), NoRoom> {
    writer.u8(u8::try_from(length).map_err(|_| NoRoom)?)
}

impl fmt::Debug for Claims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claims")
            .field("suite", &self.suite.number())
            .field("key_number", &self.key_number)
            .field("application_id", &self.application)
            .field("client_id", &self.client)
            .field("validity", &self.validity())
            .field("single_use", &self.single_use)
            .field("audiences", &self.audiences)
            .field("ip", &self.bound_ip())
            .field("user_data", &self.user_data.len())
            .finish()
    }
}
