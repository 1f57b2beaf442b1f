#!/bin/sh
# Mutants of the core against its unit tests: a shard of eight (0 to 7; default 0), or one file.
# What survives is tried against the scenario tests too. See docs/testing.md, "Mutation".
#
#     scripts/mutants.sh 3
#     scripts/mutants.sh porous-proto/src/serial/id.rs
set -eu
cd "$(dirname "$0")/.."
out=${MUTANTS_OUT:-target/mutants}
mkdir -p "$out"
export CARGO_INCREMENTAL=1 CARGO_PROFILE_DEV_DEBUG=0

case ${1:-0} in
*.rs) which="--file $1" ;;
*) which="--shard ${1:-0}/8 --sharding round-robin" ;;
esac

# shellcheck disable=SC2086 # $which is two words.
cargo mutants --package porous-proto --timeout 20 --no-shuffle --colors never \
    --output "$out" $which -- --lib
