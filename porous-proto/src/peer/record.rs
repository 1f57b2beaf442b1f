//! Datagrams of a connection without the payloads of its packets, for recorders (`docs/trace.md`, "Without
//! payloads").

use alloc::vec::Vec;

use arrayvec::ArrayVec;

use super::Peer;
use super::session::Session;
use crate::frame::{Check, ConnectionId, Ids, Message, Short, TAG};
use crate::serial;

/// The id by which the remote host of a peer knows the connection, if there is one.
pub(crate) fn remote_connection_id(peer: &Peer) -> Option<ConnectionId> {
    peer.phase.session().map(Session::remote_connection_id)
}

/// The short form of a peer with zeros for the payloads of packets, and the check that it then has. `None` if it is
/// not of this connection. `is_sent`: this host has sent it, else it has come.
pub(crate) fn without_payloads(peer: &Peer, short: &Short<'_>, is_sent: bool) -> Option<Vec<u8>> {
    #[cfg(feature = "seal")]
    if peer.is_sealed() {
        return Some(short.bytes.to_vec()); // nobody reads it without its keys
    }
    let session = peer.phase.session()?;
    let ids = whole_ids(session, short, is_sent)?;
    let Check {
        integrity,
        ours,
        theirs,
    } = session.check;
    // `append` is asked by the sender, and `verify` by the receiver.
    let (sender, receiver) = if is_sent {
        (ours, theirs)
    } else {
        (theirs, ours)
    };
    let check = |ours, theirs| Check {
        integrity,
        ours,
        theirs,
    };
    check(receiver, sender).verify(short.bytes, ids).ok()?;
    let mut blank = short.bytes.to_vec();
    let mut messages = ArrayVec::new();
    short
        .decode_body(session.agreement.context(), &mut messages)
        .ok()?;
    for message in messages {
        if let Message::Packet(packet) = message {
            let at = packet.payload.as_ptr().addr() - short.bytes.as_ptr().addr();
            blank.get_mut(at..at + packet.payload.len())?.fill(0);
        }
    }
    let length = blank.len().checked_sub(TAG)?;
    check(sender, receiver)
        .append(&mut blank, length, ids)
        .ok()?;
    Some(blank)
}

/// The ids that a short form means.
fn whole_ids(session: &Session, short: &Short<'_>, is_sent: bool) -> Option<Ids> {
    let (frames, acked) = (
        session.transfer.inbound.next(),
        session.transfer.outbound.later_acks.next(),
    );
    let sent = session.transfer.outbound.queue.next();
    let (frames, acked) = if is_sent {
        (sent, frames)
    } else {
        (frames, acked)
    };
    let newest = short.newest_acked().ok()?;
    let newest = newest.map(|(low, width)| serial::expand_frame(low, width.into(), acked));
    Some(Ids {
        frame: serial::expand_frame(short.id_low, short.id_width.into(), frames)?,
        acked: match newest {
            Some(newest) => Some(newest?),
            None => None,
        },
    })
}
