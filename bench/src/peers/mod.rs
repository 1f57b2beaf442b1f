//! The adapters, a file each.

pub(crate) mod kcp;
pub(crate) mod porous;
pub(crate) mod quinn;
pub(crate) mod renet;
pub(crate) mod rusty_enet;
