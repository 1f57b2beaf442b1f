//! Attackers that see all and send what they like, from whatever address, but hold nothing back for longer than
//! it takes to be the first. None of them makes a handshake of its own. They cannot even delay a connection.

use alloc::rc::Rc;
use core::cell::RefCell;
use core::time::Duration;

use porous_sim::{Intercept, Passing};
use porous_tests::forge::{has_message, is_short, long, nonces, reoffer, split};

use crate::scene::{CLIENT, DELAY, Injection, MS, Packet, Plan, SERVER, Scene};

/// What an attacker sends when it sees a datagram; `seen` are those before it, and itself.
type Forger = fn(&Passing<'_, u32>, seen: &[Injection]) -> Vec<Injection>;

/// Towards the receiver of a datagram, as if from its sender.
fn along(passing: &Passing<'_, u32>, bytes: Vec<u8>) -> Injection {
    Injection {
        from: passing.from,
        to: passing.to,
        bytes,
    }
}

/// Towards the sender of a datagram, as if from its receiver.
fn back(passing: &Passing<'_, u32>, bytes: Vec<u8>) -> Injection {
    Injection {
        from: passing.to,
        to: passing.from,
        bytes,
    }
}

fn copies(passing: &Passing<'_, u32>, _: &[Injection]) -> Vec<Injection> {
    vec![along(passing, passing.datagram.to_vec()); 2]
}

fn copies_from_elsewhere(passing: &Passing<'_, u32>, _: &[Injection]) -> Vec<Injection> {
    let injection = along(passing, passing.datagram.to_vec());
    vec![Injection {
        from: 99,
        ..injection
    }]
}

fn flips(passing: &Passing<'_, u32>, seen: &[Injection]) -> Vec<Injection> {
    let (forms, rest) = split(passing.datagram);
    // Padding is no place to flip bits.
    let bits = match forms.iter().map(|form| form.len()).sum::<usize>() {
        0 => 8 * rest.len(),
        length => 8 * length,
    };
    let flipped = (0..3).map(|n| {
        let bit = (seen.len() * 3 + n) * 101 % bits;
        let mut bytes = passing.datagram.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        along(passing, bytes)
    });
    flipped.collect()
}

fn cut(passing: &Passing<'_, u32>, seen: &[Injection]) -> Vec<Injection> {
    let lengths = [1, 7, 31, 67].map(|n| (seen.len() + 1) * n % passing.datagram.len());
    let cut = lengths.map(|length| along(passing, passing.datagram[..length].to_vec()));
    cut.into()
}

fn old_ones(passing: &Passing<'_, u32>, seen: &[Injection]) -> Vec<Injection> {
    let same_way = seen.iter().filter(|it| it.to == passing.to);
    let old: Vec<_> = same_way.cloned().collect();
    old.iter()
        .rev()
        .take(3)
        .chain(old.first())
        .cloned()
        .collect()
}

fn reflections(passing: &Passing<'_, u32>, _: &[Injection]) -> Vec<Injection> {
    vec![back(passing, passing.datagram.to_vec())]
}

fn refusals(passing: &Passing<'_, u32>, seen: &[Injection]) -> Vec<Injection> {
    let (forms, _) = split(passing.datagram);
    let Some(form) = forms.first() else {
        let first = &seen[0].bytes;
        return refusals_to(&nonces(first))
            .map(|bytes| along(passing, bytes))
            .into();
    };
    let [own, other] = nonces(form);
    let to_sender = refusals_to(&[own, other]).map(|bytes| back(passing, bytes));
    let to_receiver = refusals_to(&[other, own]).map(|bytes| along(passing, bytes));
    to_sender.into_iter().chain(to_receiver).collect()
}

/// REJ for all reasons, to the host with the first nonce.
fn refusals_to([to, from]: &[&[u8]; 2]) -> [Vec<u8>; 8] {
    let version = porous_tests::encoder::VERSION.to_le_bytes();
    [0, 1, 2, 3, 4, 5, 6, 7].map(|reason: u8| {
        let own = if reason % 2 == 0 { from } else { &[0; 8][..] };
        let body = [&[reason][..], &version, &[0]].concat();
        long(0xE0, [own, to], &body)
    })
}

fn resets(passing: &Passing<'_, u32>, seen: &[Injection]) -> Vec<Injection> {
    if !is_short(passing.datagram) {
        return Vec::new();
    }
    let reset = |short: &[u8]| [&[0xF2], &short[1..5]].concat();
    let other = seen
        .iter()
        .rev()
        .find(|it| it.to == passing.from && is_short(&it.bytes));
    let there = other.map(|it| along(passing, reset(&it.bytes)));
    let all = [
        Some(along(passing, reset(passing.datagram))),
        Some(back(passing, reset(passing.datagram))),
        there,
    ];
    all.into_iter().flatten().collect()
}

/// The nonces of client and server, once both are known.
fn both_nonces(seen: &[Injection]) -> Option<[Vec<u8>; 2]> {
    let first = seen.iter().find(|it| it.bytes[0] == 0xC1)?;
    let [server, client] = nonces(&first.bytes);
    Some([client.to_vec(), server.to_vec()])
}

/// Goodbyes, plain and with a MAC that is none.
fn goodbyes(_: &Passing<'_, u32>, seen: &[Injection]) -> Vec<Injection> {
    let Some([client, server]) = both_nonces(seen) else {
        return Vec::new();
    };
    let mut forged = Vec::new();
    for (from, to, nonces) in [
        (CLIENT, SERVER, [&client[..], &server[..]]),
        (SERVER, CLIENT, [&server[..], &client[..]]),
    ] {
        // A plain DISC that proves the path would be believed until both hosts have the keys.
        let bodies = [(0xF8, &[7; 20][..]), (0xF9, &[7; 16][..]), (0xF1, &[])];
        for (byte0, body) in bodies {
            let bytes = long(byte0, nonces, body);
            forged.push(Injection { from, to, bytes });
        }
    }
    forged
}

/// ACKs without AUTH, as if no seal had been asked for, and short forms with a check in the place of a tag.
fn plain_answers(passing: &Passing<'_, u32>, seen: &[Injection]) -> Vec<Injection> {
    let mut forged = Vec::new();
    if let Some([client, server]) = both_nonces(seen) {
        let request = &seen[0].bytes;
        for suites in [None, Some(&[1, 2][..])] {
            let request = reoffer(request, suites);
            let (forms, _) = split(&request);
            for (from, to, nonces) in [
                (CLIENT, SERVER, [&client[..], &server[..]]),
                (SERVER, CLIENT, [&server[..], &client[..]]),
            ] {
                let mut bytes = long(0xD0, nonces, &forms[0][23..]);
                bytes.extend([0x40, 1, 2, 3, 4, 0, 9, 9, 9, 9]);
                forged.push(Injection { from, to, bytes });
            }
        }
    }
    if is_short(passing.datagram) {
        let mut bytes = passing.datagram[..6].to_vec();
        bytes.extend([9; 4]);
        forged.push(along(passing, bytes));
    }
    forged
}

/// Copies of the listener's cookie: of another number, and with other offers.
fn cookies(passing: &Passing<'_, u32>, _: &[Injection]) -> Vec<Injection> {
    if passing.datagram[0] != 0xC1 {
        return Vec::new();
    }
    let mut other = passing.datagram.to_vec();
    other[7] ^= 1;
    let offers = [None, Some(&[2, 1][..]), Some(&[77])];
    let offers = offers.map(|suites| reoffer(passing.datagram, suites));
    let all = offers.into_iter().chain([other]);
    all.map(|bytes| along(passing, bytes)).collect()
}

/// The messages of the handshake with another key in them, and another tag.
fn messages(passing: &Passing<'_, u32>, _: &[Injection]) -> Vec<Injection> {
    if !has_message(passing.datagram) {
        return Vec::new();
    }
    // A client looks at five in a row, and then at one each 50 ms.
    let places = [0, 31, 40].map(|place| {
        let mut bytes = passing.datagram.to_vec();
        bytes[25 + place] ^= 0x40;
        along(passing, bytes)
    });
    // A point of low order: all zeros.
    let mut zeros = passing.datagram.to_vec();
    zeros[25..57].fill(0);
    places.into_iter().chain([along(passing, zeros)]).collect()
}

const FORGERS: [(&str, Forger); 12] = [
    ("copies", copies),
    ("copies from elsewhere", copies_from_elsewhere),
    ("flips", flips),
    ("cut", cut),
    ("old ones", old_ones),
    ("reflections", reflections),
    ("refusals", refusals),
    ("resets", resets),
    ("goodbyes", goodbyes),
    ("plain answers", plain_answers),
    ("cookies", cookies),
    ("messages", messages),
];

/// The attacker sends what `forger` says. If it is `early`, that arrives before what it has seen. Counts what it
/// sends.
fn under_attack(mut scene: Scene, forger: Forger, early: bool) -> (Scene, Rc<RefCell<u64>>) {
    let sent = Rc::new(RefCell::new(0));
    let (count, mut seen) = (Rc::clone(&sent), Vec::new());
    scene.attack(move |passing, injections| {
        seen.push(along(passing, passing.datagram.to_vec()));
        let mut forged = forger(passing, &seen);
        *count.borrow_mut() += u64::try_from(forged.len()).unwrap();
        injections.append(&mut forged);
        if early {
            Intercept::Delay(MS)
        } else {
            Intercept::Pass
        }
    });
    (scene, sent)
}

#[test]
fn an_attacker_that_only_injects_delays_no_connection_and_harms_none() {
    // Four flights would be two round trips.
    let soon: Duration = 6 * DELAY + 100 * MS;
    for plan in Plan::all(1) {
        for early in [false, true] {
            for (name, forger) in FORGERS {
                let (mut scene, sent) = under_attack(plan.clone().build(), forger, early);
                eprintln!("{name}, early: {early}");
                scene.connect();
                let took = Duration::from_micros(scene.world.now().as_micros());
                assert!(took <= soon, "{name}, early: {early}: after {took:?}");
                scene.talk(&Packet::reliable(50), 10 * MS);
                scene.check();
                assert_eq!(scene.bindings(SERVER).len(), 1, "{name}");
                let ended = [CLIENT, SERVER].map(|at| scene.ended(at));
                assert_eq!(ended, [[], []], "{name}");
                assert!(*sent.borrow() > 2, "{name}");
            }
        }
    }
}
