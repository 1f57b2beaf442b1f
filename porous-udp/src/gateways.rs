//! Answers to strangers behind a gateway. The system keeps a datagram to an unused address of its own
//! networks for seconds; a flood of such answers must not keep strangers of other networks from getting
//! theirs.

use core::net::SocketAddr;
use core::time::Duration;
use std::net::UdpSocket;

use porous_proto::Instant;

/// How long Linux asks a link for an address, and keeps the datagrams to it, before it gives up
/// (`mcast_solicit` times `retrans_time_ms`).
const ASKED: Duration = Duration::from_secs(3);

/// The most bytes of the send buffer that Linux charges for one answer, which is at most a third as long
/// as a request.
const CHARGE: usize = 1280;

/// One part in this many of the send buffer may be answers through a gateway at once. If the gateway
/// itself does not answer, the allowance of another [`ASKED`] joins them: a quarter of the buffer in all.
const PART: usize = 8;

/// The answers to strangers behind gateways that leave although half of the socket's room is in use.
#[derive(Debug, Default)]
pub(crate) struct Gateways {
    /// A socket that reaches hosts of the machine's own networks only. It never sends a datagram.
    asker: Option<UdpSocket>,
    /// When the whole allowance can be used again. Each answer moves it on by its share of [`ASKED`].
    full_at: Instant,
}

impl Gateways {
    /// True if an answer may leave, which then counts. `send_buffer` is the socket's, in bytes.
    pub(crate) fn may_pass(&mut self, to: SocketAddr, now: Instant, send_buffer: usize) -> bool {
        let answers = u32::try_from(send_buffer / PART / CHARGE).unwrap_or(u32::MAX);
        let full_at = self.full_at.max(now) + ASKED / answers.max(1);
        // The allowance first: it costs nothing, and the question costs a call of the system.
        let may_pass = full_at <= now + ASKED && self.is_behind_one(to);
        if may_pass {
            self.full_at = full_at;
        }
        may_pass
    }

    /// True if the system would send to this address through a gateway, as far as it tells.
    fn is_behind_one(&mut self, to: SocketAddr) -> bool {
        if self.asker.is_none() {
            self.asker = asker();
        }
        let refused = self
            .asker
            .as_ref()
            .and_then(|asker| asker.connect(to).err());
        // A socket without gateways has no route there. No route at all looks the same, but then the answer
        // cannot leave in any case.
        refused.is_some_and(|error| error.kind() == std::io::ErrorKind::NetworkUnreachable)
    }
}

/// Linux tells for IPv4 alone: a socket with `SO_DONTROUTE` has no route through a gateway.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn asker() -> Option<UdpSocket> {
    use nix::sys::socket::{setsockopt, sockopt};

    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    setsockopt(&socket, sockopt::DontRoute, &true).ok()?;
    Some(socket)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
const fn asker() -> Option<UdpSocket> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A neighbour of every machine.
    const NEAR: SocketAddr = SocketAddr::new(
        core::net::IpAddr::V4(core::net::Ipv4Addr::new(127, 0, 0, 9)),
        7,
    );

    #[test]
    fn a_neighbour_is_behind_no_gateway() {
        let mut gateways = Gateways::default();
        let near6 = ([0, 0, 0, 0, 0, 0, 0, 1], 7).into();
        for near in [NEAR, near6, NEAR] {
            assert!(!gateways.may_pass(near, Instant::ZERO, 1 << 20), "{near}");
        }
    }

    #[test]
    fn a_quarter_of_the_buffer_is_enough_for_what_a_gateway_does_not_take() {
        // No route at all looks the same, and this machine may have one.
        let far = ([203, 0, 113, 7], 7).into();
        for buffer in [65_536, 425_984, 4 << 20] {
            let mut gateways = Gateways::default();
            let mut passed = Vec::new();
            for ms in 0..20_000 {
                let now = Instant::ZERO + Duration::from_millis(ms);
                let more = (0..5).filter(|_| gateways.may_pass(far, now, buffer));
                passed.extend(more.map(|_| ms));
            }
            let within = |&from: &u64| {
                passed
                    .iter()
                    .filter(|&&at| at >= from && at < from + 3000)
                    .count()
            };
            let most = passed.iter().map(within).max().unwrap_or(0);
            assert!(most * CHARGE <= buffer / 4 + CHARGE, "{most} of {buffer}");
            let is_far = Gateways::default().is_behind_one(far);
            assert!(
                !is_far || passed.len() * CHARGE >= buffer / 2,
                "{}",
                passed.len()
            );
        }
    }
}
