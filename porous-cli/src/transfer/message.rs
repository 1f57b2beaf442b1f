//! The packets between `porous send` and `porous recv`.
//!
//! | kind | from | packet | after the kind, lowest byte first |
//! |---|---|---|---|
//! | 1 | sender | the offer of a file | length (8), SHA-256 (32), name in UTF-8 |
//! | 2 | receiver | begin at this offset | offset (8) |
//! | 3 | sender | the next bytes | bytes |
//! | 4 | receiver | the file is there and right | |
//! | 5 | receiver | refused | why (1) |

/// The bytes of a SHA-256.
pub(crate) type Hash = [u8; 32];

/// One packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message<'b> {
    Offer {
        len: u64,
        hash: Hash,
        /// Not checked: see [`super::name`].
        name: &'b str,
    },
    Begin {
        offset: u64,
    },
    Data(&'b [u8]),
    Done,
    Refused(Refused),
}

/// Why a receiver does not want a file, or not any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The name is none that it takes.
    Name,
    /// It has a file of this name.
    Exists,
    /// It takes another file.
    Busy,
    /// It cannot write.
    Disk,
    /// The hash of what came is another one.
    Hash,
    /// What the sender says makes no sense.
    Nonsense,
}

impl Refused {
    const ALL: [Self; 6] = [
        Self::Name,
        Self::Exists,
        Self::Busy,
        Self::Disk,
        Self::Hash,
        Self::Nonsense,
    ];

    /// What the sender tells its user.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Name => "the receiver takes no file of this name",
            Self::Exists => "the receiver has a file of this name: start it with --force",
            Self::Busy => "the receiver takes another file: start it with --many",
            Self::Disk => "the receiver cannot write the file",
            Self::Hash => "the receiver got another file, whose hash differs: send it again",
            Self::Nonsense => "the receiver does not understand this program",
        }
    }
}

impl<'b> Message<'b> {
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        match self {
            Self::Offer { len, hash, name } => {
                [&[1][..], &len.to_le_bytes(), &hash, name.as_bytes()].concat()
            }
            Self::Begin { offset } => [&[2][..], &offset.to_le_bytes()].concat(),
            Self::Data(bytes) => [&[3], bytes].concat(),
            Self::Done => vec![4],
            Self::Refused(why) => vec![5, why as u8],
        }
    }

    /// Reads a packet; `None` if it is none of these.
    pub(crate) fn parse(packet: &'b [u8]) -> Option<Self> {
        let (kind, rest) = packet.split_first()?;
        match kind {
            1 => {
                let (len, rest) = rest.split_first_chunk()?;
                let (hash, name) = rest.split_first_chunk()?;
                Some(Self::Offer {
                    len: u64::from_le_bytes(*len),
                    hash: *hash,
                    name: core::str::from_utf8(name).ok()?,
                })
            }
            2 => {
                let offset = u64::from_le_bytes(rest.try_into().ok()?);
                Some(Self::Begin { offset })
            }
            3 => Some(Self::Data(rest)),
            4 => rest.is_empty().then_some(Self::Done),
            5 => match rest {
                [why] => Refused::ALL
                    .get(usize::from(*why))
                    .copied()
                    .map(Self::Refused),
                _ => None,
            },
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let offer = Message::Offer {
            len: 1 << 40,
            hash: [7; 32],
            name: "na\u{e4}me",
        };
        let begin = Message::Begin { offset: 1 << 33 };
        let mut all = vec![offer, begin, Message::Data(b"bytes"), Message::Data(b"")];
        all.push(Message::Done);
        all.extend(Refused::ALL.map(Message::Refused));
        for message in all {
            assert_eq!(Message::parse(&message.to_bytes()), Some(message));
        }
    }

    #[test]
    fn anything_else_is_no_packet() {
        for bytes in [
            &b""[..],
            &[0],
            &[1; 40],
            &[2; 8],
            &[2; 10],
            &[4, 0],
            &[5],
            &[5, 6],
            &[6, 1, 2],
        ] {
            assert_eq!(Message::parse(bytes), None, "{bytes:?}");
        }
        let mut name = [1; 43];
        name[42] = 0xFF;
        assert_eq!(Message::parse(&name), None, "no UTF-8");
    }
}
