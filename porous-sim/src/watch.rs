//! Observes the calls of a host: checks that each costs no more steps than it may, and that strangers
//! get no more bytes than they sent.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use porous_proto::Disposition;
use porous_proto::hooks::work;

use crate::SimAddress;

/// The steps that any datagram may cost, and those that each of its bytes may cost in addition.
const STEPS: [u64; 2] = [600, 40];

/// The steps that a sent datagram, and each of its bytes, allow in addition, once: an acknowledgement
/// may settle at one blow all that was sent since the last one.
const SETTLED: [u64; 2] = [8, 1];

/// The traffic between a host and one address.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    received: u64,
    sent: u64,
    /// True once the address has proved that it is there, or the application has named it.
    known: bool,
    /// True if a peer may have moved to the address: the host may challenge it, with three bytes for
    /// each that came.
    asked: bool,
}

/// What one host did.
#[derive(Debug)]
pub(crate) struct Watch<A> {
    accounts: BTreeMap<A, Account>,
    /// The addresses from which a datagram has arrived since the host was called.
    heard: Vec<A>,
    /// The steps that settling sent datagrams may cost.
    credit: u64,
}

impl<A: SimAddress> Watch<A> {
    pub(crate) const fn new() -> Self {
        Self {
            accounts: BTreeMap::new(),
            heard: Vec::new(),
            credit: 0,
        }
    }

    /// The host is about to be called.
    pub(crate) fn wakes(&mut self) {
        self.heard.clear();
    }

    /// The application connects to this address.
    pub(crate) fn names(&mut self, to: A) {
        self.accounts.entry(to).or_default().known = true;
    }

    /// The host was given a datagram; `before` is the count of steps before that, `place` the address
    /// of the peer that took it.
    pub(crate) fn received(
        &mut self,
        (from, len): (A, usize),
        before: u64,
        taken: Disposition,
        place: Option<A>,
    ) {
        let (steps, len) = (work::done() - before, len as u64);
        let excess = steps.saturating_sub(STEPS[0] + STEPS[1] * len);
        assert!(
            excess <= self.credit,
            "{steps} steps for a datagram of {len} bytes"
        );
        self.credit -= excess;
        let account = self.accounts.entry(from).or_default();
        account.received += len;
        let taken = matches!(taken, Disposition::Accepted(_) | Disposition::Handled(_));
        account.known |= taken && place == Some(from);
        account.asked |= taken;
        if !account.known {
            self.heard.push(from);
        }
    }

    /// The host sends a datagram.
    pub(crate) fn sent(&mut self, to: A, len: usize) {
        let account = self.accounts.entry(to).or_default();
        account.sent += len as u64;
        self.credit += SETTLED[0] + SETTLED[1] * len as u64;
        if account.known {
            return;
        }
        let Account {
            sent,
            received,
            asked,
            ..
        } = *account;
        assert!(
            sent <= if asked { 3 * received } else { received },
            "{sent} bytes to a stranger for {received}"
        );
        assert!(self.heard.contains(&to), "a stranger is sent to by a timer");
    }

    /// True if this address was ever taken for a peer's.
    pub(crate) fn knows(&self, address: A) -> bool {
        self.accounts
            .get(&address)
            .is_some_and(|account| account.known)
    }
}
