//! A socket that fails when told to. All else is real.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::sync::Arc;
use core::net::SocketAddr;
use std::io::{self, ErrorKind};
use std::net::UdpSocket;
use std::sync::{Mutex, MutexGuard};

use rustix::io::Errno;
use socket2::SockRef;

use crate::{SystemSocket, bind};

/// An error of the system, or one that a library between the driver and the system made.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Failure {
    Number(Errno),
    Kind(ErrorKind),
}

impl From<Errno> for Failure {
    fn from(errno: Errno) -> Self {
        Self::Number(errno)
    }
}

impl From<ErrorKind> for Failure {
    fn from(kind: ErrorKind) -> Self {
        Self::Kind(kind)
    }
}

impl From<Failure> for io::Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Number(errno) => errno.into(),
            Failure::Kind(kind) => kind.into(),
        }
    }
}

/// The errors that calls of one direction will return, and what is known of the calls that were made.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    pub(crate) next: VecDeque<Failure>,
    pub(crate) always: Option<Failure>,
    pub(crate) calls: usize,
    /// True if the last call said that it would block.
    pub(crate) would_block: bool,
}

impl Faults {
    fn make<T>(&mut self, call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.calls += 1;
        let made = match self.next.pop_front().or(self.always) {
            Some(failure) => Err(failure.into()),
            None => call(),
        };
        let error = made.as_ref().err().map(io::Error::kind);
        self.would_block = error == Some(ErrorKind::WouldBlock);
        made
    }
}

#[derive(Debug, Default)]
pub(crate) struct Directions {
    send: Mutex<Faults>,
    receive: Mutex<Faults>,
    refused: Mutex<BTreeSet<SocketAddr>>,
}

impl Directions {
    pub(crate) fn send(&self) -> MutexGuard<'_, Faults> {
        self.send.lock().unwrap()
    }

    pub(crate) fn receive(&self) -> MutexGuard<'_, Faults> {
        self.receive.lock().unwrap()
    }

    /// Addresses for which a call that sends one datagram finds no room.
    pub(crate) fn refused(&self) -> MutexGuard<'_, BTreeSet<SocketAddr>> {
        self.refused.lock().unwrap()
    }
}

#[derive(Debug)]
pub(crate) struct Faulty {
    socket: UdpSocket,
    /// Shared with tests of a host that is gone.
    pub(crate) faults: Arc<Directions>,
}

impl Faulty {
    pub(crate) fn bind(address: &str) -> Self {
        Self {
            socket: bind(address).unwrap(),
            faults: Arc::default(),
        }
    }

    /// The socket that fails only when told to.
    pub(crate) const fn socket(&self) -> &UdpSocket {
        &self.socket
    }
}

impl SystemSocket for Faulty {
    fn options(&self) -> SockRef<'_> {
        self.socket.options()
    }

    fn send_to(&self, datagram: &[u8], to: SocketAddr) -> io::Result<usize> {
        let is_refused = self.faults.refused().contains(&to);
        self.try_send(|| match is_refused {
            true => Err(Errno::AGAIN.into()),
            false => self.socket.send_to(datagram, to),
        })
    }

    fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.try_receive(|| self.socket.recv_from(buffer))
    }

    fn try_send<T>(&self, call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.faults.send().make(call)
    }

    fn try_receive<T>(&self, call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.faults.receive().make(call)
    }
}
