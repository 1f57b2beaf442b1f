//! porous by porous-tokio, with the defaults of a server and of a client.

use std::io;

use bytes::Bytes;
use porous_tokio::{Client, Connection, Server, prelude::*};

use super::ends::{self, End};
use super::{Done, Job};

struct Porous(Connection);

impl End for Porous {
    fn send(&self, message: Bytes) -> io::Result<()> {
        let sent = self.0.send(0, message, Mode::Unreliable);
        sent.map_err(io::Error::other)
    }

    async fn recv(&self) -> io::Result<Bytes> {
        let received = self.0.recv().await.map_err(io::Error::other)?;
        Ok(received.payload)
    }
}

pub(super) fn run(job: Job, threads: usize, is_sealed: bool) -> io::Result<Done> {
    ends::runtime(threads)?.block_on(async {
        let seals = |config: Config| match is_sealed {
            true => config.sealed(&[Suite::AES_GCM]).map_err(io::Error::other),
            false => Ok(config),
        };
        let server = Server::bind("127.0.0.1:0", seals(Config::new())?).await?;
        let to = [server.local_addr()?];
        let client = Client::bind("127.0.0.1:0", seals(Config::client())?).await?;
        let connection = match is_sealed {
            true => client.connect_sealed(&to, &Credentials::new()).await,
            false => client.connect(&to).await,
        };
        let connection = connection.map_err(io::Error::other)?;
        let accepted = server.accept().await.map_err(io::Error::other)?;
        ends::run(job, Porous(connection), Porous(accepted)).await
    })
}
