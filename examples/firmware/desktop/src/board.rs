//! The board: a QEMU that runs the firmware, until it ends by itself.

use core::error::Error;
use core::net::SocketAddr;
use core::time::Duration;
use std::io;
use std::net::UdpSocket;
use std::process::{Child, Command, ExitStatus, Stdio};

use porous_std::{Clock, Instant};

/// The time after which the firmware counts as stuck. A good run needs far less.
const DEADLINE: Duration = Duration::from_secs(90);

/// The emulator, which is killed when this value is dropped.
#[derive(Debug)]
pub(crate) struct Board {
    qemu: Child,
    address: SocketAddr,
}

impl Board {
    /// Starts the emulator. `seed` is the seed of the board's random numbers.
    pub(crate) fn start(firmware: &str, seed: u64) -> io::Result<Self> {
        // Another program could take the port before QEMU does; QEMU would then end with an error.
        let address = UdpSocket::bind("127.0.0.1:0")?.local_addr()?;
        let forward = format!(
            "hostfwd=udp:{}:{}-:{}",
            address.ip(),
            address.port(),
            talk::PORT
        );
        let qemu = Command::new("qemu-system-arm")
            .args(["-machine", "mps2-an385"])
            // An instruction takes 2^5 ns of the board's time, whatever this machine does meanwhile: the times
            // that the board measures count instructions.
            .args(["-icount", "shift=5"])
            .args(["-display", "none", "-serial", "none", "-monitor", "none"])
            .args(["-nic", &format!("user,model=lan9118,{forward}")])
            .arg("-semihosting-config")
            .arg(format!("enable=on,target=native,arg=board,arg={seed}"))
            .args(["-kernel", firmware])
            .stdin(Stdio::null())
            .spawn()?;
        Ok(Self { qemu, address })
    }

    /// The address at which the board can be reached.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until the firmware has ended, and calls `turn` in the meantime.
    ///
    /// # Errors
    ///
    /// If the firmware did not end well, or not in time, and those of `turn`.
    pub(crate) fn wait(
        mut self,
        mut turn: impl FnMut() -> Result<(), Box<dyn Error>>,
    ) -> Result<(), Box<dyn Error>> {
        let clock = Clock::start();
        while clock.now() < Instant::ZERO + DEADLINE {
            turn()?;
            if let Some(status) = self.qemu.try_wait()? {
                return verdict(status);
            }
        }
        Err("the board does not end".into())
    }
}

fn verdict(status: ExitStatus) -> Result<(), Box<dyn Error>> {
    if status.success() {
        return Ok(());
    }
    Err(format!("the board: {status}").into())
}

impl Drop for Board {
    fn drop(&mut self) {
        // The emulator may have ended already.
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}
