//! Events that wait for the application.

use alloc::collections::VecDeque;

use crate::event::Event;
use crate::ids::PeerId;
use crate::peer::News;
use crate::sequencing::Receipt;

/// The number of waiting events, usual ones not counted, from which on nobody is let in (told in `Config`).
const WAITING_MAX: usize = 4096;

/// The events, the oldest first.
#[derive(Debug)]
pub(super) struct Events<A> {
    queue: VecDeque<Event<A>>,
    /// The number of those among them that say nothing of a slow application.
    usual: usize,
}

/// Whether any number of such events may wait. Of a peer at most one `Readable` and one `Writable` wait, so that many
/// of them are the sign of many peers that are active in one turn; and receipts are bounded by the send budgets.
const fn is_usual<A>(event: &Event<A>) -> bool {
    matches!(
        event,
        Event::Readable { .. } | Event::Writable { .. } | Event::Receipt { .. }
    )
}

impl<A> Events<A> {
    pub(super) const fn new() -> Self {
        Self {
            queue: VecDeque::new(),
            usual: 0,
        }
    }

    /// Whether the application has not looked at its events for long.
    pub(super) fn are_too_many(&self) -> bool {
        self.queue.len() - self.usual >= WAITING_MAX
    }

    pub(super) fn push(&mut self, event: Event<A>) {
        self.usual += usize::from(is_usual(&event));
        self.queue.push_back(event);
    }

    /// Queues the event that tells this news of a peer at this address.
    pub(super) fn tell(&mut self, peer: PeerId, address: A, news: News) {
        self.push(match news {
            News::Request => Event::Request { peer, address },
            News::Connected => Event::Connected { peer, address },
            News::Readable => Event::Readable { peer },
            News::Writable => Event::Writable { peer },
            News::PathNarrowed(bytes) => Event::PathNarrowed { peer, bytes },
            News::Receipt(Receipt { token, outcome, .. }) => Event::Receipt {
                peer,
                token,
                outcome,
            },
            News::Ended { told: false, .. } => return, // the application never knew of the peer
            News::Ended {
                reason,
                undelivered,
                told: true,
            } => Event::Disconnected {
                peer,
                reason,
                undelivered,
            },
        });
    }

    pub(super) fn pop(&mut self) -> Option<Event<A>> {
        let event = self.queue.pop_front()?;
        self.usual -= usize::from(is_usual(&event));
        // A peer that ended with many receipts has made the queue long: its memory is given back.
        if self.queue.is_empty() && self.queue.capacity() > WAITING_MAX {
            self.queue = VecDeque::new();
        }
        Some(event)
    }
}
