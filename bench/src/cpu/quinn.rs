//! quinn-proto with CUBIC, its default: one connection, unreliable messages as its datagrams (RFC 9221). TLS 1.3
//! agrees on AES-256-GCM, the first suite of rustls.

use std::sync::OnceLock;

use bytes::{Bytes, BytesMut};
use porous_loads::node::{Mail, Node, Setup};
use porous_proto::Instant;
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Endpoint, Event, ServerConfig,
};

use crate::clock::real;
use crate::peers::quinn::{address, endpoint, exchange, tls};

pub(crate) fn open(setup: Setup) -> Box<dyn Node> {
    Box::new(Quinn {
        endpoint: endpoint(setup.seed, 0, Some(configs().1.clone())),
        connection: None,
        leaving: Mail::default(),
        buf: Vec::new(),
    })
}

/// The cryptography of all hosts: the client trusts the server's certificate.
fn configs() -> &'static (ClientConfig, ServerConfig) {
    static CONFIGS: OnceLock<(ClientConfig, ServerConfig)> = OnceLock::new();
    CONFIGS.get_or_init(tls)
}

struct Quinn {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// Datagrams that the endpoint sends without a connection.
    leaving: Mail,
    buf: Vec<u8>,
}

impl Quinn {
    fn exchange(&mut self) {
        exchange(&mut self.endpoint, &mut self.connection);
    }
}

impl Node for Quinn {
    fn connect(&mut self, now: Instant) {
        let config = configs().0.clone();
        let begun = self
            .endpoint
            .connect(real(now), config, address(), "localhost");
        self.connection = Some(begun.expect("the first"));
    }

    fn datagram_in(&mut self, now: Instant, _: usize, datagram: &[u8]) {
        let now = real(now);
        self.buf.clear();
        // quinn-proto takes datagrams that it owns: its own driver copies them as well.
        let data = BytesMut::from(datagram);
        let event = self
            .endpoint
            .handle(now, address(), None, None, data, &mut self.buf);
        match event {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, now, &mut self.buf, None);
                self.connection = accepted.ok().or(self.connection.take());
            }
            Some(DatagramEvent::Response(transmit)) => {
                self.leaving.put(0, &self.buf[..transmit.size]);
            }
            None => {}
        }
        self.exchange();
    }

    fn service(&mut self, now: Instant, read: &mut dyn FnMut(usize, &[u8])) {
        let now = real(now);
        if let Some((_, connection)) = &mut self.connection {
            while connection.poll_timeout().is_some_and(|due| due <= now) {
                connection.handle_timeout(now);
            }
        }
        self.exchange();
        let Some((_, connection)) = &mut self.connection else {
            return;
        };
        while let Some(event) = connection.poll() {
            if let Event::DatagramReceived = event {
                while let Some(message) = connection.datagrams().recv() {
                    read(0, &message);
                }
            }
        }
    }

    fn send(&mut self, _: usize, _: u8, message: &[u8], reliable: bool) -> bool {
        assert!(!reliable, "only datagrams are measured");
        let Some((_, connection)) = &mut self.connection else {
            return false;
        };
        let message = Bytes::copy_from_slice(message);
        connection.datagrams().send(message, true).is_ok()
    }

    fn datagrams_out(&mut self, now: Instant, put: &mut dyn FnMut(usize, &[u8])) {
        for (to, datagram) in self.leaving.iter() {
            put(to, datagram);
        }
        self.leaving.clear();
        if let Some((_, connection)) = &mut self.connection {
            self.buf.clear();
            while let Some(transmit) = connection.poll_transmit(real(now), 1, &mut self.buf) {
                put(0, &self.buf[..transmit.size]);
                self.buf.clear();
            }
        }
        self.exchange();
    }

    fn own_heap(&self) -> usize {
        self.leaving.heap() + self.buf.capacity()
    }
}
