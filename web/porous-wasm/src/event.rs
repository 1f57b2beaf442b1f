//! Events, as objects of JavaScript.

use js_sys::Uint8Array;
use porous_proto::{DisconnectReason, Event, Outcome, Refusal};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::object::Made;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** What happened to a connection. `text` says it in words, and `session` is what `connect` has returned. Names are
 * those of the C interface. */
export type PorousEvent = { text: string; session: number } & (
    /** Packets can be sent. */
    | { kind: "connected" }
    /** Packets can be received. It comes once until `receive` has given `undefined`. */
    | { kind: "readable" }
    /** `send` has given false, and there is room again for a packet like that one. */
    | { kind: "writable" }
    /** What became of a packet that was sent with a receipt. */
    | { kind: "receipt"; receipt: bigint; outcome: PorousOutcome }
    /** The path carries only shorter datagrams now. */
    | { kind: "path_narrowed"; bytes: number }
    /** The connection has ended, or never came to be. `code` is the application's, of `by_peer` and `by_us`; `data` is
     * what the application of a server says that refuses. `undelivered` are packets that were sent and not
     * acknowledged. */
    | { kind: "disconnected"; reason: PorousReason; code: number; data?: Uint8Array; undelivered: number }
);

export type PorousOutcome = "delivered" | "skipped" | "lost" | "expired" | "cancelled" | "other";

export type PorousReason =
    | "by_peer" | "by_us" | "goodbye_unanswered" | "never_answered" | "unfinished" | "silent" | "lost_by_peer"
    | "path_too_narrow" | "restarted" | "unreachable" | "too_many_forgeries" | "internal_error"
    | "refused_version" | "refused_incompatible" | "refused_full" | "refused_application" | "refused_security"
    | "other";
"#;

/// The object of an event; `None` of one that a client in a browser has no use for.
pub(crate) fn object<A: core::fmt::Debug>(session: u32, event: &Event<A>) -> Option<JsValue> {
    let made = Made::new()
        .with("text", text(event))
        .with("session", session);
    let made = match event {
        Event::Connected { .. } => made.with("kind", "connected"),
        Event::Readable { .. } => made.with("kind", "readable"),
        Event::Writable { .. } => made.with("kind", "writable"),
        Event::Receipt { token, outcome, .. } => made
            .with("kind", "receipt")
            .with("receipt", *token)
            .with("outcome", outcome_name(*outcome)),
        Event::PathNarrowed { bytes, .. } => {
            made.with("kind", "path_narrowed").count("bytes", *bytes)
        }
        Event::Disconnected {
            reason,
            undelivered,
            ..
        } => disconnected(made, *reason).count("undelivered", *undelivered),
        // A client is not asked, and its address is a session, which neither moves nor has a port.
        Event::Request { .. } | Event::PeerMoved { .. } | Event::PortClosed { .. } | _ => {
            return None;
        }
    };
    Some(made.done())
}

fn text<A: core::fmt::Debug>(event: &Event<A>) -> String {
    match event {
        // Without the name of the peer: there is one.
        Event::Disconnected { reason, .. } => reason.to_string(),
        Event::Request { .. }
        | Event::Connected { .. }
        | Event::Readable { .. }
        | Event::Writable { .. }
        | Event::Receipt { .. }
        | Event::PeerMoved { .. }
        | Event::PathNarrowed { .. }
        | Event::PortClosed { .. }
        | _ => event.to_string(),
    }
}

fn disconnected(made: Made, reason: DisconnectReason) -> Made {
    let made = made
        .with("kind", "disconnected")
        .with("reason", reason_name(reason));
    if let DisconnectReason::ByPeer(code) | DisconnectReason::ByUs(code) = reason {
        return made.with("code", code);
    }
    let made = made.with("code", 0);
    if let DisconnectReason::Refused(Refusal::Application(data)) = reason {
        return made.with("data", Uint8Array::from(data.as_bytes()));
    }
    made
}

const fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Delivered => "delivered",
        Outcome::Skipped => "skipped",
        Outcome::Lost => "lost",
        Outcome::Expired => "expired",
        Outcome::Cancelled => "cancelled",
        _ => "other",
    }
}

const fn reason_name(reason: DisconnectReason) -> &'static str {
    match reason {
        DisconnectReason::ByPeer(_) => "by_peer",
        DisconnectReason::ByUs(_) => "by_us",
        DisconnectReason::GoodbyeUnanswered => "goodbye_unanswered",
        DisconnectReason::NeverAnswered => "never_answered",
        DisconnectReason::Unfinished => "unfinished",
        DisconnectReason::Silent => "silent",
        DisconnectReason::LostByPeer => "lost_by_peer",
        DisconnectReason::PathTooNarrow => "path_too_narrow",
        DisconnectReason::Restarted => "restarted",
        DisconnectReason::Unreachable => "unreachable",
        DisconnectReason::TooManyForgeries => "too_many_forgeries",
        DisconnectReason::InternalError => "internal_error",
        DisconnectReason::Refused(refusal) => match refusal {
            Refusal::Version { .. } => "refused_version",
            Refusal::Incompatible { .. } => "refused_incompatible",
            Refusal::Full => "refused_full",
            Refusal::Application(_) => "refused_application",
            Refusal::Security => "refused_security",
            _ => "other",
        },
        _ => "other",
    }
}
