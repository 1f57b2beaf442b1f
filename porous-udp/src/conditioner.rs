//! A place between a host and its socket where a bad network can be put.

use core::net::SocketAddr;

use porous_proto::Instant;

/// Stands between a host and its socket on the way out: it may delay, drop or copy datagrams, so
/// that a game can be played on a good network as it would be on a bad one.
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
    /// Takes a datagram that is about to leave and returns `true`; or returns `false`, and it
    /// leaves at once. What was taken leaves without a mark for ECN.
    fn take(&mut self, now: Instant, to: SocketAddr, datagram: &[u8]) -> bool;

    /// The next of the datagrams taken that is to leave now. Called until it returns `None`.
    fn release(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        let _ = now;
        None
    }

    /// When [`release`](Self::release) will next have a datagram, if it holds any.
    fn next_release(&self) -> Option<Instant> {
        None
    }
}

impl Conditioner for () {
    fn take(&mut self, _: Instant, _: SocketAddr, _: &[u8]) -> bool {
        false
    }
}
