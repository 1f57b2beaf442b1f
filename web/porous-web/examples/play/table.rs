//! The server of the arena on a host of browsers and UDP sockets.

use core::time::Duration;
use std::io;

use bytes::Bytes;
use porous_arena::{Net, Server, ServerNet, TICKS};
use porous_play::rules::{is_echoed, played};
use porous_udp::LinkConditioner;
use porous_udp::sim::{LinkConfig, Seed};
use porous_web::proto::{
    ChannelId, Config, Instant, Listen, PeerId, Received, SendError, SendOptions,
};
use porous_web::{WebConfig, WebHost};
use tokio::sync::watch;

const TICK: Duration = Duration::from_micros(1_000_000 / TICKS as u64);

/// After a pause of the machine the game goes on where it was, instead of playing all ticks at once.
const PAUSE: Duration = Duration::from_millis(250);

/// Where pages find the host: what they ask for before each session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) port: u16,
    pub(crate) hash: [u8; 32],
}

impl Place {
    pub(crate) fn of(host: &WebHost) -> io::Result<Self> {
        Ok(Self {
            port: host.web_addr()?.port(),
            hash: host.certificate_hash(),
        })
    }

    /// As an object for the page.
    pub(crate) fn json(&self) -> Bytes {
        let hash: String = self.hash.iter().map(|byte| format!("{byte:02x}")).collect();
        format!(r#"{{"port":{},"hash":"{hash}"}}"#, self.port).into()
    }
}

/// The host as the arena sees it. What pages send to measure their latency goes back to them.
struct Echoing<'h>(&'h mut WebHost);

impl Net for Echoing<'_> {
    fn receive(&mut self, peer: PeerId) -> Option<Received> {
        loop {
            let packet = self.0.receive(peer)?;
            if !is_echoed(packet.channel) {
                return Some(packet);
            }
            // One that has no room is not measured.
            let _sent = self
                .0
                .send(peer, packet.channel, packet.payload, packet.mode);
        }
    }

    fn send(
        &mut self,
        to: PeerId,
        channel: ChannelId,
        bytes: &[u8],
        options: SendOptions,
    ) -> Result<(), SendError> {
        self.0.send(to, channel, bytes, options)
    }
}

/// A game and its host.
pub(crate) struct Table {
    pub(crate) host: WebHost,
    pub(crate) net: ServerNet,
    next_tick: Instant,
}

impl Table {
    /// Lets everybody in, behind a network like this, both ways.
    pub(crate) async fn bind(web: WebConfig, line: LinkConfig, seed: Seed) -> io::Result<Self> {
        let config = played(Config::new()).map_err(io::Error::other)?;
        let mut host = WebHost::bind(web, config).await?;
        host.set_conditioners(
            LinkConditioner::between(line, seed.child("out", 0)),
            LinkConditioner::between(line, seed.child("back", 0)),
        );
        host.listen(Listen::Open).map_err(io::Error::other)?;
        Ok(Self {
            next_tick: host.now(),
            host,
            net: ServerNet::new(Server::new(seed)),
        })
    }

    /// Sleeps for a moment, and plays the ticks that are due.
    pub(crate) async fn turn(&mut self) -> io::Result<()> {
        let rest = self.next_tick.saturating_duration_since(self.host.now());
        self.host.wait(rest).await?;
        while let Some(event) = self.host.poll_event() {
            self.net.on_event(&mut Echoing(&mut self.host), event);
        }
        let now = self.host.now();
        if now > self.next_tick + PAUSE {
            self.next_tick = now;
        }
        while self.next_tick <= now {
            self.next_tick = self.next_tick + TICK;
            self.net.step(&mut Echoing(&mut self.host));
        }
        self.host.transmit();
        Ok(())
    }

    /// Plays until the future is dropped, and tells where pages find the host.
    pub(crate) async fn play(&mut self, place: &watch::Sender<Place>) -> io::Result<()> {
        loop {
            self.turn().await?;
            let now = Place::of(&self.host)?;
            place.send_if_modified(|before| core::mem::replace(before, now) != now);
        }
    }
}
