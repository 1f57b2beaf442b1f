//! What calls of C cost beside the same calls of Rust: 64 of each, with packets of 64 bytes, between hosts without
//! sockets. `cargo bench -p porous-ffi --bench calls`.
#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a bench, of small numbers"
)]

use core::mem::zeroed;
use core::ptr::null_mut;
use core::time::Duration;

use chacha20::ChaCha20Rng;
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use porous::address::{POROUS_ADDRESS_OWN, porous_address};
use porous::config::{POROUS_PRESET_DEFAULT, porous_config, porous_config_init};
use porous::connect::{POROUS_LISTEN_OPEN, porous_connect, porous_listen};
use porous::core_host::{
    porous_core_input, porous_core_new, porous_core_output, porous_core_time, porous_core_timeout,
    porous_transmit,
};
use porous::event::{POROUS_EVENT_CONNECTED, porous_event, porous_poll_event};
use porous::host::{porous_host, porous_peer};
use porous::packet::{porous_packet, porous_packet_data, porous_packet_free};
use porous::receive::{porous_receive, porous_receive_packet, porous_received};
use porous::send::{POROUS_UNRELIABLE, porous_send};
use porous_proto::{ChannelId, Config, Ecn, Event, Host, Instant, Listen, Mode, PeerId};
use rand_core::SeedableRng;

const CALLS: usize = 64;
const PACKET: [u8; 64] = [7; 64];
const STEP: Duration = Duration::from_millis(5);

fn main() {
    divan::main();
}

/// A client and a server that are connected, and the names that they have for each other.
trait Pair {
    fn connected() -> Self;
    /// Lets time pass, and hands on all datagrams.
    fn turn(&mut self);
    /// Sends a packet to the server.
    fn send(&mut self);
    /// Takes a packet from the client; false if there is none.
    fn receive(&mut self) -> bool;
    /// Takes an event of the server; false if there is none.
    fn poll(&mut self) -> bool;

    /// Lets all that was sent arrive.
    fn carry(&mut self) {
        for _ in 0..20 {
            self.turn();
        }
        while self.poll() {}
    }

    /// Takes all that has arrived.
    fn empty(&mut self) {
        self.carry();
        while self.receive() {}
    }
}

struct Rust {
    hosts: [Host<ChaCha20Rng, u8>; 2],
    peers: [PeerId; 2],
    now: Instant,
    buffer: Vec<u8>,
}

impl Pair for Rust {
    fn connected() -> Self {
        let host = |seed| Host::new(Config::new(), ChaCha20Rng::from_seed([seed; 32]));
        let mut hosts = [host(1), host(2)];
        hosts[1].listen(Listen::Open).unwrap();
        let peer = hosts[0].connect(Instant::ZERO, 1).unwrap();
        let buffer = vec![0; hosts[0].max_datagram_size()];
        let mut pair = Self {
            hosts,
            peers: [peer; 2],
            now: Instant::ZERO,
            buffer,
        };
        loop {
            pair.turn();
            while let Some(event) = pair.hosts[1].poll_event() {
                if let Event::Connected { peer, .. } = event {
                    pair.peers[1] = peer;
                    pair.carry();
                    return pair;
                }
            }
        }
    }

    fn turn(&mut self) {
        self.now = self.now + STEP;
        for (from, to) in [(0, 1), (1, 0)] {
            self.hosts[from].handle_timeout(self.now);
            while let Some(sent) = self.hosts[from].poll_transmit(self.now, &mut self.buffer) {
                let len = sent.datagram.len();
                let (address, ecn) = (from as u8, Ecn::NotEct);
                self.hosts[to].handle_datagram(self.now, address, ecn, &self.buffer[..len]);
            }
        }
    }

    fn send(&mut self) {
        let sent = self.hosts[0].send(self.peers[0], ChannelId(0), &PACKET[..], Mode::Unreliable);
        sent.unwrap();
    }

    fn receive(&mut self) -> bool {
        black_box(self.hosts[1].receive(self.peers[1])).is_some()
    }

    fn poll(&mut self) -> bool {
        black_box(self.hosts[1].poll_event()).is_some()
    }
}

struct C {
    hosts: [*mut porous_host; 2],
    peers: [porous_peer; 2],
    now: u64,
    buffer: [u8; 2048],
    event: porous_event,
}

/// The address of a host.
fn place(number: usize) -> porous_address {
    // SAFETY: numbers and bytes, for which 0 is a value.
    let mut address: porous_address = unsafe { zeroed() };
    address.kind = POROUS_ADDRESS_OWN;
    address.len = 1;
    address.bytes[0] = number as u8;
    address
}

impl Pair for C {
    fn connected() -> Self {
        // SAFETY: structs whose fields may all be 0, and pointers to them.
        let mut pair = unsafe {
            let mut hosts = [null_mut(); 2];
            for (host, seed) in hosts.iter_mut().zip(1..) {
                let mut config: porous_config = zeroed();
                let size = size_of::<porous_config>();
                assert_eq!(
                    porous_config_init(&mut config, size, POROUS_PRESET_DEFAULT),
                    0
                );
                assert_eq!(porous_core_new(&config, [seed; 32].as_ptr(), host), 0);
            }
            let mut event: porous_event = zeroed();
            event.size = size_of::<porous_event>() as u32;
            let mut peer = 0;
            assert_eq!(porous_listen(hosts[1], POROUS_LISTEN_OPEN), 0);
            assert_eq!(porous_connect(hosts[0], &place(1), &mut peer), 0);
            Self {
                hosts,
                peers: [peer, 0],
                now: 0,
                buffer: [0; 2048],
                event,
            }
        };
        loop {
            pair.turn();
            while pair.poll() {
                if pair.event.r#type == POROUS_EVENT_CONNECTED {
                    pair.peers[1] = pair.event.peer;
                    pair.carry();
                    return pair;
                }
            }
        }
    }

    fn turn(&mut self) {
        self.now += 5000;
        // SAFETY: hosts that are not freed, and memory of this function and of the pair.
        unsafe {
            let mut sent: porous_transmit = zeroed();
            let buffer = self.buffer.as_mut_ptr().cast();
            for (from, to) in [(0, 1), (1, 0)] {
                assert_eq!(porous_core_time(self.hosts[from], self.now), 0);
                assert_eq!(porous_core_time(self.hosts[to], self.now), 0);
                assert_eq!(porous_core_timeout(self.hosts[from]), 0);
                while porous_core_output(self.hosts[from], &mut sent, buffer, self.buffer.len())
                    == 1
                {
                    let len = sent.len as usize;
                    porous_core_input(self.hosts[to], &place(from), 0, buffer, len);
                }
            }
        }
    }

    fn send(&mut self) {
        let (host, peer) = (self.hosts[0], self.peers[0]);
        let (data, len) = (PACKET.as_ptr().cast(), PACKET.len());
        // SAFETY: a host that is not freed, and bytes.
        let sent = unsafe { porous_send(host, peer, 0, POROUS_UNRELIABLE, data, len) };
        assert_eq!(sent, 0);
    }

    fn receive(&mut self) -> bool {
        let (buffer, cap) = (self.buffer.as_mut_ptr().cast(), self.buffer.len());
        // SAFETY: a host that is not freed, a struct and a buffer.
        unsafe {
            let mut what: porous_received = zeroed();
            porous_receive(self.hosts[1], self.peers[1], &mut what, buffer, cap) == 1
        }
    }

    fn poll(&mut self) -> bool {
        // SAFETY: a host that is not freed, and a struct with its size.
        unsafe { porous_poll_event(self.hosts[1], &mut self.event) == 1 }
    }
}

impl C {
    /// Takes a packet without a copy, looks at it, and frees it.
    fn take(&mut self) -> bool {
        // SAFETY: a host that is not freed, and memory of this function.
        unsafe {
            let mut what: porous_received = zeroed();
            let mut packet: *mut porous_packet = null_mut();
            let (host, peer) = (self.hosts[1], self.peers[1]);
            let status = porous_receive_packet(host, peer, &mut what, &mut packet);
            let mut len = 0;
            let data = porous_packet_data(packet, &mut len);
            assert!(!black_box(data).is_null());
            porous_packet_free(packet);
            status == 1
        }
    }
}

/// Lets a pair do what is measured, and prepares it before.
fn measure<P: Pair>(bencher: Bencher<'_, '_>, prepare: fn(&mut P), calls: fn(&mut P)) {
    let pair = core::cell::RefCell::new(P::connected());
    let prepared = bencher
        .counter(ItemsCount::new(CALLS))
        .with_inputs(|| prepare(&mut pair.borrow_mut()));
    prepared.bench_local_values(|()| calls(&mut pair.borrow_mut()));
}

fn sends<P: Pair>(pair: &mut P) {
    (0..CALLS).for_each(|_| pair.send());
}

fn sent<P: Pair>(pair: &mut P) {
    pair.empty();
    sends(pair);
    pair.carry();
}

#[divan::bench(types = [Rust, C], sample_size = 1, sample_count = 2000)]
fn send<P: Pair>(bencher: Bencher<'_, '_>) {
    measure::<P>(bencher, P::empty, sends);
}

#[divan::bench(types = [Rust, C], sample_size = 1, sample_count = 2000)]
fn receive<P: Pair>(bencher: Bencher<'_, '_>) {
    measure::<P>(bencher, sent, |pair| {
        (0..CALLS).for_each(|_| assert!(pair.receive()));
    });
}

#[divan::bench(sample_size = 1, sample_count = 2000)]
fn receive_packet(bencher: Bencher<'_, '_>) {
    measure::<C>(bencher, sent, |pair| {
        (0..CALLS).for_each(|_| assert!(pair.take()));
    });
}

#[divan::bench(types = [Rust, C], sample_size = 1, sample_count = 2000)]
fn poll_event<P: Pair>(bencher: Bencher<'_, '_>) {
    measure::<P>(bencher, P::empty, |pair| {
        (0..CALLS).for_each(|_| assert!(!pair.poll()));
    });
}
