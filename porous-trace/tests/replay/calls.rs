//! Each call by which a host can be changed is recorded.

use alloc::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Calls that come to others, which are recorded.
const BY_OTHERS: [&str; 2] = ["connect", "connect_any"];

/// Functions cannot be recorded: a host that can be recorded has those of the drivers.
const FUNCTIONS: [&str; 3] = ["set_ip_of", "set_same_host", "set_source_of"];

/// The names of the public methods in this code that take `&mut self`.
fn mutable(code: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for start in ["pub fn ", "pub const fn "] {
        for rest in code.split(start).skip(1) {
            let head = rest.split('{').next().unwrap();
            let end = rest.find(['(', '<']).unwrap();
            if head.contains("&mut self") {
                names.insert(rest[..end].to_owned());
            }
        }
    }
    names
}

/// The code of a folder of the core, without its tests.
fn code(folder: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../porous-proto/src");
    let files = fs::read_dir(root.join(folder)).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let code = paths.filter(|path| path.extension().is_some_and(|end| end == "rs"));
    code.map(|path| fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn every_call_that_changes_a_host_is_recorded() {
    let host = mutable(&code("host"));
    assert!(host.contains("send") && host.contains("handle_datagram"));
    let traced = mutable(include_str!("../../src/traced.rs"));
    let other: BTreeSet<_> = BY_OTHERS.iter().chain(&FUNCTIONS).copied().collect();
    let missing: Vec<_> = host
        .iter()
        .filter(|name| !traced.contains(*name) && !other.contains(name.as_str()))
        .collect();
    assert!(missing.is_empty(), "record them in TracedHost: {missing:?}");
    // A peer is lent for questions alone.
    assert_eq!(mutable(&code("peer")), BTreeSet::new());
}
