//! `porous send` and `porous recv`: a file from one machine to another.

mod message;
mod name;
mod outgoing;
mod partial;
mod progress;
pub(crate) mod recv;
pub(crate) mod send;
mod sender;

use core::time::Duration;
use std::io;

use porous_std::{ChannelId, Config};

use crate::net::keys::sealed;

/// The application id, so that no other program connects by mistake: "porous-t".
const APPLICATION: u64 = u64::from_be_bytes(*b"porous-t");

/// The one channel. All packets are reliable.
const CHANNEL: ChannelId = ChannelId(0);

/// How long a connection is tried.
const CONNECT: Duration = Duration::from_secs(5);

/// How long a disk may keep one of the ends from answering the other.
const TIMEOUT: Duration = Duration::from_secs(20);

/// How long the last word of a connection may take.
const LAST: Duration = Duration::from_secs(5);

/// The configuration of both ends, on top of `base`.
fn config(base: Config, is_sealed: bool) -> io::Result<Config> {
    let config = base
        .application_id(APPLICATION)
        .connect_timeout(CONNECT)
        .and_then(|config| config.timeout(TIMEOUT))
        .and_then(|config| config.disconnect_timeout(Duration::from_secs(1)))
        .map_err(io::Error::other)?;
    if is_sealed {
        sealed(config)
    } else {
        Ok(config)
    }
}

/// A hash as people write it.
fn digits(hash: &[u8]) -> String {
    base16ct::lower::encode_string(hash)
}

/// Bytes a second in words.
fn speed(bytes: u64, seconds: f64) -> String {
    let rate = bytes as f64 / seconds.max(1e-6);
    format!("{:.1} MB/s", rate / 1e6)
}
