//! Work that is divided among threads, with results that do not depend on their number.

use alloc::collections::BTreeMap;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

/// Does the jobs with these numbers on `threads` threads, and hands out the results in the order of the numbers. No
/// job is begun once `stop` returns true; it is asked before each.
pub(crate) fn in_order<T: Send>(
    jobs: Range<u64>,
    threads: usize,
    stop: impl Fn() -> bool + Sync,
    job: impl Fn(u64) -> T + Sync,
    mut each: impl FnMut(T),
) {
    let begun = AtomicU64::new(jobs.start);
    let (sender, results) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            let sender = sender.clone();
            let (begun, stop, job) = (&begun, &stop, &job);
            scope.spawn(move || {
                while !stop() {
                    let number = begun.fetch_add(1, Ordering::Relaxed);
                    if number >= jobs.end || sender.send((number, job(number))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut next = jobs.start;
        for (number, result) in results {
            waiting.insert(number, result);
            while let Some(result) = waiting.remove(&next) {
                next += 1;
                each(result);
            }
        }
    });
}
