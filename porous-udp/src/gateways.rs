//! Strangers whom datagrams reach through a gateway. What the system keeps for addresses of its own
//! networks that nobody has must not keep the others from being answered.

use core::net::SocketAddr;
use core::time::Duration;
use std::net::UdpSocket;

use porous_proto::Instant;

/// How long Linux asks for an address before it gives up (`mcast_solicit` times `retrans_time_ms`).
const ASKED: Duration = Duration::from_secs(3);

/// What Linux charges for an answer at most, which is no longer than a third of a request.
const CHARGE: usize = 1280;

/// The part of what the socket may have to send that such answers may take in that time, if the
/// gateway itself is not there: a quarter, half of it at once.
const PART: usize = 8;

/// The answers to strangers behind gateways that leave although the socket has no room for strangers.
#[derive(Debug, Default)]
pub(crate) struct Gateways {
    /// A socket that reaches neighbours only. It sends nothing.
    asker: Option<UdpSocket>,
    /// When all of the allowance may be used again.
    full_at: Instant,
}

impl Gateways {
    /// Whether an answer may leave, of a socket with a send buffer of this size; it counts then.
    pub(crate) fn may_pass(&mut self, to: SocketAddr, now: Instant, send_buffer: usize) -> bool {
        let answers = u32::try_from(send_buffer / PART / CHARGE).unwrap_or(u32::MAX);
        let full_at = self.full_at.max(now) + ASKED / answers.max(1);
        let may_pass = full_at <= now + ASKED && self.is_behind_one(to);
        if may_pass {
            self.full_at = full_at;
        }
        may_pass
    }

    /// Whether the system would send to this address through a gateway, as far as it tells.
    fn is_behind_one(&mut self, to: SocketAddr) -> bool {
        if self.asker.is_none() {
            self.asker = asker();
        }
        let refused = self
            .asker
            .as_ref()
            .and_then(|asker| asker.connect(to).err());
        refused.is_some_and(|error| error.kind() == std::io::ErrorKind::NetworkUnreachable)
    }
}

/// Linux tells for IPv4: with this option a route through a gateway is none.
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
