//! Short forms without the payloads of packets, for recorders (`docs/trace.md`, "Without payloads").

use alloc::vec::Vec;

use arrayvec::ArrayVec;

use super::integrity::{Check, Ids, TAG};
use super::layout::Context;
use super::{Message, Short};

/// How zeros take the place of payloads in the short forms that one host of a plain connection sends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blank {
    /// As the sender makes checks.
    pub(crate) check: Check,
    pub(crate) context: Context,
}

impl Blank {
    /// The short form with these whole ids, with zeros for the payloads of packets, and the check that it then
    /// has. `None` if it makes no sense, or is not of this connection.
    pub(crate) fn blank(&self, short: &Short<'_>, ids: Ids) -> Option<Vec<u8>> {
        let received = Check {
            ours: self.check.theirs,
            theirs: self.check.ours,
            ..self.check
        };
        received.verify(short.bytes, ids).ok()?;
        let mut messages = ArrayVec::new();
        short.decode_body(self.context, &mut messages).ok()?;
        let mut blank = short.bytes.to_vec();
        let begin = short.bytes.as_ptr().addr();
        for message in messages {
            if let Message::Packet(packet) = message {
                let at = packet.payload.as_ptr().addr().checked_sub(begin)?;
                let end = at.checked_add(packet.payload.len())?;
                blank.get_mut(at..end)?.fill(0);
            }
        }
        let length = blank.len().checked_sub(TAG)?;
        self.check.append(&mut blank, length, ids).ok()?;
        Some(blank)
    }
}
