//! What the handshake tells of a host, and both hosts of a connection agree on (§2.3).

use super::Config;
use crate::error::ConfigError;
use crate::frame::{Integrity, PACKET_CHARGE};

/// What the handshake tells of this host, beside its channels, its datagrams and its timeout. Sizes are in
/// bytes, rates in bytes a second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offered {
    pub(crate) application_id: u64,
    pub(crate) max_packet: u32,
    pub(crate) receive_budget: u32,
    /// The logarithm of N_P to the base 2.
    pub(crate) frame_window_log2: u8,
    /// The logarithm of N_Q to the base 2.
    pub(crate) packet_window_log2: u8,
    pub(crate) send_rate: u32,
    pub(crate) receive_rate: u32,
    pub(crate) integrity: Integrity,
}

impl Offered {
    pub(super) const DEFAULT: Self = Self {
        application_id: 0,
        max_packet: 1 << 20,
        receive_budget: 4 << 20,
        frame_window_log2: 12,
        packet_window_log2: 12,
        send_rate: u32::MAX,
        receive_rate: u32::MAX,
        integrity: Integrity::Header,
    };
}

impl Config {
    /// A number that names the application and its version. Hosts with different ones refuse each other,
    /// as [`Incompatible`](crate::Refusal::Incompatible). Default 0.
    ///
    /// ```
    /// let _config = porous_proto::Config::new().application_id(0x7069_6e67);
    /// ```
    #[must_use]
    pub const fn application_id(mut self, id: u64) -> Self {
        self.offered.application_id = id;
        self
    }

    /// The largest packet to send or receive, and the most that a peer's received packets may take until
    /// the application pulls them, both in bytes. Of the largest packet the smaller one of both hosts
    /// counts. In the budget a packet counts 64 bytes more than its length. Default 1 MiB and 4 MiB
    /// (`docs/wire.md`, "Budgets").
    ///
    /// # Errors
    ///
    /// [`ConfigError::Zero`] if `max_packet` is zero, [`ConfigError::ReceiveBudget`] if the budget
    /// is less than `max_packet` and 64 bytes.
    ///
    /// ```
    /// assert!(porous_proto::Config::new().receive_budget(1000, 1064).is_ok());
    /// assert!(porous_proto::Config::new().receive_budget(1000, 1063).is_err());
    /// ```
    pub const fn receive_budget(
        mut self,
        max_packet: u32,
        budget: u32,
    ) -> Result<Self, ConfigError> {
        if max_packet == 0 {
            return Err(ConfigError::Zero("max_packet"));
        }
        // A packet that no budget can hold would be sent again for ever.
        match max_packet.checked_add(PACKET_CHARGE) {
            Some(least) if budget >= least => {}
            _ => return Err(ConfigError::ReceiveBudget),
        }
        self.offered.max_packet = max_packet;
        self.offered.receive_budget = budget;
        Ok(self)
    }

    /// The largest packet to send or receive, in bytes; the [receive budget](Self::receive_budget) stays
    /// as it is. [`send`](crate::Host::send) refuses a larger packet, and so does a host that receives
    /// one. The smaller one of both hosts counts ([`Peer::max_packet`](crate::Peer::max_packet)).
    /// Default 1 MiB.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Zero`] if it is zero, [`ConfigError::ReceiveBudget`] if it is not at least 64
    /// bytes less than the receive budget: raise that first, with
    /// [`receive_budget`](Self::receive_budget).
    ///
    /// ```
    /// use porous_proto::Config;
    ///
    /// assert!(Config::new().max_packet(64 * 1024).is_ok());
    /// assert!(Config::new().max_packet(4 << 20).is_err()); // 64 bytes too many
    /// let _large = Config::new().receive_budget(1 << 20, 64 << 20)?.max_packet(16 << 20)?;
    /// # Ok::<(), porous_proto::ConfigError>(())
    /// ```
    pub const fn max_packet(self, bytes: u32) -> Result<Self, ConfigError> {
        let budget = self.offered.receive_budget;
        self.receive_budget(bytes, budget)
    }

    /// The most frames on their way to a peer, and the most packets of a channel that may be under way at
    /// a time: powers of two from 16 to 65,536. The smaller ones of both hosts count. Default 4096 and
    /// 4096; the paper's are 65,536 each. N_P of (1), and N_Q of (16).
    ///
    /// # Errors
    ///
    /// [`ConfigError::Window`] for any other number.
    ///
    /// ```
    /// assert!(porous_proto::Config::new().windows(64, 128).is_ok());
    /// assert!(porous_proto::Config::new().windows(64, 100).is_err());
    /// ```
    #[expect(clippy::cast_possible_truncation, reason = "a logarithm of at most 16")]
    pub const fn windows(mut self, frames: u32, packets: u32) -> Result<Self, ConfigError> {
        if !is_window(frames) || !is_window(packets) {
            return Err(ConfigError::Window);
        }
        self.offered.frame_window_log2 = frames.trailing_zeros() as u8;
        self.offered.packet_window_log2 = packets.trailing_zeros() as u8;
        Ok(self)
    }

    /// The most that this host wants to send to one peer, and the most that it wants to receive from one,
    /// both in bytes a second. A direction gets the smaller one of its sender's and its receiver's
    /// limit. Default `u32::MAX` and `u32::MAX`: no limit. B of (10) (`deviations.md` C14).
    ///
    /// # Errors
    ///
    /// [`ConfigError::Zero`] if either is zero.
    ///
    /// ```
    /// assert!(porous_proto::Config::new().bandwidth(125_000, 1_250_000).is_ok());
    /// ```
    pub const fn bandwidth(mut self, send: u32, receive: u32) -> Result<Self, ConfigError> {
        if send == 0 {
            return Err(ConfigError::Zero("bandwidth: send"));
        }
        if receive == 0 {
            return Err(ConfigError::Zero("bandwidth: receive"));
        }
        self.offered.send_rate = send;
        self.offered.receive_rate = receive;
        Ok(self)
    }

    /// What the check at the end of each datagram covers. If either host wants
    /// [`Integrity::Crc32c`], both use it. Default [`Integrity::Header`].
    ///
    /// ```
    /// use porous_proto::{Config, Integrity};
    ///
    /// let _config = Config::new().integrity(Integrity::Crc32c);
    /// ```
    #[must_use]
    pub const fn integrity(mut self, integrity: Integrity) -> Self {
        self.offered.integrity = integrity;
        self
    }
}

const fn is_window(size: u32) -> bool {
    size.is_power_of_two() && size >= 16 && size <= 65_536
}
