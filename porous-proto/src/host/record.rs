//! Datagrams without the payloads of packets, for recorders (`docs/trace.md`, "Without payloads").

use alloc::vec;
use alloc::vec::Vec;

use rand_core::CryptoRng;

use super::Host;
use crate::frame::{FORM, Rest, SHORT, Short, decode, decode_phased, decode_sealed};
use crate::ids::Address;
use crate::peer::Peer;

/// What a datagram holds beside its head.
enum Content<'a> {
    /// No packet.
    None,
    /// A short form, which may hold packets.
    Short(Short<'a>),
    /// Nobody can tell.
    Unknown,
}

impl<'a> Content<'a> {
    fn of(datagram: &'a [u8], connection_id_len: usize) -> Self {
        match decode(datagram, connection_id_len).map(|decoded| decoded.rest) {
            Ok(Rest::Short(short)) => Self::Short(short),
            Ok(
                Rest::Nothing
                | Rest::Request(_)
                | Rest::OtherVersion { .. }
                | Rest::Refuse(_)
                | Rest::Disconnect(_)
                | Rest::DisconnectAck(_)
                | Rest::Reset(_),
            ) => Self::None,
            Err(_) => Self::Unknown,
        }
    }
}

impl<R: CryptoRng, A: Address> Host<R, A> {
    /// A datagram that has come from `from`, with zeros for the payloads of packets, and the check that it then
    /// has. `None` if it is of no connection that is known: ask again when the host has handled it.
    #[doc(hidden)]
    #[must_use]
    pub fn received_without_payloads(&self, from: A, datagram: &[u8]) -> Option<Vec<u8>> {
        let len = usize::from(self.local.config.connection_id_len);
        if self.is_of_sealed(datagram, len) {
            return Some(datagram.to_vec());
        }
        match Content::of(datagram, len) {
            Content::None => Some(datagram.to_vec()),
            Content::Short(short) => {
                let peer = self.table.connection(from, short.connection_id)?;
                replaced(datagram, &short, peer.without_payloads(&short, false)?)
            }
            Content::Unknown => None,
        }
    }

    /// The head of a datagram that has come, as far as it can be told without its connection, and zeros.
    #[doc(hidden)]
    #[must_use]
    pub fn head_alone(&self, datagram: &[u8]) -> Vec<u8> {
        let len = usize::from(self.local.config.connection_id_len);
        let kept = match Content::of(datagram, len) {
            Content::None => datagram.len(),
            Content::Short(short) => datagram.len() - short.bytes.len() + 1 + len,
            Content::Unknown => 1,
        };
        let mut bytes = vec![0; datagram.len()];
        for (to, from) in bytes.iter_mut().zip(datagram).take(kept) {
            *to = *from;
        }
        bytes
    }

    /// A datagram that this host has sent to `to`, with zeros for the payloads of packets, and the check that
    /// it then has. `None` if it is of no connection that is known.
    #[doc(hidden)]
    #[must_use]
    pub fn sent_without_payloads(&self, to: A, datagram: &[u8]) -> Option<Vec<u8>> {
        let has_short = datagram.first().is_some_and(|byte| byte & FORM == SHORT);
        // Whatever the length of the remote host's ids is, what follows an acknowledgement is a short form.
        if !has_short && matches!(Content::of(datagram, 0), Content::None) {
            return Some(datagram.to_vec());
        }
        let is_its = |peer: &Peer| self.sent_by(peer, datagram).is_some();
        let slot = self.table.find(to, is_its);
        let at_address = slot.and_then(|slot| self.peer(self.table.id(slot)));
        // A challenge goes to an address that the peer does not have yet.
        let peer = at_address.or_else(|| {
            let mut peers = self.table.iter().map(|(_, member)| &member.peer);
            peers.find(|peer| is_its(peer))
        });
        self.sent_by(peer?, datagram)
    }

    /// A datagram to a peer, without payloads; `None` if it goes to another one.
    fn sent_by(&self, peer: &Peer, datagram: &[u8]) -> Option<Vec<u8>> {
        let id = peer.remote_connection_id()?;
        if self.is_of_sealed(datagram, id.as_bytes().len()) {
            return Some(datagram.to_vec());
        }
        match Content::of(datagram, id.as_bytes().len()) {
            Content::Short(short) if short.connection_id == id => {
                replaced(datagram, &short, peer.without_payloads(&short, true)?)
            }
            Content::Short(_) | Content::None | Content::Unknown => None,
        }
    }

    /// Whether a datagram is of a sealed connection: nobody reads the payloads in it.
    fn is_of_sealed(&self, datagram: &[u8], connection_id_len: usize) -> bool {
        !self.local.offer.sealed.is_empty()
            && (decode_sealed(datagram, connection_id_len).is_some()
                || decode_phased(datagram, connection_id_len).is_some())
    }
}

/// The datagram with another short form of the same length at its end.
fn replaced(datagram: &[u8], short: &Short<'_>, by: Vec<u8>) -> Option<Vec<u8>> {
    let mut bytes = datagram.to_vec();
    let start = bytes.len().checked_sub(short.bytes.len())?;
    bytes.truncate(start);
    bytes.extend(by);
    Some(bytes)
}
