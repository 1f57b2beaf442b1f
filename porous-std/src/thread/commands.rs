//! What the game tells the network thread.

use core::net::SocketAddr;

use porous_udp::{
    ChannelId, ConnectionIds, Disconnect, Listen, PeerId, RefusalData, SendError, SendOptions,
};

use super::known::Known;
use super::output::{Instruction, Question, ThreadError, Unsent, UnsentError};
use crate::{Bytes, Command, HostThread, Outgoing};

impl HostThread {
    /// Whether strangers may connect; at first they may not. [`Output::NotListening`] tells if this
    /// host may not listen at all.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if it was not queued.
    ///
    /// ```
    /// use porous_std::{Config, Listen, UdpHost};
    ///
    /// let mut server = UdpHost::bind("127.0.0.1:0", Config::new())?.spawn()?;
    /// server.listen(Listen::Open)?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// [`Output::NotListening`]: crate::Output::NotListening
    pub fn listen(&mut self, policy: Listen) -> Result<(), ThreadError> {
        self.command(Command::Listen(policy))
    }

    /// Begins to connect. [`Output::Connecting`] names the peer, or [`Output::NotConnecting`] tells
    /// why not; then the peer's events follow.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if it was not queued.
    ///
    /// ```
    /// use porous_std::{Config, UdpHost};
    ///
    /// let mut client = UdpHost::bind("127.0.0.1:0", Config::client())?.spawn()?;
    /// client.connect(([127, 0, 0, 1], 4000).into())?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// [`Output::Connecting`]: crate::Output::Connecting
    /// [`Output::NotConnecting`]: crate::Output::NotConnecting
    pub fn connect(&mut self, to: SocketAddr) -> Result<(), ThreadError> {
        self.connect_any(&[to])
    }

    /// As [`connect`](Self::connect), to a host that may be at any of these addresses: see
    /// [`connect_any`](crate::UdpHost::connect_any). Answers name the first of them.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if it was not queued.
    ///
    /// ```
    /// use porous_std::{Config, UdpHost};
    ///
    /// let mut client = UdpHost::bind("127.0.0.1:0", Config::client())?.spawn()?;
    /// client.connect_any(&["127.0.0.1:4000".parse()?, "127.0.0.1:4001".parse()?])?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn connect_any(&mut self, to: &[SocketAddr]) -> Result<(), ThreadError> {
        self.connect_with(to, &[])
    }

    /// As [`connect_any`](Self::connect_any), with a greeting of up to 255 bytes for the application of
    /// the remote host: see [`UdpHost::connect_with`](crate::UdpHost::connect_with). One that is
    /// too long is told by [`Output::NotConnecting`](crate::Output::NotConnecting).
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if it was not queued.
    ///
    /// ```
    /// use porous_std::{Config, UdpHost};
    ///
    /// let mut client = UdpHost::bind("127.0.0.1:0", Config::client())?.spawn()?;
    /// client.connect_with(&["127.0.0.1:4000".parse()?], b"name=Ada")?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn connect_with(&mut self, to: &[SocketAddr], greeting: &[u8]) -> Result<(), ThreadError> {
        self.command(Command::Connect {
            to: to.into(),
            greeting: greeting.into(),
        })
    }

    /// Lets a peer in that asked by [`Event::Request`](crate::Event::Request).
    /// [`Output::NotAnswered`](crate::Output::NotAnswered) tells if that was too late.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if it was not queued.
    ///
    /// ```
    /// use porous_std::{Config, PeerId, UdpHost};
    ///
    /// let mut server = UdpHost::bind("127.0.0.1:0", Config::new())?.spawn()?;
    /// server.accept(PeerId::from_u64(u64::MAX).unwrap())?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn accept(&mut self, peer: PeerId) -> Result<(), ThreadError> {
        self.command(Command::Accept(peer))
    }

    /// Turns a peer away that asked by [`Event::Request`](crate::Event::Request), with something
    /// for its application. [`Output::NotAnswered`](crate::Output::NotAnswered) tells if that was
    /// too late.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if it was not queued.
    ///
    /// ```
    /// use porous_std::{Config, PeerId, RefusalData, UdpHost};
    ///
    /// let mut server = UdpHost::bind("127.0.0.1:0", Config::new())?.spawn()?;
    /// let why = RefusalData::new(b"the match has begun").unwrap_or_default();
    /// server.refuse(PeerId::from_u64(u64::MAX).unwrap(), why)?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn refuse(&mut self, peer: PeerId, data: RefusalData) -> Result<(), ThreadError> {
        self.command(Command::Refuse { peer, data })
    }

    /// Queues a packet, and wakes the network thread to send it.
    ///
    /// What can be known is said at once. What is found out later, that the peer has ended or that
    /// its send budget is used up, brings the packet back as
    /// [`Output::Unsent`](crate::Output::Unsent). If that was for want of room
    /// ([`SendError::Full`]), all packets of whatever mode that were sent to this peer after it
    /// come back too, in their order, and none of them overtakes it. When
    /// [`Event::Writable`](crate::Event::Writable) comes, they have all come back: send them again,
    /// in that order, and go on.
    ///
    /// # Errors
    ///
    /// The packet, and why it was not queued. [`SendError::Full`]: one came back, and
    /// [`Event::Writable`](crate::Event::Writable) was not polled yet. [`ThreadError::Full`]: the
    /// queue to the thread, of 1 MiB and 64 bytes for each command included, is full; try again in
    /// the next tick.
    ///
    /// ```
    /// use porous_std::{ChannelId, Config, Mode, PeerId, SendError, UdpHost, UnsentError};
    ///
    /// let mut client = UdpHost::bind("127.0.0.1:0", Config::client())?.spawn()?;
    /// let nobody = PeerId::from_u64(u64::MAX).unwrap();
    /// let unsent = client.send(nobody, ChannelId(0), "hello", Mode::Reliable).unwrap_err();
    /// assert_eq!(unsent.error, UnsentError::Host(SendError::UnknownPeer));
    /// assert_eq!(unsent.packet.payload, "hello");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn send(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        packet: impl Into<Bytes>,
        options: impl Into<SendOptions>,
    ) -> Result<(), Unsent> {
        let payload = packet.into();
        let known = self.peers.get(&peer).ok_or(SendError::UnknownPeer);
        let checked = known.and_then(|known: &Known| known.check(channel, payload.len()));
        let packet = Outgoing {
            peer,
            channel,
            payload,
            options: options.into(),
        };
        let unsent = |error, packet| Unsent { packet, error };
        if let Err(error) = self.ready() {
            return Err(unsent(UnsentError::Thread(error), packet));
        }
        if let Err(error) = checked {
            return Err(unsent(UnsentError::Host(error), packet));
        }
        let instruction = Instruction::Command(Command::Send(packet));
        if let Err(Instruction::Command(Command::Send(packet))) = self.commands.push(instruction) {
            return Err(unsent(UnsentError::Thread(ThreadError::Ended), packet));
        }
        self.ringer.ring();
        Ok(())
    }

    /// Cancels the packets of a channel that were sent before with this receipt, as
    /// [`UdpHost::cancel`](crate::UdpHost::cancel) does. Their receipts tell what came of it; of
    /// those that come back as [`Output::Unsent`](crate::Output::Unsent) there are none.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if it was not queued.
    ///
    /// ```
    /// use porous_std::{ChannelId, Config, PeerId, UdpHost};
    ///
    /// let mut client = UdpHost::bind("127.0.0.1:0", Config::client())?.spawn()?;
    /// client.cancel(PeerId::from_u64(u64::MAX).unwrap(), ChannelId(0), 7)?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn cancel(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        token: u64,
    ) -> Result<(), ThreadError> {
        self.command(Command::Cancel {
            peer,
            channel,
            token,
        })
    }

    /// Ends a connection; [`Event::Disconnected`](crate::Event::Disconnected) comes when it has
    /// ended, and comes anyway if it has ended already.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if it was not queued.
    ///
    /// ```
    /// use porous_std::{Config, Disconnect, PeerId, UdpHost};
    ///
    /// let mut client = UdpHost::bind("127.0.0.1:0", Config::client())?.spawn()?;
    /// client.disconnect(PeerId::from_u64(u64::MAX).unwrap(), Disconnect::Now { reason: 0 })?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn disconnect(&mut self, peer: PeerId, how: Disconnect) -> Result<(), ThreadError> {
        self.command(Command::Disconnect { peer, how })?;
        if let Some(known) = self.peers.get_mut(&peer) {
            known.blocked = Some(SendError::Disconnecting);
        }
        Ok(())
    }

    /// Asks for what the host and its socket have counted: [`Output::Stats`](crate::Output::Stats)
    /// tells.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if it was not queued.
    ///
    /// ```
    /// use porous_std::{Config, Output, UdpHost};
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", Config::new())?.spawn()?;
    /// host.ask_stats()?;
    /// let output = loop {
    ///     // A game does something else meanwhile.
    ///     if let Some(output) = host.poll() {
    ///         break output;
    ///     }
    /// };
    /// assert!(matches!(output, Output::Stats { host, .. } if host.datagrams_sent == 0));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn ask_stats(&mut self) -> Result<(), ThreadError> {
        self.instruct(Instruction::AskStats)
    }

    /// Asks for what is counted and estimated for a peer:
    /// [`Output::PeerStats`](crate::Output::PeerStats) tells.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if it was not queued.
    ///
    /// ```
    /// use porous_std::{Config, PeerId, UdpHost};
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", Config::new())?.spawn()?;
    /// host.ask_peer_stats(PeerId::from_u64(u64::MAX).unwrap())?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn ask_peer_stats(&mut self, peer: PeerId) -> Result<(), ThreadError> {
        self.instruct(Instruction::Ask(peer, Question::Stats))
    }

    /// Asks how far a packet with this receipt has come
    /// ([`Peer::send_progress`](crate::Peer::send_progress)):
    /// [`Output::SendProgress`](crate::Output::SendProgress) tells.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if it was not queued.
    ///
    /// ```
    /// use porous_std::{ChannelId, Config, PeerId, UdpHost};
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", Config::new())?.spawn()?;
    /// host.ask_send_progress(PeerId::from_u64(u64::MAX).unwrap(), ChannelId(0), 7)?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn ask_send_progress(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        receipt: u64,
    ) -> Result<(), ThreadError> {
        self.instruct(Instruction::Ask(peer, Question::Sent(channel, receipt)))
    }

    /// Asks how much has come of the next packet of a channel that came in part
    /// ([`Peer::receive_progress`](crate::Peer::receive_progress)):
    /// [`Output::ReceiveProgress`](crate::Output::ReceiveProgress) tells.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if it was not queued.
    ///
    /// ```
    /// use porous_std::{ChannelId, Config, PeerId, UdpHost};
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", Config::new())?.spawn()?;
    /// host.ask_receive_progress(PeerId::from_u64(u64::MAX).unwrap(), ChannelId(0))?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn ask_receive_progress(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
    ) -> Result<(), ThreadError> {
        self.instruct(Instruction::Ask(peer, Question::Received(channel)))
    }

    /// Changes the cap of a channel to a peer, in bytes a second
    /// ([`Host::set_channel_rate`](crate::Host::set_channel_rate)); nothing happens if there is no
    /// such peer or channel.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if it was not queued.
    ///
    /// ```
    /// use porous_std::{ChannelId, Config, PeerId, UdpHost};
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", Config::new())?.spawn()?;
    /// host.set_channel_rate(PeerId::from_u64(u64::MAX).unwrap(), ChannelId(0), 20_000)?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn set_channel_rate(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        bytes_a_second: u32,
    ) -> Result<(), ThreadError> {
        self.command(Command::SetChannelRate {
            peer,
            channel,
            bytes_a_second,
        })
    }

    /// Changes the most that is sent to a peer, in bytes a second
    /// ([`Host::set_send_rate`](crate::Host::set_send_rate)); nothing happens if there is no such
    /// peer.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if it was not queued.
    ///
    /// ```
    /// use porous_std::{Config, PeerId, UdpHost};
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", Config::new())?.spawn()?;
    /// host.set_send_rate(PeerId::from_u64(u64::MAX).unwrap(), 20_000)?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn set_send_rate(&mut self, peer: PeerId, bytes_a_second: u32) -> Result<(), ThreadError> {
        self.command(Command::SetSendRate {
            peer,
            bytes_a_second,
        })
    }

    /// Changes the most that a peer is asked to send, in bytes a second
    /// ([`Host::set_receive_rate`](crate::Host::set_receive_rate)); nothing happens if there is no
    /// such peer.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if it was not queued.
    ///
    /// ```
    /// use porous_std::{Config, PeerId, UdpHost};
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", Config::new())?.spawn()?;
    /// host.set_receive_rate(PeerId::from_u64(u64::MAX).unwrap(), 20_000)?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn set_receive_rate(
        &mut self,
        peer: PeerId,
        bytes_a_second: u32,
    ) -> Result<(), ThreadError> {
        self.command(Command::SetReceiveRate {
            peer,
            bytes_a_second,
        })
    }

    /// Changes the most that is sent to all peers together, in bytes a second
    /// ([`Host::set_host_send_rate`](crate::Host::set_host_send_rate)).
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if it was not queued.
    ///
    /// ```
    /// use porous_std::{Config, UdpHost};
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", Config::new())?.spawn()?;
    /// host.set_host_send_rate(1_250_000)?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn set_host_send_rate(&mut self, bytes_a_second: u32) -> Result<(), ThreadError> {
        self.command(Command::SetHostSendRate { bytes_a_second })
    }

    /// Changes how the ids of new connections are made
    /// ([`Host::set_connection_ids`](crate::Host::set_connection_ids)); nothing happens if connection
    /// ids are empty here.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if it was not queued.
    ///
    /// ```
    /// use porous_std::{Config, ConnectionIds, UdpHost};
    ///
    /// let config = Config::new().connection_id_len(8)?;
    /// let mut host = UdpHost::bind("127.0.0.1:0", config)?.spawn()?;
    /// host.set_connection_ids(ConnectionIds::Custom(|id| id[0] = 3))?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn set_connection_ids(&mut self, ids: ConnectionIds) -> Result<(), ThreadError> {
        self.command(Command::SetConnectionIds(ids))
    }

    /// Whether a command can be queued.
    fn ready(&self) -> Result<(), ThreadError> {
        if self.thread.is_none() {
            return Err(ThreadError::Ended);
        }
        if !self.commands.has_room() {
            return Err(ThreadError::Full);
        }
        Ok(())
    }

    fn command(&self, command: Command) -> Result<(), ThreadError> {
        self.instruct(Instruction::Command(command))
    }

    fn instruct(&self, instruction: Instruction) -> Result<(), ThreadError> {
        self.ready()?;
        let queued = self.commands.push(instruction);
        queued.map_err(|_| ThreadError::Ended)?;
        self.ringer.ring();
        Ok(())
    }
}
