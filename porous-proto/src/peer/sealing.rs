//! How an attempt becomes a sealed connection: by message 2 of the host that was asked, or by message 1 of one that
//! connects to this one as well. And when the keys of a connection are worn out.

use alloc::vec::Vec;

use super::session::Session;
use super::state::Phase;
use super::{Peer, Sealed, SealedAttempt, Settings, encoded};
use crate::event::Ignored;
use crate::frame::{Connect, SecondAuth};
use crate::time::Instant;

/// A remote host with which an attempt has sealed.
#[derive(Debug)]
pub(crate) struct Met<'a> {
    /// The address of the attempt at which it is.
    pub(crate) way: usize,
    /// Its request.
    pub(crate) remote: &'a Connect,
    /// What the handshake has come to.
    pub(crate) sealed: Sealed,
    /// The greeting of its application.
    pub(crate) said: &'a [u8],
}

impl Peer {
    /// Takes message 2 of the handshake of a sealed connection, from this address of an attempt.
    pub(crate) fn on_second(
        &mut self,
        way: usize,
        second: &SecondAuth<'_>,
        ours: &Settings,
        now: Instant,
    ) -> Result<(), Ignored> {
        let own = self.identity;
        // A copy of what has been taken changes nothing.
        let handshake = self.attempt().ok_or(Ignored::WrongState)?;
        let found = handshake.finish(&own, &ours.offer, second, now);
        let (sealed, remote, said) = found.ok_or(Ignored::Unauthenticated)?;
        let met = Met {
            way,
            remote: &remote,
            sealed,
            said: &said,
        };
        self.accept_sealed(met, ours, now)
    }

    /// Takes message 1 of a host that connects to us as well, which is answered.
    pub(crate) fn on_first(
        &mut self,
        met: Met<'_>,
        ours: &Settings,
        now: Instant,
    ) -> Result<(), Ignored> {
        self.accept_sealed(met, ours, now)?;
        self.answer_due = true;
        Ok(())
    }

    /// Ends a sealed attempt with the host that it has met.
    fn accept_sealed(
        &mut self,
        met: Met<'_>,
        ours: &Settings,
        now: Instant,
    ) -> Result<(), Ignored> {
        let Met {
            way,
            remote,
            sealed,
            said,
        } = met;
        // None if its application is another one: then its request was refused already.
        let session = self.session_with(remote, ours);
        let mut session = session.ok_or(Ignored::WrongState)?;
        self.secured = Some(sealed.secured());
        session.seal(sealed, ours.config.first_id, now);
        self.accept_remote(way, remote, session, now);
        self.greeting = said.into();
        Ok(())
    }

    /// The sealed attempt that this is, and its request as the remote host has it; `None` if this is none.
    pub(crate) fn sealed_attempt(&self, ours: &Settings) -> Option<(&SealedAttempt, Vec<u8>)> {
        let Phase::Attempt { handshake, .. } = &self.phase else {
            return None;
        };
        let request = self.identity.connect_sealed(0, &ours.offer);
        Some((handshake.sealing()?, encoded(&request).ok()?))
    }

    /// Whether 2^36 datagrams were forged, after which the connection is not safe any more.
    pub(super) fn is_worn_out(&self) -> bool {
        self.phase.session().is_some_and(Session::is_worn_out)
    }

    /// Whether the key of the connection may seal no further frame.
    pub(super) fn is_key_worn_out(&self) -> bool {
        let session = self.phase.session();
        session.is_some_and(|session| session.transfer.is_key_worn_out())
    }

    /// Notes that a host could not prove that it is the one that was meant.
    pub(crate) fn note_failure(&mut self) {
        if let Some(handshake) = self.attempt() {
            handshake.note_failure();
        }
    }
}
