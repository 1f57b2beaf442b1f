//! Writes what was read once more, for tests: there is one spelling for everything, so that the same bytes
//! have to come of it.

use alloc::vec;
use alloc::vec::Vec;
use arrayvec::ArrayVec;

use crate::frame::{Context, FrameWriter, Header, Malformed, Rest, Short, decode};
use crate::wire::NoRoom;

/// Decodes all of a datagram and encodes it again, without a look at its check.
///
/// # Panics
///
/// If what is written has more bytes than the datagram.
pub(crate) fn reencode(
    datagram: &[u8],
    connection_id_len: usize,
    context: Context,
) -> Result<Vec<u8>, Malformed> {
    let decoded = decode(datagram, connection_id_len)?;
    let write = |encode: &dyn Fn(&mut [u8]) -> Result<usize, NoRoom>| {
        let mut buffer = vec![0; datagram.len()];
        let length = encode(&mut buffer).expect("no more bytes than there were");
        buffer.truncate(length);
        buffer
    };
    let mut again = Vec::new();
    if let Some(acknowledge) = &decoded.acknowledge {
        let known = write(&|buffer| acknowledge.encode_acknowledge(buffer));
        again = with_unknown(known, datagram);
    }
    again.extend(match &decoded.rest {
        Rest::Nothing => Vec::new(),
        Rest::Request(request) => {
            let known = write(&|buffer| request.connect.encode_request(request.greeting, buffer));
            let form = datagram.get(again.len()..);
            let mut bytes = with_unknown(known, form.expect("an acknowledgement is a part of it"));
            let length = request.datagram_length.checked_sub(again.len());
            bytes.resize(length.expect("an acknowledgement is a part of it"), 0);
            bytes
        }
        // Nothing but the head is known of it.
        Rest::OtherVersion { .. } => datagram.to_vec(),
        Rest::Refuse(refuse) => write(&|buffer| refuse.encode(buffer)),
        Rest::Disconnect(disconnect) => write(&|buffer| disconnect.encode(buffer)),
        Rest::DisconnectAck(ack) => write(&|buffer| ack.encode(buffer)),
        Rest::Reset(reset) => write(&|buffer| reset.encode(buffer)),
        Rest::Short(form) => reencode_short(form, context)?,
    });
    Ok(again)
}

/// A form with the parameters that are not known: they are taken over from the form at the front of
/// `original`, whose length counts them.
fn with_unknown(mut known: Vec<u8>, original: &[u8]) -> Vec<u8> {
    let prefix = original.first_chunk().expect("it was decoded");
    let [_, low, high] = *prefix;
    let end = prefix.len() + usize::from(u16::from_le_bytes([low, high]));
    // They stand behind all that are known: types ascend.
    let unknown = original.get(known.len()..end);
    let unknown = unknown.expect("no more bytes than there were");
    let Some(&first) = unknown.first() else {
        return known;
    };
    // One with a lower type was read and not written again.
    assert!(first > 14, "known: {unknown:02x?}");
    known.extend(unknown);
    if let Some(length) = known.get_mut(1..3) {
        length.copy_from_slice(&[low, high]);
    }
    known
}

fn reencode_short(form: &Short<'_>, context: Context) -> Result<Vec<u8>, Malformed> {
    let mut messages = ArrayVec::new();
    let body = form.decode_body(context, &mut messages)?;
    let header = Header {
        connection_id: form.connection_id,
        id: form.id_low.into(),
        id_width: form.id_width,
        nonce: form.nonce,
        ack_now: form.ack_now,
    };
    let mut buffer = vec![0; form.bytes.len()];
    let mut write = || {
        let mut frame = FrameWriter::new(&mut buffer, &header, body.ack.as_ref(), context)?;
        let last = messages.len().checked_sub(1);
        for (i, message) in messages.iter().enumerate() {
            // The last message has no length of its own, unless padding follows.
            frame.message(message, body.padding == 0 && Some(i) == last)?;
        }
        if body.padding > 0 {
            frame.padding(body.padding)?;
        }
        Ok::<_, NoRoom>(frame.finish())
    };
    let length = write().expect("no more bytes than there were");
    buffer.truncate(length);
    // The check is taken over: to make it anew would take the nonces of both hosts.
    let tag = form.bytes.len().checked_sub(context.tag);
    buffer.extend(
        tag.and_then(|tag| form.bytes.get(tag..))
            .unwrap_or_default(),
    );
    Ok(buffer)
}
