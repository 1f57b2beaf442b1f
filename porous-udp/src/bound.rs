//! A host that is bound to its socket, and leaves it with a goodbye.

use core::mem;
use core::net::SocketAddr;
use core::time::Duration;
use std::io;
use std::thread;

#[cfg(feature = "seal")]
use porous_proto::seal::{Credentials, Security};
use porous_proto::{
    AnswerError, Bytes, ChannelId, ConnectError, ConnectionIds, ConnectionIdsError, Disconnect,
    Event, Host, Instant, Listen, ListenError, Payload, PeerId, Received, SendError, SendOptions,
    UnknownPeer,
};

#[cfg(feature = "trace")]
use getrandom::SysRng;
#[cfg(feature = "trace")]
use porous_trace::{About, RecordError, Recorder};
#[cfg(feature = "trace")]
use rand_core::UnwrapErr;

use crate::address::normalise;
#[cfg(feature = "trace")]
use crate::clock::unix_time;
#[cfg(feature = "log")]
use crate::log;
use crate::machine::{self, Machine};
use crate::outbox::{BATCH, Made, Outbox};
use crate::socket::{Socket, SocketStats};
use crate::suffixes::Suffixes;
use crate::{Clock, Command, CommandError, Executed, OsRng, SuffixError, SystemSocket};

/// A host, its socket, its clock, and the datagrams on their way from host to socket. When it is dropped,
/// each peer is told once that the connection ends.
#[derive(Debug)]
pub(crate) struct Bound<S: SystemSocket> {
    pub(crate) host: Machine,
    pub(crate) socket: Socket<S>,
    pub(crate) clock: Clock,
    #[cfg(feature = "seal")]
    pub(crate) time_of_day: crate::sealing::TimeOfDay,
    pub(crate) outbox: Outbox,
    pub(crate) suffixes: Suffixes,
    /// True if the socket had no room for the datagrams in the outbox, or if every address that has some
    /// refused them.
    pub(crate) is_full: bool,
    /// How long one call takes datagrams in, or makes and sends them.
    pub(crate) time_limit: Duration,
    #[cfg(feature = "log")]
    pub(crate) ignoring: log::Ignoring,
}

/// The verbs of an application, with the clock filled in: see the methods of
/// [`Endpoint`](crate::Endpoint).
impl<S: SystemSocket> Bound<S> {
    pub(crate) fn listen(&mut self, policy: Listen) -> Result<(), ListenError> {
        self.host.listen(policy)?;
        // Only a host that is asked has to answer from the address that was asked: a client's socket follows
        // the system's best route, which may change.
        self.socket.sources_wanted();
        #[cfg(feature = "log")]
        log::listens(policy);
        Ok(())
    }

    pub(crate) fn accept(&mut self, peer: PeerId) -> Result<(), AnswerError> {
        self.host.accept(self.clock.now(), peer)
    }

    pub(crate) fn refuse(&mut self, peer: PeerId, data: &[u8]) -> Result<(), AnswerError> {
        self.host.refuse(self.clock.now(), peer, data)
    }

    pub(crate) fn connect_with(
        &mut self,
        to: &[SocketAddr],
        greeting: &[u8],
    ) -> Result<PeerId, ConnectError> {
        let (now, fit) = (self.clock.now(), self.fit_addresses(to)?);
        self.host.set_envelope(self.suffixes.longest_of(&fit));
        let peer = self.host.connect_with(now, &fit, greeting)?;
        // Not always on: a pending error costs the next call, and only an attempt to connect has a use for
        // it.
        self.socket.ask_for_closed_ports(true);
        #[cfg(feature = "log")]
        log::connects(peer, &fit);
        Ok(peer)
    }

    #[cfg(feature = "seal")]
    pub(crate) fn connect_sealed(
        &mut self,
        to: &[SocketAddr],
        with: &Credentials,
    ) -> Result<PeerId, ConnectError> {
        let (now, fit) = (self.clock.now(), self.fit_addresses(to)?);
        self.host.set_envelope(self.suffixes.longest_of(&fit));
        let peer = self.host.connect_sealed(now, &fit, with)?;
        self.socket.ask_for_closed_ports(true);
        #[cfg(feature = "log")]
        log::connects(peer, &fit);
        Ok(peer)
    }

    #[cfg(feature = "seal")]
    pub(crate) fn set_security(&mut self, security: Security) {
        self.host.set_security(security);
    }

    /// The addresses at which a host can be. One bad address among good ones is left out; only if none is good is
    /// the first one's fault told.
    fn fit_addresses(&self, to: &[SocketAddr]) -> Result<Vec<SocketAddr>, ConnectError> {
        let mut bad = None;
        let mut fit = Vec::with_capacity(to.len());
        for to in to.iter().copied().map(normalise) {
            match self.socket.bad_address(to) {
                None => fit.push(to),
                Some(why) => bad = bad.or(Some(ConnectError::BadAddress(why))),
            }
        }
        match bad {
            Some(bad) if fit.is_empty() => Err(bad),
            Some(_) | None => Ok(fit),
        }
    }

    pub(crate) fn send<'p>(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        packet: impl Into<Payload<'p>>,
        options: impl Into<SendOptions>,
    ) -> Result<(), SendError> {
        self.host.send(peer, channel, packet, options)
    }

    pub(crate) fn broadcast(
        &mut self,
        channel: ChannelId,
        packet: impl Into<Bytes>,
        options: impl Into<SendOptions>,
    ) -> Vec<(PeerId, SendError)> {
        self.host.broadcast(channel, packet, options)
    }

    pub(crate) fn cancel(&mut self, peer: PeerId, channel: ChannelId, token: u64) -> bool {
        self.host.cancel(peer, channel, token)
    }

    pub(crate) fn receive(&mut self, peer: PeerId) -> Option<Received> {
        self.host.receive(peer)
    }

    pub(crate) fn poll_event(&mut self) -> Option<Event<SocketAddr>> {
        let event = self.host.poll_event();
        #[cfg(feature = "log")]
        event.as_ref().inspect(|event| log::event(event));
        event
    }

    pub(crate) fn disconnect(&mut self, peer: PeerId, how: Disconnect) -> Result<(), UnknownPeer> {
        self.host.disconnect(self.clock.now(), peer, how)
    }

    pub(crate) fn disconnect_all(&mut self, how: Disconnect) {
        self.host.disconnect_all(self.clock.now(), how);
    }

    pub(crate) fn drain(&mut self, reason: u32, deadline: Duration) {
        self.host.drain(self.clock.now(), reason, deadline);
    }

    pub(crate) fn set_channel_rate(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        bytes_a_second: u32,
    ) -> Result<(), SendError> {
        self.host.set_channel_rate(peer, channel, bytes_a_second)
    }

    pub(crate) fn set_send_rate(&mut self, peer: PeerId, rate: u32) -> Result<(), SendError> {
        self.host.set_send_rate(peer, rate)
    }

    pub(crate) fn set_receive_rate(&mut self, peer: PeerId, rate: u32) -> Result<(), SendError> {
        self.host.set_receive_rate(peer, rate)
    }

    pub(crate) fn set_host_send_rate(&mut self, bytes_a_second: u32) {
        self.host.set_host_send_rate(bytes_a_second);
    }

    pub(crate) fn set_connection_ids(
        &mut self,
        ids: ConnectionIds,
    ) -> Result<(), ConnectionIdsError> {
        self.host.set_connection_ids(ids)
    }

    pub(crate) fn set_suffix(&mut self, to: SocketAddr, suffix: &[u8]) -> Result<(), SuffixError> {
        let to = normalise(to);
        if self.host.peer_at(to).is_some() {
            return Err(SuffixError::Connected);
        }
        self.suffixes.set(to, suffix)
    }

    pub(crate) fn execute(&mut self, command: Command) -> Result<Executed, CommandError> {
        command.execute(self)
    }

    pub(crate) const fn set_time_limit(&mut self, limit: Duration) {
        self.time_limit = limit;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.outbox.is_empty() && self.host.is_empty()
    }

    pub(crate) const fn socket_stats(&self) -> SocketStats {
        self.socket.stats()
    }

    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }

    pub(crate) const fn host(&self) -> &Host<OsRng> {
        machine::host(&self.host)
    }

    #[cfg(feature = "trace")]
    pub(crate) fn record(&mut self, recorder: Recorder) -> Result<(), RecordError> {
        let since = Duration::from_micros(self.clock.now().as_micros());
        let began = unix_time().saturating_sub(since);
        let began = u64::try_from(began.as_micros()).unwrap_or_default();
        // An address that the system does not tell is only missing in the trace.
        let about = About::new(self.local_addr().ok(), began);
        self.host.record(recorder, about, UnwrapErr(SysRng))
    }

    #[cfg(feature = "trace")]
    pub(crate) const fn recording_error(&mut self) -> Option<io::Error> {
        self.host.recording_error()
    }

    #[cfg(feature = "trace")]
    pub(crate) fn end_recording(&mut self) -> io::Result<()> {
        self.host.end_recording()
    }
}

impl<S: SystemSocket> Bound<S> {
    /// Sends what waits, as far as the socket and the addresses take it. Returns true if more datagrams may
    /// be made: one address that refuses stops no other.
    pub(crate) fn flush(&mut self, now: Instant) -> io::Result<bool> {
        // False after a call that has not taken all: the next datagram goes alone, and tells why.
        let mut may_be_many = true;
        while let Some((batch, datagrams)) = self.outbox.first() {
            if mem::take(&mut may_be_many) {
                let (sent, is_all) = self.socket.send_many(self.outbox.singles());
                if sent > 0 {
                    self.outbox.advance_singles(sent);
                    may_be_many = is_all;
                    continue;
                }
            }
            if batch.to_stranger && !self.socket.has_room_for(batch.to, now) {
                self.withhold();
                continue;
            }
            match self.socket.send(batch, datagrams) {
                Ok(Some(sent)) => {
                    let to = batch.to;
                    may_be_many = true;
                    self.outbox.advance(sent.bytes);
                    if sent.is_unreachable {
                        self.host.handle_unreachable(now, to);
                    }
                }
                Ok(None) if batch.to_stranger => self.withhold(),
                Ok(None) => self.outbox.refuse(now),
                Err(error) => {
                    let lost = datagrams.len();
                    // The batch is given up, so that the host goes on if the socket was not broken after all.
                    self.outbox.advance(lost);
                    return Err(error);
                }
            }
        }
        self.outbox.pack();
        self.is_full = match self.outbox.refused() {
            Some(0) => false,
            Some(refused) => {
                let peers = self.host.peers().count();
                let largest = self.largest();
                let has_room = self.outbox.room(largest).is_some();
                // Old datagrams are given up only if others could use their room, or no peer is left that
                // waits for them: in a pause of the network they may still arrive.
                if self.outbox.has_passed() || !has_room || peers == 0 {
                    let lost = self.outbox.drop_old(now);
                    self.socket.count_lost(lost);
                }
                // As many addresses refuse as there are peers: the socket has no room for any of them.
                peers <= refused || !has_room
            }
            None => true,
        };
        Ok(!self.is_full)
    }

    /// Drops the first answer to a stranger: it does not wait, or forged requests would fill the outbox.
    fn withhold(&mut self) {
        let answers = self.outbox.drop_first();
        self.socket.count_withheld(answers);
    }

    /// Makes datagrams, as many as the outbox has room for. One for which `take` returns true does not leave.
    /// Returns true if any was made for the outbox or taken.
    pub(crate) fn fill(&mut self, now: Instant, take: impl FnMut(Made, &[u8]) -> bool) -> bool {
        let largest = self.largest();
        if self.suffixes.is_empty() {
            return self.make(now, largest, |_, _, len| Some(len), take);
        }
        let suffixes = mem::take(&mut self.suffixes);
        let append = |to, room: &mut [u8], len| suffixes.append(to, room, len);
        let any = self.make(now, largest, append, take);
        self.suffixes = suffixes;
        any
    }

    /// Bytes of room that a datagram of this host needs.
    pub(crate) fn largest(&self) -> usize {
        let longest = self.host.max_datagram_size() + self.suffixes.longest();
        longest.min(BATCH)
    }

    /// As [`fill`](Self::fill), of datagrams of up to `largest` bytes. `wrap` is told where a datagram of a length
    /// goes, may add to it in its room, and returns its length then; `None` if UDP does not carry it.
    fn make(
        &mut self,
        now: Instant,
        largest: usize,
        wrap: impl Fn(SocketAddr, &mut [u8], usize) -> Option<usize>,
        mut take: impl FnMut(Made, &[u8]) -> bool,
    ) -> bool {
        let max_segments = self.socket.max_segments();
        let mut any = false;
        while let Some(room) = self.outbox.room(largest) {
            let Some(transmit) = self.host.poll_transmit(now, room) else {
                break;
            };
            let (to, ecn, to_stranger) = (transmit.to, transmit.ecn, transmit.to_stranger);
            let len = transmit.datagram.len();
            let Some(len) = wrap(to, room, len) else {
                self.socket.count_lost(1);
                continue;
            };
            let made = Made {
                to,
                ecn,
                to_stranger,
                len,
            };
            if !take(made, &room[..len]) {
                any = true;
                self.push(made, max_segments, now);
            }
        }
        any
    }

    /// Takes a datagram that was written into the room for it.
    pub(crate) fn push(&mut self, made: Made, max_segments: usize, now: Instant) {
        if !self.outbox.push(made, max_segments, now) {
            self.socket.count_lost(1);
        }
    }

    /// Tells each peer once, as far as the socket has room now.
    fn say_goodbye(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        self.host.disconnect_all(now, Disconnect::Now { reason: 0 });
        self.outbox.begin();
        while self.flush(now)? && self.fill(now, |_, _| false) {}
        Ok(())
    }
}

impl<S: SystemSocket> Drop for Bound<S> {
    fn drop(&mut self) {
        // The host itself may have panicked, and a second panic would abort the program.
        if !thread::panicking() {
            // An error is ignored: a peer that is not told notices by its timeout.
            let _unsent = self.say_goodbye();
        }
    }
}
