//! The interface of a protocol in the bench: two ends in one process, in virtual time.

use porous_proto::Instant;

use crate::peers::{kcp, porous, quinn, renet, rusty_enet};

/// The channels of every connection: as many as a workload uses at most.
pub(crate) const CHANNELS: u8 = 4;

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Connecting,
    Connected,
    /// The protocol has given the connection up.
    Lost,
}

/// One end of a connection.
///
/// A service step is always the same: all datagrams that have arrived go [in](Self::datagram_in),
/// [`service`](Self::service) is called once, [received](Self::received) messages are taken out, the
/// application [sends](Self::send), and all datagrams that come [out](Self::datagram_out) are put on
/// the link. Any other call that a protocol needs is made by its adapter.
pub(crate) trait Endpoint {
    fn datagram_in(&mut self, now: Instant, datagram: &[u8]);

    /// Does what is due.
    fn service(&mut self, now: Instant);

    /// The next message that arrived.
    fn received(&mut self) -> Option<Vec<u8>>;

    /// Sends a message, of at least 8 bytes, on one of [`CHANNELS`]; `false` if there is no room for
    /// it now.
    fn send(&mut self, channel: u8, message: &[u8], reliable: bool) -> bool;

    /// Sends a message that is repeated when it is lost, and that no other message waits for. porous calls
    /// this passive; over a protocol that has nothing of the kind the message is reliable.
    fn send_passive(&mut self, channel: u8, message: &[u8]) -> bool {
        self.send(channel, message, true)
    }

    /// The next datagram to be put on the link.
    fn datagram_out(&mut self, now: Instant) -> Option<Vec<u8>>;

    fn state(&self) -> State;
}

/// Both ends of a connection: the one that connects, and the other.
pub(crate) type Ends = [Box<dyn Endpoint>; 2];

/// A protocol with one set of options.
#[derive(Clone, Copy)]
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    /// Makes both ends. Their random numbers follow from the argument.
    pub(crate) open: fn(u64) -> Ends,
}

/// All variants, in the order of the tables.
pub(crate) const VARIANTS: [Variant; 11] = [
    Variant {
        name: "porous-paper",
        open: porous::paper,
    },
    Variant {
        name: "porous-modern",
        open: porous::modern,
    },
    Variant {
        name: "porous-modern-r0",
        open: porous::modern_uncopied,
    },
    Variant {
        name: "porous-modern-r1",
        open: porous::modern_copied,
    },
    Variant {
        name: "rusty_enet",
        open: rusty_enet::open,
    },
    Variant {
        name: "renet",
        open: renet::open,
    },
    Variant {
        name: "kcp",
        open: kcp::default,
    },
    Variant {
        name: "kcp-fast",
        open: kcp::fast,
    },
    Variant {
        name: "quinn-newreno",
        open: quinn::new_reno,
    },
    Variant {
        name: "quinn-cubic",
        open: quinn::cubic,
    },
    Variant {
        name: "quinn-bbr",
        open: quinn::bbr,
    },
];
