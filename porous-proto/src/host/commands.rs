//! The commands of the application.

use alloc::vec::Vec;

use bytes::Bytes;
use rand_core::CryptoRng;

use super::replies::Reply;
use super::{Address, ChannelId, Host, PeerId};
use crate::error::{ConnectError, ListenError, SendError, UnknownPeer};
use crate::event::{Disconnect, Listen, Received};
use crate::frame::ConnectionId;
use crate::options::SendOptions;
use crate::peer::{Identity, Peer};
use crate::time::Instant;

impl<R: CryptoRng, A: Address> Host<R, A> {
    /// Whether strangers are answered. A host begins [`Closed`](Listen::Closed).
    ///
    /// # Errors
    ///
    /// [`ListenError::NotAllowed`] if the configuration is a client's.
    ///
    /// ```
    /// use porous_proto::{Config, Host, Listen};
    /// # use porous_proto::doc::example_rng;
    ///
    /// let mut host = Host::<_, u32>::new(Config::new(), example_rng());
    /// host.listen(Listen::Open)?;
    /// # Ok::<(), porous_proto::ListenError>(())
    /// ```
    pub const fn listen(&mut self, policy: Listen) -> Result<(), ListenError> {
        if !self.config.may_listen() && !matches!(policy, Listen::Closed) {
            return Err(ListenError::NotAllowed);
        }
        self.listen = policy;
        Ok(())
    }

    /// Connects to a host (§2.3). If both hosts connect to each other, one connection comes of it.
    /// The outcome is an event: `Connected` or `Disconnected`. A host cannot connect to itself, for
    /// its own datagrams may as well come back from a mirror.
    ///
    /// # Errors
    ///
    /// [`ConnectError::AlreadyConnected`] if there is a live peer at this address, unless it is
    /// [`Disconnecting`](crate::PeerState::Disconnecting): a new connection need not wait for the end of
    /// the old one. [`ConnectError::OutOfConnectionIds`] if no free connection id was found.
    ///
    /// ```
    /// use porous_proto::{Config, Host, Instant};
    /// # use porous_proto::doc::example_rng;
    ///
    /// let mut host = Host::<_, u32>::new(Config::client(), example_rng());
    /// let peer = host.connect(Instant::ZERO, 7)?;
    /// assert_eq!(host.address(peer), Some(7));
    /// # Ok::<(), porous_proto::ConnectError>(())
    /// ```
    pub fn connect(&mut self, now: Instant, to: A) -> Result<PeerId, ConnectError> {
        self.connect_any(now, &[to])
    }

    pub(super) fn identity(&self, nonce: u64, connection_id: ConnectionId) -> Identity {
        Identity {
            nonce,
            connection_id,
            secret: self.cookies.hash(&nonce),
        }
    }

    /// Sends a packet on a channel (§2.4). It is queued, and leaves when the driver
    /// [polls](Self::poll_transmit) and the windows allow. A [`Bytes`] is not copied here: other
    /// peers may share it. A packet of one fragment is not copied until its datagram is written; the
    /// fragments of a larger one are, when they are about to be sent. How it is delivered say its
    /// [options](SendOptions), or its mode alone.
    ///
    /// # Errors
    ///
    /// See [`SendError`]. The packet is not queued then.
    ///
    /// ```
    /// use porous_proto::{ChannelId, Mode};
    /// # use porous_proto::doc::example_pair;
    ///
    /// # let (mut host, peer) = example_pair();
    /// host.send(peer, ChannelId(0), &b"hello"[..], Mode::Reliable)?;
    /// # Ok::<(), porous_proto::SendError>(())
    /// ```
    pub fn send(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        packet: impl Into<Bytes>,
        options: impl Into<SendOptions>,
    ) -> Result<(), SendError> {
        let now = self.now;
        let target = self.peers.get_mut(peer).ok_or(SendError::UnknownPeer)?;
        let sent = target.send(now, channel, packet.into(), options.into());
        if target.has_receipts() {
            self.settle(peer.slot); // of packets that it dropped to make room, or replaced
        }
        if sent.is_ok() {
            self.schedule.set_ready(peer.slot);
        }
        sent
    }

    /// Cancels the packets of a channel that were sent with this
    /// [receipt](SendOptions::receipt). What has not been sent never is; of what has been sent in
    /// part or may have been lost, nothing is sent any more. What is on its way may arrive all the
    /// same: the receipt tells. The others do not wait for it: a reliable packet that was cancelled
    /// is passed over.
    ///
    /// Whether there was any such packet, of which something would have been sent, or sent again if
    /// it is lost.
    ///
    /// ```
    /// use porous_proto::{ChannelId, Event, Mode, Outcome, SendOptions};
    /// # use porous_proto::doc::example_pair;
    ///
    /// # let (mut host, peer) = example_pair();
    /// # while host.poll_event().is_some() {}
    /// let order = SendOptions::new(Mode::Reliable).receipt(7);
    /// host.send(peer, ChannelId(0), &b"build a tank"[..], order)?;
    /// assert!(host.cancel(peer, ChannelId(0), 7));
    /// let (token, outcome) = (7, Outcome::Cancelled);
    /// assert_eq!(host.poll_event(), Some(Event::Receipt { peer, token, outcome }));
    /// # Ok::<(), porous_proto::SendError>(())
    /// ```
    pub fn cancel(&mut self, peer: PeerId, channel: ChannelId, token: u64) -> bool {
        let target = self.peers.get_mut(peer);
        let any = target.is_some_and(|target| target.cancel(channel, token));
        if any {
            self.settle(peer.slot);
        }
        any
    }

    /// Changes the [cap](crate::Channel::rate) of a channel to one peer, in bytes a second, from 1
    /// to `u32::MAX`, which is none; 0 counts as 1. What the old cap held back is looked at anew.
    ///
    /// # Errors
    ///
    /// [`SendError::UnknownPeer`], [`SendError::UnknownChannel`], or
    /// [`SendError::NotConnected`] while it is not known how many channels there are.
    ///
    /// ```
    /// use porous_proto::ChannelId;
    /// # use porous_proto::doc::example_pair;
    ///
    /// # let (mut host, peer) = example_pair();
    /// host.set_channel_rate(peer, ChannelId(0), 20_000)?;
    /// # Ok::<(), porous_proto::SendError>(())
    /// ```
    pub fn set_channel_rate(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        bytes_a_second: u32,
    ) -> Result<(), SendError> {
        let now = self.now;
        let target = self.peers.get_mut(peer).ok_or(SendError::UnknownPeer)?;
        target.set_channel_rate(now, channel, bytes_a_second)?;
        self.settle(peer.slot);
        Ok(())
    }

    /// The next packet that has arrived from a peer and can be delivered, of any channel (§3.2.3).
    /// Consuming packets is what lets the remote host send more.
    ///
    /// ```
    /// # use porous_proto::doc::example_pair;
    /// # let (mut host, peer) = example_pair();
    /// while let Some(received) = host.receive(peer) {
    ///     let _ = (received.channel, received.mode, received.payload);
    /// }
    /// ```
    pub fn receive(&mut self, peer: PeerId) -> Option<Received> {
        let now = self.now;
        let target = self.peers.get_mut(peer)?;
        let received = target.receive(now);
        // Window acknowledgements may have become due, or a peer that has ended was read empty.
        self.settle(peer.slot);
        received
    }

    /// Disconnects from all peers, as [`disconnect`](Self::disconnect) does from one, and lets nobody
    /// in any more. Those that are being flushed go like this from now on, and those that wait for an
    /// acknowledgement of their disconnection as they do.
    ///
    /// ```
    /// use porous_proto::{Disconnect, Instant, PeerState};
    /// # use porous_proto::doc::example_pair;
    ///
    /// # let (mut host, peer) = example_pair();
    /// host.disconnect_all(Instant::ZERO, Disconnect::Now { reason: 0 });
    /// assert_eq!(host.peer(peer).unwrap().state(), PeerState::Disconnecting);
    /// ```
    pub fn disconnect_all(&mut self, now: Instant, how: Disconnect) {
        self.listen = Listen::Closed;
        let live = |(id, peer): (_, &Peer)| peer.state().is_live().then_some(id);
        let peers: Vec<_> = self.peers.iter().filter_map(live).collect();
        for peer in peers {
            // All of them are there.
            let _known = self.disconnect(now, peer, how);
        }
    }

    /// Disconnects from a peer (§2.5), or gives up connecting. Its `Disconnected` event follows.
    ///
    /// # Errors
    ///
    /// [`UnknownPeer`] if there is none, or if it has ended.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_proto::{Disconnect, Instant};
    /// # use porous_proto::doc::example_pair;
    ///
    /// # let (mut host, peer) = example_pair();
    /// let how = Disconnect::Flush { reason: 0, deadline: Duration::from_secs(2) };
    /// host.disconnect(Instant::ZERO, peer, how)?;
    /// # Ok::<(), porous_proto::UnknownPeer>(())
    /// ```
    pub fn disconnect(
        &mut self,
        now: Instant,
        peer: PeerId,
        how: Disconnect,
    ) -> Result<(), UnknownPeer> {
        let tick = self.advance(now);
        let target = self.peers.get_mut(peer).ok_or(UnknownPeer)?;
        if !target.state().is_live() {
            return Err(UnknownPeer);
        }
        let nonce_self = target.nonce();
        let remotes = self.remotes(peer.slot);
        if let Some(target) = self.peers.get_mut(peer) {
            target.disconnect(how, tick.now);
        }
        // Who was given up while connecting is told once, as far as we know who it is.
        let (Disconnect::Flush { reason, .. } | Disconnect::Now { reason }) = how;
        for (address, nonce_peer) in remotes {
            let bye = Reply::Disconnect {
                nonce_self,
                nonce_peer,
                reason,
            };
            self.replies.push(address, bye);
        }
        self.settle(peer.slot);
        Ok(())
    }
}
