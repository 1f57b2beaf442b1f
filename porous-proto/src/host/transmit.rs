//! The order of a host's output: replies to strangers, then the peers that are ready, in turns.

use rand_core::CryptoRng;

use super::{Address, Host};
use crate::event::Transmit;
use crate::time::Instant;
use crate::transfer::Written;

impl<R: CryptoRng, A: Address> Host<R, A> {
    /// The size of the buffer that [`poll_transmit`](Self::poll_transmit) needs: no datagram of this
    /// host is longer. The largest of [`Config::max_datagram`](crate::Config::max_datagram),
    /// [`path_mtu_discovery`](crate::Config::path_mtu_discovery) and
    /// [`request_size`](crate::Config::request_size), so at least 512. It is a good size for receiving
    /// as well if it is at least 1200: others may pad their requests to that.
    ///
    /// ```
    /// use porous_proto::{Config, Host};
    /// # use porous_proto::doc::example_rng;
    ///
    /// let host = Host::<_, u32>::new(Config::new(), example_rng());
    /// assert_eq!(host.max_datagram_size(), 1200);
    /// ```
    pub fn max_datagram_size(&self) -> usize {
        let largest = self.config.max_datagram.max(self.config.path_mtu);
        usize::from(largest.max(self.config.request_size))
    }

    /// The next datagram to be sent, written into `buf`. To be called until it returns `None`:
    /// after every input or command that may have caused output, and after
    /// [`handle_timeout`](Self::handle_timeout).
    ///
    /// # Panics
    ///
    /// If `buf` is shorter than [`max_datagram_size`](Self::max_datagram_size), before anything
    /// changes.
    ///
    /// ```
    /// # use porous_proto::{doc::example_pair, Instant};
    /// # let (mut host, _) = example_pair();
    /// # let now = Instant::ZERO;
    /// let mut buf = [0; 1200];
    /// while let Some(transmit) = host.poll_transmit(now, &mut buf) {
    ///     let _ = (transmit.to, transmit.datagram); // to the socket
    /// }
    /// ```
    pub fn poll_transmit<'b>(
        &mut self,
        now: Instant,
        buf: &'b mut [u8],
    ) -> Option<Transmit<'b, A>> {
        assert!(
            buf.len() >= self.max_datagram_size(),
            "the buffer is too short: see max_datagram_size"
        );
        let to_stranger = !self.replies.is_empty();
        let (to, written) = self.write_next(now, buf)?;
        let len = written.len;
        self.stats.datagrams_sent += 1;
        self.stats.bytes_sent += len as u64;
        Some(Transmit {
            to,
            ecn: written.ecn,
            dont_fragment: written.dont_fragment,
            to_stranger,
            datagram: &buf[..len],
        })
    }

    fn write_next(&mut self, now: Instant, buf: &mut [u8]) -> Option<(A, Written)> {
        let tick = self.advance(now);
        if let Some((to, len)) = self.replies.poll_transmit(&self.offer, buf) {
            self.cap.count(len as u64);
            return Some((to, Written::plain(len)));
        }
        loop {
            let tick = self.look_for_room(tick);
            let slot = self.schedule.first(!tick.is_full)?;
            let Some((&main, peer, roaming)) = self.peers.place_mut(slot) else {
                self.schedule.turn_over(!tick.is_full, false);
                continue;
            };
            let roaming = roaming.as_mut();
            let written = roaming.and_then(|it| it.poll_transmit(peer, tick.now, buf));
            let (elsewhere, written) = match written {
                Some((to, written)) => (Some(to), Some((0, written))),
                None => (None, peer.poll_transmit(&self.offer, tick, buf)),
            };
            let (gate, has_news) = (peer.gate(), peer.has_news());
            self.schedule.set_deadline(slot, peer.next_deadline());
            self.schedule.turn_over(!tick.is_full, written.is_some());
            if tick.is_full && gate.waits && written.is_none() {
                self.schedule.set_waiting(slot);
            }
            let way = written.map_or(0, |(way, _)| way);
            let at = || self.peers.address_at(slot, way).unwrap_or(main);
            let address = elsewhere.unwrap_or_else(at);
            // Sending may end a peer, and may make the room that `Writable` is owed for.
            if has_news {
                self.settle(slot);
            }
            if let Some((_, written)) = written {
                if gate.data {
                    self.cap.spend(written.len as u64, tick.now);
                } else {
                    self.cap.count(written.len as u64);
                }
                return Some((address, written));
            }
        }
    }
}
