//! Requests from forged addresses that no host has, as a stranger on the server's own network can send
//! them.

use core::error::Error;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use core::time::Duration;
use std::io;
use std::net::UdpSocket;

use porous_std::{Clock, Config, Instant, UdpHost};

use crate::actor::tell;
use crate::options::Options;

/// Addresses that are used in turn, from that of the socket on.
const ADDRESSES: u32 = 60_000;

/// The time that the flooder rests between two bursts, beside the time that the system needs to wake it.
const REST: Duration = Duration::from_millis(1);

/// The most requests that are sent at once to keep up with the rate.
const BURST: u64 = 2000;

pub(crate) struct Flood {
    first: IpAddr,
    to: SocketAddr,
    rate: u64,
    request: Vec<u8>,
    clock: Clock,
    /// A socket that receives nothing: to wait for it is a pause.
    quiet: UdpSocket,
    sent: u64,
    next_report: Instant,
}

/// The first datagram of any client.
fn request() -> Result<Vec<u8>, Box<dyn Error>> {
    let catcher = UdpSocket::bind("127.0.0.1:0")?;
    let mut client = UdpHost::bind("127.0.0.1:0", Config::client())?;
    client.connect(catcher.local_addr()?)?;
    client.step()?;
    let mut buffer = vec![0; 1500];
    let len = catcher.recv(&mut buffer)?;
    buffer.truncate(len);
    Ok(buffer)
}

fn address(first: IpAddr, index: u32) -> IpAddr {
    match first {
        IpAddr::V4(first) => Ipv4Addr::from(u32::from(first) + index).into(),
        IpAddr::V6(first) => Ipv6Addr::from(u128::from(first) + u128::from(index)).into(),
    }
}

impl Flood {
    pub(crate) fn start(options: &Options, to: SocketAddr) -> Result<Self, Box<dyn Error>> {
        let quiet = UdpSocket::bind("127.0.0.1:0")?;
        quiet.set_read_timeout(Some(REST))?;
        tell(&format!("bound address={}", options.bind))?;
        Ok(Self {
            first: options.bind.ip(),
            to,
            rate: options.rate,
            request: request()?,
            clock: Clock::start(),
            quiet,
            sent: 0,
            next_report: Instant::ZERO,
        })
    }

    /// Sends the requests that are due, and rests.
    pub(crate) fn turn(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        let elapsed = now.saturating_duration_since(Instant::ZERO);
        let due = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX) * self.rate / 1_000_000;
        for _ in 0..due.saturating_sub(self.sent).min(BURST) {
            let index = u32::try_from(self.sent % u64::from(ADDRESSES)).unwrap_or(0);
            let from = address(self.first, index);
            // If the flooder's own queue is full, the request is lost.
            let _ = UdpSocket::bind((from, 0))?.send_to(&self.request, self.to);
            self.sent += 1;
        }
        self.sent = self.sent.max(due.saturating_sub(BURST));
        if now >= self.next_report {
            self.next_report = now + Duration::from_millis(100);
            tell(&format!("flood sent={}", self.sent))?;
        }
        let _nothing = self.quiet.recv(&mut [0]);
        Ok(())
    }
}
