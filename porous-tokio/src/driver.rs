//! The one task that serves a socket.

use alloc::sync::Arc;
use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::Poll;
use core::time::Duration;
use std::io;

use tokio::io::Interest;
use tokio::net::UdpSocket;
use tokio::runtime;
use tokio::task::yield_now;
use tokio::time::sleep;

use crate::Closed;
use crate::shared::Shared;
use crate::state::Next;

/// Tells all that wait when the task is dropped, as it is when its runtime shuts down.
struct Guard(Arc<Shared>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.finish(Closed::Stopped);
    }
}

/// Begins to serve the socket, in this runtime.
pub(crate) fn start(runtime: &runtime::Handle, shared: Arc<Shared>, socket: Arc<UdpSocket>) {
    // Made here, not by the task: a runtime drops a task that never had a turn, too.
    let guard = Guard(shared);
    runtime.spawn(async move { drive(&guard.0, &socket).await });
}

async fn drive(shared: &Shared, socket: &UdpSocket) {
    loop {
        match shared.turn() {
            Next::GoOn => yield_now().await,
            Next::Sleep { time, is_blocked } => {
                // Not for errors: an ICMP error about an attempt to connect may wait until the request is repeated.
                let interest = match is_blocked {
                    true => Interest::READABLE | Interest::WRITABLE,
                    false => Interest::READABLE,
                };
                if rest(shared, socket, interest, time).await.is_err() {
                    // The runtime is shutting down: nothing more is told of the socket.
                    return;
                }
            }
            Next::End => return,
        }
    }
}

/// Sleeps until the socket is ready, a command came, or the time has passed.
async fn rest(
    shared: &Shared,
    socket: &UdpSocket,
    interest: Interest,
    time: Option<Duration>,
) -> io::Result<()> {
    let mut woken = pin!(shared.wake.notified());
    let mut ready = pin!(socket.ready(interest));
    let mut timer = pin!(time.map(sleep));
    poll_fn(|context| {
        if woken.as_mut().poll(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        if let Poll::Ready(ready) = ready.as_mut().poll(context) {
            return Poll::Ready(ready.map(|_| ()));
        }
        match timer.as_mut().as_pin_mut() {
            Some(timer) => timer.poll(context).map(Ok),
            None => Poll::Pending,
        }
    })
    .await
}
