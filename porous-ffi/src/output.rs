//! What a network thread tells, as one flat struct.

use core::mem;

use porous_proto::Event;
use porous_std::Output;

use crate::address::porous_address;
use crate::event::porous_event;
use crate::host::porous_peer;
use crate::io_error;
use crate::packet::porous_packet;
use crate::receive::porous_received;
use crate::send::number_of;
use crate::sized::{sized, zeroed};
use crate::stats::{porous_host_stats, porous_peer_stats, porous_progress};
use crate::status::{Numbered, porous_status};

/// An event: `event`. Never POROUS_EVENT_READABLE.
pub const POROUS_OUTPUT_EVENT: u32 = 1;
/// A packet has come: `peer`, `packet`, `what`.
pub const POROUS_OUTPUT_PACKET: u32 = 2;
/// An attempt to connect has begun: `peer`, and the first of the addresses in `address`.
pub const POROUS_OUTPUT_CONNECTING: u32 = 3;
/// An attempt to connect did not begin: `status`, and the first of the addresses in `address`.
pub const POROUS_OUTPUT_NOT_CONNECTING: u32 = 4;
/// The host cannot listen: `status`.
pub const POROUS_OUTPUT_NOT_LISTENING: u32 = 5;
/// An answer to POROUS_EVENT_REQUEST came too late, or twice: `peer`, `status`.
pub const POROUS_OUTPUT_NOT_ANSWERED: u32 = 6;
/// A packet could not be sent and comes back: `peer`, `packet`, `what`, `status`. Send it again by
/// porous_thread_send_packet, or free it. After POROUS_ERR_FULL nothing is sent to the peer until
/// POROUS_EVENT_WRITABLE, and all packets that were sent after the first come back as well, in their order.
pub const POROUS_OUTPUT_UNSENT: u32 = 7;
/// The answer to porous_thread_ask_stats: see porous_thread_stats.
pub const POROUS_OUTPUT_STATS: u32 = 8;
/// The answer to porous_thread_ask_peer_stats: see porous_thread_peer_stats. `peer`, and `is_known` 1 if the host has
/// the peer.
pub const POROUS_OUTPUT_PEER_STATS: u32 = 9;
/// The answer to porous_thread_ask_send_progress: `peer`, `what.channel`, `receipt`, `progress` if `is_known` is 1.
pub const POROUS_OUTPUT_SEND_PROGRESS: u32 = 10;
/// The answer to porous_thread_ask_receive_progress: `peer`, `what.channel`, `progress` if `is_known` is 1.
pub const POROUS_OUTPUT_RECEIVE_PROGRESS: u32 = 11;
/// The thread has ended by itself, and with it all connections: `status`; porous_io_error_text says more.
pub const POROUS_OUTPUT_ENDED: u32 = 12;
/// Datagrams to an address have the suffix that they had: `status`, and the address in `address`.
pub const POROUS_OUTPUT_NOT_SUFFIXED: u32 = 13;
/// The ids of new connections are made as before: `status`.
pub const POROUS_OUTPUT_IDS_UNCHANGED: u32 = 14;

/// What a network thread tells. A field that does not belong to the type is 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct porous_output {
    /// sizeof(porous_output).
    pub size: u32,
    /// One of POROUS_OUTPUT_. Skip those that you do not know.
    pub r#type: u32,
    /// The peer.
    pub peer: porous_peer,
    /// The packet, which belongs to the program from now on: free it by porous_packet_free.
    pub packet: *mut porous_packet,
    /// The channel, mode and length of the packet.
    pub what: porous_received,
    /// The receipt that was asked for.
    pub receipt: u64,
    /// How far the packet has come.
    pub progress: porous_progress,
    /// An address that was given.
    pub address: porous_address,
    /// Why something was not done: a POROUS_ERR_.
    pub status: porous_status,
    /// 1 if there is what was asked for.
    pub is_known: u32,
    /// The event.
    pub event: porous_event,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<porous_output>() == 296);
sized!(
    porous_output,
    mem::offset_of!(porous_output, event) + size_of::<porous_event>()
);

/// The last answers of a network thread, which are too long for each output.
#[derive(Debug)]
pub(crate) struct Answers {
    pub(crate) host: porous_host_stats,
    pub(crate) peer: porous_peer_stats,
}

impl Answers {
    pub(crate) fn none() -> Self {
        Self {
            host: zeroed(),
            peer: zeroed(),
        }
    }
}

impl porous_output {
    fn new(kind: u32) -> Self {
        Self {
            r#type: kind,
            ..zeroed()
        }
    }

    const fn of(mut self, peer: porous_proto::PeerId) -> Self {
        self.peer = peer.to_u64();
        self
    }

    const fn because(mut self, status: porous_status) -> Self {
        self.status = status;
        self
    }

    fn event(event: Event<core::net::SocketAddr>) -> Self {
        let mut event = porous_event::from(event);
        // It can be handed on as if it were polled.
        event.size = 192;
        Self {
            peer: event.peer,
            event,
            ..Self::new(POROUS_OUTPUT_EVENT)
        }
    }

    fn unsent(unsent: porous_std::Unsent) -> Self {
        let (status, packet) = (unsent.error.status(), unsent.packet);
        let what = porous_received {
            channel: packet.channel.0,
            mode: number_of(packet.options.mode()),
            reserved: [0; 6],
            len: packet.payload.len() as u64,
        };
        Self {
            packet: porous_packet::hand_out(packet.payload, Some(packet.options)),
            what,
            ..Self::new(POROUS_OUTPUT_UNSENT)
                .of(packet.peer)
                .because(status)
        }
    }

    /// What is known of a packet on its way.
    fn progress(
        mut self,
        channel: porous_proto::ChannelId,
        known: Option<porous_progress>,
    ) -> Self {
        self.what.channel = channel.0;
        self.is_known = known.is_some().into();
        self.progress = known.unwrap_or_else(zeroed);
        self.progress.size = 16;
        self
    }

    /// An output; answers that are long go into `answers`.
    pub(crate) fn tell(output: Output, answers: &mut Answers) -> Self {
        match output {
            Output::Event(event) => Self::event(event),
            Output::Packet { peer, packet } => Self {
                what: porous_received::from(&packet),
                packet: porous_packet::hand_out(packet.payload, None),
                ..Self::new(POROUS_OUTPUT_PACKET).of(peer)
            },
            Output::Connecting { peer, address } => Self {
                address: porous_address::from(address),
                ..Self::new(POROUS_OUTPUT_CONNECTING).of(peer)
            },
            Output::NotConnecting { address, error } => Self {
                address: porous_address::from(address),
                ..Self::new(POROUS_OUTPUT_NOT_CONNECTING).because(error.status())
            },
            Output::NotListening(error) => {
                Self::new(POROUS_OUTPUT_NOT_LISTENING).because(error.status())
            }
            Output::NotSuffixed { to, error } => Self {
                address: porous_address::from(to),
                ..Self::new(POROUS_OUTPUT_NOT_SUFFIXED).because(error.status())
            },
            Output::IdsUnchanged(error) => {
                Self::new(POROUS_OUTPUT_IDS_UNCHANGED).because(error.status())
            }
            Output::NotAnswered { peer, error } => Self::new(POROUS_OUTPUT_NOT_ANSWERED)
                .of(peer)
                .because(error.status()),
            Output::Unsent(unsent) => Self::unsent(unsent),
            Output::Stats { host, socket } => {
                answers.host = porous_host_stats::from(&*host).with_socket(socket);
                Self::new(POROUS_OUTPUT_STATS)
            }
            Output::PeerStats { peer, stats } => {
                answers.peer = stats
                    .as_deref()
                    .map_or_else(zeroed, porous_peer_stats::from);
                Self {
                    is_known: stats.is_some().into(),
                    ..Self::new(POROUS_OUTPUT_PEER_STATS).of(peer)
                }
            }
            Output::SendProgress {
                peer,
                channel,
                receipt,
                progress,
            } => Self {
                receipt,
                ..Self::new(POROUS_OUTPUT_SEND_PROGRESS)
                    .of(peer)
                    .progress(channel, progress.map(porous_progress::from))
            },
            Output::ReceiveProgress {
                peer,
                channel,
                progress,
            } => Self::new(POROUS_OUTPUT_RECEIVE_PROGRESS)
                .of(peer)
                .progress(channel, progress.map(porous_progress::from)),
            Output::Ended(error) => {
                Self::new(POROUS_OUTPUT_ENDED).because(io_error::remember(&error))
            }
            // A type that a program does not know is to be skipped, and so is this one.
            _ => zeroed(),
        }
    }
}
