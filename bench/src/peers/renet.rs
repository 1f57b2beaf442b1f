//! renet: its message layer, without a transport and so without a handshake.

use std::collections::VecDeque;
use std::time::Duration;

use porous_proto::Instant;
use renet::{ChannelConfig, ConnectionConfig, RenetClient, SendType};

use crate::peer::{CHANNELS, Endpoint, Ends, State};

/// The channel of unreliable messages. It stands first in the list, as in renet's own configuration.
const UNRELIABLE: u8 = CHANNELS;

pub(crate) fn open(_: u64) -> Ends {
    [Box::new(Renet::new()), Box::new(Renet::new())]
}

/// The options of `DefaultChannel`, with this number of reliable channels. The unreliable one is behind them.
pub(crate) fn config(channels: u8) -> ConnectionConfig {
    let channel = |channel_id, send_type| ChannelConfig {
        channel_id,
        max_memory_usage_bytes: 5 * 1024 * 1024,
        send_type,
    };
    let resend_time = Duration::from_millis(300);
    let reliable = |id| channel(id, SendType::ReliableOrdered { resend_time });
    let mut all = vec![channel(channels, SendType::Unreliable)];
    all.extend((0..channels).map(reliable));
    ConnectionConfig {
        client_channels_config: all.clone(),
        server_channels_config: all,
        ..ConnectionConfig::default()
    }
}

struct Renet {
    client: RenetClient,
    now: Instant,
    leaving: VecDeque<Vec<u8>>,
    is_flushed: bool,
}

impl Renet {
    fn new() -> Self {
        let mut client = RenetClient::new(config(CHANNELS));
        client.set_connected();
        Self {
            client,
            now: Instant::ZERO,
            leaving: VecDeque::new(),
            is_flushed: false,
        }
    }
}

impl Endpoint for Renet {
    fn datagram_in(&mut self, _: Instant, datagram: &[u8]) {
        self.client.process_packet(datagram);
    }

    fn service(&mut self, now: Instant) {
        self.client.update(now.saturating_duration_since(self.now));
        self.now = now;
        self.is_flushed = false;
    }

    fn received(&mut self) -> Option<Vec<u8>> {
        let message = (0..=UNRELIABLE).find_map(|id| self.client.receive_message(id))?;
        Some(message.to_vec())
    }

    fn send(&mut self, channel: u8, message: &[u8], reliable: bool) -> bool {
        let channel = if reliable { channel } else { UNRELIABLE };
        let has_room = self.client.can_send_message(channel, message.len());
        if has_room {
            self.client.send_message(channel, message.to_vec());
        }
        has_room
    }

    fn datagram_out(&mut self, _: Instant) -> Option<Vec<u8>> {
        if !self.is_flushed {
            self.leaving.extend(self.client.get_packets_to_send());
            self.is_flushed = true;
        }
        self.leaving.pop_front()
    }

    fn state(&self) -> State {
        if self.client.is_connected() {
            State::Connected
        } else {
            State::Lost
        }
    }
}
