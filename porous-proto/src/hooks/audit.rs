//! The audit of a host's books, for tests: everything that is counted in one place and held in another is
//! counted again, and the sums are given. Each layer audits itself, in its own `audit.rs`.

/// What a host holds, in all of its peers together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// Peers, also those that only linger.
    pub peers: usize,
    /// Bytes in flight.
    pub flight: u64,
    /// Messages that are on their way, or in a send queue.
    pub messages: usize,
    /// Bytes that are taken of send budgets.
    pub queued: u64,
    /// Bytes that are charged to the receive budgets of remote hosts.
    pub charged: u64,
    /// Bytes that are taken of receive budgets.
    pub kept: u64,
    /// Packets in receive queues, in part or whole.
    pub entries: usize,
    /// Sentinels in receive queues whose packets are missing.
    pub sentinels: usize,
    /// Answers to strangers that wait to be sent.
    pub replies: usize,
}

impl Audit {
    /// Whether nothing is under way, neither in nor out.
    #[must_use]
    pub const fn is_at_rest(&self) -> bool {
        // Peers may linger, and sentinels stay for as long as nothing newer comes.
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
