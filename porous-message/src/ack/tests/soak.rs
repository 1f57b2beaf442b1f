//! A packet that is acknowledged was accepted, and is acknowledged once, whatever the network does.

use super::*;

/// One side: the packets that it sent, by numbers that never wrap, and their acks.
struct Side {
    acks: AckSystem,
    /// For each packet sent: true once the other side has accepted it, and the number of its acks.
    sent: Vec<(bool, u32)>,
}

impl Side {
    fn new() -> Self {
        Self {
            acks: AckSystem::new(1024),
            sent: Vec::new(),
        }
    }

    fn send(&mut self) -> (u64, AckHeader) {
        self.sent.push((false, 0));
        let header = self.acks.packet_sent(Instant::ZERO);
        (self.sent.len() as u64 - 1, header)
    }

    /// Notes the acks, each for the newest packet with that number.
    fn receive(&mut self, header: &AckHeader) -> Freshness {
        let sent = &mut self.sent;
        self.acks
            .packet_received(Instant::ZERO, header, |sequence| {
                let next = sent.len() as u64;
                let behind = u64::from(wrapped(next).wrapping_sub(sequence));
                let number = next - behind;
                let (accepted, acked) = &mut sent[usize::try_from(number).unwrap()];
                *acked += 1;
                assert!(*accepted, "{number} had not come, {}", seed());
                assert_eq!(*acked, 1, "{number}, {}", seed());
            })
    }

    fn share_acked(&self) -> usize {
        let accepted = self.sent.iter().filter(|(accepted, _)| *accepted).count();
        let acked = self.sent.iter().filter(|(_, acked)| *acked > 0).count();
        acked * 100 / accepted
    }
}

struct Soak {
    sides: [Side; 2],
    lines: [Line<(u64, AckHeader)>; 2],
    step: u64,
    /// The share of packets that a side cannot use, in percent.
    refused: u64,
}

impl Soak {
    fn new(ways: [Way; 2]) -> Self {
        Self {
            sides: [Side::new(), Side::new()],
            lines: [Line::new(ways[0], "there"), Line::new(ways[1], "back")],
            step: 0,
            refused: 0,
        }
    }

    /// Each side sends one packet every `every` steps, one number for each side.
    fn run(&mut self, steps: u64, every: [u64; 2]) {
        for _ in 0..steps {
            for (side, every) in every.iter().enumerate() {
                if self.step % every == 0 {
                    let packet = self.sides[side].send();
                    self.lines[side].send(self.step, &packet);
                }
                for (number, header) in self.lines[1 - side].receive(self.step) {
                    self.receive(side, number, &header);
                }
            }
            self.step += 1;
        }
    }

    fn receive(&mut self, side: usize, number: u64, header: &AckHeader) {
        let freshness = self.sides[side].acks.check(header.sequence);
        let refused = self.refused;
        if freshness == Freshness::New && self.lines[side].happens(refused) {
            return;
        }
        if freshness == Freshness::New {
            let (accepted, _) = &mut self.sides[1 - side].sent[usize::try_from(number).unwrap()];
            assert!(!*accepted, "{number} was accepted twice, {}", seed());
            *accepted = true;
        }
        assert_eq!(self.sides[side].receive(header), freshness, "{}", seed());
    }
}

const fn losing(loss: u64) -> Way {
    Way {
        loss,
        copies: 10,
        steps: 20,
    }
}

#[test]
fn every_ack_is_of_a_packet_that_was_accepted_and_comes_once() {
    for ways in [[0, 60], [1, 0], [25, 25], [60, 40]] {
        let mut soak = Soak::new(ways.map(losing));
        soak.run(200_000, [1, 1]);
        let shares = soak.sides.each_ref().map(Side::share_acked);
        assert!(
            shares.iter().all(|share| *share >= 99),
            "{shares:?} {}",
            seed()
        );
    }
}

#[test]
fn a_packet_that_was_refused_is_never_acknowledged() {
    let mut soak = Soak::new([losing(5), losing(5)]);
    soak.refused = 30;
    soak.run(200_000, [1, 1]);
    assert!(soak.sides[0].share_acked() >= 99, "{}", seed());
}

#[test]
fn sides_of_different_pace_get_their_acks() {
    let mut soak = Soak::new([losing(5), losing(5)]);
    soak.run(200_000, [1, 3]);
    assert!(soak.sides[0].share_acked() >= 99, "{}", seed());
    assert!(soak.sides[1].share_acked() >= 99, "{}", seed());
}

#[test]
fn heavy_loss_over_three_turns_makes_no_ack_false() {
    for ways in [[99, 99], [99, 0], [0, 99]] {
        let mut soak = Soak::new(ways.map(losing));
        soak.run(4 * TURN, [1, 1]);
        let acked = soak.sides.each_ref().map(|side| side.acks.stats().acked);
        assert!(
            acked.iter().all(|acked| *acked > 100),
            "{acked:?} {}",
            seed()
        );
        assert!(soak.sides.iter().all(|side| !side.acks.has_lost_track()));
    }
}

/// Where one way is dead for long, the other side's numbers stand still until ours have come around to
/// them.
#[test]
fn silence_of_any_length_makes_no_ack_false() {
    for silence in [
        1000,
        32_000,
        33_000,
        TURN - 1000,
        TURN - 10,
        TURN + 5,
        3 * TURN,
    ] {
        let mut soak = Soak::new([losing(0), losing(0)]);
        soak.run(5000, [1, 1]);
        soak.lines[0].way.loss = 100;
        soak.run(silence, [1, 1]);
        soak.lines[0].way.loss = 50;
        let before = soak.sides[0].acks.stats().acked;
        soak.run(5000, [1, 1]);
        let is_lost = silence > 32_768;
        assert_eq!(soak.sides[0].acks.has_lost_track(), is_lost, "{silence}");
        assert_eq!(
            soak.sides[0].acks.stats().acked == before,
            is_lost,
            "{silence}"
        );
    }
}
