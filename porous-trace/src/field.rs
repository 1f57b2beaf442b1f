//! How the values of a record are written, read and shown (`docs/trace.md`, "Values").

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use core::time::Duration;

use porous_proto::hooks::recording::{CredentialsParts, OptionsParts, SecurityParts, Setting};
use porous_proto::{ChannelId, Disconnect, Ecn, Instant, Listen, Mode, PeerId};

/// A value, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Nothing is there.
    None,
    /// Yes or no.
    Bool(bool),
    /// A number.
    Number(u64),
    /// Words, or an address.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Several values.
    List(Vec<Self>),
    /// Values with names.
    Fields(Vec<(&'static str, Self)>),
}

/// A value of a record.
pub(crate) trait Field: Sized {
    /// Appends the value.
    fn put(&self, out: &mut Vec<u8>);

    /// Reads the value; `None` if there is none.
    fn decode(from: &mut Cursor<'_>) -> Option<Self>;

    /// The value for readers.
    fn show(&self) -> Value;
}

/// Bytes that are read from front to back.
#[derive(Debug)]
pub(crate) struct Cursor<'a>(pub(crate) &'a [u8]);

impl<'a> Cursor<'a> {
    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    /// A number of things that follow, of which each has a byte at least.
    fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(u32::decode(self)?).ok()?;
        (count <= self.0.len()).then_some(count)
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Field for $number {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend(self.to_le_bytes());
            }

            fn decode(from: &mut Cursor<'_>) -> Option<Self> {
                from.array().map(Self::from_le_bytes)
            }

            fn show(&self) -> Value {
                Value::Number(u64::from(*self))
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64);

impl Field for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn decode(from: &mut Cursor<'_>) -> Option<Self> {
        match u8::decode(from)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn show(&self) -> Value {
        Value::Bool(*self)
    }
}

/// The length of what follows. What is longer than a record can be is never written.
fn put_length(length: usize, out: &mut Vec<u8>) {
    u32::try_from(length).unwrap_or(u32::MAX).put(out);
}

impl Field for Vec<u8> {
    fn put(&self, out: &mut Vec<u8>) {
        put_length(self.len(), out);
        out.extend(self);
    }

    fn decode(from: &mut Cursor<'_>) -> Option<Self> {
        let length = from.count()?;
        from.bytes(length).map(<[u8]>::to_vec)
    }

    fn show(&self) -> Value {
        Value::Bytes(self.clone())
    }
}

impl Field for String {
    fn put(&self, out: &mut Vec<u8>) {
        put_length(self.len(), out);
        out.extend(self.as_bytes());
    }

    fn decode(from: &mut Cursor<'_>) -> Option<Self> {
        let length = from.count()?;
        Self::from_utf8(from.bytes(length)?.to_vec()).ok()
    }

    fn show(&self) -> Value {
        Value::Text(self.clone())
    }
}

impl<T: Field> Field for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }

    fn decode(from: &mut Cursor<'_>) -> Option<Self> {
        if bool::decode(from)? {
            T::decode(from).map(Some)
        } else {
            Some(None)
        }
    }

    fn show(&self) -> Value {
        self.as_ref().map_or(Value::None, T::show)
    }
}

/// A list of anything but bytes, which are written as they are.
macro_rules! lists {
    ($($item:ty),*) => {$(
        impl Field for Vec<$item> {
            fn put(&self, out: &mut Vec<u8>) {
                put_length(self.len(), out);
                for item in self {
                    item.put(out);
                }
            }

            fn decode(from: &mut Cursor<'_>) -> Option<Self> {
                let count = from.count()?;
                (0..count).map(|_| <$item>::decode(from)).collect()
            }

            fn show(&self) -> Value {
                Value::List(self.iter().map(Field::show).collect())
            }
        }
    )*};
}

lists!(
    SocketAddr,
    Setting,
    [u8; 32],
    (u32, [u8; 32]),
    (u8, [u8; 32])
);

impl<const N: usize> Field for [u8; N] {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend(self);
    }

    fn decode(from: &mut Cursor<'_>) -> Option<Self> {
        from.array()
    }

    fn show(&self) -> Value {
        Value::Bytes(self.to_vec())
    }
}

impl<A: Field, B: Field> Field for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn decode(from: &mut Cursor<'_>) -> Option<Self> {
        Some((A::decode(from)?, B::decode(from)?))
    }

    fn show(&self) -> Value {
        Value::List([self.0.show(), self.1.show()].into())
    }
}

impl Field for SocketAddr {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::V4(v4) => {
                out.push(4);
                out.extend(v4.ip().octets());
            }
            Self::V6(v6) => {
                out.push(6);
                out.extend(v6.ip().octets());
                v6.flowinfo().put(out);
                v6.scope_id().put(out);
            }
        }
        self.port().put(out);
    }

    fn decode(from: &mut Cursor<'_>) -> Option<Self> {
        match u8::decode(from)? {
            4 => {
                let ip = Ipv4Addr::from(from.array::<4>()?);
                Some(Self::new(IpAddr::V4(ip), u16::decode(from)?))
            }
            6 => {
                let ip = Ipv6Addr::from(from.array::<16>()?);
                let (flow, scope) = (u32::decode(from)?, u32::decode(from)?);
                let v6 = SocketAddrV6::new(ip, u16::decode(from)?, flow, scope);
                Some(v6.into())
            }
            _ => None,
        }
    }

    fn show(&self) -> Value {
        Value::Text(self.to_string())
    }
}

impl Field for Instant {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_micros().put(out);
    }

    fn decode(from: &mut Cursor<'_>) -> Option<Self> {
        u64::decode(from).map(Self::from_micros)
    }

    fn show(&self) -> Value {
        Value::Number(self.as_micros())
    }
}

impl Field for Duration {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_secs().put(out);
        self.subsec_nanos().put(out);
    }

    fn decode(from: &mut Cursor<'_>) -> Option<Self> {
        let (seconds, nanos) = (u64::decode(from)?, u32::decode(from)?);
        (nanos < 1_000_000_000).then(|| Self::new(seconds, nanos))
    }

    /// In microseconds, as times are.
    fn show(&self) -> Value {
        Value::Number(u64::try_from(self.as_micros()).unwrap_or(u64::MAX))
    }
}

impl Field for PeerId {
    fn put(&self, out: &mut Vec<u8>) {
        self.to_u64().put(out);
    }

    fn decode(from: &mut Cursor<'_>) -> Option<Self> {
        Self::from_u64(u64::decode(from)?)
    }

    fn show(&self) -> Value {
        Value::Number(self.to_u64())
    }
}

impl Field for ChannelId {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(self.0);
    }

    fn decode(from: &mut Cursor<'_>) -> Option<Self> {
        u8::decode(from).map(Self)
    }

    fn show(&self) -> Value {
        Value::Number(self.0.into())
    }
}

/// Values that have numbers in the file and names for readers.
macro_rules! named {
    ($type:ty { $($number:literal $value:ident $name:literal),* } $($rest:pat)?) => {
        impl Field for $type {
            fn put(&self, out: &mut Vec<u8>) {
                out.push(match self {
                    $(Self::$value => $number,)*
                    // Newer than this format: no reader takes it.
                    $($rest => u8::MAX,)?
                });
            }

            fn decode(from: &mut Cursor<'_>) -> Option<Self> {
                match u8::decode(from)? {
                    $($number => Some(Self::$value),)*
                    _ => None,
                }
            }

            fn show(&self) -> Value {
                Value::Text(match self {
                    $(Self::$value => $name,)*
                    $($rest => "?",)?
                }.to_owned())
            }
        }
    };
}

named!(Ecn { 0 NotEct "not ECT", 1 Ect1 "ECT(1)", 2 Ect0 "ECT(0)", 3 Ce "CE" });
named!(Mode { 0 Unreliable "unreliable", 1 Reliable "reliable", 2 Passive "passive" });
named!(Listen { 0 Closed "closed", 1 Open "open", 2 Ask "ask", 3 Full "full" } _);

impl Field for Disconnect {
    fn put(&self, out: &mut Vec<u8>) {
        let (reason, deadline) = match self {
            Self::Now { reason } => (reason, None),
            Self::Flush { reason, deadline } => (reason, Some(*deadline)),
        };
        reason.put(out);
        deadline.put(out);
    }

    fn decode(from: &mut Cursor<'_>) -> Option<Self> {
        let reason = u32::decode(from)?;
        Some(match Option::decode(from)? {
            None => Self::Now { reason },
            Some(deadline) => Self::Flush { reason, deadline },
        })
    }

    fn show(&self) -> Value {
        let (reason, deadline) = match self {
            Self::Now { reason } => (reason, Value::None),
            Self::Flush { reason, deadline } => (reason, deadline.show()),
        };
        Value::Fields([("reason", reason.show()), ("flush", deadline)].into())
    }
}

/// Values that consist of others.
macro_rules! composed {
    ($type:ident { $($field:ident),* }) => {
        impl Field for $type {
            fn put(&self, out: &mut Vec<u8>) {
                let Self { $($field),* } = self;
                $($field.put(out);)*
            }

            fn decode(from: &mut Cursor<'_>) -> Option<Self> {
                Some(Self { $($field: Field::decode(from)?),* })
            }

            fn show(&self) -> Value {
                Value::Fields([$((stringify!($field), self.$field.show())),*].into())
            }
        }
    };
}

composed!(OptionsParts {
    mode,
    redundancy,
    ttl,
    receipt,
    key
});

impl Field for Setting {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend([self.number, self.part]);
        self.value.put(out);
    }

    fn decode(from: &mut Cursor<'_>) -> Option<Self> {
        let [number, part] = from.array()?;
        let value = u64::decode(from)?;
        Some(Self {
            number,
            part,
            value,
        })
    }

    fn show(&self) -> Value {
        let names = porous_proto::hooks::recording::NAMES;
        let name = names.get(usize::from(self.number)).copied();
        Value::Fields(
            [
                ("setting", Value::Text(name.unwrap_or("?").to_owned())),
                ("part", self.part.show()),
                ("value", self.value.show()),
            ]
            .into(),
        )
    }
}

/// Keys are written, and never shown.
macro_rules! secret {
    ($type:ident { $($field:ident),* }) => {
        impl Field for $type {
            fn put(&self, out: &mut Vec<u8>) {
                let Self { $($field),* } = self;
                $($field.put(out);)*
            }

            fn decode(from: &mut Cursor<'_>) -> Option<Self> {
                Some(Self { $($field: Field::decode(from)?),* })
            }

            fn show(&self) -> Value {
                Value::Text("in the file".to_owned())
            }
        }
    };
}

secret!(SecurityParts {
    suites,
    allows_plain,
    requires_proof,
    rekey,
    identities,
    psks,
    token_keys,
    server_id,
    max_lifetime,
    used_tokens,
    is_one_per_client
});

secret!(CredentialsParts {
    server_key,
    psk,
    token,
    greeting
});

pub(crate) use composed;
