//! What the tests of drivers share: hosts on real sockets, however they wait.

use core::net::SocketAddr;
use core::time::Duration;

use porous_proto::{
    ChannelId, Config, Disconnect, DisconnectReason, Mode, PeerId, Received, SendError,
};

/// Far longer than any test of a driver waits.
pub const LIMIT: Duration = Duration::from_secs(20);

/// A host, by its number, and one of its peers.
pub type End = (usize, PeerId);

/// Hosts on real sockets of the loopback interface, served by one driver. Hosts are numbered in the order in which
/// they are bound.
pub trait Drivers {
    /// Binds a host that lets everybody in.
    fn server(&mut self, config: Config) -> usize;

    /// Binds a host, and begins to connect it to this address.
    fn client(&mut self, config: Config, to: SocketAddr) -> usize;

    /// The address of a host.
    fn address(&self, host: usize) -> SocketAddr;

    /// Serves the hosts for this time at most, and returns what has happened.
    fn turn(&mut self, at_most: Duration) -> Vec<(End, Happened)>;

    /// Sends a packet.
    ///
    /// # Errors
    ///
    /// Those of [`Host::send`](porous_proto::Host::send).
    fn send(
        &mut self,
        from: End,
        channel: ChannelId,
        packet: Vec<u8>,
        mode: Mode,
    ) -> Result<(), SendError>;

    /// Ends a connection.
    fn disconnect(&mut self, end: End, how: Disconnect);

    /// The time since the hosts are served.
    fn elapsed(&self) -> Duration;

    /// Datagrams that a host has received, and datagrams that its system refused to send.
    fn counts(&self, host: usize) -> (u64, u64);
}

/// What happened at a peer of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// It is connected, to a host at this address.
    Connected(SocketAddr),
    /// This packet was received.
    Received(Received),
    /// It has ended, with this number of undelivered packets.
    Ended(DisconnectReason, u32),
}
