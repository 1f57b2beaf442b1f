//! Messages that stand in several lists.

use super::*;
use crate::frame::{Control, Marker};

/// A message that is sent until it arrives.
fn tombstone(id: u32) -> Message<MessageBytes> {
    let (channel, dependency) = (0, 0);
    Message::Control(Control::Tombstone(Marker {
        channel,
        id,
        dependency,
    }))
}

fn outgoing(id: u32) -> Outgoing {
    Outgoing {
        message: tombstone(id),
        priority: Priority::Low,
        copies: 0,
        probed: false,
        is_view: false,
    }
}

fn ids(store: &Store, list: &List) -> Vec<Message<MessageBytes>> {
    store
        .iter(list)
        .map(|outgoing| outgoing.message.clone())
        .collect()
}

#[test]
fn messages_move_between_lists_in_order_and_slots_are_used_again() {
    let mut store = Store::new();
    let (mut a, mut b) = (List::EMPTY, List::EMPTY);
    for id in 0..3 {
        store.push(&mut a, outgoing(id));
    }
    store.shift(&mut a, &mut b);
    store.shift(&mut a, &mut b);
    assert_eq!(ids(&store, &b), [tombstone(0), tombstone(1)]);
    assert!(store.pop(&mut b).is_some() && store.pop(&mut b).is_some());
    assert!(b.is_empty() && store.pop(&mut b).is_none());
    store.push(&mut a, outgoing(7));
    store.push(&mut a, outgoing(8));
    assert_eq!((store.nodes.len(), store.entries.len()), (3, 3));
    assert_eq!(ids(&store, &a).len(), 3);
}

/// A message that stands in three frames, the third of which is lost first.
fn in_three_frames() -> (Store, [List; 3]) {
    let mut store = Store::new();
    let mut lists = [List::EMPTY, List::EMPTY, List::EMPTY];
    let [first, second, third] = &mut lists;
    store.push(first, outgoing(1));
    store.repeat(first, second, Instant::ZERO, |_, _| true);
    store.repeat(second, third, Instant::ZERO, |_, _| true);
    store.repeat(first, third, Instant::ZERO, |_, _| false);
    assert_eq!((store.used(), store.len(third)), (3, 1));
    assert!(matches!(store.pop(third), Some(None)));
    (store, lists)
}

#[test]
fn a_message_arrives_once() {
    let (mut store, [mut first, mut second, _]) = in_three_frames();
    assert!(matches!(store.pop_arrived(&mut second), Some(Some(_))));
    assert_eq!(
        (store.front(&first).is_none(), store.len(&first)),
        (true, 1)
    );
    assert!(matches!(store.pop_arrived(&mut first), Some(None)));
    assert_eq!(store.used(), 0);
    store.push(&mut first, outgoing(2));
    assert_eq!((store.nodes.len(), store.entries.len()), (3, 1));
}

/// P6.
#[test]
fn a_message_is_lost_when_all_frames_are_that_carried_it() {
    let (mut store, [mut first, mut second, _]) = in_three_frames();
    assert!(matches!(store.pop(&mut first), Some(None)));
    assert!(matches!(store.pop(&mut second), Some(Some(_))));
    assert_eq!(store.used(), 0);
}

#[test]
fn what_arrived_is_not_repeated_and_not_lost() {
    let (mut store, [mut first, mut second, mut third]) = in_three_frames();
    assert!(matches!(store.pop_arrived(&mut first), Some(Some(_))));
    store.repeat(&second, &mut third, Instant::ZERO, |_, _| true);
    assert!(third.is_empty());
    assert!(matches!(store.pop(&mut second), Some(None)));
}
