//! A backend of [`bevy_replicon`] over POROUS: each of replicon's channels is one of a connection, as reliable and as
//! ordered as replicon declares it, and none waits for another.
//!
//! Add [`RepliconPorousPlugins`] beside replicon's own. A server inserts the resource [`PorousServer`], a client
//! [`PorousClient`]; both have a host of [`porous_std`] within, whose configuration comes from
//! [`PorousChannelsExt`].
//!
//! ```
//! use bevy::prelude::*;
//! use bevy::state::app::StatesPlugin;
//! use bevy_replicon::prelude::*;
//! use bevy_replicon_porous::{PorousChannelsExt, PorousClient, PorousServer, RepliconPorousPlugins};
//!
//! let app = || {
//!     let mut app = App::new();
//!     app.add_plugins((MinimalPlugins, StatesPlugin, RepliconPlugins, RepliconPorousPlugins));
//!     app.finish(); // all messages and events are registered
//!     app
//! };
//!
//! let mut server = app();
//! let config = server.world().resource::<RepliconChannels>().server_config()?;
//! let host = PorousServer::bind("127.0.0.1:0", config)?;
//! let address = host.host().local_addr()?;
//! server.insert_resource(host);
//!
//! let mut client = app();
//! let config = client.world().resource::<RepliconChannels>().client_config()?;
//! client.insert_resource(PorousClient::connect(address, config)?);
//!
//! while *client.world().resource::<State<ClientState>>() != ClientState::Connected {
//!     server.update();
//!     client.update();
//! }
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! # Channels
//!
//! | replicon | channel | mode |
//! |---|---|---|
//! | `Unreliable` | unordered | unreliable |
//! | `Unordered` | unordered | reliable |
//! | `Ordered` | ordered | reliable |
//!
//! Number `n` of the server's channels and number `n` of the clients' are one channel of the connection. They may be
//! of different kinds: the sender decides about the mode and the priority, and the receiver alone about the order. A
//! server sends replication with low priority, and all messages and events with high priority.
//!
//! # Disconnection
//!
//! [`DisconnectRequest`](bevy_replicon::prelude::DisconnectRequest), and an entity of a client that is despawned,
//! disconnect the client when it has got all that was sent before, or [`FLUSH_DEADLINE`] has passed. The numbers in
//! [`reason`] tell the other side why.
//!
//! # A connection that is too slow
//!
//! What waits for one peer has a limit, [`Config::send_budget`](porous_std::Config::send_budget). An unreliable message
//! that finds no room is dropped, as it might be anywhere on its way, and [`PorousUnsent`] counts. A reliable one
//! cannot be dropped: without it the worlds differ for good. So the connection ends, with
//! [`reason::TOO_SLOW`] and a line in the log.
#![doc(test(attr(deny(warnings))))]

extern crate alloc;

use core::time::Duration;

use bevy::app::{PluginGroup, PluginGroupBuilder};

mod channels;
#[cfg(feature = "client")]
mod client;
mod line;
#[cfg(feature = "server")]
mod server;
mod stats;

pub use channels::PorousChannelsExt;
#[cfg(feature = "client")]
pub use client::{PorousClient, PorousServerDisconnected, RepliconPorousClientPlugin};
pub use line::{Host, Line};
#[cfg(feature = "server")]
pub use server::{
    PorousClientDisconnected, PorousPeer, PorousRequest, PorousServer, RepliconPorousServerPlugin,
};
pub use stats::PorousUnsent;

/// The longest time that messages may take that were sent before a disconnection.
pub const FLUSH_DEADLINE: Duration = Duration::from_secs(3);

/// The numbers by which this backend tells the other side why it disconnects:
/// [`ByPeer`](porous_std::DisconnectReason::ByPeer).
pub mod reason {
    /// The game has asked for it.
    pub const REQUESTED: u32 = 0;
    /// The connection does not carry the reliable messages: see
    /// [`Config::send_budget`](porous_std::Config::send_budget).
    pub const TOO_SLOW: u32 = 1;
    /// A reliable message is larger than [`Config::max_packet`](porous_std::Config::max_packet), or the two sides do
    /// not have the same channels.
    pub const UNSENDABLE: u32 = 2;
    /// The server [stops](crate::PorousServer::stop).
    pub const STOPPED: u32 = 3;
}

/// The plugins of the backend: [`RepliconPorousServerPlugin`] with the feature `server`, and
/// [`RepliconPorousClientPlugin`] with the feature `client`.
#[derive(Debug)]
pub struct RepliconPorousPlugins;

impl PluginGroup for RepliconPorousPlugins {
    fn build(self) -> PluginGroupBuilder {
        let group = PluginGroupBuilder::start::<Self>();
        #[cfg(feature = "server")]
        let group = group.add(RepliconPorousServerPlugin);
        #[cfg(feature = "client")]
        let group = group.add(RepliconPorousClientPlugin);
        group
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
