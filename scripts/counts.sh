#!/usr/bin/env bash
# Counts the instructions that porous takes for some loads, and fails if they are more than 3 % above those
# in bench/results/cpu-guard.json. Counts of other compilers, C libraries or processors are not compared.
#
# usage: scripts/counts.sh
#
# Needs a stable cargo and valgrind; installs valgrind if it is missing and root runs this. Exits with 77 if
# valgrind is missing and cannot be installed, and with 1 if a count is too high.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p "${CARGO_TARGET_DIR:=bench/target}"
CARGO_TARGET_DIR=$(cd "$CARGO_TARGET_DIR" && pwd)
export CARGO_TARGET_DIR
work=$CARGO_TARGET_DIR
source scripts/lib/steps.sh

has valgrind || need valgrind
cargo build --quiet --release --locked --manifest-path bench/Cargo.toml --package porous-loads
"$CARGO_TARGET_DIR/release/porous-guard" check
