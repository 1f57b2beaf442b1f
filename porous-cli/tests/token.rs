//! Keys and tickets as a developer makes them by hand.
#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// The ticket of the examples, which all programs in docs/vectors make as well.
const TICKET: &str = "ATeGzXAIGeEIR1wS20sLcSFRIBMywTa/H6Oa+m6cMJ7wIKTgkpK2UcJ4uXcsVp9fqbsT2Qa0\
    araMnfncK0QJ+KIJAQTAAAIBYR4CBx7SSWsAAAAAQEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZX\
    CsoB+5gB/Nv7PBpHxFQGNRxC1D6KNZBV4KmvpgTLFVtsSb+kyqYZ4KTbV0c4jg==";

/// The token key of the examples.
const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// Runs the program with this on its standard input.
fn porous(args: &[&str], input: &str) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_porous"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that does not read its input may have ended already.
    let _ = program.stdin.take().unwrap().write_all(input.as_bytes());
    program.wait_with_output().unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A file with this in it.
fn file(name: &str, content: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_ticket_of_the_examples_is_shown() {
    let shown = text(&porous(&["token", "show", "-"], TICKET));
    let public = "expires     1800000030\nkey number  7\ntoken       80 bytes\n\
        server      192.0.2.1:7777\n\
        server key  a4e09292b651c278b9772c569f5fa9bb13d906b46ab68c9df9dc2b4409f8a209\n";
    assert_eq!(shown, public);
    let key = file("example.key", KEY);
    let application = ["--application", "0x0123456789abcdef"];
    let all = [&["token", "show", "-", "--key", &key][..], &application].concat();
    let claims = "client      42\ncreated     1800000000\nuses        one\n\
        audience    81\ndata        ana\n";
    assert_eq!(text(&porous(&all, TICKET)), format!("{public}{claims}"));
}

#[test]
fn what_is_minted_is_shown() {
    let key = text(&porous(&["token", "key"], ""));
    assert_ne!(key, text(&porous(&["token", "key"], "")));
    assert_eq!(key.trim().len(), 64);
    let mint = [
        "token",
        "mint",
        "--key=-",
        "--key-number=3",
        "--application=7",
        "--client=0x2a",
        "--created=1000",
        "--seconds=60",
        "--audience=1",
        "--audience=2",
        "--ip=192.0.2.9",
        "--data=name=\u{e4}",
        "--suite=aes",
        "--server=[2001:db8::1]:4000",
    ];
    let ticket = text(&porous(&mint, &key));
    let path = file("minted.key", &key);
    let show = ["token", "show", "-", "--key", &path, "--application=7"];
    let shown = "expires     1060\nkey number  3\ntoken       108 bytes\n\
        server      [2001:db8::1]:4000\nclient      42\ncreated     1000\n\
        uses        any number\naudience    1\naudience    2\nip          192.0.2.9\n\
        data        name=\\xc3\\xa4\n";
    assert_eq!(text(&porous(&show, &ticket)), shown);
}

#[test]
fn a_token_does_not_open_with_another_key_or_for_another_game() {
    let right = file("right.key", KEY);
    let wrong = file("wrong.key", &KEY.replace("1f", "1e"));
    for (key, application) in [(&wrong, "0x0123456789abcdef"), (&right, "1")] {
        let show = [
            "token",
            "show",
            "-",
            "--key",
            key,
            "--application",
            application,
        ];
        let output = porous(&show, TICKET);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            said.starts_with("error: ") && said.lines().count() == 1,
            "{said}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_no_wrong_argument() {
    for args in [&["token", "key"][..], &["token", "show", "-"]] {
        let full = std::fs::File::create("/dev/full").unwrap();
        let mut program = Command::new(env!("CARGO_BIN_EXE_porous"));
        program.args(args).stdin(Stdio::piped()).stdout(full);
        let mut program = program.stderr(Stdio::piped()).spawn().unwrap();
        // A program that does not read its input may have ended already.
        let _ = program.stdin.take().unwrap().write_all(TICKET.as_bytes());
        let output = program.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("standard output"), "{said}");
    }
}

#[test]
fn bad_arguments_get_one_line() {
    let key = file("good.key", KEY);
    let short = file("short.key", &KEY[2..]);
    let long = file("long.key", &format!("{KEY}00"));
    let mint = |extra: &[&str]| {
        let args = ["token", "mint", "--application=1", "--client=2"];
        [&args[..], extra]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let data = format!("--data={}", "x".repeat(256));
    let servers = ["--server=192.0.2.1:1"; 33];
    for args in [
        mint(&[]),
        mint(&["--key", "no/such/file"]),
        mint(&["--key", &short]),
        mint(&["--key", &long]),
        mint(&["--key", &key, "--seconds=0"]),
        mint(&["--key", &key, "--created=18446744073709551615"]),
        mint(&["--key", &key, "--key-number=256"]),
        mint(&["--key", &key, "--ip=here"]),
        mint(&["--key", &key, &data]),
        mint(&["--key", &key, "--server=192.0.2.1"]),
        mint(&["--key", &key, "--server-key=12"]),
        mint(&[
            "--key",
            &key,
            "--audience=1",
            "--audience=2",
            "--audience=3",
            "--audience=4",
            "--audience=5",
        ]),
        mint(&[&["--key", &key][..], &servers].concat()),
        ["token", "show", "no/such/file"]
            .map(str::to_owned)
            .to_vec(),
        ["token", "show", "-"].map(str::to_owned).to_vec(),
        ["token", "show", "-", "--key", &key]
            .map(str::to_owned)
            .to_vec(),
        ["token", "mint", "--client=2"].map(str::to_owned).to_vec(),
    ] {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = porous(&args, "no ticket");
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(
            said.starts_with("error: ") && said.lines().count() == 1,
            "{args:?}: {said}"
        );
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}
