//! What a peer of Godot asks of a host.

use porous_std::{
    Bytes, ChannelId, Conditioner, Disconnect, Event, Listen, Peer, PeerId, Received, SendError,
    SendOptions, UdpHost,
};

/// A host on a network: a [`UdpHost`], or one in a simulation. The methods are those of hosts.
pub trait Net {
    /// How the network names hosts.
    type Address;

    /// The next event.
    fn poll_event(&mut self) -> Option<Event<Self::Address>>;
    /// The next packet of this peer.
    fn receive(&mut self, peer: PeerId) -> Option<Received>;
    /// Queues a packet.
    ///
    /// # Errors
    ///
    /// Those of [`UdpHost::send`].
    fn send(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        packet: Bytes,
        options: SendOptions,
    ) -> Result<(), SendError>;
    /// Ends a connection, if it is there.
    fn disconnect(&mut self, peer: PeerId, how: Disconnect);
    /// Whether newcomers are let in. A host that may not listen stays as it is.
    fn listen(&mut self, policy: Listen);
    /// A peer, if it is there.
    fn peer(&self, peer: PeerId) -> Option<&Peer>;
    /// 32 bits that nobody can predict.
    fn random(&mut self) -> u32;
}

impl<C: Conditioner> Net for UdpHost<C> {
    type Address = core::net::SocketAddr;

    fn poll_event(&mut self) -> Option<Event<Self::Address>> {
        Self::poll_event(self)
    }

    fn receive(&mut self, peer: PeerId) -> Option<Received> {
        Self::receive(self, peer)
    }

    fn send(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        packet: Bytes,
        options: SendOptions,
    ) -> Result<(), SendError> {
        Self::send(self, peer, channel, packet, options)
    }

    fn disconnect(&mut self, peer: PeerId, how: Disconnect) {
        // One that is gone needs no goodbye.
        let _ = Self::disconnect(self, peer, how);
    }

    fn listen(&mut self, policy: Listen) {
        // Only clients may not, and their games do not ask for it.
        let _ = Self::listen(self, policy);
    }

    fn peer(&self, peer: PeerId) -> Option<&Peer> {
        Self::peer(self, peer)
    }

    fn random(&mut self) -> u32 {
        // The host would not be here if the system had none: it has drawn its own from the same source.
        getrandom::u32().expect("random numbers of the system")
    }
}
