#!/usr/bin/env bash
# Builds examples/firmware and runs it: a server on an emulated Cortex-M3 with 64 KiB of heap, and a
# client on this machine, over a bad path. Twice: as it is, and sealed. docs/embedded.md tells more.
#
# usage: scripts/firmware.sh [SEED]...
#        Two runs for each seed, which decides which datagrams are lost; by default seed 1.
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
# The most bytes that sealing may add.
declare -A MORE=([flash]=40000 [variables]=0 [stack]=4096 [host]=1024 [peer]=1024)

export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS
mkdir -p "${CARGO_TARGET_DIR:=target}/portability" "$CARGO_TARGET_DIR/firmware"
work=$(cd "$CARGO_TARGET_DIR/portability" && pwd)
desktop=$(cd "$CARGO_TARGET_DIR/firmware" && pwd)
source scripts/lib/steps.sh
source scripts/lib/bare.sh
source scripts/lib/folders.sh

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
    CARGO_TARGET_DIR=$desktop scripts/linted "$command" --locked --manifest-path "$manifest" \
        --package desktop --package talk "$@"
}

need_compiler
has "$EMULATOR" || need "$EMULATOR"
need_core "$TARGET" '"s"'
cargo fmt --check --all --manifest-path "$manifest"
run "desktop: lints and tests" desktop_cargo test
run "desktop: build" desktop_cargo build

# SHA-256 in a loop instead of unrolled: 6 KiB of flash less.
without_folders
bare_flags=(--cfg 'sha2_backend_soft="compact"' "${remap[@]}")

# build_board HOW FEATURE...: builds the image of this name.
build_board() {
    local how=$1
    shift
    run "$TARGET: board, $how" board_cargo build "${@/#/--features=}"
    cp "$work/bare/$TARGET/release/board" "$work/board-$how"
}
build_board plain
build_board sealed seal

# most HOW KIND: prints the most bytes of this kind that the board has told of in the sessions so far.
declare -A told
most() {
    echo "${told[$1.$2]:-0}"
}

# session HOW SEED: one session, whose figures are noted.
session() {
    local how=$1 seed=$2 kind bytes
    run "$how session with seed $seed" "$desktop/debug/desktop" "$how" "$work/board-$how" "$seed"
    sed 's/^/    /' "$log"
    for kind in flash variables stack heap host peer; do
        bytes=$(sed -n "s/^board: $kind \([0-9]*\) .*/\1/p" "$log")
        [[ $bytes ]] || fail "$kind: no figure"
        ((bytes <= $(most "$how" "$kind"))) || told[$how.$kind]=$bytes
    done
}

(($#)) || set -- 1
for seed in "$@"; do
    session plain "$seed"
    session sealed "$seed"
done
for kind in "${!MOST[@]}"; do
    bytes=$(most plain "$kind")
    ((bytes <= MOST[$kind])) || fail "$kind: $bytes bytes, more than ${MOST[$kind]}"
done
for kind in "${!MORE[@]}"; do
    bytes=$(($(most sealed "$kind") - $(most plain "$kind")))
    echo "sealing: $kind $bytes bytes more"
    ((bytes <= MORE[$kind])) || fail "$kind: $bytes bytes, more than ${MORE[$kind]}"
done
