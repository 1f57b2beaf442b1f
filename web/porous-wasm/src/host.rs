//! The host, as an object of JavaScript.

use alloc::collections::BTreeMap;
use core::time::Duration;

use chacha20::ChaCha12Rng;
use chacha20::rand_core::SeedableRng;
use js_sys::Uint8Array;
use porous_proto::{
    ChannelId, Config, ConfigError, Disconnect, Ecn, Event, Host, Mode, PeerId, SendError,
    SendOptions,
};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

use crate::object::{Made, instant, mode, mode_name, ms, number, whole};
use crate::{config, event, stats};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** Sent once: it may arrive. Repeated until it arrives, and the channel waits. Repeated, and nobody waits. */
export type PorousMode = "unreliable" | "reliable" | "passive";

export interface PorousOptions {
    /** The time after which the packet is not sent, or not sent again. */
    ttl_ms?: number;
    /** An event of the kind "receipt" with this number says what became of the packet. From 0 to 2 ** 32 - 1. */
    receipt?: number;
    /** Of the packets of a channel with the same key that wait, only the latest is sent. From 0 to 2 ** 32 - 1. */
    key?: number;
    /** Copies in the spare bytes of later datagrams, 0 to 254. */
    redundancy?: number;
}

export interface PorousPacket {
    channel: number;
    mode: PorousMode;
    payload: Uint8Array;
}
"#;

/// The host of the core within, whose remote hosts are sessions by number.
pub type Core = Host<ChaCha12Rng, u32>;

/// A host with one connection at a time, without input and output.
///
/// The program hands over each datagram that comes, calls `handle_timeout` when `poll_timeout` says so, and then sends
/// what `poll_transmit` gives, until that gives nothing. `porous.js` does this by WebTransport.
#[wasm_bindgen]
#[derive(Debug)]
pub struct PorousHost {
    host: Core,
    /// The number of the session that carries datagrams now. Those of others are not sent.
    session: u32,
    peer: Option<PeerId>,
    /// The sessions of all peers that have not ended.
    sessions: BTreeMap<PeerId, u32>,
    buffer: Vec<u8>,
}

impl PorousHost {
    /// A host with this configuration, of which sizes and marks become those of browsers.
    ///
    /// # Errors
    ///
    /// None for a configuration that [`Config`] has let through.
    pub fn with_config(config: Config, seed: [u8; 32]) -> Result<Self, ConfigError> {
        let host = Host::new(config::in_browser(config)?, ChaCha12Rng::from_seed(seed));
        Ok(Self {
            buffer: vec![0; host.max_datagram_size()],
            host,
            session: 0,
            peer: None,
            sessions: BTreeMap::new(),
        })
    }

    /// The host within, for a game that is written in Rust.
    pub const fn inner(&mut self) -> &mut Core {
        &mut self.host
    }

    /// The peer that is connected to, or that an attempt is made to connect to.
    #[must_use]
    pub const fn peer(&self) -> Option<PeerId> {
        self.peer
    }

    /// The next event, and the session of its connection.
    pub fn next_event(&mut self) -> Option<(u32, Event<u32>)> {
        loop {
            let event = self.host.poll_event()?;
            let Some(peer) = peer_of(&event) else {
                continue;
            };
            let session = if matches!(event, Event::Disconnected { .. }) {
                self.sessions.remove(&peer)
            } else {
                self.sessions.get(&peer).copied()
            };
            if let Some(session) = session {
                return Some((session, event));
            }
        }
    }

    /// The session of the connection that there is, or that an attempt is made to make.
    #[must_use]
    pub const fn session(&self) -> u32 {
        self.session
    }

    /// An event as an object of JavaScript; `None` of one that a client in a browser has no use for.
    #[must_use]
    pub fn event_object(session: u32, event: &Event<u32>) -> Option<JsValue> {
        event::object(session, event)
    }
}

#[wasm_bindgen]
impl PorousHost {
    /// A host. `seed` are 32 bytes of `crypto.getRandomValues`: who knows them can forge its datagrams.
    #[wasm_bindgen(constructor)]
    pub fn new(
        seed: &[u8],
        #[wasm_bindgen(unchecked_param_type = "PorousConfig | undefined")] config: &JsValue,
    ) -> Result<Self, JsError> {
        let seed = <[u8; 32]>::try_from(seed).map_err(|_| {
            JsError::new("a seed has 32 bytes: crypto.getRandomValues(new Uint8Array(32))")
        })?;
        Ok(Self::with_config(config::read(config)?, seed)?)
    }

    /// Connects in a session that has been opened anew, and returns its number, which events of the connection have. A
    /// connection in a session before is over: an event says so later, and how many packets were not acknowledged.
    pub fn connect(&mut self, now: f64) -> Result<u32, JsError> {
        let now = instant(now);
        if let Some(before) = self.peer.take() {
            // One that has ended already has nothing to end.
            let _known = self
                .host
                .disconnect(now, before, Disconnect::Now { reason: 0 });
        }
        self.session += 1;
        let peer = self.host.connect(now, self.session)?;
        self.peer = Some(peer);
        self.sessions.insert(peer, self.session);
        Ok(self.session)
    }

    /// Takes in a datagram that has come. Whatever it is, it does no harm.
    pub fn handle_datagram(&mut self, now: f64, datagram: &[u8]) {
        // What the network does is no error.
        let _became = self
            .host
            .handle_datagram(instant(now), self.session, Ecn::NotEct, datagram);
    }

    /// Does what is due by time.
    pub fn handle_timeout(&mut self, now: f64) {
        self.host.handle_timeout(instant(now));
    }

    /// The next datagram to be sent; `undefined` if there is none now.
    #[wasm_bindgen(unchecked_return_type = "Uint8Array | undefined")]
    pub fn poll_transmit(&mut self, now: f64) -> Option<Uint8Array> {
        loop {
            let transmit = self.host.poll_transmit(instant(now), &mut self.buffer)?;
            if transmit.to == self.session {
                return Some(Uint8Array::from(transmit.datagram));
            }
        }
    }

    /// When `handle_timeout` and `poll_transmit` are to be called next, by the clock of `now`; `undefined` if nothing
    /// is due.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<f64> {
        self.host.poll_timeout().map(ms)
    }

    /// The next event; `undefined` if there is none.
    #[wasm_bindgen(unchecked_return_type = "PorousEvent | undefined")]
    pub fn poll_event(&mut self) -> JsValue {
        while let Some((session, event)) = self.next_event() {
            if let Some(object) = event::object(session, &event) {
                return object;
            }
        }
        JsValue::UNDEFINED
    }

    /// Sends a packet. False if there is no room for it in the send budget: an event of the kind "writable" says when
    /// there is. Throws if there is no connection, no such channel, or the packet is too large; nothing was sent then.
    pub fn send(
        &mut self,
        channel: f64,
        payload: &[u8],
        #[wasm_bindgen(unchecked_param_type = "PorousMode")] how: &str,
        #[wasm_bindgen(unchecked_param_type = "PorousOptions | undefined")] options: &JsValue,
    ) -> Result<bool, JsError> {
        let options = send_options(mode(how)?, options)?;
        let channel = self::channel(channel).ok_or_else(|| {
            JsError::new(&format!(
                "channel is {channel}: give a whole number from 0 to 254"
            ))
        })?;
        let Some(peer) = self.peer else {
            return Err(JsError::new("there is no connection: connect first"));
        };
        match self.host.send(peer, channel, payload, options) {
            Ok(()) => Ok(true),
            Err(SendError::Full) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Cancels the packets of a channel that were sent with this receipt. True if there were any.
    pub fn cancel(&mut self, channel: f64, receipt: f64) -> bool {
        let channel = self::channel(channel);
        let named = channel.zip(whole(receipt, u32::MAX)).zip(self.peer);
        named.is_some_and(|((channel, receipt), peer)| {
            self.host.cancel(peer, channel, receipt.into())
        })
    }

    /// The next packet; `undefined` if none waits. Those of connections before come first.
    #[wasm_bindgen(unchecked_return_type = "PorousPacket | undefined")]
    pub fn receive(&mut self) -> JsValue {
        let next = self.host.readable().next();
        let Some(packet) = next.and_then(|peer| self.host.receive(peer)) else {
            return JsValue::UNDEFINED;
        };
        Made::new()
            .with("channel", packet.channel.0)
            .with("mode", mode_name(packet.mode))
            .with("payload", Uint8Array::from(&packet.payload[..]))
            .done()
    }

    /// Ends the connection with a number for the other application: at once, or when all was delivered that was sent,
    /// for `flush_ms` at most. An event of the kind "disconnected" says when it has ended.
    pub fn disconnect(&mut self, now: f64, code: u32, flush_ms: Option<u32>) {
        let reason = code;
        let how = match flush_ms {
            None => Disconnect::Now { reason },
            Some(ms) => Disconnect::Flush {
                reason,
                deadline: Duration::from_millis(ms.into()),
            },
        };
        if let Some(peer) = self.peer {
            // One that has ended already has nothing to end.
            let _known = self.host.disconnect(instant(now), peer, how);
        }
    }

    /// What is known about the connection; `undefined` if there is none.
    #[must_use]
    #[wasm_bindgen(unchecked_return_type = "PorousStats | undefined")]
    pub fn peer_stats(&self) -> JsValue {
        let peer = self.peer.and_then(|peer| self.host.peer(peer));
        peer.map_or(JsValue::UNDEFINED, stats::object)
    }
}

/// The channel of this number. JavaScript would make one of any number, and take 256 for 0.
fn channel(number: f64) -> Option<ChannelId> {
    let number = whole(number, 254).map(u8::try_from)?;
    number.ok().map(ChannelId)
}

fn send_options(mode: Mode, from: &JsValue) -> Result<SendOptions, JsError> {
    let mut options = SendOptions::new(mode);
    if let Some(ms) = number(from, "ttl_ms", u32::MAX)? {
        options = options.ttl(Duration::from_millis(ms.into()));
    }
    if let Some(receipt) = number(from, "receipt", u32::MAX)? {
        options = options.receipt(receipt.into());
    }
    if let Some(key) = number(from, "key", u32::MAX)? {
        options = options.key(key.into());
    }
    if let Some(copies) = number(from, "redundancy", 254)? {
        options = options.redundancy(u8::try_from(copies).unwrap_or(u8::MAX));
    }
    Ok(options)
}

/// The peer that an event is of; `None` of an event that this module does not know yet.
const fn peer_of(event: &Event<u32>) -> Option<PeerId> {
    match event {
        Event::Request { peer, .. }
        | Event::Connected { peer, .. }
        | Event::Readable { peer }
        | Event::Writable { peer }
        | Event::Receipt { peer, .. }
        | Event::PeerMoved { peer, .. }
        | Event::PathNarrowed { peer, .. }
        | Event::PortClosed { peer, .. }
        | Event::Disconnected { peer, .. } => Some(*peer),
        _ => None,
    }
}
