//! REQ and REQ with COOKIE, with each parameter at the ends of its range.

use porous_tests::encoder::{VERSION, long};

use super::offers::{ANSWERS, ASKS, BEFORE_RELEASE, Parameters, REQ, bytes, padded};
use super::vector::Vector;

pub(crate) fn all() -> Vec<Vector> {
    let parts = [
        heads(),
        values(),
        channels(),
        optional(),
        cookies(),
        others(),
    ];
    parts.concat()
}

fn heads() -> Vec<Vector> {
    let offer = Parameters::least();
    let lengths = 0..=20;
    let ids = lengths.map(|length| {
        let request = long(REQ, VERSION, [ASKS, 0], &offer.body(&bytes(length)));
        Vector::long(format!("REQ: a connection id of {length} bytes"), request)
    });
    let nonces = [[1, 0], [u64::MAX, 0], [ASKS, ANSWERS], [1, u64::MAX]];
    let nonces = nonces.map(|nonces| {
        let request = long(REQ, VERSION, nonces, &offer.body(&[1]));
        Vector::long(format!("REQ: nonces {nonces:x?}"), request)
    });
    let paddings = [512, 600, 1199, 1200].map(|length| {
        let request = padded(offer.req(), length);
        Vector::long(format!("REQ: padded to {length} bytes"), request)
    });
    let one = [offer.req(), vec![0]].concat();
    let one = Vector::long("REQ: one zero of padding", one);
    ids.chain(nonces).chain(paddings).chain([one]).collect()
}

/// The values of the parameters that are always there, but for channels.
fn values() -> Vec<Vector> {
    let most = u32::MAX.to_le_bytes();
    let edges: [(&str, u8, Vec<u8>); 19] = [
        ("application id 0", 1, vec![0; 8]),
        ("application id of ones", 1, vec![0xFF; 8]),
        ("datagrams of 512 bytes", 3, 512_u16.to_le_bytes().into()),
        ("datagrams of 65,535 bytes", 3, vec![0xFF; 2]),
        ("packets of 1 byte", 4, 1_u32.to_le_bytes().into()),
        (
            "a budget for one longest packet",
            5,
            ((1_u32 << 20) + 64).to_le_bytes().into(),
        ),
        ("the largest budget", 5, most.into()),
        ("the smallest windows", 6, vec![4, 4]),
        ("the largest windows", 6, vec![16, 16]),
        ("the largest window of frames alone", 6, vec![16, 4]),
        ("packet ids of three bytes", 6, vec![12, 15]),
        ("sends 1 byte a second", 7, 1_u32.to_le_bytes().into()),
        (
            "sends nearly without a limit",
            7,
            (u32::MAX - 1).to_le_bytes().into(),
        ),
        ("wants 1 byte a second", 8, 1_u32.to_le_bytes().into()),
        ("wants all", 8, most.into()),
        ("a check of all bytes", 9, vec![1]),
        ("an extension", 10, 1_u32.to_le_bytes().into()),
        ("every extension", 10, most.into()),
        ("greased extensions", 10, vec![0, 0, 0, 0xA7]),
    ];
    let edges = edges.into_iter().map(|(name, kind, value)| {
        Vector::long(
            format!("REQ: {name}"),
            Parameters::least().with(kind, value).req(),
        )
    });
    let longest = Parameters::least()
        .with(4, (u32::MAX - 64).to_le_bytes())
        .with(5, most);
    let longest = Vector::long("REQ: the longest packets", longest.req());
    edges.chain([longest]).collect()
}

fn channels() -> Vec<Vector> {
    let counts = [1_u8, 2, 3, 4, 5, 8, 9, 64, 128, 254, 255];
    let low = counts.map(|count| {
        let mut value = vec![count];
        value.resize(1 + usize::from(count).div_ceil(4), 0);
        (format!("REQ: {count} channels of low priority"), value)
    });
    let high = counts.map(|count| {
        let bits = |first: usize| {
            let of = |channel: usize| u8::from(channel < count.into()) << (2 * (channel - first));
            (first..first + 4).map(of).sum::<u8>()
        };
        let value: Vec<u8> = (0..usize::from(count)).step_by(4).map(bits).collect();
        (
            format!("REQ: {count} channels of high priority"),
            [vec![count], value].concat(),
        )
    });
    let offers = low.into_iter().chain(high);
    offers
        .map(|(name, value)| Vector::long(name, Parameters::least().with(2, value).req()))
        .collect()
}

/// The parameters that may be absent.
fn optional() -> Vec<Vector> {
    let least = Parameters::least;
    let many = |kinds: &[u8]| {
        let add = |offer: Parameters, kind: &u8| offer.with(*kind, bytes((*kind % 7).into()));
        kinds.iter().fold(least(), add)
    };
    let all = least()
        .with(11, 1452_u16.to_le_bytes())
        .with(12, [2, 1])
        .with(13, 10_000_u32.to_le_bytes())
        .with(14, *b"hi")
        .with(200, [1, 2]);
    let offers = [
        (
            "a path of one byte more",
            least().with(11, 1201_u16.to_le_bytes()),
        ),
        ("the longest path", least().with(11, [0xFF; 2])),
        ("one suite", least().with(12, [1])),
        ("four suites", least().with(12, [255, 2, 1, 192])),
        ("a timeout of 1 ms", least().with(13, 1_u32.to_le_bytes())),
        ("the longest timeout", least().with(13, [0xFF; 4])),
        ("a greeting of 1 byte", least().with(14, [0])),
        ("a greeting of 255 bytes", least().with(14, bytes(255))),
        ("an empty parameter that is not known", least().with(15, [])),
        (
            "a long parameter that is not known",
            least().with(255, bytes(255)),
        ),
        (
            "several parameters that are not known",
            many(&[15, 16, 99, 200, 254, 255]),
        ),
        ("every parameter", all),
    ];
    offers
        .map(|(name, offer)| Vector::long(format!("REQ: {name}"), offer.req()))
        .into()
}

fn cookies() -> Vec<Vector> {
    let least = Parameters::least;
    let offers = [
        ("REQ with COOKIE", least()),
        ("REQ with COOKIE: every parameter that it may have", {
            let offer = least().with(11, 1452_u16.to_le_bytes()).with(12, [1]);
            offer.with(13, 500_u32.to_le_bytes()).with(77, bytes(3))
        }),
        (
            "REQ with COOKIE: a check of all bytes",
            least().with(9, [1]),
        ),
    ];
    let mut all: Vec<Vector> = offers
        .map(|(name, offer)| Vector::long(name, offer.cookie()))
        .into();
    all.push(Vector::long(
        "REQ with COOKIE: padded",
        padded(least().cookie(), 400),
    ));
    all.push(Vector::long(
        "REQ: brings a cookie back",
        padded(least().second_req(), 512),
    ));
    all
}

/// Only the first 15 bytes of these are read.
fn others() -> Vec<Vector> {
    let head = |byte0: u8, version: u32, rest: &[u8]| {
        let head = [
            &[byte0, 0xFF, 0xFF][..],
            &version.to_le_bytes(),
            &ASKS.to_le_bytes(),
        ];
        [&head.concat(), rest].concat()
    };
    let requests = [
        ("nothing more", head(0xC0, 2, &[])),
        ("version 0 with a flag", head(0xC1, 0, &[1, 2, 3])),
        ("every flag", head(0xCF, u32::MAX, &bytes(100))),
        (
            "the last number before version 1",
            head(0xC0, BEFORE_RELEASE, &bytes(30)),
        ),
        (
            "the next version",
            long(0xC8, VERSION + 1, [ASKS, 0], &bytes(30)),
        ),
    ];
    requests
        .map(|(name, bytes)| Vector::long(format!("REQ of another version: {name}"), bytes))
        .into()
}
