//! A model of Quilkin with two of its filters: `Capture` takes a suffix of a fixed length off each datagram
//! that comes from outside, and `TokenRouter` sends the datagram to the server that the suffix stands for.
//! Each pair of a client and a server has a socket of its own, as in Quilkin.

use alloc::collections::BTreeMap;
use core::net::SocketAddr;
use std::io;
use std::net::UdpSocket;

use porous_std::UdpHost;

/// What the model has seen of the datagrams of clients.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Datagrams that were dropped for want of a server.
    pub(crate) dropped: usize,
    /// The length in bytes of the longest datagram that was no request, with its suffix.
    pub(crate) longest: usize,
}

#[derive(Debug)]
pub(crate) struct Quilkin {
    outside: UdpSocket,
    /// The length of a token in bytes.
    size: usize,
    servers: BTreeMap<Vec<u8>, SocketAddr>,
    sessions: BTreeMap<(SocketAddr, SocketAddr), UdpSocket>,
    pub(crate) seen: Seen,
}

fn open() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    socket
}

/// The next datagram; `None` if none has come.
fn next(socket: &UdpSocket, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
    match socket.recv_from(buffer) {
        Ok(received) => Some(received),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
        Err(error) => panic!("{error}"),
    }
}

impl Quilkin {
    /// Routes by tokens, which all have one length.
    pub(crate) fn new<const N: usize>(tokens: &[[u8; N]], servers: &[UdpHost]) -> Self {
        let addresses = servers.iter().map(|server| server.local_addr().unwrap());
        let servers = tokens.iter().map(|token| token.to_vec()).zip(addresses);
        Self {
            outside: open(),
            size: N,
            servers: servers.collect(),
            sessions: BTreeMap::new(),
            seen: Seen::default(),
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.outside.local_addr().unwrap()
    }

    /// Passes on what has come.
    pub(crate) fn step(&mut self) {
        let mut buffer = [0; 2048];
        while let Some((len, client)) = next(&self.outside, &mut buffer) {
            let captured = len.checked_sub(self.size).map(|end| buffer.split_at(end));
            let target = captured.and_then(|(datagram, rest)| {
                let server = self.servers.get(&rest[..self.size])?;
                Some((datagram, *server))
            });
            let Some((datagram, server)) = target else {
                self.seen.dropped += 1;
                continue;
            };
            if datagram[0] < 0xC0 {
                self.seen.longest = self.seen.longest.max(len);
            }
            let session = self.sessions.entry((client, server)).or_insert_with(open);
            session.send_to(datagram, server).unwrap();
        }
        for ((client, server), session) in &self.sessions {
            while let Some((len, from)) = next(session, &mut buffer) {
                // Another test may have had this port, and the other end of it may not know that it is over.
                if from == *server {
                    self.outside.send_to(&buffer[..len], *client).unwrap();
                }
            }
        }
    }
}
