#!/bin/sh
# Runs the core's own tests on mutants of the core: one shard of eight (0 to 7; by default 0), or the
# mutants of some files. First come the unit tests, which are quick. Mutants that survive them are run
# against the scenario tests, too. See docs/testing.md, "Mutation".
#
#     scripts/mutants.sh 3
#     scripts/mutants.sh porous-proto/src/serial/mod.rs porous-proto/src/wire.rs
#
# Needs cargo-mutants. Works in a copy of the tree, and writes to target/mutants.
set -eu
cd "$(dirname "$0")/.."
out=${MUTANTS_OUT:-target/mutants}
mkdir -p "$out"
rm -rf "$out/unit" "$out/scenarios"
# For each mutant, one crate is built and tests run for a second, so quick builds matter most.
export CARGO_INCREMENTAL=1 CARGO_PROFILE_DEV_DEBUG=0

# mutants NAME ARGUMENT...: writes the results to $out/NAME. Exit statuses 2 (mutants survived) and 3 (a
# timeout) are results, not failures.
mutants() {
    name=$1
    shift
    status=0
    cargo mutants --package porous-proto --colors never --timeout "$timeout" --no-shuffle \
        --output "$out/$name" "$@" || status=$?
    case $status in 0 | 2 | 3) ;; *) exit "$status" ;; esac
}

count() { cat "$@" | wc -l; }
# Of the mutants in these files, those that the unit tests missed: the patterns may match other mutants.
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
    mutants scenarios "$@" --test-package porous-tests -- --test scenarios
    scenarios=$out/scenarios/mutants.out
    both=$((caught + $(asked "$scenarios/caught.txt" "$scenarios/timeout.txt" | wc -l)))
    echo "survived:"
    asked "$scenarios/missed.txt"
else
    both=$caught
fi
echo "$viable viable mutants: unit tests catch $caught, the core's own tests $both"
