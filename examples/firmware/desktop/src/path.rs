//! A bad path to the board: each datagram of either side goes through a simulated link.

use core::net::SocketAddr;
use core::time::Duration;
use std::io::{self, ErrorKind};
use std::net::UdpSocket;

use porous_sim::{Link, LinkConfig, Seed};
use porous_std::Clock;

/// The conditions in each direction.
fn conditions() -> LinkConfig {
    LinkConfig::new()
        .delay(Duration::from_millis(10))
        .jitter(Duration::from_millis(5))
        .loss(10.0)
        .duplicate(2.0)
        .reorder(5.0)
}

/// Two sockets, and a link each way between them.
#[derive(Debug)]
pub(crate) struct Path {
    /// The socket that the desktop sends to.
    near: UdpSocket,
    /// The socket that sends to the board.
    far: UdpSocket,
    board: SocketAddr,
    /// The address of the desktop, once it has sent something.
    desktop: Option<SocketAddr>,
    to_board: Link,
    to_desktop: Link,
    clock: Clock,
}

impl Path {
    /// A path to this board. `seed` decides which datagrams are lost.
    pub(crate) fn new(board: SocketAddr, seed: u64) -> io::Result<Self> {
        let seed = Seed::new(seed);
        let socket = || {
            let socket = UdpSocket::bind("127.0.0.1:0")?;
            socket.set_nonblocking(true)?;
            io::Result::Ok(socket)
        };
        Ok(Self {
            near: socket()?,
            far: socket()?,
            board,
            desktop: None,
            to_board: Link::new(conditions(), seed.child("to the board", 0)),
            to_desktop: Link::new(conditions(), seed.child("to the desktop", 0)),
            clock: Clock::start(),
        })
    }

    /// The address that the desktop has to take for the board's.
    pub(crate) fn near(&self) -> io::Result<SocketAddr> {
        self.near.local_addr()
    }

    /// Carries all datagrams that wait or are due.
    pub(crate) fn turn(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        let mut buffer = [0; 2048];
        while let Some((length, from)) = receive(&self.near, &mut buffer)? {
            self.desktop = Some(from);
            self.to_board.send(now, &buffer[..length]);
        }
        while let Some((length, _)) = receive(&self.far, &mut buffer)? {
            self.to_desktop.send(now, &buffer[..length]);
        }
        while let Some(datagram) = self.to_board.receive(now) {
            send(&self.far, self.board, &datagram)?;
        }
        while let Some(datagram) = self.to_desktop.receive(now) {
            if let Some(desktop) = self.desktop {
                send(&self.near, desktop, &datagram)?;
            }
        }
        Ok(())
    }

    /// The counts of the path, for people.
    pub(crate) fn tally(&self) -> String {
        let [to, from] = [self.to_board.stats(), self.to_desktop.stats()];
        format!(
            "{} of {} datagrams to the board were lost, {} of {} from it",
            to.lost, to.sent, from.lost, from.sent
        )
    }

    /// # Errors
    ///
    /// If no datagram was lost, so that the run shows nothing.
    pub(crate) fn was_bad(&self) -> Result<(), &'static str> {
        let [to, from] = [self.to_board.stats(), self.to_desktop.stats()];
        if to.lost == 0 || from.lost == 0 {
            return Err("nothing was lost on the way");
        }
        Ok(())
    }
}

/// A datagram, if there is one.
fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>> {
    match socket.recv_from(buffer) {
        Ok(received) => Ok(Some(received)),
        // The machine of a board that has ended refuses datagrams.
        Err(error) if is_nothing(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn send(socket: &UdpSocket, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
    match socket.send_to(datagram, to) {
        Err(error) if !is_nothing(&error) => Err(error),
        _ => Ok(()),
    }
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::ConnectionRefused
    )
}
