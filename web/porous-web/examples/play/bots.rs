//! Players without players, who come by UDP as programs do.

use core::net::SocketAddr;
use core::time::Duration;
use std::io;

use porous_arena::{Bot, ClientNet, Net, TICKS};
use porous_play::rules::played;
use porous_std::{ChannelId, Config, Event, PeerId, Received, SendError, SendOptions, UdpHost};
use porous_udp::sim::Seed;

const TICK: Duration = Duration::from_micros(1_000_000 / TICKS as u64);

/// A host on a UDP socket, as the arena sees it.
struct Udp(UdpHost);

impl Net for Udp {
    fn receive(&mut self, peer: PeerId) -> Option<Received> {
        self.0.receive(peer)
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

struct Player {
    host: Udp,
    net: ClientNet,
    bot: Bot,
}

/// Plays until a connection ends.
pub(crate) fn play(server: SocketAddr, bots: u64, seed: Seed) -> io::Result<()> {
    let player = |number| {
        let config = played(Config::client()).map_err(io::Error::other)?;
        let mut host = UdpHost::bind("127.0.0.1:0", config)?;
        host.connect(server).map_err(io::Error::other)?;
        let (host, net) = (Udp(host), ClientNet::default());
        let bot = Bot::new(seed, number);
        Ok(Player { host, net, bot })
    };
    let players: io::Result<Vec<Player>> = (0..bots).map(player).collect();
    let mut players = players?;
    let Some(first) = players.first() else {
        return Ok(());
    };
    let mut next_tick = first.host.0.now();
    loop {
        let now = players[0].host.0.now();
        // The hosts wake nobody: their datagrams wait for a tick at most.
        let rest = next_tick.saturating_duration_since(now);
        players[0].host.0.wait(rest)?;
        if players[0].host.0.now() < next_tick {
            continue;
        }
        next_tick = players[0].host.0.now().max(next_tick + TICK);
        for player in &mut players {
            player.host.0.step()?;
            while let Some(event) = player.host.0.poll_event() {
                if matches!(event, Event::Disconnected { .. }) {
                    return Ok(());
                }
                player.net.on_event(&mut player.host, event);
            }
            let game = &player.net.game;
            let input = player.bot.think(game.you(), &game.view());
            player.net.step(&mut player.host, input);
            player.host.0.transmit()?;
        }
    }
}
