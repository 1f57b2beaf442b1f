//! What two ends that are awaited do.

use core::future::Future;
use std::io;

use bytes::Bytes;
use porous_std::Clock;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use super::{Done, Job, LENGTH, Processor, REPORT_EACH, UNDER_WAY};

/// The longest that a job may take: a message that is lost ends it.
const LIMIT: core::time::Duration = core::time::Duration::from_secs(60);

/// One end of a connection, whose messages are unreliable.
pub(super) trait End: Send + Sync + 'static {
    fn send(&self, message: Bytes) -> io::Result<()>;

    /// The next message; an error at the end of the connection.
    fn recv(&self) -> impl Future<Output = io::Result<Bytes>> + Send;
}

/// A runtime of this number of threads.
pub(super) fn runtime(threads: usize) -> io::Result<Runtime> {
    match threads {
        1 => Builder::new_current_thread().enable_all().build(),
        _ => {
            let mut builder = Builder::new_multi_thread();
            builder.worker_threads(threads).enable_all().build()
        }
    }
}

/// Lets two ends do a job, each in a task.
pub(super) async fn run<E: End>(job: Job, client: E, server: E) -> io::Result<Done> {
    let work = async move {
        match job {
            Job::Echoes(count) => {
                let echoing = tokio::spawn(echo(server));
                let done = tokio::spawn(ask(client, count)).await?;
                echoing.abort();
                done
            }
            Job::Messages(count) => {
                let processor = Processor::start()?;
                let reading = tokio::spawn(read(server, count));
                tokio::spawn(write(client, count)).await??;
                reading.await??;
                processor.done()
            }
        }
    };
    timeout(LIMIT, work).await?
}

async fn echo(server: impl End) -> io::Result<()> {
    loop {
        server.send(server.recv().await?)?;
    }
}

async fn ask(client: impl End, count: usize) -> io::Result<Done> {
    let clock = Clock::start();
    let message = Bytes::from(vec![7; LENGTH]);
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let begun = clock.now();
        client.send(message.clone())?;
        client.recv().await?;
        times.push(clock.now().saturating_duration_since(begun));
    }
    Ok(Done::Echoes(times))
}

/// Reads all messages, and reports. Returns the end, so that the connection lives until the last report was read.
async fn read<E: End>(server: E, count: u64) -> io::Result<E> {
    for read in 1..=count {
        server.recv().await?;
        if read % REPORT_EACH == 0 || read == count {
            server.send(Bytes::copy_from_slice(&read.to_le_bytes()))?;
        }
    }
    Ok(server)
}

async fn write(client: impl End, count: u64) -> io::Result<()> {
    let message = [7; LENGTH];
    let (mut sent, mut reported) = (0, 0);
    while reported < count {
        while sent < count && sent - reported < UNDER_WAY {
            // A copy of each, as in the other measurements.
            client.send(Bytes::copy_from_slice(&message))?;
            sent += 1;
        }
        let report = client.recv().await?;
        let report = report[..].try_into().map_err(io::Error::other)?;
        reported = u64::from_le_bytes(report);
    }
    Ok(())
}
