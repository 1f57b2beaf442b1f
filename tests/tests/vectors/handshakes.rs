//! ACK, alone and with what may stand behind it.

use porous_tests::encoder::{self, Message, VERSION, long};

use super::frames::Frame;
use super::offers::{ACK, ANSWERS, ASKS, Parameters, REQ, bytes, padded};
use super::vector::{Context, Vector};

pub(crate) fn all() -> Vec<Vector> {
    [alone(), with_requests(), with_frames()].concat()
}

fn alone() -> Vec<Vector> {
    let offer = Parameters::least();
    let ids = (0..=20).map(|length| {
        let ack = long(ACK, VERSION, [ANSWERS, ASKS], &offer.body(&bytes(length)));
        Vector::long(format!("ACK: a connection id of {length} bytes"), ack)
    });
    let offers = [
        ("a long path", offer.clone().with(11, [0xAC, 5])),
        ("suites", offer.clone().with(12, [1, 2])),
        ("a timeout", offer.clone().with(13, [1, 2, 0, 0])),
        (
            "a parameter that is not known",
            offer.clone().with(100, bytes(9)),
        ),
        (
            "255 channels",
            offer
                .clone()
                .with(2, [vec![255], vec![0x55; 63], vec![0x15]].concat()),
        ),
    ];
    let offers = offers.map(|(name, offer)| Vector::long(format!("ACK: {name}"), offer.ack()));
    ids.chain(offers).collect()
}

fn with_requests() -> Vec<Vector> {
    let offer = Parameters::least();
    let greeting = offer.clone().with(14, bytes(20));
    let other = long(REQ, VERSION, [ANSWERS ^ 1, 0], &offer.body(&[]));
    let datagrams = [
        (
            "the request of its sender",
            [offer.ack(), offer.second_req()].concat(),
        ),
        (
            "a padded request",
            padded([offer.ack(), offer.second_req()].concat(), 1200),
        ),
        (
            "a request with a greeting",
            [offer.ack(), greeting.second_req()].concat(),
        ),
        ("a first request", [offer.ack(), offer.req()].concat()),
        (
            "a request with another nonce",
            [offer.ack(), other].concat(),
        ),
        ("a REQ with COOKIE", [offer.ack(), offer.cookie()].concat()),
    ];
    datagrams
        .map(|(name, bytes)| Vector::long(format!("ACK and {name}"), bytes))
        .into()
}

fn with_frames() -> Vec<Vector> {
    let offer = Parameters::least();
    let ack = long(ACK, VERSION, [ASKS, ANSWERS], &offer.body(&[0xD1, 0xD2]));
    let mut all = Vec::new();
    for (name, is_crc) in [("head", false), ("all", true)] {
        let context = Context {
            is_crc,
            ..Context::PLAIN
        };
        let ping = Frame::new(context).message(Message::Control(vec![1, 1, 0]));
        let packet = encoder::Packet::whole(1, 0, 0, 0, b"hello".to_vec());
        let packet = Frame::new(context).id(3, 1).message(packet.into());
        for (what, frame) in [("a ping", ping), ("a packet", packet)] {
            let name = format!("ACK and {what}, with a check of: {name}");
            let bytes = [ack.clone(), frame.encode()].concat();
            all.push(Vector::short(name, context, bytes));
        }
    }
    all
}
