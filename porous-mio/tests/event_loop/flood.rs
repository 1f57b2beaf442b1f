//! More datagrams than one step takes in.

use core::time::Duration;

use porous_mio::{ChannelId, Mode};
use rustix::io::Errno;

use crate::event_loop::{
    EventLoop, LIMIT, READABLE, WRITABLE, client, connected, readable, server, stranger,
};
use crate::faulty::faulty;

/// The most errors in place of datagrams that one step takes.
const ERRORS: u64 = 1024;

/// The datagrams that a step without time takes in: eight trains of 64.
const BATCH: u64 = 512;

#[test]
fn what_is_behind_the_bound_is_taken_without_another_event() {
    let (host, faults) = faulty();
    let to = host.local_addr().unwrap();
    let mut turns = EventLoop::new();
    turns.add(host, READABLE | WRITABLE);
    stranger().send_to(b"the last", to).unwrap();
    turns.wait_until_due(0);
    let errors = 5 * ERRORS / 2;
    faults.receive(|receive| {
        let before = (0..errors).map(|_| Errno::CONNREFUSED);
        receive.next.extend(before);
    });

    let host = &mut turns.hosts[0];
    for step in 1..=2 {
        host.step().unwrap();
        assert_eq!(host.socket_stats().receive_errors, step * ERRORS);
        assert_eq!(host.timeout(), Some(Duration::ZERO));
    }
    host.step().unwrap();
    assert_eq!(host.socket_stats().receive_errors, errors);
    assert_eq!(host.stats().datagrams_received, 1);
    assert_eq!(host.timeout(), None);
}

#[test]
fn a_burst_is_taken_in_to_its_end() {
    let mut turns = EventLoop::<()>::new();
    let mut host = server();
    host.set_time_limit(Duration::ZERO);
    let to = host.local_addr().unwrap();
    turns.add(host, READABLE | WRITABLE);
    let stranger = stranger();
    for _ in 0..5 * BATCH {
        stranger.send_to(&[0xa5; 20], to).unwrap();
    }
    turns.wait(LIMIT);
    let host = &mut turns.hosts[0];
    // The socket's buffer may be smaller than the burst: no more comes than was in it.
    while host.timeout() == Some(Duration::ZERO) {
        let before = host.stats().datagrams_received;
        host.step().unwrap();
        let taken = host.stats().datagrams_received - before;
        assert!(taken <= BATCH, "{taken}");
    }
    let all = host.stats().datagrams_received;
    turns.wait(Duration::ZERO);
    turns.hosts[0].step().unwrap();
    assert_eq!(turns.hosts[0].stats().datagrams_received, all);
}

/// One host is flooded faster than it reads. In each turn it takes a bounded part, and each other host
/// that is due has a turn too: others connect and talk, also by their timers, as if there were no
/// flood.
#[test]
fn a_flood_on_one_host_holds_up_no_other() {
    const FLOODED: usize = 0;
    const LISTENER: usize = 1;
    const TIMER: usize = 2;
    const CLIENT: usize = 3;
    let mut turns = EventLoop::<()>::new();
    for host in [server(), server(), client(), client()] {
        turns.add(host, READABLE | WRITABLE);
    }
    turns.hosts[FLOODED].set_time_limit(Duration::ZERO);
    let (flooder, silent) = (stranger(), stranger());
    flooder.set_nonblocking(true).unwrap();
    let address = |index: usize| turns.hosts[index].local_addr().unwrap();
    let (flooded, listener) = (address(FLOODED), address(LISTENER));
    turns.hosts[TIMER]
        .connect(silent.local_addr().unwrap())
        .unwrap();
    let peer = turns.hosts[CLIENT].connect(listener).unwrap();

    let (mut waves, mut got, mut requests) = (0, 0, 0);
    // The second request of the third host is due by time alone.
    while waves < 30 || got < 3 || requests < 2 {
        waves += 1;
        assert!(waves < 3000, "{got} of 3 things, {requests} of 2 requests");
        for _ in 0..2000 {
            // A datagram without room is the flooder's loss.
            let _ = flooder.send_to(&[0xa5; 30], flooded);
        }
        let before = turns.hosts[FLOODED].stats().datagrams_received;
        turns.turn(Duration::from_millis(5));
        let taken = turns.hosts[FLOODED].stats().datagrams_received - before;
        assert!(taken <= BATCH, "{taken}");
        requests = turns.hosts[TIMER].stats().datagrams_sent;

        while let Some(event) = turns.hosts[CLIENT].poll_event() {
            if connected(event) == Some(peer) {
                let host = &mut turns.hosts[CLIENT];
                host.send(peer, ChannelId(0), "help", Mode::Reliable)
                    .unwrap();
                got += 1;
            }
        }
        while let Some(event) = turns.hosts[LISTENER].poll_event() {
            got += u32::from(connected(event).is_some());
            if let Some(peer) = readable(event) {
                assert_eq!(turns.hosts[LISTENER].receive(peer).unwrap().payload, "help");
                got += 1;
            }
        }
    }
    assert_eq!(turns.hosts[FLOODED].peers().count(), 0);
}
