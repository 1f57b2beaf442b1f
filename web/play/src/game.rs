//! The client of the arena, as an object of JavaScript.

use js_sys::Uint8Array;
use porous_arena::{Bot, ClientNet, Input, Net, STAND};
use porous_proto::{ChannelId, Config, Event, Instant, PeerId, Received, SendError, SendOptions};
use porous_sim::Seed;
use porous_wasm::{Core, PorousHost};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

use crate::echo::Echoes;
use crate::rules::{MEASURED, is_echoed, played};

/// A client of the arena and its host, which `PorousLink` carries as it does a `PorousHost`.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Game {
    host: PorousHost,
    net: ClientNet,
    bot: Bot,
    echoes: Echoes,
    now: Instant,
}

/// The host as the arena sees it: without the packets that are for its latency.
struct Filtered<'h> {
    host: &'h mut Core,
    echoes: &'h mut Echoes,
    now: Instant,
}

impl Net for Filtered<'_> {
    fn receive(&mut self, peer: PeerId) -> Option<Received> {
        loop {
            let packet = self.host.receive(peer)?;
            if !is_echoed(packet.channel) {
                return Some(packet);
            }
            self.echoes.receive(self.now, &packet);
        }
    }

    fn send(
        &mut self,
        to: PeerId,
        channel: ChannelId,
        bytes: &[u8],
        options: SendOptions,
    ) -> Result<(), SendError> {
        self.host.send(to, channel, bytes, options)
    }
}

impl Game {
    fn filtered(&mut self) -> (&mut ClientNet, Filtered<'_>) {
        let filtered = Filtered {
            host: self.host.inner(),
            echoes: &mut self.echoes,
            now: self.now,
        };
        (&mut self.net, filtered)
    }

    fn tick(&mut self, input: Input) {
        let (net, mut host) = self.filtered();
        net.step(&mut host, input);
        let (Some(server), Some(packet)) = (self.net.server(), self.echoes.due(self.now)) else {
            return;
        };
        for (channel, mode) in MEASURED {
            // One that has no room is not measured.
            let _sent = self.host.inner().send(server, channel, &packet[..], mode);
        }
    }
}

#[wasm_bindgen]
impl Game {
    /// A client that has heard nothing. `seed` are 32 bytes of `crypto.getRandomValues`.
    #[wasm_bindgen(constructor)]
    pub fn new(seed: &[u8]) -> Result<Self, JsError> {
        let seed = <[u8; 32]>::try_from(seed).map_err(|_| JsError::new("a seed has 32 bytes"))?;
        let chance = u64::from(u32::from_be_bytes([seed[0], seed[1], seed[2], seed[3]]));
        Ok(Self {
            host: PorousHost::with_config(played(Config::client())?, seed)?,
            net: ClientNet::default(),
            bot: Bot::new(Seed::new(chance), 0),
            echoes: Echoes::default(),
            now: Instant::ZERO,
        })
    }

    /// As that of `PorousHost`. The game begins anew.
    pub fn connect(&mut self, now: f64) -> Result<u32, JsError> {
        self.net = ClientNet::default();
        self.host.connect(now)
    }

    /// As that of `PorousHost`.
    pub fn handle_datagram(&mut self, now: f64, datagram: &[u8]) {
        self.host.handle_datagram(now, datagram);
    }

    /// As that of `PorousHost`.
    pub fn handle_timeout(&mut self, now: f64) {
        self.now = porous_wasm::instant(now);
        self.host.handle_timeout(now);
    }

    /// As that of `PorousHost`.
    #[wasm_bindgen(unchecked_return_type = "Uint8Array | undefined")]
    pub fn poll_transmit(&mut self, now: f64) -> Option<Uint8Array> {
        self.host.poll_transmit(now)
    }

    /// As that of `PorousHost`.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<f64> {
        self.host.poll_timeout()
    }

    /// As that of `PorousHost`. The game takes packets by itself.
    #[wasm_bindgen(unchecked_return_type = "PorousEvent | undefined")]
    pub fn poll_event(&mut self) -> JsValue {
        while let Some((session, event)) = self.host.next_event() {
            let object = PorousHost::event_object(session, &event);
            if session == self.host.session() {
                self.on_event(event);
            }
            if let Some(object) = object {
                return object;
            }
        }
        JsValue::UNDEFINED
    }

    fn on_event(&mut self, event: Event<u32>) {
        let (net, mut host) = self.filtered();
        net.on_event(&mut host, event);
    }

    /// As that of `PorousHost`.
    pub fn disconnect(&mut self, now: f64, code: u32, flush_ms: Option<u32>) {
        self.host.disconnect(now, code, flush_ms);
    }

    /// As that of `PorousHost`.
    #[must_use]
    #[wasm_bindgen(unchecked_return_type = "PorousStats | undefined")]
    pub fn peer_stats(&self) -> JsValue {
        self.host.peer_stats()
    }

    /// A tick of 1/60 s passes, in which the player walks and aims in directions from 0 to 15, from east by south; to
    /// walk nowhere is 16.
    pub fn step(&mut self, walk: u8, aim: u8, fire: bool) {
        let (walk, aim) = (walk.min(STAND), aim % 16);
        self.tick(Input { walk, aim, fire });
    }

    /// A tick of 1/60 s passes, in which a bot plays for the player.
    pub fn step_bot(&mut self) {
        let game = &self.net.game;
        let input = self.bot.think(game.you(), &game.view());
        self.tick(input);
    }

    /// The number of the player, which is its place in `view`.
    #[must_use]
    pub fn you(&self) -> Option<u8> {
        self.net.game.you()
    }

    /// What is shown now, six numbers for each body: its number, across, down, where it aims, its health, and its life.
    #[must_use]
    pub fn view(&self) -> Vec<i16> {
        let numbered = (0_i16..).zip(self.net.game.view());
        let shown = numbered.filter_map(|(number, body)| {
            let body = body?;
            let [aim, health, life] = [body.aim, body.health, body.life].map(i16::from);
            Some([number, body.at[0], body.at[1], aim, health, life])
        });
        shown.flatten().collect()
    }

    /// The scores, three numbers for each player: its number, how many it has felled, how often it has fallen.
    #[must_use]
    pub fn scores(&self) -> Vec<u32> {
        let scores = self.net.game.scores().iter();
        scores
            .flat_map(|it| [it.player.into(), it.felled, it.fallen])
            .collect()
    }

    /// The latest that has happened, in words, the oldest first.
    #[must_use]
    pub fn news(&self) -> Vec<String> {
        self.net.game.news().map(ToString::to_string).collect()
    }

    /// What came back since the last call, two numbers for each packet: the place of its mode among unreliable, reliable
    /// and passive, and the milliseconds it was on its way.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "as JavaScript counts")]
    pub fn echoes(&mut self) -> Vec<f64> {
        let back = self.echoes.take();
        let numbers = back
            .iter()
            .flat_map(|echo| [echo.mode as f64, echo.after.as_secs_f64() * 1000.0]);
        numbers.collect()
    }
}
