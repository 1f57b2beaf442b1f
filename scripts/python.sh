#!/usr/bin/env bash
# The protocol a second time, in Python, written from docs/wire.md: its codec reads and writes all vectors of
# docs/vectors, and its client talks to a server of the library while a tenth of the datagrams of each direction
# gets lost.
#
# usage: scripts/python.sh [SEED]
#        The client prints its seed. A seed says which datagrams are lost, but not when each of them is sent.
#
# Needs a stable cargo and Python 3.9 or later, without any package; installs Debian's if run by root and it is
# missing. Exits with 77 if it cannot be installed, and with 1 if something differs.
set -euo pipefail
cd "$(dirname "$0")/.."

export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0 PYTHONDONTWRITEBYTECODE=1
mkdir -p "${CARGO_TARGET_DIR:=target}/python"
CARGO_TARGET_DIR=$(cd "$CARGO_TARGET_DIR" && pwd)
export CARGO_TARGET_DIR
work=$CARGO_TARGET_DIR/python
source scripts/lib/steps.sh

# talk SEED...: lets the client talk to a server, of which both have to be content.
talk() {
    local address=$work/address server status=0
    : >"$address"
    "$CARGO_TARGET_DIR/debug/examples/echo" >"$address" &
    server=$!
    for ((tries = 0; tries < 300; tries++)); do
        [[ -s $address ]] && break
        sleep 0.1
    done
    timeout 100 python3 docs/vectors/talk.py "$(head -n 1 "$address")" "$@" || status=$?
    ((status == 0)) || kill "$server" 2>/dev/null || true
    wait "$server" || status=1
    cat "$address"
    return "$status"
}

has python3 || need python3
run "Python: all vectors" python3 docs/vectors/porous.py
run "the server" cargo build --quiet --package porous-std --example echo
# In front of the line with its time stands what it says, its seed above all.
talk ${1:+--seed "$1"}
