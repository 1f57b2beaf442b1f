//! A connection: the sequencing layer and the transfer layer, and what passes between them (§3, Figure
//! 4).

use alloc::boxed::Box;
#[cfg(feature = "seal")]
use alloc::vec::Vec;
use core::time::Duration;

use arrayvec::ArrayVec;

use super::agreement::Agreement;
use super::effort::Effort;
#[cfg(feature = "seal")]
use super::sealed_session::{Sealed, Sealing};
use super::settings::{Identity, Role, Tick};
use crate::buffers::{Buffers, Memory};
use crate::config::Config;
use crate::error::SendError;
use crate::event::{Ecn, Ignored};
#[cfg(feature = "record")]
use crate::frame::Blank;
#[cfg(feature = "seal")]
use crate::frame::Malformed;
use crate::frame::{
    Body, Check, Connect, ConnectionId, Control, Ids, MAX_MESSAGES, Message, Mode, Offer, Packet,
    Short,
};
use crate::hooks::canary::{Bug, strikes};
use crate::options::SendOptions;
use crate::payload::Payload;
use crate::sequencing::{Delivered, Sequencing, Verdict, cost};
use crate::stats::ModeCounts;
use crate::time::Instant;
use crate::timer::{Timer, earliest};
use crate::transfer::{
    Acked, Arrival, Incoming, PathWords, Transfer, TransferParams, Urgency, Written,
};
use crate::wire::NoRoom;

/// The number of packets, and of the bytes in them, by mode.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) packets: ModeCounts,
    pub(super) bytes: ModeCounts,
}

impl Counts {
    const fn count(&mut self, mode: Mode, len: usize) {
        self.packets.add(mode, 1);
        self.bytes.add(mode, len as u64);
    }
}

/// A datagram of which everything was checked, with its ids recovered. Only want of room can still refuse
/// it.
struct Checked<'b, 'p> {
    /// The id of its frame.
    frame: u64,
    /// True if no frame with this id came before.
    is_new: bool,
    acked: Option<Acked<'b>>,
    messages: &'b [Message<&'p [u8]>],
    /// The bytes that the messages take of the receive budget.
    needed: u64,
}

/// A connection: its two layers, and what they share.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) agreement: Agreement,
    check: Check,
    /// There if the connection is sealed.
    #[cfg(feature = "seal")]
    sealing: Option<Box<Sealing>>,
    pub(super) transfer: Transfer,
    pub(super) sequencing: Sequencing,
    /// Packets that were accepted by `send`.
    pub(super) sent: Counts,
    /// Packets that the application has received.
    pub(super) received: Counts,
    effort: Effort,
}

impl Session {
    /// A session with the host that has sent this request or acknowledgement.
    pub(super) fn new(
        own: &Identity,
        remote: &Connect,
        agreement: Agreement,
        config: &Config,
    ) -> Box<Self> {
        let connection_id = remote.connection_id;
        let check = Check {
            integrity: agreement.integrity,
            ours: own.nonce,
            theirs: remote.nonce_self,
        };
        // Each host gives the other up after its own timeout: pings have to satisfy the shorter one. A
        // host that does not say is taken to be as patient as this one (`deviations.md` D13).
        let timeouts = &config.timeouts;
        let remote_timeout = agreement.remote_timeout().unwrap_or(Duration::MAX);
        let params = TransferParams {
            connection_id,
            context: agreement.context(),
            check,
            max_datagram: agreement.max_datagram,
            path_mtu: agreement.path_mtu,
            reserve: agreement.reserve(connection_id),
            window: agreement.frame_window,
            behind: agreement.behind(),
            send_rate: agreement.send_rate,
            receive_rate: agreement.receive_rate,
            remote_rate: agreement.remote_rate,
            timeout: timeouts.timeout.min(remote_timeout).into(),
            policy: config.policy,
            congestion: config.controller(),
            keepalive: timeouts.keepalive.into(),
            ecn: config.path.ecn,
            secret: own.secret,
        };
        let (first_id, age) = (config.first_id, timeouts.unreliable_age);
        let sequencing = Sequencing::new(agreement.sequencing(config), first_id, age);
        // Boxed here and not by the caller: a session is large, and a microcontroller's stack is not.
        Box::new(Self {
            agreement,
            check,
            #[cfg(feature = "seal")]
            sealing: None,
            transfer: Transfer::new(params, first_id),
            sequencing: sequencing.with_channels(config.channels.settings()),
            sent: Counts::default(),
            received: Counts::default(),
            effort: Effort::new(),
        })
    }

    /// Seals the session, of which no datagram has left yet. `first`: the id of the first frame of both
    /// hosts.
    #[cfg(feature = "seal")]
    pub(super) fn seal(&mut self, sealed: Sealed, first: u64, now: Instant) {
        self.transfer.seal(sealed.sealer(first, now));
        self.sealing = Some(Box::new(Sealing::new(sealed, first)));
    }

    #[cfg(all(test, feature = "seal"))]
    pub(super) fn wear_out_for_test(&mut self) {
        if let Some(sealing) = &mut self.sealing {
            sealing.wear_out_for_test();
        }
    }

    /// Whether 2^36 datagrams were forged, after which the connection is not safe any more.
    #[cfg(feature = "seal")]
    pub(super) fn is_worn_out(&self) -> bool {
        self.sealing.as_ref().is_some_and(|it| it.is_worn_out())
    }

    /// Writes the acknowledgement of the remote host's request, and returns its length in bytes: 0 if a
    /// sealed connection has shown that it came.
    pub(super) fn acknowledge(
        &self,
        own: &Identity,
        ours: &Offer,
        role: Role,
        buf: &mut [u8],
    ) -> Result<usize, NoRoom> {
        #[cfg(feature = "seal")]
        if let Some(sealing) = &self.sealing {
            let reply = sealing.reply();
            let place = buf.get_mut(..reply.len()).ok_or(NoRoom)?;
            place.copy_from_slice(reply);
            return Ok(reply.len());
        }
        own.acknowledge(self.remote_nonce(), ours, role, buf)
    }

    /// The random id of the remote host.
    pub(super) const fn remote_nonce(&self) -> u64 {
        self.check.theirs
    }

    /// The connection id that we put into our datagrams.
    pub(super) const fn remote_connection_id(&self) -> ConnectionId {
        self.transfer.remote_connection_id()
    }

    /// The length of the largest packet, in bytes.
    pub(super) fn max_packet(&self) -> usize {
        usize::try_from(self.agreement.max_packet).unwrap_or(usize::MAX)
    }

    /// The length of the largest packet that leaves as one message now, in bytes.
    pub(super) fn max_unfragmented(&self) -> usize {
        self.transfer.most_of_packet().min(self.max_packet())
    }

    #[cfg(any(test, feature = "audit"))]
    pub(super) fn audit(&self, audit: &mut crate::hooks::audit::Audit) {
        assert_eq!(self.timer().0, self.deadline(), "{:?}", self.timer());
        self.transfer.audit(audit);
        let longest = u64::from(self.agreement.path_mtu);
        self.sequencing.audit(audit, longest);
    }

    /// Queues a packet, if the send budget has room (`deviations.md` T8). `receipts`: the bytes of the
    /// budget that receipts take until the application takes them.
    #[inline]
    pub(super) fn send(
        &mut self,
        now: Instant,
        channel: u8,
        packet: Payload<'_>,
        (options, receipts): (SendOptions, u64),
        buffers: &mut Buffers,
    ) -> Result<(), SendError> {
        self.check_channel(channel)?;
        if packet.len() > self.max_packet() {
            return Err(SendError::TooLarge);
        }
        // Packets that are too old to be sent must not keep a new one out.
        self.sequencing.drop_expired(now);
        let (mode, len) = (options.mode, packet.len());
        if !self.sequencing.has_room(channel, mode, len, receipts) {
            return Err(SendError::Full);
        }
        self.sent.count(mode, len);
        // Copied only now: a packet that is refused costs nothing.
        let packet = packet.into_bytes(buffers);
        self.sequencing.send(channel, packet, options);
        Ok(())
    }

    /// Changes the cap of a channel, in bytes a second.
    pub(super) fn set_channel_rate(
        &mut self,
        now: Instant,
        channel: u8,
        rate: u32,
    ) -> Result<(), SendError> {
        self.check_channel(channel)?;
        self.sequencing.set_rate(channel, rate, now);
        Ok(())
    }

    const fn check_channel(&self, channel: u8) -> Result<(), SendError> {
        if channel < self.agreement.channels {
            Ok(())
        } else {
            Err(SendError::UnknownChannel)
        }
    }

    /// Consumes the next packet that can be delivered (§3.2.3).
    #[inline]
    pub(super) fn receive(&mut self, now: Instant) -> Option<Delivered> {
        let delivered = self.sequencing.receive(now);
        if let Some((_, mode, payload)) = &delivered {
            self.received.count(*mode, payload.len());
        }
        delivered
    }

    pub(super) fn has_receipts(&self) -> bool {
        !self.sequencing.totals().receipts.is_empty()
    }

    /// Notes that the remote host has moved: see [`Transfer::on_moved`].
    pub(super) fn on_moved(&mut self, same_host: bool, now: Instant) {
        self.transfer.on_moved(same_host, &mut self.sequencing, now);
    }

    /// Whether everything was sent, and acknowledged if it has to be, in both directions.
    pub(super) fn flush(&mut self) -> bool {
        let totals = self.sequencing.totals();
        let is_sent = totals.unsent == 0 && !self.transfer.has_unsent();
        // What is owed leaves first: the remote host has to know what it need not send again.
        totals.undelivered == 0 && is_sent && !self.transfer.inbound.ack_timer.hurry()
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do.
    pub(super) fn deadline(&self) -> Instant {
        self.transfer.deadline().min(self.sequencing.deadline())
    }

    /// What is due then, and when.
    pub(super) fn timer(&self) -> (Instant, Timer) {
        let channel = self.sequencing.deadline();
        earliest([self.transfer.timer(), (channel, Timer::Channel)])
    }

    pub(super) fn handle_timeout(&mut self, tick: Tick) {
        // First, as all timers depend on how long and how late steps are.
        self.transfer.outbound.path.set_steps(tick.step, tick.lag);
        self.transfer.handle_timeout(&mut self.sequencing, tick.now);
        self.sequencing.handle_timeout(tick.now);
    }

    /// Writes the next datagram. An error is a bug: see [`Transfer::poll_transmit`].
    pub(super) fn poll_transmit(
        &mut self,
        tick: Tick,
        buf: &mut [u8],
    ) -> Result<Option<Written>, NoRoom> {
        // `send` is told no time: the age of new packets counts from here.
        self.sequencing.look(tick.now);
        self.transfer.gate.set_shut(tick.is_full);
        self.transfer
            .poll_transmit(&mut self.sequencing, tick.now, buf)
    }

    /// Takes a datagram in, and gives what it says of the path that it came on. It is checked whole before
    /// anything changes.
    pub(super) fn handle_short(
        &mut self,
        short: &Short<'_>,
        ecn: Ecn,
        tick: Tick,
        memory: &mut Memory,
    ) -> Result<PathWords, Ignored> {
        #[cfg(feature = "seal")]
        let opened;
        #[cfg(feature = "seal")]
        let (short, frame) = if self.sealing.is_some() {
            opened = self.open(short, tick.now, &mut memory.scratch)?;
            (&opened.0, opened.1)
        } else {
            (short, self.verify(short)?)
        };
        #[cfg(not(feature = "seal"))]
        let frame = self.verify(short)?;
        self.handle_proved(short, frame, ecn, tick, &mut memory.buffers)
    }

    /// How datagrams lose their payloads: those of this host if `is_sent`, else those of the remote host.
    #[cfg(feature = "record")]
    pub(super) fn blank(&self, is_sent: bool) -> Blank {
        let (mut check, context) = (self.check, self.agreement.context());
        if !is_sent {
            (check.ours, check.theirs) = (check.theirs, check.ours);
        }
        Blank { check, context }
    }

    /// Checks a plain datagram, and gives the id of its frame.
    #[inline]
    fn verify(&self, short: &Short<'_>) -> Result<u64, Ignored> {
        #[cfg(feature = "seal")]
        if short.phase() {
            return Err(Ignored::Malformed(Malformed::Reserved)); // a plain connection has no phases
        }
        // The check comes first: it alone tells a frame of this connection from a forged or late one.
        let ids = self.ids(short)?;
        let checked = self.check.verify(short.bytes, ids);
        checked.map_err(Ignored::Malformed)?;
        Ok(ids.frame)
    }

    /// Opens a sealed datagram into `scratch`, and gives it with the id of its frame.
    #[cfg(feature = "seal")]
    #[inline(never)]
    fn open<'s>(
        &mut self,
        short: &Short<'s>,
        now: Instant,
        scratch: &'s mut Vec<u8>,
    ) -> Result<(Short<'s>, u64), Ignored> {
        let frame = self
            .transfer
            .inbound
            .expand(short.id_low, short.id_width)
            .ok_or(Ignored::TooOld)?;
        // Before it is opened: a copy costs next to nothing, and has nothing new in it.
        match self.transfer.inbound.classify(frame) {
            Arrival::Duplicate => return Err(Ignored::Duplicate),
            Arrival::TooOld => return Err(Ignored::TooOld),
            Arrival::New | Arrival::TooFarAhead => {}
        }
        let timeout = self.transfer.outbound.path.rtt.timeout();
        let sealing = self.sealing.as_mut().ok_or(Ignored::Unauthenticated)?;
        let opened = sealing.open((short, frame), now, timeout, scratch);
        Ok((opened.ok_or(Ignored::Unauthenticated)?, frame))
    }

    /// Takes a datagram in of which it is proved that the remote host sent it.
    fn handle_proved(
        &mut self,
        short: &Short<'_>,
        frame: u64,
        ecn: Ecn,
        tick: Tick,
        buffers: &mut Buffers,
    ) -> Result<PathWords, Ignored> {
        // Before the messages are decoded, which is most of the work.
        if self.effort.is_spent(tick.now) {
            return Err(Ignored::TooMuchWork);
        }
        let mut messages = ArrayVec::<Message<&[u8]>, MAX_MESSAGES>::new();
        let body = short
            .decode_body(self.agreement.context(), &mut messages)
            .map_err(Ignored::Malformed)?;
        // Charged also if it is refused from here on: the messages were decoded.
        self.effort.decode(short.bytes.len(), messages.len());
        let checked = self.check_body(frame, &body, &messages, tick)?;
        self.make_room(&checked, tick.may_keep)?;
        self.take(short, ecn, &checked, tick, buffers)
    }

    /// The whole ids in a datagram, of which it has the low bytes; an error if there are none that they can
    /// mean.
    pub(super) fn ids(&self, short: &Short<'_>) -> Result<Ids, Ignored> {
        let frame = self.transfer.inbound.expand(short.id_low, short.id_width);
        let acked = short.newest_acked().map_err(Ignored::Malformed)?;
        // Below zero there are no ids: what would be one was never sent (`docs/wire.md`, "Frame ids").
        let acked = acked.map(|(low, width)| {
            let newest = self.transfer.outbound.later_acks.expand(low, width);
            newest.ok_or(Ignored::BadAck)
        });
        Ok(Ids {
            frame: frame.ok_or(Ignored::TooOld)?,
            acked: acked.transpose()?,
        })
    }

    /// Checks the contents of a datagram whose check fits: the remote host has sent it, or has sent one
    /// that was repeated.
    fn check_body<'b, 'p>(
        &mut self,
        frame: u64,
        body: &'b Body,
        messages: &'b [Message<&'p [u8]>],
        tick: Tick,
    ) -> Result<Checked<'b, 'p>, Ignored> {
        let is_new = match self.transfer.inbound.classify(frame) {
            Arrival::New => true,
            Arrival::Duplicate => false,
            // Never acknowledged (`deviations.md` T11).
            Arrival::TooOld => return Err(Ignored::TooOld),
            Arrival::TooFarAhead => {
                // A second frame from there is believed (T9).
                self.transfer.inbound.note_beyond(frame);
                return Err(Ignored::TooFarAhead);
            }
        };
        // What a duplicate acknowledges was taken when it first came, or newer blocks say the same.
        let counts =
            is_new && (self.acked_id_is_checked() || self.transfer.inbound.is_newest(frame));
        let block = body.ack.as_ref().filter(|_| counts);
        let acked = block.map(|block| {
            if let Some(acked) = self.transfer.check_ack(block) {
                return Ok(acked);
            }
            let newest =
                (self.transfer.outbound.later_acks).expand(block.largest_low, block.largest_width);
            // The remote host may have been told of it by a forger: the next frame sets that right (P15).
            if let Some(unsent) = newest {
                self.transfer.on_ack_of_unsent(unsent, tick.now);
            }
            Err(Ignored::BadAck)
        });
        let acked = acked.transpose()?;
        let needed = self
            .needed(messages)
            .inspect_err(|_| self.sequencing.on_refused(frame, messages))?;
        // A violation as well, but looked for last: it puts the remote host on probation, which a datagram
        // with other faults must not do. Before room is made, as it refuses the datagram (T26).
        if acked.is_some_and(|acked| !self.transfer.nonces.check(&acked)) {
            return Err(Ignored::BadAck);
        }
        Ok(Checked {
            frame,
            is_new,
            acked,
            messages,
            needed,
        })
    }

    /// Whether the check of a datagram covers the whole id that it acknowledges. The tag of a sealed one covers
    /// the low bytes alone. The newest frame of all names no older id than those before it, so that these bytes
    /// mean what they meant when it was sent; those of a frame that was overtaken may mean another id by now.
    const fn acked_id_is_checked(&self) -> bool {
        #[cfg(feature = "seal")]
        return self.sealing.is_none();
        #[cfg(not(feature = "seal"))]
        true
    }

    /// Checks the messages of a datagram, and gives the bytes that they take of the receive budget.
    #[inline]
    fn needed(&self, messages: &[Message<&[u8]>]) -> Result<u64, Ignored> {
        let mut needed = 0;
        for (n, message) in messages.iter().enumerate() {
            let packet = packet_of(message);
            let len = packet.map_or(0, |packet| packet.payload.len());
            needed += match self.check_message(message) {
                // The packet is charged once, or the largest one that is allowed would not fit.
                Verdict::Begin if follows(packet, &messages[..n]) => len as u64,
                Verdict::Begin => cost(len),
                Verdict::Join(news) => news as u64,
                Verdict::Stale => 0,
                Verdict::Violation => return Err(Ignored::BadMessage),
            };
        }
        Ok(needed)
    }

    fn check_message(&self, message: &Message<&[u8]>) -> Verdict {
        let channels = self.agreement.channels;
        let is_valid = match *message {
            Message::Packet(ref packet) => return self.sequencing.check_packet(packet),
            Message::Control(Control::Sentinel(marker)) => {
                return self.sequencing.check_sentinel(marker);
            }
            Message::Control(Control::Tombstone(marker)) => {
                return self.sequencing.check_tombstone(marker);
            }
            Message::Control(
                Control::Window { channel, id } | Control::Fates { channel, id, .. },
            ) => channel < channels && self.sequencing.check_window(channel, id),
            Message::Control(Control::Ask { channel, .. } | Control::Told { channel, .. }) => {
                channel < channels
            }
            Message::Control(_) => true,
        };
        // Signalling takes nothing of the receive budget, like a packet that was passed already.
        if is_valid {
            Verdict::Stale
        } else {
            Verdict::Violation
        }
    }

    /// Makes room in the receive budget for the messages of a datagram. `may_keep`: the most bytes that the
    /// host has for this peer.
    fn make_room(&mut self, checked: &Checked<'_, '_>, may_keep: u64) -> Result<(), Ignored> {
        let (mut needed, mut room) = (checked.needed, 0);
        // What is thrown out may be the packet that one of the messages would have joined, which then
        // begins it anew and needs more. This ends: each time around, at least one packet is gone.
        while needed > room {
            let kept = self.sequencing.totals().kept;
            if !self.sequencing.make_room(needed, may_keep) {
                return Err(Ignored::OverBudget);
            }
            // Nearly always: nothing had to be thrown out, so that what was counted is still true.
            if self.sequencing.totals().kept == kept {
                return Ok(());
            }
            room = needed;
            needed = self.needed(checked.messages)?;
        }
        Ok(())
    }

    /// Takes a datagram that was checked.
    #[inline(never)]
    fn take(
        &mut self,
        short: &Short<'_>,
        ecn: Ecn,
        checked: &Checked<'_, '_>,
        tick: Tick,
        buffers: &mut Buffers,
    ) -> Result<PathWords, Ignored> {
        let (frame, messages) = (checked.frame, checked.messages);
        // Before the frame is noted: whether it is the newest shows only now.
        let mut words = self.transfer.inbound.path_words(frame);
        self.transfer.outbound.path.set_steps(tick.step, tick.lag);
        let incoming = Incoming {
            id: frame,
            ecn,
            urgency: Urgency::of(short.ack_now, messages),
        };
        self.transfer.on_frame(&incoming, short, tick.now);
        if strikes(Bug::AcksWhatItDropped) {
            return Err(Ignored::Duplicate);
        }
        if let Some(acked) = &checked.acked {
            self.transfer.on_ack(acked, &mut self.sequencing, tick.now);
        }
        self.sequencing.begin_frame(frame);
        // Messages of a duplicate count, too, or a forgery would take the place of the frame whose id it
        // has. The ids of packets tell what came before from what is new (T9).
        let ids_before = self.sequencing.totals().ring_ids;
        for message in messages {
            self.take_message(message, &mut words, tick, buffers);
        }
        self.effort
            .look_through(self.sequencing.totals().ring_ids - ids_before);
        // A duplicate says nothing of the path, and is no sign of life: it may be somebody's copy.
        if checked.is_new {
            Ok(words)
        } else {
            Err(Ignored::Duplicate)
        }
    }

    fn take_message(
        &mut self,
        message: &Message<&[u8]>,
        words: &mut PathWords,
        tick: Tick,
        buffers: &mut Buffers,
    ) {
        match *message {
            Message::Packet(ref packet) => self.sequencing.on_packet(packet, tick.now, buffers),
            Message::Control(control) => match control {
                Control::Noop => {} // the acknowledgement of its frame is all that it asks for
                Control::Ping(id) => self.transfer.on_ping(id, tick.now),
                Control::Pong(id) => self.transfer.on_pong(id, tick.now),
                Control::Window { channel, id } => self.sequencing.on_window(channel, id),
                Control::Fates { channel, id, fates } => {
                    self.sequencing.on_fates(channel, id, fates);
                }
                Control::Sentinel(marker) => self.sequencing.on_sentinel(marker),
                Control::Tombstone(marker) => self.sequencing.on_tombstone(marker),
                Control::Limits {
                    serial,
                    receive_rate,
                } => {
                    self.transfer.on_limits(serial, receive_rate);
                }
                // The host decides about these, as it alone knows where the datagram came from.
                Control::PathChallenge(data) => words.challenge = Some(data),
                Control::PathResponse(data) => words.response = Some(data),
                Control::Ask { channel, number } => self.sequencing.on_ask(channel, number),
                Control::Told {
                    channel,
                    number,
                    next,
                } => self.sequencing.on_told(channel, number, next),
            },
        }
    }
}

const fn packet_of<'m, 'p>(message: &'m Message<&'p [u8]>) -> Option<&'m Packet<&'p [u8]>> {
    match message {
        Message::Packet(packet) => Some(packet),
        Message::Control(_) => None,
    }
}

/// Whether a fragment follows another one of its packet in the same datagram.
fn follows(packet: Option<&Packet<&[u8]>>, before: &[Message<&[u8]>]) -> bool {
    packet.is_some_and(|packet| {
        let same = |other: &Packet<&[u8]>| (other.channel, other.id) == (packet.channel, packet.id);
        packet.fragment.is_some() && before.iter().filter_map(packet_of).any(same)
    })
}

#[cfg(test)]
mod tests;
