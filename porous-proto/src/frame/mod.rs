//! The forms of datagrams: what each says, and its one encoding (`docs/wire.md`, `docs/deviations.md` T25).
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

mod ack;
#[cfg(feature = "seal")]
mod auth;
#[cfg(feature = "record")]
mod blank;
mod connect;
mod connection_id;
mod control;
mod datagram;
mod disconnect;
mod integrity;
mod layout;
mod long;
#[cfg(feature = "seal")]
mod mac;
mod message;
mod message_codec;
mod offer;
mod refuse;
#[cfg(feature = "seal")]
mod sealed;
mod short;

#[cfg(test)]
pub(crate) use ack::MAX_RANGES;
pub(crate) use ack::{AckBlock, AckRange, Marks};
#[cfg(feature = "seal")]
pub(crate) use auth::{
    FirstAuth, KEY_MAX, KEY_TAG, Proof, SEAL_TAG, SecondAuth, TOKEN_MAX, Terms, prologue,
};
#[cfg(feature = "record")]
pub(crate) use blank::Blank;
#[cfg(feature = "seal")]
pub(crate) use connect::cookie_input;
pub(crate) use connect::{Connect, REQUEST_SIZE_MAX, REQUEST_SIZE_MIN, Request};
pub(crate) use connection_id::ConnectionId;
pub(crate) use control::MIN_PADDING;
pub use datagram::Malformed;
pub(crate) use datagram::{Datagram, Rest, decode};
pub(crate) use disconnect::{Disconnect, DisconnectAck, Reset};
pub use integrity::Integrity;
pub(crate) use integrity::{Check, Ids, TAG};
pub(crate) use layout::{Context, Layout};
pub(crate) use long::{LONG, VERSION};
#[cfg(feature = "seal")]
pub(crate) use mac::{
    Goodbye, MAC, WithMac, append_mac, encode_disconnect, encode_disconnect_ack, goodbye_of,
};
pub use message::Mode;
pub(crate) use message::{
    Control, Fates, Fragment, LEAST_FRAGMENT, Length, MAX_MESSAGES, Marker, Message, Packet,
};
pub(crate) use offer::{Channels, GREETING_MAX, Offer, PACKET_CHARGE, Suites, grease};
pub(crate) use refuse::Refuse;
pub use refuse::{Refusal, RefusalData};
#[cfg(feature = "seal")]
pub(crate) use sealed::{Sealed, decode_phased, decode_sealed};
#[cfg(feature = "seal")]
pub(crate) use short::KEY_PHASE;
pub(crate) use short::{Body, FORM, FrameWriter, Header, SHORT, Short};

#[cfg(test)]
mod tests;
