//! The interface of a protocol where its processor time is counted: one host with any number of remote
//! hosts, without copies or allocations of the bench's own.

use porous_proto::Instant;

use crate::load::Load;

/// One host. Its remote hosts have numbers from 0.
///
/// A step is always the same: all datagrams that have arrived go [in](Self::datagram_in),
/// [`service`](Self::service) is called once, the application [sends](Self::send), and
/// [`datagrams_out`](Self::datagrams_out) puts all datagrams on their way.
pub trait Node {
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
pub struct Setup {
    /// Remote hosts.
    pub remotes: usize,
    /// Channels of each connection.
    pub channels: u8,
    /// Random numbers follow from this.
    pub seed: u64,
}

/// A protocol with one set of options.
#[derive(Clone, Copy)]
pub struct Protocol {
    pub name: &'static str,
    pub open: fn(Setup) -> Box<dyn Node>,
    /// Whether the protocol can do a load.
    pub carries: fn(Load) -> bool,
}

/// Datagrams on their way, one behind the other: no memory is taken once it is as long as it gets.
#[derive(Default)]
pub struct Mail {
    bytes: Vec<u8>,
    /// Of each datagram the number of the remote host and its end in `bytes`.
    datagrams: Vec<(usize, usize)>,
}

impl Mail {
    pub fn put(&mut self, remote: usize, datagram: &[u8]) {
        self.bytes.extend_from_slice(datagram);
        self.datagrams.push((remote, self.bytes.len()));
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = (usize, &[u8])> {
        let mut begin = 0;
        self.datagrams.iter().map(move |&(remote, end)| {
            let datagram = &self.bytes[begin..end];
            begin = end;
            (remote, datagram)
        })
    }

    /// The bytes of all datagrams.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes of the heap that this takes.
    pub fn heap(&self) -> usize {
        self.bytes.capacity() + self.datagrams.capacity() * size_of::<(usize, usize)>()
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
        self.datagrams.clear();
    }
}
