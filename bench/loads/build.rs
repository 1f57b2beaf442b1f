//! Tells the program which compiler made it: counts of instructions hold for one compiler alone.

use std::env::var;
use std::process::Command;

fn main() {
    let rustc = var("RUSTC").expect("cargo sets it");
    let version = Command::new(rustc).arg("--version").output();
    let version = version.expect("a compiler").stdout;
    let flags = var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let words: Vec<_> = flags.split('\u{1f}').collect();
    println!(
        "cargo::rustc-env=COMPILER={} {}",
        String::from_utf8_lossy(&version).trim(),
        words.join(" ")
    );
    println!("cargo::rerun-if-changed=build.rs");
}
