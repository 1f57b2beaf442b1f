//! The vectors of `docs/vectors`: datagrams, what their fields are, and why others are refused. The library reads
//! each of them, and writes it again; the files say what it has read. `docs/vectors/porous.py`, which shares no
//! code with the library, reads and writes them too.
#![expect(clippy::unwrap_used, reason = "a test")]

extern crate alloc;

mod conversations;
mod endings;
mod frames;
mod handshakes;
mod messages;
mod offers;
mod refused_frames;
mod refused_long;
mod refused_messages;
mod requests;
mod sealed;
mod vector;

use alloc::collections::BTreeSet;
use std::path::Path;

use porous_trace::fields;
use vector::Vector;

/// Set in the environment, the test writes the files instead of comparing them.
const BLESS: &str = "POROUS_BLESS";

/// The files and their vectors.
fn files() -> [(&'static str, Vec<Vector>); 7] {
    let refused = [
        refused_long::all(),
        refused_frames::all(),
        refused_messages::all(),
    ];
    [
        ("requests", requests::all()),
        ("handshakes", handshakes::all()),
        ("endings", endings::all()),
        ("sealed", sealed::all()),
        ("frames", frames::all()),
        ("messages", messages::all()),
        ("refused", refused.concat()),
    ]
}

/// One vector a line, so that a change of one is a change of one line.
fn text(vectors: &[Vector]) -> String {
    let lines: Vec<String> = vectors.iter().map(|it| it.json().to_string()).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

/// The fields are what the library reads in the bytes; what it reads, it writes as the same bytes.
#[test]
fn the_committed_vectors_are_what_the_library_reads() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/vectors");
    for (name, vectors) in files() {
        let complaints: Vec<String> = vectors.iter().filter_map(Vector::complaint).collect();
        assert!(complaints.is_empty(), "{complaints:#?}");
        let path = folder.join(name).with_extension("json");
        let new = text(&vectors);
        if std::env::var_os(BLESS).is_some() {
            std::fs::write(&path, new).unwrap();
            continue;
        }
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        let how = format!("{BLESS}=1 cargo test -p porous-tests --test vectors writes them");
        let mut lines = new.lines().zip(old.lines());
        let other = lines.find(|(new, old)| new != old);
        assert!(other.is_none(), "{name}.json differs; {how}: {other:#?}");
        assert_eq!(new.len(), old.len(), "{name}.json is old; {how}");
    }
}

#[test]
fn there_are_enough_vectors_and_each_has_a_name_of_its_own() {
    let vectors = files().map(|(_, vectors)| vectors).concat();
    let names: BTreeSet<&str> = vectors.iter().map(|it| it.name.as_str()).collect();
    let datagrams: BTreeSet<String> = vectors
        .iter()
        .map(|it| it.json()["hex"].to_string())
        .collect();
    assert!(vectors.len() >= 400, "only {} vectors", vectors.len());
    assert_eq!(names.len(), vectors.len(), "two have one name");
    assert!(datagrams.len() >= 400, "only {} datagrams", datagrams.len());
}

/// A form, a message or a cause that no vector shows could be read wrongly by all who test with these.
#[test]
fn every_form_message_and_cause_has_a_vector() {
    let all: String = files().iter().map(|(_, vectors)| text(vectors)).collect();
    let forms = [
        "REQ",
        "REQ with COOKIE",
        "REQ of another version",
        "ACK",
        "ACK with AUTH",
        "REJ",
        "DISC",
        "DISC_ACK",
        "RESET",
        "short form",
    ];
    let forms = forms.map(|form| format!("\"form\":\"{form}\""));
    let messages = fields::CONTROL.iter().chain(&["packet", "fragment"]);
    let messages = messages.filter(|name| **name != "PADDING");
    let messages = messages.map(|name| format!("\"message\":\"{name}\""));
    let causes = vector::CAUSES.map(|(_, cause)| format!("\"refused\":\"{cause}\""));
    for wanted in forms.into_iter().chain(messages).chain(causes) {
        assert!(all.contains(&wanted), "no vector shows {wanted}");
    }
}
