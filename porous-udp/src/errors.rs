//! Tests of what a host does about each error of its socket. The errors are simulated; all else is real.

use alloc::sync::Arc;
use core::time::Duration;
use std::io::{self, ErrorKind};
use std::net::UdpSocket;

use porous_proto::{
    ChannelId, Config, DisconnectReason, Event, Instant, Listen, Mode, PeerId, PeerState,
};
use rustix::io::Errno;

use crate::endpoint::{ERRORS_PER_CALL, RETRY_SEND};
use crate::fault::{LOST, UNREACHABLE};
use crate::faulty::{Directions, Failure, Faulty};
use crate::{Clock, Endpoint, SystemSocket, bind};

/// Far longer than any of these tests waits.
const LIMIT: Duration = Duration::from_secs(20);

/// Both ways to pass datagrams: a host does the same about an error on either.
const PATHS: [Open; 2] = [Endpoint::new, Endpoint::plain];

/// All errors that cost a datagram.
fn all_lost() -> impl Iterator<Item = &'static Errno> {
    LOST.iter().chain(UNREACHABLE)
}

type Open = fn(Faulty, Config) -> io::Result<Endpoint<Faulty>>;

fn step<S: SystemSocket>(host: &mut Endpoint<S>) -> io::Result<()> {
    host.receive_datagrams()?;
    host.transmit()
}

/// A client on a faulty socket, and the way to make it fail.
fn client(open: Open) -> (Endpoint<Faulty>, Arc<Directions>) {
    let socket = Faulty::bind("127.0.0.1:0");
    let faults = Arc::clone(&socket.faults);
    (open(socket, Config::client()).unwrap(), faults)
}

/// A client on a faulty socket, connected to a server on a real one.
struct Pair {
    client: Endpoint<Faulty>,
    server: Endpoint<UdpSocket>,
    faults: Arc<Directions>,
    to_server: PeerId,
    to_client: PeerId,
}

/// Calls `step` until it returns something.
fn soon<T>(what: &str, mut step: impl FnMut() -> Option<T>) -> T {
    let clock = Clock::start();
    while clock.now().saturating_duration_since(Instant::ZERO) < LIMIT {
        if let Some(found) = step() {
            return found;
        }
    }
    panic!("{what} did not come");
}

fn connected(host: &mut Endpoint<UdpSocket>) -> Option<PeerId> {
    while let Some(event) = host.poll_event() {
        if let Event::Connected { peer, .. } = event {
            return Some(peer);
        }
    }
    None
}

impl Pair {
    fn new(open: Open) -> Self {
        let (mut client, faults) = client(open);
        let socket = bind("127.0.0.1:0").unwrap();
        let mut server = Endpoint::new(socket, Config::new()).unwrap();
        server.listen(Listen::Open).unwrap();
        let to_server = client.connect(server.local_addr().unwrap()).unwrap();
        let mut to_client = None;
        soon("the connection", || {
            step(&mut client).unwrap();
            step(&mut server).unwrap();
            to_client = to_client.or_else(|| connected(&mut server));
            let state = client.peer(to_server).unwrap().state();
            (state == PeerState::Connected && to_client.is_some()).then_some(())
        });
        Self {
            client,
            server,
            faults,
            to_server,
            to_client: to_client.unwrap(),
        }
    }

    fn fail_send(&self, failure: impl Into<Failure>) {
        self.faults.send().next.push_back(failure.into());
    }

    fn fail_receive(&self, failure: impl Into<Failure>) {
        self.faults.receive().next.push_back(failure.into());
    }

    fn send(&mut self, payload: Vec<u8>) -> io::Result<()> {
        self.send_as(Mode::Reliable, payload)
    }

    /// Queues a packet at the client and steps until the socket was asked to send something.
    fn send_as(&mut self, mode: Mode, payload: Vec<u8>) -> io::Result<()> {
        let channel = ChannelId(0);
        self.client
            .send(self.to_server, channel, payload, mode)
            .unwrap();
        let calls = self.faults.send().calls;
        soon("an attempt to send", || {
            let result = step(&mut self.client);
            step(&mut self.server).unwrap();
            (result.is_err() || self.faults.send().calls > calls).then_some(result)
        })
    }

    /// Drives both until the server has all of these packets of the client, in this order.
    fn arrive(&mut self, wanted: impl IntoIterator<Item = Vec<u8>>) {
        for wanted in wanted {
            let payload = soon("a packet", || {
                step(&mut self.client).unwrap();
                step(&mut self.server).unwrap();
                while self.server.poll_event().is_some() {}
                self.server.receive(self.to_client)
            });
            assert_eq!(payload.payload, wanted);
        }
        let states = [
            self.client.peer(self.to_server).unwrap().state(),
            self.server.peer(self.to_client).unwrap().state(),
        ];
        assert_eq!(states, [PeerState::Connected; 2]);
    }
}

#[test]
fn an_error_that_loses_a_datagram_on_the_way_out_is_repaired() {
    for open in PATHS {
        let mut pair = Pair::new(open);
        for (index, &errno) in all_lost().enumerate() {
            pair.fail_send(errno);
            pair.send(vec![index.try_into().unwrap()]).unwrap();
            let lost = u64::try_from(index).unwrap() + 1;
            assert_eq!(pair.client.socket_stats().send_lost, lost, "{errno:?}");
        }
        let stats = pair.client.socket_stats();
        assert_eq!((stats.send_delayed, stats.receive_errors), (0, 0));
        pair.arrive((0..all_lost().count()).map(|index| vec![index.try_into().unwrap()]));
    }
}

#[test]
fn an_attempt_ends_by_an_error_that_concerns_its_address_alone() {
    let nobody = ([127, 0, 0, 1], 9).into();
    for open in PATHS {
        for (errnos, ends) in [(UNREACHABLE, true), (LOST, false)] {
            for &errno in errnos {
                let (mut client, faults) = client(open);
                let peer = client.connect(nobody).unwrap();
                faults.send().always = Some(errno.into());
                // An error in place of a received datagram may be about another address.
                faults.receive().next.push_back(Errno::HOSTUNREACH.into());
                client.receive_datagrams().unwrap();
                assert_eq!(client.poll_event(), None, "{errno:?}");
                step(&mut client).unwrap();
                let (reason, undelivered) = (DisconnectReason::Unreachable, 0);
                let ended = Event::Disconnected {
                    peer,
                    reason,
                    undelivered,
                };
                assert_eq!(client.poll_event(), ends.then_some(ended), "{errno:?}");
            }
        }
    }
}

#[test]
fn an_error_that_says_which_port_is_closed_only_by_its_kind_is_told_of_the_only_address() {
    for open in PATHS {
        for errno in [Errno::CONNREFUSED, Errno::CONNRESET] {
            let (mut client, faults) = client(open);
            let address = ([127, 0, 0, 1], 9).into();
            let peer = client.connect(address).unwrap();
            faults.receive().next.push_back(errno.into());
            client.receive_datagrams().unwrap();
            let closed = Event::PortClosed { peer, address };
            assert_eq!(client.poll_event(), Some(closed), "{errno:?}");
        }
    }
}

#[test]
fn an_error_in_place_of_a_datagram_hides_none_behind_it() {
    for open in PATHS {
        let mut pair = Pair::new(open);
        for (index, &errno) in all_lost().enumerate() {
            let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
            let to = pair.client.local_addr().unwrap();
            let received = pair.client.stats().datagrams_received;
            stranger.send_to(b"hello", to).unwrap();
            pair.fail_receive(errno);
            step(&mut pair.client).unwrap();
            let errors = u64::try_from(index).unwrap() + 1;
            let stats = pair.client.socket_stats();
            assert_eq!(stats.receive_errors, errors, "{errno:?}");
            // Loopback delivers at once; a datagram of the server may have come too.
            assert!(
                pair.client.stats().datagrams_received > received,
                "{errno:?}"
            );
        }
        assert_eq!(pair.client.socket_stats().send_lost, 0);
        pair.send(b"still there".to_vec()).unwrap();
        pair.arrive([b"still there".to_vec()]);
    }
}

#[test]
fn a_goodbye_without_room_or_socket_is_not_waited_for() {
    for open in PATHS {
        for errno in [Errno::AGAIN, Errno::BADF] {
            let pair = Pair::new(open);
            let Pair { client, faults, .. } = pair;
            faults.send().always = Some(errno.into());
            let calls = faults.send().calls;
            drop(client);
            assert_eq!(faults.send().calls, calls + 1, "{errno:?}");
        }
    }
}

#[test]
fn a_host_whose_thread_panics_says_nothing() {
    for open in PATHS {
        let Pair { client, faults, .. } = Pair::new(open);
        let calls = faults.send().calls;
        let panicked = std::thread::spawn(move || {
            let _dropped = client;
            panic!("on purpose");
        });
        assert!(panicked.join().is_err());
        assert_eq!(faults.send().calls, calls);
    }
}

/// Windows has no signals, and gives its number for them no meaning.
#[cfg(not(windows))]
#[test]
fn a_signal_hides_nothing_that_has_arrived() {
    for open in PATHS {
        let mut pair = Pair::new(open);
        let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = pair.client.local_addr().unwrap();
        let received = pair.client.stats().datagrams_received;
        stranger.send_to(b"hello", to).unwrap();
        pair.fail_receive(Errno::INTR);
        assert!(!pair.client.receive_datagrams().unwrap());
        assert!(pair.client.stats().datagrams_received > received);
        assert_eq!(pair.client.socket_stats().receive_errors, 0);
    }
}

/// A library that keeps account of readiness does not ask the system if it knows that no datagram is there.
#[test]
fn an_error_that_means_later_needs_no_system_number() {
    for open in PATHS {
        let mut pair = Pair::new(open);
        for kind in [ErrorKind::WouldBlock, ErrorKind::Interrupted] {
            pair.faults.receive().always = Some(kind.into());
            pair.faults.send().always = Some(kind.into());
            pair.send(vec![7]).unwrap();
            assert!(pair.client.is_blocked(), "{kind:?}");

            pair.faults.receive().always = None;
            pair.faults.send().always = None;
            pair.arrive([vec![7]]);
        }
        let stats = pair.client.socket_stats();
        assert_eq!((stats.send_lost, stats.receive_errors), (0, 0));
        assert!(stats.send_delayed >= 2);
    }
}

#[test]
fn an_error_that_stays_does_not_hold_a_step() {
    for open in PATHS {
        let mut pair = Pair::new(open);
        let stays = all_lost().chain(&[Errno::INTR, Errno::AGAIN]);
        for &errno in stays {
            pair.faults.receive().always = Some(errno.into());
            let calls = pair.faults.receive().calls;
            step(&mut pair.client).unwrap();
            assert!(
                pair.faults.receive().calls - calls <= ERRORS_PER_CALL,
                "{errno:?}"
            );
        }
        pair.faults.receive().always = None;
        pair.send(b"still there".to_vec()).unwrap();
        pair.arrive([b"still there".to_vec()]);
    }
}

#[test]
fn a_datagram_without_room_is_kept_and_not_overtaken() {
    for (open, errno) in PATHS.into_iter().zip([Errno::AGAIN, Errno::INTR]) {
        let mut pair = Pair::new(open);
        pair.faults.send().always = Some(errno.into());
        // Unreliable, so that it is not sent again if it gets lost.
        pair.send_as(Mode::Unreliable, vec![0]).unwrap();
        let sent = pair.client.stats().datagrams_sent;
        for index in 1..20 {
            pair.send(vec![index]).unwrap();
        }
        let calls = pair.faults.send().calls;
        step(&mut pair.client).unwrap();
        assert_eq!(pair.faults.send().calls, calls + 1, "one attempt a step");
        assert_eq!(pair.client.stats().datagrams_sent, sent, "no other is made");
        let stats = pair.client.socket_stats();
        assert_eq!((stats.send_delayed, stats.send_lost), (21, 0), "{errno:?}");

        pair.faults.send().always = None;
        pair.arrive((0..20).map(|index| vec![index]));
    }
}

#[test]
fn a_datagram_without_room_is_due_again_soon_but_not_at_once() {
    for open in PATHS {
        let mut pair = Pair::new(open);
        pair.faults.send().always = Some(Errno::AGAIN.into());
        let before = pair.client.now();
        pair.send(vec![7]).unwrap();
        let due = pair.client.deadline().unwrap();
        assert!(due >= before + RETRY_SEND, "or a loop that asks would spin");
        assert!(due <= pair.client.now() + RETRY_SEND);
        pair.faults.send().always = None;
        pair.arrive([vec![7]]);
    }
}

/// Errors of a socket that is of no more use.
const FATAL: [Errno; 3] = [Errno::BADF, Errno::NOTSOCK, Errno::NOTCONN];

#[test]
fn a_broken_socket_is_told_once_and_breaks_nothing_else() {
    for open in PATHS {
        let mut pair = Pair::new(open);
        let mut sent = Vec::new();
        for errno in FATAL {
            let system = io::Error::from(errno);
            let expect = |verb: &str, error: &io::Error| {
                let text = error.to_string();
                let begin = format!("the UDP socket of this host cannot {verb} any more");
                assert!(text.starts_with(&begin), "{text}");
                assert!(text.ends_with(&system.to_string()), "{text}");
                assert_eq!(error.kind(), system.kind());
            };
            pair.fail_receive(errno);
            expect("receive", &step(&mut pair.client).unwrap_err());
            step(&mut pair.client).unwrap();

            pair.fail_send(errno);
            let payload = system.to_string().into_bytes();
            expect("send", &pair.send(payload.clone()).unwrap_err());
            step(&mut pair.client).unwrap();
            sent.push(payload);
        }
        let stats = pair.client.socket_stats();
        assert_eq!((stats.send_lost, stats.receive_errors), (0, 0));
        // If it was not broken after all, the connection goes on.
        pair.arrive(sent);
    }
}

/// A packet that leaves as one batch, and its bytes.
fn large() -> Vec<u8> {
    (0..8000_u16).map(|index| index.to_le_bytes()[0]).collect()
}

/// Windows has no number for what Linux says of a network card that cannot do checksums.
#[cfg(not(windows))]
#[test]
fn a_batch_that_fails_is_sent_one_by_one() {
    for (errors, lost) in [(1, 0), (2, 1)] {
        let mut pair = Pair::new(Endpoint::new);
        // The error of Linux for a network card that cannot do checksums.
        for _ in 0..errors {
            pair.fail_send(if lost == 0 { Errno::IO } else { Errno::INVAL });
        }
        // Datagrams of one length, so that they are a batch.
        let whole = vec![7; 1000];
        for _ in 0..6 {
            let (to, channel) = (pair.to_server, ChannelId(0));
            let sent = pair
                .client
                .send(to, channel, whole.clone(), Mode::Unreliable);
            assert_eq!(sent, Ok(()));
        }
        pair.send_as(Mode::Unreliable, whole.clone()).unwrap();
        let stats = pair.client.socket_stats();
        assert_eq!((stats.send_lost, stats.send_delayed), (lost, 0));
        if lost == 0 {
            pair.arrive([(); 7].map(|()| whole.clone()));
        }
    }
}

#[test]
fn a_batch_without_room_is_kept() {
    for open in PATHS {
        let mut pair = Pair::new(open);
        pair.fail_send(Errno::AGAIN);
        pair.send_as(Mode::Unreliable, large()).unwrap();
        assert!(pair.client.is_blocked());
        assert_eq!(pair.client.socket_stats().send_delayed, 1);
        pair.arrive([large()]);
    }
}

/// Linux only: other systems may be unable to send batches.
#[cfg(target_os = "linux")]
#[test]
fn a_batch_is_one_call() {
    let calls = PATHS.map(|open| {
        let mut pair = Pair::new(open);
        let calls = pair.faults.send().calls;
        pair.send_as(Mode::Unreliable, large()).unwrap();
        let calls = pair.faults.send().calls - calls;
        pair.arrive([large()]);
        calls
    });
    let [batched, plain] = calls;
    assert!(batched <= 2, "{batched}");
    assert!(plain > 6, "{plain}");
}
