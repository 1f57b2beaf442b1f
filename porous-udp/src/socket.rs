//! A non-blocking UDP socket that returns an error only when it is of no more use.

use core::net::SocketAddr;
use std::io::{self, ErrorKind};

use porous_proto::{BadAddress, Ecn, Instant};
use quinn_udp::{Transmit, UdpSockRef, UdpSocketState};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::SockRef;

use crate::SystemSocket;
use crate::address::{bad_address, for_socket, normalise};
use crate::fault::Fault;
use crate::gateways::Gateways;
use crate::icmp::Icmp;
use crate::inbox::{self, Inbox, SLOTS};
use crate::many::{self, Many};
use crate::marks::Marks;
use crate::outbox::Batch;
use crate::sources::Sources;

/// Counts of what the socket did beside carrying datagrams, since the host was made.
///
/// ```
/// use porous_udp::SocketStats;
///
/// assert_eq!(SocketStats::default().send_lost, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SocketStats {
    /// Datagrams that the system refused to send (no route, a firewall, no buffers), or that waited too long
    /// for an address that refused them while others got theirs. The protocol treats them as any lost
    /// datagram.
    pub send_lost: u64,
    /// Attempts to send that found no room. The datagram is kept and leaves later.
    pub send_delayed: u64,
    /// Errors reported in place of a received datagram, most of them an ICMP message about a datagram sent
    /// before. The protocol ignores them, as they may be forged.
    pub receive_errors: u64,
    /// Answers to strangers that were not sent because half of the send buffer was in use, perhaps by
    /// answers to addresses that no host has. An honest newcomer asks again.
    pub answers_withheld: u64,
}

/// The result of an attempt to send the datagrams of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    /// Bytes of the datagrams that the system has taken, or that are lost.
    pub(crate) bytes: usize,
    /// True if the datagrams are lost because their address cannot be reached now.
    pub(crate) is_unreachable: bool,
}

impl Sent {
    const fn all(datagrams: &[u8]) -> Self {
        Self {
            bytes: datagrams.len(),
            is_unreachable: false,
        }
    }
}

/// What one call has received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// Slots of the inbox that were filled. 0 if an error came in place of a datagram, or a signal.
    pub(crate) slots: usize,
    /// False if the call found that nothing more had arrived.
    pub(crate) may_be_more: bool,
}

/// How datagrams pass between this program and the system.
#[derive(Debug)]
pub(crate) enum Path {
    /// Many datagrams a call, as far as the system can.
    Batched(UdpSocketState),
    /// One datagram a call.
    Plain,
}

impl Path {
    /// Batched, if the system lets the socket be set up for it; plain otherwise.
    pub(crate) fn batched(socket: &impl SystemSocket) -> Self {
        UdpSocketState::new(UdpSockRef::from(&*socket.options())).map_or(Self::Plain, Self::Batched)
    }

    /// Slots of an inbox that one call may fill.
    pub(crate) const fn slots(&self) -> usize {
        match self {
            Self::Batched(_) => SLOTS,
            Self::Plain => 1,
        }
    }

    /// True if the system can be told with which marks of congestion a datagram leaves.
    pub(crate) const fn has_marks(&self) -> bool {
        matches!(self, Self::Batched(_))
    }

    /// True if a router may split a datagram that is too long for its next link, as far as is known.
    pub(crate) fn may_fragment(&self) -> bool {
        match self {
            Self::Batched(state) => state.may_fragment(),
            Self::Plain => true,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Socket<S> {
    system: S,
    path: Path,
    is_ipv6: bool,
    /// True if it is bound to all addresses of the machine.
    is_everywhere: bool,
    marks: Marks,
    pub(crate) sources: Sources,
    icmp: Icmp,
    gateways: Gateways,
    stats: SocketStats,
}

impl<S: SystemSocket> Socket<S> {
    pub(crate) fn new(system: S, path: Path) -> io::Result<Self> {
        let options = system.options();
        options.set_nonblocking(true)?;
        let address = options.local_addr()?;
        let ip = address.as_socket().map(|address| address.ip());
        let marks = Marks::of(&options);
        Ok(Self {
            system,
            path,
            is_ipv6: address.is_ipv6(),
            is_everywhere: ip.is_some_and(|ip| ip.is_unspecified()),
            marks,
            sources: Sources::default(),
            icmp: Icmp::default(),
            gateways: Gateways::default(),
            stats: SocketStats::default(),
        })
    }

    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        let address = self.system.options().local_addr()?.as_socket();
        address
            .map(normalise)
            .ok_or_else(|| io::Error::other("the socket of this host is no UDP socket"))
    }

    /// From now on each remote host is answered from the address that it asked.
    pub(crate) const fn sources_wanted(&mut self) {
        // A socket that is bound to one address has no other to answer from.
        if self.is_everywhere {
            self.sources.remember();
        }
    }

    /// Why no host can answer at this address, if that is known.
    pub(crate) fn bad_address(&self, to: SocketAddr) -> Option<BadAddress> {
        let only_v6 = || self.options().only_v6().unwrap_or(false);
        bad_address(to, self.local_addr().ok()?, self.is_ipv6 && only_v6())
    }

    /// Asks the system to report closed ports, if it can, or to stop. A plain path changes no option.
    pub(crate) fn ask_for_closed_ports(&mut self, yes: bool) {
        if matches!(self.path, Path::Batched(_)) && self.icmp.is_on() != yes {
            let (icmp, socket) = (&mut self.icmp, self.system.options());
            icmp.ask(&socket, self.is_ipv6, yes);
        }
    }

    pub(crate) const fn asks_for_closed_ports(&self) -> bool {
        self.icmp.is_on()
    }

    pub(crate) fn hear_closed_ports(&mut self) {
        self.icmp.hear(&self.system.options());
    }

    /// The next closed port that the system has reported. The inner value is its address, if the system
    /// named it.
    pub(crate) fn next_closed_port(&mut self) -> Option<Option<SocketAddr>> {
        Some(self.icmp.next_closed()?.map(normalise))
    }

    /// The system's socket, for its options.
    pub(crate) fn options(&self) -> SockRef<'_> {
        self.system.options()
    }

    /// The most datagrams that one call may send. Falls to 1 when the system turns out to be unable to send
    /// more.
    pub(crate) fn max_segments(&self) -> usize {
        match &self.path {
            Path::Batched(state) => state.max_gso_segments(),
            Path::Plain => 1,
        }
    }

    /// Sends the datagrams of a batch, which lie one behind the other. `None` if there is no room for any
    /// now.
    pub(crate) fn send(&mut self, batch: &Batch, datagrams: &[u8]) -> io::Result<Option<Sent>> {
        let (segment, ecn) = (batch.segment, inbox::codepoint(batch.ecn));
        let from = self.sources.of(batch.to);
        let all = Transmit {
            destination: for_socket(batch.to, self.is_ipv6),
            ecn,
            contents: datagrams,
            segment_size: Some(segment),
            src_ip: from,
        };
        if datagrams.len() > segment && self.max_segments() > 1 {
            match self.pass(&all) {
                Ok(()) => return Ok(Some(Sent::all(datagrams))),
                Err(error) if Fault::of(&error) == Fault::Later => {
                    self.stats.send_delayed += 1;
                    return Ok(None);
                }
                // The first datagram is tried alone, so that an error costs no more than without batches.
                Err(_) => {}
            }
        }
        let first = &datagrams[..segment.min(datagrams.len())];
        let one = Transmit {
            contents: first,
            segment_size: None,
            ..all
        };
        let mut sent = self.pass(&one);
        let fault_of = |sent: &io::Result<()>| sent.as_ref().err().map(Fault::of);
        let is_lost = matches!(fault_of(&sent), Some(Fault::Lost | Fault::Unreachable));
        if self.icmp.is_on() && is_lost {
            // The error may be about a datagram sent before. Then this one was not tried yet.
            self.hear_closed_ports();
            sent = self.pass(&one);
        }
        if from.is_some() && fault_of(&sent) == Some(Fault::Unreachable) {
            // The machine may have lost the address that was asked; the system knows which one it has. The
            // batched path may have taken the error for a missing ability and switched it off, so it is
            // set up anew.
            self.sources.forget(batch.to);
            self.path = Path::batched(&self.system);
            let from_any = Transmit {
                src_ip: None,
                ..one
            };
            sent = self.pass(&from_any);
        }
        let Err(error) = sent else {
            return Ok(Some(Sent::all(first)));
        };
        let fault = Fault::of(&error);
        match fault {
            Fault::Later => {
                self.stats.send_delayed += 1;
                Ok(None)
            }
            Fault::Lost | Fault::Unreachable => {
                self.stats.send_lost += 1;
                Ok(Some(Sent {
                    bytes: first.len(),
                    is_unreachable: fault == Fault::Unreachable,
                }))
            }
            Fault::Fatal => Err(broken("send", &error)),
        }
    }

    /// Sends datagrams to different addresses by one call, if the system can. Returns how many it has taken,
    /// from the first on, and true if none of the call is left. Why the system has not taken the next one is
    /// found out by [`send`](Self::send).
    pub(crate) fn send_many<'a>(
        &mut self,
        mut datagrams: impl Iterator<Item = (&'a Batch, &'a [u8])>,
    ) -> (usize, bool) {
        let is_possible = many::EXISTS && matches!(self.path, Path::Batched(_));
        if !is_possible || !self.sources.are_the_systems() {
            return (0, true);
        }
        let (Some(first), Some(second)) = (datagrams.next(), datagrams.next()) else {
            return (0, true);
        };
        let datagrams = [first, second].into_iter().chain(datagrams);
        let socket = self.system.options();
        let many = Many::of(datagrams.map_while(|(batch, datagram)| {
            let to = for_socket(batch.to, self.is_ipv6);
            let is_set = self.marks.set(&socket, batch.to.is_ipv6(), batch.ecn);
            is_set.then_some((to, datagram))
        }));
        if many.len() == 0 {
            return (0, true);
        }
        let sent = self.system.try_send(|| many.send(&socket)).unwrap_or(0);
        (sent, sent == many.len())
    }

    /// True if an answer to a stranger may leave. Half of the send buffer is kept for peers.
    pub(crate) fn has_room_for(&mut self, stranger: SocketAddr, now: Instant) -> bool {
        if self.is_writable() {
            return true;
        }
        let buffer = self.options().send_buffer_size().unwrap_or(0);
        self.gateways.may_pass(stranger, now, buffer)
    }

    /// True if the system says that there is room; Linux does while more than half of the buffer is free.
    /// A system that cannot tell is taken to have room.
    fn is_writable(&self) -> bool {
        let socket = self.system.options();
        let mut fds = [PollFd::new(&*socket, PollFlags::OUT)];
        let now = Timespec::default();
        let is_known = poll(&mut fds, Some(&now)).is_ok();
        !is_known || fds[0].revents().intersects(PollFlags::OUT)
    }

    /// Counts datagrams that were given up before they came to the socket.
    pub(crate) const fn count_lost(&mut self, datagrams: u64) {
        self.stats.send_lost += datagrams;
    }

    /// Counts answers to strangers that were not sent.
    pub(crate) const fn count_withheld(&mut self, answers: u64) {
        self.stats.answers_withheld += answers;
    }

    fn pass(&mut self, transmit: &Transmit<'_>) -> io::Result<()> {
        let Path::Batched(state) = &self.path else {
            let sent = self.system.send_to(transmit.contents, transmit.destination);
            return sent.map(|_| ());
        };
        let socket = self.system.options();
        let is_ipv6 = normalise(transmit.destination).is_ipv6();
        if transmit.ecn.is_none() {
            // After an error quinn-udp leaves the mark out of its control messages, and then that of the socket
            // counts. A mark that should be there may be missing, but none may be there that should not.
            self.marks.set(&socket, is_ipv6, Ecn::NotEct);
        }
        // The system takes less time for a datagram that comes without a control message.
        if transmit.src_ip.is_none()
            && transmit.segment_size.is_none()
            && inbox::codepoint(self.marks.get(is_ipv6)) == transmit.ecn
        {
            let sent = self.system.send_to(transmit.contents, transmit.destination);
            return sent.map(|_| ());
        }
        self.system
            .try_send(|| state.try_send(UdpSockRef::from(&*socket), transmit))
    }

    /// Receives datagrams. `None` if none has arrived.
    pub(crate) fn receive(&mut self, inbox: &mut Inbox) -> io::Result<Option<Taken>> {
        const NOTHING: Taken = Taken {
            slots: 0,
            may_be_more: true,
        };
        let error = match self.take(inbox) {
            Ok(taken) => return Ok(Some(taken)),
            Err(error) => error,
        };
        match Fault::of(&error) {
            // Not `None`: an event loop that tells of readiness once would not tell again.
            Fault::Later if error.kind() == ErrorKind::Interrupted => Ok(Some(NOTHING)),
            Fault::Later => Ok(None),
            Fault::Lost | Fault::Unreachable => {
                self.stats.receive_errors += 1;
                if matches!(
                    error.kind(),
                    ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset
                ) {
                    self.icmp.note_somewhere();
                }
                Ok(Some(NOTHING))
            }
            Fault::Fatal => Err(broken("receive", &error)),
        }
    }

    /// True if a call that filled this number of slots has found that nothing more had arrived.
    const fn has_emptied(&self, slots: usize) -> bool {
        // Linux fills all slots unless the next datagram is missing, or there is an error in its place, which
        // it then tells by the next call (recvmmsg(2), "Bugs"). Only ICMP errors that were asked for are
        // such.
        cfg!(any(target_os = "linux", target_os = "android"))
            && matches!(self.path, Path::Batched(_))
            && slots < SLOTS
            && !self.icmp.is_on()
    }

    fn take(&self, inbox: &mut Inbox) -> io::Result<Taken> {
        let taken = |slots, may_be_more| Taken { slots, may_be_more };
        let Path::Batched(state) = &self.path else {
            let (len, from) = self.system.recv_from(inbox.slot())?;
            inbox.fill_one(len, from);
            return Ok(taken(1, true));
        };
        let (mut slots, filled) = inbox.slots();
        let socket = self.system.options();
        let mut emptied = None;
        let result = self.system.try_receive(|| {
            let slots = state.recv(UdpSockRef::from(&*socket), &mut slots, filled)?;
            if self.has_emptied(slots) {
                // A library that keeps account of readiness learns only by this that the socket is empty.
                emptied = Some(slots);
                return Err(ErrorKind::WouldBlock.into());
            }
            Ok(slots)
        });
        match emptied {
            Some(slots) => Ok(taken(slots, false)),
            None => Ok(taken(result?, true)),
        }
    }
}

impl<S> Socket<S> {
    pub(crate) const fn stats(&self) -> SocketStats {
        self.stats
    }

    pub(crate) const fn system(&self) -> &S {
        &self.system
    }

    pub(crate) const fn system_mut(&mut self) -> &mut S {
        &mut self.system
    }
}

/// An error that ends the driver, of the same kind as the system's.
fn broken(verb: &str, error: &io::Error) -> io::Error {
    let text =
        format!("the UDP socket of this host cannot {verb} any more, make a new host: {error}");
    io::Error::new(error.kind(), text)
}

#[cfg(test)]
mod tests {
    use core::net::IpAddr;

    use super::*;
    use porous_proto::Ecn;
    use std::net::UdpSocket;

    fn sockets(address: &str) -> [Socket<UdpSocket>; 2] {
        let open = || UdpSocket::bind(address).unwrap();
        let (batched, plain) = (open(), open());
        let path = Path::batched(&batched);
        [
            Socket::new(batched, path).unwrap(),
            Socket::new(plain, Path::Plain).unwrap(),
        ]
    }

    /// True if the system took the datagram, or it is lost.
    fn send(socket: &mut Socket<UdpSocket>, to: SocketAddr, datagram: &[u8]) -> bool {
        let batch = Batch::new(to, Ecn::NotEct, datagram.len());
        socket.send(&batch, datagram).unwrap().is_some()
    }

    #[test]
    fn carries() {
        for mut a in sockets("127.0.0.1:0") {
            for mut b in sockets("127.0.0.1:0") {
                let mut inbox = Inbox::new(b.path.slots());
                assert_eq!(b.receive(&mut inbox).unwrap(), None);
                assert!(send(&mut a, b.local_addr().unwrap(), b"hi"));
                assert_eq!(b.receive(&mut inbox).unwrap().unwrap().slots, 1);
                let from = a.local_addr().unwrap();
                let found: Vec<_> = inbox
                    .datagrams(1)
                    .map(|(origin, d)| (origin.from, d))
                    .collect();
                assert_eq!(found, [(from, &b"hi"[..])]);
            }
        }
    }

    #[test]
    fn a_batch_is_taken_apart() {
        for mut a in sockets("127.0.0.1:0") {
            for mut b in sockets("127.0.0.1:0") {
                let to = b.local_addr().unwrap();
                let all = b"aabbccd";
                let mut sent = 0;
                while sent < all.len() {
                    let batch = Batch::new(to, Ecn::NotEct, 2);
                    sent += a.send(&batch, &all[sent..]).unwrap().unwrap().bytes;
                }
                let mut inbox = Inbox::new(b.path.slots());
                let mut found = Vec::new();
                while let Some(taken) = b.receive(&mut inbox).unwrap() {
                    found.extend(inbox.datagrams(taken.slots).map(|(_, d)| d.to_vec()));
                }
                assert_eq!(found, [&b"aa"[..], b"bb", b"cc", b"d"]);
            }
        }
    }

    /// A system that has batches reports marks, too, if it reports them at all.
    #[test]
    fn marks_of_congestion_are_carried() {
        let open = || UdpSocket::bind("127.0.0.1:0").unwrap();
        let socket = |system| {
            let path = Path::batched(&system);
            Socket::new(system, path).unwrap()
        };
        let (mut a, mut b) = (socket(open()), socket(open()));
        let to = b.local_addr().unwrap();
        for ecn in [Ecn::Ect0, Ecn::NotEct, Ecn::Ce, Ecn::Ect1] {
            let sent = a.send(&Batch::new(to, ecn, 2), b"hi").unwrap();
            assert_eq!(sent, Some(Sent::all(b"hi")));
            let mut inbox = Inbox::new(b.path.slots());
            let taken = b.receive(&mut inbox).unwrap().unwrap();
            let found: Vec<_> = inbox
                .datagrams(taken.slots)
                .map(|(origin, _)| origin.ecn)
                .collect();
            let expected = if cfg!(target_os = "linux") {
                ecn
            } else {
                found[0]
            };
            assert_eq!(found, [expected]);
        }
    }

    /// The address from which `remote` is answered, after it sent a datagram to `ours`.
    fn answered_from(ours: &str, remote: &UdpSocket) -> IpAddr {
        let to = remote.local_addr().unwrap();
        let [mut socket, _] = sockets(if to.is_ipv6() { "[::]:0" } else { "0.0.0.0:0" });
        socket.sources_wanted();
        let segments = socket.max_segments();
        let ours = ours.parse().unwrap();
        socket.sources.learn(to, Some(ours), None, |_| true);
        assert!(send(&mut socket, to, b"answer"));
        let after = (socket.max_segments(), socket.stats().send_lost);
        assert_eq!(after, (segments, 0));
        remote.recv_from(&mut [0; 9]).unwrap().1.ip()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_request_is_answered_from_the_address_that_it_came_to() {
        let remote = UdpSocket::bind("127.0.0.1:0").unwrap();
        for ours in ["127.0.0.1", "127.0.0.2"] {
            assert_eq!(answered_from(ours, &remote).to_string(), ours);
        }
    }

    /// As a probe of the path that is longer than the line takes.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_datagram_that_is_too_long_does_not_change_where_answers_come_from() {
        let remote = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = remote.local_addr().unwrap();
        let [mut socket, _] = sockets("0.0.0.0:0");
        socket.sources_wanted();
        let ours = "127.0.0.2".parse().unwrap();
        socket.sources.learn(to, Some(ours), None, |_| true);
        assert!(send(&mut socket, to, &[0; 65_535]));
        assert_eq!(socket.stats().send_lost, 1);
        assert!(send(&mut socket, to, b"answer"));
        assert_eq!(remote.recv_from(&mut [0; 9]).unwrap().1.ip(), ours);
    }

    /// No machine has these addresses (RFC 5737, RFC 3849).
    #[test]
    fn an_address_that_we_have_no_more_costs_nothing() {
        for (remote, ours) in [("127.0.0.1:0", "198.51.100.1"), ("[::1]:0", "2001:db8::1")] {
            let Ok(remote) = UdpSocket::bind(remote) else {
                eprintln!("skipped: this machine has no {remote}");
                continue;
            };
            assert!(answered_from(ours, &remote).is_loopback());
        }
    }

    #[test]
    fn nobody_there_is_no_failure() {
        let gone = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = gone.local_addr().unwrap();
        drop(gone);
        for mut socket in sockets("127.0.0.1:0") {
            for _ in 0..3 {
                send(&mut socket, to, b"anyone?");
                socket.receive(&mut Inbox::new(SLOTS)).unwrap();
            }
        }
    }

    #[test]
    fn addresses_that_cannot_be_reached_cost_one_datagram() {
        for mut socket in sockets("127.0.0.1:0") {
            for to in ["[::1]:9", "127.0.0.1:0"] {
                assert!(send(&mut socket, to.parse().unwrap(), b"x"), "{to}");
            }
            let to = "127.0.0.1:9".parse().unwrap();
            assert!(send(&mut socket, to, &[0; 65_535]));
            assert_eq!(socket.stats().send_lost, 3);
        }
    }
}
