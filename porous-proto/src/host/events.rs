//! Events that wait for the application.

use alloc::collections::VecDeque;

use crate::event::Event;
use crate::ids::PeerId;
use crate::peer::News;
use crate::sequencing::Receipt;

/// The number of waiting events from which on nobody is let in (told in `Config`).
const WAITING_MAX: usize = 4096;

/// The events, the oldest first.
#[derive(Debug)]
pub(super) struct Events<A> {
    queue: VecDeque<Event<A>>,
    /// The number of receipts among them.
    receipts: usize,
}

impl<A> Events<A> {
    pub(super) const fn new() -> Self {
        Self {
            queue: VecDeque::new(),
            receipts: 0,
        }
    }

    /// Whether the application has not looked at its events for long.
    pub(super) fn are_too_many(&self) -> bool {
        // Receipts are bounded by the send budgets, and many of them are no sign of a slow application.
        self.queue.len() - self.receipts >= WAITING_MAX
    }

    pub(super) fn push(&mut self, event: Event<A>) {
        self.receipts += usize::from(matches!(event, Event::Receipt { .. }));
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
        self.receipts -= usize::from(matches!(event, Event::Receipt { .. }));
        // A peer that ended with many receipts has made the queue long: its memory is given back.
        if self.queue.is_empty() && self.queue.capacity() > WAITING_MAX {
            self.queue = VecDeque::new();
        }
        Some(event)
    }
}
