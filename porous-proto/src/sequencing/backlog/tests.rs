//! The queue of packets without an id: order, age, replacement.

use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;

const AGE: Duration = Duration::from_micros(100);

fn at(micros: u64) -> Instant {
    Instant::from_micros(micros)
}

fn name(waiting: &Waiting) -> &str {
    core::str::from_utf8(&waiting.payload).unwrap()
}

/// Packets sent one microsecond apart, by the first letter of their names unreliable or reliable.
fn backlog(names: &str) -> Backlog {
    let mut backlog = Backlog::new(AGE);
    for (micros, name) in names.split_whitespace().enumerate() {
        let mode = if name.starts_with('u') {
            Mode::Unreliable
        } else {
            Mode::Reliable
        };
        backlog.push(Bytes::copy_from_slice(name.as_bytes()), mode.into());
        backlog.look(at(micros as u64));
    }
    backlog
}

fn rest(backlog: &mut Backlog) -> Vec<Bytes> {
    core::iter::from_fn(|| Some(backlog.pop()?.payload)).collect()
}

#[test]
fn packets_leave_in_the_order_they_were_sent_and_the_oldest_unreliable_one_is_known() {
    let mut backlog = backlog("r0 u1 u2 r3 r4 u5");
    assert_eq!(backlog.next_expiry(), at(1 + 100 + 1));
    let front = backlog.front().map(name).map(str::len);
    assert_eq!(front, Some(2));
    assert_eq!(rest(&mut backlog), ["r0", "u1", "u2", "r3", "r4", "u5"]);
    assert!(backlog.is_empty() && backlog.next_expiry().is_never());
}

#[test]
fn unreliable_packets_can_be_taken_out_from_behind_others() {
    let mut backlog = backlog("r0 u1 r2 u3");
    assert!(backlog.pop_expired(at(101)).is_none());
    assert_eq!(backlog.pop_expired(at(102)).unwrap().payload, "u1");
    assert!(backlog.pop_expired(at(102)).is_none());
    assert_eq!(rest(&mut backlog), ["r0", "r2", "u3"]);
}

#[test]
fn a_queue_that_has_become_short_gives_back_its_memory() {
    let mut backlog = backlog(&"r ".repeat(10_000));
    while backlog.pop().is_some() {}
    assert!(backlog.queue.capacity() <= SMALL);
}

#[test]
fn a_queue_that_is_a_quarter_full_is_left_alone() {
    let mut backlog = backlog(&"r ".repeat(10_000));
    let before = backlog.queue.capacity();
    while 4 * backlog.queue.len() > before {
        backlog.pop();
        assert_eq!(backlog.queue.capacity(), before);
    }
    assert!(backlog.pop().is_some() && backlog.pop().is_some());
    let (len, after) = (backlog.queue.len(), backlog.queue.capacity());
    assert!((2 * len..before).contains(&after), "{after}");
}

#[test]
fn places_that_are_empty_are_given_back() {
    let mut backlog = Backlog::new(AGE);
    let hold = SendOptions::new(Mode::Reliable);
    backlog.push(Bytes::from_static(b"first"), hold);
    for token in 0..10_000 {
        backlog.push(Bytes::new(), hold.receipt(token));
    }
    for token in 0..10_000 {
        assert!(backlog.pop_receipt(token).is_some());
        assert!(backlog.pop_receipt(token).is_none());
    }
    assert!(backlog.queue.capacity() <= 4 * SMALL && backlog.empty <= SMALL);
    assert_eq!(rest(&mut backlog), ["first"]);
    assert!(backlog.others().receipts.is_empty());
}

/// D3.
#[test]
fn a_newer_packet_with_the_same_key_takes_the_place_of_the_older_one() {
    let mut backlog = Backlog::new(AGE);
    let keyed = SendOptions::new(Mode::Unreliable).key(7);
    assert!(backlog.push("a1".into(), keyed).is_none());
    assert!(backlog.push("b".into(), Mode::Reliable.into()).is_none());
    backlog.look(at(0));
    let older = backlog.push("a2".into(), keyed).unwrap();
    assert_eq!(older.payload, "a1");
    // It is as old as itself, not as the packet whose place it took.
    backlog.look(at(50));
    assert_eq!(backlog.next_expiry(), at(50 + 100 + 1));
    assert_eq!(backlog.front().map(name), Some("a2"));
    assert_eq!(rest(&mut backlog), ["a2", "b"]);
    assert!(backlog.push("a3".into(), keyed).is_none());
}

/// An application that offers packets to a link of a packet a millisecond.
#[derive(Debug)]
struct Line {
    backlog: Backlog,
    now: Instant,
    /// How long the packets that have left waited, in milliseconds.
    waited: Vec<u64>,
    dropped: usize,
}

impl Line {
    fn new(age: Duration) -> Self {
        Self {
            backlog: Backlog::new(age),
            now: at(1_000_000),
            waited: Vec::new(),
            dropped: 0,
        }
    }

    /// In each of these milliseconds `each` packets are sent, and one leaves.
    fn run(&mut self, millis: u64, each: impl Fn(u64) -> Vec<SendOptions>) {
        for n in 0..millis {
            let packets = each(n);
            let any = !packets.is_empty();
            for options in packets {
                self.backlog.push(Bytes::new(), options);
            }
            if any {
                self.backlog.look(self.now);
                while self.backlog.pop_outrun(self.now).is_some() {
                    self.dropped += 1;
                }
            }
            if let Some(waiting) = self.backlog.pop() {
                let waited = self.now.since(waiting.since);
                self.backlog.left(waited, self.now);
                self.waited.push(waited.get() / 1000);
            }
            self.now = self.now + Micros::from_millis(1);
        }
    }

    /// The longest time that one of the newest packets that have left waited.
    fn longest(&self, newest: usize) -> Option<u64> {
        self.waited.iter().rev().take(newest).max().copied()
    }
}

/// 1.2 packets a millisecond.
fn too_many(options: SendOptions) -> impl Fn(u64) -> Vec<SendOptions> {
    move |n| alloc::vec![options; if n % 5 == 0 { 2 } else { 1 }]
}

const SECONDS: Duration = Duration::from_secs(2);

const STATE: SendOptions = SendOptions::new(Mode::Unreliable);

/// T8.
#[test]
fn in_a_queue_that_stands_older_packets_give_way_to_newer_ones() {
    for options in [STATE, STATE.receipt(7)] {
        let mut line = Line::new(SECONDS);
        line.run(2000, too_many(options));
        let longest = line.longest(1000);
        assert!(longest.is_some_and(|ms| ms <= 62), "{longest:?}");
        assert_eq!(line.waited.len(), 2000, "the line is never idle");
        let waiting = line.backlog.len();
        assert_eq!(line.waited.len() + line.dropped + waiting, 2400);
        // Once the application offers less, the queue is sent to its end.
        let dropped = line.dropped;
        line.run(200, |n| alloc::vec![options; usize::from(n % 2 == 0)]);
        assert!(line.backlog.is_empty() && line.dropped < dropped + 20);
        assert!(line.backlog.late.is_never());
    }
}

/// T8.
#[test]
fn a_burst_is_sent_whole_if_it_ends_soon_or_nothing_newer_follows() {
    let mut line = Line::new(SECONDS);
    let burst = |packets, every: u64| {
        move |n: u64| match n {
            0 => alloc::vec![STATE; packets],
            _ => alloc::vec![STATE; usize::from(n % every == 0)],
        }
    };
    for _ in 0..3 {
        line.run(400, burst(300, 33));
        assert!(line.backlog.is_empty() && line.dropped == 0);
    }
    line.run(2000, burst(1900, u64::MAX));
    assert!(line.backlog.is_empty() && line.dropped == 0);
    // Newer packets follow, and the rest of it gives way to them.
    line.run(2000, burst(1900, 33));
    assert!(line.dropped > 1400, "{}", line.dropped);
}

/// T8.
#[test]
fn reliable_packets_packets_with_a_time_to_live_and_those_of_any_age_do_not_give_way() {
    for (options, age) in [
        (SendOptions::new(Mode::Reliable), SECONDS),
        (SendOptions::new(Mode::Passive), SECONDS),
        (STATE.ttl(SECONDS), SECONDS),
        (STATE, Duration::MAX),
        // What becomes of it where a configuration is written as text.
        (STATE, Duration::from_millis(i64::MAX as u64)),
    ] {
        let mut line = Line::new(age);
        line.run(2000, too_many(options));
        assert_eq!((line.waited.len(), line.dropped), (2000, 0));
    }
}

/// T8. All that waits behind a file is late: the newest packets in front of each part of it leave.
#[test]
fn unreliable_packets_among_reliable_ones_are_not_all_dropped() {
    let mut line = Line::new(SECONDS);
    line.run(2000, |n| match n % 3 {
        0 => alloc::vec![Mode::Reliable.into(), STATE],
        _ => alloc::vec![STATE, STATE],
    });
    assert!(line.dropped > 500, "{}", line.dropped);
    let longest = line.longest(500);
    assert!(longest.is_some_and(|ms| ms <= 70), "{longest:?}");
    let mut line = Line::new(SECONDS);
    line.run(2000, |_| alloc::vec![Mode::Reliable.into(), STATE]);
    assert_eq!((line.waited.len(), line.dropped), (2000, 0));
}

/// A thing that happens to a backlog.
#[derive(Clone, Copy, Debug)]
enum Step {
    Send(SendOptions),
    Look(u64),
    Pop,
    Cancel(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let small = || proptest::option::of(0_u64..6);
    let mode =
        proptest::sample::select(alloc::vec![Mode::Unreliable, Mode::Reliable, Mode::Passive]);
    let send = (mode, small(), small(), small()).prop_map(|(mode, ttl, receipt, key)| {
        let mut options = SendOptions::new(mode);
        options.ttl = ttl.map(|ttl| Duration::from_micros(ttl * 30));
        (options.receipt, options.key) = (receipt, key);
        Step::Send(options)
    });
    let step = prop_oneof![
        5 => send,
        2 => (0_u64..40).prop_map(Step::Look),
        2 => Just(Step::Pop),
        1 => (0_u64..6).prop_map(Step::Cancel),
    ];
    proptest::collection::vec(step, 0..200)
}

/// A backlog that is a list, searched from its beginning.
#[derive(Debug, Default)]
struct Naive(Vec<(u64, SendOptions, Option<u64>)>);

impl Naive {
    fn expires(options: &SendOptions, since: u64) -> u64 {
        let ttl = options.ttl.map_or(u64::MAX, |ttl| since + micros(ttl) + 1);
        match options.mode {
            Mode::Unreliable => ttl.min(since + micros(AGE) + 1),
            Mode::Reliable | Mode::Passive => ttl,
        }
    }

    fn take(&mut self, which: impl Fn(&(u64, SendOptions, Option<u64>)) -> bool) -> Option<u64> {
        let index = self.0.iter().position(which)?;
        Some(self.0.remove(index).0)
    }

    fn send(&mut self, number: u64, options: SendOptions) -> Option<u64> {
        let same = |one: &&mut (u64, SendOptions, Option<u64>)| one.1.key == options.key;
        let older = self
            .0
            .iter_mut()
            .find(same)
            .filter(|_| options.key.is_some());
        match older {
            Some(older) => Some(core::mem::replace(older, (number, options, None)).0),
            None => {
                self.0.push((number, options, None));
                None
            }
        }
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap()
}

fn number(waiting: Waiting) -> u64 {
    u64::from_le_bytes(waiting.payload[..].try_into().unwrap())
}

proptest! {
    /// D3.
    #[test]
    fn a_backlog_does_what_a_list_that_is_searched_would(steps in steps()) {
        let (mut backlog, mut naive) = (Backlog::new(AGE), Naive::default());
        let mut now = 0;
        for (n, step) in (0_u64..).zip(steps) {
            match step {
                Step::Send(options) => {
                    let payload = Bytes::copy_from_slice(&n.to_le_bytes());
                    let replaced = backlog.push(payload, options).map(number);
                    prop_assert_eq!(replaced, naive.send(n, options));
                }
                Step::Look(elapsed) => {
                    now += elapsed;
                    backlog.look(at(now));
                    naive.0.iter_mut().for_each(|one| one.2 = one.2.or(Some(now)));
                    let mut gone: Vec<_> =
                        core::iter::from_fn(|| backlog.pop_expired(at(now)).map(number)).collect();
                    gone.sort_unstable();
                    let mut expected = Vec::new();
                    naive.0.retain(|(n, options, since)| {
                        let over = since.is_some_and(|since| Naive::expires(options, since) <= now);
                        expected.extend(over.then_some(*n));
                        !over
                    });
                    expected.sort_unstable();
                    prop_assert_eq!(gone, expected);
                    let next = naive.0.iter().map(|(_, o, since)| Naive::expires(o, since.unwrap()));
                    let next = next.min().unwrap_or(u64::MAX);
                    prop_assert_eq!(backlog.next_expiry().as_micros(), next);
                }
                Step::Pop => prop_assert_eq!(backlog.pop().map(number), naive.take(|_| true)),
                Step::Cancel(token) => {
                    let cancelled = backlog.pop_receipt(token).map(number);
                    prop_assert_eq!(cancelled, naive.take(|one| one.1.receipt == Some(token)));
                }
            }
            prop_assert_eq!(backlog.iter().count(), naive.0.len());
            prop_assert_eq!(backlog.is_empty(), naive.0.is_empty());
        }
    }
}
