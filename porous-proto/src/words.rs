//! What the public enums say of themselves, for logs and for users: a few words without a full stop, which fit
//! behind a colon.

use core::fmt::{self, Debug, Display, Formatter};

use crate::config::{Order, Policy, Priority};
use crate::congestion::{BinaryMode, Congestion, Signal};
use crate::event::{
    Disconnect, DisconnectReason, Disposition, Ecn, Event, Ignored, Listen, Outcome,
};
use crate::frame::{Integrity, Mode, Refusal, RefusalData};
use crate::peer::PeerState;
use crate::route::Kind;
use crate::timer::Timer;

/// Words that do not depend on what a variant holds.
macro_rules! words {
    ($($type:ty { $($variant:ident => $words:literal,)+ })+) => {$(
        impl Display for $type {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.pad(match self {
                    $(Self::$variant => $words,)+
                })
            }
        }
    )+};
}

words! {
    PeerState {
        Connecting => "connecting",
        Connected => "connected",
        Disconnecting => "disconnecting",
        Disconnected => "disconnected",
        Zombie => "about to be deleted",
    }
    Mode {
        Unreliable => "unreliable",
        Reliable => "reliable",
        Passive => "passive",
    }
    Priority {
        Low => "low",
        High => "high",
    }
    Policy {
        Paper => "paper",
        Modern => "modern",
    }
    Order {
        Ordered => "ordered",
        Unordered => "unordered",
    }
    Integrity {
        Header => "header",
        Crc32c => "CRC-32C",
    }
    Listen {
        Closed => "closed",
        Open => "open",
        Ask => "asks the application",
        Full => "full",
    }
    Ecn {
        NotEct => "Not-ECT",
        Ect0 => "ECT(0)",
        Ect1 => "ECT(1)",
        Ce => "CE",
    }
    Outcome {
        Delivered => "delivered",
        Skipped => "skipped",
        Lost => "lost",
        Expired => "expired",
        Cancelled => "cancelled",
    }
    Timer {
        Transmit => "transmit",
        HostRate => "rate of the host",
        Handshake => "handshake",
        Acknowledgement => "acknowledgement",
        Loss => "loss",
        Probe => "probe",
        Retransmission => "retransmission",
        Pace => "pace",
        Ping => "ping",
        Channel => "channel",
        Silence => "silence",
        Flush => "flush",
        Goodbye => "goodbye",
        Deletion => "deletion",
    }
    BinaryMode {
        Good => "good",
        Bad => "bad",
    }
    Signal {
        Loss => "loss",
        FurtherLoss => "further loss",
        Mark => "mark",
        Persistent => "persistent loss",
    }
}

impl Display for Ignored {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed(malformed) => return write!(f, "malformed: {malformed}"),
            Self::UnknownConnection => "no connection has this id",
            Self::WrongAddress => "another address than the connection's",
            Self::UnknownNonce => "no connection has these nonces",
            Self::NotListening => "a request, and the host does not listen",
            Self::Unpadded => "a request that is too short",
            Self::Stateless => "answered without keeping state",
            Self::TooManyReplies => "too many answers",
            Self::Duplicate => "a frame that came before",
            Self::TooOld => "a frame too old to be told from a duplicate",
            Self::BadAck => "it acknowledges what was never sent",
            Self::BadMessage => "it names what the connection cannot have",
            Self::OverBudget => "over the receive budget",
            Self::WrongState => "of no use in the peer's state",
            Self::TooFarAhead => "a frame far ahead of all others",
            Self::TooMuchWork => "more work than its bytes are worth",
            Self::Unauthenticated => "not sealed by the remote host",
        })
    }
}

impl Display for Disposition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Handled(peer) => write!(f, "taken for peer {peer}"),
            Self::Accepted(peer) => write!(f, "made peer {peer}"),
            Self::Ignored(why) => write!(f, "ignored: {why}"),
        }
    }
}

impl Display for DisconnectReason {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ByPeer(reason) => {
                return write!(f, "the remote application disconnected, reason {reason}");
            }
            Self::ByUs(reason) => return write!(f, "this host disconnected, reason {reason}"),
            Self::Refused(refusal) => return write!(f, "refused: {refusal}"),
            Self::GoodbyeUnanswered => "this host disconnected, and the remote host did not answer",
            Self::NeverAnswered => "nothing answered",
            Self::Unfinished => "an answer came, and no decision in time",
            Self::Silent => "the remote host fell silent",
            Self::LostByPeer => "the remote host does not have the connection any more",
            Self::PathTooNarrow => "the path carries no datagrams of 512 bytes",
            Self::Restarted => "the remote host has a new connection",
            Self::Unreachable => "the system cannot send there",
            Self::TooManyForgeries => "too many forged datagrams came",
            Self::InternalError => "a bug in porous, please report it",
        })
    }
}

impl Display for Refusal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { oldest, newest } => {
                write!(
                    f,
                    "the remote host speaks versions {oldest:#010x} to {newest:#010x}"
                )
            }
            Self::Incompatible { application_id } => {
                write!(
                    f,
                    "the remote host is of application {application_id:#018x}"
                )
            }
            Self::Full => f.write_str("the remote host is full"),
            Self::Application(data) => write!(f, "the remote application said {data}"),
            Self::Security => f.write_str("the two hosts do not agree on sealing"),
        }
    }
}

/// Text as it is, with everything else than printable ASCII escaped: it is the remote application's, and may be
/// anything.
impl Display for RefusalData {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.as_bytes().escape_ascii())
    }
}

impl Display for Disconnect {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flush { reason, deadline } => {
                write!(
                    f,
                    "when all is delivered, within {deadline:?}, reason {reason}"
                )
            }
            Self::Now { reason } => write!(f, "at once, reason {reason}"),
        }
    }
}

impl<A: Debug> Display for Event<A> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request { peer, address } => {
                write!(f, "peer {peer} at {address:?} asks to be let in")
            }
            Self::Connected { peer, address } => write!(f, "peer {peer} at {address:?} connected"),
            Self::Readable { peer } => write!(f, "peer {peer} has packets to be received"),
            Self::Writable { peer } => write!(f, "peer {peer} has room for packets"),
            Self::PathNarrowed { peer, bytes } => {
                write!(f, "the path to peer {peer} carries {bytes} bytes")
            }
            Self::Receipt {
                peer,
                token,
                outcome,
            } => {
                write!(f, "packet {token} to peer {peer} was {outcome}")
            }
            Self::PeerMoved { peer, from, to } => {
                write!(f, "peer {peer} moved from {from:?} to {to:?}")
            }
            Self::PortClosed { peer, address } => {
                write!(
                    f,
                    "nothing is bound to {address:?}, to which peer {peer} connects"
                )
            }
            Self::Disconnected {
                peer,
                reason,
                undelivered,
            } => {
                write!(
                    f,
                    "peer {peer} has ended, {undelivered} packets undelivered: {reason}"
                )
            }
        }
    }
}

impl Display for Congestion {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paper => f.pad("paper"),
            Self::Lean => f.pad("lean"),
            Self::Reno => f.pad("reno"),
            Self::Cubic => f.pad("cubic"),
            Self::Fixed { rate } => write!(f, "fixed at {rate} bytes a second"),
            Self::Binary { good, bad } => write!(f, "{good} or {bad} bytes a second"),
            Self::Custom(_) => f.pad("custom"),
        }
    }
}

impl Display for Kind<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { id } => {
                f.write_str("short form, connection id ")?;
                id.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            Self::Long => f.write_str("long form"),
            Self::Other => f.write_str("no form of the protocol"),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    use super::*;
    use crate::PeerId;

    /// Words that fit behind a colon, and are not those of another.
    fn check(all: &[String]) {
        for (n, words) in all.iter().enumerate() {
            assert!((3..80).contains(&words.len()), "{words}");
            assert!(
                !words.ends_with('.') && !all[..n].contains(words),
                "{words}"
            );
        }
    }

    #[test]
    fn each_end_of_a_connection_has_words_of_its_own() {
        let data = RefusalData::new(b"no \"cheats\"\n").unwrap();
        let refusals = [
            Refusal::Version {
                oldest: 1,
                newest: 2,
            },
            Refusal::Incompatible { application_id: 7 },
            Refusal::Full,
            Refusal::Application(data),
            Refusal::Security,
        ];
        let mut reasons = Vec::from(refusals.map(DisconnectReason::Refused));
        reasons.extend([
            DisconnectReason::ByPeer(7),
            DisconnectReason::ByUs(7),
            DisconnectReason::GoodbyeUnanswered,
            DisconnectReason::NeverAnswered,
            DisconnectReason::Unfinished,
            DisconnectReason::Silent,
            DisconnectReason::LostByPeer,
            DisconnectReason::PathTooNarrow,
            DisconnectReason::Restarted,
            DisconnectReason::Unreachable,
            DisconnectReason::TooManyForgeries,
            DisconnectReason::InternalError,
        ]);
        let words: Vec<_> = reasons.iter().map(ToString::to_string).collect();
        check(&words);
        assert_eq!(
            words[3],
            r#"refused: the remote application said "no \"cheats\"\n""#
        );
        assert!(words[1].ends_with("application 0x0000000000000007"));
    }

    #[test]
    fn each_cause_to_ignore_a_datagram_has_words_of_its_own() {
        let causes: Vec<String> = Ignored::ALL.iter().map(ToString::to_string).collect();
        check(&causes);
    }

    #[test]
    fn events_name_their_peers_and_addresses() {
        let peer = PeerId::from_u64(2 << 32 | 5).unwrap();
        let told = |event: Event<u32>| event.to_string();
        let (token, outcome) = (9, Outcome::Skipped);
        let events = [
            told(Event::Request { peer, address: 1 }),
            told(Event::Connected { peer, address: 1 }),
            told(Event::Readable { peer }),
            told(Event::Writable { peer }),
            told(Event::Receipt {
                peer,
                token,
                outcome,
            }),
            told(Event::PeerMoved {
                peer,
                from: 1,
                to: 2,
            }),
            told(Event::PathNarrowed { peer, bytes: 512 }),
            told(Event::PortClosed { peer, address: 1 }),
            told(Event::Disconnected {
                peer,
                reason: DisconnectReason::Silent,
                undelivered: 3,
            }),
        ];
        assert!(
            events.iter().all(|event| event.contains("peer 5#2")),
            "{events:?}"
        );
        check(&events);
        assert_eq!(events[4], "packet 9 to peer 5#2 was skipped");
        assert_eq!(
            events[8],
            "peer 5#2 has ended, 3 packets undelivered: the remote host fell silent"
        );
    }

    #[test]
    fn words_take_a_width() {
        let columns = alloc::format!("{:<13}|{:>6}", PeerState::Connecting, Congestion::Reno);
        assert_eq!(columns, "connecting   |  reno");
    }
}
