//! The time, and a way to wait.

use core::ptr;

use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;
use smoltcp::time::Instant;

/// The board's clock in Hz.
const FREQUENCY: u32 = 25_000_000;

/// CMSDK timer 0: CTRL, VALUE, RELOAD.
const TIMER: [*mut u32; 3] = [
    0x4000_0000 as *mut u32,
    0x4000_0004 as *mut u32,
    0x4000_0008 as *mut u32,
];

/// A timer that runs down from 2^32 and begins anew, every 171 s; and SysTick, which interrupts
/// each millisecond.
#[derive(Debug)]
pub(crate) struct Clock {
    last: u32,
    ticks: u64,
}

impl Clock {
    pub(crate) fn start(mut systick: SYST) -> Self {
        systick.set_clock_source(SystClkSource::Core);
        systick.set_reload(FREQUENCY / 1000 - 1);
        systick.clear_current();
        systick.enable_counter();
        systick.enable_interrupt();
        let [control, value, reload] = TIMER;
        // SAFETY: these are the timer's registers, and no other code uses them.
        unsafe {
            ptr::write_volatile(reload, u32::MAX);
            ptr::write_volatile(value, u32::MAX);
            ptr::write_volatile(control, 1);
        }
        Self {
            last: u32::MAX,
            ticks: 0,
        }
    }

    /// The time since the start. Call it more often than the timer begins anew.
    pub(crate) fn now(&mut self) -> Instant {
        let [_, value, _] = TIMER;
        // SAFETY: it may be read at any time.
        let value = unsafe { ptr::read_volatile(value) };
        self.ticks += u64::from(self.last.wrapping_sub(value));
        self.last = value;
        let micros = self.ticks / u64::from(FREQUENCY / 1_000_000);
        Instant::from_micros(i64::try_from(micros).unwrap_or(i64::MAX))
    }
}

/// Sleeps until the next interrupt, which is at most a millisecond away.
pub(crate) fn sleep() {
    cortex_m::asm::wfi();
}
