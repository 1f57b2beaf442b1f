//! What every controller keeps to, whatever it is told.

pub(super) mod script;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;
use proptest::prelude::*;

use super::{Ack, Congestion, Controller, MAX_WINDOW, Signal, Trouble};
use crate::time::Instant;

#[derive(Clone, Debug)]
enum Call {
    Ack(Ack),
    Trouble(Trouble),
    Spurious,
    Sent(Instant, u32, u32),
    Mtu(u32),
}

/// Numbers of all sizes.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), Just(1), Just(u32::MAX), 1..3000_u32, any::<u32>()]
}

fn time() -> impl Strategy<Value = Instant> {
    prop_oneof![any::<u64>(), 0..100_000_000_u64].prop_map(Instant::from_micros)
}

fn rtt() -> impl Strategy<Value = Duration> {
    prop_oneof![
        Just(Duration::MAX),
        any::<u64>().prop_map(Duration::from_micros),
        (0..1000_u64).prop_map(Duration::from_millis),
    ]
}

fn ack() -> impl Strategy<Value = Call> {
    let limits = (any::<bool>(), number(), rtt());
    ((time(), time()), number(), number(), rtt(), limits).prop_map(
        |((now, sent), bytes, frames, smoothed_rtt, (is_limited, bandwidth, step))| {
            Call::Ack(Ack {
                now,
                bytes,
                frames: frames % 1000 + 1,
                sent,
                rtt: Some(smoothed_rtt),
                smoothed_rtt,
                in_flight: bytes,
                is_limited,
                bandwidth,
                step,
            })
        },
    )
}

fn trouble() -> impl Strategy<Value = Call> {
    let signal = prop_oneof![
        Just(Signal::Loss),
        Just(Signal::FurtherLoss),
        Just(Signal::Mark),
        Just(Signal::Persistent),
    ];
    (time(), time(), signal, number()).prop_map(|(now, sent, signal, bytes)| {
        Call::Trouble(Trouble {
            now,
            signal,
            bytes,
            sent,
            in_flight: bytes,
        })
    })
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let call = prop_oneof![
        6 => ack(),
        2 => trouble(),
        1 => Just(Call::Spurious),
        2 => (time(), number(), number()).prop_map(|(now, bytes, flight)| Call::Sent(now, bytes, flight)),
        1 => number().prop_map(Call::Mtu),
    ];
    proptest::collection::vec(call, 0..60)
}

/// An MTU for a kind: the arithmetic of the paper's controller holds only for MTUs that occur.
fn mtu_for(kind: Congestion, mtu: u32) -> u32 {
    match kind {
        Congestion::Paper => mtu.clamp(1, u16::MAX.into()),
        Congestion::Lean
        | Congestion::Reno
        | Congestion::Cubic
        | Congestion::Fixed { .. }
        | Congestion::Binary { .. }
        | Congestion::Custom(_) => mtu,
    }
}

fn tell(kind: Congestion, controller: &mut Box<dyn Controller>, call: &Call) {
    match call {
        Call::Ack(ack) => controller.on_ack(ack),
        Call::Trouble(trouble) => controller.on_trouble(trouble),
        Call::Spurious => controller.on_spurious(),
        Call::Sent(now, bytes, in_flight) => controller.on_sent(*now, *bytes, *in_flight),
        Call::Mtu(mtu) => controller.on_mtu(mtu_for(kind, *mtu)),
    }
}

/// Each kind, with these rates.
fn kinds((good, bad): (u32, u32)) -> impl Iterator<Item = Congestion> {
    Congestion::BUILT_IN
        .into_iter()
        .map(move |kind| match kind {
            Congestion::Fixed { .. } => Congestion::Fixed { rate: good },
            Congestion::Binary { .. } => Congestion::Binary { good, bad },
            Congestion::Lean
            | Congestion::Paper
            | Congestion::Reno
            | Congestion::Cubic
            | Congestion::Custom(_) => kind,
        })
}

proptest! {
    /// D6.
    #[test]
    fn whatever_a_controller_is_told_its_window_and_its_pace_are_in_range(
        mtu in number(), rates in (number(), number()), calls in calls()
    ) {
        for kind in kinds(rates) {
            let mtu = mtu_for(kind, mtu);
            let (mut one, mut other) = (kind.controller(mtu), kind.controller(mtu));
            for call in &calls {
                for controller in [&mut one, &mut other] {
                    tell(kind, controller, call);
                    prop_assert!((1..=MAX_WINDOW).contains(&controller.window()), "{controller:?}");
                    prop_assert_ne!(controller.pacing_rate(), Some(0), "{:?}", controller);
                }
                // The same calls, the same answers.
                prop_assert_eq!(alloc::format!("{one:?}"), alloc::format!("{other:?}"));
            }
        }
    }
}

#[test]
fn what_is_not_used_does_not_grow_and_a_loss_never_makes_a_window_larger() {
    for kind in [Congestion::Reno, Congestion::Cubic] {
        let mut controller = kind.controller(1200);
        let ack = Ack {
            now: Instant::from_micros(1),
            bytes: 12_000,
            frames: 10,
            sent: Instant::ZERO,
            rtt: None,
            smoothed_rtt: Duration::from_millis(50),
            in_flight: 12_000,
            is_limited: false,
            bandwidth: u32::MAX,
            step: Duration::ZERO,
        };
        controller.on_ack(&ack);
        assert_eq!(controller.window(), 12_000, "{}", kind.name());
        for signal in [
            Signal::Loss,
            Signal::Mark,
            Signal::FurtherLoss,
            Signal::Persistent,
        ] {
            let before = controller.window();
            controller.on_trouble(&Trouble {
                now: ack.now,
                signal,
                bytes: 1200,
                sent: ack.now,
                in_flight: 0,
            });
            assert!(controller.window() <= before, "{}", kind.name());
        }
    }
}
