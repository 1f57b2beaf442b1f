//! Any bytes, from any address: a host takes them, and its peers do not notice.

use allocation_counter::measure;
use bolero::generator::produce;
use bolero::{TypeGenerator, check};
use core::time::Duration;
use porous_fuzz::forms::Place;
use porous_fuzz::target::{Target, address};
use porous_proto::Policy;
use porous_tests::encoder;

/// The most bytes of memory that the datagrams of a run may take, whatever their content.
const MEMORY: u64 = 2 << 20;

/// The policy of each host, and true if it follows its peers.
const HOSTS: [(Policy, bool); 3] = [
    (Policy::Modern, false),
    (Policy::Paper, false),
    (Policy::Modern, true),
];

/// A datagram: its first bytes, the other bytes, and the times that it comes.
#[derive(Clone, Debug, TypeGenerator)]
struct Datagram {
    from: Place,
    head: Head,
    #[generator(produce::<Vec<u8>>().with().len(0..120_usize))]
    bytes: Vec<u8>,
    tail: Tail,
    #[generator(1..5_u8)]
    times: u8,
    millis: u8,
}

#[derive(Clone, Copy, Debug, TypeGenerator)]
enum Head {
    Nothing,
    /// Byte 0 of a known form.
    Kind(#[generator(0..9_u8)] u8),
    /// The kind of a long form, with a right length and the version.
    Long(#[generator(0..9_u8)] u8),
    /// A short form with the connection id of a peer.
    Short(#[generator(0x40..0x80_u8)] u8, Place),
}

/// A way to lengthen a datagram that costs less than to draw every byte.
#[derive(Clone, Copy, Debug, TypeGenerator)]
enum Tail {
    Nothing,
    Repeated(u8, #[generator(0..1600_u16)] u16),
    /// The padding of a request.
    Padding,
}

fn bytes(target: &Target, datagram: &Datagram) -> Vec<u8> {
    const KINDS: [u8; 9] = [0x40, 0x54, 0xC0, 0xC1, 0xD0, 0xE0, 0xF0, 0xF1, 0xF2];
    let mut bytes = match datagram.head {
        Head::Nothing => Vec::new(),
        Head::Kind(kind) => vec![KINDS[usize::from(kind)]],
        Head::Long(kind) => {
            let [low, high, ..] = (datagram.bytes.len() + 4).to_le_bytes();
            let head = [KINDS[usize::from(kind)], low, high];
            [&head[..], &encoder::VERSION.to_le_bytes()].concat()
        }
        Head::Short(byte0, place) => {
            let id = target
                .remote(place)
                .map(|remote| remote.connection_id.clone());
            [vec![byte0], id.unwrap_or_default()].concat()
        }
    };
    bytes.extend(&datagram.bytes);
    match datagram.tail {
        Tail::Nothing => {}
        Tail::Repeated(byte, count) => bytes.resize(bytes.len() + usize::from(count), byte),
        Tail::Padding => bytes.resize(encoder::PADDED, 0),
    }
    bytes
}

fn run(mut target: Target, datagrams: &[Datagram]) {
    target.spare_sealed();
    for datagram in datagrams {
        let (bytes, from) = (bytes(&target, datagram), address(datagram.from));
        for _ in 0..datagram.times {
            target.deliver(from, &bytes);
            target.answer(from, bytes.len());
        }
        target.pass(Duration::from_millis(datagram.millis.into()));
    }
    target.assert_unharmed();
}

#[test]
fn a_host_stands_any_bytes() {
    check!()
        .with_generator(produce::<Vec<Datagram>>().with().len(0..16_usize))
        .with_iterations(2000)
        .for_each(|datagrams| {
            for (policy, roaming) in HOSTS {
                let target = if roaming {
                    Target::roaming
                } else {
                    Target::new
                };
                let new = || target(policy).expect("all values are valid");
                let memory = measure(|| run(new(), datagrams));
                let context = (policy, roaming);
                assert!(memory.bytes_max < MEMORY, "{context:?}: {memory:?}");
            }
        });
}
