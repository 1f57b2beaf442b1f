//! Counts of what became of the datagrams of a link.

use core::ops::AddAssign;

/// Counts of a link, or of a whole network. Bytes are bytes of UDP payload, without overhead.
///
/// No datagram disappears uncounted: `sent + duplicated` is always `delivered + lost + queue_dropped +
/// too_large + cut + bad_checksum + in_flight`.
///
/// ```
/// use porous_proto::Instant;
/// use porous_sim::{Link, LinkConfig, Seed};
///
/// let mut link = Link::new(LinkConfig::new().loss(100.0), Seed::new(1));
/// link.send(Instant::ZERO, vec![0; 10]);
/// let stats = link.stats();
/// assert_eq!((stats.sent, stats.bytes_sent), (1, 10));
/// assert_eq!((stats.lost, stats.delivered), (1, 0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LinkStats {
    /// Datagrams handed to the link.
    pub sent: u64,
    /// Bytes handed to the link.
    pub bytes_sent: u64,
    /// Datagrams taken out at the far end, copies included.
    pub delivered: u64,
    /// Bytes taken out at the far end, copies included.
    pub bytes_delivered: u64,
    /// Datagrams lost by chance.
    pub lost: u64,
    /// Datagrams that found the queue full.
    pub queue_dropped: u64,
    /// Datagrams that were marked with CE, by the queue instead of dropping them, or by chance. They also count
    /// as what became of them then.
    pub marked: u64,
    /// Datagrams larger than the MTU.
    pub too_large: u64,
    /// Datagrams sent while the link was down.
    pub cut: u64,
    /// Copies made.
    pub duplicated: u64,
    /// Datagrams held back on purpose, so that later ones may overtake them.
    pub held_back: u64,
    /// Datagrams that arrive with other bytes than they were sent with. They count as delivered.
    pub damaged: u64,
    /// Datagrams that were damaged, and dropped where they arrived: see
    /// [`udp_checksum`](crate::LinkConfig::udp_checksum).
    pub bad_checksum: u64,
    /// Datagrams under way now: waiting, travelling, or arrived and not yet taken out.
    pub in_flight: u64,
}

/// Sums of several links.
impl AddAssign for LinkStats {
    fn add_assign(&mut self, other: Self) {
        self.sent += other.sent;
        self.bytes_sent += other.bytes_sent;
        self.delivered += other.delivered;
        self.bytes_delivered += other.bytes_delivered;
        self.lost += other.lost;
        self.queue_dropped += other.queue_dropped;
        self.marked += other.marked;
        self.too_large += other.too_large;
        self.cut += other.cut;
        self.duplicated += other.duplicated;
        self.held_back += other.held_back;
        self.damaged += other.damaged;
        self.bad_checksum += other.bad_checksum;
        self.in_flight += other.in_flight;
    }
}
