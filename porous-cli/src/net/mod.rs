//! What all commands share that are one end of a connection.

pub(crate) mod address;
pub(crate) mod keys;
pub(crate) mod link;
pub(crate) mod listener;
