//! A line that delays, loses, doubles and reorders packets by a seed: the link of `porous-sim`
//! between two devices of the kernel, in a thread.

use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;
use std::os::fd::AsRawFd;
use std::process::Command;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread::{self, JoinHandle};

use porous_sim::{Link, LinkConfig, Seed};
use porous_std::Clock;
use smoltcp::phy::{Device, Medium, RxToken, TunTapInterface, TxToken, wait};
use smoltcp::time::Instant;

use crate::space::{Space, run};

/// The longest sleep of the line, and so the most that it adds to a delay.
const TURN: Duration = Duration::from_millis(1);

/// A line that carries packets until this value is dropped.
pub(crate) struct Wan {
    /// Sends once, to start the thread, which ends when this is dropped.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Wan {
    /// A line between two machines, which have these addresses on a device `wan`.
    pub(crate) fn open(ends: [(&Space, &str); 2], config: LinkConfig, seed: u64) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let names = ends.map(|_| {
            let index = COUNT.fetch_add(1, Ordering::Relaxed);
            format!("prs{}w{index}", std::process::id())
        });
        let (stop, stopped) = mpsc::channel();
        let (ready, is_ready) = mpsc::channel();
        let devices = names.clone();
        let thread = thread::spawn(move || {
            // The devices exist from here on. This thread holds them open, also after they are moved into
            // the namespaces of the machines.
            let devices = devices.map(|name| TunTapInterface::new(&name, Medium::Ip).unwrap());
            ready.send(()).unwrap();
            let up = Link::new(config, Seed::new(seed).child("up", 0));
            let down = Link::new(config, Seed::new(seed).child("down", 0));
            // The ends are up as soon as the test says so.
            if stopped.recv().is_ok() {
                carry(devices, [up, down], &stopped);
            }
        });
        is_ready.recv().unwrap();
        for ((space, address), name) in ends.iter().zip(names) {
            let words = format!("link set {name} netns {} name wan", space.full());
            run(Command::new("ip").args(words.split(' '))).unwrap();
            space.run(&format!("ip address add {address} dev wan"));
            space.run("ip link set wan up");
        }
        stop.send(()).unwrap();
        Self {
            stop: Some(stop),
            thread: Some(thread),
        }
    }
}

impl Drop for Wan {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // If the thread has panicked, its message stands in the output of the test.
            let _ = thread.join();
        }
    }
}

/// Passes packets from each device to the other.
fn carry(mut devices: [TunTapInterface; 2], mut links: [Link; 2], stopped: &Receiver<()>) {
    let clock = Clock::start();
    while stopped.try_recv() == Err(TryRecvError::Empty) {
        wait(devices[0].as_raw_fd(), Some(TURN.into())).unwrap();
        for (from, link) in links.iter_mut().enumerate() {
            while let Some((packet, _)) = devices[from].receive(Instant::ZERO) {
                packet.consume(|bytes| link.send(clock.now(), bytes));
            }
            while let Some(packet) = link.receive(clock.now()) {
                if let Some(room) = devices[1 - from].transmit(Instant::ZERO) {
                    room.consume(packet.len(), |bytes| bytes.copy_from_slice(&packet));
                }
            }
        }
    }
}
