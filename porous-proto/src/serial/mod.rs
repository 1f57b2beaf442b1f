//! Sequence ids and their windows: the only modulo arithmetic of the crate.
//!
//! Every counter is a `u64` that never wraps. The moduli of the wire (X = 2³² of (1)-(3),
//! Y = 2¹⁶ or 2²⁴ of (16) and (17), and the short forms of frame ids) exist only in [`expand`] and
//! [`truncate`].

mod bits;
mod id;
mod window;

pub(crate) use bits::Bits;
pub(crate) use id::{expand, expand_frame, reach, truncate};
pub(crate) use window::{ReceiveWindow, SendWindow};
