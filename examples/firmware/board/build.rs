//! Tells the linker the memory of the board.

use std::env;

fn main() {
    let here = env::var("CARGO_MANIFEST_DIR").expect("cargo says where the package is");
    println!("cargo:rustc-link-search={here}");
    println!("cargo:rustc-link-arg-bins=-Tlink.x");
    println!("cargo:rustc-link-arg-bins=--nmagic");
    println!("cargo:rerun-if-changed=memory.x");
}
