//! Two hosts without std: they connect and exchange a packet each way, in memory and over smoltcp;
//! two endpoints exchange messages.
#![no_std]
#![no_main]

extern crate alloc;

mod messages;
mod smol;

use alloc::vec::Vec;
use core::alloc::{GlobalAlloc, Layout};
use core::convert::Infallible;
use core::ffi::{c_char, c_int, c_void};

use porous_proto::{ChannelId, Config, Ecn, Event, Host, Instant, Listen, Mode, PeerId};
use rand_core::{TryCryptoRng, TryRng};

#[link(name = "c")]
unsafe extern "C" {
    fn aligned_alloc(align: usize, size: usize) -> *mut c_void;
    fn free(pointer: *mut c_void);
    fn abort() -> !;
    fn write(file: c_int, bytes: *const c_void, len: usize) -> isize;
}

// The prebuilt `alloc` was compiled to unwind and names these symbols. With `panic = "abort"` they are
// never called.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() -> ! {
    // SAFETY: `abort` has no preconditions.
    unsafe { abort() }
}

struct Libc;

// SAFETY: `aligned_alloc` gets a power of two and a multiple of it, and `free` takes what it gave.
unsafe impl GlobalAlloc for Libc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let align = layout.align().max(16);
        unsafe { aligned_alloc(align, layout.size().div_ceil(align) * align).cast() }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, _: Layout) {
        unsafe { free(pointer.cast()) }
    }
}

#[global_allocator]
static ALLOCATOR: Libc = Libc;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: `abort` has no preconditions.
    unsafe { abort() }
}

/// A counter in place of random numbers, which this program does not need.
struct Counter(u64);

impl TryRng for Counter {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.try_next_u64()? as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1);
        Ok(self.0 ^ self.0 >> 29)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for byte in bytes {
            *byte = self.try_next_u64()? as u8;
        }
        Ok(())
    }
}

impl TryCryptoRng for Counter {}

type Toy = Host<Counter, u32>;

/// Carries all datagrams of `from`, and sends a packet to each peer that connects.
fn carry(from: &mut Toy, address: u32, to: &mut Toy, received: &mut Vec<u8>) {
    let mut buf = [0; 1200];
    while let Some(transmit) = from.poll_transmit(Instant::ZERO, &mut buf) {
        to.handle_datagram(Instant::ZERO, address, Ecn::NotEct, transmit.datagram);
    }
    while let Some(event) = to.poll_event() {
        match event {
            Event::Connected { peer, .. } => greet(to, peer),
            Event::Readable { peer } => {
                while let Some(packet) = to.receive(peer) {
                    received.extend_from_slice(&packet.payload);
                }
            }
            _ => {}
        }
    }
}

fn greet(host: &mut Toy, peer: PeerId) {
    let sent = host.send(peer, ChannelId(0), &b"hello"[..], Mode::Reliable);
    assert!(sent.is_ok());
}

#[unsafe(no_mangle)]
extern "C" fn main(_: c_int, _: *const *const c_char) -> c_int {
    let mut client = Toy::new(Config::client(), Counter(1));
    let mut server = Toy::new(Config::new(), Counter(2));
    let mut received = Vec::new();
    if server.listen(Listen::Open).is_err() || client.connect(Instant::ZERO, 2).is_err() {
        return 1;
    }
    for _ in 0..8 {
        carry(&mut client, 1, &mut server, &mut received);
        carry(&mut server, 2, &mut client, &mut received);
    }
    if received != b"hellohello" || smol::exchange().as_deref() != Some(b"hellohello") {
        return 1;
    }
    if !messages::exchange() {
        return 1;
    }
    let line = b"no_std proof: two hosts connected and spoke without std, alone, over smoltcp, by messages\n";
    // SAFETY: the pointer and the length are those of `line`.
    let written = unsafe { write(1, line.as_ptr().cast(), line.len()) };
    c_int::from(written != line.len() as isize)
}
