//! `porous send` and `porous recv`.

use core::time::Duration;
use std::fs;
use std::path::Path;
use std::sync::mpsc;

use porous_std::{Bytes, ChannelId, Config, Event, Mode, UdpHost};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::program::{KEY, OTHER_KEY, Program, bad, file, folder, good, porous};

/// Some seconds of a fast machine.
const LARGE: usize = 200 << 20;

/// Bytes that are not the same everywhere.
fn bytes(len: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()
    };
    let mut bytes = Vec::with_capacity(len + 4);
    while bytes.len() < len {
        bytes.extend(next());
    }
    bytes.truncate(len);
    bytes
}

/// A file to be sent, in a folder of its own.
fn source(test: &str, name: &str, content: &[u8]) -> String {
    let path = folder(&format!("{test}-from")).join(name);
    fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A folder to receive into.
fn target(test: &str) -> (std::path::PathBuf, String) {
    let folder = folder(&format!("{test}-to"));
    let name = folder.to_str().unwrap().to_owned();
    (folder, name)
}

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn recv(out: &str, args: &[&str]) -> (Program, String) {
    Program::listen(&[&["recv", "127.0.0.1:0", "--out", out][..], args].concat())
}

/// Waits for the size of the one part in a folder to reach this.
fn wait_for_part(folder: &Path, size: u64) {
    let (_never, pause) = mpsc::channel::<()>();
    for _ in 0..20_000 {
        let sizes = names(folder).into_iter().filter_map(|name| {
            let is_part = name.ends_with(".part");
            let data = folder.join(name).metadata().ok()?;
            is_part.then_some(data.len())
        });
        if sizes.max() >= Some(size) {
            return;
        }
        let _ = pause.recv_timeout(Duration::from_millis(2));
    }
    panic!("no part of {size} bytes: {:?}", names(folder));
}

#[test]
fn files_of_any_length_arrive() {
    for len in [0, 1, 32_768, 32_769, 3_000_000] {
        let test = format!("length-{len}");
        let content = bytes(len);
        let path = source(&test, "level 1.dat", &content);
        let (folder, out) = target(&test);
        let (receiver, address) = recv(&out, &[]);
        let sent = good(&porous(&["send", &path, &address]));
        let came = good(&receiver.end());
        assert!(
            sent.contains("sent level 1.dat") && sent.contains("plain"),
            "{sent}"
        );
        assert!(came.contains("received level 1.dat"), "{came}");
        let hash = |text: &str| {
            let line = text.lines().find(|line| line.starts_with("sha256"));
            line.unwrap().to_owned()
        };
        assert_eq!(hash(&sent), hash(&came));
        for text in [&sent, &came] {
            assert!(
                text.lines().all(|line| line.chars().count() <= 80),
                "{text}"
            );
        }
        assert_eq!(names(&folder), ["level 1.dat"]);
        assert_eq!(fs::read(folder.join("level 1.dat")).unwrap(), content);
    }
}

#[test]
fn a_key_seals_a_ticket_as_well_and_nothing_else_is_let_in() {
    let content = bytes(100_000);
    let path = source("sealed", "a", &content);
    let (folder, out) = target("sealed");
    let key = file("transfer", "good.key", KEY);
    let other = file("transfer", "other.key", OTHER_KEY);
    let (receiver, address) = recv(&out, &["--key", &key, "--token", &other, "--force"]);
    for args in [
        &["send", &path, &address][..],
        &["send", &path, &address, "--key", &other],
    ] {
        let line = bad(&porous(args), 1);
        assert!(line.contains("refuses the keys"), "{line}");
    }
    assert!(names(&folder).is_empty());
    let text = good(&porous(&["send", &path, &address, "--key", &key]));
    assert!(text.contains("sealed"), "{text}");
    assert!(good(&receiver.end()).contains("sealed"));
    let (receiver, address) = recv(&out, &["--token", &other, "--force"]);
    let mint = [
        "token",
        "mint",
        "--application=0x706f726f75732d74",
        "--client=1",
    ];
    let ticket = good(&porous(&[&mint[..], &["--key", &other]].concat()));
    let ticket = file("transfer", "ticket", ticket);
    good(&porous(&["send", &path, &address, "--token", &ticket]));
    good(&receiver.end());
    assert_eq!(fs::read(folder.join("a")).unwrap(), content);
}

#[test]
fn ipv6_and_json() {
    let path = source("json", "a", &bytes(50_000));
    let (_, out) = target("json");
    let mut receiver = Program::start(&["recv", "[::1]:0", "--out", &out, "--json=-"]);
    let line = receiver.error_line();
    let Some(address) = line.strip_prefix("listening on ") else {
        eprintln!("skipped: this machine has no IPv6");
        return;
    };
    let sent = good(&porous(&["send", &path, address, "--json=-"]));
    let sent: Value = serde_json::from_str(&sent).unwrap();
    let came: Value = serde_json::from_str(&good(&receiver.end())).unwrap();
    let file = &came["files"][0];
    for name in ["name", "bytes", "sha256", "sealed", "resumed_from"] {
        assert_eq!(sent[name], file[name], "{name}");
        assert!(!sent[name].is_null(), "{name}");
    }
    assert_eq!(came["address"], address);
    assert!(sent["error"].is_null());
}

#[test]
fn a_receiver_that_is_killed_and_started_again_gets_the_rest() {
    let content = bytes(LARGE);
    let path = source("resume", "large", &content);
    let (folder, out) = target("resume");
    let (receiver, address) = recv(&out, &[]);
    let sender = Program::start(&["send", &path, &address, "--json=-"]);
    wait_for_part(&folder, 1 << 20);
    receiver.kill();
    assert!(names(&folder)[0].ends_with(".part"));
    let mut receiver = Program::start(&["recv", &address, "--out", &out]);
    assert_eq!(receiver.address(), address);
    let sent: Value = serde_json::from_str(&good(&sender.end())).unwrap();
    assert_eq!(sent["reconnected"], 1, "{sent}");
    good(&receiver.end());
    assert_eq!(names(&folder), ["large"]);
    assert!(fs::read(folder.join("large")).unwrap() == content);
}

#[test]
fn a_sender_that_is_killed_and_started_again_sends_the_rest() {
    let content = bytes(LARGE);
    let path = source("again", "large", &content);
    let (folder, out) = target("again");
    let (receiver, address) = recv(&out, &[]);
    let sender = Program::start(&["send", &path, &address]);
    wait_for_part(&folder, 100 << 20);
    #[cfg(target_os = "linux")]
    for program in [&sender, &receiver] {
        // Of a file of 200 MiB each end has a few in its memory.
        assert!(program.memory() < 40 << 10, "{} kB", program.memory());
    }
    sender.kill();
    let sent = good(&porous(&["send", &path, &address, "--json=-"]));
    let sent: Value = serde_json::from_str(&sent).unwrap();
    assert!(
        sent["resumed_from"].as_u64().unwrap() >= 100 << 20,
        "{sent}"
    );
    assert_eq!(sent["reconnected"], 0);
    good(&receiver.end());
    assert!(fs::read(folder.join("large")).unwrap() == content);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_both_and_the_part_stays() {
    let path = source("stopped", "large", &bytes(LARGE));
    let (folder, out) = target("stopped");
    let (receiver, address) = recv(&out, &[]);
    let sender = Program::start(&["send", &path, &address]);
    wait_for_part(&folder, 1 << 20);
    sender.interrupt();
    let line = bad(&sender.end(), 1);
    assert!(line.contains("another run goes on there"), "{line}");
    receiver.interrupt();
    let output = receiver.end();
    bad(&output, 1);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("the rest can come later"), "{text}");
    assert!(names(&folder)[0].ends_with(".part"));
    let (receiver, _) = recv(&out, &["--many"]);
    receiver.interrupt();
    good(&receiver.end());
}

#[cfg(unix)]
#[test]
fn many_files_come_one_after_another_and_at_once() {
    let (folder, out) = target("many");
    let (receiver, address) = recv(&out, &["--many"]);
    let paths = ["a", "b", "c"].map(|name| source(&format!("many-{name}"), name, name.as_bytes()));
    let senders = paths
        .each_ref()
        .map(|path| Program::start(&["send", path, &address]));
    for sender in senders {
        good(&sender.end());
    }
    let line = bad(&porous(&["send", &paths[0], &address]), 1);
    assert!(line.contains("--force"), "{line}");
    assert_eq!(names(&folder), ["a", "b", "c"]);
    receiver.interrupt();
    let output = receiver.end();
    let text = good(&output);
    assert_eq!(text.matches("received ").count(), 3, "{text}");
}

#[test]
fn force_replaces_a_file() {
    let path = source("force", "a", b"new");
    let (folder, out) = target("force");
    fs::write(folder.join("a"), "old").unwrap();
    let (receiver, address) = recv(&out, &["--force", "--once"]);
    good(&porous(&["send", &path, &address]));
    good(&receiver.end());
    assert_eq!(fs::read(folder.join("a")).unwrap(), b"new");
}

/// Says this to a receiver, and returns its first answer.
fn say(address: &str, packets: &[Vec<u8>]) -> Bytes {
    let application = u64::from_be_bytes(*b"porous-t");
    let config = Config::client().application_id(application);
    let mut host = UdpHost::bind("127.0.0.1:0", config).unwrap();
    host.connect(address.parse().unwrap()).unwrap();
    for _ in 0..1000 {
        host.wait(Duration::from_millis(50)).unwrap();
        while let Some(event) = host.poll_event() {
            match event {
                Event::Connected { peer, .. } => {
                    for packet in packets {
                        let packet = packet.as_slice();
                        host.send(peer, ChannelId(0), packet, Mode::Reliable)
                            .unwrap();
                    }
                }
                Event::Readable { peer } => return host.receive(peer).unwrap().payload,
                Event::Disconnected { reason, .. } => panic!("{reason:?}"),
                Event::Writable { .. } | _ => {}
            }
        }
    }
    panic!("no answer");
}

fn offer(len: u64, name: &[u8]) -> Vec<u8> {
    [&[1][..], &len.to_le_bytes(), &[7; 32], name].concat()
}

#[test]
fn names_and_packets_from_the_network_do_no_harm() {
    let (folder, out) = target("hostile");
    let (mut receiver, address) = recv(&out, &["--many", "--force"]);
    for name in [
        &b""[..],
        b".",
        b"..",
        b"../escaped",
        b"/tmp/escaped",
        b"a/b",
        b"a\\b",
        b".profile",
        b".a.0707070707070707.part",
        b"nul",
        b"a\0b",
        b"a\nb",
        b"\x1b[2J",
    ] {
        assert_eq!(say(&address, &[offer(3, name)]), &[5, 0][..], "{name:?}");
        let line = receiver.error_line();
        assert!(
            line.starts_with("error: ") && line.contains("its name"),
            "{line}"
        );
    }
    // What makes no sense: no UTF-8, data without an offer, an unknown packet, none at all, an answer.
    for packet in [offer(3, b"\xff"), vec![3, 1, 2], vec![9], vec![], vec![4]] {
        assert_eq!(say(&address, &[packet]), &[5, 5][..]);
        assert!(receiver.error_line().contains("makes no sense"));
    }
    assert!(names(&folder).is_empty(), "{:?}", names(&folder));
    // More than was offered, before or after the answer.
    let more = say(&address, &[offer(3, b"a"), vec![3, 1, 2, 3, 4]]);
    assert!(
        more == [2, 0, 0, 0, 0, 0, 0, 0, 0][..] || more == [5, 5][..],
        "{more:?}"
    );
    assert!(receiver.error_line().contains("makes no sense"));
    assert!(!folder.join("a").exists());
    assert!(!folder.parent().unwrap().join("escaped").exists());
}

#[test]
fn an_offer_to_a_busy_receiver_leaves_no_part() {
    let path = source("busy", "large", &bytes(LARGE));
    let (folder, out) = target("busy");
    let (receiver, address) = recv(&out, &[]);
    let sender = Program::start(&["send", &path, &address]);
    wait_for_part(&folder, 1 << 20);
    let busy = Bytes::from_static(&[5, 2]);
    assert_eq!(say(&address, &[offer(3, b"other")]), busy);
    assert_eq!(names(&folder).len(), 1, "{:?}", names(&folder));
    sender.kill();
    receiver.kill();
}

/// The name of the part of a file.
fn part_of(name: &str, content: &[u8]) -> String {
    let hash = base16ct::lower::encode_string(&Sha256::digest(content));
    format!(".{name}.{}.part", &hash[..16])
}

#[test]
fn a_part_that_is_wrong_is_removed_and_both_say_so() {
    let content = bytes(10_000);
    let path = source("wrong", "a", &content);
    let (folder, out) = target("wrong");
    // As if the machine had lost power before the disk had all that was written.
    fs::write(folder.join(part_of("a", &content)), vec![0; 5000]).unwrap();
    let (receiver, address) = recv(&out, &[]);
    let line = bad(&porous(&["send", &path, &address]), 1);
    assert!(line.contains("send it again"), "{line}");
    let line = bad(&receiver.end(), 1);
    assert!(line.contains("hash"), "{line}");
    assert!(names(&folder).is_empty(), "{:?}", names(&folder));
}

#[test]
fn a_part_that_is_whole_needs_no_bytes() {
    let content = bytes(3_000_000);
    let path = source("whole", "a", &content);
    let (folder, out) = target("whole");
    fs::write(folder.join(part_of("a", &content)), &content).unwrap();
    let (receiver, address) = recv(&out, &[]);
    let sent = good(&porous(&["send", &path, &address, "--json=-"]));
    let sent: Value = serde_json::from_str(&sent).unwrap();
    assert_eq!(sent["resumed_from"], 3_000_000);
    good(&receiver.end());
    assert_eq!(names(&folder), ["a"]);
}

/// A limit of the size of files stands for a full disk.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_both_with_one_line_and_the_part_stays() {
    let path = source("full", "a", &bytes(3_000_000));
    let (folder, out) = target("full");
    let program = env!("CARGO_BIN_EXE_porous");
    let script =
        format!("trap '' XFSZ; ulimit -f 1000; exec {program} recv 127.0.0.1:0 --out {out}");
    let mut receiver = Program::spawn(std::process::Command::new("sh").args(["-c", &script]));
    let address = receiver.address();
    let line = bad(&porous(&["send", &path, &address]), 1);
    assert!(line.contains("cannot write"), "{line}");
    let line = bad(&receiver.end(), 1);
    assert!(line.contains("cannot write"), "{line}");
    assert!(names(&folder)[0].ends_with(".part"), "{:?}", names(&folder));
    // What is there is gone on with when there is room.
    let (receiver, address) = recv(&out, &["--json=/dev/full"]);
    let sent = good(&porous(&["send", &path, &address]));
    assert!(sent.contains("bytes were there before"), "{sent}");
    let line = bad(&receiver.end(), 1);
    assert!(line.contains("--json"), "{line}");
    assert_eq!(names(&folder), ["a"]);
}

#[test]
fn nobody_there_fails_and_says_so() {
    let path = source("nobody", "a", b"a");
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let silent = silent.local_addr().unwrap().to_string();
    for (address, part) in [
        (silent.as_str(), "no program listens"),
        ("no.such.host.invalid:4000", "cannot find"),
        ("127.0.0.1:0", "port 0"),
    ] {
        let line = bad(&porous(&["send", &path, address]), 1);
        assert!(line.contains(part), "{line}");
    }
    let (server, address) = Program::listen(&["serve", "127.0.0.1:0", "--duration=90"]);
    let line = bad(&porous(&["send", &path, &address]), 1);
    assert!(line.contains("another command"), "{line}");
    let (_, out) = target("nobody");
    let line = bad(&porous(&["recv", &address, "--out", &out]), 1);
    assert!(line.contains("in use"), "{line}");
    drop(server);
}

#[test]
fn wrong_arguments_get_one_line() {
    let path = source("arguments", "a", b"a");
    let hidden = source("hidden", ".a", b"a");
    let folder = folder("arguments");
    let folder = folder.to_str().unwrap();
    for args in [
        &["send"][..],
        &["send", &path],
        &["send", &path, "localhost"],
        &["send", "no/such/file", "a:1"],
        &["send", folder, "a:1"],
        &["send", &hidden, "a:1"],
        &["send", &path, "a:1", "--retry=x"],
        &["send", &path, "a:1", "--key", "no/such/file"],
        &["send", &path, "a:1", "--json", "no/such/file"],
        &["recv"],
        &["recv", "localhost"],
        &["recv", "127.0.0.1:0", "--out", "no/such/folder"],
        &["recv", "127.0.0.1:0", "--out", &path],
        &["recv", "127.0.0.1:0", "--once", "--many"],
        &["recv", "127.0.0.1:0", "--token", &path],
        &["recv", "127.0.0.1:0", "--json", "no/such/file"],
    ] {
        let output = porous(args);
        bad(&output, 2);
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}
