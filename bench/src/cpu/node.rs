//! The interface of a protocol where its processor time is counted: one host with any number of remote
//! hosts, without copies or allocations of the bench's own.

use porous_proto::Instant;

use super::load::Load;

/// One host. Its remote hosts have numbers from 0.
///
/// A step is always the same: all datagrams that have arrived go [in](Self::datagram_in),
/// [`service`](Self::service) is called once, the application [sends](Self::send), and
/// [`datagrams_out`](Self::datagrams_out) puts all datagrams on their way.
pub(crate) trait Node {
    /// Begins to connect to the remote host 0.
    fn connect(&mut self, now: Instant);

    fn datagram_in(&mut self, now: Instant, from: usize, datagram: &[u8]);

    /// Does what is due, and reads all messages that have arrived.
    fn service(&mut self, now: Instant, read: &mut dyn FnMut(usize, &[u8]));

    /// Sends a message; `false` if there is no room for it now, or no connection yet.
    fn send(&mut self, to: usize, channel: u8, message: &[u8], reliable: bool) -> bool;

    /// Hands over all datagrams that are to leave now, each with the number of its receiver.
    fn datagrams_out(&mut self, now: Instant, put: &mut dyn FnMut(usize, &[u8]));

    /// Bytes of the heap that the bench's own bookkeeping takes, and not the protocol.
    fn own_heap(&self) -> usize;
}

/// What a host is made for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    /// Remote hosts.
    pub(crate) remotes: usize,
    /// Channels of each connection.
    pub(crate) channels: u8,
    /// Random numbers follow from this.
    pub(crate) seed: u64,
}

/// A protocol with one set of options.
pub(crate) struct Protocol {
    pub(crate) name: &'static str,
    pub(crate) open: fn(Setup) -> Box<dyn Node>,
    /// Whether the protocol can do a load.
    pub(crate) carries: fn(Load) -> bool,
}

/// The protocols of the table of processor time, in its order.
pub(crate) const PROTOCOLS: [Protocol; 5] = [
    Protocol {
        name: "porous-modern",
        open: super::porous::modern,
        carries: |_| true,
    },
    Protocol {
        name: "porous-paper",
        open: super::porous::paper,
        carries: |_| true,
    },
    Protocol {
        name: "rusty_enet",
        open: super::enet::open,
        carries: |_| true,
    },
    Protocol {
        name: "renet",
        open: super::renet::open,
        // A connection that says nothing costs nothing without a transport, which keeps it alive.
        carries: |load| !load.is_idle(),
    },
    Protocol {
        name: "kcp-fast",
        open: super::kcp::fast,
        // A conversation is not a server, and its packets have at most 127 segments.
        carries: |load| {
            let [unreliable, reliable] = [Load::DUnreliable, Load::DReliable];
            [unreliable, reliable, Load::T, Load::T4m].contains(&load)
        },
    },
];

/// porous plain and sealed, and other protocols that seal, in the order of the table of what sealing costs.
pub(crate) const SEALED: [Protocol; 5] = [
    Protocol {
        name: "porous-modern",
        open: super::porous::modern,
        carries: |_| true,
    },
    Protocol {
        name: "porous-chacha",
        open: super::porous::chacha,
        carries: |_| true,
    },
    Protocol {
        name: "porous-aes",
        open: super::porous::aes,
        carries: |_| true,
    },
    Protocol {
        name: "quinn",
        open: super::quinn::open,
        carries: Load::is_exchange,
    },
    Protocol {
        name: "renetcode",
        open: super::renetcode::open,
        // For each datagram its server goes over the clients, which takes too long to count.
        carries: |load| load != Load::F1000,
    },
];

/// Datagrams on their way, one behind the other: no memory is taken once it is as long as it gets.
#[derive(Default)]
pub(crate) struct Mail {
    bytes: Vec<u8>,
    /// Of each datagram the number of the remote host and its end in `bytes`.
    datagrams: Vec<(usize, usize)>,
}

impl Mail {
    pub(crate) fn put(&mut self, remote: usize, datagram: &[u8]) {
        self.bytes.extend_from_slice(datagram);
        self.datagrams.push((remote, self.bytes.len()));
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (usize, &[u8])> {
        let mut begin = 0;
        self.datagrams.iter().map(move |&(remote, end)| {
            let datagram = &self.bytes[begin..end];
            begin = end;
            (remote, datagram)
        })
    }

    /// The bytes of all datagrams.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes of the heap that this takes.
    pub(crate) fn heap(&self) -> usize {
        self.bytes.capacity() + self.datagrams.capacity() * size_of::<(usize, usize)>()
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.datagrams.clear();
    }
}
