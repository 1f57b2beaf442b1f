//! POROUS (packetized, optionally-reliable, orthogonal UDP streams) is a network protocol for games. This
//! crate is the protocol as a pure state machine.
//!
//! A [`Host`] holds the connections of one socket, and never touches a socket, a clock or a source
//! of entropy: a driver hands in the time and the datagrams that arrived, and takes out the
//! datagrams that are to be sent. The same core therefore runs over `std::net` (see the crate
//! `porous-std`), in a console's own socket layer, on a microcontroller, in a simulator and under
//! a fuzzer. It needs `alloc` and nothing else.
//!
//! # What it does
//!
//! A connection carries packets on up to 255 channels. Each packet is sent in one of three
//! [modes](Mode): *unreliable* packets are sent once and may arrive, *reliable* ones are repeated until
//! they arrive, *passive* ones are repeated as well, but no other packet waits for them. Packets of one
//! channel are delivered in the order in which they were sent, or as they come if the receiver's channel
//! is [unordered](Channel::unordered); channels never wait for each other. [`SendOptions`] give a
//! packet a time to live, a receipt, copies in later datagrams, or a key of which only the newest packet
//! is sent. Packets may be larger than datagrams. Congestion control keeps the sender at a rate that the
//! network can carry.
//!
//! # The paper
//!
//! The protocol is that of David Petrizze's [paper], *Packetized, Optionally-Reliable, Orthogonal UDP
//! Streams (POROUS)*, revision 0.2 of November 2021. The paper lies in the repository of `uflow`, its
//! author's library, which has changed since. No part of this documentation needs the paper beside it. A
//! section (§) or the number of an equation at the end of a sentence is the paper's, for a reader who
//! compares; a letter and a number together name a row of `docs/deviations.md`, which lists what the paper
//! leaves open and what this crate does otherwise. `docs/wire.md` describes every byte.
//!
//! [paper]: https://github.com/lowquark/uflow/blob/bc734ead1d6f3a80d77c31d0c85f80aa55b75a84/whitepaper.pdf
//!
//! # The loop
//!
//! Call inputs and commands in any order, as often as you like. Then call
//! [`poll_transmit`](Host::poll_transmit) until it returns `None`, and
//! [`poll_event`](Host::poll_event) until it returns `None`. Then sleep until the time that
//! [`poll_timeout`](Host::poll_timeout) tells, or until a datagram comes, and call
//! [`handle_timeout`](Host::handle_timeout). A game loop may as well do all of this once a frame.
//!
//! ```
//! use porous_proto::{ChannelId, Config, Ecn, Event, Host, Instant, Listen, Mode};
//! # use porous_proto::hooks::doc::{ExampleRng, example_rng};
//!
//! // Two hosts in one process; numbers are their addresses, and datagrams arrive at once.
//! let mut client: Host<ExampleRng, u32> = Host::new(Config::client(), example_rng());
//! let mut server: Host<ExampleRng, u32> = Host::new(Config::new(), example_rng());
//! server.listen(Listen::Open)?;
//! let now = Instant::ZERO; // a driver reads its clock here
//! client.connect(now, 1)?;
//!
//! let mut buf = [0; 1200];
//! let mut greeting = None;
//! for _ in 0..6 {
//!     while let Some(transmit) = client.poll_transmit(now, &mut buf) {
//!         server.handle_datagram(now, 2, Ecn::NotEct, transmit.datagram);
//!     }
//!     while let Some(event) = client.poll_event() {
//!         if let Event::Connected { peer, .. } = event {
//!             client.send(peer, ChannelId(0), &b"hello"[..], Mode::Reliable)?;
//!         }
//!     }
//!     while let Some(transmit) = server.poll_transmit(now, &mut buf) {
//!         client.handle_datagram(now, 1, Ecn::NotEct, transmit.datagram);
//!     }
//!     while let Some(event) = server.poll_event() {
//!         if let Event::Readable { peer } = event {
//!             greeting = server.receive(peer).map(|received| received.payload);
//!         }
//!     }
//! }
//! assert_eq!(greeting.as_deref(), Some(&b"hello"[..]));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! # Time
//!
//! Four notions of time are easily mixed up.
//!
//! * **Now** is the driver's: an [`Instant`], counted from any moment that the driver chooses, passed
//!   into each call that needs it. The host keeps the latest that it was told, so a clock that runs
//!   backwards is taken to stand still.
//! * A **deadline** is the host's: [`poll_timeout`](Host::poll_timeout) tells when
//!   [`handle_timeout`](Host::handle_timeout) has something to do; a time in the past says that
//!   datagrams wait to be sent. The deadline changes with every other call, so ask for it last. To call
//!   `handle_timeout` early is harmless, to call it late costs quality.
//! * A **step** is a call of `handle_timeout`. The host measures the time between steps and waits at least
//!   that much longer than a round trip before it considers something lost: a game that steps 20 times a
//!   second must not blame the network for its own 50 ms. So hand in the datagrams that have arrived
//!   before each step. A step that comes far too late is a pause, and no peer is blamed for silence in
//!   it (T_step of §2.1).
//! * The **age** of a packet counts from the host's first look after [`send`](Host::send), which is told
//!   no time. Unreliable packets that wait longer than [`Config::unreliable_age`] are never sent, nor are
//!   packets that wait longer than their [`SendOptions::ttl`]; the others wait for as long as it takes. A
//!   game that sends states may look at [`Peer::queued_bytes`] as well, and send no new state while
//!   earlier ones still wait.
//!
//! # Who owns what
//!
//! Datagrams are borrowed, both ways: the host reads from and writes into the driver's buffers,
//! and keeps no reference to them. One buffer of [`max_datagram_size`](Host::max_datagram_size)
//! is enough. Packets are [`Bytes`], so that one allocation serves all fragments,
//! repetitions and receivers of a packet; the host drops its handle when nothing of the packet has to be
//! sent again. Events carry no packets: the application pulls them by [`receive`](Host::receive), and
//! that is what lets the remote host send more.
//!
//! # Errors and panics
//!
//! * An `Err` is the caller's mistake or a full buffer of its own, and says what to do. A call that
//!   returns one has changed nothing. `docs/errors.md` lists all of them, and each reason for which a
//!   connection ends.
//! * What comes from the network is never an `Err`: it is a [`Disposition`], a counter of
//!   [`HostStats`], or the [`DisconnectReason`] of an [`Event::Disconnected`]. No datagram can make
//!   the host panic, loop, or grow past a limit of its [`Config`].
//! * The one panic is documented: a buffer that is too short for
//!   [`poll_transmit`](Host::poll_transmit).
//! * No call blocks, and the work of each is bounded by its input and by the `Config`. The same
//!   inputs give the same outputs, byte for byte, on every machine.
//!
//! # Features
//!
//! All are off unless another crate asks for them.
//!
//! * `seal`: encrypted connections, the module `seal`. The drivers ask for it.
//! * `serde`: [`Config`] from and to text, such as a server's file of JSON or TOML, by the names of its setters; and
//!   statistics to text.
//! * `quic-lb`: connection ids that balancers read and nobody else, `route::QuicLbKey`.
//! * `record`, `audit` and `canary` are for `porous-trace` and for tests.
#![no_std]
#![doc(test(attr(deny(warnings))))]

extern crate alloc;
#[cfg(any(test, feature = "audit", feature = "canary"))]
extern crate std;

mod bucket;
mod buffers;
mod config;
pub mod congestion;
mod error;
mod event;
mod frame;
#[doc(hidden)]
pub mod hooks;
mod host;
mod ids;
mod options;
mod payload;
mod peer;
pub mod route;
#[cfg(feature = "seal")]
pub mod seal;
mod sequencing;
mod serial;
mod source;
mod stats;
mod time;
mod timer;
mod transfer;
mod wire;
mod words;

/// The bytes of a packet: `bytes::Bytes`, so that one allocation serves all of its holders.
#[doc(no_inline)]
pub use bytes::Bytes;
pub use config::{Channel, Config, Order, Policy, Priority};
pub use error::{
    AnswerError, BadAddress, ConfigError, ConnectError, ConnectionIdsError, ListenError, SendError,
    UnknownPeer,
};
pub use event::{
    Disconnect, DisconnectReason, Disposition, Ecn, Event, Ignored, Listen, Outcome, Received,
    Transmit,
};
pub use frame::{Integrity, Malformed, Mode, Refusal, RefusalData};
pub use host::{ConnectionIds, Host, ip_source};
pub use ids::{Address, ChannelId, PeerId};
pub use options::SendOptions;
pub use payload::Payload;
pub use peer::{Peer, PeerState};
pub use stats::{
    ChannelStats, FrameStats, HostStats, ModeCounts, PeerStats, ReceiveProgress, SendProgress,
};
pub use time::Instant;
pub use timer::Timer;

/// The names that most programs use, to be brought in by one line. The drivers' preludes have them
/// as well.
///
/// ```
/// use porous_proto::prelude::*;
///
/// let config = Config::new().channel(ChannelId(0), Channel::new(Priority::High).unordered())?;
/// # let _ = config;
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub mod prelude {
    #[doc(no_inline)]
    pub use bytes::Bytes;

    #[doc(no_inline)]
    pub use crate::{
        Channel, ChannelId, Config, ConnectionIds, Disconnect, DisconnectReason, Event, Listen,
        Mode, Outcome, PeerId, PeerState, Priority, Received, RefusalData, SendError, SendOptions,
    };

    #[cfg(feature = "seal")]
    #[doc(no_inline)]
    pub use crate::seal::{Credentials, Security, Suite};
}
