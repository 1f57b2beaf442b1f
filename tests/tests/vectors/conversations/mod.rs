//! Golden conversations of version 1: what two hosts of release 0.1.0 have said to each other, datagram by datagram.
//!
//! A file says what was sent and when, what each datagram means, and what became of it. It was made once, and is
//! never changed. Each datagram is still read as the same fields, and a host of today that is told what the host of
//! that day was told takes each datagram of the other one, and gives the same packets to its application.
//!
//! The answers of today's host are not compared. When a host repeats, how long it waits with an acknowledgement and
//! what it puts into one datagram is its own choice (`docs/wire.md`, "What may change, and what never"), and equal
//! bytes would forbid every choice but that of 0.1.0. `docs/vectors/README.md` says what to do when another choice
//! leaves a recorded host answering to what today's host has not sent.

mod actor;
mod record;
mod scripts;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use self::actor::{Actor, Arrival, Told};
use self::scripts::{Script, scripts};
use super::vector::{Context, Vector};

/// Which host: in files by these names, in arrays at these places.
const HOSTS: [&str; 2] = ["client", "server"];

fn path(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/vectors/conversations");
    folder.join(name).with_extension("json")
}

/// The lines of a conversation. One that is not there yet is made, if that is asked for; no other is written.
fn read(script: &Script) -> Vec<Value> {
    let path = path(script.name);
    if !path.exists() {
        let how = super::BLESS;
        assert!(
            std::env::var_os(how).is_some(),
            "{} is not there: {how}=1 makes it",
            path.display()
        );
        fs::write(&path, record::text(&record::record(script))).unwrap();
    }
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn bytes(line: &Value) -> Vec<u8> {
    let hex = line["hex"].as_str().unwrap().as_bytes();
    let digits = hex.chunks(2).map(|two| core::str::from_utf8(two).unwrap());
    digits
        .map(|two| u8::from_str_radix(two, 16).unwrap())
        .collect()
}

/// The vectors of a conversation, and the lines that they come from.
fn vectors(lines: &[Value]) -> Vec<(Vector, &Value)> {
    let lines = lines.iter().filter(|line| line.get("hex").is_some());
    let both = lines.map(|line| {
        let name = line["name"].as_str().unwrap();
        let vector = match line.get("context") {
            Some(context) => Vector::short(name, Context::from_json(context), bytes(line)),
            None => Vector::long(name, bytes(line)),
        };
        (vector, line)
    });
    both.collect()
}

/// The datagrams that came to this host.
fn arrivals(lines: &[Value], host: usize) -> Vec<Arrival> {
    let lines = lines.iter();
    let to_it = lines.filter(|line| line["by"] == HOSTS[1 - host] && line.get("came").is_some());
    let mut arrivals: Vec<Arrival> = to_it.map(record::arrival).collect();
    arrivals.sort_by_key(|arrival| arrival.at);
    arrivals
}

/// What a host of today tells its application if it is told what the recorded one was told.
fn replay(script: &Script, host: usize, arrivals: Vec<Arrival>) -> Told {
    let mut actor = Actor::new(script, host);
    let mut left = arrivals.into_iter().peekable();
    loop {
        let next = left.peek().map(|arrival| arrival.at);
        let Some(now) = [next, actor.next()].into_iter().flatten().min() else {
            break;
        };
        if now > script.until {
            break;
        }
        while let Some(arrival) = left.next_if(|arrival| arrival.at <= now) {
            actor.handle(&arrival);
        }
        // What it sends gets lost: the recorded host has answered to what that of its day sent.
        let _ = actor.turn(now);
    }
    actor.told()
}

/// What the recorded host told its application.
fn told(lines: &[Value], host: usize) -> &Value {
    let mut told = lines.iter().filter(|line| line["host"] == HOSTS[host]);
    told.next().unwrap()
}

#[test]
fn each_datagram_of_a_conversation_is_read_as_on_the_day_it_was_recorded() {
    for script in scripts() {
        let lines = read(&script);
        let vectors = vectors(&lines);
        assert!(vectors.len() >= 4, "{}: {}", script.name, vectors.len());
        for (vector, line) in vectors {
            assert_eq!(vector.complaint(), None);
            for (field, value) in vector.json().as_object().unwrap() {
                assert_eq!(line.get(field), Some(value), "{}: {field}", vector.name);
            }
        }
    }
}

#[test]
fn a_host_of_today_takes_what_the_recorded_one_has_said() {
    for script in scripts() {
        let lines = read(&script);
        for (host, name) in HOSTS.into_iter().enumerate() {
            let today = replay(&script, host, arrivals(&lines, host));
            let today = record::told(name, &today);
            assert_eq!(&today, told(&lines, host), "{}: {name}", script.name);
        }
    }
}

/// The comparison above fails if a datagram is lost or damaged that brings what is delivered.
#[test]
fn a_conversation_from_which_a_datagram_is_missing_is_noticed() {
    let script = &scripts()[0];
    let lines = read(script);
    let all = arrivals(&lines, 1);
    let first_frame = all.iter().position(|it| it.bytes[0] >> 6 == 1);
    let first_frame = first_frame.unwrap() + 1;
    let mut missing = all.clone();
    missing.remove(first_frame);
    let mut damaged = all;
    *damaged[first_frame].bytes.last_mut().unwrap() ^= 1;
    for arrivals in [missing, damaged] {
        let today = record::told(HOSTS[1], &replay(script, 1, arrivals));
        assert_ne!(&today, told(&lines, 1));
    }
}

/// What no conversation shows could change unnoticed. ASK and TOLD answer forgeries, and have vectors alone.
#[test]
fn conversations_show_all_that_honest_hosts_say() {
    let text: String = scripts()
        .iter()
        .map(|script| Value::from(read(script)).to_string())
        .collect();
    let forms = [
        "REQ",
        "REQ with COOKIE",
        "ACK",
        "ACK with AUTH",
        "REJ",
        "DISC",
        "DISC_ACK",
        "RESET",
        "short form",
    ];
    let messages = porous_trace::fields::CONTROL.iter();
    let messages = messages.filter(|name| !["PADDING", "ASK", "TOLD", "NOOP"].contains(name));
    let messages = messages.chain(&["packet", "fragment"]);
    let modes = ["unreliable", "reliable", "passive"];
    let wanted = forms
        .map(|form| format!("\"form\":\"{form}\""))
        .into_iter()
        .chain(messages.map(|message| format!("\"message\":\"{message}\"")))
        .chain(modes.map(|mode| format!("\"mode\":\"{mode}\"")))
        .chain(
            [
                "\"phase\":1",
                "\"marks\"",
                "\"check\":\"all\"",
                "\"mac\"",
                "\"token\"",
            ]
            .map(String::from),
        );
    let missing: Vec<String> = wanted.filter(|it| !text.contains(it)).collect();
    assert_eq!(missing, [""; 0]);
}
