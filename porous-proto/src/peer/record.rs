//! Datagrams of a connection without the payloads of its packets, for recorders (`docs/trace.md`, "Without
//! payloads").

use alloc::vec::Vec;

use arrayvec::ArrayVec;

use super::Peer;
use super::session::Session;
use crate::frame::{Check, ConnectionId, Ids, Message, Short, TAG};
use crate::serial;

impl Peer {
    /// The id by which the remote host knows the connection, if there is one.
    pub(crate) fn remote_connection_id(&self) -> Option<ConnectionId> {
        self.phase.session().map(Session::remote_connection_id)
    }

    /// The short form with zeros for the payloads of packets, and the check that it then has. `None` if it is
    /// not of this connection. `is_sent`: this host has sent it, else it has come.
    pub(crate) fn without_payloads(&self, short: &Short<'_>, is_sent: bool) -> Option<Vec<u8>> {
        #[cfg(feature = "seal")]
        if self.is_sealed() {
            return Some(short.bytes.to_vec()); // nobody reads it without its keys
        }
        self.phase.session()?.without_payloads(short, is_sent)
    }
}

impl Session {
    fn without_payloads(&self, short: &Short<'_>, is_sent: bool) -> Option<Vec<u8>> {
        let (frames, acked) = (
            self.transfer.inbound.next(),
            self.transfer.outbound.later_acks.next(),
        );
        let sent = self.transfer.outbound.queue.next();
        let (frames, acked) = if is_sent {
            (sent, frames)
        } else {
            (frames, acked)
        };
        let newest = short.newest_acked().ok()?;
        let newest = newest.map(|(low, width)| serial::expand_frame(low, width.into(), acked));
        let ids = Ids {
            frame: serial::expand_frame(short.id_low, short.id_width.into(), frames)?,
            acked: match newest {
                Some(newest) => Some(newest?),
                None => None,
            },
        };
        let Check {
            integrity,
            ours,
            theirs,
        } = self.check;
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
            .decode_body(self.agreement.context(), &mut messages)
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
}
