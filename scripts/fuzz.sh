#!/usr/bin/env bash
# Lets libFuzzer look for inputs of the fuzz targets that reach new code, and keeps the fewest that do:
# `cargo test` replays the inputs in fuzz/tests/__fuzz__ (docs/testing.md, "Fuzzing").
#
# usage: scripts/fuzz.sh [TARGET [SECONDS]]
#        All targets by default, and 60 seconds for each. An empty TARGET is all of them, and 0 SECONDS
#        only make the corpora smaller.
#        A target is the name of a test, or a part of it that no other has.
#
# Needs a stable cargo and cargo-bolero (`cargo install cargo-bolero --locked`); downloads nothing.
# Exits with 77 if cargo-bolero is missing, and with 1 if an input fails: the input is then in the target's
# `crashes`, and `cargo test` fails as well until the bug is mended.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0 RUSTUP_AUTO_INSTALL=0

TESTS=(
    what_decodes_is_in_its_bounds_and_has_one_spelling
    what_the_document_writes_the_library_reads_and_would_write
    what_the_document_writes_of_sealing_the_library_reads_and_would_write
    what_is_spelled_in_a_longer_way_is_refused
    what_is_damaged_is_refused_or_means_something_else
    a_router_stands_any_bytes_and_routes_what_a_host_takes
    a_host_stands_any_bytes
    a_host_stands_any_frames
    a_host_with_wide_windows_stands_any_frames
    a_host_stands_a_peer_that_has_keys
    a_host_is_connected_by_any_message_2_that_says_what_it_should
    any_bytes_as_a_token_are_taken_only_if_they_are_one
    a_pair_keeps_its_promises
    small_windows_and_ids_that_wrap_keep_their_promises
    any_call_with_any_argument_does_what_is_documented
    any_bytes_are_no_harm_as_a_trace
    any_records_are_no_harm_in_a_replay
    what_streams_write_is_measured_and_read_alike
    endpoints_keep_their_promises
    an_endpoint_stands_any_packets
)
seconds=${2:-60}
# No sanitizer: the workspace has no unsafe code for one to check.
how=(--package porous-fuzz --rustc-bootstrap --sanitizer NONE)

command -v cargo-bolero >/dev/null || { echo "fuzz: cargo-bolero is not installed" >&2; exit 77; }
mapfile -t tests < <(printf '%s\n' "${TESTS[@]}" | grep -F -- "${1:-}")
if [[ ${#tests[@]} = 0 || (-n ${1:-} && ${#tests[@]} != 1) ]]; then
    echo "fuzz: one of ${TESTS[*]}, please" >&2
    exit 1
fi

for test in "${tests[@]}"; do
    corpus=fuzz/tests/__fuzz__/$test/corpus
    echo "== $test"
    # Targets whose input is a list of steps begin with long inputs; others begin short.
    case $test in
    what_*) length=100 ;;
    *) length=0 ;;
    esac
    # libFuzzer takes a limit of 0 seconds as none.
    status=0
    if ((seconds > 0)); then
        # With a value profile, an input whose comparisons come closer to equality counts as new.
        cargo bolero test "$test" "${how[@]}" -T "${seconds}s" \
            --engine-args=-use_value_profile=1 --engine-args=-len_control=$length --engine-args=-print_final_stats=1 2>&1 |
            grep -aE 'Done|panicked|^stat::number|error|test failed' || status=${PIPESTATUS[0]}
    fi
    if compgen -G "fuzz/tests/__fuzz__/$test/crashes/*" >/dev/null; then
        echo "fuzz: $test fails" >&2
        exit 1
    fi
    if ((status)); then
        echo "fuzz: $test does not run: cargo bolero ends with $status" >&2
        exit 1
    fi
    compgen -G "$corpus/*" >/dev/null || continue
    # The inputs that are kept reach all edges that were reached, whatever the number of times. The greedy
    # cover keeps some 60 % of the inputs that libFuzzer's own order does, which takes the shortest first.
    cargo bolero reduce "$test" "${how[@]}" --engine-args=-merge=0 --engine-args=-set_cover_merge=1 \
        --engine-args=-use_counters=0 2>&1 | grep -aE 'MERGE-OUTER|error' | tail -1
    echo "$(find "$corpus" -type f | wc -l) inputs, $(du -sb "$corpus" | cut -f 1) bytes"
done
