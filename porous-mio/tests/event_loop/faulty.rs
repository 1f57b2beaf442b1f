//! A socket that fails when told to. All else is real.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use core::net::SocketAddr;
use std::io;
use std::sync::Mutex;

use mio::event::Source;
use mio::{Interest, Registry, Token};
use porous_mio::{Config, Endpoint, Listen, MioHost, MioSocket, SystemSocket};
use rustix::io::Errno;
use socket2::SockRef;

/// The errors that one kind of call will return, and the number of calls.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    pub(crate) next: VecDeque<Errno>,
    pub(crate) always: Option<Errno>,
    pub(crate) calls: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Directions {
    send: Mutex<Faults>,
    receive: Mutex<Faults>,
}

impl Directions {
    pub(crate) fn send<T>(&self, with: impl FnOnce(&mut Faults) -> T) -> T {
        with(&mut self.send.lock().unwrap())
    }

    pub(crate) fn receive<T>(&self, with: impl FnOnce(&mut Faults) -> T) -> T {
        with(&mut self.receive.lock().unwrap())
    }
}

fn call(faults: &mut Faults) -> io::Result<()> {
    faults.calls += 1;
    match faults.next.pop_front().or(faults.always) {
        Some(errno) => Err(errno.into()),
        None => Ok(()),
    }
}

#[derive(Debug)]
pub(crate) struct Faulty {
    socket: MioSocket,
    faults: Arc<Directions>,
}

/// A host that listens on a faulty socket, and the way to make it fail.
pub(crate) fn faulty() -> (MioHost<(), Faulty>, Arc<Directions>) {
    let faults = Arc::<Directions>::default();
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let faulty = Faulty {
        socket: socket.into(),
        faults: Arc::clone(&faults),
    };
    let mut host = MioHost::from(Endpoint::new(faulty, Config::new()).unwrap());
    host.listen(Listen::Open).unwrap();
    (host, faults)
}

impl SystemSocket for Faulty {
    fn options(&self) -> SockRef<'_> {
        self.socket.options()
    }

    fn send_to(&self, datagram: &[u8], to: SocketAddr) -> io::Result<usize> {
        self.faults.send(call)?;
        self.socket.send_to(datagram, to)
    }

    fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.faults.receive(call)?;
        self.socket.recv_from(buffer)
    }

    fn try_send<T>(&self, then: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.faults.send(call)?;
        self.socket.try_send(then)
    }

    fn try_receive<T>(&self, then: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.faults.receive(call)?;
        self.socket.try_receive(then)
    }
}

impl Source for Faulty {
    fn register(
        &mut self,
        registry: &Registry,
        token: Token,
        interest: Interest,
    ) -> io::Result<()> {
        self.socket.register(registry, token, interest)
    }

    fn reregister(
        &mut self,
        registry: &Registry,
        token: Token,
        interest: Interest,
    ) -> io::Result<()> {
        self.socket.reregister(registry, token, interest)
    }

    fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        self.socket.deregister(registry)
    }
}
