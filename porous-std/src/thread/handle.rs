//! The game's end of a host that lives in a thread of its own.

use alloc::collections::BTreeMap;
use core::any::Any;
use core::net::SocketAddr;
use core::task::Waker;
use core::time::Duration;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError};
use std::thread::{self, JoinHandle};

#[cfg(feature = "seal")]
use porous_udp::seal::{Credentials, Secured, Security};
use porous_udp::{
    ChannelId, Conditioner, ConnectionIds, Disconnect, Event, Listen, Peer, PeerId, RefusalData,
    SendError, SendOptions,
};

use super::commands::Commands;
use super::known::Known;
use super::output::{
    Instruction, Introduction, Item, Output, Question, Terms, ThreadError, Unsent, UnsentError,
};
use super::queue::{Consumer, Popped, queue};
use super::worker::Worker;
use crate::bell::bell;
use crate::{Bytes, Command, Outgoing, UdpHost};

/// A host in a thread of its own: the game's end of it. See the
/// [crate](crate#a-thread-of-its-own) for a game's loop.
///
/// The commands are those of [`UdpHost`], but they are only queued: no method but [`close`](Self::close)
/// and [`wait`](Self::wait) blocks, and what becomes of a command is [polled](Self::poll).
///
/// The handle is `Send` and `Sync`, so that an engine can keep it in any place. It cannot be cloned: the
/// order of packets depends on what the game has polled when it sends, so that one owner does both.
#[derive(Debug)]
pub struct HostThread {
    local_addr: SocketAddr,
    commands: Commands,
    outputs: Consumer<Item>,
    /// What the game knows of the peers, by what it has polled.
    peers: BTreeMap<PeerId, Known>,
    /// `None` once the end of the thread was noticed.
    thread: Option<JoinHandle<io::Result<()>>>,
    /// The error that ended the thread.
    failed: Option<(io::ErrorKind, String)>,
}

impl<C: Conditioner + Send + 'static> UdpHost<C> {
    /// Moves this host into a thread of its own, which drives it from now on.
    ///
    /// Call this before the host sends or receives anything. If the host was used before, packets that
    /// wait to be received come before events that wait to be polled, and
    /// [`close`](HostThread::close) does not know which peers it was told to disconnect.
    ///
    /// # Errors
    ///
    /// The system's error, if there can be no more threads, or if there is no loopback interface: the
    /// thread is woken through a socket of its own.
    ///
    /// ```
    /// use porous_std::{Config, UdpHost};
    ///
    /// let host = UdpHost::bind("127.0.0.1:0", Config::new())?.spawn()?;
    /// assert_ne!(host.local_addr().port(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn spawn(self) -> io::Result<HostThread> {
        let local_addr = self.local_addr()?;
        let known = |peer: &Peer| Some(Known::of(Terms::of(peer)?).with(Introduction::of(peer)));
        let connected = |(id, peer)| Some((id, known(peer)?));
        let peers = self.peers().filter_map(connected).collect();
        let (ringer, bell) = bell()?;
        let (commands, obeyed) = queue();
        let (told, outputs) = queue();
        let worker = Worker::new(self.endpoint, bell, obeyed, told);
        let name = "porous".into();
        let thread = thread::Builder::new().name(name).spawn(|| worker.run())?;
        Ok(HostThread {
            local_addr,
            commands: Commands::new(commands, ringer),
            outputs,
            peers,
            thread: Some(thread),
            failed: None,
        })
    }
}

impl HostThread {
    /// The next thing that the network thread tells, in the order in which things happened; `None` if
    /// there is none yet. Call this once a tick until it returns `None`. It never blocks.
    ///
    /// Outputs that are not polled wait: up to 1 MiB here, 64 bytes for each output included, and one
    /// packet more. Beyond that packets wait in the host, whose flow control holds the peers back, and
    /// commands wait, too; connections stay alive all the same. No reliable packet is lost.
    ///
    /// ```
    /// use porous_std::{Config, Output, UdpHost};
    ///
    /// let mut client = UdpHost::bind("127.0.0.1:0", Config::client())?.spawn()?;
    /// let address = ([127, 0, 0, 1], 4000).into();
    /// client.connect(address)?;
    /// let output = loop {
    ///     // A game does something else meanwhile.
    ///     if let Some(output) = client.poll() {
    ///         break output;
    ///     }
    /// };
    /// assert!(matches!(output, Output::Connecting { address: to, .. } if to == address));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn poll(&mut self) -> Option<Output> {
        match self.outputs.pop() {
            Ok(popped) => Some(self.take(popped)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                // The thread is ending, if it has not ended yet: another call will tell.
                let ended = self.thread.take_if(|thread| thread.is_finished())?;
                self.join(ended).err().map(Output::Ended)
            }
        }
    }

    /// The next thing that the network thread tells, as [`poll`](Self::poll), for which it sleeps as long as `max`:
    /// for a program that does nothing of its own. `None` if nothing has come, if a [waker](Self::waker) has
    /// ended the sleep, or if the thread has ended and [`Output::Ended`] was told.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_std::{Config, Output, UdpHost};
    ///
    /// let mut client = UdpHost::bind("127.0.0.1:0", Config::client())?.spawn()?;
    /// client.connect(([127, 0, 0, 1], 4000).into())?;
    /// let output = client.wait(Duration::from_secs(1));
    /// assert!(matches!(output, Some(Output::Connecting { .. })));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn wait(&mut self, max: Duration) -> Option<Output> {
        match self.outputs.pop_within(max) {
            Ok(popped) => Some(self.take(popped)),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                let ending = self.thread.take()?;
                self.join(ending).err().map(Output::Ended)
            }
        }
    }

    /// Ends the sleep of [`wait`](Self::wait), or the next one, for another thread that has something for the
    /// thread of this handle to do. When the handle is gone, it does nothing.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_std::{Config, UdpHost};
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", Config::new())?.spawn()?;
    /// let waker = host.waker();
    /// std::thread::spawn(move || waker.wake());
    /// assert!(host.wait(Duration::MAX).is_none());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn waker(&self) -> Waker {
        self.outputs.waker()
    }

    fn take(&mut self, (mut item, made_room): Popped<Item>) -> Output {
        // A thread that found no room sleeps: without the ring it would go on telling only when a
        // datagram or a timeout wakes it.
        if made_room {
            self.commands.ring();
        }
        self.note(&mut item);
        item.output
    }

    /// Sets whether strangers may connect; at first they may not. [`Output::NotListening`] tells if this
    /// host may not listen at all.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if the command was not queued.
    ///
    /// ```
    /// use porous_std::{Config, Listen, UdpHost};
    ///
    /// let mut server = UdpHost::bind("127.0.0.1:0", Config::new())?.spawn()?;
    /// server.listen(Listen::Open)?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn listen(&mut self, policy: Listen) -> Result<(), ThreadError> {
        self.command(Command::Listen(policy))
    }

    /// Begins to connect. [`Output::Connecting`] names the peer, or [`Output::NotConnecting`] tells
    /// why not; then the peer's events follow.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if the command was not queued.
    ///
    /// ```
    /// use porous_std::{Config, UdpHost};
    ///
    /// let mut client = UdpHost::bind("127.0.0.1:0", Config::client())?.spawn()?;
    /// client.connect(([127, 0, 0, 1], 4000).into())?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn connect(&mut self, to: SocketAddr) -> Result<(), ThreadError> {
        self.connect_any(&[to])
    }

    /// As [`connect`](Self::connect), to a host that may be at any of these addresses: see
    /// [`UdpHost::connect_any`]. Answers name the first of them.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if the command was not queued.
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
    /// the remote host: see [`UdpHost::connect_with`]. [`Output::NotConnecting`] tells of a longer one.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if the command was not queued.
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

    /// Begins to make a sealed connection, to a host that may be at any of these addresses: see
    /// [`UdpHost::connect_sealed`]. Answers name the first of them.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if the command was not queued.
    ///
    /// ```
    /// use porous_std::prelude::*;
    ///
    /// let config = Config::client().sealed(&[Suite::CHACHA_POLY])?;
    /// let mut client = UdpHost::bind("127.0.0.1:0", config)?.spawn()?;
    /// client.connect_sealed(&["127.0.0.1:4000".parse()?], &Credentials::new())?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[cfg(feature = "seal")]
    pub fn connect_sealed(
        &mut self,
        to: &[SocketAddr],
        with: &Credentials,
    ) -> Result<(), ThreadError> {
        self.command(Command::ConnectSealed {
            to: to.into(),
            with: Box::new(with.clone()),
        })
    }

    /// Says how the host seals, from now on: see [`UdpHost::set_security`].
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if the command was not queued.
    ///
    /// ```
    /// use porous_std::prelude::*;
    ///
    /// let config = Config::new().sealed(&[Suite::CHACHA_POLY])?;
    /// let mut server = UdpHost::bind("127.0.0.1:0", config)?.spawn()?;
    /// server.set_security(Security::new(&RustCrypto).allow_plain())?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[cfg(feature = "seal")]
    pub fn set_security(&mut self, security: Security) -> Result<(), ThreadError> {
        self.command(Command::SetSecurity(Box::new(security)))
    }

    /// Accepts a peer that asked by [`Event::Request`]. [`Output::NotAnswered`] tells if the answer came
    /// too late.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if the command was not queued.
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

    /// Refuses a peer that asked by [`Event::Request`], with bytes for its application.
    /// [`Output::NotAnswered`] tells if the answer came too late.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if the command was not queued.
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
    /// An error that the game's end can find is returned at once. One that only the host finds, that the
    /// peer has ended or that its send budget is used up, brings the packet back as [`Output::Unsent`]. If
    /// there was no room ([`SendError::Full`]), all packets of any mode that were sent to this peer after
    /// the first come back too, in their order, and none overtakes another. When [`Event::Writable`]
    /// comes, all of them have come back: send them again, in that order, and go on.
    ///
    /// # Errors
    ///
    /// The packet, and why it was not queued. [`SendError::Full`]: an earlier packet came back, and
    /// [`Event::Writable`] was not polled yet. [`ThreadError::Full`]: the queue to the thread, 1 MiB with
    /// 64 bytes for each command included, is full; try again in the next tick.
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
        // The thread first: if it has ended, what is known of the peer is out of date.
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
        Ok(())
    }

    /// Queues one packet for each peer that is connected, as far as the game has heard of it. All of them share its
    /// bytes. Returns the packets that were not queued, with the reason.
    ///
    /// ```
    /// use porous_std::{ChannelId, Config, Mode, UdpHost};
    ///
    /// let mut server = UdpHost::bind("127.0.0.1:0", Config::new())?.spawn()?;
    /// let unsent = server.broadcast(ChannelId(0), "the match begins", Mode::Reliable);
    /// assert!(unsent.is_empty());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn broadcast(
        &mut self,
        channel: ChannelId,
        packet: impl Into<Bytes>,
        options: impl Into<SendOptions>,
    ) -> Vec<Unsent> {
        let (packet, options) = (packet.into(), options.into());
        let connected = self.peers.iter().filter(|(_, known)| known.is_connected());
        let peers: Vec<PeerId> = connected.map(|(&peer, _)| peer).collect();
        let sent = |peer| self.send(peer, channel, packet.clone(), options).err();
        peers.into_iter().filter_map(sent).collect()
    }

    /// Cancels the packets of a channel that were sent before with this receipt, as [`UdpHost::cancel`]
    /// does. Their receipts tell what came of it; a packet that comes back as [`Output::Unsent`] has none.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if the command was not queued.
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

    /// Ends a connection; [`Event::Disconnected`] comes when the connection has ended, also if it has
    /// ended already.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if the command was not queued.
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
        // At once, as the host will refuse what comes after the command.
        if let Some(known) = self.peers.get_mut(&peer) {
            known.blocked = Some(SendError::Disconnecting);
        }
        Ok(())
    }

    /// Prepares the end of a server: newcomers are refused as [`Full`](crate::Refusal::Full), so that they
    /// try another server, and each connection ends when all that was sent on it has been delivered, or
    /// `deadline` has passed: see [`UdpHost::drain`]. [`Event::Disconnected`] comes of each peer.
    /// [`close`](Self::close) waits for the end of all of them, and drops what comes meanwhile; to have
    /// that, poll until then.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if the command was not queued.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_std::{Config, Disconnect, Listen, UdpHost};
    ///
    /// let mut server = UdpHost::bind("127.0.0.1:0", Config::new())?.spawn()?;
    /// server.listen(Listen::Open)?;
    /// let restart = 3; // a number that the clients of this game know
    /// server.drain(restart, Duration::from_secs(30))?;
    /// server.close(Disconnect::Now { reason: restart })?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn drain(&mut self, reason: u32, deadline: Duration) -> Result<(), ThreadError> {
        self.command(Command::Drain { reason, deadline })?;
        // At once, as the host will refuse what comes after the command.
        for known in self.peers.values_mut() {
            known.blocked = Some(SendError::Disconnecting);
        }
        Ok(())
    }

    /// Asks for the counters of the host and its socket: [`Output::Stats`] tells them.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if the command was not queued.
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

    /// Asks for the counters and estimates of a peer: [`Output::PeerStats`] tells them.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if the command was not queued.
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
    /// [`Output::SendProgress`] tells.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if the command was not queued.
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

    /// Asks how much of the next packet of a channel has come, if a part of one has
    /// ([`Peer::receive_progress`](crate::Peer::receive_progress)):
    /// [`Output::ReceiveProgress`] tells.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if the command was not queued.
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
    /// [`ThreadError`], if the command was not queued.
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
    /// [`ThreadError`], if the command was not queued.
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
    /// [`ThreadError`], if the command was not queued.
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
    /// [`ThreadError`], if the command was not queued.
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
    /// ([`Host::set_connection_ids`](crate::Host::set_connection_ids)). [`Output::IdsUnchanged`] tells if such
    /// ids cannot be made here.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if the command was not queued.
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

    /// Puts a suffix of up to 32 bytes behind the end of each datagram to this address, for a proxy that removes
    /// it ([`UdpHost::set_suffix`](crate::UdpHost::set_suffix)). Set it before you connect.
    /// [`Output::NotSuffixed`] tells if it was too long, or too late.
    ///
    /// # Errors
    ///
    /// [`ThreadError`], if the command was not queued.
    ///
    /// ```
    /// use porous_std::{Config, UdpHost};
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", Config::client())?.spawn()?;
    /// let proxy = "127.0.0.1:7777".parse()?;
    /// host.set_suffix(proxy, b"the token of our match")?;
    /// host.connect(proxy)?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn set_suffix(&mut self, to: SocketAddr, suffix: &[u8]) -> Result<(), ThreadError> {
        let suffix = suffix.into();
        self.command(Command::SetSuffix { to, suffix })
    }

    /// Ends all connections and the thread, and waits for the end. All that was sent before goes to the
    /// host, as far as the host has room. A peer that was [disconnected](Self::disconnect) or
    /// [drained](Self::drain) before ends as was said then, every other peer as `how` says. What comes
    /// meanwhile is lost, also packets that come back [`Output::Unsent`]: to see these, poll until
    /// [`Event::Disconnected`] came of all peers, and close then.
    ///
    /// The call waits until all peers know, mostly for a round trip, and for a peer that does not answer
    /// at most for the deadline of a [`Disconnect::Flush`] and
    /// [`disconnect_timeout`](porous_udp::Config::disconnect_timeout). If no peers are left it
    /// returns at once. Dropping the handle does the same with [`Disconnect::Now`] and reason 0.
    ///
    /// # Errors
    ///
    /// The error that ended the thread before, if one did, as [`Output::Ended`] tells it.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_std::{Config, Disconnect, UdpHost};
    ///
    /// let host = UdpHost::bind("127.0.0.1:0", Config::new())?.spawn()?;
    /// host.close(Disconnect::Flush { reason: 0, deadline: Duration::from_secs(2) })?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn close(mut self, how: Disconnect) -> io::Result<()> {
        self.end(how)
    }

    fn end(&mut self, how: Disconnect) -> io::Result<()> {
        if let Some(thread) = self.thread.take() {
            // The game polls no more: a thread without room for outputs would not take the last command.
            self.outputs.give_up();
            // A thread that has ended needs no end.
            drop(self.commands.push(Instruction::Close(how)));
            return self.join(thread);
        }
        match &self.failed {
            Some((kind, text)) => Err(io::Error::new(*kind, text.clone())),
            None => Ok(()),
        }
    }

    /// Checks that there is a thread to do a command, and room for the command.
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
        queued.map_err(|_| ThreadError::Ended)
    }

    /// Waits for the end of the thread, returns what it returned, and remembers an error.
    fn join(&mut self, thread: JoinHandle<io::Result<()>>) -> io::Result<()> {
        let panicked = |panic: Box<dyn Any + Send>| {
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("it did not say why");
            Err(io::Error::other(format!(
                "the network thread panicked: {text}"
            )))
        };
        let result = thread.join().unwrap_or_else(panicked);
        if let Err(error) = &result {
            self.failed = Some((error.kind(), error.to_string()));
        }
        result
    }

    /// The address that the socket is bound to: see [`UdpHost::local_addr`].
    ///
    /// ```
    /// use porous_std::{Config, UdpHost};
    ///
    /// let host = UdpHost::bind("127.0.0.1:0", Config::new())?.spawn()?;
    /// assert!(host.local_addr().ip().is_loopback());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub const fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// The greeting that a peer has sent with its request: from its [`Event::Request`] on, or from its
    /// [`Event::Connected`] if the host does not ask, until its [`Event::Disconnected`] was polled. Empty
    /// if the peer sent none. A greeting carries no promise: see [`Peer::greeting`].
    ///
    /// ```
    /// use porous_std::{Config, PeerId, UdpHost};
    ///
    /// let host = UdpHost::bind("127.0.0.1:0", Config::new())?.spawn()?;
    /// let nobody = PeerId::from_u64(u64::MAX).unwrap();
    /// assert_eq!(host.greeting(nobody), b"");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn greeting(&self, peer: PeerId) -> &[u8] {
        let known = self.peers.get(&peer);
        known.map_or(&[], |known| &known.introduction.greeting)
    }

    /// What is proved of a peer of a sealed connection: from its [`Event::Request`] on, or from its
    /// [`Event::Connected`] if the host does not ask, until its [`Event::Disconnected`] was polled. `None` of
    /// other peers: see [`Peer::secured`].
    ///
    /// ```
    /// use porous_std::{Config, PeerId, UdpHost};
    ///
    /// let host = UdpHost::bind("127.0.0.1:0", Config::new())?.spawn()?;
    /// let nobody = PeerId::from_u64(u64::MAX).unwrap();
    /// assert!(host.secured(nobody).is_none());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[cfg(feature = "seal")]
    #[must_use]
    pub fn secured(&self, peer: PeerId) -> Option<&Secured> {
        self.peers.get(&peer)?.introduction.secured.as_deref()
    }

    /// Learns of the peers from what the game is about to be told.
    fn note(&mut self, item: &mut Item) {
        let introduction = core::mem::take(&mut item.introduction);
        match &item.output {
            Output::Connecting { peer, .. } | Output::Event(Event::Request { peer, .. }) => {
                self.peers
                    .insert(*peer, Known::stranger().with(introduction));
            }
            Output::Event(Event::Connected { peer, .. }) => {
                // A peer without terms has ended already: its end is the next that the game hears of it.
                let known = item.terms.map_or_else(Known::gone, Known::of);
                self.peers.insert(*peer, known.with(introduction));
            }
            Output::Event(Event::Writable { peer }) => {
                if let Some(known) = self.peers.get_mut(peer) {
                    known.blocked = known.blocked.filter(|&error| error != SendError::Full);
                }
            }
            Output::Event(Event::Disconnected { peer, .. }) => {
                self.peers.remove(peer);
            }
            Output::Unsent(unsent) => self.note_unsent(unsent),
            Output::Event(_)
            | Output::Packet { .. }
            | Output::NotConnecting { .. }
            | Output::NotListening(_)
            | Output::NotSuffixed { .. }
            | Output::IdsUnchanged(_)
            | Output::NotAnswered { .. }
            | Output::Stats { .. }
            | Output::PeerStats { .. }
            | Output::SendProgress { .. }
            | Output::ReceiveProgress { .. }
            | Output::Ended(_) => {}
        }
    }

    /// A packet has come back. If it is the first for want of room, nothing is sent to its peer until there
    /// is room, and the thread is told that it has seen the last of the packets that go back.
    fn note_unsent(&mut self, unsent: &Unsent) {
        let peer = unsent.packet.peer;
        let Some(known) = self.peers.get_mut(&peer) else {
            return;
        };
        let full = SendError::Full;
        if unsent.error == UnsentError::Host(full) && known.blocked.is_none() {
            known.blocked = Some(full);
            // With room or without: at most one such command of each peer is under way, and without it the
            // thread would send packets back for ever.
            drop(self.commands.push(Instruction::Stopped(peer)));
        }
    }
}

impl Drop for HostThread {
    fn drop(&mut self) {
        // Only `close` can return what went wrong.
        let _ = self.end(Disconnect::Now { reason: 0 });
    }
}
