//! The load of one message each way, by the program itself: what is on the wire is the same in each run.

use std::process::Command;

use serde_json::Value;

/// The protocols, in the order of the table.
const PROTOCOLS: [&str; 5] = [
    "porous-modern",
    "porous-chacha",
    "porous-aes",
    "quinn",
    "renetcode",
];

/// Messages, datagrams and bytes of datagrams, by protocol.
fn once(load: &str) -> Vec<[u64; 3]> {
    let done = Command::new(env!("CARGO_BIN_EXE_porous-bench"))
        .args(["cpu", "--sealed", "--once", "--load", load])
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    let said = String::from_utf8_lossy(&done.stdout);
    let outcome = |line: &str| {
        let outcome: Value = serde_json::from_str(line).unwrap();
        ["units", "datagrams", "wire"].map(|name| outcome[name].as_u64().expect("a count"))
    };
    said.lines().map(outcome).collect()
}

#[test]
fn two_runs_send_as_many_datagrams_and_bytes() {
    let outcomes = once("s200");
    assert_eq!(outcomes.len(), PROTOCOLS.len());
    assert_eq!(outcomes, once("s200"));
}

#[test]
fn a_message_is_one_datagram_and_sealing_makes_it_twelve_bytes_longer() {
    for load in ["s64", "s200", "s1100"] {
        let outcomes = once(load);
        let [plain, chacha, aes, quinn, _] = outcomes[..] else {
            panic!("{outcomes:?}");
        };
        for [messages, datagrams, _] in [plain, chacha, aes, quinn] {
            assert_eq!(messages, datagrams, "{load}: {outcomes:?}");
        }
        // A tenth of a byte more or less: each host skips ids at random times, and until it has sent a window of
        // others, acknowledgements tell of the gap.
        for [messages, _, bytes] in [chacha, aes] {
            let difference = bytes.abs_diff(plain[2] + 12 * messages);
            assert!(difference < messages / 10, "{load}: {outcomes:?}");
        }
    }
}
