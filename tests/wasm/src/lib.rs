//! One host as a WebAssembly module that imports nothing: its datagrams, its time and its seed are
//! arguments, and all bytes go through one buffer. `run.mjs` beside it is the network of two instances.
#![no_std]

extern crate alloc;

use alloc::boxed::Box;
use core::cell::{RefCell, RefMut};
use core::time::Duration;

use chacha20::ChaCha12Rng;
use chacha20::rand_core::SeedableRng;
use porous_proto::{
    ChannelId, Config, Disconnect, DisconnectReason, Ecn, Event, Host, Instant, Listen, Mode,
    PeerId,
};

#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

/// A trap, which is an exception in JavaScript.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

/// Bytes of the longest packet or datagram that can be handed over.
const BUFFER: usize = 1 << 16;

/// The address of the other instance. There is no third.
const REMOTE: u8 = 1;

/// The reason of a disconnection.
const REASON: u32 = 42;

struct Node {
    host: Host<ChaCha12Rng, u8>,
    peer: Option<PeerId>,
    buffer: Box<[u8; BUFFER]>,
}

struct Instance(RefCell<Option<Node>>);

// SAFETY: an instance without shared memory has one thread.
unsafe impl Sync for Instance {}

static INSTANCE: Instance = Instance(RefCell::new(None));

fn node() -> RefMut<'static, Node> {
    RefMut::map(INSTANCE.0.borrow_mut(), |node| {
        node.as_mut().expect("`start` was called")
    })
}

/// Makes the host. To be called first, and once.
#[unsafe(no_mangle)]
extern "C" fn start(seed: u64) {
    let node = Node {
        host: Host::new(Config::new(), ChaCha12Rng::seed_from_u64(seed)),
        peer: None,
        buffer: Box::new([0; BUFFER]),
    };
    INSTANCE.0.replace(Some(node));
}

/// The address of the buffer in which the bytes of packets and datagrams are handed over, both ways.
#[unsafe(no_mangle)]
extern "C" fn buffer() -> *mut u8 {
    node().buffer.as_mut_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn listen() {
    node().host.listen(Listen::Open).expect("it may listen");
}

#[unsafe(no_mangle)]
extern "C" fn connect(now: u64) {
    let mut node = node();
    let peer = node.host.connect(Instant::from_micros(now), REMOTE);
    node.peer = Some(peer.expect("it has no peer"));
}

/// Takes in a datagram that lies in the buffer.
#[unsafe(no_mangle)]
extern "C" fn handle_datagram(now: u64, len: usize) {
    let Node { host, buffer, .. } = &mut *node();
    let now = Instant::from_micros(now);
    host.handle_datagram(now, REMOTE, Ecn::NotEct, &buffer[..len]);
}

#[unsafe(no_mangle)]
extern "C" fn handle_timeout(now: u64) {
    node().host.handle_timeout(Instant::from_micros(now));
}

/// Writes a datagram into the buffer. Returns its length, or 0 if there is none.
#[unsafe(no_mangle)]
extern "C" fn poll_transmit(now: u64) -> usize {
    let Node { host, buffer, .. } = &mut *node();
    let transmit = host.poll_transmit(Instant::from_micros(now), &mut buffer[..]);
    transmit.map_or(0, |transmit| transmit.datagram.len())
}

/// The next event. 0: none; 1: connected; 2: readable; 3: disconnected as asked for, with all packets
/// delivered; 4: any other.
#[unsafe(no_mangle)]
extern "C" fn poll_event() -> u32 {
    let mut node = node();
    match node.host.poll_event() {
        None => 0,
        Some(Event::Connected { peer, .. }) => {
            node.peer = Some(peer);
            1
        }
        Some(Event::Readable { .. }) => 2,
        Some(Event::Disconnected {
            reason: DisconnectReason::ByUs(REASON) | DisconnectReason::ByPeer(REASON),
            undelivered: 0,
            ..
        }) => 3,
        Some(_) => 4,
    }
}

/// Sends the bytes in the buffer as a reliable packet. True if there was room.
#[unsafe(no_mangle)]
extern "C" fn send(len: usize) -> bool {
    let Node { host, peer, buffer } = &mut *node();
    let peer = peer.expect("it is connected");
    let packet = buffer[..len].to_vec();
    host.send(peer, ChannelId(0), packet, Mode::Reliable)
        .is_ok()
}

/// Writes a packet that was received into the buffer. Returns its length, or -1 if there is none.
#[unsafe(no_mangle)]
extern "C" fn receive() -> i32 {
    let Node { host, peer, buffer } = &mut *node();
    let Some(received) = peer.and_then(|peer| host.receive(peer)) else {
        return -1;
    };
    let len = received.payload.len();
    buffer[..len].copy_from_slice(&received.payload);
    len as i32
}

/// Ends the connection when all packets were delivered, or after a minute.
#[unsafe(no_mangle)]
extern "C" fn disconnect(now: u64) {
    let Node { host, peer, .. } = &mut *node();
    let how = Disconnect::Flush {
        reason: REASON,
        deadline: Duration::from_secs(60),
    };
    host.disconnect(
        Instant::from_micros(now),
        peer.expect("it is connected"),
        how,
    )
    .expect("it is connected");
}
