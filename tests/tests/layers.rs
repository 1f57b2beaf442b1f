//! The core is built in storeys: nothing in it refers upwards (`docs/design.md`).

use porous_tests::sources::{SourceFile, files};

const CORE: &str = "porous-proto/src/";

/// From the bottom up. A file refers only to lower storeys and to its own room; rooms of one storey do
/// not refer to each other.
const STOREYS: [&[&str]; 12] = [
    &["audit", "canary", "work"],
    &["ids", "serial"],
    &["wire"],
    &["frame"],
    VOCABULARY,
    &["transfer", "sequencing", "route"],
    &["peer"],
    &["host"],
    &["sealing", "words"],
    &["codec", "doc", "hooks"],
    &["recording"],
    &["lib"],
];

/// The types that all layers above the wire share. These rooms may refer to each other.
const VOCABULARY: &[&str] = &[
    "bucket",
    "buffers",
    "config",
    "congestion",
    "error",
    "event",
    "options",
    "payload",
    "seal",
    "source",
    "stats",
    "time",
    "timer",
];

fn storey(room: &str) -> Option<usize> {
    STOREYS.iter().position(|rooms| rooms.contains(&room))
}

/// What `a::b` and `{a, b::c, ..}` begin with: the names that follow a root.
fn first_names(rest: &str) -> Vec<&str> {
    let word = |text: &str| {
        let other = |c: char| !c.is_alphanumeric() && c != '_';
        text.find(other).unwrap_or(text.len())
    };
    let Some(group) = rest.strip_prefix('{') else {
        return vec![&rest[..word(rest)]];
    };
    let (mut depth, mut start, mut names) = (0, true, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => start = true,
            c if start && !c.is_whitespace() => {
                names.push(&group[at..at + word(&group[at..])]);
                start = false;
            }
            _ => {}
        }
    }
    names
}

/// The names of the crate's root that a file uses behind `crate::` and `super::`.
fn references(text: &str) -> Vec<&str> {
    let after = |root: &'static str| {
        text.match_indices(root)
            .flat_map(move |(at, _)| first_names(&text[at + root.len()..]))
    };
    after("crate::").chain(after("super::")).collect()
}

/// The room that a name of the root stands for: the room of this name, or the one that `lib.rs`
/// re-exports the name from.
fn room_of<'a>(name: &'a str, lib: &'a str) -> Option<&'a str> {
    if storey(name).is_some() {
        return Some(name);
    }
    lib.split("pub use ").skip(1).find_map(|line| {
        let (room, names) = line.split_once("::")?;
        let exported = first_names(names);
        exported.contains(&name).then_some(room)
    })
}

fn upward_references(file: &SourceFile, lib: &str) -> Vec<String> {
    let path = file.path.strip_prefix(CORE).unwrap_or(&file.path);
    // Hooks belong to several storeys: the counts to the bottom, the drivers of hosts to the top.
    let path = path.strip_prefix("hooks/").unwrap_or(path);
    let own = path.split(['/', '.']).next().unwrap_or_default();
    let Some(own_storey) = storey(own) else {
        return vec![format!("{path}: a room without a storey")];
    };
    let code: Vec<&str> = file
        .text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    let code = code.join("\n").replace("hooks::", "");
    let mut found = Vec::new();
    for name in references(&code) {
        let Some(room) = room_of(name, lib) else {
            continue;
        };
        let is_below = storey(room).is_some_and(|other| other < own_storey);
        let is_near = room == own || (VOCABULARY.contains(&own) && VOCABULARY.contains(&room));
        if !is_below && !is_near {
            found.push(format!("{path} refers to {name} of {room}"));
        }
    }
    found
}

#[test]
fn nothing_in_the_core_refers_upwards() {
    let mut files = files(&["rs"]);
    files.retain(|file| file.path.starts_with(CORE));
    assert!(files.len() > 50, "where is the core?");
    let is_lib = |file: &&SourceFile| file.path.ends_with("src/lib.rs");
    let lib = files.iter().find(is_lib).expect("a root");
    // The tests of a room may use the whole crate, as users do.
    let rooms = files.iter().filter(|file| !file.is_test());
    let found: Vec<String> = rooms
        .flat_map(|file| upward_references(file, &lib.text))
        .collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn references_upwards_are_found() {
    let lib = "pub use frame::{Malformed, Mode};\npub use ids::PeerId;\npub use host::{\n    Host, ip_source,\n};\n";
    let check = |path: &str, text: &str| {
        let file = SourceFile {
            path: format!("{CORE}{path}"),
            text: text.into(),
        };
        upward_references(&file, lib).len()
    };
    for (path, text, complaints) in [
        ("wire/mod.rs", "use crate::serial::expand;", 0),
        ("serial/mod.rs", "use crate::wire::Reader;", 1),
        ("transfer/a.rs", "use crate::frame::Mode;", 0),
        (
            "transfer/a.rs",
            "use crate::{\n    time::Instant,\n    frame::{Mode, peer},\n};",
            0,
        ),
        (
            "transfer/a.rs",
            "use crate::{time::Instant, peer::Peer};",
            1,
        ),
        ("transfer/a.rs", "    a(crate::sequencing::cost(1));", 1),
        ("sequencing/mod.rs", "use super::transfer::Source;", 1),
        ("sequencing/mod.rs", "use super::channel::Channel;", 0),
        ("peer/mod.rs", "use crate::Mode;", 0),
        ("peer/mod.rs", "use crate::{Mode, PeerId};", 0),
        ("peer/mod.rs", "use crate::{Mode, Host};", 1),
        ("peer/mod.rs", "/// See [`Host`](crate::Host).", 0),
        ("frame/mod.rs", "use crate::time::Instant;", 1),
        ("event.rs", "use crate::{PeerId, Mode};", 0),
        ("event.rs", "use crate::{PeerId, Host};", 1),
        ("event.rs", "use crate::stats::HostStats;", 0),
        ("stats.rs", "use crate::peer::Peer;", 1),
        ("seal/a.rs", "use crate::{time::Instant, wire::Reader};", 0),
        ("seal/a.rs", "use crate::transfer::Plan;", 1),
        ("hooks/sealing.rs", "use crate::seal::Suite;", 0),
        ("serial/mod.rs", "use crate::hooks::work;", 0),
        ("serial/mod.rs", "use crate::hooks::{doc, work};", 1),
        ("serial/mod.rs", "use crate::hooks;", 1),
        ("hooks/audit.rs", "use crate::serial::expand;", 1),
        ("hooks/codec.rs", "use crate::frame::Mode;", 0),
        ("attic/mod.rs", "", 1),
    ] {
        assert_eq!(check(path, text), complaints, "{path}: {text}");
    }
}
