//! The place between a host and its socket where a bad network can be put.

use core::net::SocketAddr;

use porous_proto::Instant;

/// Stands between a host and its socket on the way out: a conditioner may delay, drop or copy datagrams,
/// so that a game on a good network plays as it would on a bad one.
///
/// `()` is the conditioner that lets everything pass.
///
/// # Example
///
/// Drop each tenth datagram:
///
/// ```
/// use core::net::SocketAddr;
/// use porous_udp::{Conditioner, Config, Endpoint, Instant, bind};
///
/// struct EachTenth(u64);
///
/// impl Conditioner for EachTenth {
///     fn take(&mut self, _: Instant, _: SocketAddr, _: &[u8]) -> bool {
///         self.0 += 1;
///         self.0 % 10 == 0
///     }
/// }
///
/// let host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?.with_conditioner(EachTenth(0));
/// # let _ = host;
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait Conditioner {
    /// Is shown a datagram that is about to leave. If it returns `true`, the conditioner has taken the
    /// datagram, and only [`release`](Self::release) lets it leave, without a mark for ECN. If it returns
    /// `false`, the datagram leaves at once.
    fn take(&mut self, now: Instant, to: SocketAddr, datagram: &[u8]) -> bool;

    /// The next datagram that is to leave now, with its destination. Called until it returns `None`.
    fn release(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        let _ = now;
        None
    }

    /// When [`release`](Self::release) will next return a datagram; `None` if the conditioner holds none.
    fn next_release(&self) -> Option<Instant> {
        None
    }
}

impl Conditioner for () {
    fn take(&mut self, _: Instant, _: SocketAddr, _: &[u8]) -> bool {
        false
    }
}
