//! The server that every player can reach. The player that comes first waits for the next one. Then each
//! is told the addresses of the other, and both the same token.

use core::net::SocketAddr;
use core::time::Duration;
use std::io;

use getrandom::SysRng;
use porous_std::{ChannelId, Config, Event, Listen, Mode, PeerId, PeerState, UdpHost};
use rand_core::{Rng, UnwrapErr};

use crate::Failure;
use crate::words::{Match, read_addresses};

/// A player that waits for another.
struct Player {
    peer: PeerId,
    /// The addresses that the player has reported, and the one that the server sees.
    addresses: Vec<SocketAddr>,
}

pub(crate) fn bind(address: SocketAddr) -> io::Result<UdpHost> {
    UdpHost::bind(address, Config::new())
}

/// Serves for ever, or until the players of `matches` have left.
pub(crate) fn serve(mut server: UdpHost, matches: Option<u32>) -> Result<(), Failure> {
    server.listen(Listen::Open)?;
    let mut waiting: Option<Player> = None;
    let (mut made, mut gone) = (0, 0);
    while matches != Some(made) || gone < 2 * made {
        server.wait(Duration::from_secs(1))?;
        while let Some(event) = server.poll_event() {
            match event {
                Event::Readable { peer } => {
                    while let Some(packet) = server.receive(peer) {
                        let mut addresses = read_addresses(&packet.payload);
                        addresses.truncate(7);
                        addresses.extend(server.address(peer));
                        let player = Player { peer, addresses };
                        match waiting.take().filter(|first| first.peer != peer) {
                            None => waiting = Some(player),
                            // One that is about to leave hears nothing any more: the other goes on waiting.
                            Some(first) if !is_there(&server, &first) => waiting = Some(player),
                            Some(first) if !is_there(&server, &player) => waiting = Some(first),
                            Some(first) => {
                                introduce(&mut server, &first, &player)?;
                                made += 1;
                            }
                        }
                    }
                }
                Event::Disconnected { peer, .. } => {
                    waiting = waiting.filter(|player| player.peer != peer);
                    gone += 1;
                }
                Event::Request { .. } | Event::Connected { .. } | _ => {}
            }
        }
    }
    // The last player still waits for the answer to its disconnection.
    server.step()?;
    Ok(())
}

/// Whether something can be sent to a player.
fn is_there(server: &UdpHost, player: &Player) -> bool {
    let peer = server.peer(player.peer);
    peer.is_some_and(|peer| peer.state() == PeerState::Connected)
}

/// Tells each of two players the addresses of the other.
fn introduce(server: &mut UdpHost, a: &Player, b: &Player) -> Result<(), Failure> {
    let token = UnwrapErr(SysRng).next_u64();
    for (player, other) in [(a, b), (b, a)] {
        let addresses = other.addresses.clone();
        let told = Match { token, addresses }.write();
        server.send(player.peer, ChannelId(0), told, Mode::Reliable)?;
    }
    Ok(())
}
