//! Misuse by the caller: one small enum per command. Nothing that comes from the network is an
//! `Err`; that is [`Disposition`](crate::Disposition), a counter or a
//! [`DisconnectReason`](crate::DisconnectReason).

use core::fmt;

macro_rules! describe {
    ($type:ty { $($variant:pat => $text:expr),+ $(,)? }) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($variant => $text),+ })
            }
        }
        impl core::error::Error for $type {}
    };
}

/// Why [`Host::connect`](crate::Host::connect), [`Host::connect_any`](crate::Host::connect_any) or
/// [`Host::connect_with`](crate::Host::connect_with) refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectError {
    /// There is a peer at this address already that is connecting or connected (`deviations.md`
    /// C15).
    AlreadyConnected,
    /// No unused connection id was found: too many peers for the configured length.
    OutOfConnectionIds,
    /// There was no address to connect to.
    NoAddress,
    /// More than 8 different addresses.
    TooManyAddresses,
    /// A greeting of more than 255 bytes, or of more than
    /// [`Config::request_size`](crate::Config::request_size) leaves room for.
    TooLong,
    /// Nothing can come of this address, or of any of them: of the first it says why. Drivers that
    /// know what their addresses are say so; a [`Host`](crate::Host) does not know.
    BadAddress(BadAddress),
}

describe!(ConnectError {
    Self::AlreadyConnected => "this address has a peer: disconnect it first, or use it",
    Self::OutOfConnectionIds => "no free connection id: configure longer connection ids",
    Self::NoAddress => "there is no address to connect to",
    Self::TooManyAddresses => "at most 8 addresses of a host can be tried: leave some out",
    Self::TooLong => "the greeting is too long: at most 255 bytes, and what Config::request_size leaves",
    Self::BadAddress(why) => why.text(),
});

/// Why nothing can come of connecting to an address.
///
/// ```
/// use porous_proto::{BadAddress, ConnectError};
///
/// let error = ConnectError::BadAddress(BadAddress::PortZero);
/// assert_eq!(
///     error.to_string(),
///     "nobody can be at port 0: give the port that the other host is bound to"
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BadAddress {
    /// The socket does not speak this family of addresses: it is one of IPv4 and the address of
    /// IPv6, or the other way round.
    Family,
    /// Port 0.
    PortZero,
    /// `[::]` or `0.0.0.0`, which stand for all addresses of a machine: where a listener is bound,
    /// and what its own `local_addr` says.
    Unspecified,
    /// A broadcast or multicast address, which belongs to no single host.
    Broadcast,
    /// The host's own address.
    Itself,
}

impl BadAddress {
    const fn text(self) -> &'static str {
        match self {
            Self::Family => {
                "the socket does not speak this family of addresses: bind it to all addresses of \
                 the machine ([::]:0), or connect to an address of the other family"
            }
            Self::PortZero => {
                "nobody can be at port 0: give the port that the other host is bound to"
            }
            Self::Unspecified => {
                "[::] and 0.0.0.0 are where a listener is bound, not where it is: on the same \
                 machine connect to the loopback address, [::1] or 127.0.0.1, from elsewhere to \
                 an address of its machine"
            }
            Self::Broadcast => {
                "a broadcast or multicast address belongs to no single host: connect to the \
                 address of one"
            }
            Self::Itself => {
                "this is the address of this very host: connect to another, or bind this one to \
                 another port"
            }
        }
    }
}

impl fmt::Display for BadAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// Why [`Host::send`](crate::Host::send) refused. The packet was not queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError {
    /// There is no such peer, or it has ended.
    UnknownPeer,
    /// The peer is not connected yet: wait for `Event::Connected`.
    NotConnected,
    /// The peer is being disconnected.
    Disconnecting,
    /// The connection has fewer channels.
    UnknownChannel,
    /// The packet is larger than the agreed maximum (`deviations.md` Q4).
    TooLarge,
    /// The send buffer of this peer has no [room](crate::Config::send_budget) for such packets on
    /// this channel: wait for `Event::Writable`.
    Full,
}

describe!(SendError {
    Self::UnknownPeer => "no such peer: it was never there or has ended",
    Self::NotConnected => "the peer is not connected yet: wait for Event::Connected",
    Self::Disconnecting => "the peer is being disconnected: nothing more can be sent to it",
    Self::UnknownChannel => "the connection has fewer channels: see Peer::channels",
    Self::TooLarge => "the packet is larger than both hosts agreed on: see Peer::max_packet",
    Self::Full => "the peer's send buffer is full: wait for Event::Writable",
});

/// There is no such peer, or it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownPeer;

describe!(UnknownPeer { Self => "no such peer: it was never there or has ended" });

/// Why [`Host::accept`](crate::Host::accept) or [`Host::refuse`](crate::Host::refuse) did nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerError {
    /// There is no such peer, or it has ended: whoever asked gave up, or waited for too long.
    UnknownPeer,
    /// The peer does not wait for an answer: it was answered before, or never asked.
    NotAsked,
    /// More data than fits into a refusal.
    TooLong,
}

describe!(AnswerError {
    Self::UnknownPeer => "no such peer: whoever asked has given up or waited for too long",
    Self::NotAsked => "the peer does not wait for an answer: only an Event::Request asks for one",
    Self::TooLong => "a refusal carries at most 64 bytes: say less",
});

/// A value that [`Config`](crate::Config) cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// A host has 1 to 255 channels.
    Channels,
    /// The configuration has fewer channels.
    UnknownChannel,
    /// Datagrams are 512 to 65,507 bytes.
    MaxDatagram,
    /// Connection requests are 512 to 1200 bytes.
    RequestSize,
    /// Windows are powers of two from 16 to 65,536.
    Window,
    /// The receive budget must hold the largest packet and its overhead of 64 bytes.
    ReceiveBudget,
    /// Connection ids are 0 to 20 bytes.
    ConnectionIdLen,
    /// Reply limits are 1 to 1,000,000 a second.
    ReplyLimit,
    /// The value with this name must not be zero: that of a setter of
    /// [`Config`](crate::Config), and, if that has several, which one.
    Zero(&'static str),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Channels => "a host has 1 to 255 channels",
            Self::UnknownChannel => {
                "the configuration has fewer channels: give Config::channels first"
            }
            Self::MaxDatagram => "datagrams are 512 to 65507 bytes",
            Self::RequestSize => "connection requests are 512 to 1200 bytes",
            Self::Window => "windows are powers of two from 16 to 65536",
            Self::ReceiveBudget => {
                "the receive budget must hold the largest packet and 64 bytes more"
            }
            Self::ConnectionIdLen => "connection ids are 0 to 20 bytes",
            Self::ReplyLimit => "reply limits are 1 to 1000000 a second",
            Self::Zero(value) => return write!(f, "{value} must not be zero"),
        })
    }
}

impl core::error::Error for ConfigError {}

/// Why [`Host::listen`](crate::Host::listen) refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListenError {
    /// The configuration is a client's, or its connection ids are empty.
    NotAllowed,
}

describe!(ListenError {
    Self::NotAllowed => "this host cannot listen: it was made with Config::client() or without connection ids",
});

/// Why [`Host::set_connection_ids`](crate::Host::set_connection_ids) refused. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectionIdsError {
    /// The host's connection ids are empty: there is nothing to make.
    NoBytes,
}

describe!(ConnectionIdsError {
    Self::NoBytes => "connection ids have no bytes here: configure their length",
});
