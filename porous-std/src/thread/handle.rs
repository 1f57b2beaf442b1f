//! The game's end of a host that lives in a thread of its own.

use alloc::collections::BTreeMap;
use core::any::Any;
use core::net::SocketAddr;
use std::io;
use std::sync::mpsc::TryRecvError;
use std::thread::{self, JoinHandle};

use porous_udp::{Conditioner, Disconnect, Event, Peer, PeerId, SendError};

use super::bell::{Ringer, bell};
use super::known::Known;
use super::output::{Instruction, Item, Output, Terms, Unsent, UnsentError};
use super::queue::{Consumer, Producer, queue};
use super::worker::Worker;
use crate::UdpHost;

/// A host in a thread of its own: the game's end of it. See the
/// [crate](crate#a-thread-of-its-own) for a game's loop.
///
/// Its commands are those of [`UdpHost`], but they are only queued: no method but
/// [`close`](Self::close) blocks, and what becomes of them is [polled](Self::poll).
///
/// It is `Send` and `Sync`, so that an engine can keep it wherever it likes. It cannot be cloned:
/// the order of packets is kept by what the game has polled when it sends, so that one has to do
/// both.
#[derive(Debug)]
pub struct HostThread {
    local_addr: SocketAddr,
    pub(crate) commands: Producer<Instruction>,
    outputs: Consumer<Item>,
    pub(crate) ringer: Ringer,
    /// What the game knows of the peers, by what it has polled.
    pub(crate) peers: BTreeMap<PeerId, Known>,
    pub(crate) thread: Option<JoinHandle<io::Result<()>>>,
    /// What ended the thread.
    failed: Option<(io::ErrorKind, String)>,
}

impl<C: Conditioner + Send + 'static> UdpHost<C> {
    /// Moves this host into a thread of its own, which drives it from now on.
    ///
    /// Do it first, before anything is sent or has come. If it was used before, packets that wait
    /// to be received come before events that wait to be polled, and
    /// [`close`](HostThread::close) does not know whom it was told to disconnect.
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
        let known = |peer: &Peer| Some(Known::of(Terms::of(peer)?).with(peer.greeting().into()));
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
            commands,
            outputs,
            ringer,
            peers,
            thread: Some(thread),
            failed: None,
        })
    }
}

impl HostThread {
    /// What the network thread has to tell, in the order in which it happened. Call it until it
    /// returns `None`, once a tick. It never blocks.
    ///
    /// What is not polled waits: up to 1 MiB here, 64 bytes for each output included, and one packet
    /// more. Beyond that it waits in the host, whose flow control holds the peers back, and so do
    /// the commands; connections stay alive all the same. No reliable packet is lost by it.
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
            Ok((mut item, made_room)) => {
                if made_room {
                    self.ringer.ring();
                }
                self.note(&mut item);
                Some(item.output)
            }
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                // The thread is ending, if it has not ended yet: another call will tell.
                let ended = self.thread.take_if(|thread| thread.is_finished())?;
                self.join(ended).err().map(Output::Ended)
            }
        }
    }

    /// Ends everything and waits for the end. All that was sent before goes to the host as far as it
    /// has room; a peer that was [disconnected](Self::disconnect) before ends in that way, all others
    /// end like this. What comes meanwhile is lost, also packets that come back [`Output::Unsent`]: to
    /// see them, poll until the peers' [`Event::Disconnected`] came, and close then.
    ///
    /// It waits until all peers know, mostly for a round trip, and for a peer that does not answer
    /// at most for the deadline of a [`Disconnect::Flush`] and
    /// [`disconnect_timeout`](porous_udp::Config::disconnect_timeout). If no peers are left it
    /// returns at once. Dropping does the same with [`Disconnect::Now`] and reason 0.
    ///
    /// # Errors
    ///
    /// What ended the thread before, if something did, as [`Output::Ended`] tells it.
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
            self.outputs.give_up();
            // A thread that has ended needs no end.
            drop(self.commands.push(Instruction::Close(how)));
            self.ringer.ring();
            return self.join(thread);
        }
        match &self.failed {
            Some((kind, text)) => Err(io::Error::new(*kind, text.clone())),
            None => Ok(()),
        }
    }

    /// What became of the thread; it is remembered.
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

    /// The address that the socket is bound to: see
    /// [`UdpHost::local_addr`].
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

    /// What a peer has said with its request, from its
    /// [`Event::Request`] on, or from its
    /// [`Event::Connected`] if the host does not ask, until its
    /// [`Event::Disconnected`] was polled; empty if it said nothing. It
    /// carries no promise: see [`Peer::greeting`].
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
        known.map_or(&[], |known| &known.greeting)
    }

    /// Learns from what is about to be told.
    fn note(&mut self, item: &mut Item) {
        let greeting = core::mem::take(&mut item.greeting);
        match &item.output {
            Output::Connecting { peer, .. } | Output::Event(Event::Request { peer, .. }) => {
                self.peers.insert(*peer, Known::stranger().with(greeting));
            }
            Output::Event(Event::Connected { peer, .. }) => {
                // If it has ended already, the host will say so to what is sent.
                let known = item.terms.map_or_else(Known::gone, Known::of);
                self.peers.insert(*peer, known.with(greeting));
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
            | Output::NotAnswered { .. }
            | Output::Stats { .. }
            | Output::PeerStats { .. }
            | Output::SendProgress { .. }
            | Output::ReceiveProgress { .. }
            | Output::Ended(_) => {}
        }
    }

    /// The first packet that comes back for want of room stops those after it, until there is some;
    /// and the thread is told that it has seen the last of them.
    fn note_unsent(&mut self, unsent: &Unsent) {
        let peer = unsent.packet.peer;
        let Some(known) = self.peers.get_mut(&peer) else {
            return;
        };
        let full = SendError::Full;
        if unsent.error == UnsentError::Host(full) && known.blocked.is_none() {
            known.blocked = Some(full);
            // With room or without: there is one such command a peer at most.
            drop(self.commands.push(Instruction::Stopped(peer)));
            self.ringer.ring();
        }
    }
}

impl Drop for HostThread {
    fn drop(&mut self) {
        // `close` tells what went wrong.
        let _ = self.end(Disconnect::Now { reason: 0 });
    }
}
