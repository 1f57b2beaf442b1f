//! The interface of a protocol where its processor time is counted: one host with any number of remote
//! hosts, without copies or allocations of the bench's own.

use porous_proto::Instant;

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
    fn send(&mut self, to: usize, message: &[u8], reliable: bool) -> bool;

    /// Hands over all datagrams that are to leave now, each with the number of its receiver.
    fn datagrams_out(&mut self, now: Instant, put: &mut dyn FnMut(usize, &[u8]));

    /// Bytes of the heap that the bench's own bookkeeping takes, and not the protocol.
    fn own_heap(&self) -> usize;
}

/// A protocol with one set of options.
pub(crate) struct Protocol {
    pub(crate) name: &'static str,
    /// Makes a host for this number of remote hosts. Its random numbers follow from the second argument.
    pub(crate) open: fn(usize, u64) -> Box<dyn Node>,
}

/// All protocols, in the order of the tables. The first is the one that the others are beside.
pub(crate) const PROTOCOLS: [Protocol; 3] = [
    Protocol {
        name: "porous-modern",
        open: super::porous::modern,
    },
    Protocol {
        name: "porous-paper",
        open: super::porous::paper,
    },
    Protocol {
        name: "rusty_enet",
        open: super::enet::open,
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

    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &[u8])> {
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
