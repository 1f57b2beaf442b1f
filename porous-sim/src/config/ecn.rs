//! The effects of a link on marks of congestion (RFC 3168).

use super::LinkConfig;
use crate::chance::Chance;

/// The effect of a path on ECN-capable datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnPath {
    /// The datagrams pass as they are.
    Clean,
    /// The datagrams lose their ECN field, and marks with it, as on paths whose routers clear bits that
    /// they do not know.
    Bleached,
    /// The datagrams vanish.
    Blocked,
}

impl LinkConfig {
    /// True if a queue with [`CoDel`](crate::Queue::CoDel) marks ECN-capable datagrams instead of
    /// dropping them (RFC 8290 §5.2). Default: no.
    ///
    /// ```
    /// let c = porous_sim::LinkConfig::new().rate(1_000_000).queue(porous_sim::Queue::CODEL);
    /// let _modern = c.marks(true);
    /// ```
    #[must_use]
    pub const fn marks(mut self, yes: bool) -> Self {
        self.marks = yes;
        self
    }

    /// The share of ECN-capable datagrams that are marked, in percent, each independently of the others and of
    /// the queue: by routers whose queues are those of other senders. Default: 0.
    ///
    /// # Panics
    ///
    /// If `percent` is not from 0 to 100.
    ///
    /// ```
    /// let c = porous_sim::LinkConfig::new().mark(2.5);
    /// # let _ = c;
    /// ```
    #[must_use]
    pub const fn mark(mut self, percent: f64) -> Self {
        self.mark = Chance::percent(percent);
        self
    }

    /// The effect on ECN-capable datagrams behind the queue. Default: [`EcnPath::Clean`].
    ///
    /// ```
    /// let c = porous_sim::LinkConfig::new().ecn_path(porous_sim::EcnPath::Bleached);
    /// # let _ = c;
    /// ```
    #[must_use]
    pub const fn ecn_path(mut self, path: EcnPath) -> Self {
        self.ecn_path = path;
        self
    }
}
