//! What datagrams say, by what was said before: a short form can be read only after the handshake of its
//! connection.

use alloc::collections::{BTreeMap, VecDeque};
use core::fmt;
use core::net::SocketAddr;

use porous_proto::hooks::codec::{self, Agreement, Check, Connect, Form, Short};
use porous_proto::hooks::recording::{NAMES, Setting};
use porous_proto::hooks::sealing::{self, SealedShort};
use porous_proto::{Integrity, Malformed};

/// The most handshakes, and the most directions of connections, that are kept. The oldest go first.
const MOST: usize = 4096;

/// The largest N_Q with packet ids of two bytes (`docs/wire.md`, "Short forms").
const SHORT_IDS_MAX: u32 = 16_384;

/// Of message 2 of a sealed handshake without a greeting, the bytes beside the connection id of its sender: an
/// ephemeral key, the length of the id, and a tag (`docs/wire.md`, "Sealed connections").
const MESSAGE_2: usize = 32 + 1 + 16;

/// The longest connection id.
const ID_MAX: usize = 20;

/// From what the whole ids of a short form are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Anchors {
    /// One past the newest frame id in this direction.
    pub next_frame: u64,
    /// One past the newest id that was acknowledged in this direction.
    pub next_acknowledged: u64,
}

/// The id in [anchor - 3R, anchor + R) that has these low bytes, with R a quarter of their range; `None` if it
/// would be negative (`docs/wire.md`, "Frame ids").
pub(crate) fn whole((low, width): (u32, u8), anchor: u64) -> Option<u64> {
    let range = 1_i128 << (8 * u32::from(width.min(4)));
    let least = i128::from(anchor) - 3 * range / 4;
    let id = least + (i128::from(low) - least).rem_euclid(range);
    u64::try_from(id).ok()
}

/// Why a datagram was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unread {
    /// It makes no sense, or its check does not match.
    Malformed(Malformed),
    /// It is of a connection whose handshake is not known.
    UnknownConnection,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(why) => why.fmt(f),
            Self::UnknownConnection => f.write_str("of a connection whose handshake is not here"),
        }
    }
}

/// A datagram that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Read {
    /// What it says: one form, or an ACK and what follows it.
    pub forms: Vec<Form>,
    /// Why the rest of it was not read.
    pub unread: Option<Unread>,
    /// From what its ids are told.
    pub at: Anchors,
}

/// A direction of a connection.
#[derive(Clone, Debug)]
struct Direction {
    /// The nonces of the sender and of the receiver.
    nonces: [u64; 2],
    from: SocketAddr,
    integrity: Integrity,
    window: u32,
    is_sealed: bool,
    at: Anchors,
}

/// By what the receiver of a direction knows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Known {
    /// The connection id.
    Id(Vec<u8>),
    /// The address of the sender: the id was told under seal.
    From(SocketAddr),
}

/// Reads the datagrams of any number of hosts, in the order in which they were seen.
///
/// What it keeps of them is bounded: the last 4096 handshakes, and as many connections.
///
/// ```
/// use porous_trace::{Talk, Unread};
///
/// let mut talk = Talk::default();
/// let [a, b] = [1, 2].map(|port| ([127, 0, 0, 1], port).into());
/// let read = talk.read(a, b, b"\x40\x00\x00");
/// assert_eq!(read.unread, Some(Unread::UnknownConnection));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Talk {
    /// The length of the connection ids of hosts, where it was seen.
    lengths: BTreeMap<SocketAddr, usize>,
    /// What each host has said of itself, by its nonce.
    hosts: BTreeMap<u64, (SocketAddr, Connect)>,
    host_order: VecDeque<u64>,
    /// By the receiver, and by what it knows them.
    directions: BTreeMap<(SocketAddr, Known), Direction>,
    direction_order: VecDeque<(SocketAddr, Known)>,
    /// The id of the first frame of all connections; 0 but in tests.
    first: u64,
}

impl Talk {
    /// A host at this address has this configuration: the length of its connection ids, which a host that seals
    /// does not tell in the open, and where ids begin.
    ///
    /// ```
    /// let mut talk = porous_trace::Talk::default();
    /// talk.note_host(([127, 0, 0, 1], 4000).into(), &[]);
    /// ```
    pub fn note_host(&mut self, at: SocketAddr, settings: &[Setting]) {
        let value = |name| {
            let named = |setting: &&Setting| NAMES.get(usize::from(setting.number)) == Some(&name);
            settings.iter().find(named).map(|setting| setting.value)
        };
        let length = value("connection_id_len").and_then(|length| u8::try_from(length).ok());
        if let Some(length) = length {
            self.lengths.insert(at, length.into());
        }
        self.first = value("first_id").unwrap_or_default();
    }

    /// Reads a datagram, and remembers what later ones need.
    ///
    /// ```
    /// use porous_trace::Talk;
    ///
    /// let [a, b] = [1, 2].map(|port| ([127, 0, 0, 1], port).into());
    /// let read = Talk::default().read(a, b, b"\xf2\x01\x02"); // RESET
    /// assert_eq!(read.forms.len(), 1);
    /// ```
    pub fn read(&mut self, from: SocketAddr, to: SocketAddr, datagram: &[u8]) -> Read {
        match datagram {
            [0x40..=0x7F, ..] => self.read_short(from, to, datagram),
            // ACK, with nothing or a short form or a request behind it. With AUTH it is of one piece.
            [0xD0 | 0xD1, low, high, ..] => {
                let length = 3 + usize::from(u16::from_le_bytes([*low, *high]));
                let Some((ack, rest)) = datagram.split_at_checked(length) else {
                    return unread(Unread::Malformed(Malformed::Truncated));
                };
                let mut read = self.read_long(from, to, ack);
                if !rest.is_empty() && read.unread.is_none() {
                    let behind = self.read(from, to, rest);
                    read.forms.extend(behind.forms);
                    (read.unread, read.at) = (behind.unread, behind.at);
                }
                read
            }
            _ => self.read_long(from, to, datagram),
        }
    }

    fn read_long(&mut self, from: SocketAddr, to: SocketAddr, datagram: &[u8]) -> Read {
        let agreement = Agreement {
            connection_id_len: self.lengths.get(&to).copied().unwrap_or_default(),
            id_bytes: 2,
            window: 16,
            check: None,
        };
        match codec::decode(datagram, &agreement) {
            Ok(forms) => {
                for form in &forms {
                    self.learn(from, to, form);
                }
                let (unread, at) = (None, self.begin());
                Read { forms, unread, at }
            }
            Err(why) => unread(Unread::Malformed(why)),
        }
    }

    const fn begin(&self) -> Anchors {
        Anchors {
            next_frame: self.first,
            next_acknowledged: self.first,
        }
    }

    fn learn(&mut self, from: SocketAddr, to: SocketAddr, form: &Form) {
        match form {
            Form::Request(connect) => self.note(from, connect),
            Form::Acknowledge(connect) => {
                self.note(from, connect);
                // With a cookie it is no answer to a request that was believed.
                if !connect.cookie {
                    self.connect([from, to], connect.nonces, false);
                }
            }
            Form::Sealed(sealing::Form::Second {
                nonces, message, ..
            }) => {
                // A greeting of a listener is rare. Without one, the length of the message tells that of its id.
                let length = message.len().checked_sub(MESSAGE_2);
                if let Some(length) = length.filter(|&length| length <= ID_MAX) {
                    if !self.lengths.contains_key(&from) {
                        self.note_length(from, length);
                    }
                }
                self.connect([from, to], *nonces, true);
            }
            Form::Sealed(_)
            | Form::OtherVersion { .. }
            | Form::Refuse { .. }
            | Form::Disconnect(..)
            | Form::DisconnectAck(_)
            | Form::Reset(_)
            | Form::Short(_)
            | Form::SealedShort(_) => {}
        }
    }

    /// A host has said of itself what stands in this form.
    fn note(&mut self, from: SocketAddr, connect: &Connect) {
        let [nonce, _] = connect.nonces;
        if !connect.connection_id.is_empty() {
            self.note_length(from, connect.connection_id.len());
        }
        if self.hosts.insert(nonce, (from, connect.clone())).is_none() {
            self.host_order.push_back(nonce);
        }
        if self.host_order.len() > MOST {
            if let Some(oldest) = self.host_order.pop_front() {
                self.hosts.remove(&oldest);
            }
        }
    }

    fn note_length(&mut self, of: SocketAddr, length: usize) {
        // As many as there are hosts whose nonces are kept.
        if self.lengths.len() >= MOST && !self.lengths.contains_key(&of) {
            self.lengths.pop_first();
        }
        self.lengths.insert(of, length);
    }

    /// The hosts with these nonces, of which the first has answered, have agreed.
    fn connect(&mut self, [own_at, peer_at]: [SocketAddr; 2], [own, peer]: [u64; 2], sealed: bool) {
        let get = |nonce| self.hosts.get(nonce).map(|(_, connect)| connect);
        let (Some(theirs), ours) = (get(&peer), get(&own)) else {
            return;
        };
        // What a listener has said of itself before it seals came with a cookie, which is its nonce now.
        let ours = ours.unwrap_or(theirs);
        let log2 = ours.windows[1].min(theirs.windows[1]).min(16);
        let is_crc = [ours, theirs].map(|host| host.integrity == Integrity::Crc32c);
        let direction = |from, nonces| Direction {
            nonces,
            from,
            integrity: if is_crc.contains(&true) {
                Integrity::Crc32c
            } else {
                Integrity::Header
            },
            window: 1 << log2,
            is_sealed: sealed,
            at: self.begin(),
        };
        let to_peer = direction(own_at, [own, peer]);
        let to_own = direction(peer_at, [peer, own]);
        let (peer_id, own_id) = (theirs.connection_id.clone(), ours.connection_id.clone());
        self.add((peer_at, Known::Id(peer_id)), to_peer);
        let known = if sealed {
            Known::From(peer_at)
        } else {
            Known::Id(own_id)
        };
        self.add((own_at, known), to_own);
    }

    fn add(&mut self, key: (SocketAddr, Known), direction: Direction) {
        if let Some(known) = self.directions.get_mut(&key) {
            // An answer that is repeated changes nothing.
            if known.nonces != direction.nonces {
                *known = direction;
            }
            return;
        }
        self.directions.insert(key.clone(), direction);
        self.direction_order.push_back(key);
        if self.direction_order.len() > MOST {
            if let Some(oldest) = self.direction_order.pop_front() {
                self.directions.remove(&oldest);
            }
        }
    }

    /// The connection of a short form, and the length of its id.
    fn find(
        &self,
        from: SocketAddr,
        to: SocketAddr,
        short: &[u8],
    ) -> Option<((SocketAddr, Known), usize)> {
        let behind = short.get(1..)?;
        let length = self.lengths.get(&to).copied();
        let id = length.and_then(|length| behind.get(..length));
        if let (Some(length), Some(id)) = (length, id) {
            let keys = [Known::Id(id.to_vec()), Known::From(from)].map(|known| (to, known));
            let mut keys = keys.into_iter();
            if let Some(key) = keys.find(|key| self.directions.contains_key(key)) {
                return Some((key, length));
            }
        }
        // A host that has moved, or whose ids are empty.
        let ids = self.directions.iter().filter_map(|(key, direction)| {
            let (at, Known::Id(id)) = key else {
                return None;
            };
            let is_near = *at == to || direction.from == from;
            let is_its = is_near && behind.starts_with(id) && (!id.is_empty() || *at == to);
            is_its.then_some((key, id.len()))
        });
        if let Some((key, length)) = ids.max_by_key(|(_, length)| *length) {
            return Some((key.clone(), length));
        }
        // A sealed client that has moved, if the server has no other.
        let mut others = self
            .directions
            .keys()
            .filter(|(at, known)| *at == to && matches!(known, Known::From(_)));
        let (only, more) = (others.next()?, others.next());
        more.is_none().then_some((only.clone(), length?))
    }

    fn read_short(&mut self, from: SocketAddr, to: SocketAddr, datagram: &[u8]) -> Read {
        let Some((key, length)) = self.find(from, to, datagram) else {
            return unread(Unread::UnknownConnection);
        };
        let Some(direction) = self.directions.get_mut(&key) else {
            return unread(Unread::UnknownConnection);
        };
        let read = direction.read(datagram, length);
        match read {
            Ok(read) => read,
            Err(why) => unread(Unread::Malformed(why)),
        }
    }
}

fn unread(why: Unread) -> Read {
    Read {
        forms: Vec::new(),
        unread: Some(why),
        at: Anchors::default(),
    }
}

impl Direction {
    fn read(&mut self, datagram: &[u8], length: usize) -> Result<Read, Malformed> {
        let at = self.at;
        if self.is_sealed {
            let short = SealedShort::decode(datagram, length)?;
            self.advance(short.id);
            let (forms, unread) = (vec![Form::SealedShort(short)], None);
            return Ok(Read { forms, unread, at });
        }
        let agreement = Agreement {
            connection_id_len: length,
            id_bytes: if self.window <= SHORT_IDS_MAX { 2 } else { 3 },
            window: self.window,
            check: Some(Check {
                integrity: self.integrity,
                nonces: self.nonces,
                next: at.next_frame,
                acked: at.next_acknowledged,
            }),
        };
        let forms = codec::decode(datagram, &agreement)?;
        for form in &forms {
            if let Form::Short(Short { id, ack, .. }) = form {
                self.advance(*id);
                let acked = ack
                    .as_ref()
                    .and_then(|ack| whole(ack.largest, at.next_acknowledged));
                if let Some(acked) = acked {
                    let next = acked.saturating_add(1);
                    self.at.next_acknowledged = self.at.next_acknowledged.max(next);
                }
            }
        }
        let unread = None;
        Ok(Read { forms, unread, at })
    }

    fn advance(&mut self, id: (u32, u8)) {
        if let Some(id) = whole(id, self.at.next_frame) {
            self.at.next_frame = self.at.next_frame.max(id.saturating_add(1));
        }
    }
}
