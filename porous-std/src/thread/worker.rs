//! What the network thread does.

use alloc::collections::{BTreeMap, BTreeSet};
use core::net::SocketAddr;
use core::time::Duration;
use std::io;

use porous_udp::{Conditioner, ConnectError, Disconnect, Event, PeerId, SendError};

use super::bell::Bell;
use super::output::{Command, Item, Outgoing, Output, Question, Terms, Unsent, UnsentError};
use super::queue::{Consumer, Producer};
use crate::UdpHost;
use crate::sleep::sleep;

/// The most commands between two looks at the network.
const COMMANDS_PER_TURN: usize = 1024;

/// The network thread: a host, what it is told, and what it tells.
#[derive(Debug)]
pub(crate) struct Worker<C> {
    host: UdpHost<C>,
    bell: Bell,
    commands: Consumer<Command>,
    outputs: Producer<Item>,
    /// Peers that may have packets to be received.
    unread: Vec<PeerId>,
    /// Peers to which nothing can be sent at the moment.
    choked: BTreeMap<PeerId, Choke>,
    /// Peers that the game has disconnected, as it wanted to.
    leaving: BTreeSet<PeerId>,
    closing: bool,
}

/// The host had no room for a packet to this peer, which went back to the game. Until the game can
/// know, the packets that it sends to this peer go back as well, or they would overtake.
#[derive(Debug, Default)]
struct Choke {
    /// The game has got the first packet back, and sends nothing more.
    stopped: bool,
    /// The host has room again.
    writable: bool,
}

impl<C: Conditioner> Worker<C> {
    pub(crate) fn new(
        host: UdpHost<C>,
        bell: Bell,
        commands: Consumer<Command>,
        outputs: Producer<Item>,
    ) -> Self {
        Self {
            // The host tells once that there is something to read, and may have told before.
            unread: host.readable().collect(),
            host,
            bell,
            commands,
            outputs,
            choked: BTreeMap::new(),
            leaving: BTreeSet::new(),
            closing: false,
        }
    }

    /// Runs until the game ends it or the socket breaks. In the end the game is told all that has
    /// come, with room or without: the host would hold it otherwise.
    pub(crate) fn run(mut self) -> io::Result<()> {
        let result = self.turns();
        while let (false, Some(item)) = (self.closing, self.next_item()) {
            self.push(item);
        }
        result
    }

    fn turns(&mut self) -> io::Result<()> {
        let mut rung = false;
        loop {
            self.bell.hear(rung);
            let more = self.obey();
            self.host.transmit()?;
            // Last, as all of the above may have made something to tell.
            self.tell();
            if self.closing && self.has_closed() {
                return Ok(());
            }
            let max = if more { Duration::ZERO } else { Duration::MAX };
            let longest = self.host.sleep_at_most(max);
            let sockets = [self.host.socket(), self.bell.socket()];
            [_, rung] = sleep(sockets, self.host.is_blocked(), longest)?;
            self.host.receive_datagrams()?;
        }
    }

    /// Does what the game says, as long as there is room for answers. Whether there may be more.
    fn obey(&mut self) -> bool {
        for _ in 0..COMMANDS_PER_TURN {
            if !self.outputs.has_room() {
                return false;
            }
            let Ok((command, _)) = self.commands.pop() else {
                return false;
            };
            if let Some(output) = self.execute(command) {
                self.push(output.into());
            }
        }
        true
    }

    /// Tells the game what has come, as long as there is room. What is not told waits in the host,
    /// whose flow control holds the peers back.
    fn tell(&mut self) {
        while !self.closing && self.outputs.has_room() {
            let Some(item) = self.next_item() else {
                return;
            };
            self.push(item);
        }
    }

    fn push(&self, item: Item) {
        // A game that is gone hears nothing; its last command ends the thread.
        drop(self.outputs.push(item));
    }

    fn execute(&mut self, command: Command) -> Option<Output> {
        let host = &mut self.host;
        match command {
            Command::Listen(policy) => host.listen(policy).err().map(Output::NotListening),
            Command::Connect(address) => Some(begun(address, host.connect(address))),
            Command::ConnectWith(to, greeting) => {
                let nowhere = || SocketAddr::from(([0, 0, 0, 0], 0));
                let address = to.first().copied().unwrap_or_else(nowhere);
                Some(begun(address, host.connect_with(&to, &greeting)))
            }
            Command::Accept(peer) => {
                let error = host.accept(peer).err()?;
                Some(Output::NotAnswered { peer, error })
            }
            Command::Refuse(peer, data) => {
                let error = host.refuse(peer, data.as_bytes()).err()?;
                Some(Output::NotAnswered { peer, error })
            }
            Command::Send(packet) => self.send(packet).err().map(Output::Unsent),
            Command::Stopped(peer) => {
                self.choked.get_mut(&peer)?.stopped = true;
                self.unchoke(peer)
            }
            Command::Cancel(peer, channel, token) => {
                host.cancel(peer, channel, token);
                None
            }
            Command::Disconnect(peer, how) => {
                if host.disconnect(peer, how).is_ok() {
                    self.leaving.insert(peer);
                }
                // If it has ended already, its event is on the way.
                None
            }
            Command::SetChannelRate(peer, channel, rate) => {
                // Of a peer that has ended the game hears soon.
                let _unknown = host.set_channel_rate(peer, channel, rate);
                None
            }
            Command::SetSendRate(peer, rate) => {
                let _unknown = host.set_send_rate(peer, rate);
                None
            }
            Command::SetReceiveRate(peer, rate) => {
                let _unknown = host.set_receive_rate(peer, rate);
                None
            }
            Command::SetHostSendRate(rate) => {
                host.set_host_send_rate(rate);
                None
            }
            Command::SetConnectionIds(ids) => {
                // Empty ids stay what they are, as the command says.
                let _empty = host.set_connection_ids(ids);
                None
            }
            Command::AskStats => Some(Output::Stats {
                host: Box::new(host.stats()),
                socket: host.socket_stats(),
            }),
            Command::Ask(peer, question) => Some(tell(host, peer, question)),
            Command::Close(how) => {
                self.close(how);
                None
            }
        }
    }

    fn send(&mut self, packet: Outgoing) -> Result<(), Unsent> {
        let peer = packet.peer;
        let result = if self.choked.contains_key(&peer) {
            Err(SendError::Full)
        } else {
            let payload = packet.payload.clone();
            self.host
                .send(peer, packet.channel, payload, packet.options)
        };
        result.map_err(|error| {
            if error == SendError::Full {
                self.choked.entry(peer).or_default();
            }
            let error = UnsentError::Host(error);
            Unsent { packet, error }
        })
    }

    /// Ends a choke when there is room and the game waits for it: then all that it sent before it
    /// could know has gone back, and nothing that it sends from now on overtakes.
    fn unchoke(&mut self, peer: PeerId) -> Option<Output> {
        let choke = self.choked.get(&peer)?;
        if !(choke.stopped && choke.writable) {
            return None;
        }
        self.choked.remove(&peer);
        Some(Output::Event(Event::Writable { peer }))
    }

    /// The next thing to tell the game.
    fn next_item(&mut self) -> Option<Item> {
        loop {
            if let Some(&peer) = self.unread.last() {
                if let Some(packet) = self.host.receive(peer) {
                    return Some(Output::Packet { peer, packet }.into());
                }
                self.unread.pop();
                continue;
            }
            let event = self.host.poll_event()?;
            if let Some(item) = self.item_of(event) {
                return Some(item);
            }
        }
    }

    fn item_of(&mut self, event: Event<SocketAddr>) -> Option<Item> {
        let (mut terms, mut greeting) = (None, Box::default());
        match event {
            Event::Readable { peer } => {
                self.unread.push(peer);
                return None;
            }
            Event::Writable { peer } => {
                if let Some(choke) = self.choked.get_mut(&peer) {
                    choke.writable = true;
                    return self.unchoke(peer).map(Item::from);
                }
            }
            Event::Request { peer, .. } => greeting = self.greeting(peer),
            Event::Connected { peer, .. } => {
                terms = self.host.peer(peer).and_then(Terms::of);
                greeting = self.greeting(peer);
            }
            Event::Disconnected { peer, .. } => {
                self.choked.remove(&peer);
                self.leaving.remove(&peer);
            }
            Event::Receipt { .. } | _ => {}
        }
        let output = Output::Event(event);
        Some(Item {
            output,
            terms,
            greeting,
        })
    }

    /// What a peer has said with its request.
    fn greeting(&self, peer: PeerId) -> Box<[u8]> {
        let peer = self.host.peer(peer);
        peer.map_or_else(Box::default, |peer| peer.greeting().into())
    }

    /// Nobody comes any more, and who is there goes: as the game said before, or like this.
    fn close(&mut self, how: Disconnect) {
        self.closing = true;
        // Closing is allowed to every host.
        let _ = self.host.listen(porous_udp::Listen::Closed);
        let staying = |&(peer, _): &(PeerId, _)| !self.leaving.contains(&peer);
        let peers = self.host.peers().filter(staying).map(|(peer, _)| peer);
        for peer in peers.collect::<Vec<_>>() {
            // A live peer can be disconnected.
            let _ = self.host.disconnect(peer, how);
        }
    }

    /// Whether all have gone, and know it as far as we can tell.
    fn has_closed(&self) -> bool {
        self.host.is_empty()
    }
}

/// How an attempt has begun.
fn begun(address: SocketAddr, result: Result<PeerId, ConnectError>) -> Output {
    match result {
        Ok(peer) => Output::Connecting { peer, address },
        Err(error) => Output::NotConnecting { address, error },
    }
}

/// What is known of a peer.
fn tell<C>(host: &UdpHost<C>, peer: PeerId, question: Question) -> Output {
    let found = host.peer(peer);
    match question {
        Question::Stats => Output::PeerStats {
            peer,
            stats: found.map(|peer| Box::new(peer.stats())),
        },
        Question::Sent(channel, receipt) => Output::SendProgress {
            peer,
            channel,
            receipt,
            progress: found.and_then(|peer| peer.send_progress(channel, receipt)),
        },
        Question::Received(channel) => Output::ReceiveProgress {
            peer,
            channel,
            progress: found.and_then(|peer| peer.receive_progress(channel)),
        },
    }
}
