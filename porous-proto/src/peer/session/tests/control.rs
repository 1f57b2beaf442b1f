//! Control messages that arrive (`docs/wire.md`, "Control").

use super::*;
use crate::frame::Marker;

fn control(control: Control) -> [Message<Vec<u8>>; 1] {
    [Message::Control(control)]
}

fn window(channel: u8, id: u32) -> Control {
    Control::Window { channel, id }
}

fn sentinel(channel: u8, id: u32) -> Control {
    Control::Sentinel(Marker {
        channel,
        id,
        dependency: 0,
    })
}

fn told(channel: u8) -> Control {
    Control::Told {
        channel,
        number: 3,
        next: 3,
    }
}

fn tombstone(channel: u8, id: u32) -> Control {
    Control::Tombstone(Marker {
        channel,
        id,
        dependency: 0,
    })
}

#[test]
fn a_message_of_an_impossible_channel_or_packet_is_refused() {
    // One channel; N_Q is 4096, so that M is 512; nothing was sent.
    for (n, (message, valid)) in [
        (window(0, u32::MAX), true),
        (window(0, 32 + 127), true),
        (window(0, 32 + 128), false),
        (
            Control::Ask {
                channel: 0,
                number: 3,
            },
            true,
        ),
        (
            Control::Ask {
                channel: 1,
                number: 3,
            },
            false,
        ),
        (told(0), true),
        (told(1), false),
        (window(1, u32::MAX), false),
        (sentinel(0, 511), true),
        (sentinel(0, 510), false),
        (sentinel(1, 511), false),
        (tombstone(0, 7), true),
        (tombstone(1, 7), false),
        (Control::Noop, true),
        (Control::Pong(9), true),
        (Control::PathResponse(9), true),
    ]
    .into_iter()
    .enumerate()
    {
        let mut session = session(&Config::new());
        let result = deliver(&mut session, n as u64, &control(message));
        let expected = if valid {
            Ok(())
        } else {
            Err(Ignored::BadMessage)
        };
        assert_eq!(result, expected, "{message:?}");
        session.audit(&mut Audit::default());
    }
}

/// A tombstone is charged like a packet without content.
#[test]
fn tombstones_take_of_the_receive_budget() {
    let config = Config::new().receive_budget(1, 3 * 64).unwrap();
    let mut session = session(&config);
    // The first tombstone depends on a packet that never comes, so that all three stay.
    let waits = Control::Tombstone(Marker {
        channel: 0,
        id: 1,
        dependency: 1,
    });
    for (frame, message) in [(0, waits), (1, tombstone(0, 2)), (2, tombstone(0, 3))] {
        assert_eq!(deliver(&mut session, frame, &control(message)), Ok(()));
    }
    let full = deliver(&mut session, 3, &control(tombstone(0, 4)));
    assert_eq!(full, Err(Ignored::OverBudget));
    session.audit(&mut Audit::default());
    assert_eq!(session.receive(Instant::ZERO), None);
}

/// The newest serial counts (`docs/deviations.md` C14).
#[test]
fn new_limits_of_the_remote_host_are_kept() {
    let mut session = session(&Config::new());
    let limits = |serial, receive_rate| {
        control(Control::Limits {
            serial,
            receive_rate,
        })
    };
    for (frame, serial, rate, bandwidth) in [
        (0, 1, 5000, 5000),
        (1, 3, 7000, 7000),
        (2, 2, 9, 7000),
        (3, 3, 9, 7000),
        (4, 4, u32::MAX, u32::MAX),
    ] {
        assert_eq!(deliver(&mut session, frame, &limits(serial, rate)), Ok(()));
        assert_eq!(session.transfer.bandwidth_for_test(), bandwidth);
    }
}

/// The messages of the session's next datagram.
fn answer(session: &mut Session) -> Vec<Control> {
    let mut buf = [0; 1500];
    let Some(written) = session.poll_transmit(TICK, &mut buf).unwrap() else {
        return Vec::new();
    };
    let Rest::Short(short) = decode(&buf[..written.len], 0).unwrap().rest else {
        unreachable!()
    };
    let mut messages = ArrayVec::<Message<&[u8]>, MAX_MESSAGES>::new();
    short
        .decode_body(session.agreement.context(), &mut messages)
        .unwrap();
    let control = |message: &Message<&[u8]>| match message {
        Message::Control(control) => Some(*control),
        Message::Packet(_) => None,
    };
    messages.iter().filter_map(control).collect()
}

#[test]
fn a_ping_and_a_path_challenge_are_answered_with_what_they_said() {
    let mut session = session(&Config::new());
    assert_eq!(answer(&mut session), [Control::Ping(0)]);
    assert_eq!(answer(&mut session), []);
    let ping = control(Control::Ping(0x1234));
    assert_eq!(deliver(&mut session, 0, &ping), Ok(()));
    let challenge = control(Control::PathChallenge(0x5678_9ABC));
    assert_eq!(deliver(&mut session, 1, &challenge), Ok(()));
    assert_eq!(
        answer(&mut session),
        [Control::Pong(0x1234), Control::PathResponse(0x5678_9ABC)]
    );
    assert_eq!(answer(&mut session), []);
}
