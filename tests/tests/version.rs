//! What a host of version 1 does with what version 1 does not know: the table of reserved bits in `docs/wire.md`,
//! "What may change, and what never", row by row. The vectors show that the codec reads or refuses each datagram;
//! here whole hosts do.
#![expect(clippy::unwrap_used, reason = "tests")]

extern crate alloc;

use core::time::Duration;

use porous_crypto::RustCrypto;
use porous_proto::hooks::sealing::{Form, Initiator, Kit, Setup, Terms};
use porous_proto::seal::{Security, Suite};
use porous_proto::{
    Config, Disposition, Ecn, Event, Host, Ignored, Instant, Listen, Malformed, Mode,
};
use porous_sim::{ChaCha8Rng, Intercept, LinkConfig, Pair, Seed};
use porous_tests::encoder::{self, Ack, Check, Message, Offer, Packet};
use porous_tests::remote::{Remote, nonce, request};
use porous_tests::{Kind, Tape, kind, record};

const MS: Duration = Duration::from_millis(1);
/// Where the parameters of a REQ or an ACK begin, behind an id of this length.
const BODY: usize = 23;
const ADDRESS: u8 = 7;

fn pair(seed: u64) -> Pair {
    let line = LinkConfig::new().delay(20 * MS);
    Pair::new(Seed::new(seed), line, Config::client(), Config::new())
}

/// The places of the long forms in a datagram that have an offer.
fn offers(datagram: &[u8]) -> Vec<core::ops::Range<usize>> {
    let (mut all, mut at) = (Vec::new(), 0);
    while let Some(&[byte0, low, high]) = datagram.get(at..at + 3) {
        if !matches!(byte0, 0xC0 | 0xC1 | 0xD0) {
            break;
        }
        let end = at + 3 + usize::from(u16::from_le_bytes([low, high]));
        all.push(at..end);
        at = end;
    }
    all
}

/// The value of type 10 of a form, and its place in the form.
fn extensions(form: &[u8]) -> (usize, u32) {
    let mut at = BODY + 1 + usize::from(form[BODY]);
    while form[at] != 10 {
        at += 2 + usize::from(form[at + 1]);
    }
    let value: [u8; 4] = form[at + 2..at + 6].try_into().unwrap();
    (at + 2, u32::from_le_bytes(value))
}

/// The datagram of a host that knows every extension, and every parameter of version 1 that is not known yet.
fn of_tomorrow(datagram: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut end = 0;
    for place in offers(datagram) {
        let mut form = datagram[place.clone()].to_vec();
        let (at, _) = extensions(&form);
        form[at..at + 4].fill(0xFF);
        for kind in [15, 16, 200, 254, 255] {
            form.extend(encoder::parameter(
                kind,
                &vec![kind; usize::from(kind % 16)],
            ));
        }
        let length = u16::try_from(form.len() - 3).unwrap();
        form[1..3].copy_from_slice(&length.to_le_bytes());
        out.extend(form);
        end = place.end;
    }
    out.extend(&datagram[end..]);
    // What it says more takes the place of padding.
    let is_padded = datagram.len() >= 1200;
    out.truncate(if is_padded { datagram.len() } else { out.len() });
    out
}

fn is_handshake(datagram: &[u8]) -> bool {
    !offers(datagram).is_empty()
}

/// Either host gets the offer of one that knows more. It connects, and agrees on none of it: the packets that follow
/// are those of version 1.
#[test]
fn extensions_and_parameters_that_are_not_known_are_ignored() {
    for host_of_tomorrow in [Pair::A, Pair::B] {
        let mut pair = pair(1);
        pair.world.intercept(move |passing| {
            if passing.from == host_of_tomorrow && is_handshake(passing.datagram) {
                Intercept::Replace(of_tomorrow(passing.datagram))
            } else {
                Intercept::Pass
            }
        });
        pair.connect_to_listener();
        let packets = [(0, Mode::Reliable, vec![1]), (0, Mode::Reliable, vec![2])];
        let got = pair.exchange(Pair::A, packets, Duration::from_secs(2));
        assert_eq!(got.len(), 2);
        for host in [Pair::A, Pair::B] {
            let stats = pair.world.host(host).stats();
            let cookies = stats.ignored(Ignored::Stateless);
            assert_eq!(stats.ignored_total(), cookies, "host {host}");
        }
    }
}

/// The values of type 10 that a host has sent in an attempt.
fn sent_extensions(tape: &Tape, from: u32) -> Vec<u32> {
    let all = tape.all().into_iter().filter(|it| it.from == from);
    let forms = all.flat_map(|it| {
        let places = offers(&it.datagram);
        let forms = places
            .into_iter()
            .map(|place| extensions(&it.datagram[place]).1);
        forms.collect::<Vec<_>>()
    });
    forms.collect()
}

/// Bits that mean nothing are random in what a host sends that connects, the same in all forms of an attempt, and 0 in
/// what a listener sends. No host sends a bit that means something to others and not to itself.
#[test]
fn a_host_that_connects_greases_its_offer_and_a_listener_does_not() {
    let mut seen = alloc::collections::BTreeSet::new();
    for seed in 1..=8 {
        let mut pair = pair(seed);
        let tape = record(&mut pair.world);
        pair.connect_to_listener();
        let asks = sent_extensions(&tape, Pair::A);
        assert!(asks.len() >= 3, "two requests and an acknowledgement");
        assert!(asks.iter().all(|&it| it == asks[0] && it & 0xFF_FFFF == 0));
        seen.insert(asks[0] >> 24);
        let answers = sent_extensions(&tape, Pair::B);
        assert!(answers.len() >= 2 && answers.iter().all(|&it| it == 0));
    }
    assert!(
        seen.len() >= 6,
        "grease that is always the same is none: {seen:?}"
    );
}

const OFFER: Offer = Offer {
    application: 0,
    channels: 1,
    datagram: 1200,
    packet: 1000,
    budget: 10_000,
    windows: [8, 8],
    rates: [u32::MAX; 2],
    integrity: 0,
    extensions: 0xFFFF_FFFF,
    path_mtu: None,
    sealed: &[],
    timeout: None,
};

fn listener(config: Config) -> Host<ChaCha8Rng, u8> {
    let mut host = Host::new(config, Seed::new(1).stream("host", 0));
    host.listen(Listen::Open).unwrap();
    host
}

fn said(host: &mut Host<ChaCha8Rng, u8>) -> Option<Vec<u8>> {
    let mut buffer = vec![0; host.max_datagram_size()];
    let transmit = host.poll_transmit(Instant::ZERO, &mut buffer)?;
    Some(transmit.datagram.to_vec())
}

fn tell(host: &mut Host<ChaCha8Rng, u8>, datagram: &[u8]) -> Disposition {
    host.handle_datagram(Instant::ZERO, ADDRESS, Ecn::NotEct, datagram)
}

/// The handshake of a sealed connection covers parameters that the listener does not know, as the initiator has sent
/// them, and suites that the listener does not have are passed over.
#[test]
fn a_sealed_handshake_covers_what_is_not_known() {
    let config = Config::new().sealed(&[Suite::CHACHA_POLY]).unwrap();
    let mut host = listener(config);
    host.set_security(Security::new(&RustCrypto));
    // Suites 3 and 191 have no names yet, 255 is one of somebody's own.
    let offer = Offer {
        sealed: &[191, 255, 3, 1],
        ..OFFER
    };
    let mut body = offer.body(&[ADDRESS; 4]);
    body.extend(encoder::parameter(15, b"tomorrow"));
    body.extend(encoder::parameter(255, &[]));
    tell(&mut host, &request([1000, 0], &body));
    let cookie = said(&mut host).unwrap();
    let nonces = [1000, nonce(&cookie)];
    let asks = encoder::long(0xC0, encoder::VERSION, nonces, &body);
    let terms = Terms {
        suite: Suite::CHACHA_POLY.number(),
        key_tag: None,
        psk: None,
        token: None,
    };
    let setup = Setup {
        kit: Kit::new(&RustCrypto, Suite::CHACHA_POLY).unwrap(),
        prologue: &terms.prologue(&asks, &cookie),
        psk: None,
    };
    let mut message = [0; 64];
    let started = Initiator::start(&setup, None, [3; 32], b"", &mut message);
    let (initiator, length) = started.unwrap();
    let first = Form::First {
        nonces,
        terms,
        message: message[..length].to_vec(),
    };
    let mut datagram = [first.encode(), asks].concat();
    datagram.resize(encoder::PADDED, 0);
    assert!(matches!(
        tell(&mut host, &datagram),
        Disposition::Accepted(_)
    ));
    let answer = said(&mut host).unwrap();
    let Some(Ok((Form::Second { message, .. }, _))) = Form::decode(&answer, 4) else {
        panic!("{answer:02x?}");
    };
    assert!(initiator.finish(&message, &mut [0; 64]).is_ok());
}

/// A host that speaks another version asks the very host that asks it: the attempt goes on, and a host that listens
/// says that it speaks version 1 alone.
#[test]
fn a_request_of_version_2_does_not_end_an_attempt_at_its_sender() {
    for listens in [false, true] {
        let line = LinkConfig::new().delay(20 * MS);
        let mut pair = Pair::new(Seed::new(1), line, Config::new(), Config::new());
        pair.world.host_mut(Pair::B).listen(Listen::Open).unwrap();
        if listens {
            pair.world.host_mut(Pair::A).listen(Listen::Open).unwrap();
        }
        pair.world.connect(Pair::A, Pair::B).unwrap();
        let mut version_2 = request([9, 0], &OFFER.body(&[9; 4]));
        version_2[3..7].copy_from_slice(&2_u32.to_le_bytes());
        let tape = record(&mut pair.world);
        pair.world.inject(Pair::B, Pair::A, version_2);
        pair.world.run_for(200 * MS);
        let refusals = tape.of(Pair::A, Kind::Refuse);
        assert_eq!(refusals.len(), usize::from(listens));
        for refusal in refusals {
            // Reason 0, and version 1 both as the newest and as the oldest.
            assert_eq!(refusal.datagram[3..7], encoder::VERSION.to_le_bytes());
            assert_eq!(refusal.datagram[23..], [0, 1, 0, 0, 0, 0]);
        }
        let told = pair.world.poll_event(Pair::A);
        assert!(matches!(told, Some(Event::Connected { .. })), "{told:?}");
    }
}

/// What is reserved in long forms refuses the datagram, and there is no answer.
#[test]
fn reserved_bits_of_long_forms_refuse_the_datagram() {
    let mut host = listener(Config::new());
    let good = request([9, 0], &OFFER.body(&[9; 4]));
    let with = |at: usize, byte: u8| {
        let mut bad = good.clone();
        bad[at] = byte;
        bad
    };
    // A count of 1 channel, then its bits: 0 is the priority.
    let channels = good.windows(3).position(|it| it == [2, 2, 1]).unwrap() + 3;
    let mut bad: Vec<Vec<u8>> = (0xC2..=0xCF).map(|byte0| with(0, byte0)).collect();
    bad.extend((1..8).map(|bit| with(channels, 1 << bit)));
    bad.push(with(encoder::PADDED - 1, 1));
    for (byte0, body) in [
        (0xD0, OFFER.body(&[9; 4])),
        (0xE0, vec![2, 1, 0, 0, 0, 0]),
        (0xF0, vec![0; 4]),
    ] {
        let flags = (1..16).filter(|flags| byte0 != 0xF0 || !matches!(flags, 1 | 2 | 8 | 9));
        bad.extend(
            flags.map(|flags| encoder::long(byte0 | flags, encoder::VERSION, [9, 8], &body)),
        );
    }
    bad.push(encoder::long(
        0xE0,
        encoder::VERSION,
        [0, 9],
        &[5, 1, 0, 0, 0, 0],
    ));
    for datagram in bad {
        let became = tell(&mut host, &datagram);
        let refused = matches!(became, Disposition::Ignored(Ignored::Malformed(_)));
        assert!(refused, "{became:?}: {:02x?}", &datagram[..28]);
        assert_eq!(said(&mut host), None);
    }
    assert_eq!(
        tell(&mut host, &good),
        Disposition::Ignored(Ignored::Stateless)
    );
}

/// Byte 0 and what follows the frame id of a short form in which something is reserved.
fn reserved_short_forms() -> Vec<(u8, Vec<u8>)> {
    let plain = 0x70;
    // K.
    let mut all = vec![(plain | 8, vec![])];
    // Bit 5 of the byte of ranges: the newest frame, E, and T.
    all.push((plain | 4, vec![2, 0, 0x80 | 0x20]));
    // Heads: all above that of control messages, but for a receipt's, and those that belong to control messages alone.
    all.extend((0xC1..=0xFF).map(|head| (plain, vec![head, 0, 0, 0])));
    // Subtypes of control messages.
    all.extend((13..=255).map(|subtype| (plain, vec![0xC0, subtype, 0, 0])));
    all
}

/// What is reserved in short forms refuses the datagram, and the connection goes on.
#[test]
fn reserved_bits_of_short_forms_refuse_the_datagram() {
    let mut host = listener(Config::new());
    let mut remote = Remote::connect(&mut host, Instant::ZERO, ADDRESS, &OFFER);
    let check = Check {
        is_crc: false,
        nonces: remote.nonces,
    };
    for (byte0, rest) in reserved_short_forms() {
        let id = u32::try_from(remote.next).unwrap();
        let mut datagram = [
            &[byte0],
            &remote.connection_id[..],
            &id.to_le_bytes(),
            &rest,
        ]
        .concat();
        let acked = (byte0 & 4 != 0).then_some(0);
        check.append(id.into(), acked, &mut datagram);
        let became = tell(&mut host, &datagram);
        let refused = matches!(became, Disposition::Ignored(Ignored::Malformed(why)) if why != Malformed::Integrity);
        assert!(refused, "{became:?}: {datagram:02x?}");
    }
    // The same frame id in a form of version 1.
    let ack = Ack {
        largest: 0,
        width: 1,
        map: u32::MAX,
        delay: None,
        ranges: vec![],
        nonces: false,
        marks: (false, 0),
    };
    let packet = Message::from(Packet::whole(1, 0, 0, 0, vec![5]));
    let frame = remote.short(Some(ack), vec![packet]).encode(&remote.shape);
    let became = tell(&mut host, &frame);
    let Disposition::Handled(peer) = became else {
        panic!("{became:?}")
    };
    assert_eq!(host.receive(peer).unwrap().payload, [5][..]);
}

/// First bytes that no form has are left to other protocols on the same socket, and are not answered.
#[test]
fn datagrams_of_other_protocols_are_refused() {
    let mut host = listener(Config::new());
    for byte0 in (0..0x40).chain(0x80..0xC0) {
        let mut datagram = request([9, 0], &OFFER.body(&[9; 4]));
        datagram[0] = byte0;
        let became = tell(&mut host, &datagram);
        assert_eq!(
            became,
            Disposition::Ignored(Ignored::Malformed(Malformed::UnknownType))
        );
        assert_eq!(kind(&datagram), Kind::Other);
        assert_eq!(said(&mut host), None);
    }
}
