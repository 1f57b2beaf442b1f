//! The protocols of the tables.

use porous_loads::load::Load;
use porous_loads::node::Protocol;
use porous_loads::porous;

/// The protocols of the table of processor time, in its order.
pub(super) const PROTOCOLS: [Protocol; 5] = [
    porous::MODERN,
    porous::PAPER,
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
pub(super) const SEALED: [Protocol; 5] = [
    porous::MODERN,
    porous::CHACHA,
    porous::AES,
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
