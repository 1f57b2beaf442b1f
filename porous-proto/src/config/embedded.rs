//! A configuration for machines with some tens of kilobytes.

use super::Config;

impl Config {
    /// For a microcontroller: what [`new`](Self::new) is, in a few dozen kilobytes.
    ///
    /// | | here | [`new`](Self::new) |
    /// |---|---|---|
    /// | [`windows`](Self::windows) | 64 and 64 | 4096 and 4096 |
    /// | [`receive_budget`](Self::receive_budget): a packet, and all that wait | 4 KiB, 8 KiB | 1 MiB, 4 MiB |
    /// | [`send_budget`](Self::send_budget) | 8 KiB | 4 MiB |
    /// | [`max_peers`](Self::max_peers) | 2 | 1024 |
    /// | [`reply_limits`](Self::reply_limits): an address, and all | 10, 100 | 20, 20,000 |
    ///
    /// The other host needs no such thing: a connection has the smaller windows and the smaller
    /// largest packet of both.
    ///
    /// Measured on a Cortex-M3 (`docs/embedded.md`, which also tells how to go on from here): a host
    /// takes 2.7 KiB, a peer 7.1 KiB as soon as it is connected, and about 30 KiB more while both
    /// sides send packets of up to 4 KiB over a path that loses a tenth. Whatever it sends, and if it
    /// acknowledges nothing, a peer takes at most 64 KiB where pointers have 8 bytes, and less where
    /// they have 4. The program itself can take more: an unreliable packet that is on its way is in no
    /// budget, and takes 80 bytes.
    ///
    /// ```
    /// use porous_proto::{Config, Priority};
    ///
    /// // A sensor: commands, and what it measures, to one base station.
    /// let config = Config::embedded()
    ///     .channels(&[Priority::High, Priority::Low])?
    ///     .max_peers(1);
    /// # let _ = config;
    /// # Ok::<(), porous_proto::ConfigError>(())
    /// ```
    #[must_use]
    pub const fn embedded() -> Self {
        let mut config = Self::new();
        config.frame_window_log2 = 6;
        config.packet_window_log2 = 6;
        config.max_packet = 4 << 10;
        config.receive_budget = 8 << 10;
        config.send_budget = 8 << 10;
        config.max_peers = 2;
        config.replies_per_address = 10;
        config.replies = 100;
        config
    }
}
