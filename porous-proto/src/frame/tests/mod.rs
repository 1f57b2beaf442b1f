//! Tests of the codec as a whole: what decodes encodes to the same bytes, and the reverse.

mod canonical;
mod examples;
mod fuzz;
mod long_forms;
mod offers;
mod round_trip;
#[cfg(feature = "seal")]
mod sealed;

use alloc::vec;
use alloc::vec::Vec;
use arrayvec::ArrayVec;

use super::*;
use crate::hooks::codec::write_again as reencode;

/// The context of tests that name no other.
const CONTEXT: Context = Context {
    id_bytes: 2,
    window: 4096,
    tag: 0,
};

fn offer() -> Offer {
    let mut channels = Channels::new(5);
    channels.set_high(1, true);
    channels.set_high(4, true);
    Offer {
        application: 0x0123_4567_89AB_CDEF,
        channels,
        max_datagram: 1200,
        max_packet: 1 << 20,
        receive_budget: 4 << 20,
        frame_window_log2: 12,
        packet_window_log2: 12,
        send_rate: u32::MAX,
        receive_rate: 1 << 20,
        integrity: Integrity::Header,
        features: 0,
        path_mtu: None,
        sealed: Suites::default(),
        timeout_ms: None,
    }
}

fn connect() -> Connect {
    Connect {
        cookie: false,
        nonce_self: 0x1111_1111_1111_1111,
        nonce_peer: 0x2222_2222_2222_2222,
        connection_id: ConnectionId::new(&[0xC1, 0xC2, 0xC3, 0xC4]).unwrap(),
        offer: offer(),
    }
}

/// A connection id whose bytes all differ.
fn connection_id(len: usize) -> ConnectionId {
    let bytes: [u8; 20] = core::array::from_fn(|n| u8::try_from(n + 1).unwrap());
    ConnectionId::new(&bytes[..len]).unwrap()
}

fn header(connection_id_len: usize) -> Header {
    Header {
        connection_id: connection_id(connection_id_len),
        id: 0x0102_0304_0506_07D0,
        id_width: 1,
        nonce: false,
        ack_now: false,
    }
}

/// The bytes that `encode` writes.
fn bytes_of(encode: impl FnOnce(&mut [u8]) -> Result<usize, crate::wire::NoRoom>) -> Vec<u8> {
    let mut buffer = vec![0; 65_536];
    let length = encode(&mut buffer).unwrap();
    buffer.truncate(length);
    buffer
}

/// A short form with these messages.
fn short(
    header: &Header,
    ack: Option<&AckBlock>,
    messages: &[Message<&[u8]>],
    padding: usize,
    context: Context,
) -> Vec<u8> {
    bytes_of(|buffer| {
        let mut layout = Layout::new(context);
        let mut frame = FrameWriter::new(buffer, header, ack, &mut layout)?;
        for (i, message) in messages.iter().enumerate() {
            frame.message(message, padding == 0 && i + 1 == messages.len())?;
        }
        if padding > 0 {
            frame.padding(padding)?;
        }
        Ok(frame.finish())
    })
}
