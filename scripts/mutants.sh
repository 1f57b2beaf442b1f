#!/bin/sh
# Mutants of the core against the core's own tests: one shard of eight (0 to 7; by default 0), or
# the mutants of some files. First against its unit tests, which are quick; what survives them,
# against the scenario tests, too. See docs/testing.md, "Mutation".
#
#     scripts/mutants.sh 3
#     scripts/mutants.sh porous-proto/src/serial/mod.rs porous-proto/src/wire.rs
#
# Needs cargo-mutants. It works in a copy of the tree, and writes to target/mutants.
set -eu
cd "$(dirname "$0")/.."
out=${MUTANTS_OUT:-target/mutants}
mkdir -p "$out"
rm -rf "$out/unit" "$out/scenarios"
# A step is a build of one crate and one second of tests.
export CARGO_INCREMENTAL=1 CARGO_PROFILE_DEV_DEBUG=0

# Writes its results to $out/$1. That mutants survive is a result, too (2, or 3 for a timeout).
mutants() {
    name=$1
    shift
    status=0
    cargo mutants --package porous-proto --colors never --timeout "$timeout" --no-shuffle \
        --output "$out/$name" "$@" || status=$?
    case $status in 0 | 2 | 3) ;; *) exit "$status" ;; esac
}

count() { cat "$@" | wc -l; }
# Of these mutants those that the unit tests missed: some are tried whatever was asked for.
asked() { cat "$@" | grep -xF -f "$unit/missed.txt" || true; }

case ${1:-0} in
[0-7]) set -- --shard "${1:-0}/8" --sharding round-robin ;;
*) for file; do
    shift
    set -- "$@" --file "$file"
done ;;
esac
timeout=20
mutants unit "$@" -- --lib
unit=$out/unit/mutants.out
caught=$(count "$unit/caught.txt" "$unit/timeout.txt")
viable=$((caught + $(count "$unit/missed.txt")))

if [ -s "$unit/missed.txt" ]; then
    set --
    while IFS= read -r mutant; do
        set -- "$@" --file "${mutant%%:*}" --re "^$(printf '%s\n' "$mutant" | sed 's/[][\.*^$+?(){}|]/\\&/g')\$"
    done <"$unit/missed.txt"
    timeout=120
    mutants scenarios "$@" --test-package porous-tests -- --test scenarios -- --skip wraps
    scenarios=$out/scenarios/mutants.out
    both=$((caught + $(asked "$scenarios/caught.txt" "$scenarios/timeout.txt" | wc -l)))
    echo "survived:"
    asked "$scenarios/missed.txt"
else
    both=$caught
fi
echo "$viable viable mutants: unit tests catch $caught, the core's own tests $both"
