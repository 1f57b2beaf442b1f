//! Operations on two hosts and on the network between them.

use bolero::TypeGenerator;
use bolero::generator::{ValueGenerator, produce};
use core::time::Duration;
use porous_proto::{Channel, ChannelId, Config, ConfigError, Integrity, Mode, Priority};

/// One operation. Its numbers choose among the datagrams, peers or packets that there are.
#[derive(Clone, Copy, Debug, TypeGenerator)]
pub enum Op {
    /// Packets are sent.
    Send(Side, Packets),
    /// The application takes up to this many packets of the peers that events reported as readable.
    Receive(Side, u8),
    /// The application stops reading (false), or goes on (true).
    Reading(Side, bool),
    /// A command that begins or ends connections.
    Link(Side, Link),
    /// Something happens to a datagram that is under way.
    Datagram(u8, Fate),
    /// Time passes, in units of 3 ms, and nothing arrives.
    Pass(u8),
    /// Time passes, in units of 4 ms, and all datagrams under way arrive in their order.
    Run(u8),
}

/// A run of some length.
pub fn run() -> impl ValueGenerator<Output = (Setup, Vec<Op>)> {
    (
        produce::<Setup>(),
        produce::<Vec<Op>>().with().len(0..150_usize),
    )
}

/// One of the two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TypeGenerator)]
pub enum Side {
    /// The first.
    A,
    /// The second.
    B,
}

/// Packets to be sent.
#[derive(Clone, Copy, Debug, TypeGenerator)]
pub struct Packets {
    /// The channel, modulo the number of channels.
    pub channel: u8,
    /// 0 to 2: unreliable, reliable, passive.
    #[generator(0..3_u8)]
    pub mode: u8,
    /// The length of each packet.
    pub size: Size,
    /// The number of packets.
    #[generator(1..24_u8)]
    pub count: u8,
}

impl Packets {
    /// The mode.
    #[must_use]
    pub fn mode(&self) -> Mode {
        [Mode::Unreliable, Mode::Reliable, Mode::Passive][usize::from(self.mode)]
    }

    /// The length of each packet, in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.size {
            Size::Tiny(len) => usize::from(len),
            Size::Short(len) => usize::from(len),
            Size::Long(len) => usize::from(len),
        }
    }

    /// True if the packets have no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The length of a packet, in bytes.
#[derive(Clone, Copy, Debug, TypeGenerator)]
pub enum Size {
    /// Too short to hold the packet's number.
    Tiny(#[generator(0..4_u8)] u8),
    /// One of several in a datagram.
    Short(u8),
    /// Long enough for many fragments.
    Long(#[generator(0..20_000_u16)] u16),
}

/// A command that begins or ends connections.
#[derive(Clone, Copy, Debug, TypeGenerator)]
pub enum Link {
    /// Connects to the other host.
    Connect,
    /// Disconnects the newest peer.
    Disconnect,
    /// Disconnects the newest peer after a flush of at most this many eighths of a second.
    Flush(u8),
    /// From now on the host listens by this policy.
    Listen(Policy),
    /// All peers that ask are accepted (true), or refused (false).
    Answer(bool),
}

/// Which remote hosts may connect.
#[derive(Clone, Copy, Debug, TypeGenerator)]
pub enum Policy {
    /// None.
    Closed,
    /// All.
    Open,
    /// Hosts that the application accepts.
    Ask,
}

/// The fate of a datagram.
#[derive(Clone, Copy, Debug, TypeGenerator)]
pub enum Fate {
    /// The datagram arrives.
    Deliver,
    /// The datagram arrives, and a copy stays under way.
    Duplicate,
    /// The datagram is lost.
    Drop,
    /// Half of the datagrams under way are lost.
    DropMany,
    /// The datagram changes places with another.
    Swap(u8),
    /// Some bits of the datagram are flipped, if it has a checksum. Others are guarded by UDP's alone, and
    /// stay as they are.
    Damage(u16, u8),
}

/// The configuration of the two hosts.
#[derive(Clone, Copy, Debug, TypeGenerator)]
pub struct Setup {
    #[generator(0..4_u8)]
    windows: u8,
    #[generator(0..6_u8)]
    first_id: u8,
    #[generator(0..40_u8)]
    before: u8,
    #[generator(1..5_u8)]
    channels: u8,
    /// The lower bits: the priority of each channel. The two highest bits: set for each host that follows
    /// the paper's policy.
    priorities: u8,
    #[generator(0..4_u8)]
    budget: u8,
    #[generator(0..4_u8)]
    send_budget: u8,
    datagram: bool,
    /// True if datagrams carry a checksum.
    pub checksum: bool,
    short_timeout: bool,
    /// True if both connect to each other; false if A connects to B, which listens.
    pub both: bool,
    /// True if the listener asks its application.
    pub asks: bool,
    /// True if the two are connected before anything else happens, if they can be.
    pub begun: bool,
    /// True if connections are ended and begun anew.
    pub links: bool,
    /// The weight of the first channel.
    weight: u8,
    capped: bool,
}

impl Setup {
    /// The smallest windows, and ids that begin just before they wrap.
    #[must_use]
    pub const fn with_small_windows(mut self) -> Self {
        self.windows = 0;
        if self.first_id == 0 {
            self.first_id = 1;
        }
        self
    }

    /// True if the first channel is read without an order.
    #[must_use]
    pub const fn has_no_order(&self) -> bool {
        self.weight % 3 == 2
    }

    /// The configuration of one of the hosts: the two differ in their policies.
    ///
    /// # Errors
    ///
    /// None: all values are within their ranges.
    pub fn config(&self, side: Side) -> Result<Config, ConfigError> {
        let (frames, packets) =
            [(16, 16), (64, 16), (4096, 4096), (65_536, 65_536)][usize::from(self.windows)];
        let wraps = [0, 1 << 16, 1 << 24, 1 << 31, 1 << 32, 1 << 40][usize::from(self.first_id)];
        let (largest, budget) = [
            (1 << 20, 4 << 20),
            (2000, 2064),
            (20_000, 20_064),
            (20_000, 100_000),
        ][usize::from(self.budget)];
        let priority = |n: u8| match self.priorities >> n & 1 {
            0 => Priority::Low,
            _ => Priority::High,
        };
        let priorities: Vec<_> = (0..self.channels).map(priority).collect();
        let timeout = Duration::from_secs(if self.short_timeout { 2 } else { 10 });
        let policy = match self.priorities >> (6 + side as u8) & 1 {
            0 => porous_proto::Policy::Modern,
            _ => porous_proto::Policy::Paper,
        };
        let first = Channel::new(priority(0)).weight(self.weight);
        let first = match self.has_no_order() {
            true => first.unordered(),
            false => first,
        };
        // High enough that a full send buffer leaves within a second or two.
        let rate = if self.capped { 1_000_000 } else { u32::MAX };
        Config::new()
            .policy(policy)
            .windows(frames, packets)?
            .first_id(u64::saturating_sub(wraps, self.before.into()))
            .channels(&priorities)?
            .channel(ChannelId(0), first.rate(rate))?
            .receive_budget(largest, budget)?
            .send_budget([1, 10_000, 1 << 20, 1 << 20][usize::from(self.send_budget)])?
            .max_datagram(if self.datagram { 512 } else { 1200 })?
            .integrity(if self.checksum {
                Integrity::Crc32c
            } else {
                Integrity::Header
            })
            .timeout(timeout)
    }
}
