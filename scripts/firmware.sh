#!/usr/bin/env bash
# Builds examples/firmware and runs it: a server on an emulated Cortex-M3 with 64 KiB of heap, and a
# client on this machine, over a bad path. docs/embedded.md tells more.
#
# usage: scripts/firmware.sh [SEED]...
#        One run for each seed, which decides which datagrams are lost; by default seed 1.
#
# Needs a stable cargo and Debian's packages; installs missing packages if run by root. Builds are kept
# under target/portability and target/firmware, so that the next run is quick. Exits with 77 if a package
# is missing and cannot be installed, and with 1 if a step fails.
set -euo pipefail
cd "$(dirname "$0")/.."

TARGET=thumbv7m-none-eabi
EMULATOR=qemu-system-arm

# The most bytes of each kind of memory, as docs/embedded.md promises.
declare -A MOST=([flash]=270000 [variables]=70000 [stack]=14000 [heap]=57344)

export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS
mkdir -p "${CARGO_TARGET_DIR:=target}/portability" "$CARGO_TARGET_DIR/firmware"
work=$(cd "$CARGO_TARGET_DIR/portability" && pwd)
desktop=$(cd "$CARGO_TARGET_DIR/firmware" && pwd)
source scripts/lib/steps.sh
source scripts/lib/bare.sh

manifest=examples/firmware/Cargo.toml
board_cargo() {
    local command=$1
    shift
    bare_cargo "$command" --locked --manifest-path "$manifest" --package board --target "$TARGET" \
        --release "$@"
}
desktop_cargo() {
    local command=$1
    shift
    CARGO_TARGET_DIR=$desktop cargo "$command" --locked --manifest-path "$manifest" \
        --package desktop --package talk "$@"
}

need_compiler
has "$EMULATOR" || need "$EMULATOR"
need_core "$TARGET" '"s"'
cargo fmt --check --all --manifest-path "$manifest"
run "desktop: lints" desktop_cargo clippy --all-targets -- -D warnings
run "desktop: tests" desktop_cargo test
run "desktop: build" desktop_cargo build
run "$TARGET: board" board_cargo build

(($#)) || set -- 1
for seed in "$@"; do
    run "session with seed $seed" \
        "$desktop/debug/desktop" "$work/bare/$TARGET/release/board" "$seed"
    sed 's/^/    /' "$log"
    for kind in "${!MOST[@]}"; do
        bytes=$(sed -n "s/^board: $kind \([0-9]*\) .*/\1/p" "$log")
        [[ $bytes ]] || fail "$kind: no figure"
        ((bytes <= MOST[$kind])) || fail "$kind: $bytes bytes, more than ${MOST[$kind]}"
    done
done
