//! The part of a session that seals: how it opens what comes, and the last word of its handshake
//! (`docs/deviations.md` D17).

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::frame::Short;
use crate::seal::datagram;
use crate::seal::noise::Keys;
use crate::seal::phases::{Limits, Opener, Sealer};
use crate::seal::{Crypto, Proved, Secured};
use crate::time::{Instant, Micros};

/// Which of the two hosts this one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Initiator,
    Responder,
}

/// What a handshake has come to.
#[derive(Debug)]
pub(crate) struct Sealed {
    pub(crate) crypto: Crypto,
    pub(crate) keys: Keys,
    pub(crate) proved: Proved,
    pub(crate) side: Side,
    /// When this host goes on to its next key.
    pub(crate) limits: Limits,
    /// The responder's acknowledgement with message 2; empty at the initiator.
    pub(crate) reply: Box<[u8]>,
}

impl Sealed {
    /// What the application and goodbyes need of it.
    pub(super) fn secured(&self) -> Box<Secured> {
        let proved = self.proved.clone();
        Box::new(Secured::new(self.crypto, &self.keys, proved))
    }

    /// What seals the frames of this host, from the id `first` on.
    pub(super) fn sealer(&self, first: u64, now: Instant) -> Sealer {
        let key = match self.side {
            Side::Initiator => &self.keys.initiator,
            Side::Responder => &self.keys.responder,
        };
        Sealer::new(self.crypto, key, first, now, self.limits)
    }
}

/// The part of a session that opens what comes.
#[derive(Debug)]
pub(super) struct Sealing {
    opener: Opener,
    /// The acknowledgement of the remote host's request, until a datagram of it has opened: by then the
    /// remote host has it. Message 2 is made once, as it takes an ephemeral key.
    reply: Option<Box<[u8]>>,
}

impl Sealing {
    /// `first`: the id of the first frame of the remote host.
    pub(super) fn new(sealed: Sealed, first: u64) -> Self {
        let key = match sealed.side {
            Side::Initiator => &sealed.keys.responder,
            Side::Responder => &sealed.keys.initiator,
        };
        Self {
            opener: Opener::new(sealed.crypto, key, first),
            reply: (!sealed.reply.is_empty()).then_some(sealed.reply),
        }
    }

    /// Opens a frame into `scratch`; `None` if it does not open.
    pub(super) fn open<'s>(
        &mut self,
        frame: (&Short<'s>, u64),
        now: Instant,
        timeout: Micros,
        scratch: &'s mut Vec<u8>,
    ) -> Option<Short<'s>> {
        let opened = datagram::open(&mut self.opener, frame, now, timeout, scratch)?;
        self.reply = None;
        Some(opened)
    }

    /// The acknowledgement of the remote host's request; empty if the remote host needs none (any more).
    pub(super) fn reply(&self) -> &[u8] {
        self.reply.as_deref().unwrap_or_default()
    }

    #[cfg(test)]
    pub(super) const fn wear_out_for_test(&mut self) {
        self.opener.wear_out_for_test();
    }

    /// Whether so many datagrams did not open that the connection has to end.
    pub(super) const fn is_worn_out(&self) -> bool {
        self.opener.is_worn_out()
    }
}
