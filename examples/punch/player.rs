//! A player. The same socket connects to the rendezvous and then to the other player.

use core::net::{Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::net::UdpSocket;

use porous_std::{ChannelId, Config, Disconnect, DisconnectReason, Event, Mode, PeerId, UdpHost};

use crate::Failure;
use crate::words::{Match, write_addresses};

const FLUSH: Disconnect = Disconnect::Flush {
    reason: 0,
    deadline: Duration::from_secs(2),
};

/// A player, with its peers.
struct Player {
    host: UdpHost,
    server: PeerId,
    /// The other player, and the token of the match; `None` before the match.
    other: Option<(PeerId, u64)>,
    greeting: Option<String>,
}

/// Plays one match, which is over when both players have greeted. Returns a text about it.
pub(crate) fn play(server: SocketAddr, bind: Ipv4Addr) -> Result<String, Failure> {
    let mut host = UdpHost::bind((bind, 0), Config::new())?;
    let server = host.connect(server)?;
    let mut player = Player {
        host,
        server,
        other: None,
        greeting: None,
    };
    let mut here = 2;
    while here > 0 {
        player.host.wait(Duration::from_secs(1))?;
        while let Some(event) = player.host.poll_event() {
            match event {
                Event::Connected { peer, .. } => player.on_connected(peer)?,
                Event::Readable { peer } => player.on_readable(peer)?,
                Event::Disconnected { peer, reason, .. } => {
                    here -= 1;
                    player.on_disconnected(peer, reason)?;
                }
                Event::Request { .. } | Event::Writable { .. } | _ => {}
            }
        }
    }
    Ok(player.greeting.ok_or("nobody has greeted")?)
}

impl Player {
    fn on_connected(&mut self, peer: PeerId) -> Result<(), Failure> {
        let first = match self.other {
            Some((other, token)) if other == peer => token.to_string(),
            _ => write_addresses(&self.private_address()?),
        };
        self.host.send(peer, ChannelId(0), first, Mode::Reliable)?;
        Ok(())
    }

    /// The private address from which this machine reaches the server, for a player in the same network.
    fn private_address(&self) -> Result<Vec<SocketAddr>, Failure> {
        let bound = self.host.local_addr()?;
        let server = self.host.address(self.server).ok_or("the server is gone")?;
        // To connect a UDP socket sends nothing: the system only looks up which of its addresses it would
        // use.
        let probe = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        probe.connect(server)?;
        Ok([SocketAddr::new(probe.local_addr()?.ip(), bound.port())].into())
    }

    fn on_readable(&mut self, peer: PeerId) -> Result<(), Failure> {
        while let Some(packet) = self.host.receive(peer) {
            match self.other {
                Some((other, token)) if other == peer => {
                    self.on_greeting(token, &packet.payload)?
                }
                None if peer == self.server => {
                    let Match { token, addresses } = Match::read(&packet.payload).ok_or("what?")?;
                    self.other = Some((self.host.connect_any(&addresses)?, token));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Checks the first packet of a peer: only the right player knows the token. A game begins here.
    fn on_greeting(&mut self, token: u64, packet: &[u8]) -> Result<(), Failure> {
        let Some((other, _)) = self.other else {
            return Ok(());
        };
        if packet != token.to_string().as_bytes() {
            return Err("a stranger".into());
        }
        let at = self.host.address(other).ok_or("the other is gone")?;
        self.greeting = Some(format!("met the other player at {at}"));
        for peer in [other, self.server] {
            // The peer may have left already.
            let _ = self.host.disconnect(peer, FLUSH);
        }
        Ok(())
    }

    fn on_disconnected(&self, peer: PeerId, reason: DisconnectReason) -> Result<(), Failure> {
        let left = matches!(
            reason,
            DisconnectReason::ByUs(0) | DisconnectReason::ByPeer(0)
        );
        match left && self.greeting.is_some() {
            true => Ok(()),
            // A game would go on through the server here.
            false if peer != self.server => Err(format!("no way through: {reason}").into()),
            false => Err(format!("the server is gone: {reason}").into()),
        }
    }
}
