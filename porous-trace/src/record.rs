//! What a trace is made of: a record for each call of a host that changes it, with what came of the call
//! (`docs/trace.md`, "Records").

use core::net::SocketAddr;
use core::time::Duration;

use porous_proto::hooks::recording::{CredentialsParts, OptionsParts, SecurityParts, Setting};
use porous_proto::{ChannelId, Disconnect, Ecn, Instant, Listen, Mode, PeerId};

use crate::field::{Cursor, Field, Value, composed};

/// How a host makes connection ids, as far as a trace can say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ids {
    /// 0 random, 1 sharded, 2 of QUIC-LB, 3 by a function of the application, which no trace holds.
    pub kind: u8,
    /// The shard and its bits, or the rotation and 0.
    pub numbers: (u8, u8),
    /// Of QUIC-LB the id of the server.
    pub server: Vec<u8>,
    /// Of QUIC-LB whether ids are encrypted.
    pub is_encrypted: bool,
    /// The key, if the trace has keys.
    pub key: Option<[u8; 16]>,
}

impl Field for Ids {
    fn put(&self, out: &mut Vec<u8>) {
        let Self {
            kind,
            numbers,
            server,
            is_encrypted,
            key,
        } = self;
        kind.put(out);
        numbers.put(out);
        server.put(out);
        is_encrypted.put(out);
        key.put(out);
    }

    fn decode(from: &mut Cursor<'_>) -> Option<Self> {
        Some(Self {
            kind: Field::decode(from)?,
            numbers: Field::decode(from)?,
            server: Field::decode(from)?,
            is_encrypted: Field::decode(from)?,
            key: Field::decode(from)?,
        })
    }

    fn show(&self) -> Value {
        let kind = match self.kind {
            0 => "random",
            1 => "sharded",
            2 => "QUIC-LB",
            _ => "custom",
        };
        Value::Text(kind.to_owned())
    }
}

/// A packet that the application has taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Got {
    /// The channel on which it came.
    pub channel: ChannelId,
    /// The mode in which it was sent.
    pub mode: Mode,
    /// Its length in bytes.
    pub length: u32,
}

composed!(Got {
    channel,
    mode,
    length
});

/// Declares the records, and how each is written, read and shown.
macro_rules! records {
    ($(
        $(#[$attribute:meta])*
        $number:literal $variant:ident $name:literal {
            $($(#[$of_field:meta])* $field:ident: $type:ty,)*
        }
    )*) => {
        /// A call of a host, and what came of it.
        ///
        /// Times are those that the host was told. Of a call that was refused `refused` says why, and is
        /// empty otherwise.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Record {
            $($(#[$attribute])* $variant { $($(#[$of_field])* $field: $type,)* },)*
        }

        impl Record {
            /// The numbers and names of all kinds.
            pub const KINDS: &[(u8, &str)] = &[$(($number, $name)),*];

            /// The number of this kind of record in a file.
            ///
            /// ```
            /// assert_eq!(porous_trace::Record::End { records: 0 }.number(), 63);
            /// ```
            #[must_use]
            pub const fn number(&self) -> u8 {
                match self {
                    $(Self::$variant { .. } => $number,)*
                }
            }

            /// The name of this kind of record.
            ///
            /// ```
            /// assert_eq!(porous_trace::Record::End { records: 0 }.name(), "end");
            /// ```
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $name,)*
                }
            }

            /// The values of the record, under their names.
            ///
            /// ```
            /// use porous_trace::{Record, Value};
            ///
            /// let record = Record::Draws { bytes: vec![1, 2] };
            /// assert_eq!(record.fields(), [("bytes", Value::Bytes(vec![1, 2]))]);
            /// ```
            #[must_use]
            pub fn fields(&self) -> Vec<(&'static str, Value)> {
                match self {
                    $(Self::$variant { $($field),* } => vec![$((stringify!($field), $field.show())),*],)*
                }
            }

            /// Appends the number and the values.
            pub(crate) fn put(&self, out: &mut Vec<u8>) {
                out.push(self.number());
                match self {
                    $(Self::$variant { $($field),* } => { $($field.put(out);)* })*
                }
            }

            /// Reads a record that is all of `from`.
            pub(crate) fn decode(mut from: Cursor<'_>) -> Option<Self> {
                let record = match u8::decode(&mut from)? {
                    $($number => Self::$variant { $($field: <$type>::decode(&mut from)?),* },)*
                    _ => return None,
                };
                from.0.is_empty().then_some(record)
            }
        }
    };
}

records! {
    /// The host was made. The first record but for what it drew.
    1 Host "host" {
        /// The version of porous that has recorded.
        version: String,
        /// The address of the host's socket, if the driver knows it.
        local: Option<SocketAddr>,
        /// Microseconds since 1970 when the host's clock showed 0; 0 if nobody knows.
        began: u64,
        /// The configuration.
        settings: Vec<Setting>,
    }
    /// Random bytes that the call of the next record drew.
    2 Draws "draws" {
        /// All of them, in their order.
        bytes: Vec<u8>,
    }
    /// `Host::handle_datagram`.
    3 Datagram "received" {
        /// When.
        now: Instant,
        /// The sender's address.
        from: SocketAddr,
        /// The mark of its IP header.
        ecn: Ecn,
        /// The datagram.
        bytes: Vec<u8>,
        /// "handled", "accepted", or why it was ignored.
        became: String,
        /// The peer that took it.
        peer: Option<PeerId>,
    }
    /// `Host::handle_unreachable`.
    4 Unreachable "unreachable" {
        /// When.
        now: Instant,
        /// The address that the system cannot send to.
        to: SocketAddr,
    }
    /// `Host::handle_backlog`.
    5 Backlog "backlog" {
        /// When.
        now: Instant,
        /// Whether datagrams were left.
        waits: bool,
    }
    /// `Host::handle_port_closed`.
    6 PortClosed "port closed" {
        /// The address, if the system told it.
        at: Option<SocketAddr>,
    }
    /// `Host::handle_timeout`.
    7 Timeout "timeout" {
        /// When.
        now: Instant,
        /// What `Host::poll_timeout` says behind it.
        next: Option<Instant>,
    }
    /// `Host::set_unix_time`.
    8 UnixTime "unix time" {
        /// When.
        now: Instant,
        /// Seconds since 1970.
        seconds: u64,
    }
    /// `Host::poll_transmit` gave a datagram.
    16 Transmit "sent" {
        /// When.
        now: Instant,
        /// The receiver's address.
        to: SocketAddr,
        /// The mark that its IP header gets.
        ecn: Ecn,
        /// Whether it must not be fragmented.
        dont_fragment: bool,
        /// Whether the receiver is no peer.
        to_stranger: bool,
        /// The datagram.
        bytes: Vec<u8>,
    }
    /// `Host::poll_transmit` gave nothing.
    17 Idle "idle" {
        /// When.
        now: Instant,
        /// What `Host::poll_timeout` says behind it.
        next: Option<Instant>,
    }
    /// `Host::poll_event` gave an event.
    18 Event "event" {
        /// The peer that it is about.
        peer: Option<PeerId>,
        /// What has happened.
        words: String,
    }
    /// `Host::receive`.
    19 Receive "receive" {
        /// The peer.
        peer: PeerId,
        /// The packet, if one waited.
        packet: Option<Got>,
    }
    /// `Host::listen`.
    32 Listen "listen" {
        /// Which clients are let in.
        policy: Listen,
        /// Why not.
        refused: String,
    }
    /// `Host::set_connection_ids`.
    33 ConnectionIds "connection ids" {
        /// How they are made.
        ids: Ids,
        /// Why not.
        refused: String,
    }
    /// `Host::set_envelope`.
    34 Envelope "envelope" {
        /// Bytes that the driver adds to each datagram.
        bytes: u8,
    }
    /// `Host::connect_with`.
    35 Connect "connect" {
        /// When.
        now: Instant,
        /// The addresses of the remote host.
        to: Vec<SocketAddr>,
        /// The greeting.
        greeting: Vec<u8>,
        /// The peer that was made.
        peer: Option<PeerId>,
        /// Why none was.
        refused: String,
    }
    /// `Host::connect_sealed`.
    36 ConnectSealed "connect sealed" {
        /// When.
        now: Instant,
        /// The addresses of the remote host.
        to: Vec<SocketAddr>,
        /// What the client showed, if the trace has keys.
        keys: Option<CredentialsParts>,
        /// The peer that was made.
        peer: Option<PeerId>,
        /// Why none was.
        refused: String,
    }
    /// `Host::set_security`.
    37 Security "security" {
        /// How the host seals, if the trace has keys.
        keys: Option<SecurityParts>,
    }
    /// `Host::accept`.
    38 Accept "accept" {
        /// When.
        now: Instant,
        /// The peer.
        peer: PeerId,
        /// Why not.
        refused: String,
    }
    /// `Host::refuse`.
    39 Refuse "refuse" {
        /// When.
        now: Instant,
        /// The peer.
        peer: PeerId,
        /// What the peer is told.
        data: Vec<u8>,
        /// Why not.
        refused: String,
    }
    /// `Host::send`.
    40 Send "send" {
        /// The peer.
        peer: PeerId,
        /// The channel.
        channel: ChannelId,
        /// The mode, and whatever else it is sent with.
        options: OptionsParts,
        /// The length of the packet in bytes.
        length: u32,
        /// The packet, if the trace has payloads.
        payload: Option<Vec<u8>>,
        /// Why not.
        refused: String,
    }
    /// `Host::cancel`.
    41 Cancel "cancel" {
        /// The peer.
        peer: PeerId,
        /// The channel.
        channel: ChannelId,
        /// The receipt with which the packets were sent.
        token: u64,
        /// Whether there were any.
        any: bool,
    }
    /// `Host::set_channel_rate`.
    42 ChannelRate "channel rate" {
        /// The peer.
        peer: PeerId,
        /// The channel.
        channel: ChannelId,
        /// In bytes.
        bytes_a_second: u32,
        /// Why not.
        refused: String,
    }
    /// `Host::set_send_rate`.
    43 SendRate "send rate" {
        /// The peer.
        peer: PeerId,
        /// In bytes.
        bytes_a_second: u32,
        /// Why not.
        refused: String,
    }
    /// `Host::set_receive_rate`.
    44 ReceiveRate "receive rate" {
        /// The peer.
        peer: PeerId,
        /// In bytes.
        bytes_a_second: u32,
        /// Why not.
        refused: String,
    }
    /// `Host::set_host_send_rate`.
    45 HostSendRate "host send rate" {
        /// In bytes.
        bytes_a_second: u32,
    }
    /// `Host::disconnect`.
    46 Disconnect "disconnect" {
        /// When.
        now: Instant,
        /// The peer.
        peer: PeerId,
        /// When the peer is told, and with which reason.
        how: Disconnect,
        /// Why not.
        refused: String,
    }
    /// `Host::disconnect_all`.
    47 DisconnectAll "disconnect all" {
        /// When.
        now: Instant,
        /// When the peers are told, and with which reason.
        how: Disconnect,
    }
    /// `Host::drain`.
    48 Drain "drain" {
        /// When.
        now: Instant,
        /// The reason.
        reason: u32,
        /// How long the connections go on at most.
        deadline: Duration,
    }
    /// The recording ended in order.
    63 End "end" {
        /// The records before this one.
        records: u64,
    }
}

/// A datagram that a host got or sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire<'a> {
    /// When.
    pub now: Instant,
    /// The other host's address.
    pub remote: SocketAddr,
    /// Whether the host has sent it, and not got it.
    pub is_sent: bool,
    /// The mark of the IP header.
    pub ecn: Ecn,
    /// The datagram.
    pub bytes: &'a [u8],
}

impl Record {
    /// The datagram of this record, if it is about one.
    ///
    /// ```
    /// assert_eq!(porous_trace::Record::End { records: 0 }.wire(), None);
    /// ```
    #[must_use]
    pub fn wire(&self) -> Option<Wire<'_>> {
        let (now, remote, is_sent, ecn, bytes) = if let Self::Datagram {
            now,
            from,
            ecn,
            bytes,
            ..
        } = self
        {
            (*now, *from, false, *ecn, bytes)
        } else if let Self::Transmit {
            now,
            to,
            ecn,
            bytes,
            ..
        } = self
        {
            (*now, *to, true, *ecn, bytes)
        } else {
            return None;
        };
        Some(Wire {
            now,
            remote,
            is_sent,
            ecn,
            bytes,
        })
    }

    /// When the call was made, if it was told a time.
    ///
    /// ```
    /// assert_eq!(porous_trace::Record::End { records: 0 }.now(), None);
    /// ```
    #[must_use]
    pub fn now(&self) -> Option<Instant> {
        let now = self.fields().into_iter().find(|(name, _)| *name == "now");
        match now {
            Some((_, Value::Number(micros))) => Some(Instant::from_micros(micros)),
            _ => None,
        }
    }
}
