//! The configuration of a host, from an object of JavaScript.

use core::time::Duration;

use js_sys::Array;
use porous_proto::{Channel, ChannelId, Config, ConfigError, Integrity, Priority};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

use crate::object::{number, property};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** What a host is configured with. What is left out is as `Config::client()` has it. */
export interface PorousConfig {
    /** A number that both hosts must have alike, by which an application knows its own. */
    application_id?: bigint;
    /** The channels to send on, 1 to 255. One of low priority, if left out. */
    channels?: PorousChannel[];
    /** The largest packet that comes, in bytes. */
    max_packet?: number;
    /** A check over all bytes of a datagram: QUIC has one of its own, so that this is for programs on UDP. */
    crc32c?: boolean;
    /** How long an attempt to connect may take. */
    connect_timeout_ms?: number;
    /** A connection of which nothing came for so long is lost. */
    timeout_ms?: number;
    /** How long a disconnection waits for its acknowledgement. */
    disconnect_timeout_ms?: number;
}

export interface PorousChannel {
    priority: "low" | "high";
    /** True if packets may overtake each other. */
    unordered?: boolean;
}
"#;

/// A datagram of WebTransport that every browser takes from the first moment on, in bytes: `REQUEST_SIZE` of
/// `porous-web`.
const REQUEST_SIZE: u16 = 1024;

/// What a host in a browser needs, whatever else it is configured with.
pub(crate) fn in_browser(config: Config) -> Result<Config, ConfigError> {
    Ok(config.request_size(REQUEST_SIZE)?.ecn(false))
}

/// The configuration that an object describes.
pub(crate) fn read(from: &JsValue) -> Result<Config, JsError> {
    let mut config = Config::client();
    if let Some(id) = property(from, "application_id") {
        let id = u64::try_from(id).map_err(|_| {
            JsError::new("application_id has to be a BigInt from 0n to 2n ** 64n - 1n")
        })?;
        config = config.application_id(id);
    }
    if let Some(channels) = property(from, "channels") {
        config = with_channels(config, &Array::from(&channels))?;
    }
    if let Some(bytes) = number(from, "max_packet", u32::MAX)? {
        config = config.max_packet(bytes)?;
    }
    if property(from, "crc32c").is_some_and(|it| it.is_truthy()) {
        config = config.integrity(Integrity::Crc32c);
    }
    let time =
        |name| number(from, name, u32::MAX).map(|ms| ms.map(|ms| Duration::from_millis(ms.into())));
    if let Some(timeout) = time("connect_timeout_ms")? {
        config = config.connect_timeout(timeout)?;
    }
    if let Some(timeout) = time("timeout_ms")? {
        config = config.timeout(timeout)?;
    }
    if let Some(timeout) = time("disconnect_timeout_ms")? {
        config = config.disconnect_timeout(timeout)?;
    }
    Ok(config)
}

fn with_channels(config: Config, channels: &Array) -> Result<Config, JsError> {
    let described: Result<Vec<Channel>, JsError> = channels.iter().map(|it| channel(&it)).collect();
    let described = described?;
    let mut config = config.channels(&vec![Priority::Low; described.len()])?;
    for (id, channel) in (0..=u8::MAX).zip(described) {
        config = config.channel(ChannelId(id), channel)?;
    }
    Ok(config)
}

fn channel(from: &JsValue) -> Result<Channel, JsError> {
    let priority = property(from, "priority").and_then(|it| it.as_string());
    let channel = match priority.as_deref() {
        Some("low") => Channel::new(Priority::Low),
        Some("high") => Channel::new(Priority::High),
        Some(_) | None => {
            return Err(JsError::new(
                "the priority of a channel has to be \"low\" or \"high\"",
            ));
        }
    };
    Ok(match property(from, "unordered") {
        Some(yes) if yes.is_truthy() => channel.unordered(),
        Some(_) | None => channel,
    })
}
