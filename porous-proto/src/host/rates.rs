//! How fast a host sends: to each peer, and to all of them (`docs/deviations.md` C14, P11).

use core::time::Duration;

use rand_core::CryptoRng;

use super::{Address, Host, PeerId};
use crate::error::SendError;
use crate::peer::{Peer, Tick};

/// A host that is called for each datagram has a lot to do: it is called this much later.
const QUANTUM: Duration = Duration::from_millis(1);

impl<R: CryptoRng, A: Address> Host<R, A> {
    /// Changes the most that this host sends to a peer, in bytes a second, from 1 to `u32::MAX`, which
    /// is no cap; 0 counts as 1. Before, it is what [`Config::bandwidth`](crate::Config::bandwidth)
    /// says. What the remote host wants to receive holds beside it.
    ///
    /// All UDP payload counts, but only data is held back: acknowledgements, signalling and probes
    /// always leave, and so do they where they alone are more than the cap; data has an eighth of it
    /// left even then. No second has more than the cap, a fiftieth of it and one datagram; if the host
    /// is stepped less often than fifty times a second, than the cap, one step's worth and one
    /// datagram. [`Policy::Paper`](crate::Policy::Paper) keeps to it as far as (10) of the paper does.
    ///
    /// # Errors
    ///
    /// [`SendError::UnknownPeer`], or [`SendError::NotConnected`] while connecting.
    ///
    /// ```
    /// # use porous_proto::doc::example_pair;
    /// # let (mut host, peer) = example_pair();
    /// host.set_send_rate(peer, 20_000)?;
    /// # Ok::<(), porous_proto::SendError>(())
    /// ```
    pub fn set_send_rate(&mut self, peer: PeerId, bytes_a_second: u32) -> Result<(), SendError> {
        self.change_peer(peer, |peer| peer.set_send_rate(bytes_a_second))
    }

    /// Changes the most that this host wants to receive from a peer, in bytes a second, likewise. The
    /// remote host is told at once, and again until it says that it knows; it then sends no more, if
    /// it is honest. The newest call counts. Nothing is held back here.
    ///
    /// # Errors
    ///
    /// As of [`set_send_rate`](Self::set_send_rate).
    ///
    /// ```
    /// # use porous_proto::doc::example_pair;
    /// # let (mut host, peer) = example_pair();
    /// host.set_receive_rate(peer, 20_000)?;
    /// # Ok::<(), porous_proto::SendError>(())
    /// ```
    pub fn set_receive_rate(&mut self, peer: PeerId, bytes_a_second: u32) -> Result<(), SendError> {
        self.change_peer(peer, |peer| peer.set_receive_rate(bytes_a_second))
    }

    /// Changes the most that this host sends to all peers together
    /// ([`Config::host_send_rate`](crate::Config::host_send_rate)), in bytes a second, from 1 to
    /// `u32::MAX`, which is no cap; 0 counts as 1.
    ///
    /// ```
    /// # use porous_proto::doc::example_pair;
    /// # let (mut host, _) = example_pair();
    /// host.set_host_send_rate(1_250_000);
    /// ```
    pub fn set_host_send_rate(&mut self, bytes_a_second: u32) {
        let tick = self.advance(self.now);
        self.cap.set_rate(bytes_a_second.max(1), tick.now);
        self.limits.set_host_rate(bytes_a_second.max(1), tick.now);
        self.look_for_room(tick);
    }

    fn change_peer(
        &mut self,
        id: PeerId,
        change: impl FnOnce(&mut Peer) -> Result<(), SendError>,
    ) -> Result<(), SendError> {
        change(self.peers.get_mut(id).ok_or(SendError::UnknownPeer)?)?;
        self.settle(id.slot);
        Ok(())
    }

    /// Whether data may leave now, by the cap of all peers.
    pub(super) fn look_for_room(&mut self, tick: Tick) -> Tick {
        let until = self.cap.hold(tick.step, tick.now);
        self.room_at = until.map_or(tick.now, |until| until.max(tick.now + QUANTUM));
        Tick {
            is_full: until.is_some(),
            ..tick
        }
    }
}
