//! porous by porous-std, with the defaults of a server and of a client.

use core::net::SocketAddr;
use core::time::Duration;
use std::io;

use porous_std::{ChannelId, Config, Disconnect, Event, Listen, Mode, PeerId, UdpHost};

use super::node::{ANY_PORT, Node, Seen};

pub(super) struct Porous(UdpHost);

impl Node for Porous {
    type Peer = PeerId;

    fn server(clients: usize) -> io::Result<(Self, u16)> {
        let config = Config::new().max_peers(clients as u32);
        let mut host = UdpHost::bind(SocketAddr::from(ANY_PORT), config)?;
        host.listen(Listen::Open).map_err(io::Error::other)?;
        let port = host.local_addr()?.port();
        Ok((Self(host), port))
    }

    fn client(port: u16) -> io::Result<(Self, PeerId)> {
        let mut host = UdpHost::bind(SocketAddr::from(ANY_PORT), Config::client())?;
        let server = SocketAddr::from((ANY_PORT.0, port));
        let peer = host.connect(server).map_err(io::Error::other)?;
        Ok((Self(host), peer))
    }

    fn turn(
        &mut self,
        longest: Duration,
        tell: &mut impl FnMut(PeerId, Seen<'_>),
    ) -> io::Result<()> {
        if longest.is_zero() {
            self.0.step()?;
        } else {
            self.0.wait(longest)?;
        }
        while let Some(event) = self.0.poll_event() {
            if let Event::Readable { peer } = event {
                while let Some(received) = self.0.receive(peer) {
                    tell(peer, Seen::Message(&received.payload));
                }
            } else if let Event::Connected { peer, .. } = event {
                tell(peer, Seen::Connected);
            } else if let Event::Disconnected { peer, .. } = event {
                tell(peer, Seen::Ended);
            }
        }
        Ok(())
    }

    fn send(&mut self, peer: PeerId, message: &[u8], is_reliable: bool) -> bool {
        let mode = if is_reliable {
            Mode::Reliable
        } else {
            Mode::Unreliable
        };
        let sent = self.0.send(peer, ChannelId(0), message, mode);
        sent.is_ok()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.transmit()
    }

    fn leave(&mut self, peer: PeerId) {
        let (reason, deadline) = (0, Duration::from_secs(5));
        // A peer that has ended already needs no more.
        let _ended = self
            .0
            .disconnect(peer, Disconnect::Flush { reason, deadline });
    }
}
