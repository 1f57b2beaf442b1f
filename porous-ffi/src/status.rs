//! What a call answers: numbers that stay the same in all versions, and what they mean.

use core::ffi::{CStr, c_char};

use porous_proto::{
    AnswerError, BadAddress, ConfigError, ConnectError, ConnectionIdsError, ListenError, SendError,
    UnknownPeer,
};

/// The answer of a call: 0 if it is done or nothing is there, a positive number if one is there, or a count;
/// a negative POROUS_ERR_ number if nothing was done. The numbers keep their meaning in all versions.
pub type porous_status = i32;

/// The number of this interface, for porous_check_abi. It changes when a program has to be compiled anew.
pub const POROUS_ABI: u32 = 1;

/// Done; or nothing is there.
pub const POROUS_OK: i32 = 0;
/// A pointer is NULL that must not be.
pub const POROUS_ERR_NULL: i32 = -1;
/// The host is in a call: of another thread, or of this one, which has called back. Nothing was done.
pub const POROUS_ERR_BUSY: i32 = -2;
/// A bug of porous was caught. The host answers nothing else from now on: free it, and report what
/// porous_on_panic told.
pub const POROUS_ERR_PANIC: i32 = -3;
/// A struct is smaller than any version of it, or larger than the library knows and not 0 there; or the header
/// is of another version.
pub const POROUS_ERR_VERSION: i32 = -4;
/// A number that means nothing where it stands, a length that no memory has, or a reserved byte that is not 0.
pub const POROUS_ERR_VALUE: i32 = -5;
/// A porous_udp_ function for a host without a socket, or a porous_core_ function for one with a socket.
pub const POROUS_ERR_KIND: i32 = -6;
/// The buffer is too small. What was to be put there is kept.
pub const POROUS_ERR_SMALL: i32 = -7;
/// A text is not UTF-8.
pub const POROUS_ERR_UTF8: i32 = -8;
/// A text is no address, or a name has none; or an address is of a kind that has no place here.
pub const POROUS_ERR_ADDRESS: i32 = -9;
/// The system refused: porous_io_error_text tells more. Of porous_udp_step, porous_udp_transmit and
/// porous_udp_wait: the socket is of no more use, so make a new host.
pub const POROUS_ERR_IO: i32 = -10;
/// This build of the library cannot do it.
pub const POROUS_ERR_UNSUPPORTED: i32 = -11;
/// The library has an error that this version of the interface has no number for.
pub const POROUS_ERR_OTHER: i32 = -12;

/// As POROUS_ERR_IO: another program has the port.
pub const POROUS_ERR_IN_USE: i32 = -13;
/// As POROUS_ERR_IO: the machine does not have the address.
pub const POROUS_ERR_NOT_AVAILABLE: i32 = -14;
/// As POROUS_ERR_IO: the system does not allow it.
pub const POROUS_ERR_NOT_PERMITTED: i32 = -15;

/// There is no such peer, or it has ended. A new connection has a new peer.
pub const POROUS_ERR_UNKNOWN_PEER: i32 = -20;
/// The peer is not connected yet: wait for POROUS_EVENT_CONNECTED.
pub const POROUS_ERR_NOT_CONNECTED: i32 = -21;
/// The peer is being disconnected: send before porous_disconnect.
pub const POROUS_ERR_DISCONNECTING: i32 = -22;
/// The connection has fewer channels.
pub const POROUS_ERR_UNKNOWN_CHANNEL: i32 = -23;
/// The packet is larger than both hosts agreed on: see max_packet of porous_peer_stats.
pub const POROUS_ERR_TOO_LARGE: i32 = -24;
/// The send budget of the peer has no room for the packet: wait for POROUS_EVENT_WRITABLE.
pub const POROUS_ERR_FULL: i32 = -25;

/// There is a peer at this address: use it, or disconnect it first.
pub const POROUS_ERR_ALREADY_CONNECTED: i32 = -30;
/// No free connection id was found: configure longer ones.
pub const POROUS_ERR_OUT_OF_CONNECTION_IDS: i32 = -31;
/// No address was given to connect to.
pub const POROUS_ERR_NO_ADDRESS: i32 = -32;
/// More than 8 different addresses were given.
pub const POROUS_ERR_TOO_MANY_ADDRESSES: i32 = -33;
/// The peer does not wait for an answer: answer each POROUS_EVENT_REQUEST once.
pub const POROUS_ERR_NOT_ASKED: i32 = -34;
/// A greeting has more than 255 bytes or does not fit request_size, a refusal more than 64, a suffix more than 32.
pub const POROUS_ERR_TOO_LONG: i32 = -35;
/// The host is configured as a client, or without connection ids: it cannot listen.
pub const POROUS_ERR_CANNOT_LISTEN: i32 = -36;
/// The host cannot seal: its configuration names no suite.
pub const POROUS_ERR_NOT_SEALED: i32 = -37;
/// This is no public key of a server.
pub const POROUS_ERR_SERVER_KEY: i32 = -38;

/// The socket does not speak this family of addresses.
pub const POROUS_ERR_ADDRESS_FAMILY: i32 = -40;
/// Nobody can be at port 0.
pub const POROUS_ERR_ADDRESS_PORT_ZERO: i32 = -41;
/// [::] and 0.0.0.0 are where a listener is bound, not where it is.
pub const POROUS_ERR_ADDRESS_UNSPECIFIED: i32 = -42;
/// A broadcast or multicast address belongs to no single host.
pub const POROUS_ERR_ADDRESS_BROADCAST: i32 = -43;
/// The address is the host's own.
pub const POROUS_ERR_ADDRESS_ITSELF: i32 = -44;

/// A configuration has more than 255 channels.
pub const POROUS_ERR_CONFIG_CHANNELS: i32 = -50;
/// A configuration has a setting for a channel that it does not have.
pub const POROUS_ERR_CONFIG_UNKNOWN_CHANNEL: i32 = -51;
/// A size of datagrams is not 512 to 65,507 bytes.
pub const POROUS_ERR_CONFIG_MAX_DATAGRAM: i32 = -52;
/// request_size is not 512 to 1200 bytes.
pub const POROUS_ERR_CONFIG_REQUEST_SIZE: i32 = -53;
/// A window is no power of two from 16 to 65,536.
pub const POROUS_ERR_CONFIG_WINDOW: i32 = -54;
/// receive_budget is not at least 64 bytes more than max_packet.
pub const POROUS_ERR_CONFIG_RECEIVE_BUDGET: i32 = -55;
/// A connection id has more than 20 bytes.
pub const POROUS_ERR_CONFIG_CONNECTION_ID_LEN: i32 = -56;
/// A limit of replies is more than 1,000,000 a second.
pub const POROUS_ERR_CONFIG_REPLY_LIMIT: i32 = -57;
/// A suite is named twice.
pub const POROUS_ERR_CONFIG_SUITES: i32 = -58;
/// A value is zero that must not be.
pub const POROUS_ERR_CONFIG_ZERO: i32 = -59;

/// The connection ids of this host have no bytes: there is nothing to make.
pub const POROUS_ERR_IDS_NO_BYTES: i32 = -60;
/// The connection ids of this host are too short for what they are to tell.
pub const POROUS_ERR_IDS_TOO_SHORT: i32 = -61;
/// The bits of a shard are none, or more than 8.
pub const POROUS_ERR_IDS_SHARD_BITS: i32 = -62;
/// A shard does not fit its bits.
pub const POROUS_ERR_IDS_SHARD: i32 = -63;
/// The number of a QUIC-LB configuration is above 6.
pub const POROUS_ERR_IDS_ROTATION: i32 = -64;
/// The QUIC-LB id of a server has no bytes, or more than 15.
pub const POROUS_ERR_IDS_SERVER_ID: i32 = -65;

/// A host has 2 key pairs, 4 psks and 4 token keys at most.
pub const POROUS_ERR_SECURITY_TOO_MANY: i32 = -70;
/// A suite has no such secret key: generate another one.
pub const POROUS_ERR_SECURITY_WEAK: i32 = -71;
/// A token names 4 servers at most.
pub const POROUS_ERR_CLAIMS_AUDIENCES: i32 = -72;
/// The user data of a token have more than 255 bytes.
pub const POROUS_ERR_CLAIMS_USER_DATA: i32 = -73;
/// A ticket has more than 32 addresses.
pub const POROUS_ERR_TICKET_SERVERS: i32 = -74;
/// The text of a ticket is not base64.
pub const POROUS_ERR_TICKET_BASE64: i32 = -75;
/// A ticket was made by a later version.
pub const POROUS_ERR_TICKET_VERSION: i32 = -76;
/// This is no ticket, or no token.
pub const POROUS_ERR_TICKET_MALFORMED: i32 = -77;

/// The queue to the network thread is full: poll, and try again in the next turn.
pub const POROUS_ERR_THREAD_FULL: i32 = -80;
/// The network thread has ended, or was closed: make a new one.
pub const POROUS_ERR_THREAD_ENDED: i32 = -81;

/// The failure that a condition stands for.
pub(crate) const fn check(holds: bool, or: porous_status) -> Result<(), porous_status> {
    if holds { Ok(()) } else { Err(or) }
}

/// A count as an answer; numbers that the answer cannot hold are the largest that it can.
pub(crate) fn count(number: usize) -> porous_status {
    porous_status::try_from(number).unwrap_or(porous_status::MAX)
}

/// The number of an error. Enums of the core may grow; the lint `wildcard_enum_match_arm` complains of a variant
/// that has no arm here.
pub(crate) trait Numbered {
    fn status(self) -> porous_status;
}

/// An error of the core, as the number that a call answers.
pub(crate) fn number<T, E: Numbered>(result: Result<T, E>) -> Result<T, porous_status> {
    result.map_err(Numbered::status)
}

impl Numbered for UnknownPeer {
    fn status(self) -> porous_status {
        POROUS_ERR_UNKNOWN_PEER
    }
}

impl Numbered for SendError {
    fn status(self) -> porous_status {
        match self {
            Self::UnknownPeer => POROUS_ERR_UNKNOWN_PEER,
            Self::NotConnected => POROUS_ERR_NOT_CONNECTED,
            Self::Disconnecting => POROUS_ERR_DISCONNECTING,
            Self::UnknownChannel => POROUS_ERR_UNKNOWN_CHANNEL,
            Self::TooLarge => POROUS_ERR_TOO_LARGE,
            Self::Full => POROUS_ERR_FULL,
            _ => POROUS_ERR_OTHER,
        }
    }
}

impl Numbered for ListenError {
    fn status(self) -> porous_status {
        match self {
            Self::NotAllowed => POROUS_ERR_CANNOT_LISTEN,
            _ => POROUS_ERR_OTHER,
        }
    }
}

impl Numbered for AnswerError {
    fn status(self) -> porous_status {
        match self {
            Self::UnknownPeer => POROUS_ERR_UNKNOWN_PEER,
            Self::NotAsked => POROUS_ERR_NOT_ASKED,
            Self::TooLong => POROUS_ERR_TOO_LONG,
            _ => POROUS_ERR_OTHER,
        }
    }
}

impl Numbered for ConnectError {
    fn status(self) -> porous_status {
        match self {
            Self::AlreadyConnected => POROUS_ERR_ALREADY_CONNECTED,
            Self::OutOfConnectionIds => POROUS_ERR_OUT_OF_CONNECTION_IDS,
            Self::NoAddress => POROUS_ERR_NO_ADDRESS,
            Self::TooManyAddresses => POROUS_ERR_TOO_MANY_ADDRESSES,
            Self::TooLong => POROUS_ERR_TOO_LONG,
            Self::NotSealed => POROUS_ERR_NOT_SEALED,
            Self::ServerKey => POROUS_ERR_SERVER_KEY,
            Self::BadAddress(why) => why.status(),
            _ => POROUS_ERR_OTHER,
        }
    }
}

impl Numbered for BadAddress {
    fn status(self) -> porous_status {
        match self {
            Self::Family => POROUS_ERR_ADDRESS_FAMILY,
            Self::PortZero => POROUS_ERR_ADDRESS_PORT_ZERO,
            Self::Unspecified => POROUS_ERR_ADDRESS_UNSPECIFIED,
            Self::Broadcast => POROUS_ERR_ADDRESS_BROADCAST,
            Self::Itself => POROUS_ERR_ADDRESS_ITSELF,
            _ => POROUS_ERR_OTHER,
        }
    }
}

impl Numbered for ConfigError {
    fn status(self) -> porous_status {
        match self {
            Self::Channels => POROUS_ERR_CONFIG_CHANNELS,
            Self::UnknownChannel => POROUS_ERR_CONFIG_UNKNOWN_CHANNEL,
            Self::MaxDatagram => POROUS_ERR_CONFIG_MAX_DATAGRAM,
            Self::RequestSize => POROUS_ERR_CONFIG_REQUEST_SIZE,
            Self::Window => POROUS_ERR_CONFIG_WINDOW,
            Self::ReceiveBudget => POROUS_ERR_CONFIG_RECEIVE_BUDGET,
            Self::ConnectionIdLen => POROUS_ERR_CONFIG_CONNECTION_ID_LEN,
            Self::ReplyLimit => POROUS_ERR_CONFIG_REPLY_LIMIT,
            Self::Suites => POROUS_ERR_CONFIG_SUITES,
            Self::Zero(_) => POROUS_ERR_CONFIG_ZERO,
            _ => POROUS_ERR_OTHER,
        }
    }
}

impl Numbered for ConnectionIdsError {
    fn status(self) -> porous_status {
        match self {
            Self::NoBytes => POROUS_ERR_IDS_NO_BYTES,
            Self::TooShort => POROUS_ERR_IDS_TOO_SHORT,
            Self::ShardBits => POROUS_ERR_IDS_SHARD_BITS,
            Self::Shard => POROUS_ERR_IDS_SHARD,
            Self::Rotation => POROUS_ERR_IDS_ROTATION,
            Self::ServerId => POROUS_ERR_IDS_SERVER_ID,
            _ => POROUS_ERR_OTHER,
        }
    }
}

#[cfg(feature = "seal")]
impl Numbered for porous_proto::seal::SecurityError {
    fn status(self) -> porous_status {
        match self {
            Self::TooMany => POROUS_ERR_SECURITY_TOO_MANY,
            Self::Weak => POROUS_ERR_SECURITY_WEAK,
            _ => POROUS_ERR_OTHER,
        }
    }
}

#[cfg(feature = "seal")]
impl Numbered for porous_proto::seal::ClaimsError {
    fn status(self) -> porous_status {
        match self {
            Self::TooManyAudiences => POROUS_ERR_CLAIMS_AUDIENCES,
            Self::UserDataTooLong => POROUS_ERR_CLAIMS_USER_DATA,
            _ => POROUS_ERR_OTHER,
        }
    }
}

#[cfg(feature = "seal")]
impl Numbered for porous_token::TicketError {
    fn status(self) -> porous_status {
        match self {
            Self::TooManyServers => POROUS_ERR_TICKET_SERVERS,
            Self::NotBase64 => POROUS_ERR_TICKET_BASE64,
            Self::Version => POROUS_ERR_TICKET_VERSION,
            Self::Malformed => POROUS_ERR_TICKET_MALFORMED,
            _ => POROUS_ERR_OTHER,
        }
    }
}

#[cfg(feature = "udp")]
impl Numbered for porous_std::SuffixError {
    fn status(self) -> porous_status {
        match self {
            Self::TooLong => POROUS_ERR_TOO_LONG,
            Self::Connected => POROUS_ERR_ALREADY_CONNECTED,
            _ => POROUS_ERR_OTHER,
        }
    }
}

#[cfg(feature = "udp")]
impl Numbered for porous_std::ThreadError {
    fn status(self) -> porous_status {
        match self {
            Self::Full => POROUS_ERR_THREAD_FULL,
            Self::Ended => POROUS_ERR_THREAD_ENDED,
            _ => POROUS_ERR_OTHER,
        }
    }
}

#[cfg(feature = "udp")]
impl Numbered for porous_std::UnsentError {
    fn status(self) -> porous_status {
        match self {
            Self::Host(error) => error.status(),
            Self::Thread(error) => error.status(),
            _ => POROUS_ERR_OTHER,
        }
    }
}

/// The meaning of each number.
const TEXTS: &[(porous_status, &CStr)] = &[
    (POROUS_OK, c"done"),
    (POROUS_ERR_NULL, c"a pointer is NULL that must not be"),
    (POROUS_ERR_BUSY, c"the host is in a call: use a host in one thread at a time, and not from a callback"),
    (POROUS_ERR_PANIC, c"a bug of porous was caught: free the host, and report what porous_on_panic tells"),
    (POROUS_ERR_VERSION, c"a struct or the header does not fit the library: set `size`, and compile with the header of the library"),
    (POROUS_ERR_VALUE, c"a number, a length or a reserved byte means nothing where it stands"),
    (POROUS_ERR_KIND, c"the host is of the other kind: porous_udp_ functions are for hosts with a socket, porous_core_ functions for those without"),
    (POROUS_ERR_SMALL, c"the buffer is too small: give a larger one, nothing was lost"),
    (POROUS_ERR_UTF8, c"the text is not UTF-8"),
    (POROUS_ERR_ADDRESS, c"this is no address, or none that fits here"),
    (POROUS_ERR_IO, c"the system refused: see porous_io_error_text"),
    (POROUS_ERR_IN_USE, c"another program has the port, or this one"),
    (POROUS_ERR_NOT_AVAILABLE, c"the machine does not have the address"),
    (POROUS_ERR_NOT_PERMITTED, c"the system does not allow it"),
    (POROUS_ERR_UNSUPPORTED, c"this build of the library cannot do that"),
    (POROUS_ERR_OTHER, c"an error without a number: the library is newer than its interface"),
    (POROUS_ERR_UNKNOWN_PEER, c"no such peer, or it has ended: a new connection has a new peer"),
    (POROUS_ERR_NOT_CONNECTED, c"the peer is not connected yet: wait for POROUS_EVENT_CONNECTED"),
    (POROUS_ERR_DISCONNECTING, c"the peer is being disconnected: send before porous_disconnect"),
    (POROUS_ERR_UNKNOWN_CHANNEL, c"the connection has fewer channels: see porous_peer_info"),
    (POROUS_ERR_TOO_LARGE, c"the packet is too large: see max_packet of porous_peer_info, or raise that of both hosts"),
    (POROUS_ERR_FULL, c"there is no room to send: wait for POROUS_EVENT_WRITABLE"),
    (POROUS_ERR_ALREADY_CONNECTED, c"this address has a peer: disconnect it first, or use it"),
    (POROUS_ERR_OUT_OF_CONNECTION_IDS, c"no free connection id: configure longer connection ids"),
    (POROUS_ERR_NO_ADDRESS, c"no address was given: give at least one to connect to"),
    (POROUS_ERR_TOO_MANY_ADDRESSES, c"at most 8 addresses of a host can be tried: leave some out"),
    (POROUS_ERR_NOT_ASKED, c"the peer does not wait for an answer: answer each POROUS_EVENT_REQUEST once"),
    (POROUS_ERR_TOO_LONG, c"too long: a greeting has at most 255 bytes and fits request_size, a refusal has at most 64, a suffix at most 32"),
    (POROUS_ERR_CANNOT_LISTEN, c"this host cannot listen: do not configure it as a client, nor without connection ids"),
    (POROUS_ERR_NOT_SEALED, c"this host cannot seal: name suites in its configuration"),
    (POROUS_ERR_SERVER_KEY, c"this is no public key of a server: get the right one from its owner"),
    (POROUS_ERR_ADDRESS_FAMILY, c"the socket does not speak this family of addresses: bind it to [::]:0, or connect to an address of the other family"),
    (POROUS_ERR_ADDRESS_PORT_ZERO, c"nobody can be at port 0: give the port that the other host is bound to"),
    (POROUS_ERR_ADDRESS_UNSPECIFIED, c"[::] and 0.0.0.0 are where a listener is bound, not where it is: connect to an address of its machine"),
    (POROUS_ERR_ADDRESS_BROADCAST, c"a broadcast or multicast address belongs to no single host"),
    (POROUS_ERR_ADDRESS_ITSELF, c"this is the address of this very host"),
    (POROUS_ERR_CONFIG_CHANNELS, c"a host has at most 255 channels"),
    (POROUS_ERR_CONFIG_UNKNOWN_CHANNEL, c"the configuration has fewer channels"),
    (POROUS_ERR_CONFIG_MAX_DATAGRAM, c"datagrams must have 512 to 65507 bytes"),
    (POROUS_ERR_CONFIG_REQUEST_SIZE, c"connection requests must have 512 to 1200 bytes"),
    (POROUS_ERR_CONFIG_WINDOW, c"windows must be powers of two from 16 to 65536"),
    (POROUS_ERR_CONFIG_RECEIVE_BUDGET, c"the receive budget must be at least 64 bytes more than the largest packet"),
    (POROUS_ERR_CONFIG_CONNECTION_ID_LEN, c"connection ids must have at most 20 bytes"),
    (POROUS_ERR_CONFIG_REPLY_LIMIT, c"limits of replies must be at most 1000000 a second"),
    (POROUS_ERR_CONFIG_SUITES, c"each suite must be named once"),
    (POROUS_ERR_CONFIG_ZERO, c"a value must not be zero"),
    (POROUS_ERR_IDS_NO_BYTES, c"connection ids have no bytes here: give connection_id_len at least 1"),
    (POROUS_ERR_IDS_TOO_SHORT, c"connection ids are too short: give connection_id_len at least 2 for shards, and 5 more than the server's id for QUIC-LB"),
    (POROUS_ERR_IDS_SHARD_BITS, c"a shard has 1 to 8 bits: give as many as tell all shards apart"),
    (POROUS_ERR_IDS_SHARD, c"the shard does not fit its bits: number the shards from 0 on, or give them more bits"),
    (POROUS_ERR_IDS_ROTATION, c"a configuration of QUIC-LB is 0 to 6: give the one of the balancer"),
    (POROUS_ERR_IDS_SERVER_ID, c"the id of a server has 1 to 15 bytes: give the one that the balancer knows"),
    (POROUS_ERR_SECURITY_TOO_MANY, c"a host has two key pairs, four psks and four token keys at most: leave the oldest out"),
    (POROUS_ERR_SECURITY_WEAK, c"a suite has no such secret key: generate another one"),
    (POROUS_ERR_CLAIMS_AUDIENCES, c"a token names at most 4 servers: name none to mean all"),
    (POROUS_ERR_CLAIMS_USER_DATA, c"user data has at most 255 bytes: keep the rest at the backend"),
    (POROUS_ERR_TICKET_SERVERS, c"a ticket has at most 32 addresses: leave some out"),
    (POROUS_ERR_TICKET_BASE64, c"a ticket is base64: check that all of it was passed on"),
    (POROUS_ERR_TICKET_VERSION, c"a ticket of an unknown version: use a newer library"),
    (POROUS_ERR_TICKET_MALFORMED, c"this is no ticket and no token: check that all of it was passed on"),
    (POROUS_ERR_THREAD_FULL, c"the queue to the network thread is full: poll, and try again later"),
    (POROUS_ERR_THREAD_ENDED, c"the network thread has ended: make a new one"),
];

/// The version of the library: major * 65536 + minor * 256 + patch.
#[unsafe(no_mangle)]
pub extern "C" fn porous_version() -> u32 {
    const fn part(text: &str) -> u32 {
        let (mut number, mut at) = (0, 0);
        while at < text.len() {
            number = 10 * number + (text.as_bytes()[at] - b'0') as u32;
            at += 1;
        }
        number
    }
    const VERSION: u32 = part(env!("CARGO_PKG_VERSION_MAJOR")) << 16
        | part(env!("CARGO_PKG_VERSION_MINOR")) << 8
        | part(env!("CARGO_PKG_VERSION_PATCH"));
    VERSION
}

/// Compares the header with the library: give POROUS_ABI. A program calls this first.
///
/// Errors: POROUS_ERR_VERSION if the two do not fit, so that nothing else may be called.
#[unsafe(no_mangle)]
pub extern "C" fn porous_check_abi(abi: u32) -> porous_status {
    match check(abi == POROUS_ABI, POROUS_ERR_VERSION) {
        Ok(()) => POROUS_OK,
        Err(status) => status,
    }
}

/// What a status means and what to do, in English: a text that lives for ever. Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn porous_status_text(status: porous_status) -> *const c_char {
    let known = TEXTS.iter().find(|(number, _)| *number == status);
    let unknown = if status > 0 {
        c"one is there, or so many are"
    } else {
        c"no number of this version of porous"
    };
    known.map_or(unknown, |(_, text)| text).as_ptr()
}
