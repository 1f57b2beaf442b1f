//! Datagrams and the receive budget.

mod control;

use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::config::Config;
use crate::frame::{AckBlock, Fragment, FrameWriter, Header, Layout, Packet, Rest, decode};
use crate::hooks::audit::Audit;
use crate::time::Micros;

const FRAGMENT: usize = 1200 - 48;

/// The time at which all calls are made.
const TICK: Tick = Tick {
    now: Instant::ZERO,
    step: Micros::ZERO,
    lag: Micros::ZERO,
    is_full: false,
    may_keep: u64::MAX,
    awake_since: Instant::ZERO,
    back_since: Instant::ZERO,
};

fn session(config: &Config) -> Session {
    session_with(config, config)
}

/// A session with a host that has another configuration.
fn session_with(config: &Config, theirs: &Config) -> Session {
    let agreement = Agreement::new(&config.offer(), &theirs.offer()).unwrap();
    let own = Identity {
        envelope: 0,
        nonce: 1,
        connection_id: ConnectionId::EMPTY,
        secret: 0,
    };
    let remote = Connect {
        cookie: false,
        nonce_self: 2,
        nonce_peer: 1,
        connection_id: ConnectionId::EMPTY,
        offer: theirs.offer(),
    };
    *Session::new(&own, &remote, agreement, config)
}

/// A packet, or a fragment of one of 1652 bytes. `offset`: where the fragment begins in its packet.
fn packet(id: u32, mode: Mode, len: usize, offset: Option<u32>) -> Message<Vec<u8>> {
    Message::Packet(Packet {
        mode,
        channel: 0,
        id,
        dependency: 0,
        fragment: offset.and_then(|offset| Fragment::new(offset, 1652)),
        receipt: false,
        payload: vec![7; len],
    })
}

/// Hands the session a frame with these messages.
fn deliver(session: &mut Session, id: u64, messages: &[Message<Vec<u8>>]) -> Result<(), Ignored> {
    deliver_with(session, id, None, messages)
}

/// Hands the session a frame with these messages and this acknowledgement.
fn deliver_with(
    session: &mut Session,
    id: u64,
    ack: Option<&AckBlock>,
    messages: &[Message<Vec<u8>>],
) -> Result<(), Ignored> {
    let mut buf = [0; 1500];
    let header = Header {
        connection_id: ConnectionId::EMPTY,
        id,
        id_width: 4,
        nonce: false,
        ack_now: false,
    };
    let mut layout = Layout::new(session.agreement.context());
    let mut writer = FrameWriter::new(&mut buf, &header, ack, &mut layout).unwrap();
    for (n, message) in messages.iter().enumerate() {
        writer.message(message, n + 1 == messages.len()).unwrap();
    }
    let len = writer.finish();
    let Check { ours, theirs, .. } = session.check;
    let remote = Check {
        ours: theirs,
        theirs: ours,
        ..session.check
    };
    let ids = Ids {
        frame: id,
        acked: ack.map(|block| block.largest_low.into()),
    };
    let len = remote.append(&mut buf, len, ids).unwrap();
    let Rest::Short(short) = decode(&buf[..len], 0).unwrap().rest else {
        panic!("a short form");
    };
    let words = session.handle_short(&short, Ecn::NotEct, TICK, &mut Memory::new(0))?;
    if let Some(data) = words.challenge {
        // The host answers so, where the datagram came from.
        session
            .transfer
            .signals
            .answers
            .on_path_challenge(data, TICK.now);
    }
    Ok(())
}

#[test]
fn each_direction_gets_the_smaller_of_its_two_limits() {
    let a = Config::new().bandwidth(1000, 200).unwrap();
    let b = Config::new().bandwidth(300, 5000).unwrap();
    let bandwidth = |ours, theirs| {
        let session = session_with(ours, theirs);
        session.transfer.bandwidth_for_test()
    };
    assert_eq!((bandwidth(&a, &b), bandwidth(&b, &a)), (1000, 200)); // C14
}

/// The first part of an unreliable packet makes room for a frame that has its last part and a reliable
/// packet. The last part is then all there is of its packet, and is charged as a packet that begins:
/// there is no room for both.
#[test]
fn a_fragment_of_an_evicted_packet_does_not_exceed_the_budget() {
    const LAST: usize = 500;
    let max = u32::try_from(FRAGMENT + LAST).unwrap();
    let config = Config::new().receive_budget(max, max + 64).unwrap();
    let mut session = session(&config);
    // The budget is full to the byte.
    let filler = LAST - 64;
    let first = [packet(0, Mode::Reliable, filler, None)];
    let part = [packet(1, Mode::Unreliable, FRAGMENT, Some(0))];
    assert_eq!(deliver(&mut session, 0, &first), Ok(()));
    assert_eq!(deliver(&mut session, 1, &part), Ok(()));
    let rest = [
        packet(1, Mode::Unreliable, LAST, Some(1152)),
        packet(2, Mode::Reliable, 600, None),
    ];
    assert_eq!(deliver(&mut session, 2, &rest), Err(Ignored::OverBudget));
    session.audit(&mut Audit::default());
    // The frame was not acknowledged, so that its reliable packet comes again.
    assert_eq!(deliver(&mut session, 3, &rest[1..]), Ok(()));
    session.audit(&mut Audit::default());
    for len in [filler, 600] {
        let (_, mode, payload) = session.receive(Instant::ZERO).unwrap();
        assert_eq!((mode, payload.len()), (Mode::Reliable, len));
    }
    assert_eq!(session.receive(Instant::ZERO), None);
}

/// A datagram whose acknowledgement has a wrong sum is refused before anything makes room for it.
/// T26.
#[test]
fn a_datagram_that_is_refused_for_its_acknowledgement_throws_nothing_out() {
    let config = Config::new().receive_budget(1000, 1064).unwrap();
    let mut results = Vec::new();
    for nonce in [false, true] {
        let mut session = session(&config);
        let state = [packet(0, Mode::Unreliable, 900, None)];
        assert_eq!(deliver(&mut session, 0, &state), Ok(()));
        let mut buf = [0; 1200];
        let written = session.poll_transmit(TICK, &mut buf).unwrap().unwrap();
        let Rest::Short(ping) = decode(&buf[..written.len], 0).unwrap().rest else {
            panic!("a short form");
        };
        let block = AckBlock {
            largest_low: ping.id_low,
            largest_width: 4,
            delay: None,
            map: u32::MAX << ping.id_low,
            nonce,
            marks: crate::frame::Marks::default(),
            ranges: ArrayVec::new(),
        };
        let more = [packet(1, Mode::Reliable, 900, None)];
        let result = deliver_with(&mut session, 1, Some(&block), &more);
        let evicted = u64::from(result.is_ok());
        assert_eq!(session.sequencing.totals().evicted, evicted, "{result:?}");
        session.audit(&mut Audit::default());
        results.push(result);
    }
    assert!(
        results.contains(&Err(Ignored::BadAck)) && results.contains(&Ok(())),
        "{results:?}"
    );
}
