//! The place between a host and its socket where a bad network can be put.

use core::net::SocketAddr;

use porous_proto::{Ecn, Instant};

/// Stands between a host and its socket on the way out: a conditioner may delay, drop or copy datagrams,
/// so that a game on a good network plays as it would on a bad one.
///
/// `A` is how the driver names remote hosts: by the address of a socket, as the drivers on a UDP socket do.
///
/// `()` is the conditioner that lets everything pass. A whole network, with delay, loss, reordering and a limited
/// rate, is `LinkConditioner` (feature `sim`).
///
/// # Example
///
/// Drop each tenth datagram:
///
/// ```
/// use core::net::SocketAddr;
/// use porous_udp::{Conditioner, Config, Ecn, Endpoint, Instant, bind};
///
/// struct EachTenth(u64);
///
/// impl Conditioner for EachTenth {
///     fn take(&mut self, _: Instant, _: SocketAddr, _: Ecn, _: &[u8]) -> bool {
///         self.0 += 1;
///         self.0 % 10 == 0
///     }
/// }
///
/// let host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?.with_conditioner(EachTenth(0));
/// # let _ = host;
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait Conditioner<A = SocketAddr> {
    /// Is shown a datagram that is about to leave, with its mark of congestion. If it returns `true`, the
    /// conditioner has taken the datagram, and only [`release`](Self::release) lets it leave. If it returns
    /// `false`, the datagram leaves at once.
    fn take(&mut self, now: Instant, to: A, ecn: Ecn, datagram: &[u8]) -> bool;

    /// The next datagram that is to leave now, with its destination and the mark with which it leaves. Called until
    /// it returns `None`. Only a datagram that was taken with [`Ecn::Ect0`] or [`Ecn::Ect1`] may be released with
    /// [`Ecn::Ce`] (RFC 3168 §5).
    fn release(&mut self, now: Instant) -> Option<(A, Ecn, Vec<u8>)> {
        let _ = now;
        None
    }

    /// When [`release`](Self::release) will next return a datagram; `None` if the conditioner holds none.
    fn next_release(&self) -> Option<Instant> {
        None
    }
}

impl<A> Conditioner<A> for () {
    fn take(&mut self, _: Instant, _: A, _: Ecn, _: &[u8]) -> bool {
        false
    }
}
