//! What a host waits for: why it wants to be called when it does.

use crate::time::Instant;

/// Why a host wants to be called at the time that [`Host::poll_timeout`](crate::Host::poll_timeout) tells: see
/// [`Host::timer`](crate::Host::timer).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Timer {
    /// Datagrams wait to be sent, or a peer is to be asked whether it has one.
    Transmit,
    /// The [cap of the host](crate::Config::host_send_rate) has room again.
    HostRate,
    /// The next request to a remote host, or its end by
    /// [`connect_timeout`](crate::Config::connect_timeout) (§2.3).
    Handshake,
    /// The acknowledgement of frames, which waits for data to go with (§3.1.3).
    Acknowledgement,
    /// Frames that are due to be taken for lost, as later ones were acknowledged (§3.1.5).
    Loss,
    /// Reliable content that is sent once more, as its acknowledgement is late (RFC 8985 §7).
    Probe,
    /// Frames of which nothing was acknowledged for T_rto (§3.1.5).
    Retransmission,
    /// The pace of the congestion control, or the cap of the peer, which holds data back.
    Pace,
    /// The next ping (§3.1.6).
    Ping,
    /// A channel: the [cap](crate::Channel::rate) that holds it back, a packet's
    /// [time to live](crate::SendOptions::ttl), a packet of which parts are missing, or a word to the remote host
    /// of what was read.
    Channel,
    /// The end by [`timeout`](crate::Config::timeout), if nothing is heard.
    Silence,
    /// The deadline of a [flush](crate::Disconnect::Flush).
    Flush,
    /// The next goodbye, or the end by [`disconnect_timeout`](crate::Config::disconnect_timeout) (§2.5).
    Goodbye,
    /// The deletion of a peer that has ended.
    Deletion,
}

/// The earliest of these, the first of equals.
pub(crate) fn earliest<const N: usize>(timers: [(Instant, Timer); N]) -> (Instant, Timer) {
    let earlier = |a: (Instant, Timer), b: (Instant, Timer)| if b.0 < a.0 { b } else { a };
    let never = (Instant::NEVER, Timer::Silence);
    timers.into_iter().fold(never, earlier)
}
