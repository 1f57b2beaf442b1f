//! Work is bounded by what comes in: a connected peer that does its worst makes no datagram cost
//! much more than its bytes (`docs/design.md`, "What may a datagram cost?").

use alloc::vec;
use alloc::vec::Vec;

use arrayvec::ArrayVec;

use crate::frame::{
    AckBlock, AckRange, Check, Context, Control, Datagram, FrameWriter, Header, Ids, Layout,
    Message, Packet, Rest, Short, decode,
};
use crate::hooks::doc::ExampleRng;
use crate::hooks::work;
use crate::peer::Agreement;
use crate::{ChannelId, Config, Disposition, Ecn, Host, Ignored, Instant, Listen, Mode, PeerId};
use crate::{Policy, Priority};

/// A host whose peer, at address 1, is up to no good.
pub(super) struct Victim {
    pub(super) host: Host<ExampleRng, u32>,
    pub(super) peer: PeerId,
    header: Header,
    check: Check,
    context: Context,
    /// N_P and N_Q, which are equal.
    window: u64,
    /// The ids of frames that the host sent.
    sent: Vec<u32>,
    now: Instant,
}

impl Victim {
    fn new(window: u32, policy: Policy) -> Self {
        let config = Config::new()
            .policy(policy)
            .windows(window, window)
            .and_then(|config| config.channels(&[Priority::Low; 255]))
            .unwrap();
        Self {
            window: window.into(),
            ..Self::with(config)
        }
    }

    /// The windows are those of [`Config::new`].
    pub(super) fn with(config: Config) -> Self {
        let mut host = Host::new(config.clone(), ExampleRng(3));
        let mut honest = Host::new(config.clone(), ExampleRng(4));
        host.listen(Listen::Open).unwrap();
        honest.connect(Instant::ZERO, 2).unwrap();
        for _ in 0..4 {
            crate::hooks::doc::carry(&mut honest, 1, &mut host);
            crate::hooks::doc::carry(&mut host, 2, &mut honest);
        }
        let (peer, known) = host.peers().next().unwrap();
        let header = Header {
            connection_id: known.connection_id(),
            id: 100,
            id_width: 4,
            nonce: false,
            ack_now: false,
        };
        let agreement = Agreement::new(&config.offer(), &config.offer()).unwrap();
        let check = Check {
            integrity: agreement.integrity,
            ours: known.remote_nonce().unwrap(),
            theirs: known.nonce(),
        };
        Self {
            host,
            peer,
            header,
            check,
            context: agreement.context(),
            window: 4096,
            sent: Vec::new(),
            now: Instant::ZERO,
        }
    }

    /// Takes a frame with these contents, and does what follows from it. Asserts that its bytes pay for
    /// the work.
    #[track_caller]
    pub(super) fn take(
        &mut self,
        ack: Option<&AckBlock>,
        messages: &[Message<&[u8]>],
    ) -> Disposition {
        let mut buffer = vec![0; 65_536];
        let mut layout = Layout::new(self.context);
        let mut writer = FrameWriter::new(&mut buffer, &self.header, ack, &mut layout).unwrap();
        for (index, message) in messages.iter().enumerate() {
            writer
                .message(message, index + 1 == messages.len())
                .unwrap();
        }
        let len = writer.finish();
        let ids = Ids {
            frame: self.header.id,
            acked: ack.map(|block| block.largest_low.into()),
        };
        let len = self.check.append(&mut buffer, len, ids).unwrap();
        let before = work::done();
        let disposition = self
            .host
            .handle_datagram(self.now, 1, Ecn::NotEct, &buffer[..len]);
        let handled = work::done() - before;
        self.assert_worth(handled, len, messages.len());
        while self.host.poll_event().is_some() {}
        self.transmit();
        self.header.id += 1;
        disposition
    }

    /// Asserts that a datagram took at most a step for each byte, and for each message one for 16 ids of
    /// the window.
    #[track_caller]
    fn assert_worth(&self, steps: u64, bytes: usize, messages: usize) {
        let allowed = 600 + 8 * bytes as u64 + (messages as u64 + 2) * (self.window / 16);
        assert!(
            steps <= allowed,
            "{steps} steps for {bytes} bytes, {messages} messages"
        );
    }

    #[track_caller]
    fn transmit(&mut self) {
        let mut buf = [0; 1200];
        loop {
            let before = work::done();
            let Some(transmit) = self.host.poll_transmit(self.now, &mut buf) else {
                self.assert_worth(work::done() - before, 0, 0);
                return;
            };
            let len = transmit.datagram.len();
            if let Ok(Datagram {
                rest: Rest::Short(Short { id_low, .. }),
                ..
            }) = decode(transmit.datagram, 4)
            {
                self.sent.push(id_low);
            }
            self.assert_worth(work::done() - before, len, len / 8);
        }
    }

    /// Reads all there is.
    #[track_caller]
    fn read(&mut self) -> usize {
        let mut count = 0;
        loop {
            let before = work::done();
            let received = self.host.receive(self.peer);
            self.assert_worth(work::done() - before, 0, 0);
            if received.is_none() {
                return count;
            }
            count += 1;
        }
    }
}

const NOOP: Message<&[u8]> = Message::Control(Control::Noop);

fn packet(channel: u8, id: u64, mode: Mode, dependency: u16) -> Message<&'static [u8]> {
    Message::Packet(Packet {
        mode,
        channel,
        id: u32::try_from(id % (1 << 16)).unwrap(),
        dependency,
        fragment: None,
        receipt: false,
        payload: b"x",
    })
}

fn both(test: impl Fn(Victim)) {
    for window in [4096, 16_384] {
        test(Victim::new(window, Policy::Modern));
    }
}

#[test]
fn leaps_of_frame_ids_cost_little() {
    both(|mut victim| {
        for leap in [1, 40, 1000, 4095, 4096, 65_536, 1 << 24] {
            for _ in 0..50 {
                victim.header.id += leap;
                let taken = victim.take(None, &[NOOP]);
                if leap >= 128 {
                    assert_eq!(taken, Disposition::Ignored(Ignored::TooFarAhead));
                    let taken = victim.take(None, &[NOOP]);
                    assert_eq!(taken, Disposition::Handled(victim.peer));
                } else {
                    assert_eq!(taken, Disposition::Handled(victim.peer));
                }
            }
        }
    });
}

#[test]
fn holes_between_frames_cost_little() {
    both(|mut victim| {
        let first = victim.header.id + 250;
        for step in [2, 3, 34] {
            for back in (0..250).step_by(step) {
                victim.header.id = first + 300 * step as u64 - back;
                victim.take(None, &[NOOP]);
            }
        }
    });
}

/// The largest id, and everything below it of which a host with this window can know.
fn ack_of_all(largest: u32, window: u64) -> AckBlock {
    let below = largest
        .saturating_sub(32)
        .min(u32::try_from(window).unwrap() - 33);
    let mut ranges = ArrayVec::new();
    if below > 0 {
        ranges.push(AckRange {
            gap: 0,
            length: below,
        });
    }
    AckBlock {
        largest_low: largest,
        largest_width: 4,
        delay: None,
        map: u32::MAX,
        nonce: false,
        marks: crate::frame::Marks::default(),
        ranges,
    }
}

#[test]
fn acknowledgements_of_everything_again_and_again_cost_little() {
    for (window, policy) in [
        (4096, Policy::Paper),
        (16_384, Policy::Paper),
        (16_384, Policy::Modern),
    ] {
        let mut victim = Victim::new(window, policy);
        let mut refused = 0;
        for n in 0..3000_u32 {
            let queued = victim
                .host
                .send(victim.peer, ChannelId(0), vec![7; 900], Mode::Reliable);
            if queued.is_err() {
                break;
            }
            victim.transmit();
            if n % 2 == 0 {
                let all = ack_of_all(*victim.sent.last().unwrap(), victim.window);
                for _ in 0..2 {
                    let taken = victim.take(Some(&all), &[NOOP]);
                    refused += u32::from(taken == Disposition::Ignored(Ignored::BadAck));
                }
            }
        }
        // The modern policy leaves ids out: each block that acknowledges one is refused.
        let believed = policy == Policy::Paper;
        assert_eq!(refused == 0, believed, "{refused}");
        assert_eq!(victim.sent.len() > 2000, believed, "{}", victim.sent.len());
    }
}

#[test]
fn packets_that_leap_over_the_window_cost_little() {
    both(|mut victim| {
        for n in 1..50 {
            let id = n * victim.window - 1;
            // Of two frames that leap equally far, the second is believed.
            for (id, read) in [(id - 1, 0), (id, 2)] {
                let taken = victim.take(None, &[packet(0, id, Mode::Unreliable, 0)]);
                assert_eq!(taken, Disposition::Handled(victim.peer));
                assert_eq!(victim.read(), read);
            }
        }
    });
}

#[test]
fn packets_that_wait_in_all_channels_cost_nothing_while_they_wait() {
    both(|mut victim| {
        for channels in [0..100, 100..200, 200..255_u8] {
            let messages: Vec<_> = channels
                .map(|channel| packet(channel, victim.window - 1, Mode::Reliable, 1))
                .collect();
            let taken = victim.take(None, &messages);
            assert_eq!(taken, Disposition::Handled(victim.peer));
        }
        for _ in 0..100 {
            victim.take(None, &[NOOP]);
            victim.take(None, &[packet(7, 5, Mode::Passive, 1)]);
        }
        assert_eq!(victim.read(), 0);
    });
}

#[test]
fn making_room_costs_little() {
    both(|mut victim| {
        let (mut id, mut refused) = (0, 0);
        // Half of the budget is taken by packets that cannot make room, in front of those that can.
        for _ in 0..1500 {
            let messages: Vec<_> = (0..100)
                .map(|n| {
                    let (mode, dependency) = if n % 2 == 0 {
                        (Mode::Passive, 1)
                    } else {
                        (Mode::Unreliable, 1)
                    };
                    packet(n, 1 + id % (victim.window - 1), mode, dependency)
                })
                .collect();
            let taken = victim.take(None, &messages);
            refused += u32::from(taken == Disposition::Ignored(Ignored::OverBudget));
            id += 1;
        }
        assert!(refused > 0, "the budget was never used up");
    });
}

#[test]
fn window_acknowledgements_for_channels_that_wait_cost_little() {
    both(|mut victim| {
        // All channels wait for the receive budget of the remote host.
        for channel in 0..255 {
            let large = vec![channel; 12 << 10];
            let sent = victim
                .host
                .send(victim.peer, ChannelId(channel), large, Mode::Reliable);
            assert_eq!(sent, Ok(()));
        }
        victim.transmit();
        for _ in 0..20 {
            let messages: Vec<_> = (0..100)
                .map(|channel| {
                    Message::Control(Control::Window {
                        channel,
                        id: u32::MAX,
                    })
                })
                .collect();
            let taken = victim.take(None, &messages);
            assert_eq!(taken, Disposition::Handled(victim.peer));
        }
    });
}
