//! All carriers of one host behind one type, whose addresses say by which of them a remote host is reached.

use core::net::{Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::io;
use std::net::{TcpListener, TcpStream, UdpSocket};

use porous_proto::{Instant, ip_source};

use crate::stream::Stream;

/// Streams that the server has at a time. Further ones have to wait.
const MOST_STREAMS: usize = 64;

/// The time in which a stream has to bring a peer. Streams that only take a place are closed.
const TIME_TO_CONNECT: Duration = Duration::from_secs(10);

/// Where a remote host is: its carrier, and its name there. A number of a stream is never given twice, or a newcomer
/// would get the datagrams of a player who has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Address {
    Udp(SocketAddr),
    Stream(u32),
}

/// Which addresses belong to one owner. The streams are few, and counted here, so nobody is limited by the host.
pub(crate) fn source(from: &Address) -> [u8; 16] {
    match from {
        Address::Udp(from) => ip_source(from.ip()),
        Address::Stream(_) => [0; 16],
    }
}

/// A stream, and what the host knows it by.
struct Session {
    number: u32,
    opened: Instant,
    stream: Stream,
}

/// The carriers of one host.
#[derive(Default)]
pub(crate) struct Carriers {
    udp: Option<UdpSocket>,
    door: Option<TcpListener>,
    streams: Vec<Session>,
    next: u32,
    /// True if the next datagram is taken from the streams, if they have one.
    streams_first: bool,
}

impl Carriers {
    /// Adds a UDP socket, and returns its address.
    pub(crate) fn open_udp(&mut self) -> io::Result<Address> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?;
        self.udp = Some(socket);
        Ok(Address::Udp(address))
    }

    /// Takes in streams, at the address that it returns.
    pub(crate) fn open_door(&mut self) -> io::Result<SocketAddr> {
        let door = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        door.set_nonblocking(true)?;
        let address = door.local_addr()?;
        self.door = Some(door);
        Ok(address)
    }

    /// Opens a stream to a door, and returns the address of the host behind it.
    pub(crate) fn open_stream(&mut self, now: Instant, to: SocketAddr) -> io::Result<Address> {
        let stream = TcpStream::connect(to)?;
        self.add(now, stream)
    }

    fn add(&mut self, now: Instant, stream: TcpStream) -> io::Result<Address> {
        let number = self.next;
        self.next += 1;
        self.streams.push(Session {
            number,
            opened: now,
            stream: Stream::new(stream)?,
        });
        Ok(Address::Stream(number))
    }

    /// Takes in the streams that wait at the door.
    pub(crate) fn accept(&mut self, now: Instant) {
        while self.streams.len() < MOST_STREAMS {
            let Some(Ok((stream, _))) = self.door.as_ref().map(TcpListener::accept) else {
                return;
            };
            // A stream that ends while it is taken in is no fault of the others.
            drop(self.add(now, stream));
        }
    }

    /// Sends a datagram, or loses it.
    pub(crate) fn send_to(&mut self, to: Address, datagram: &[u8]) {
        match to {
            Address::Udp(to) => {
                if let Some(socket) = &self.udp {
                    drop(socket.send_to(datagram, to));
                }
            }
            Address::Stream(to) => {
                let mut sessions = self.streams.iter_mut();
                if let Some(session) = sessions.find(|session| session.number == to) {
                    session.stream.send(datagram);
                }
            }
        }
    }

    /// The next datagram that has arrived, its length and its sender. Does not wait. The carriers take turns, or a
    /// flood of one would silence the other.
    pub(crate) fn receive_from(&mut self, buffer: &mut [u8]) -> Option<(usize, Address)> {
        self.streams_first = !self.streams_first;
        if self.streams_first {
            self.receive_stream(buffer)
                .or_else(|| self.receive_udp(buffer))
        } else {
            self.receive_udp(buffer)
                .or_else(|| self.receive_stream(buffer))
        }
    }

    fn receive_udp(&self, buffer: &mut [u8]) -> Option<(usize, Address)> {
        let (len, from) = self.udp.as_ref()?.recv_from(buffer).ok()?;
        Some((len, Address::Udp(from)))
    }

    fn receive_stream(&mut self, buffer: &mut [u8]) -> Option<(usize, Address)> {
        let mut sessions = self.streams.iter_mut();
        let turn = sessions.position(|session| session.stream.fill())?;
        // The one whose turn it was is the last of the next time.
        self.streams[turn..].rotate_left(1);
        let session = self.streams.last_mut()?;
        let len = session.stream.take(buffer);
        Some((len, Address::Stream(session.number)))
    }

    /// Sends what waits for streams that were slower than the host.
    pub(crate) fn flush(&mut self) {
        for session in &mut self.streams {
            session.stream.flush();
        }
    }

    /// Forgets the streams that have ended or have brought no peer in time, and returns their addresses.
    pub(crate) fn ended(
        &mut self,
        now: Instant,
        has_peer: impl Fn(Address) -> bool,
    ) -> Vec<Address> {
        let mut ended = Vec::new();
        self.streams.retain(|session| {
            let address = Address::Stream(session.number);
            let is_late = now >= session.opened + TIME_TO_CONNECT && !has_peer(address);
            let stays = !session.stream.has_ended() && !is_late;
            if !stays {
                ended.push(address);
            }
            stays
        });
        ended
    }
}
