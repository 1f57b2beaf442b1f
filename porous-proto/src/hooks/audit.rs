//! Books and their audit, for tests: everything that is counted in one place and held in another is
//! counted again, and what is found is summed up. Each layer audits itself, in its own `audit.rs`.

/// What a host holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// Peers, those included that only linger.
    pub peers: usize,
    /// Bytes in flight.
    pub flight: u64,
    /// Messages on their way, or about to be.
    pub messages: usize,
    /// Bytes in send budgets.
    pub queued: u64,
    /// Bytes charged to the budgets of remote hosts.
    pub charged: u64,
    /// Bytes in receive budgets.
    pub kept: u64,
    /// Packets in receive queues, in part or whole.
    pub entries: usize,
    /// Sentinels whose packets are missing. They may stay for as long as nothing newer comes.
    pub sentinels: usize,
    /// Replies that wait for a turn.
    pub replies: usize,
}

impl Audit {
    /// Whether nothing is under way, neither in nor out.
    #[must_use]
    pub const fn is_at_rest(&self) -> bool {
        let Self {
            peers: _,
            flight,
            messages,
            queued,
            charged,
            kept,
            entries,
            sentinels: _,
            replies,
        } = *self;
        flight == 0
            && messages == 0
            && queued == 0
            && charged == 0
            && kept == 0
            && entries == 0
            && replies == 0
    }
}
