#!/usr/bin/env bash
# The dissector for Wireshark, compared with what docs/vectors say of all datagrams, with the codec in Python over a
# conversation of its client with a server of the library, with `porous trace` over demos and a simulated road, field by
# field, and given 20,000 random and damaged datagrams.
#
# usage: scripts/dissector.sh [SEED]
#        The conversation prints its seed. A seed says which datagrams are lost, but not when each of them is sent.
#        POROUS names the program, if it is there already.
#
# Needs a stable cargo, Python 3.9 or later without any package, and tshark; installs Debian's if run by root and
# either is missing. Exits with 77 if something cannot be installed, and with 1 if something differs.
set -euo pipefail
cd "$(dirname "$0")/.."

export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0 PYTHONDONTWRITEBYTECODE=1
mkdir -p "${CARGO_TARGET_DIR:=target}/dissector"
CARGO_TARGET_DIR=$(cd "$CARGO_TARGET_DIR" && pwd)
export CARGO_TARGET_DIR
work=$CARGO_TARGET_DIR/dissector
source scripts/lib/steps.sh
source scripts/lib/echo.sh

# traced NAME COMMAND...: records a capture by --pcap of this command, and compares what tshark and `porous trace` say.
traced() {
    local name=$1 capture=$work/$1.pcap
    shift
    run "$name: a capture" "$POROUS" "$@" --pcap "$capture"
    "$POROUS" trace --json "$capture" >"$work/$name.json"
    python3 dissector/tests/dissected.py "$capture" "$work/$name.json" || fail "$name: \`porous trace\` and tshark differ"
}

has python3 || need python3
has tshark || need tshark
run "all vectors" python3 dissector/tests/vectors.py "$work"
run "short conversations" python3 dissector/tests/scripted.py "$work"
run "any bytes" python3 dissector/tests/any_bytes.py "$work"
if [[ -z ${POROUS:-} ]]; then
    run "porous" cargo build --quiet --package porous-cli
    POROUS=$CARGO_TARGET_DIR/debug/porous
fi
demo=(demo --file README.md --clients 2 --seconds 2 --loss 5 --reorder 5 --duplicate 2 --seed 1)
traced demo "${demo[@]}"
traced sealed-demo "${demo[@]}" --sealed
traced paper-demo "${demo[@]}" --policy paper
# The client's side, with losses, and payloads that are no zeros.
traced road sim road "rate=2000 loss=3 aloss=2 jit=5 jre=1 flow=lean+st60x100r end=11" --payloads
run "the server" cargo build --quiet --package porous-std --example echo
# In front of the line with its time stands what it says, its seed above all.
talk dissector/tests/conversation.py "$work" ${1:+"$1"}
