//! Observes the calls of a host, and checks that each costs no more steps than it may, and that strangers
//! get no more bytes than they sent.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use porous_proto::Disposition;
use porous_proto::hooks::work;

use crate::SimAddress;

/// The steps that a received datagram may cost, and the steps that each of its bytes may cost in addition.
const STEPS: [u64; 2] = [600, 40];

/// The steps that a sent datagram, and each of its bytes, add once to what received ones may cost: one
/// acknowledgement may settle everything that was sent since the last one.
const SETTLED: [u64; 2] = [8, 1];

/// The traffic between a host and one address.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    received: u64,
    sent: u64,
    /// True once a peer at the address has proved that it receives there, or the application connected to it.
    known: bool,
    /// True if a peer may have moved to the address: the host may challenge it, with three bytes for
    /// each that came.
    asked: bool,
}

/// The observations of one host.
#[derive(Debug)]
pub(crate) struct Watch<A> {
    accounts: BTreeMap<A, Account>,
    /// Unknown addresses from which a datagram has arrived in this call of the host.
    heard: Vec<A>,
    /// Steps that sent datagrams have added and that no received one has used.
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

    /// Notes that the host is about to be called.
    pub(crate) fn wakes(&mut self) {
        self.heard.clear();
    }

    /// Notes that the application connects to this address.
    pub(crate) fn names(&mut self, to: A) {
        self.accounts.entry(to).or_default().known = true;
    }

    /// Checks the cost of a datagram that the host was given. `before` is the count of steps before the call,
    /// `place` the address at which the peer that took the datagram is, or from which it has asked.
    pub(crate) fn received(
        &mut self,
        (from, len): (A, usize),
        before: u64,
        taken: Disposition,
        place: Option<A>,
    ) {
        let (steps, len) = (work::done() - before, len as u64);
        let excess = steps.saturating_sub(STEPS[0] + STEPS[1] * len);
        // What is ignored settles nothing: it may cost no more than the datagram of a stranger.
        let is_ignored = matches!(taken, Disposition::Ignored(_));
        let credit = if is_ignored { 0 } else { self.credit };
        assert!(
            excess <= credit,
            "{steps} steps for a datagram of {len} bytes"
        );
        // Only once: the credit of a sent datagram pays for one acknowledgement.
        self.credit -= excess;
        let account = self.accounts.entry(from).or_default();
        account.received += len;
        let taken = matches!(taken, Disposition::Accepted(_) | Disposition::Handled(_));
        // A datagram of a peer from another address does not prove that the peer receives there.
        account.known |= taken && place == Some(from);
        account.asked |= taken;
        if !account.known {
            self.heard.push(from);
        }
    }

    /// Checks that the host may send a datagram of this length to this address.
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
        let heard = self.heard.iter().position(|from| *from == to);
        let heard = heard.expect("a stranger is sent to by a timer, or answered twice");
        // Each datagram of a stranger is answered once at most. What is at an address where a peer may be now is a path
        // to be checked, and no answer.
        if !asked {
            self.heard.swap_remove(heard);
        }
    }

    /// Writes all that decides what this host may send, and in how many steps. What comes from and goes to hosts that
    /// have proved to be at their addresses is not limited.
    pub(crate) fn view(&self, out: &mut impl fmt::Write) -> fmt::Result {
        let Self {
            accounts,
            heard,
            credit,
        } = self;
        for (address, account) in accounts {
            match account.known {
                true => write!(out, "{address:?} ")?,
                false => write!(out, "{address:?} {account:?} ")?,
            }
        }
        write!(out, "{heard:?} {credit}")
    }

    /// True if this address was ever taken for a peer's.
    pub(crate) fn knows(&self, address: A) -> bool {
        self.accounts
            .get(&address)
            .is_some_and(|account| account.known)
    }
}
