#!/usr/bin/env bash
# Whether what is here understands a release, and is understood by it: `porous` of the tag and of today talk to each
# other over real sockets, each as the listener, plain, sealed by a shared key and sealed by tickets; they measure a
# line, and send a file over one that loses a twentieth of all datagrams. The vectors and conversations of the tag have
# to be here unchanged, and the interfaces of the tag are compared with those of today.
#
# usage: scripts/compat.sh [TAG]...
#        By default v0.1.0, the first release. The program of a tag is built once, below the target folder.
#
# Needs a stable cargo, git and Python 3.9 or later. abigail-tools compare the interfaces of C, cargo-semver-checks those
# of Rust; where one is missing its step is left out, and the script says so. Exits with 77 if the checkout has none of
# the tags, and with 1 if the two do not understand each other. It is no step of .ci/run, as it compiles a second time
# what is compiled there.
set -euo pipefail
cd "$(dirname "$0")/.."

export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0
mkdir -p "${CARGO_TARGET_DIR:=target}/compat"
CARGO_TARGET_DIR=$(cd "$CARGO_TARGET_DIR" && pwd)
export CARGO_TARGET_DIR
work=$CARGO_TARGET_DIR/compat
source scripts/lib/steps.sh
# The listeners that still run.
children=()
stop() {
    ((${#children[@]} == 0)) || kill "${children[@]}" 2>/dev/null || true
    children=()
}
trap 'stop; rm -f "$log"' EXIT

# The application ids of `porous serve` and `porous recv`, for which tickets are minted.
SERVE=0x706f726f75732d6d
RECV=0x706f726f75732d74

# built TAG: the program of this tag, from its own source.
built() {
    local tag=$1 commit folder=$work/$1
    commit=$(git rev-parse --verify --quiet "refs/tags/$tag^{commit}")
    if [[ $(cat "$folder/commit" 2>/dev/null) != "$commit" ]]; then
        rm -rf "$folder" && mkdir -p "$folder/source"
        # With the time of now: that of the commit would be older than what another tag has left in the target folder,
        # and cargo would take that for the program of this one.
        git archive "$commit" | tar -xm -C "$folder/source" || return
        # One folder for all tags, as most of what they compile is the same.
        (cd "$folder/source" && CARGO_TARGET_DIR=$work/target cargo build --quiet --locked --package porous-cli) || return
        cp "$work/target/debug/porous" "$folder/porous" && echo "$commit" >"$folder/commit"
    fi
}

# listening COMMAND...: starts a command that listens, and sets `address`.
listening() {
    local out=$work/listening.$((++listeners))
    # Here and not by the command beside: an earlier run may have left an address in it.
    : >"$out"
    "$@" >"$out" 2>&1 &
    children+=("$!")
    for ((tries = 0; tries < 300; tries++)); do
        address=$(sed -n 's/^listening on //p;2q' "$out")
        [[ -n $address ]] && return
        sleep 0.05
    done
    cat "$out"
    return 1
}
listeners=0

# measured SERVER CLIENT SERVER-OPTIONS CLIENT-OPTIONS: every reliable probe comes, and comes back.
measured() {
    local server=$1 client=$2 status=0
    # shellcheck disable=SC2086 # options are words
    listening "$server" serve 127.0.0.1:0 --plain --duration 60 $3 || return
    # shellcheck disable=SC2086
    timeout 40 "$client" ping "$address" --duration 2 --json "$work/ping.json" $4 || status=$?
    stop
    ((status == 0)) && python3 - "$work/ping.json" "$3" <<'PYTHON'
import json
import sys

results = json.load(open(sys.argv[1]))
assert results["ended"] is None and results["sealed"] == bool(sys.argv[2]), results
modes = {mode["mode"]: mode for mode in results["modes"]}
assert sorted(modes) == ["passive", "reliable", "unreliable"], modes
for mode in modes.values():
    assert mode["arrived"] > 0 and mode["back"] > 0, mode
reliable = modes["reliable"]
assert reliable["sent"] == reliable["arrived"] == reliable["back"], reliable
PYTHON
}

# transferred SERVER CLIENT SERVER-OPTIONS CLIENT-OPTIONS: a file comes over a line with losses.
transferred() {
    local server=$1 client=$2 status=0
    rm -rf "$work/came" && mkdir "$work/came"
    # shellcheck disable=SC2086
    listening "$server" recv 127.0.0.1:0 --out "$work/came" $3 || return
    listening python3 scripts/lib/lossy.py "$address" --loss 5 || return
    # shellcheck disable=SC2086
    timeout 60 "$client" send "$work/file" "$address" $4 || status=$?
    # The receiver gives the file its name before the sender ends.
    ((status)) || cmp "$work/file" "$work/came/file" || status=$?
    stop
    return "$status"
}

# talk NAME SERVER CLIENT: all of the above.
talk() {
    local name=$1 server=$2 client=$3
    local key="--key $work/key" token="--token $work/key"
    run "$name: a line, plain" measured "$server" "$client" "" ""
    run "$name: a file with losses, plain" transferred "$server" "$client" "" ""
    run "$name: a line, sealed by a key" measured "$server" "$client" "$key" "$key"
    run "$name: a file with losses, sealed by a key" transferred "$server" "$client" "$key" "$key"
    # Minted by the client's program, as by a backend of its day.
    minted "$client" "$SERVE"
    run "$name: a line, sealed by a ticket" measured "$server" "$client" "$token" "--token $work/ticket"
    minted "$client" "$RECV"
    run "$name: a file with losses, sealed by a ticket" transferred "$server" "$client" "$token" "--token $work/ticket"
}

minted() {
    "$1" token mint --key "$work/key" --application "$2" --client 42 --seconds 600 >"$work/ticket"
}

# Every datagram of the tag's vectors means today what it meant then, and no conversation has changed.
same_vectors() {
    python3 - "$work/$1/source/docs/vectors" docs/vectors <<'PYTHON'
import json
import sys
from pathlib import Path

then, now = map(Path, sys.argv[1:])
for file in sorted(then.glob("**/*.json")):
    today = now / file.relative_to(then)
    assert today.exists(), f"{today} is gone"
    if then / "conversations" in file.parents:
        assert file.read_text() == today.read_text(), f"{today} has changed"
        continue
    lines = [{**line, "name": None} for line in json.loads(today.read_text())]
    for line in json.loads(file.read_text()):
        # What was refused may be taken once an extension gives it a meaning, and the context says so.
        is_there = "refused" in line or {**line, "name": None} in lines
        assert is_there, f"{today}: {line['name']} has changed"
PYTHON
}

same_abi() {
    scripts/abi.sh --against "$work/$1/source/porous-ffi/abi"
}

same_rust() {
    local crates=() manifest
    for manifest in porous-*/Cargo.toml; do
        grep -q '^publish = false\|^proc-macro = true\|^name = "porous-cli"' "$manifest" || crates+=(--package "$(dirname "$manifest")")
    done
    CARGO_TARGET_DIR=$work/semver cargo semver-checks "${crates[@]}" --baseline-root "$work/$1/source"
}

(($#)) || set -- v0.1.0
tags=()
for tag; do
    if git rev-parse --verify --quiet "refs/tags/$tag^{commit}" >/dev/null; then
        tags+=("$tag")
    else
        echo "skipped: this checkout has no tag $tag (git fetch --tags)"
    fi
done
((${#tags[@]})) || lacks "no release here to be compared with: nothing was tested"

has python3 || need python3
run "the program of today" cargo build --quiet --locked --package porous-cli
today=$CARGO_TARGET_DIR/debug/porous
"$today" token key >"$work/key"
head -c 2000000 /dev/urandom >"$work/file"
for tag in "${tags[@]}"; do
    run "$tag: its program" built "$tag"
    talk "today listens, $tag connects" "$today" "$work/$tag/porous"
    talk "$tag listens, today connects" "$work/$tag/porous" "$today"
    run "$tag: its vectors and conversations" same_vectors "$tag"
    if has abidiff; then
        run "$tag: the interface of C" same_abi "$tag"
    else
        echo "skipped: the interface of C, as abigail-tools is not installed"
    fi
    if cargo semver-checks --version >/dev/null 2>&1; then
        run "$tag: the interfaces of Rust" same_rust "$tag"
    else
        echo "skipped: the interfaces of Rust, as cargo-semver-checks is not installed"
    fi
done
echo "all is understood"
