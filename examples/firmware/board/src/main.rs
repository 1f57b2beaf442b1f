//! A porous server on a microcontroller: QEMU's mps2-an385, a Cortex-M3 with Ethernet.
//!
//! There is no operating system. smoltcp is the network stack, `SysTick` the clock, and the heap has
//! 64 KiB.
#![no_std]
#![no_main]

extern crate alloc;

mod clock;
mod figures;
mod heap;
mod lan9118;
#[cfg(feature = "seal")]
mod seal;
mod semihosting;
mod session;

use alloc::vec::Vec;

use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use cortex_m_rt::{entry, exception};
use cortex_m_semihosting::hprintln;
use porous_smoltcp::{Config, Listen, SmolHost};
use smoltcp::iface::{Config as InterfaceConfig, Interface, SocketSet};
use smoltcp::socket::udp;
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{EthernetAddress, IpCidr, Ipv4Address};

use crate::clock::Clock;
use crate::lan9118::Lan9118;
use crate::session::Session;

/// A locally administered address.
const MAC: [u8; 6] = [0x52, 0x54, 0x00, 0x12, 0x34, 0x56];

/// The address that QEMU expects its guest to have.
const ADDRESS: Ipv4Address = Ipv4Address::new(10, 0, 2, 15);
const ROUTER: Ipv4Address = Ipv4Address::new(10, 0, 2, 2);

/// Datagrams that the socket holds, each way.
const DATAGRAMS: usize = 4;

/// The configuration, of two KiB, which is evaluated when the program is built.
const CONFIG: Config = match talk::configured(Config::embedded()) {
    Ok(config) => config,
    Err(_) => panic!("a valid configuration"),
};

#[entry]
fn main() -> ! {
    heap::init();
    let is_well = run();
    figures::print();
    semihosting::exit(is_well)
}

/// Runs the whole session. Returns true if it went well.
fn run() -> bool {
    let peripherals = cortex_m::Peripherals::take().expect("nobody has taken them");
    let mut clock = Clock::start(peripherals.SYST);
    let device = cortex_m::singleton!(: Lan9118 = Lan9118::new()).expect("there is one");
    device.start(MAC);
    let mut interface = interface(device, clock.now());

    let mut host = host();
    hprintln!("board: host {} bytes", heap::used());
    let mut sockets = SocketSet::new(Vec::with_capacity(1));
    let buffer = || host.packet_buffer(DATAGRAMS);
    let mut socket = udp::Socket::new(buffer(), buffer());
    socket.bind(talk::PORT).expect("the port is free");
    let socket = sockets.add(socket);
    hprintln!("board: listens, heap {} bytes", heap::used());

    let mut session = Session::new(clock.now());
    let mut longest = Duration::ZERO;
    loop {
        let now = clock.now();
        interface.poll(now, device, &mut sockets);
        let socket = sockets.get_mut::<udp::Socket>(socket);
        let start = clock.now();
        host.step(now, socket).expect("it is bound");
        longest = longest.max(clock.now() - start);
        session.turn(now, &mut host);
        if let Some(is_well) = session.verdict(now) {
            hprintln!("board: longest step {} us", longest.total_micros());
            return is_well;
        }
        let due = [Some(session.due()), host.poll_at(now, socket)];
        let due = due.into_iter().chain([interface.poll_at(now, &sockets)]);
        if due.flatten().all(|due| due > now) {
            clock::sleep();
        }
    }
}

/// A host that listens. In a function of its own, so that `run` does not keep the stack that making a host
/// needs.
#[inline(never)]
fn host() -> SmolHost<ChaCha20Rng> {
    // A product takes the seed from the hardware random generator of its chip: an attacker that can guess
    // the seed can guess cookies and connection ids. This board has no such generator.
    let rng = ChaCha20Rng::seed_from_u64(semihosting::seed());
    #[cfg(not(feature = "seal"))]
    let mut host = SmolHost::new(CONFIG, rng);
    #[cfg(feature = "seal")]
    let mut host = seal::host(CONFIG, rng);
    host.host_mut().listen(Listen::Open).expect("it may listen");
    host
}

#[inline(never)]
fn interface(device: &mut Lan9118, now: Instant) -> Interface {
    let config = InterfaceConfig::new(EthernetAddress(MAC).into());
    let mut interface = Interface::new(config, device, now);
    interface.update_ip_addrs(|addresses| {
        addresses
            .push(IpCidr::new(ADDRESS.into(), 24))
            .expect("smoltcp has room for one");
    });
    interface
        .routes_mut()
        .add_default_ipv4_route(ROUTER)
        .expect("smoltcp has room for one");
    interface
}

/// The millisecond that `clock::sleep` waits for.
#[exception]
fn SysTick() {}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    hprintln!("board: {}", info);
    semihosting::exit(false)
}
