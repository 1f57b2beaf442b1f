//! Requests in which one field lies: what is not written as the document says is refused whole.

use porous_proto::Disposition;
use porous_tests::encoder::{self, Offer};

use crate::forge::{BYTES, STATELESS, first, is_malformed};
use crate::scene::{STRANGER, Scene, case, offer};

/// Type and value of a parameter.
type Parameter = (u8, Vec<u8>);

fn parameters(offer: &Offer) -> Vec<Parameter> {
    let body = offer.body(&[]);
    let (mut rest, mut all) = (&body[1..], Vec::new());
    while let [kind, len, more @ ..] = rest {
        let (value, more) = more.split_at(usize::from(*len));
        all.push((*kind, value.to_vec()));
        rest = more;
    }
    all
}

/// A padded request with these parameters.
fn request(parameters: &[Parameter]) -> Vec<u8> {
    let mut body = vec![4, 9, 9, 9, 9];
    for (kind, value) in parameters {
        body.extend([*kind, u8::try_from(value.len()).unwrap()]);
        body.extend(value);
    }
    padded(&body)
}

fn padded(body: &[u8]) -> Vec<u8> {
    porous_tests::remote::request([9, 0], body)
}

/// A request in which one parameter has this value.
fn request_with(kind: u8, value: &[u8]) -> Vec<u8> {
    let mut parameters = parameters(&offer());
    parameters[usize::from(kind) - 1].1 = value.to_vec();
    request(&parameters)
}

/// The host refuses the request as malformed.
fn refused(scene: &mut Scene, datagram: &[u8]) {
    let taken = scene.deliver(STRANGER, datagram);
    assert!(is_malformed(taken), "{taken:?}: {:02x?}", &datagram[..99]);
    assert_eq!(scene.said, []);
}

/// The host reads the request and answers it by a cookie or a refusal.
fn understood(scene: &mut Scene, datagram: &[u8], answer: u8) {
    let address = STRANGER + u32::try_from(scene.said.len()).unwrap();
    let taken = scene.deliver(address, datagram);
    assert_eq!(taken, STATELESS, "{:02x?}", &datagram[..99]);
    assert_eq!(scene.said_to(address)[0][0], answer);
}

/// `[X1 X12]` The types of parameters are 1 to 10, in this order.
#[test]
fn a_parameter_of_another_type_is_refused() {
    case(|scene| {
        for place in 0..10 {
            for kind in (0..=12).chain(BYTES) {
                let mut parameters = parameters(&offer());
                if parameters[place].0 != kind {
                    parameters[place].0 = kind;
                    refused(scene, &request(&parameters));
                }
            }
        }
    });
}

/// `[X1 X12]` A parameter whose length is not what follows, or not what its type has, is refused.
#[test]
fn a_parameter_of_another_length_is_refused() {
    case(|scene| {
        for place in 0..10 {
            let parameters = parameters(&offer());
            let good = request(&parameters);
            let before = parameters[..place].iter().map(|(_, value)| 2 + value.len());
            let at = 23 + 5 + before.sum::<usize>() + 1;
            let len = good[at];
            for lie in [len - 1, len + 1, len ^ 0x80, 0, 1, 64, 65, 0x7F, 0xFF] {
                if lie != len {
                    let mut bad = good.clone();
                    bad[at] = lie;
                    refused(scene, &bad);
                    let mut parameters = parameters.clone();
                    parameters[place].1.resize(usize::from(lie), 1);
                    refused(scene, &request(&parameters));
                }
            }
        }
    });
}

/// `[X1]` Each parameter is there once: none is missing, none is there twice.
#[test]
fn a_parameter_that_is_missing_or_there_twice_is_refused() {
    case(|scene| {
        for place in 0..10 {
            let all = parameters(&offer());
            let mut without = all.clone();
            without.remove(place);
            refused(scene, &request(&without));
            let mut twice = all.clone();
            twice.insert(place, all[place].clone());
            refused(scene, &request(&twice));
            let mut again = all.clone();
            again.push(all[place].clone());
            refused(scene, &request(&again));
            refused(scene, &request(&all[..place]));
        }
        refused(scene, &padded(&[]));
        refused(scene, &padded(&[0]));
    });
}

/// `[X1]` Parameters stand in their order.
#[test]
fn parameters_out_of_order_are_refused() {
    case(|scene| {
        for (one, other) in (0..10).flat_map(|one| (0..one).map(move |other| (one, other))) {
            let mut parameters = parameters(&offer());
            parameters.swap(one, other);
            refused(scene, &request(&parameters));
        }
        let mut backwards = parameters(&offer());
        backwards.reverse();
        refused(scene, &request(&backwards));
    });
}

/// `[X1]` Unknown parameters are behind all others, where they are skipped, and nowhere else.
#[test]
fn an_unknown_parameter_among_the_others_is_refused() {
    case(|scene| {
        for place in 0..=10 {
            for unknown in [(0, vec![]), (11, vec![1]), (255, vec![7; 255])] {
                let is_last = place == 10 && unknown.0 == 255;
                let mut parameters = parameters(&offer());
                parameters.insert(place, unknown);
                if !is_last {
                    refused(scene, &request(&parameters));
                }
            }
        }
        for rest in [&[0_u8][..], &[1], &[11, 0], &[0; 900]] {
            let mut body = offer().body(&[9; 4]);
            body.extend(rest);
            refused(scene, &padded(&body));
        }
    });
}

/// `[X1]` A connection id has 20 bytes at most, and those are there.
#[test]
fn a_connection_id_of_more_than_twenty_bytes_is_refused() {
    case(|scene| {
        for len in [21, 22, 0x7F, 0x80, 0xFF] {
            let mut body = offer().body(&[9; 20]);
            body[0] = len;
            refused(scene, &padded(&body));
            body.splice(1..21, vec![9; usize::from(len)]);
            refused(scene, &padded(&body));
            refused(scene, &padded(&[len]));
        }
        for len in 0..=20 {
            understood(scene, &padded(&offer().body(&vec![9; len])), 0xC1);
        }
    });
}

/// `[X1 X10]` Numbers of an offer that are out of their range are refused, at the very end of it.
#[test]
fn an_offer_out_of_range_is_refused() {
    case(|scene| {
        for datagram in [0, 1, 0xFF, 0x100, 511_u16] {
            refused(scene, &request_with(3, &datagram.to_le_bytes()));
        }
        let budgets = [
            (0, 64),
            (1, 64),
            (100, 0),
            (100, 163),
            (u32::MAX - 63, u32::MAX),
        ];
        for (packet, budget) in budgets.into_iter().chain([(u32::MAX, u32::MAX)]) {
            let offer = Offer {
                packet,
                budget,
                ..offer()
            };
            refused(scene, &padded(&offer.body(&[9; 4])));
        }
        for log2 in BYTES.into_iter().chain([3, 17]) {
            refused(scene, &request_with(6, &[log2, 8]));
            refused(scene, &request_with(6, &[8, log2]));
        }
        for kind in [7, 8] {
            refused(scene, &request_with(kind, &[0; 4]));
        }
        for path_mtu in [0, 1, 511, offer().datagram] {
            let offer = Offer {
                path_mtu: Some(path_mtu),
                ..offer()
            };
            refused(scene, &padded(&offer.body(&[9; 4])));
        }
        for integrity in [2, 3, 0x7F, 0x80, 0xFF] {
            refused(scene, &request_with(9, &[integrity]));
        }
    });
}

/// `[X1 X10]` The ends of every range are understood.
#[test]
fn an_offer_at_the_end_of_its_range_is_understood() {
    case(|scene| {
        for datagram in [512, u16::MAX] {
            understood(scene, &request_with(3, &datagram.to_le_bytes()), 0xC1);
        }
        for (packet, budget) in [(1, 65), (1, u32::MAX), (u32::MAX - 64, u32::MAX)] {
            let offer = Offer {
                packet,
                budget,
                ..offer()
            };
            understood(scene, &padded(&offer.body(&[9; 4])), 0xC1);
        }
        for windows in [[4, 4], [4, 16], [16, 4], [16, 16]] {
            understood(scene, &request_with(6, &windows), 0xC1);
        }
        for rate in [1, 0x7FFF_FFFF, 0x8000_0000, u32::MAX] {
            understood(scene, &request_with(7, &rate.to_le_bytes()), 0xC1);
            understood(scene, &request_with(8, &rate.to_le_bytes()), 0xC1);
        }
        for path_mtu in [offer().datagram + 1, u16::MAX] {
            let offer = Offer {
                path_mtu: Some(path_mtu),
                ..offer()
            };
            understood(scene, &padded(&offer.body(&[9; 4])), 0xC1);
        }
        for integrity in [0, 1] {
            understood(scene, &request_with(9, &[integrity]), 0xC1);
        }
        for extensions in [1, 0x8000_0000, u32::MAX] {
            understood(scene, &request_with(10, &extensions.to_le_bytes()), 0xC1);
        }
    });
}

/// `[X1 R13]` The channels of an offer are as many as it says, and none has a bit that is reserved.
#[test]
fn channels_that_are_not_what_they_say_are_refused() {
    case(|scene| {
        let bad: [&[u8]; 10] = [
            &[0],
            &[0, 0],
            &[1],
            &[1, 0, 0],
            &[4, 0, 0],
            &[5, 0],
            &[255, 0],
            &[1, 0b10],
            &[1, 0b100],
            &[4, 0b1000_0000],
        ];
        for value in bad {
            refused(scene, &request_with(2, value));
        }
        let most = [&[255], &[0; 64][..]].concat();
        let mut spare = most.clone();
        spare[64] = 0b0100_0000;
        refused(scene, &request_with(2, &spare));
        refused(scene, &request_with(2, &[&[0], &most[1..]].concat()));
        for value in [&[1, 0][..], &[1, 1], &[4, 0b0101_0101], &most] {
            understood(scene, &request_with(2, value), 0xC1);
        }
    });
}

/// `[X1 R21]` A request for another application is told so, and which one this is, in 37 bytes.
#[test]
fn a_request_for_another_application_is_refused_in_few_bytes() {
    case(|scene| {
        for application in [1, 1 << 31, 1 << 32, 1 << 63, u64::MAX] {
            understood(scene, &request_with(1, &application.to_le_bytes()), 0xE0);
        }
        assert!(scene.said.iter().all(|(_, said)| said.len() == 37));
    });
}

/// `[X1 X12]` The length of the form is the length of the form.
#[test]
fn a_form_of_another_length_is_refused() {
    case(|scene| {
        let good = first(9, &offer());
        let len = u16::from_le_bytes([good[1], good[2]]);
        let near = (0..=len + 64).filter(|&lie| lie != len);
        for lie in near.chain([1196, 1197, 1198, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF]) {
            let mut bad = good.clone();
            bad[1..3].copy_from_slice(&lie.to_le_bytes());
            refused(scene, &bad);
        }
    });
}

/// `[X1 X12]` A request that is cut anywhere is none, padded again or not.
#[test]
fn a_request_that_is_cut_anywhere_is_refused() {
    case(|scene| {
        let whole = encoder::long(0xC0, encoder::VERSION, [9, 0], &offer().body(&[9; 4]));
        for len in 0..whole.len() {
            let taken = scene.deliver(STRANGER, &whole[..len]);
            assert!(is_malformed(taken), "{len}: {taken:?}");
        }
        for len in 24..whole.len() - 4 {
            let mut cut = whole[..len].to_vec();
            let length = u16::try_from(len - 3).unwrap();
            cut[1..3].copy_from_slice(&length.to_le_bytes());
            cut.resize(1200, 0);
            refused(scene, &cut);
        }
    });
}

/// `[X1 X24]` With any byte of it replaced a request is understood or refused, and makes no peer.
#[test]
fn a_request_with_any_byte_replaced_is_forgotten() {
    case(|scene| {
        let good = first(9, &offer());
        for at in 0..encoder::long(0xC0, encoder::VERSION, [9, 0], &offer().body(&[9; 4])).len() {
            for byte in BYTES {
                let mut other = good.clone();
                other[at] = byte;
                let count = scene.said.len();
                let taken = scene.deliver(STRANGER + u32::try_from(at).unwrap(), &other);
                assert!(matches!(taken, Disposition::Ignored(_)), "{at}: {taken:?}");
                assert!(scene.said.len() <= count + 1);
            }
        }
        assert_eq!(scene.others(), 0);
    });
}
