//! The terms of a connection, from the offers of both hosts: one pure, symmetric rule that both apply
//! (§2.3).

use core::num::NonZeroU32;
use core::time::Duration;

use crate::config::Config;
#[cfg(feature = "seal")]
use crate::frame::SEAL_TAG;
use crate::frame::{Channels, ConnectionId, Context, Integrity, MAX_MESSAGES, Offer, TAG};
use crate::sequencing::SequencingParams;

/// Bytes of a datagram that are kept free around a part of a packet, beside the connection id and the check:
/// 5 before all messages, 20 for the head of the message, 11 for an acknowledgement.
const RESERVE: usize = 36;

/// The least number of bytes that are kept free for the connection id: the longest packet that leaves
/// unfragmented is the same with all ids that are no longer.
const ID_RESERVE: usize = 8;

/// The largest N_Q with packet ids of 2 bytes; beyond, they have 3 (`docs/wire.md`, "Packet ids").
const SHORT_IDS_MAX: u64 = 16_384;

/// The parameters of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Agreement {
    /// The smaller number (`deviations.md` C18).
    pub(crate) channels: u8,
    /// The priority with which we send on each channel, for good (`deviations.md` Q16).
    pub(crate) priorities: Channels,
    /// The longest datagram at first, in bytes: the MTU (`deviations.md` T22).
    pub(crate) max_datagram: u16,
    /// The longest datagram if the path carries it, in bytes.
    pub(crate) path_mtu: u16,
    /// The longest packet, in bytes.
    pub(crate) max_packet: u32,
    /// The receive budget of the remote host, in bytes.
    pub(crate) remote_budget: u32,
    /// Our receive budget, in bytes.
    pub(crate) receive_budget: u32,
    /// N_P, in frames.
    pub(crate) frame_window: u64,
    /// N_Q, in packets of a channel.
    pub(crate) packet_window: u64,
    /// The most that we want to send, in bytes a second.
    pub(crate) send_rate: u32,
    /// The most that we want to receive, in bytes a second.
    pub(crate) receive_rate: u32,
    /// The most that the remote host wants to receive, in bytes a second.
    pub(crate) remote_rate: u32,
    pub(crate) integrity: Integrity,
    /// How long the remote host stands silence, in milliseconds, if it has said so.
    remote_timeout: Option<NonZeroU32>,
    /// True if the connection is sealed.
    #[cfg(feature = "seal")]
    is_sealed: bool,
}

impl Agreement {
    /// None if the two applications are not the same.
    pub(crate) fn new(ours: &Offer, theirs: &Offer) -> Option<Self> {
        if ours.application != theirs.application {
            return None;
        }
        let most = |offer: &Offer| offer.path_mtu.unwrap_or(offer.max_datagram);
        Some(Self {
            channels: ours.channels.count().min(theirs.channels.count()),
            // Each sender decides about its own direction.
            priorities: ours.channels,
            max_datagram: ours.max_datagram.min(theirs.max_datagram),
            path_mtu: most(ours).min(most(theirs)),
            max_packet: ours.max_packet.min(theirs.max_packet),
            remote_budget: theirs.receive_budget,
            receive_budget: ours.receive_budget,
            frame_window: 1 << ours.frame_window_log2.min(theirs.frame_window_log2),
            packet_window: 1 << ours.packet_window_log2.min(theirs.packet_window_log2),
            send_rate: ours.send_rate,
            receive_rate: ours.receive_rate,
            remote_rate: theirs.receive_rate,
            // If either host wants the bodies covered, both cover them.
            integrity: match ours.integrity {
                Integrity::Header => theirs.integrity,
                Integrity::Crc32c => Integrity::Crc32c,
            },
            remote_timeout: theirs.timeout_ms,
            #[cfg(feature = "seal")]
            is_sealed: false,
        })
    }

    /// How long the remote host stands silence, if it has said so.
    pub(crate) fn remote_timeout(&self) -> Option<Duration> {
        let timeout = self.remote_timeout?;
        Some(Duration::from_millis(timeout.get().into()))
    }

    const fn has_short_ids(&self) -> bool {
        self.packet_window <= SHORT_IDS_MAX
    }

    /// Bits of the packet ids that are sent.
    const fn id_bits(&self) -> u32 {
        if self.has_short_ids() { 16 } else { 24 }
    }

    /// The frames by which one may be behind the newest, as far as packet ids bound them.
    pub(crate) const fn behind(&self) -> u64 {
        // A frame that is later could bring packet ids that mean others by now, if each frame after it had as
        // many packets as fit (T12).
        ((1 << self.id_bits()) - 2 * self.packet_window) / MAX_MESSAGES as u64
    }

    /// What the codec needs to know.
    pub(crate) fn context(&self) -> Context {
        Context {
            id_bytes: if self.has_short_ids() { 2 } else { 3 },
            // At most 2^16 by `Config` and the handshake.
            window: u32::try_from(self.packet_window).unwrap_or(u32::MAX),
            tag: self.tag(),
        }
    }

    /// Bytes at the end of each datagram: of the check, or of the tag.
    const fn tag(&self) -> usize {
        #[cfg(feature = "seal")]
        if self.is_sealed {
            return SEAL_TAG;
        }
        TAG
    }

    /// These terms for a connection that is sealed.
    #[cfg(feature = "seal")]
    pub(crate) const fn sealed(self) -> Self {
        let is_sealed = true;
        Self { is_sealed, ..self }
    }

    /// Bytes of a datagram with this connection id that are kept free around a part of a packet.
    pub(crate) fn reserve(&self, connection_id: ConnectionId) -> usize {
        RESERVE + self.tag() + ID_RESERVE.max(connection_id.len())
    }

    pub(super) fn sequencing(&self, config: &Config) -> SequencingParams {
        SequencingParams {
            channels: self.channels,
            priorities: self.priorities,
            policy: config.policy,
            window: self.packet_window,
            spacing: self.packet_window / 8, // M of (18): a sentinel for each eighth of the window
            id_bits: self.id_bits(),
            max_packet: self.max_packet,
            remote_budget: u64::from(self.remote_budget),
            receive_budget: u64::from(self.receive_budget),
            send_budget: config.budgets.send_budget.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Priority;

    #[test]
    fn both_hosts_come_to_the_same_terms() {
        let a = Config::paper()
            .channels(&[Priority::High; 3])
            .unwrap()
            .max_datagram(1452)
            .unwrap();
        let b = Config::new()
            .channels(&[Priority::Low; 9])
            .unwrap()
            .integrity(Integrity::Crc32c);
        let (a, b) = (a.offer(), b.offer());
        let (at_a, at_b) = (
            Agreement::new(&a, &b).unwrap(),
            Agreement::new(&b, &a).unwrap(),
        );
        assert_eq!(at_a.context(), at_b.context());
        assert_eq!((at_a.channels, at_b.channels), (3, 3)); // C18
        assert_eq!((at_a.max_datagram, at_a.frame_window), (1200, 4096)); // T22
        assert_eq!(at_a.context().tag, 4);
        // The priority is its sender's, and fixed (Q16).
        let config = Config::new();
        assert_eq!(at_a.sequencing(&config).priority(0), Priority::High);
        assert_eq!(at_b.sequencing(&config).priority(0), Priority::Low);
    }

    /// T12.
    #[test]
    fn a_frame_may_be_as_late_as_packet_ids_can_tell() {
        for (log, most) in [(4, 511), (12, 448), (14, 256), (15, 130_560)] {
            let config = Config::new().windows(1 << log, 1 << log).unwrap();
            let agreement = Agreement::new(&config.offer(), &config.offer()).unwrap();
            assert_eq!(agreement.behind(), most, "{log}");
        }
    }

    /// T12.
    #[test]
    fn packet_ids_stay_unambiguous() {
        // No late duplicate can be taken for a new packet: N_Q + M_f * B_r <= Y - N_Q (T12).
        for log in 4..=16 {
            let config = Config::new().windows(1 << log, 1 << log).unwrap();
            let agreement = Agreement::new(&config.offer(), &config.offer()).unwrap();
            let late = MAX_MESSAGES as u64 * agreement.behind();
            let (window, space) = (
                agreement.packet_window,
                1 << agreement.sequencing(&config).id_bits,
            );
            assert!(window + late <= space - window, "{log}");
        }
    }
}
