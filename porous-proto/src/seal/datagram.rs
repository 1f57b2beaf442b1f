//! Short forms of sealed connections in their buffers: the head in the open, the body sealed, the tag behind
//! it (`docs/wire.md`, "Sealed short forms").

use alloc::vec::Vec;

use super::phases::{Opener, Sealed, Sealer};
use crate::frame::{KEY_PHASE, SEAL_TAG, Short};
use crate::time::{Instant, Micros};
use crate::wire::NoRoom;

/// A short form that is to be sealed, in the first bytes of a buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unsealed {
    /// The id of the frame.
    pub(crate) id: u64,
    /// Bytes of the head, which is sent in the open.
    pub(crate) head: usize,
    /// Bytes of the form, without a tag.
    pub(crate) len: usize,
}

impl Unsealed {
    /// Seals the form in place, and returns its length with the tag. `timeout` is T_rto.
    pub(crate) fn seal(
        &self,
        sealer: &mut Sealer,
        now: Instant,
        timeout: Micros,
        buffer: &mut [u8],
    ) -> Result<usize, NoRoom> {
        if sealer.phase(self.id, now, timeout) {
            *buffer.first_mut().ok_or(NoRoom)? |= KEY_PHASE;
        }
        let (form, room) = buffer.split_at_mut_checked(self.len).ok_or(NoRoom)?;
        let (head, body) = form.split_at_mut_checked(self.head).ok_or(NoRoom)?;
        let place = room.first_chunk_mut().ok_or(NoRoom)?;
        // A key that may seal no more ends the connection.
        *place = sealer.seal(self.id, head, body).ok_or(NoRoom)?;
        Ok(self.len.saturating_add(SEAL_TAG))
    }
}

/// Opens the short form `short` of the frame `id` into `scratch`, and gives the form as it was before it was
/// sealed, with the tag where a check would be. `None` if it does not open.
pub(crate) fn open<'s>(
    opener: &mut Opener,
    (short, id): (&Short<'s>, u64),
    now: Instant,
    timeout: Micros,
    scratch: &'s mut Vec<u8>,
) -> Option<Short<'s>> {
    scratch.clear();
    scratch.extend_from_slice(short.bytes);
    let (aad, sealed) = scratch.split_at_mut_checked(short.body)?;
    let (body, tag) = sealed.split_last_chunk_mut::<SEAL_TAG>()?;
    let frame = Sealed {
        id,
        phase: short.phase(),
        aad,
        tag,
    };
    opener.open(now, timeout, &frame, body).ok()?;
    Some(Short {
        bytes: scratch,
        ..short.clone()
    })
}
