//! A driver for async-io, the library beneath smol, in one type: what an author of a driver has to write. A server
//! and a client share a thread, and the client hears its own words.
//!
//! Run it with `cargo run -p porous-examples --bin async_io`.

use core::future::{Future, pending};
use core::net::SocketAddr;
use std::io::{self, Write};
use std::net::UdpSocket;

use async_io::{Async, Timer, block_on};
use futures_lite::FutureExt;
use porous_udp::{ChannelId, Config, Endpoint, Event, Listen, Mode, SystemSocket, bind};
use socket2::SockRef;

/// A socket of the library. async-io asks the system for readiness each time that someone waits, and keeps no account
/// of it: so calls need not pass through the library, and the other methods of the trait stay as they are.
#[derive(Debug)]
struct Socket(Async<UdpSocket>);

impl SystemSocket for Socket {
    fn options(&self) -> SockRef<'_> {
        SockRef::from(self.0.get_ref())
    }

    fn send_to(&self, datagram: &[u8], to: SocketAddr) -> io::Result<usize> {
        self.0.get_ref().send_to(datagram, to)
    }

    fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.0.get_ref().recv_from(buffer)
    }
}

fn host(config: Config) -> io::Result<Endpoint<Socket>> {
    Endpoint::new(Socket(Async::new(bind("127.0.0.1:0")?)?), config)
}

/// Sends what waits, sleeps until there is something to do, and takes in what has arrived.
async fn turn(host: &mut Endpoint<Socket>) -> io::Result<()> {
    host.transmit()?;
    let time = host
        .deadline()
        .map(|at| at.saturating_duration_since(host.now()));
    let (socket, is_blocked) = (&host.socket().0, host.is_blocked());
    let room = async {
        if is_blocked {
            socket.writable().await
        } else {
            pending().await
        }
    };
    let deadline = async {
        match time {
            Some(time) => Timer::after(time).await,
            None => pending().await,
        };
        Ok(())
    };
    socket.readable().or(room).or(deadline).await?;
    host.receive_datagrams().map(|_| ())
}

/// Serves a host, and hands each of its events to `handle`, until that returns something.
async fn drive<T>(
    mut host: Endpoint<Socket>,
    mut handle: impl FnMut(&mut Endpoint<Socket>, Event<SocketAddr>) -> io::Result<Option<T>>,
) -> io::Result<T> {
    loop {
        turn(&mut host).await?;
        while let Some(event) = host.poll_event() {
            if let Some(done) = handle(&mut host, event)? {
                return Ok(done);
            }
        }
    }
}

fn echo(mut server: Endpoint<Socket>) -> io::Result<impl Future<Output = io::Result<String>>> {
    server.listen(Listen::Open).map_err(io::Error::other)?;
    Ok(drive(server, |host, event| {
        if let Event::Readable { peer } = event {
            while let Some(packet) = host.receive(peer) {
                let sent = host.send(peer, packet.channel, packet.payload, packet.mode);
                sent.map_err(io::Error::other)?;
            }
        }
        Ok(None)
    }))
}

fn main() -> io::Result<()> {
    let (server, mut client) = (host(Config::new())?, host(Config::client())?);
    client
        .connect(server.local_addr()?)
        .map_err(io::Error::other)?;
    let hears = drive(client, |host, event| {
        if let Event::Connected { peer, .. } = event {
            let sent = host.send(peer, ChannelId(0), "hello", Mode::Reliable);
            sent.map_err(io::Error::other)?;
        }
        if let Event::Readable { peer } = event {
            return Ok(host.receive(peer).map(|packet| packet.payload));
        }
        Ok(None)
    });
    let heard = block_on(echo(server)?.or(async { Ok(format!("{:?}", hears.await?)) }))?;
    writeln!(io::stdout(), "the server said {heard}")
}
