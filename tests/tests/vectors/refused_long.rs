//! Long forms that are refused, each for one cause.

use porous_proto::Malformed::{
    self, BadValue, Reserved, TrailingBytes, Truncated, UnknownType, Version,
};
use porous_tests::encoder::{VERSION, long};

use super::endings::body;
use super::offers::{ACK, ANSWERS, ASKS, ID, Parameters, REQ, REQ_WITH_COOKIE, bytes};
use super::sealed::{SEALED, auth, message_1, message_2};
use super::vector::Vector;

pub(crate) fn all() -> Vec<Vector> {
    let parts = [
        first_bytes(),
        cut(),
        heads(),
        ids_and_versions(),
        offers(),
        channels(),
        optional(),
    ];
    [parts.concat(), behind(), refusals(), goodbyes(), sealed()].concat()
}

fn refused<const N: usize>(what: &str, all: [(&str, Vec<u8>, Malformed); N]) -> Vec<Vector> {
    let vector = |(name, bytes, cause): (&str, Vec<u8>, Malformed)| {
        Vector::long(format!("refused: {what}: {name}"), bytes).refused(cause)
    };
    all.map(vector).into()
}

fn first_bytes() -> Vec<Vector> {
    let unknown = [
        0x00, 0x01, 0x13, 0x17, 0x3F, 0x80, 0xBF, 0xF3, 0xF7, 0xFA, 0xFF,
    ]
    .map(|byte0| {
        let form = long(byte0, VERSION, [ASKS, ANSWERS], &bytes(40));
        (byte0, form, UnknownType)
    });
    let body = Parameters::least().body(&ID);
    let flags = [0xC2, 0xC4, 0xC9, 0xCF, 0xD1, 0xD3, 0xD4, 0xDF, 0xE1, 0xE8].map(|byte0| {
        let form = long(byte0, VERSION, [ASKS, ANSWERS], &body);
        (byte0, form, Reserved)
    });
    let vector = |(byte0, bytes, cause)| {
        Vector::long(format!("refused: byte 0 is {byte0:#04x}"), bytes).refused(cause)
    };
    let nothing = Vector::long("refused: no byte", Vec::new()).refused(Truncated);
    let known = unknown.into_iter().chain(flags).map(vector);
    known.chain([nothing]).collect()
}

/// Forms that end too early, in a datagram that does or in a length that does.
fn cut() -> Vec<Vector> {
    let offer = Parameters::least();
    let forms = [
        ("REQ", offer.req()),
        ("REQ with COOKIE", offer.cookie()),
        ("ACK", offer.ack()),
        (
            "REJ",
            long(0xE0, VERSION, [0, ASKS], &body(3, VERSION, b"no")),
        ),
        ("DISC", long(0xF0, VERSION, [ASKS, ANSWERS], &[42, 0, 0, 0])),
        ("DISC_ACK", long(0xF1, VERSION, [ASKS, ANSWERS], &[])),
        ("ACK with AUTH", message_2(&auth(1, 1, &[], 32 + 17))),
        (
            "DISC with a MAC",
            long(0xF8, VERSION, [ASKS, ANSWERS], &bytes(20)),
        ),
    ];
    let mut all = Vec::new();
    for (name, form) in forms {
        for length in [1, 3, 14, 15, 22]
            .into_iter()
            .chain((form.len() > 23).then_some(form.len() - 1))
        {
            let cut = form[..length].to_vec();
            let name = format!("refused: {name} of {length} bytes");
            all.push(Vector::long(name, cut).refused(Truncated));
        }
        let mut short = form.clone();
        short[1..3].copy_from_slice(&19_u16.to_le_bytes());
        let name = format!("refused: {name} whose length leaves no room for the head");
        all.push(Vector::long(name, short).refused(Truncated));
    }
    all
}

fn heads() -> Vec<Vector> {
    let body = Parameters::least().body(&ID);
    let empty = Parameters::least().body(&[]);
    let reason = [0; 4];
    let form = |byte0, nonces, body: &[u8]| long(byte0, VERSION, nonces, body);
    refused(
        "head",
        [
            ("REQ with nonce_self 0", form(REQ, [0, 0], &body), BadValue),
            (
                "REQ with COOKIE, nonce_self 0",
                form(REQ_WITH_COOKIE, [0, ASKS], &empty),
                BadValue,
            ),
            (
                "REQ with COOKIE, nonce_peer 0",
                form(REQ_WITH_COOKIE, [ANSWERS, 0], &empty),
                BadValue,
            ),
            (
                "REQ with COOKIE and an id",
                form(REQ_WITH_COOKIE, [ANSWERS, ASKS], &body),
                BadValue,
            ),
            (
                "ACK with nonce_self 0",
                form(ACK, [0, ASKS], &body),
                BadValue,
            ),
            (
                "ACK with nonce_peer 0",
                form(ACK, [ANSWERS, 0], &body),
                BadValue,
            ),
            (
                "DISC with nonce_self 0",
                form(0xF0, [0, ASKS], &reason),
                BadValue,
            ),
            (
                "DISC_ACK with nonce_peer 0",
                form(0xF1, [ASKS, 0], &[]),
                BadValue,
            ),
        ],
    )
}

fn ids_and_versions() -> Vec<Vector> {
    let body = Parameters::least().body(&ID);
    let long_id = [
        vec![21],
        bytes(21),
        Parameters::least().body(&[])[1..].to_vec(),
    ]
    .concat();
    let reason = [0; 4];
    let form = |byte0, nonces, body: &[u8]| long(byte0, VERSION, nonces, body);
    refused(
        "head",
        [
            (
                "REQ with an id of 21 bytes",
                form(REQ, [ASKS, 0], &long_id),
                BadValue,
            ),
            (
                "ACK with an id of 21 bytes",
                form(ACK, [ASKS, ANSWERS], &long_id),
                BadValue,
            ),
            (
                "ACK of another version",
                long(ACK, 2, [ASKS, ANSWERS], &body),
                Version,
            ),
            (
                "DISC of another version",
                long(0xF0, 2, [ASKS, ANSWERS], &reason),
                Version,
            ),
            (
                "DISC_ACK of another version",
                long(0xF1, 2, [ASKS, ANSWERS], &[]),
                Version,
            ),
            (
                "REQ of another version, nonce_self 0",
                long(REQ, 2, [0, 0], &[]),
                BadValue,
            ),
        ],
    )
}

/// The parameters that are always there.
fn offers() -> Vec<Vector> {
    let least = Parameters::least;
    let missing = (1..=10).map(|kind| {
        let offer = least().without(kind).with(15, [0]);
        Vector::long(
            format!("refused: offer: type {kind} is missing"),
            offer.req(),
        )
        .refused(UnknownType)
    });
    let twice = (1..=10).map(|kind| {
        let offer = least().twice(kind);
        Vector::long(format!("refused: offer: type {kind} twice"), offer.req()).refused(UnknownType)
    });
    let longer = [1, 3, 4, 5, 6, 7, 8, 9, 10].map(|kind| {
        let offer = least().with(kind, [1; 9]);
        Vector::long(
            format!("refused: offer: type {kind} of 9 bytes"),
            offer.req(),
        )
        .refused(BadValue)
    });
    let shorter = (1..=10).map(|kind| {
        let offer = least().with(kind, []);
        Vector::long(format!("refused: offer: type {kind} is empty"), offer.req()).refused(BadValue)
    });
    let values: [(&str, u8, Vec<u8>); 12] = [
        ("datagrams of 511 bytes", 3, 511_u16.to_le_bytes().into()),
        ("packets of 0 bytes", 4, vec![0; 4]),
        (
            "a budget too small for a packet",
            5,
            ((1_u32 << 20) + 63).to_le_bytes().into(),
        ),
        ("packets that no budget holds", 4, vec![0xFF; 4]),
        ("N_P of 8", 6, vec![3, 12]),
        ("N_P of 131,072", 6, vec![17, 12]),
        ("N_Q of 8", 6, vec![12, 3]),
        ("N_Q of 131,072", 6, vec![12, 17]),
        ("sends 0 bytes a second", 7, vec![0; 4]),
        ("wants 0 bytes a second", 8, vec![0; 4]),
        ("an unknown check", 9, vec![2]),
        ("every bit of the check", 9, vec![0xFF]),
    ];
    let values = values.map(|(name, kind, value)| {
        let offer = least().with(kind, value);
        Vector::long(format!("refused: offer: {name}"), offer.req()).refused(BadValue)
    });
    let order = least().swapped(3, 4).req();
    let order = Vector::long("refused: offer: 5 before 4", order).refused(UnknownType);
    let mut beyond = least().req();
    let last = beyond.len() - 5;
    beyond[last] = 5;
    let beyond = Vector::long("refused: offer: a value beyond the form", beyond);
    let parts = missing
        .chain(twice)
        .chain(longer)
        .chain(shorter)
        .chain(values);
    parts.chain([order, beyond.refused(Truncated)]).collect()
}

fn channels() -> Vec<Vector> {
    let values: [(&str, &[u8], Malformed); 8] = [
        ("none", &[0], BadValue),
        ("none, and a byte", &[0, 0], BadValue),
        ("five in one byte", &[5, 0], BadValue),
        ("four in two bytes", &[4, 0, 0], BadValue),
        ("the reserved bit of the first", &[4, 0x02], Reserved),
        ("the reserved bit of the fourth", &[4, 0x80], Reserved),
        ("a spare bit", &[1, 0x04], Reserved),
        ("the last spare bit", &[5, 0, 0x40], Reserved),
    ];
    let vector = |(name, value, cause): (&str, &[u8], Malformed)| {
        let offer = Parameters::least().with(2, value);
        Vector::long(format!("refused: channels: {name}"), offer.req()).refused(cause)
    };
    values.map(vector).into()
}

/// The parameters that may be absent.
fn optional() -> Vec<Vector> {
    let least = Parameters::least;
    let req = |kind: u8, value: &[u8]| least().with(kind, value).req();
    let suites = least().with(13, [1, 0, 0, 0]).with(12, [1]);
    let cookie = least().with(14, *b"hi").cookie();
    refused(
        "offer",
        [
            (
                "a path of no more bytes",
                req(11, &1200_u16.to_le_bytes()),
                BadValue,
            ),
            ("a shorter path", req(11, &600_u16.to_le_bytes()), BadValue),
            ("a path of 3 bytes", req(11, &[0, 6, 0]), BadValue),
            ("no suite", req(12, &[]), BadValue),
            ("five suites", req(12, &[1, 2, 3, 4, 5]), BadValue),
            ("suite 0", req(12, &[0]), BadValue),
            ("a suite twice", req(12, &[1, 2, 1]), BadValue),
            ("a timeout of 0", req(13, &[0; 4]), BadValue),
            ("a timeout of 3 bytes", req(13, &[1; 3]), BadValue),
            ("a greeting of 0 bytes", req(14, &[]), BadValue),
            ("a greeting in a REQ with COOKIE", cookie, UnknownType),
            (
                "a greeting in an ACK",
                least().with(14, *b"hi").ack(),
                UnknownType,
            ),
            ("type 0 at the end", req(0, &[1]), UnknownType),
            ("13 before 12", suites.req(), UnknownType),
            (
                "11 twice",
                least().with(11, [0xAC, 5]).twice(11).req(),
                UnknownType,
            ),
            (
                "20 before 19",
                least().with(20, []).with(19, []).req(),
                UnknownType,
            ),
            (
                "20 twice",
                least().with(20, []).twice(20).req(),
                UnknownType,
            ),
        ],
    )
}

/// What stands behind a form and may not.
fn behind() -> Vec<Vector> {
    let offer = Parameters::least();
    let disc = long(0xF0, VERSION, [ASKS, ANSWERS], &[0; 4]);
    let old = long(REQ, 2, [ASKS, ANSWERS], &offer.body(&ID));
    let two = |one: Vec<u8>, other: Vec<u8>| [one, other].concat();
    let zeros = [vec![0; 99], vec![1]].concat();
    refused(
        "behind",
        [
            ("REQ and 1", two(offer.req(), vec![1]), TrailingBytes),
            ("REQ, zeros and 1", two(offer.req(), zeros), TrailingBytes),
            (
                "REQ and a REQ",
                two(offer.req(), offer.req()),
                TrailingBytes,
            ),
            ("ACK and 0", two(offer.ack(), vec![0]), TrailingBytes),
            (
                "ACK and an ACK",
                two(offer.ack(), offer.ack()),
                TrailingBytes,
            ),
            (
                "ACK and DISC",
                two(offer.ack(), disc.clone()),
                TrailingBytes,
            ),
            (
                "ACK and half a REQ",
                two(offer.ack(), offer.req()[..40].to_vec()),
                Truncated,
            ),
            (
                "ACK and a REQ of another version",
                two(offer.ack(), old),
                Version,
            ),
            ("DISC and 0", two(disc.clone(), vec![0]), TrailingBytes),
            ("DISC and DISC", two(disc.clone(), disc), TrailingBytes),
        ],
    )
}

fn refusals() -> Vec<Vector> {
    let rej = |body: &[u8]| long(0xE0, VERSION, [0, ASKS], body);
    let own = long(0xE0, VERSION, [ANSWERS, ASKS], &body(0, VERSION, &[]));
    let nobody = long(0xE0, VERSION, [0, 0], &body(0, VERSION, &[]));
    let longer = [body(3, VERSION, b"no"), vec![0]].concat();
    let full = rej(&body(2, VERSION, &[]));
    refused(
        "REJ",
        [
            ("with nonce_self", own, BadValue),
            ("to nobody", nobody, BadValue),
            ("reason 5", rej(&body(5, VERSION, &[])), BadValue),
            ("reason 255", rej(&body(255, VERSION, &[])), BadValue),
            (
                "reason 0 and a byte",
                rej(&body(0, VERSION, &[1])),
                BadValue,
            ),
            (
                "reason 1 without an id",
                rej(&body(1, VERSION, &[])),
                BadValue,
            ),
            (
                "reason 1 and 7 bytes",
                rej(&body(1, VERSION, &bytes(7))),
                BadValue,
            ),
            (
                "reason 1 and 9 bytes",
                rej(&body(1, VERSION, &bytes(9))),
                BadValue,
            ),
            (
                "reason 2 and 8 bytes",
                rej(&body(2, VERSION, &bytes(8))),
                BadValue,
            ),
            (
                "reason 3 and 65 bytes",
                rej(&body(3, VERSION, &bytes(65))),
                BadValue,
            ),
            (
                "reason 4 and a byte",
                rej(&body(4, VERSION, &[0])),
                BadValue,
            ),
            (
                "a byte behind those that n counts",
                rej(&longer),
                TrailingBytes,
            ),
            (
                "a byte behind the form",
                [full, vec![0]].concat(),
                TrailingBytes,
            ),
        ],
    )
}

fn goodbyes() -> Vec<Vector> {
    let nonces = [ASKS, ANSWERS];
    let form = |byte0: u8, body: &[u8]| long(byte0, VERSION, nonces, body);
    let mac = |byte0: u8, length: usize| long(byte0, VERSION, nonces, &bytes(length));
    refused(
        "goodbye",
        [
            ("DISC without a reason", form(0xF0, &[]), Truncated),
            ("DISC with 3 bytes", form(0xF0, &[1, 2, 3]), Truncated),
            ("DISC with 5 bytes", form(0xF0, &[0; 5]), TrailingBytes),
            ("DISC_ACK with a reason", form(0xF1, &[0; 4]), TrailingBytes),
            ("DISC with a MAC of 15 bytes", mac(0xF8, 19), Truncated),
            ("DISC with a MAC of 17 bytes", mac(0xF8, 21), TrailingBytes),
            ("DISC_ACK with a MAC of 15 bytes", mac(0xF9, 15), Truncated),
            (
                "DISC_ACK with a MAC of 17 bytes",
                mac(0xF9, 17),
                TrailingBytes,
            ),
            ("RESET of nothing", vec![0xF2], Truncated),
            (
                "RESET of 21 bytes",
                [vec![0xF2], bytes(21)].concat(),
                TrailingBytes,
            ),
        ],
    )
}

fn sealed() -> Vec<Vector> {
    let one = |flags: u8, said: &[u8], noise: usize| message_1(&auth(1, flags, said, noise));
    let two = |flags: u8, noise: usize| message_2(&auth(1, flags, &[], noise));
    let alone = long(0xD2, VERSION, [ASKS, ANSWERS], &auth(1, 0, &[], 48));
    let offer = Parameters::least().with(12, [1]);
    let with = |rest: Vec<u8>| [alone.clone(), rest].concat();
    let mut other = one(0, &[], 48);
    other[7] ^= 1;
    let token = |length: u16| [&length.to_le_bytes()[..], &bytes(length.into())].concat();
    let mut all = refused(
        "ACK with AUTH",
        [
            ("suite 0", message_1(&auth(0, 0, &[], 48)), BadValue),
            ("a reserved flag", one(0x10, &[], 48), Reserved),
            ("the last reserved flag", one(0x80, &[], 48), Reserved),
            ("P and T", one(12, &[0; 8], 48), BadValue),
            ("a token of 0 bytes", one(8, &token(0), 48), BadValue),
            ("a token of 373 bytes", one(8, &token(373), 48), BadValue),
            ("message 1 without a tag", one(0, &[], 47), Truncated),
            (
                "message 1 with a greeting of 256 bytes",
                one(0, &[], 48 + 256),
                BadValue,
            ),
            ("message 2 with K", two(3, 32 + 21), Reserved),
            (
                "message 2 without the length of an id",
                two(1, 48),
                Truncated,
            ),
            (
                "message 2 with a byte too much",
                two(1, 32 + 1 + 20 + 255 + 17),
                BadValue,
            ),
            ("message 1 without a REQ", alone.clone(), Truncated),
            ("message 1 and a REQ of another host", other, BadValue),
            ("message 1 and a first REQ", with(offer.req()), BadValue),
            (
                "message 1 and a REQ with COOKIE",
                with(offer.cookie()),
                BadValue,
            ),
            ("message 1 and a frame", with(vec![0x40; 40]), TrailingBytes),
            (
                "message 2 and a REQ",
                [two(1, 53), offer.req()].concat(),
                TrailingBytes,
            ),
        ],
    );
    let cut = [two(1, 53), vec![0x40], vec![0; 20]].concat();
    let name = "refused: ACK with AUTH: message 2 and half a frame";
    all.push(Vector::short(name, SEALED, cut).refused(Truncated));
    all
}
