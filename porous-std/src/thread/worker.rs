//! What the network thread does.

use alloc::collections::{BTreeMap, BTreeSet};
use core::net::SocketAddr;
use core::time::Duration;
use std::io;
use std::net::UdpSocket;

use porous_udp::{
    Command, CommandError, Conditioner, Disconnect, Endpoint, Event, Executed, Listen, PeerId,
    SendError,
};

use super::bell::Bell;
use super::output::{Instruction, Item, Output, Question, Terms, Unsent, UnsentError};
use super::queue::{Consumer, Producer};
use crate::sleep::sleep;

/// The most commands between two looks at the network.
const COMMANDS_PER_TURN: usize = 1024;

/// The network thread: a host, what it is told, and what it tells.
#[derive(Debug)]
pub(crate) struct Worker<C> {
    host: Endpoint<UdpSocket, C>,
    bell: Bell,
    commands: Consumer<Instruction>,
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
    /// Whether the game has got the first packet back, and sends nothing more.
    stopped: bool,
    /// Whether the host has room again.
    writable: bool,
}

impl<C: Conditioner> Worker<C> {
    pub(crate) fn new(
        host: Endpoint<UdpSocket, C>,
        bell: Bell,
        commands: Consumer<Instruction>,
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

    /// Does what the game says, as long as there is room for answers. Returns whether there may
    /// be more.
    fn obey(&mut self) -> bool {
        for _ in 0..COMMANDS_PER_TURN {
            if !self.outputs.has_room() {
                return false;
            }
            let Ok((instruction, _)) = self.commands.pop() else {
                return false;
            };
            if let Some(output) = self.follow(instruction) {
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

    fn follow(&mut self, instruction: Instruction) -> Option<Output> {
        match instruction {
            Instruction::Command(command) => self.execute(command),
            Instruction::Stopped(peer) => {
                self.choked.get_mut(&peer)?.stopped = true;
                self.unchoke(peer)
            }
            Instruction::AskStats => Some(Output::Stats {
                host: Box::new(self.host.stats()),
                socket: self.host.socket_stats(),
            }),
            Instruction::Ask(peer, question) => Some(tell(&self.host, peer, question)),
            Instruction::Close(how) => {
                self.close(how);
                None
            }
        }
    }

    /// Carries a command out, and returns what the game has to know of it.
    fn execute(&mut self, command: Command) -> Option<Output> {
        let leaves = match &command {
            Command::Disconnect { peer, .. } => Some(*peer),
            Command::Send(_) | _ => None,
        };
        let result = match command {
            // The packet would overtake those that have gone back.
            Command::Send(packet) if self.choked.contains_key(&packet.peer) => {
                let error = SendError::Full;
                Err(CommandError::Send { packet, error })
            }
            Command::Send(_) | _ => self.host.execute(command),
        };
        if result.is_ok() {
            self.leaving.extend(leaves);
        }
        match result {
            Ok(Executed::Connecting { peer, address }) => {
                Some(Output::Connecting { peer, address })
            }
            Ok(_) => None,
            Err(CommandError::Connect { address, error }) => {
                Some(Output::NotConnecting { address, error })
            }
            Err(CommandError::Listen(error)) => Some(Output::NotListening(error)),
            Err(CommandError::Answer { peer, error }) => Some(Output::NotAnswered { peer, error }),
            Err(CommandError::Send { packet, error }) => {
                if error == SendError::Full {
                    self.choked.entry(packet.peer).or_default();
                }
                let error = UnsentError::Host(error);
                Some(Output::Unsent(Unsent { packet, error }))
            }
            // Of a peer that has ended the game hears by its event. Empty connection ids stay what
            // they are, as the command says.
            Err(_) => None,
        }
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

    /// No peer comes any more, and each one that is there is disconnected: as the game said before, or
    /// like this.
    fn close(&mut self, how: Disconnect) {
        self.closing = true;
        // Closing is allowed to every host.
        let _ = self.host.listen(Listen::Closed);
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

/// What is known of a peer.
fn tell<C>(host: &Endpoint<UdpSocket, C>, peer: PeerId, question: Question) -> Output {
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
