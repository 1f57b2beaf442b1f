//! What a host tells, as one flat struct.

use porous_proto::{DisconnectReason, Event, Outcome, Refusal};

use crate::address::porous_address;
use crate::host::{enter, porous_host, porous_peer};
use crate::sized::{check_size, sized, write_sized, zeroed};
use crate::status::{POROUS_OK, porous_status};

/// A host wants to connect, and this one asks: see POROUS_LISTEN_ASK. `address` is where it is.
pub const POROUS_EVENT_REQUEST: u32 = 1;
/// The connection is there, and packets can be sent. `address` is where the peer is.
pub const POROUS_EVENT_CONNECTED: u32 = 2;
/// Packets can be received. It comes once until the peer was read empty.
pub const POROUS_EVENT_READABLE: u32 = 3;
/// A send failed with POROUS_ERR_FULL, and there is room again for a packet like that one.
pub const POROUS_EVENT_WRITABLE: u32 = 4;
/// What became of a packet with a receipt: `token`, `outcome`. Where the first word proves wrong, a second one
/// follows.
pub const POROUS_EVENT_RECEIPT: u32 = 5;
/// The peer has another address: it was at `from`, and is at `address`.
pub const POROUS_EVENT_MOVED: u32 = 6;
/// The path to the peer carries only datagrams of `datagram_bytes` now.
pub const POROUS_EVENT_PATH_NARROWED: u32 = 7;
/// Nothing is bound to the port of `address`, which this host connects to. The attempt goes on.
pub const POROUS_EVENT_PORT_CLOSED: u32 = 8;
/// The peer has ended, or never came to be: `reason`, `undelivered`. The last event of a peer. Packets that have
/// come can still be received, for 30 s.
pub const POROUS_EVENT_DISCONNECTED: u32 = 9;

/// The remote application gets the packet, or has got it.
pub const POROUS_OUTCOME_DELIVERED: u32 = 1;
/// It has come, and the remote application never gets it: a later one of its channel was received first, or it
/// made room for others.
pub const POROUS_OUTCOME_SKIPPED: u32 = 2;
/// It is not sent again, and will not arrive as far as this host knows.
pub const POROUS_OUTCOME_LOST: u32 = 3;
/// Its time to live, or unreliable_age_us, was over before it arrived.
pub const POROUS_OUTCOME_EXPIRED: u32 = 4;
/// It was cancelled, or replaced by one with the same key.
pub const POROUS_OUTCOME_CANCELLED: u32 = 5;

/// The remote application disconnected, and gave `code`.
pub const POROUS_REASON_BY_PEER: u32 = 1;
/// This host disconnected with `code`, and the remote host knows.
pub const POROUS_REASON_BY_US: u32 = 2;
/// This host disconnected, and the remote host may not know.
pub const POROUS_REASON_GOODBYE_UNANSWERED: u32 = 3;
/// This host connected, and nothing at all came back; or a peer that was let in has sent nothing.
pub const POROUS_REASON_NEVER_ANSWERED: u32 = 4;
/// This host connected, and the remote host neither accepted nor refused in time; or the program left a
/// POROUS_EVENT_REQUEST without an answer.
pub const POROUS_REASON_UNFINISHED: u32 = 5;
/// Nothing valid came for timeout_us: the remote host or the path to it is gone.
pub const POROUS_REASON_SILENT: u32 = 6;
/// The remote host does not have this connection any more: it was started again. Connect again.
pub const POROUS_REASON_LOST_BY_PEER: u32 = 7;
/// The path no longer carries datagrams of 512 bytes.
pub const POROUS_REASON_PATH_TOO_NARROW: u32 = 8;
/// The remote host came back with a new connection, or a client with the same id of its token has another one.
pub const POROUS_REASON_RESTARTED: u32 = 9;
/// The system cannot send to any of the addresses.
pub const POROUS_REASON_UNREACHABLE: u32 = 10;
/// The connection was sealed, and too many datagrams came that were forged. Connect again.
pub const POROUS_REASON_TOO_MANY_FORGERIES: u32 = 11;
/// A bug in porous was caught and contained: please report it.
pub const POROUS_REASON_INTERNAL_ERROR: u32 = 12;
/// The remote host speaks other versions, from `oldest_version` to `newest_version`.
pub const POROUS_REASON_REFUSED_VERSION: u32 = 20;
/// The remote host is of another application, `application_id`.
pub const POROUS_REASON_REFUSED_INCOMPATIBLE: u32 = 21;
/// The remote host has as many peers as it allows, drains, or is overloaded.
pub const POROUS_REASON_REFUSED_FULL: u32 = 22;
/// The remote application does not want the connection, and says `data`; or this one has refused it.
pub const POROUS_REASON_REFUSED_APPLICATION: u32 = 23;
/// One of the two hosts demands a sealed connection, or a proof, and the other has none.
pub const POROUS_REASON_REFUSED_SECURITY: u32 = 24;
/// A reason that this version of the interface has no number for.
pub const POROUS_REASON_OTHER: u32 = 99;

/// What happened at a peer. A field that does not belong to the type of the event is 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct porous_event {
    /// sizeof(porous_event).
    pub size: u32,
    /// One of POROUS_EVENT_. Skip those that you do not know.
    pub r#type: u32,
    /// The peer.
    pub peer: porous_peer,
    /// Where the peer is, for events with an address.
    pub address: porous_address,
    /// Where the peer was, of POROUS_EVENT_MOVED.
    pub from: porous_address,
    /// The receipt of the packet.
    pub token: u64,
    /// The application of the host that refused as POROUS_REASON_REFUSED_INCOMPATIBLE.
    pub application_id: u64,
    /// One of POROUS_OUTCOME_.
    pub outcome: u32,
    /// One of POROUS_REASON_. Treat those that you do not know as an end like any other.
    pub reason: u32,
    /// What the application gave that disconnected.
    pub code: u32,
    /// The number of reliable and passive packets that were sent, and not acknowledged.
    pub undelivered: u32,
    /// The oldest version that the host speaks that refused as POROUS_REASON_REFUSED_VERSION.
    pub oldest_version: u32,
    /// The newest version that it speaks.
    pub newest_version: u32,
    /// The longest datagram to the peer now, of POROUS_EVENT_PATH_NARROWED.
    pub datagram_bytes: u32,
    /// The bytes of `data` that count.
    pub data_len: u32,
    /// What the application said that refused.
    pub data: [u8; 64],
}

const _: () = assert!(size_of::<porous_event>() == 192);
sized!(porous_event, 192);

const fn outcome(outcome: Outcome) -> u32 {
    match outcome {
        Outcome::Delivered => POROUS_OUTCOME_DELIVERED,
        Outcome::Skipped => POROUS_OUTCOME_SKIPPED,
        Outcome::Lost => POROUS_OUTCOME_LOST,
        Outcome::Expired => POROUS_OUTCOME_EXPIRED,
        Outcome::Cancelled => POROUS_OUTCOME_CANCELLED,
        // "Lost" is what a program does best with a word that it does not know.
        _ => POROUS_OUTCOME_LOST,
    }
}

impl porous_event {
    fn end(mut self, reason: DisconnectReason) -> Self {
        self.reason = match reason {
            DisconnectReason::ByPeer(code) => {
                self.code = code;
                POROUS_REASON_BY_PEER
            }
            DisconnectReason::ByUs(code) => {
                self.code = code;
                POROUS_REASON_BY_US
            }
            DisconnectReason::GoodbyeUnanswered => POROUS_REASON_GOODBYE_UNANSWERED,
            DisconnectReason::NeverAnswered => POROUS_REASON_NEVER_ANSWERED,
            DisconnectReason::Unfinished => POROUS_REASON_UNFINISHED,
            DisconnectReason::Silent => POROUS_REASON_SILENT,
            DisconnectReason::LostByPeer => POROUS_REASON_LOST_BY_PEER,
            DisconnectReason::PathTooNarrow => POROUS_REASON_PATH_TOO_NARROW,
            DisconnectReason::Restarted => POROUS_REASON_RESTARTED,
            DisconnectReason::Unreachable => POROUS_REASON_UNREACHABLE,
            DisconnectReason::TooManyForgeries => POROUS_REASON_TOO_MANY_FORGERIES,
            DisconnectReason::InternalError => POROUS_REASON_INTERNAL_ERROR,
            DisconnectReason::Refused(refusal) => return self.refused(refusal),
            _ => POROUS_REASON_OTHER,
        };
        self
    }

    fn refused(mut self, refusal: Refusal) -> Self {
        self.reason = match refusal {
            Refusal::Version { oldest, newest } => {
                (self.oldest_version, self.newest_version) = (oldest, newest);
                POROUS_REASON_REFUSED_VERSION
            }
            Refusal::Incompatible { application_id } => {
                self.application_id = application_id;
                POROUS_REASON_REFUSED_INCOMPATIBLE
            }
            Refusal::Full => POROUS_REASON_REFUSED_FULL,
            Refusal::Application(said) => {
                let said = said.as_bytes();
                for (to, from) in self.data.iter_mut().zip(said) {
                    *to = *from;
                }
                self.data_len = u32::try_from(said.len()).unwrap_or(0);
                POROUS_REASON_REFUSED_APPLICATION
            }
            Refusal::Security => POROUS_REASON_REFUSED_SECURITY,
            _ => POROUS_REASON_OTHER,
        };
        self
    }
}

impl<A: Into<porous_address>> From<Event<A>> for porous_event {
    fn from(event: Event<A>) -> Self {
        let of = |kind, peer: porous_proto::PeerId| Self {
            r#type: kind,
            peer: peer.to_u64(),
            ..zeroed()
        };
        match event {
            Event::Request { peer, address } => Self {
                address: address.into(),
                ..of(POROUS_EVENT_REQUEST, peer)
            },
            Event::Connected { peer, address } => Self {
                address: address.into(),
                ..of(POROUS_EVENT_CONNECTED, peer)
            },
            Event::Readable { peer } => of(POROUS_EVENT_READABLE, peer),
            Event::Writable { peer } => of(POROUS_EVENT_WRITABLE, peer),
            Event::Receipt {
                peer,
                token,
                outcome: became,
            } => Self {
                token,
                outcome: outcome(became),
                ..of(POROUS_EVENT_RECEIPT, peer)
            },
            Event::PeerMoved { peer, from, to } => Self {
                from: from.into(),
                address: to.into(),
                ..of(POROUS_EVENT_MOVED, peer)
            },
            Event::PathNarrowed { peer, bytes } => Self {
                datagram_bytes: bytes.into(),
                ..of(POROUS_EVENT_PATH_NARROWED, peer)
            },
            Event::PortClosed { peer, address } => Self {
                address: address.into(),
                ..of(POROUS_EVENT_PORT_CLOSED, peer)
            },
            Event::Disconnected {
                peer,
                reason,
                undelivered,
            } => Self {
                undelivered,
                ..of(POROUS_EVENT_DISCONNECTED, peer).end(reason)
            },
            // An event that a program does not know is to be skipped, and so is this one.
            _ => zeroed(),
        }
    }
}

/// Takes the next event. Returns 1 if there was one; call it until it returns 0. Set event->size before the
/// first call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_poll_event(
    host: *mut porous_host,
    event: *mut porous_event,
) -> porous_status {
    // SAFETY: a host and a struct with its size, as the header demands.
    unsafe {
        enter(host, |host| {
            // An event that cannot be written stays where it is.
            check_size(event)?;
            let Some(next) = host.level.poll_event() else {
                return Ok(POROUS_OK);
            };
            write_sized(event, next)?;
            Ok(1)
        })
    }
}
