//! A host in a thread of its own: the program's end of it.

use core::ffi::c_char;
use core::fmt;

use alloc::boxed::Box;

use porous_std::{HostThread, UdpHost};

use crate::address::porous_address;
use crate::config::porous_config;
use crate::door::{Door, free};
use crate::host::farewell;
use crate::io_error;
use crate::output::{Answers, porous_output};
use crate::panic::guard;
use crate::pointers::{wanted, write};
use crate::sized::{check_size, write_sized};
use crate::stats::{porous_host_stats, porous_peer_stats};
use crate::status::{POROUS_ERR_NULL, POROUS_ERR_THREAD_ENDED, POROUS_OK, porous_status};
use crate::time::duration;
use crate::udp_host;

/// A host on a socket in a thread of its own, which answers and acknowledges at once, however long the program's turns
/// are. The functions that begin with porous_thread_ queue commands and never block, but for porous_thread_close and
/// porous_thread_free. What becomes of a command is told by porous_thread_poll. One thread of the program at a time uses
/// it.
pub struct porous_thread(Door<Worker>);

impl fmt::Debug for porous_thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("porous_thread").finish_non_exhaustive()
    }
}

/// What a call gets at.
pub(crate) struct Worker {
    /// `None` once it was closed.
    thread: Option<HostThread>,
    answers: Answers,
}

impl Worker {
    pub(crate) fn thread(&mut self) -> Result<&mut HostThread, porous_status> {
        self.thread.as_mut().ok_or(POROUS_ERR_THREAD_ENDED)
    }
}

/// Runs a call into the program's end of a thread.
///
/// # Safety
///
/// `thread` is NULL, or was handed out and not freed.
pub(crate) unsafe fn enter(
    thread: *const porous_thread,
    call: impl FnOnce(&mut Worker) -> Result<porous_status, porous_status>,
) -> porous_status {
    // SAFETY: as the caller promises.
    let thread = unsafe { thread.as_ref() };
    thread.map_or(POROUS_ERR_NULL, |thread| thread.0.enter(call))
}

/// Hands a new thread out.
///
/// # Safety
///
/// `out` is NULL, or points to memory for a pointer.
unsafe fn hand_out(
    out: *mut *mut porous_thread,
    host: impl FnOnce() -> Result<UdpHost, porous_status>,
) -> Result<porous_status, porous_status> {
    wanted(out)?;
    let thread = host()?.spawn();
    let worker = Worker {
        thread: Some(thread.map_err(|error| io_error::remember(&error))?),
        answers: Answers::none(),
    };
    let thread = Box::new(porous_thread(Door::new(worker)));
    // SAFETY: as the caller promises.
    unsafe { write(out, Box::into_raw(thread))? };
    Ok(POROUS_OK)
}

/// Makes a host as porous_udp_bind does, in a thread of its own.
///
/// Errors: those of porous_udp_bind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_bind(
    config: *const porous_config,
    address: *const c_char,
    out: *mut *mut porous_thread,
) -> porous_status {
    guard(|| {
        // SAFETY: a configuration, a text and a pointer, as the header demands.
        unsafe { hand_out(out, || udp_host::bind(config, address)) }
    })
}

/// Makes a host as porous_udp_adopt does, in a thread of its own.
///
/// Errors: those of porous_udp_adopt.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_adopt(
    config: *const porous_config,
    socket: isize,
    out: *mut *mut porous_thread,
) -> porous_status {
    guard(|| {
        // SAFETY: a configuration and a pointer, and a socket that nobody else closes, as the header demands.
        unsafe { hand_out(out, || udp_host::adopt(config, socket)) }
    })
}

/// Takes the next thing that the thread tells. Returns 1 if there was one; call it in each turn until it returns 0. Set
/// output->size before the first call. Outputs that are not taken wait, up to 1 MiB; beyond that the peers are held
/// back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_poll(
    thread: *mut porous_thread,
    output: *mut porous_output,
) -> porous_status {
    // SAFETY: a thread and a struct with its size, as the header demands.
    unsafe {
        enter(thread, |worker| {
            check_size(output)?;
            let Some(next) = worker.thread()?.poll() else {
                return Ok(POROUS_OK);
            };
            let told = porous_output::tell(next, &mut worker.answers);
            write_sized(output, told)?;
            Ok(1)
        })
    }
}

/// Tells the address that the socket is bound to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_address(
    thread: *const porous_thread,
    out: *mut porous_address,
) -> porous_status {
    // SAFETY: a thread and an address, as the header demands.
    unsafe {
        enter(thread, |worker| {
            write(out, worker.thread()?.local_addr().into())?;
            Ok(POROUS_OK)
        })
    }
}

/// Tells what the last POROUS_OUTPUT_STATS has told. Set stats->size before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_stats(
    thread: *const porous_thread,
    stats: *mut porous_host_stats,
) -> porous_status {
    // SAFETY: a thread and a struct with its size, as the header demands.
    unsafe {
        enter(thread, |worker| {
            write_sized(stats, worker.answers.host)?;
            Ok(POROUS_OK)
        })
    }
}

/// Tells what the last POROUS_OUTPUT_PEER_STATS has told; all of it 0 if the host had no such peer. `state`, `channels`,
/// `max_packet` and `remote_timeout_us` are 0. Set stats->size before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_peer_stats(
    thread: *const porous_thread,
    stats: *mut porous_peer_stats,
) -> porous_status {
    // SAFETY: a thread and a struct with its size, as the header demands.
    unsafe {
        enter(thread, |worker| {
            write_sized(stats, worker.answers.peer)?;
            Ok(POROUS_OK)
        })
    }
}

/// Ends all connections and the thread, and waits for the end: see porous_udp_close. All that was sent before goes to
/// the host, and what comes meanwhile is lost. Free the thread afterwards.
///
/// Errors: POROUS_ERR_IO if the thread had ended by itself; POROUS_ERR_THREAD_ENDED if it was closed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_close(
    thread: *mut porous_thread,
    code: u32,
    flush_at_most_us: u64,
) -> porous_status {
    // SAFETY: a thread, as the header demands.
    unsafe {
        enter(thread, |worker| {
            let thread = worker.thread.take().ok_or(POROUS_ERR_THREAD_ENDED)?;
            let closed = thread.close(farewell(code, duration(flush_at_most_us)));
            closed.map_err(|error| io_error::remember(&error))?;
            Ok(POROUS_OK)
        })
    }
}

/// Frees a thread. NULL is fine. One that was not closed is closed, at once and with code 0, for which this waits.
///
/// Errors: POROUS_ERR_BUSY, and nothing is freed, from a callback.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_thread_free(thread: *mut porous_thread) -> porous_status {
    guard(|| {
        // SAFETY: NULL, or a thread that nobody has freed, as the header demands.
        unsafe { free(thread, |thread| &thread.0, |thread| thread.0)? };
        Ok(POROUS_OK)
    })
}
