//! What the application answers to an [`Event::Request`](crate::Event::Request) (§2.3).

use rand_core::CryptoRng;

use super::{Address, Host, PeerId};
use crate::error::AnswerError;
use crate::frame::RefusalData;
use crate::peer::Peer;
use crate::time::Instant;

impl<R: CryptoRng, A: Address> Host<R, A> {
    /// Lets a peer in that [asked](crate::Event::Request). `Connected` follows: at once, or, if
    /// another peer of ours has the same address, when the newcomer has proved that it took its
    /// place.
    ///
    /// # Errors
    ///
    /// [`AnswerError::UnknownPeer`] if there is no such peer (any more),
    /// [`AnswerError::NotAsked`] if it does not wait for an answer.
    ///
    /// ```
    /// use porous_proto::{AnswerError, Instant};
    /// # use porous_proto::doc::example_request;
    ///
    /// let (mut host, peer) = example_request();
    /// host.accept(Instant::ZERO, peer)?;
    /// assert_eq!(host.accept(Instant::ZERO, peer), Err(AnswerError::NotAsked));
    /// # Ok::<(), AnswerError>(())
    /// ```
    pub fn accept(&mut self, now: Instant, peer: PeerId) -> Result<(), AnswerError> {
        let tick = self.advance(now);
        let pending = self.address(peer).is_some_and(|at| self.must_prove(at));
        self.asking(peer)?.admit(pending, tick.now);
        self.settle(peer.slot);
        Ok(())
    }

    /// Turns a peer away that [asked](crate::Event::Request), with up to 64 bytes that its
    /// application finds in [`Refusal::Application`](crate::Refusal::Application). Its
    /// `Disconnected` follows. Whoever was refused may ask again, with a new connection.
    ///
    /// # Errors
    ///
    /// [`AnswerError::TooLong`] for more than 64 bytes: the request still waits.
    /// [`AnswerError::UnknownPeer`] if there is no such peer (any more),
    /// [`AnswerError::NotAsked`] if it does not wait for an answer.
    ///
    /// ```
    /// use porous_proto::{AnswerError, Instant};
    /// # use porous_proto::doc::example_request;
    ///
    /// let (mut host, peer) = example_request();
    /// assert_eq!(host.refuse(Instant::ZERO, peer, &[0; 65]), Err(AnswerError::TooLong));
    /// host.refuse(Instant::ZERO, peer, b"the match has begun")?;
    /// # Ok::<(), AnswerError>(())
    /// ```
    pub fn refuse(&mut self, now: Instant, peer: PeerId, data: &[u8]) -> Result<(), AnswerError> {
        let tick = self.advance(now);
        let asking = self.asking(peer)?;
        let said = RefusalData::new(data).ok_or(AnswerError::TooLong)?;
        asking.refuse(said, tick.now);
        self.settle(peer.slot);
        Ok(())
    }

    /// Whether a newcomer has to prove itself by a datagram of its own connection: somebody else has
    /// its address, or its request may be an old one, of a connection that was forgotten early.
    pub(super) fn must_prove(&self, address: A) -> bool {
        let counts = |peer: &Peer| peer.state().is_live() && !peer.is_asked();
        self.now < self.forgetful_until || self.peers.find(address, counts).is_some()
    }

    fn asking(&mut self, peer: PeerId) -> Result<&mut Peer, AnswerError> {
        match self.peers.get_mut(peer) {
            Some(asking) if asking.is_asked() => Ok(asking),
            Some(other) if other.state().is_live() => Err(AnswerError::NotAsked),
            Some(_) | None => Err(AnswerError::UnknownPeer),
        }
    }
}
