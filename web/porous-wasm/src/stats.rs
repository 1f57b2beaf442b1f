//! What is known about the connection, as an object of JavaScript.

use porous_proto::{ModeCounts, Peer, PeerState};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::object::Made;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** What is known about the connection: see `porous_peer_stats` of the C interface, and `PeerStats`. */
export interface PorousStats {
    state: "connecting" | "connected" | "disconnecting" | "disconnected" | "zombie";
    rtt_ms: number;
    rtt_variance_ms: number;
    jitter_ms: number;
    /** Shares of the last seconds, from 0 to 1. */
    loss_sent: number;
    loss_received: number;
    /** From 0 to 100. */
    quality: number;
    /** The largest packet that can be sent, and the largest that leaves in one datagram. */
    max_packet: number;
    max_unfragmented: number;
    path_mtu: number;
    queued_bytes: number;
    /** Bytes a second. */
    send_rate: number;
    receive_rate: number;
    datagrams_sent: number;
    datagrams_received: number;
    bytes_sent: number;
    bytes_received: number;
    packets_sent: PorousModeCounts;
    packets_received: PorousModeCounts;
}

export interface PorousModeCounts {
    unreliable: number;
    reliable: number;
    passive: number;
}
"#;

pub(crate) fn object(peer: &Peer) -> JsValue {
    let stats = peer.stats();
    Made::new()
        .with("state", state_name(peer.state()))
        .time("rtt_ms", stats.rtt)
        .time("rtt_variance_ms", stats.rtt_variance)
        .time("jitter_ms", stats.jitter)
        .with("loss_sent", f64::from(stats.loss_sent) / 10_000.0)
        .with("loss_received", f64::from(stats.loss_received) / 10_000.0)
        .count("quality", stats.quality)
        .count(
            "max_packet",
            u64::try_from(peer.max_packet()).unwrap_or(u64::MAX),
        )
        .count("max_unfragmented", stats.max_unfragmented)
        .count("path_mtu", stats.path_mtu)
        .count("queued_bytes", stats.queued_bytes)
        .count("send_rate", stats.send_rate)
        .count("receive_rate", stats.receive_rate)
        .count("datagrams_sent", stats.datagrams_sent)
        .count("datagrams_received", stats.datagrams_received)
        .count("bytes_sent", stats.bytes_sent)
        .count("bytes_received", stats.bytes_received)
        .with("packets_sent", counts(stats.packets_sent))
        .with("packets_received", counts(stats.packets_received))
        .done()
}

fn counts(counts: ModeCounts) -> JsValue {
    Made::new()
        .count("unreliable", counts.unreliable)
        .count("reliable", counts.reliable)
        .count("passive", counts.passive)
        .done()
}

const fn state_name(state: PeerState) -> &'static str {
    match state {
        PeerState::Connecting => "connecting",
        PeerState::Connected => "connected",
        PeerState::Disconnecting => "disconnecting",
        PeerState::Disconnected => "disconnected",
        PeerState::Zombie => "zombie",
    }
}
