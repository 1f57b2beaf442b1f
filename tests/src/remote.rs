//! Remote ends of a connection that are no hosts: they write datagrams with [`encoder`] alone, and may
//! send what no host would.

use alloc::collections::BTreeMap;

use porous_proto::{Address, Disposition, Ecn, Host, Instant};
use porous_sim::ChaCha8Rng;

use crate::encoder::{self, Ack, Check, Message, Offer, Shape, Short};

/// The length in bytes of the connection id that a remote gives the host: its address, four times.
const ID_LEN: usize = 4;

/// A remote end, with all that it knows of itself and of the host.
#[derive(Clone, Debug)]
pub struct Remote<A = u8> {
    /// Its address.
    pub address: A,
    /// The nonces: of the remote, and of the host for this connection.
    pub nonces: [u64; 2],
    /// The connection id in datagrams to the host.
    pub connection_id: Vec<u8>,
    /// The id of the next frame.
    pub next: u64,
    /// The newest frame id of the host, and the width in bytes in which it was sent.
    pub newest: (u32, u8),
    /// The ids of the frames that came from the host, and their nonce bits.
    pub heard: BTreeMap<u32, bool>,
    /// The agreement that shapes short forms.
    pub shape: Shape,
}

impl<A: Address + Into<u64>> Remote<A> {
    /// Connects to a host that listens, as the document says; the remote then knows all that a peer
    /// knows.
    ///
    /// # Panics
    ///
    /// If the handshake does not go as the document says.
    #[must_use]
    pub fn connect(
        host: &mut Host<ChaCha8Rng, A>,
        now: Instant,
        address: A,
        offer: &Offer,
    ) -> Self {
        let ours = 1000 + address.into();
        let mut buf = vec![0; host.max_datagram_size()];
        let body = offer.body(&id(address));
        host.handle_datagram(now, address, Ecn::NotEct, &request([ours, 0], &body));
        let cookie = next_to(host, now, address, &mut buf).expect("a cookie");
        assert_eq!(cookie[0], 0xC1);
        let nonces = [ours, nonce(cookie)];
        let mut again = encoder::long(0xD0, encoder::VERSION, nonces, &body);
        again.extend(encoder::long(0xC0, encoder::VERSION, nonces, &body));
        again.resize(encoder::PADDED, 0);
        let taken = host.handle_datagram(now, address, Ecn::NotEct, &again);
        assert!(matches!(taken, Disposition::Accepted(_)), "{taken:?}");
        let answer = next_to(host, now, address, &mut buf).expect("an acknowledgement");
        assert_eq!((answer[0], answer[23]), (0xD0, 4));
        let mut remote = Self {
            address,
            nonces,
            connection_id: answer[24..28].to_vec(),
            next: 0,
            newest: (0, 1),
            heard: BTreeMap::new(),
            shape: Shape {
                id_bytes: if offer.windows[1] > 14 { 3 } else { 2 },
                window: 1 << offer.windows[1],
                check: Some(Check {
                    is_crc: offer.integrity == 1,
                    nonces,
                }),
            },
        };
        // The first frame is behind the acknowledgement.
        let end = 3 + usize::from(u16::from_le_bytes([answer[1], answer[2]]));
        remote.hear(&answer[end..]);
        remote
    }

    /// The host tries to connect to this address, which has not answered yet.
    ///
    /// # Panics
    ///
    /// If the host sends no request.
    #[must_use]
    pub fn attempt(host: &mut Host<ChaCha8Rng, A>, now: Instant, address: A, window: u32) -> Self {
        let mut buf = vec![0; host.max_datagram_size()];
        let connects = host.connect(now, address);
        assert!(connects.is_ok(), "{connects:?}");
        let mut heard = None;
        while let Some(datagram) = next_to(host, now, address, &mut buf) {
            if datagram[0] == 0xC0 {
                heard = Some((nonce(datagram), datagram[24..28].to_vec()));
            }
        }
        let (theirs, connection_id) = heard.expect("a request");
        let nonces = [1000 + address.into(), theirs];
        Self {
            address,
            nonces,
            connection_id,
            next: 0,
            newest: (0, 1),
            heard: BTreeMap::new(),
            shape: Shape {
                id_bytes: 2,
                window,
                check: Some(Check {
                    is_crc: false,
                    nonces,
                }),
            },
        }
    }

    /// The next frame: its id is used up. The nonce sum of the acknowledgement is made right for the
    /// frames that came.
    pub fn short(&mut self, mut ack: Option<Ack>, messages: Vec<Message>) -> Short {
        if let Some(ack) = &mut ack {
            ack.nonces ^= self.nonces_of(ack);
        }
        let id = self.next;
        self.next += 1;
        Short {
            connection_id: self.connection_id.clone(),
            id,
            width: 4,
            nonce: false,
            ack_now: false,
            ack,
            messages,
        }
    }

    /// Notes the newest frame id of the host from one of its datagrams.
    pub fn hear(&mut self, datagram: &[u8]) {
        if let Some(&first @ 0x40..=0x7F) = datagram.first() {
            let width = (first >> 4 & 3) + 1;
            let mut low = [0; 4];
            let low_bytes = &datagram[1 + ID_LEN..];
            low[..usize::from(width)].copy_from_slice(&low_bytes[..usize::from(width)]);
            let id = expand(u32::from_le_bytes(low), width, self.newest.0);
            self.newest = (id, width);
            self.heard.insert(id, first & 2 != 0);
        }
    }

    /// The sum of the nonces of the frames that came and that this block acknowledges.
    fn nonces_of(&self, ack: &Ack) -> bool {
        let mut ids = vec![ack.largest];
        let below = |n: u32| ack.largest.checked_sub(n);
        ids.extend((0..32).filter_map(|bit| {
            let is_set = ack.map >> bit & 1 == 1;
            below(bit + 1).filter(|_| is_set)
        }));
        let mut end = u64::from(ack.largest).saturating_sub(32);
        for (gap, length) in &ack.ranges {
            end = end.saturating_sub((*gap).into());
            let start = end.saturating_sub((*length).into());
            let range = |id: u64| u32::try_from(id).unwrap_or(u32::MAX);
            ids.extend(
                self.heard
                    .range(range(start)..range(end))
                    .map(|(&id, _)| id),
            );
            end = start;
        }
        let bits = ids.iter().map(|id| self.heard.get(id) == Some(&true));
        bits.fold(false, |sum, bit| sum ^ bit)
    }
}

/// The id nearest to the newest known one that has these low bytes.
fn expand(low: u32, width: u8, newest: u32) -> u32 {
    if width == 4 {
        return low;
    }
    let reach = 1_i64 << (8 * width - 2);
    let next = i64::from(newest) + 1;
    let start = (next - 3 * reach).max(0);
    let ahead = (i64::from(low) - start).rem_euclid(4 * reach);
    u32::try_from(start + ahead).unwrap_or(low)
}

/// The next datagram to this address. Datagrams to other addresses are lost.
fn next_to<'b, A: Address>(
    host: &mut Host<ChaCha8Rng, A>,
    now: Instant,
    address: A,
    buf: &'b mut [u8],
) -> Option<&'b [u8]> {
    loop {
        let transmit = host.poll_transmit(now, buf)?;
        if transmit.to == address {
            let len = transmit.datagram.len();
            return Some(&buf[..len]);
        }
    }
}

/// The connection id that a remote at this address gives the host.
fn id(address: impl Into<u64>) -> [u8; ID_LEN] {
    [address.into().to_le_bytes()[0]; ID_LEN]
}

/// A padded REQ with these nonces.
#[must_use]
pub fn request(nonces: [u64; 2], body: &[u8]) -> Vec<u8> {
    let mut datagram = encoder::long(0xC0, encoder::VERSION, nonces, body);
    datagram.resize(encoder::PADDED, 0);
    datagram
}

/// `nonce_self` of a long form.
///
/// # Panics
///
/// If the datagram is too short to be a long form.
#[must_use]
pub fn nonce(datagram: &[u8]) -> u64 {
    u64::from_le_bytes(datagram[crate::nonce_self()].try_into().expect("8 bytes"))
}
