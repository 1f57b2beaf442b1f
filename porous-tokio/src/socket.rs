//! tokio's UDP socket, with the methods that an endpoint needs.

use alloc::sync::Arc;
use core::net::SocketAddr;
use std::io;

use porous_udp::SystemSocket;
use socket2::SockRef;
use tokio::io::Interest;
use tokio::net::UdpSocket;

#[cfg(test)]
use crate::faults::Faults;

/// A [`UdpSocket`] that an endpoint can live on. Every call that sends or receives goes through tokio, which
/// reports readiness again only after it has seen "would block".
#[derive(Debug)]
pub(crate) struct TokioSocket {
    /// Shared with the driver, which waits for it while others use the endpoint.
    socket: Arc<UdpSocket>,
    #[cfg(test)]
    pub(crate) faults: Arc<Faults>,
}

impl TokioSocket {
    pub(crate) fn new(socket: Arc<UdpSocket>) -> Self {
        Self {
            socket,
            #[cfg(test)]
            faults: Arc::default(),
        }
    }
}

impl SystemSocket for TokioSocket {
    fn options(&self) -> SockRef<'_> {
        SockRef::from(&*self.socket)
    }

    fn send_to(&self, datagram: &[u8], to: SocketAddr) -> io::Result<usize> {
        self.try_send(|| self.options().send_to(datagram, &to.into()))
    }

    fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.socket.try_recv_from(buffer)
    }

    fn try_send<T>(&self, call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.socket.try_io(Interest::WRITABLE, || {
            #[cfg(test)]
            self.faults.send()?;
            call()
        })
    }

    fn try_receive<T>(&self, call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.socket.try_io(Interest::READABLE, || {
            #[cfg(test)]
            self.faults.receive()?;
            call()
        })
    }
}
