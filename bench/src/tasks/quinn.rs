//! quinn over tokio, with the defaults that it documents; messages are its datagrams (RFC 9221).

use std::io;

use bytes::Bytes;
use quinn::{Connection, Endpoint};

use super::ends::{self, End};
use super::node_address;
use super::{Done, Job};
use crate::peers::quinn::tls;

struct Quinn {
    connection: Connection,
    /// Kept, as an endpoint that is dropped ends its connections.
    _endpoint: Endpoint,
}

impl End for Quinn {
    fn send(&self, message: Bytes) -> io::Result<()> {
        let sent = self.connection.send_datagram(message);
        sent.map_err(io::Error::other)
    }

    async fn recv(&self) -> io::Result<Bytes> {
        Ok(self.connection.read_datagram().await?)
    }
}

pub(super) fn run(job: Job, threads: usize) -> io::Result<Done> {
    ends::runtime(threads)?.block_on(async {
        let (client_config, server_config) = tls();
        let server = Endpoint::server(server_config, node_address())?;
        let to = server.local_addr()?;
        let mut client = Endpoint::client(node_address())?;
        client.set_default_client_config(client_config);
        let connecting = client.connect(to, "localhost").map_err(io::Error::other)?;
        let incoming = server.accept().await;
        let incoming = incoming.ok_or_else(|| io::Error::other("no client comes"))?;
        let (connection, accepted) = tokio::join!(connecting, incoming);
        let client = Quinn {
            connection: connection?,
            _endpoint: client,
        };
        let server = Quinn {
            connection: accepted?,
            _endpoint: server,
        };
        ends::run(job, client, server).await
    })
}
