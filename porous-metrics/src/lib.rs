//! What the hosts of porous count and measure, for dashboards and for graphs in the game.
//!
//! [`Sampler`] tells it to whatever recorder the program has installed for the facade [`metrics`]: Prometheus,
//! StatsD, OpenTelemetry. [`History`] keeps the last minute of one connection, second by second.
//!
//! ```
//! use core::time::Duration;
//! use porous_metrics::Sampler;
//! use porous_std::{Config, Listen, UdpHost};
//!
//! // A recorder is installed here, and `porous_metrics::describe()` called.
//! let mut host = UdpHost::bind("127.0.0.1:0", Config::new())?;
//! host.listen(Listen::Open)?;
//! let mut sampler = Sampler::new("lobby");
//! # let mut turns = 0;
//! loop {
//!     host.wait(Duration::from_millis(15))?;
//!     while let Some(event) = host.poll_event() {
//!         let _ = event; // the game
//!     }
//!     if sampler.sample(host.host(), host.now()) {
//!         sampler.sample_socket(&host.socket_stats());
//!     }
//! #   turns += 1;
//! #   if turns == 3 { break }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Names
//!
//! | name | kind | labels besides `host` | unit |
//! |---|---|---|---|
//! | `porous_datagrams_total`, `porous_bytes_total` | counter | `direction`: sent, received | datagrams, bytes |
//! | `porous_ignored_total` | counter | `cause`: those of [`Ignored`](porous_proto::Ignored) | datagrams |
//! | `porous_handshakes_total` | counter | `step`: accepted, connected, source_full, overloaded | connections |
//! | `porous_tokens_refused_total` | counter | `cause`: those of `seal::TokenRefusal`, with the feature `seal` | clients |
//! | `porous_frames_total` | counter | `what`: sent, lost, spurious, marked | frames |
//! | `porous_socket_total` | counter | `what`: send_lost, send_delayed, receive_errors, answers_withheld | |
//! | `porous_peers` | gauge | `state`: connecting, connected, disconnecting | peers |
//! | `porous_rtt_seconds` | histogram | | seconds |
//! | `porous_loss_ratio` | histogram | `direction`: sent, received | 1 |
//! | `porous_queued_bytes` | histogram | | bytes |
//! | `porous_quality` | histogram | | 0 to 100 |
//!
//! The meaning of each is that of the field in [`HostStats`](porous_proto::HostStats),
//! [`FrameStats`](porous_proto::FrameStats), `SocketStats` or [`PeerStats`](porous_proto::PeerStats) that it
//! comes from. Frames that were really lost are `lost` less `spurious`.
//!
//! No label names a peer: each value of a label is a series of its own, which is kept long after the peer has
//! left.

#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;

mod history;
mod names;
mod sampler;

pub use history::{History, SECONDS, Second};
pub use names::{BUCKETS, describe};
pub use sampler::Sampler;
