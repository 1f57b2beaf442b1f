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

use super::output::{
    Instruction, Introduction, Item, Output, Question, Terms, Unsent, UnsentError,
};
use super::queue::{Consumer, Producer};
use crate::bell::Bell;
use crate::sleep::sleep;

/// The most commands between two looks at the network: a game that commands without end must not keep the
/// host from acknowledging.
const COMMANDS_PER_TURN: usize = 1024;

/// The network thread: a host, the game's commands, and the outputs for the game.
#[derive(Debug)]
pub(crate) struct Worker<C> {
    host: Endpoint<UdpSocket, C>,
    bell: Bell,
    commands: Consumer<Instruction>,
    outputs: Producer<Item>,
    /// Peers that may have packets to be received.
    unread: Vec<PeerId>,
    /// Peers for which the host has no room at the moment.
    choked: BTreeMap<PeerId, Choke>,
    /// Peers that the game has disconnected or drained, each in the way that it wanted.
    leaving: BTreeSet<PeerId>,
    /// True once the game has closed the host: it hears nothing more.
    closing: bool,
}

/// The host had no room for a packet to this peer, and the packet went back to the game. Until the game can
/// know, all packets that it sends to this peer go back as well, or they would overtake the first.
#[derive(Debug, Default)]
struct Choke {
    /// True once the game has got the first packet back, and sends nothing more.
    stopped: bool,
    /// True once the host has room again.
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

    /// Runs until the game ends the thread or the socket fails.
    pub(crate) fn run(mut self) -> io::Result<()> {
        let result = self.turns();
        // The game is told all that has come, with room or without: what the host holds ends with it.
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
            // Last, as all calls above may have made outputs.
            self.tell();
            if self.closing && self.has_closed() {
                return Ok(());
            }
            let max = if more { Duration::ZERO } else { Duration::MAX };
            let longest = self.host.sleep_at_most(max);
            let sockets = [self.host.socket(), self.bell.socket()];
            let is_readable;
            [is_readable, rung] = sleep(sockets, self.host.is_blocked(), longest)?;
            if is_readable {
                self.host.receive_datagrams()?;
            }
        }
    }

    /// Does what the game says, as long as there is room for answers. True if more commands may wait.
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

    /// Tells the game what has come, as long as there is room. All other packets wait in the host, whose
    /// flow control holds the peers back.
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

    /// Does a command, and returns what the game has to know of it.
    fn execute(&mut self, command: Command) -> Option<Output> {
        let leaves = match &command {
            Command::Disconnect { peer, .. } => vec![*peer],
            Command::Drain { .. } => self.host.peers().map(|(peer, _)| peer).collect(),
            Command::Send(_) | _ => Vec::new(),
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
            Err(CommandError::Suffix { to, error }) => Some(Output::NotSuffixed { to, error }),
            Err(CommandError::ConnectionIds(error)) => Some(Output::IdsUnchanged(error)),
            Err(CommandError::Answer { peer, error }) => Some(Output::NotAnswered { peer, error }),
            Err(CommandError::Send { packet, error }) => {
                if error == SendError::Full {
                    self.choked.entry(packet.peer).or_default();
                }
                let error = UnsentError::Host(error);
                Some(Output::Unsent(Unsent { packet, error }))
            }
            // The game hears of the end of a peer by its event.
            Err(_) => None,
        }
    }

    /// Ends a choke when the host has room and the game waits for room.
    fn unchoke(&mut self, peer: PeerId) -> Option<Output> {
        let choke = self.choked.get(&peer)?;
        // Both: only once the game has stopped, all that it sent before has gone back, and nothing that it
        // sends from now on overtakes.
        if !(choke.stopped && choke.writable) {
            return None;
        }
        self.choked.remove(&peer);
        Some(Output::Event(Event::Writable { peer }))
    }

    /// The next output for the game.
    fn next_item(&mut self) -> Option<Item> {
        loop {
            // Before the next event, so that the game has all packets of a peer before it hears of its end.
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
        let (mut terms, mut introduction) = (None, Introduction::default());
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
            Event::Request { peer, .. } => introduction = self.introduction(peer),
            Event::Connected { peer, .. } => {
                terms = self.host.peer(peer).and_then(Terms::of);
                introduction = self.introduction(peer);
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
            introduction,
        })
    }

    fn introduction(&self, peer: PeerId) -> Introduction {
        let peer = self.host.peer(peer);
        peer.map(Introduction::of).unwrap_or_default()
    }

    /// Lets no peer in any more, and disconnects every peer that the game has not disconnected before.
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

    /// True once all peers have ended, and know it as far as this host can tell.
    fn has_closed(&self) -> bool {
        self.host.is_empty()
    }
}

/// The answer to a question about a peer.
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
