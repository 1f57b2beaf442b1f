//! rusty_enet over a socket of the standard library, used as `enet/sockets.c` uses ENet.

use core::net::SocketAddr;
use core::time::Duration;
use std::io;
use std::net::UdpSocket;

use porous_std::{Clock, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rusty_enet::{EventNoRef, Host, HostSettings, Packet, PeerID};

use super::node::{ANY_PORT, Node, Seen, socket};

pub(super) struct Enet(Host<UdpSocket>);

impl Enet {
    fn open(peers: usize) -> io::Result<Self> {
        let settings = HostSettings {
            peer_limit: peers,
            channel_limit: 1,
            ..HostSettings::default()
        };
        Host::new(socket()?, settings)
            .map(Self)
            .map_err(|_| io::Error::other("rusty_enet refuses the socket"))
    }

    /// What `enet_host_service` of the C library does, which the translation leaves to its caller: to sleep
    /// until there is an event, or the time is over.
    fn service(&mut self, longest: Duration) -> io::Result<Option<EventNoRef>> {
        if let Some(event) = self.0.service()? {
            return Ok(Some(event.no_ref()));
        }
        if longest.is_zero() {
            return Ok(None);
        }
        let clock = Clock::start();
        loop {
            let passed = clock.now().saturating_duration_since(Instant::ZERO);
            let Some(rest) = longest.checked_sub(passed) else {
                return Ok(None);
            };
            let timeout = Timespec::try_from(rest).ok();
            let mut fds = [PollFd::new(self.0.socket(), PollFlags::IN)];
            poll(&mut fds, timeout.as_ref())?;
            if let Some(event) = self.0.service()? {
                return Ok(Some(event.no_ref()));
            }
        }
    }
}

impl Node for Enet {
    type Peer = PeerID;

    fn server(clients: usize) -> io::Result<(Self, u16)> {
        let node = Self::open(clients)?;
        let port = node.0.socket().local_addr()?.port();
        Ok((node, port))
    }

    fn client(port: u16) -> io::Result<(Self, PeerID)> {
        let mut node = Self::open(1)?;
        let server = SocketAddr::from((ANY_PORT.0, port));
        let peer = node.0.connect(server, 1, 0).map_err(io::Error::other)?.id();
        Ok((node, peer))
    }

    fn turn(
        &mut self,
        longest: Duration,
        tell: &mut impl FnMut(PeerID, Seen<'_>),
    ) -> io::Result<()> {
        let mut next = self.service(longest)?;
        while let Some(event) = next {
            // A connection that begins or ends stops it from taking in more datagrams.
            let is_stopped = !matches!(event, EventNoRef::Receive { .. });
            match event {
                EventNoRef::Connect { peer, .. } => tell(peer, Seen::Connected),
                EventNoRef::Disconnect { peer, .. } => tell(peer, Seen::Ended),
                EventNoRef::Receive { peer, packet, .. } => {
                    tell(peer, Seen::Message(packet.data()));
                }
            }
            next = if is_stopped {
                self.service(Duration::ZERO)?
            } else {
                self.0.check_events().map(rusty_enet::Event::no_ref)
            };
        }
        Ok(())
    }

    fn send(&mut self, peer: PeerID, message: &[u8], is_reliable: bool) -> bool {
        let packet = if is_reliable {
            Packet::reliable(message)
        } else {
            Packet::unreliable(message)
        };
        self.0.peer_mut(peer).send(0, &packet).is_ok()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush();
        Ok(())
    }

    fn leave(&mut self, peer: PeerID) {
        self.0.peer_mut(peer).disconnect_later(0);
    }
}
