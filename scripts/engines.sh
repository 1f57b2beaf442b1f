#!/usr/bin/env bash
# The engines' workspaces, which no other build compiles: a backend for Bevy, and a peer for Godot.
#
#   scripts/engines.sh              # all of it
#   scripts/engines.sh bevy         # formats, lints, tests, documentation, the example without a window
#   scripts/engines.sh window       # the example with a window: compiles Bevy's renderer, so it takes long
#   scripts/engines.sh godot-core   # what Godot's peer does: seconds, once porous is compiled
#   scripts/engines.sh godot        # the same, and the extension
#
# None needs anything but Rust and a C compiler. The example with a window is compiled and not started.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_INCREMENTAL=0
mkdir -p "${CARGO_TARGET_DIR:=target}"
target=$(cd "$CARGO_TARGET_DIR" && pwd)

# licences: of the workspace in this folder, if cargo-deny is there.
licences() {
    if command -v cargo-deny >/dev/null; then
        cargo deny --offline check bans licenses sources
    fi
}

bevy() (
    cd bevy
    export CARGO_TARGET_DIR=$target/bevy
    cargo fmt --check
    cargo clippy --quiet --locked --all-targets --features seal -- -D warnings
    cargo test --quiet --locked --features seal
    for side in client server; do
        cargo check --quiet --locked --lib --no-default-features --features "$side"
    done
    RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --features seal --no-deps --document-private-items
    cargo run --quiet --locked --features seal --example boxes -- --headless
    licences
)

window() (
    cd bevy
    CARGO_TARGET_DIR=$target/bevy cargo clippy --quiet --locked --features seal,window --example boxes -- -D warnings
)

godot_core() (
    cd godot
    export CARGO_TARGET_DIR=$target/godot
    cargo fmt --check
    ../scripts/linted test --quiet --locked --package porous-godot-core
)

godot() (
    godot_core
    cd godot
    export CARGO_TARGET_DIR=$target/godot
    cargo clippy --quiet --locked --all-targets -- -D warnings
    cargo build --quiet --locked
    # Godot looks for this name, which extension/porous.gdextension gives.
    library=$target/godot/debug/libporous_godot.so
    if [[ -e $library || $(uname) == Linux ]]; then
        nm --dynamic --defined-only "$library" | grep ' T gdext_rust_init$' >/dev/null
    fi
    RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps --document-private-items
    licences
)

case ${1:-all} in
all)
    bevy
    window
    godot
    ;;
bevy) bevy ;;
window) window ;;
godot-core) godot_core ;;
godot) godot ;;
*)
    sed -n '2,/^$/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
