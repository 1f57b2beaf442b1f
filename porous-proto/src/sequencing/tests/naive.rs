//! The receive queue beside one that takes the paper literally and walks through all entries (§3.2.3).

use alloc::collections::BTreeMap;

use proptest::prelude::*;

use super::super::rules::{is_satisfied, may_consume};
use super::*;
use crate::buffers::Buffers;

const WINDOW: u64 = 32;
const SPACING: u64 = 4;

#[derive(Debug)]
struct Entry {
    dependency: u32,
    complete: bool,
    sentinel: bool,
}

/// The entries, and m_b.
#[derive(Debug, Default)]
struct Naive(BTreeMap<u64, Entry>, u64);

impl Naive {
    fn arrive(&mut self, message: &Message<MessageBytes>) {
        let (id, dependency, complete) = match message {
            Message::Packet(packet) => (
                packet.id,
                packet.dependency.into(),
                packet.fragment.is_none(),
            ),
            Message::Control(Control::Sentinel(Marker { id, dependency, .. })) => {
                (*id, *dependency, false)
            }
            Message::Control(other) => unreachable!("{other:?}"),
        };
        if u64::from(id) < self.1 {
            return;
        }
        let entry = self.0.entry(id.into()).or_insert(Entry {
            dependency,
            complete,
            sentinel: false,
        });
        entry.complete |= complete;
        entry.sentinel |= matches!(message, Message::Control(_));
    }

    /// Consumes up to the next packet that is delivered.
    fn deliver(&mut self) -> Option<u64> {
        let newest = *self.0.last_key_value()?.0;
        for (&id, entry) in &self.0 {
            if !is_satisfied(id, entry.dependency, self.1) {
                return None;
            }
            let blocks = entry.sentinel && may_consume(id, newest, WINDOW, SPACING);
            if entry.complete || blocks {
                let complete = entry.complete;
                self.1 = id + 1;
                self.0 = self.0.split_off(&self.1);
                return if complete { Some(id) } else { self.deliver() };
            }
        }
        None
    }
}

proptest! {
    #[test]
    fn packets_are_consumed_as_a_walk_through_all_of_them_would(
        packets in proptest::collection::vec((0_u8..3, any::<bool>()), 100),
        order in proptest::collection::vec((0_usize..40, 0_u8..8), 150),
    ) {
        let mut wire = Wire::new(params(WINDOW, SPACING));
        let mut naive = Naive::default();
        let mut packets = packets.into_iter();
        let mut sent = 0_u8;
        for (pick, what) in order {
            if what == 0 {
                // One packet is read, and the window acknowledgement lets the sender go on.
                let delivered = wire.receiver.receive(NOW).map(|(_, _, payload)| payload[0]);
                prop_assert_eq!(delivered.map(u64::from), naive.deliver());
                prop_assert_eq!(wire.m_b(), naive.1);
                wire.window_acks();
            }
            while wire.messages.len() <= pick {
                let Some((mode, long)) = packets.next() else { break };
                let mode = [Mode::Unreliable, Mode::Reliable, Mode::Passive][usize::from(mode)];
                sent += 1; // as ids do, which all packets get in this order
                // Of long packets only one fragment ever comes.
                let len = if long { 15 } else { 1 };
                wire.sender.send(0, Bytes::from(alloc::vec![sent - 1; len]), mode);
                let before = wire.messages.len();
                wire.send("");
                if wire.messages.len() == before {
                    break;
                }
            }
            if wire.messages.is_empty() {
                continue;
            }
            let message = wire.messages.remove(pick % wire.messages.len());
            let is_rest = |packet: &Packet<MessageBytes>| {
                packet.fragment.is_some_and(|part| part.offset > 0)
            };
            match &message {
                Message::Packet(packet) if is_rest(packet) => continue,
                Message::Packet(packet) => wire.receiver.next_frame().on_packet(&borrow(packet), NOW, &mut Buffers::new(0)),
                Message::Control(Control::Sentinel(marker)) => {
                    wire.receiver.next_frame().on_sentinel(*marker);
                }
                Message::Control(other) => unreachable!("{other:?}"),
            }
            wire.confirm();
            naive.arrive(&message);
        }
    }
}
