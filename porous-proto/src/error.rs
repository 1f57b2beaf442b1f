//! Misuse by the caller: one small enum for each command. Nothing that comes from the network is an
//! `Err`; it ends up in a [`Disposition`](crate::Disposition), a counter or a
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
    /// A peer at this address is connecting or connected already: use it, or
    /// [disconnect](crate::Host::disconnect) it first (`deviations.md` C15).
    AlreadyConnected,
    /// No unused connection id was found: there are too many peers for the
    /// [configured length](crate::Config::connection_id_len), or the application's
    /// [`ConnectionIds`](crate::ConnectionIds) leave too few bytes random.
    OutOfConnectionIds,
    /// No address was given.
    NoAddress,
    /// More than 8 different addresses were given.
    TooManyAddresses,
    /// The greeting has more than 255 bytes, or more than
    /// [`Config::request_size`](crate::Config::request_size) leaves room for.
    TooLong,
    /// The host cannot seal: it lacks [`Config::sealed`](crate::Config) or
    /// [`Host::set_security`](crate::Host), or its provider has none of the suites.
    NotSealed,
    /// The server's public key is none of the suites with which this host seals, or one with which an agreement
    /// has the same result whatever the server's secret is.
    ServerKey,
    /// Nothing can come of the address, or of any of several: why, of the first. Only drivers refuse so,
    /// as they know what their addresses mean; a [`Host`](crate::Host) does not.
    BadAddress(BadAddress),
}

describe!(ConnectError {
    Self::AlreadyConnected => "this address has a peer: disconnect it first, or use it",
    Self::OutOfConnectionIds => "no free connection id: configure longer connection ids",
    Self::NoAddress => "no address was given: give at least one to connect to",
    Self::TooManyAddresses => "at most 8 addresses of a host can be tried: leave some out",
    Self::TooLong => "the greeting is too long: give at most 255 bytes that fit Config::request_size",
    Self::NotSealed => "this host cannot seal: give it Config::sealed and Host::set_security, with a suite of the provider",
    Self::ServerKey => "this is no public key of a server: get the right one from its owner",
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
    /// The socket does not speak this family of addresses: the socket is bound to IPv4 and the address
    /// is one of IPv6, or the other way round.
    Family,
    /// The port is 0, which stands for a port that the system chooses.
    PortZero,
    /// The address is `[::]` or `0.0.0.0`, which stand for all addresses of a machine. A listener is
    /// bound to them, and its own `local_addr` gives them.
    Unspecified,
    /// The address is a broadcast or multicast address, which belongs to no single host.
    Broadcast,
    /// The address is the host's own.
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
                 machine connect to the loopback address, [::1] or 127.0.0.1, from another one to \
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
    /// The peer is not connected yet: wait for [`Event::Connected`](crate::Event::Connected).
    NotConnected,
    /// The peer is being disconnected: send before [`disconnect`](crate::Host::disconnect).
    Disconnecting,
    /// The connection has fewer channels: see [`Peer::channels`](crate::Peer::channels).
    UnknownChannel,
    /// The packet is larger than both hosts agreed on: see
    /// [`Peer::max_packet`](crate::Peer::max_packet) (`deviations.md` Q4).
    TooLarge,
    /// The [send budget](crate::Config::send_budget) of this peer has no room for a packet of this
    /// length and mode on this channel: wait for [`Event::Writable`](crate::Event::Writable).
    Full,
}

describe!(SendError {
    Self::UnknownPeer => "no such peer, or it has ended: a new connection has a new PeerId",
    Self::NotConnected => "the peer is not connected yet: wait for Event::Connected",
    Self::Disconnecting => "the peer is being disconnected: send before Host::disconnect",
    Self::UnknownChannel => "the connection has fewer channels: use one below Peer::channels",
    Self::TooLarge => "the packet is too large: send at most Peer::max_packet, or raise that of both hosts",
    Self::Full => "the peer's send buffer is full: wait for Event::Writable",
});

/// There is no such peer, or it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownPeer;

describe!(UnknownPeer { Self => "no such peer, or it has ended: a new connection has a new PeerId" });

/// Why [`Host::accept`](crate::Host::accept) or [`Host::refuse`](crate::Host::refuse) did nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerError {
    /// There is no such peer, or it has ended: the remote host gave up, or the answer came later than
    /// [`Config::connect_timeout`](crate::Config::connect_timeout).
    UnknownPeer,
    /// The peer does not wait for an answer: it got one before, or no
    /// [`Event::Request`](crate::Event::Request) asked for one.
    NotAsked,
    /// The refusal has more than 64 bytes of data.
    TooLong,
}

describe!(AnswerError {
    Self::UnknownPeer => "the peer has ended: answer within Config::connect_timeout of its Event::Request",
    Self::NotAsked => "the peer does not wait for an answer: answer each Event::Request once",
    Self::TooLong => "a refusal carries at most 64 bytes: give fewer",
});

/// A value that [`Config`](crate::Config) cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// The number of channels is not 1 to 255.
    Channels,
    /// The configuration has fewer channels: [`Config::channels`](crate::Config::channels) goes first.
    UnknownChannel,
    /// The size of datagrams is not 512 to 65,507 bytes.
    MaxDatagram,
    /// The size of connection requests is not 512 to 1200 bytes.
    RequestSize,
    /// A window is no power of two from 16 to 65,536.
    Window,
    /// The receive budget does not hold the largest packet and its overhead of 64 bytes.
    ReceiveBudget,
    /// The length of connection ids is not 0 to 20 bytes.
    ConnectionIdLen,
    /// A reply limit is not 1 to 1,000,000 a second.
    ReplyLimit,
    /// The suites are not 1 to 4, each named once.
    Suites,
    /// A value is zero. The name is that of the setter of [`Config`](crate::Config), and, if the setter
    /// has several values, which one.
    Zero(&'static str),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Channels => "a host has 1 to 255 channels: give as many priorities",
            Self::UnknownChannel => {
                "the configuration has fewer channels: give Config::channels first"
            }
            Self::MaxDatagram => "datagrams must have 512 to 65507 bytes",
            Self::RequestSize => "connection requests must have 512 to 1200 bytes",
            Self::Window => "windows must be powers of two from 16 to 65536",
            Self::ReceiveBudget => {
                "the receive budget must be at least 64 bytes more than the largest packet"
            }
            Self::ConnectionIdLen => "connection ids must have 0 to 20 bytes",
            Self::ReplyLimit => "reply limits must be 1 to 1000000 a second",
            Self::Suites => "a host seals with 1 to 4 suites: name each once",
            Self::Zero(value) => return write!(f, "{value} must not be zero"),
        })
    }
}

impl core::error::Error for ConfigError {}

/// Why [`Host::listen`](crate::Host::listen) refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListenError {
    /// The configuration is a [client's](crate::Config::client), or its
    /// [connection ids](crate::Config::connection_id_len) are empty.
    NotAllowed,
}

describe!(ListenError {
    Self::NotAllowed => "this host cannot listen: configure it by Config::new, with connection ids",
});

/// Why [`Host::set_connection_ids`](crate::Host::set_connection_ids) refused. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectionIdsError {
    /// The host's [connection ids](crate::Config::connection_id_len) are empty: there is nothing to make.
    NoBytes,
    /// The host's connection ids are too short for what they are to tell.
    TooShort,
    /// The bits of a shard are none, or more than 8.
    ShardBits,
    /// The shard does not fit its bits.
    Shard,
    /// The QUIC-LB configuration is above 6.
    Rotation,
    /// The QUIC-LB id of the server has no bytes, or more than 15.
    ServerId,
}

describe!(ConnectionIdsError {
    Self::NoBytes => "connection ids have no bytes here: give Config::connection_id_len at least 1",
    Self::TooShort => "connection ids are too short: give Config::connection_id_len at least 2 for shards, and 5 more than the server's id for QUIC-LB",
    Self::ShardBits => "a shard has 1 to 8 bits: give as many as tell all shards apart",
    Self::Shard => "the shard does not fit its bits: number the shards from 0 on, or give them more bits",
    Self::Rotation => "a configuration of QUIC-LB is 0 to 6: give the one of the balancer",
    Self::ServerId => "the id of a server has 1 to 15 bytes: give the one that the balancer knows",
});
