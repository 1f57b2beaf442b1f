//! What the host has to tell the application of a peer, and when.

use super::session::Session;
use crate::event::DisconnectReason;
use crate::sequencing::{Receipt, Receipts, cost};

/// What the host has to tell the application of a peer; several news are told in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    Request,
    Connected,
    Readable,
    Writable,
    /// The length of the longest datagram now, in bytes.
    PathNarrowed(u16),
    Receipt(Receipt),
    /// The last news of a peer.
    Ended {
        reason: DisconnectReason,
        /// Packets that were not delivered.
        undelivered: u32,
        /// True if the application knows of the peer.
        told: bool,
    },
}

/// The event by which the application gets to know a peer.
#[derive(Clone, Copy, Debug)]
enum First {
    Request,
    Connected,
}

/// A path that was found to carry datagrams of no more than this number of bytes.
#[derive(Clone, Copy, Debug)]
enum Narrowed {
    /// The application has to be told.
    Owed(u16),
    /// The event waits for the application, and will tell this number.
    Waits(u16),
}

/// What is to be told, and what waits for the application, which takes events when it likes. Of each kind
/// that may come again one event waits at most, but for receipts, which the send budget bounds.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// The news to be told before all else.
    first: Option<First>,
    /// True if the application knows of this peer: it called `connect`, or was told or asked about it.
    told: bool,
    /// True if `Readable` was told, and the peer was not read empty since.
    readable_told: bool,
    /// True while `Readable` waits for the application.
    readable_waits: bool,
    /// True while `Writable` waits for the application.
    writable_waits: bool,
    narrowed: Option<Narrowed>,
    /// The number of packets with a receipt that the application has not taken.
    open_receipts: u32,
    /// The receipts that were open at the end.
    last_receipts: Receipts,
    /// The end, if it is to be told: the reason, and the number of packets that were not delivered.
    ended: Option<(DisconnectReason, u32)>,
}

impl Outbox {
    /// The outbox of a peer that the application asked for.
    pub(super) fn known() -> Self {
        Self {
            told: true,
            ..Self::default()
        }
    }

    pub(super) const fn on_request(&mut self) {
        self.first = Some(First::Request);
    }

    pub(super) const fn on_connected(&mut self) {
        self.first = Some(First::Connected);
    }

    /// Notes that the path carries datagrams of no more than this number of bytes.
    pub(super) const fn on_narrowed(&mut self, bytes: u16) {
        // An event that waits tells the newest number: a second one would say nothing else.
        self.narrowed = Some(match self.narrowed {
            Some(Narrowed::Waits(_)) => Narrowed::Waits(bytes),
            Some(Narrowed::Owed(_)) | None => Narrowed::Owed(bytes),
        });
    }

    /// Notes that a packet was accepted, with a receipt or without.
    pub(super) fn on_sent(&mut self, has_receipt: bool) {
        self.open_receipts += u32::from(has_receipt);
    }

    /// Notes the end of the peer, and closes its connection, if it had one.
    pub(super) fn on_ended(&mut self, reason: DisconnectReason, session: Option<&mut Session>) {
        let mut undelivered = 0;
        if let Some(session) = session {
            undelivered = session.sequencing.totals().undelivered; // before `close` empties the queues
            self.last_receipts = session.sequencing.close();
        }
        self.ended = Some((reason, undelivered));
    }

    /// Notes that `receive` has found nothing.
    pub(super) const fn read_empty(&mut self) {
        self.readable_told = false;
    }

    /// Notes that the application has taken `Readable`. `is_readable`: there is something to read now.
    pub(super) fn readable_taken(&mut self, is_readable: bool) {
        self.readable_waits = false;
        // What has come since the event was queued is told by it: the application reads until it is empty.
        self.readable_told |= is_readable;
    }

    /// Notes that the application has taken `Writable`.
    pub(super) const fn writable_taken(&mut self) {
        self.writable_waits = false;
    }

    /// Notes that the application has taken `PathNarrowed`: the longest datagram that the path carries by
    /// now, in bytes.
    pub(super) const fn narrowed_taken(&mut self) -> Option<u16> {
        match self.narrowed.take() {
            Some(Narrowed::Owed(bytes) | Narrowed::Waits(bytes)) => Some(bytes),
            None => None,
        }
    }

    /// Notes that the application has taken a receipt.
    pub(super) const fn receipt_taken(&mut self) {
        self.open_receipts = self.open_receipts.saturating_sub(1);
    }

    /// Bytes of the send budget that receipts take.
    pub(super) fn receipts_cost(&self) -> u64 {
        // They count until they are taken: an application that sends and never looks at its events has a
        // bounded number of them.
        u64::from(self.open_receipts) * cost(0)
    }

    /// Whether a `send` failed for want of room that is there now, of which no event tells yet.
    pub(super) fn owes_writable(&self, session: Option<&Session>) -> bool {
        let receipts = self.receipts_cost();
        let room = |session: &Session| session.sequencing.has_new_room(receipts);
        !self.writable_waits && session.is_some_and(room)
    }

    /// Whether there is news of the kinds that sending can bring about: the end, room to send, what the
    /// path carries, or what became of a packet.
    pub(super) fn has_news(&self, session: Option<&Session>) -> bool {
        self.ended.is_some()
            || matches!(self.narrowed, Some(Narrowed::Owed(_)))
            || self.owes_writable(session)
            || session.is_some_and(Session::has_receipts)
    }

    /// The next news. `is_connected`: the application can send to the peer.
    #[inline]
    pub(super) fn next(
        &mut self,
        mut session: Option<&mut Session>,
        is_connected: bool,
    ) -> Option<News> {
        if let Some(first) = self.first.take() {
            self.told = true;
            return Some(match first {
                First::Request => News::Request,
                First::Connected => News::Connected,
            });
        }
        // Once until the peer was read empty; and an application that reads without looking at its events
        // has one of these waiting, not one for each packet.
        let readable = |session: &Session| session.sequencing.is_readable();
        if !self.readable_told && !self.readable_waits && session.as_deref().is_some_and(readable) {
            (self.readable_told, self.readable_waits) = (true, true);
            return Some(News::Readable);
        }
        if self.owes_writable(session.as_deref()) {
            // Also of a peer that is parting, which could send nothing: the room is not told again.
            if let Some(session) = session.as_deref_mut() {
                session.sequencing.forget_refusals();
            }
            if is_connected {
                self.writable_waits = true;
                return Some(News::Writable);
            }
        }
        if let Some(Narrowed::Owed(bytes)) = self.narrowed {
            self.narrowed = Some(Narrowed::Waits(bytes));
            return Some(News::PathNarrowed(bytes));
        }
        let receipt = session.and_then(|session| session.sequencing.next_receipt());
        if let Some(receipt) = receipt.or_else(|| self.last_receipts.pop()) {
            // A second word on a packet is an event of its own, which has to be taken as well.
            self.open_receipts += u32::from(receipt.again);
            return Some(News::Receipt(receipt));
        }
        // Last of all: nothing follows `Disconnected` (C11).
        let (reason, undelivered) = self.ended.take()?;
        Some(News::Ended {
            reason,
            undelivered,
            told: self.told,
        })
    }
}
