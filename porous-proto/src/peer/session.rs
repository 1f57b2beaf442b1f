//! A connection that is established: the two layers of §3, and what passes between them
//! (Figure 4).

mod check;
mod upward;

use alloc::boxed::Box;

use bytes::Bytes;

use self::upward::Upward;
use super::agreement::{self, Agreement};
use super::effort::Effort;
use super::limits::Limits;
use super::tick::Tick;
use crate::canary::{Bug, strikes};
use crate::event::{Ecn, Ignored};
use crate::frame::{
    Body, Check, ConnectionId, Context, Control, Ids, MAX_MESSAGES, Message, Mode, Short,
};
use crate::options::SendOptions;
use crate::progress::{ReceiveProgress, SendProgress};
use crate::sequencing::{Delivered, Receipt, Receipts, Sequencing, Totals, cost};
use crate::stats::{ChannelStats, ModeCounts};
use crate::time::Instant;
use crate::transfer::{Acked, Arrival, Narrowed, PathWords, Transfer, TransferParams, Written};
use crate::wire::NoRoom;

/// Packets, and the bytes in them.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) packets: ModeCounts,
    pub(crate) bytes: ModeCounts,
}

impl Counts {
    const fn count(&mut self, mode: Mode, len: usize) {
        self.packets.add(mode, 1);
        self.bytes.add(mode, len as u64);
    }
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Session {
    agreement: Agreement,
    context: Context,
    check: Check,
    transfer: Transfer,
    sequencing: Sequencing,
    pub(crate) sent: Counts,
    pub(crate) received: Counts,
    effort: Effort,
}

impl Session {
    /// With the connection id of the remote host. In its box at once: it is large, and a
    /// microcontroller's stack is not.
    pub(crate) fn new(
        agreement: Agreement,
        nonces: [u64; 2],
        connection_id: ConnectionId,
        limits: &Limits,
    ) -> Box<Self> {
        let [own, remote] = nonces;
        let check = Check {
            integrity: agreement.integrity,
            ours: own,
            theirs: remote,
        };
        let (first_id, age) = (limits.first_id, limits.unreliable_age);
        let context = agreement.context();
        // Each host gives the other up after its own timeout: pings must satisfy the shorter one
        // (`deviations.md` D13).
        let remote_timeout = agreement.remote_timeout();
        let timeout = remote_timeout.map_or(limits.timeout, |it| it.min(limits.timeout));
        let params = TransferParams {
            connection_id,
            context,
            check,
            max_datagram: agreement.max_datagram,
            path_mtu: agreement.path_mtu,
            reserve: agreement::reserve(connection_id),
            window: agreement.frame_window,
            behind: agreement.behind(),
            send_rate: agreement.send_rate,
            receive_rate: agreement.receive_rate,
            remote_rate: agreement.remote_rate,
            bandwidth: agreement.bandwidth,
            timeout,
            policy: limits.policy,
            congestion: limits.congestion,
            keepalive: limits.keepalive,
            ecn: limits.ecn,
            secret: limits.secret,
        };
        let sequencing = agreement.sequencing(limits.policy, limits.send_budget);
        Box::new(Self {
            agreement,
            context,
            check,
            transfer: Transfer::new(params, first_id),
            sequencing: Sequencing::new(sequencing, first_id, age).with_channels(&limits.settings),
            sent: Counts::default(),
            received: Counts::default(),
            effort: Effort::new(),
        })
    }

    /// What we put into our datagrams.
    pub(crate) const fn remote_connection_id(&self) -> ConnectionId {
        self.transfer.remote_connection_id()
    }

    pub(crate) const fn agreement(&self) -> &Agreement {
        &self.agreement
    }

    #[cfg(any(test, feature = "audit"))]
    pub(super) fn audit(&self, audit: &mut crate::audit::Audit) {
        self.transfer.audit(audit);
        let longest = u64::from(self.agreement.path_mtu);
        self.sequencing.audit(audit, longest);
    }

    /// The remote host may have forgotten the connection.
    pub(crate) fn on_doubt(&mut self, now: Instant) {
        self.transfer.on_doubt(now);
    }

    /// What has been found of the path that the application does not know yet.
    pub(crate) const fn take_narrowed(&mut self) -> Option<Narrowed> {
        self.transfer.take_narrowed()
    }

    pub(crate) const fn transfer(&self) -> &Transfer {
        &self.transfer
    }

    pub(crate) const fn kept(&self) -> u64 {
        self.sequencing.totals().kept
    }

    pub(crate) const fn queued(&self) -> u64 {
        self.sequencing.totals().room.used()
    }

    /// Reliable and passive packets that are not acknowledged.
    pub(crate) const fn undelivered(&self) -> u32 {
        self.sequencing.totals().undelivered
    }

    /// The remote host asks whether we are where it sends to.
    pub(crate) fn answer_challenge(&mut self, data: u64, now: Instant) {
        self.transfer.answers.on_path_challenge(data, now);
    }

    /// Writes a datagram that goes elsewhere than the others: see [`Transfer::write_path_words`].
    pub(crate) fn write_path_words(
        &mut self,
        words: &[Control],
        now: Instant,
        buf: &mut [u8],
    ) -> Result<Option<Written>, NoRoom> {
        self.transfer.write_path_words(words, now, buf)
    }

    /// The remote host has moved: see [`Transfer::on_moved`].
    pub(crate) fn on_moved(&mut self, same_host: bool, now: Instant) {
        self.transfer
            .on_moved(same_host, &mut Upward(&mut self.sequencing), now);
    }

    /// Whether everything was sent, and acknowledged if it must be, both ways: the remote host is to
    /// know what it need not send again.
    pub(crate) fn flush(&mut self) -> bool {
        let totals = self.sequencing.totals();
        totals.undelivered == 0 && totals.unsent == 0 && !self.transfer.hurry_ack()
    }

    /// See [`Sequencing::has_room`].
    pub(crate) fn has_room(&mut self, channel: u8, mode: Mode, len: usize, receipts: u64) -> bool {
        self.sequencing.has_room(channel, mode, len, receipts)
    }

    /// See [`Sequencing::has_new_room`].
    pub(crate) fn has_new_room(&self, receipts: u64) -> bool {
        self.sequencing.has_new_room(receipts)
    }

    /// The application is told that there is room.
    pub(crate) fn forget_refusals(&mut self) {
        self.sequencing.forget_refusals();
    }

    pub(crate) fn send(&mut self, channel: u8, payload: Bytes, options: SendOptions) {
        self.sent.count(options.mode, payload.len());
        self.sequencing.send(channel, payload, options);
    }

    pub(crate) fn channel_stats(&self, channel: u8) -> ChannelStats {
        self.sequencing.channel_stats(channel)
    }

    /// See [`Sequencing::send_progress`].
    pub(crate) fn send_progress(&self, channel: u8, token: u64) -> Option<SendProgress> {
        self.sequencing.send_progress(channel, token)
    }

    /// See [`Sequencing::receive_progress`].
    pub(crate) fn receive_progress(&self, channel: u8) -> Option<ReceiveProgress> {
        self.sequencing.receive_progress(channel)
    }

    /// Changes the cap of a channel.
    pub(crate) fn set_channel_rate(&mut self, channel: u8, rate: u32, now: Instant) {
        self.sequencing.set_rate(channel, rate, now);
    }

    /// Changes the most that we want to send, in bytes a second.
    pub(crate) fn set_send_rate(&mut self, rate: u32) {
        self.transfer.set_send_rate(rate);
    }

    /// And to receive.
    pub(crate) const fn set_receive_rate(&mut self, rate: u32) {
        self.transfer.set_receive_rate(rate);
    }

    /// Drops unreliable packets that have waited too long.
    pub(crate) fn drop_expired(&mut self, now: Instant) {
        self.sequencing.drop_expired(now);
    }

    /// What is counted of all channels.
    pub(crate) const fn totals(&self) -> &Totals {
        self.sequencing.totals()
    }

    /// Cancels the packets with this receipt: whether there were any.
    pub(crate) fn cancel(&mut self, channel: u8, token: u64) -> bool {
        self.sequencing.cancel(channel, token)
    }

    pub(crate) fn has_receipts(&self) -> bool {
        !self.sequencing.totals().receipts.is_empty()
    }

    /// The next receipt that is to be told.
    pub(crate) fn next_receipt(&mut self) -> Option<Receipt> {
        self.sequencing.next_receipt()
    }

    /// The connection has ended: what is open is lost. All receipts that are to be told.
    pub(crate) fn close(&mut self) -> Receipts {
        self.sequencing.close()
    }

    pub(crate) fn receive(&mut self, now: Instant) -> Option<Delivered> {
        let delivered = self.sequencing.receive(now);
        if let Some((_, mode, payload)) = &delivered {
            self.received.count(*mode, payload.len());
        }
        delivered
    }

    pub(crate) fn is_readable(&self) -> bool {
        self.sequencing.is_readable()
    }

    /// The next time at which something is due by itself.
    pub(crate) fn deadline(&self) -> Instant {
        self.transfer.deadline().min(self.sequencing.deadline())
    }

    pub(crate) fn handle_timeout(&mut self, tick: Tick) {
        self.transfer.set_step(tick.step, tick.lag);
        self.transfer
            .handle_timeout(&mut Upward(&mut self.sequencing), tick.now);
        self.sequencing.handle_timeout(tick.now);
    }

    /// An error is a bug: see [`Transfer::poll_transmit`].
    pub(crate) fn poll_transmit(
        &mut self,
        tick: Tick,
        buf: &mut [u8],
    ) -> Result<Option<Written>, NoRoom> {
        self.sequencing.look(tick.now);
        self.transfer.gate.set_shut(tick.is_full);
        self.transfer
            .poll_transmit(&mut Upward(&mut self.sequencing), tick.now, buf)
    }

    /// Takes a datagram in: what it says of the path that it came on. It is checked whole before
    /// anything changes.
    pub(crate) fn handle_short(
        &mut self,
        short: &Short<'_>,
        ecn: Ecn,
        tick: Tick,
    ) -> Result<PathWords, Ignored> {
        let ids = self.ids(short)?;
        let checked = self.check.verify(short.bytes, ids);
        checked.map_err(Ignored::Malformed)?;
        let mut messages = arrayvec::ArrayVec::<Message<&[u8]>, MAX_MESSAGES>::new();
        if self.effort.is_spent(tick.now) {
            return Err(Ignored::TooMuchWork);
        }
        let body = short
            .decode_body(self.context, &mut messages)
            .map_err(Ignored::Malformed)?;
        self.effort.decode(short.bytes.len(), messages.len());
        let arrival = self.transfer.classify(ids.frame);
        match arrival {
            Arrival::New | Arrival::Duplicate => {}
            // Never acknowledged (`deviations.md` T11).
            Arrival::TooOld => return Err(Ignored::TooOld),
            Arrival::TooFarAhead => {
                self.transfer.note_beyond(ids.frame);
                return Err(Ignored::TooFarAhead);
            }
        }
        let acked = self.check_ack(&body, arrival, tick)?;
        let needed = match self.needed(&messages) {
            Ok(needed) => needed,
            Err(cause) => {
                self.sequencing.on_refused(ids.frame, &messages);
                return Err(cause);
            }
        };
        // A violation, but the last one to be found: it needs a frame that is new.
        if acked.is_some_and(|acked| !self.transfer.believes(&acked)) {
            return Err(Ignored::BadAck);
        }
        self.make_room(&messages, needed, tick.may_keep)?;
        // From here on the datagram is taken.
        let mut words = self.transfer.path_words(ids.frame);
        self.transfer.set_step(tick.step, tick.lag);
        self.transfer
            .on_frame((ids.frame, ecn), short, !messages.is_empty(), tick.now);
        if strikes(Bug::AcksWhatItDropped) {
            return Err(Ignored::Duplicate);
        }
        if let Some(acked) = &acked {
            self.transfer
                .on_ack(acked, &mut Upward(&mut self.sequencing), tick.now);
        }
        self.sequencing.begin_frame(ids.frame);
        // Those of a duplicate, too, or a forgery would take the place of the frame whose id it has.
        // What has come before is told from what is new by the ids of the packets.
        let ids_before = self.sequencing.totals().ring_ids;
        for message in &messages {
            self.take(message, &mut words, tick);
        }
        self.effort
            .look_through(self.sequencing.totals().ring_ids - ids_before);
        match arrival {
            Arrival::Duplicate => Err(Ignored::Duplicate),
            Arrival::New | Arrival::TooOld | Arrival::TooFarAhead => Ok(words),
        }
    }

    /// The full ids in a datagram, as far as there are any that they can be.
    fn ids(&self, short: &Short<'_>) -> Result<Ids, Ignored> {
        let frame = self.transfer.expand(short.id_low, short.id_width);
        let acked = short.newest_acked().map_err(Ignored::Malformed)?;
        let acked = acked.map(|(low, width)| {
            let newest = self.transfer.expand_acked(low, width);
            newest.ok_or(Ignored::BadAck)
        });
        Ok(Ids {
            frame: frame.ok_or(Ignored::TooOld)?,
            acked: acked.transpose()?,
        })
    }

    /// What the acknowledgement of a frame says, if it can be true. A duplicate's has been taken, or
    /// those that came since say the same.
    fn check_ack<'b>(
        &mut self,
        body: &'b Body,
        arrival: Arrival,
        tick: Tick,
    ) -> Result<Option<Acked<'b>>, Ignored> {
        let Some(block) = body.ack.as_ref().filter(|_| arrival == Arrival::New) else {
            return Ok(None);
        };
        if let Some(acked) = self.transfer.check_ack(block) {
            return Ok(Some(acked));
        }
        let newest = (self.transfer).expand_acked(block.largest_low, block.largest_width);
        if let Some(unsent) = newest {
            self.transfer.on_ack_of_unsent(unsent, tick.now);
        }
        Err(Ignored::BadAck)
    }

    fn take(&mut self, message: &Message<&[u8]>, words: &mut PathWords, tick: Tick) {
        match *message {
            Message::Packet(ref packet) => self.sequencing.on_packet(packet, tick.now),
            Message::Control(control) => match control {
                Control::Noop => {}
                Control::Ping(id) => self.transfer.on_ping(id, tick.now),
                Control::Pong(id) => self.transfer.on_pong(id, tick.now),
                Control::Window { channel, id } => self.sequencing.on_window(channel, id),
                Control::Fates { channel, id, fates } => {
                    self.sequencing.on_fates(channel, id, fates);
                }
                Control::Sentinel {
                    channel,
                    id,
                    dependency,
                } => {
                    self.sequencing.on_sentinel(channel, id, dependency);
                }
                Control::Tombstone {
                    channel,
                    id,
                    dependency,
                } => {
                    self.sequencing.on_tombstone(channel, id, dependency);
                }
                Control::Limits {
                    serial,
                    receive_rate,
                } => {
                    self.transfer.on_limits(serial, receive_rate);
                }
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

/// What a packet takes of the send budget.
pub(crate) fn send_cost(len: usize) -> u64 {
    cost(len)
}

#[cfg(test)]
mod tests;
