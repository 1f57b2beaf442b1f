//! What a host has to tell the application of a peer, and when.

use super::session::Session;
use crate::event::DisconnectReason;
use crate::sequencing::{Receipt, Receipts, cost};

/// What the host has to tell the application, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    Request,
    Connected,
    Readable,
    Writable,
    /// The most bytes that datagrams have now.
    PathNarrowed(u16),
    Receipt(Receipt),
    /// Why, and how many packets were not delivered. `told`: the application knows the peer.
    Ended {
        reason: DisconnectReason,
        undelivered: u32,
        told: bool,
    },
}

/// How the application gets to know a peer.
#[derive(Clone, Copy, Debug)]
enum First {
    Request,
    Connected,
}

/// A path that has been found to carry no more than this, in bytes of a datagram.
#[derive(Clone, Copy, Debug)]
enum Narrowed {
    /// It is to be told.
    Owed(u16),
    /// The event waits for the application, and will say this.
    Waits(u16),
}

/// What is to be told, and what waits for the application, which takes events when it likes: of those
/// that may come again one of each waits at most.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// To be told before all else.
    first: Option<First>,
    /// The application knows of this peer: it called `connect`, or was told or asked about it.
    told: bool,
    /// `Readable` was told, and the peer was not read empty since.
    readable_told: bool,
    /// `Readable` waits for the application.
    readable_waits: bool,
    /// `Writable` waits for the application.
    writable_waits: bool,
    narrowed: Option<Narrowed>,
    /// Packets with a receipt that the application has not taken.
    open_receipts: u32,
    /// What was open at the end.
    last_receipts: Receipts,
    /// The end is to be told: why, and how many packets were not delivered.
    ended: Option<(DisconnectReason, u32)>,
}

impl Outbox {
    /// Of a peer that the application asked for.
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

    /// The path carries no more than this.
    pub(super) const fn on_narrowed(&mut self, bytes: u16) {
        self.narrowed = Some(match self.narrowed {
            Some(Narrowed::Waits(_)) => Narrowed::Waits(bytes),
            Some(Narrowed::Owed(_)) | None => Narrowed::Owed(bytes),
        });
    }

    /// A packet is sent, with a receipt or without.
    pub(super) fn on_sent(&mut self, has_receipt: bool) {
        self.open_receipts += u32::from(has_receipt);
    }

    /// The connection is closed, if there was one.
    pub(super) fn on_ended(&mut self, reason: DisconnectReason, session: Option<&mut Session>) {
        let mut undelivered = 0;
        if let Some(session) = session {
            undelivered = session.sequencing.totals().undelivered;
            self.last_receipts = session.sequencing.close();
        }
        self.ended = Some((reason, undelivered));
    }

    /// `receive` has found nothing.
    pub(super) const fn read_empty(&mut self) {
        self.readable_told = false;
    }

    /// The application has taken `Readable`. One that reads without looking at events has one that
    /// waits at most.
    pub(super) fn readable_taken(&mut self, is_readable: bool) {
        self.readable_waits = false;
        self.readable_told |= is_readable;
    }

    /// The application has taken `Writable`.
    pub(super) const fn writable_taken(&mut self) {
        self.writable_waits = false;
    }

    /// The application has taken `PathNarrowed`: what the path carries by now.
    pub(super) const fn narrowed_taken(&mut self) -> Option<u16> {
        match self.narrowed.take() {
            Some(Narrowed::Owed(bytes) | Narrowed::Waits(bytes)) => Some(bytes),
            None => None,
        }
    }

    /// The application has taken a receipt.
    pub(super) const fn receipt_taken(&mut self) {
        self.open_receipts = self.open_receipts.saturating_sub(1);
    }

    /// What receipts take of the send budget. They count until they are taken: an application that
    /// sends and never looks at events has a bounded number of them.
    pub(super) fn receipts_cost(&self) -> u64 {
        u64::from(self.open_receipts) * cost(0)
    }

    /// Whether a `send` failed for want of room that is there now.
    pub(super) fn owes_writable(&self, session: Option<&Session>) -> bool {
        let receipts = self.receipts_cost();
        let room = |session: &Session| session.sequencing.has_new_room(receipts);
        !self.writable_waits && session.is_some_and(room)
    }

    /// Whether there is something to tell that can come of sending: the end, room to send, what the
    /// path carries, or what became of a packet.
    pub(super) fn has_news(&self, session: Option<&Session>) -> bool {
        self.ended.is_some()
            || matches!(self.narrowed, Some(Narrowed::Owed(_)))
            || self.owes_writable(session)
            || session.is_some_and(Session::has_receipts)
    }

    /// The next thing to tell. `is_connected`: there is something to be sent to.
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
        let readable = |session: &Session| session.sequencing.is_readable();
        if !self.readable_told && !self.readable_waits && session.as_deref().is_some_and(readable) {
            (self.readable_told, self.readable_waits) = (true, true);
            return Some(News::Readable);
        }
        if self.owes_writable(session.as_deref()) {
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
            self.open_receipts += u32::from(receipt.again);
            return Some(News::Receipt(receipt));
        }
        let (reason, undelivered) = self.ended.take()?;
        Some(News::Ended {
            reason,
            undelivered,
            told: self.told,
        })
    }
}
