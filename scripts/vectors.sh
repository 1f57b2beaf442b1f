#!/usr/bin/env bash
# Makes the examples of sealed connections in docs/vectors a second time, without the library: all of them in
# Python, and the token in Node, if that is there. A test of porous-crypto compares them with what the library
# makes.
#
# Needs Python and its package `cryptography`; installs Debian's packages if run by root and either is missing.
# Exits with 77 if they cannot be installed, and with 1 if an example differs.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p "${CARGO_TARGET_DIR:=target}/vectors"
work=$(cd "$CARGO_TARGET_DIR/vectors" && pwd)
source scripts/lib/steps.sh

examples=docs/vectors/sealed.txt

# token_of_node: fails unless Node makes the token of the examples, and its psk.
token_of_node() {
    node docs/vectors/mint.js >"$work/node.txt"
    diff "$work/node.txt" <(grep -E '^(token|psk) = ' "$examples")
}

python=python3
if ! "$python" -c 'import cryptography' 2>/dev/null; then
    # Debian's package is for Debian's Python, which need not be the first one here.
    python=/usr/bin/python3
    need python3 python3-cryptography
fi
run "Python: all examples" "$python" docs/vectors/seal.py --check
if has node; then
    run "Node: the token" token_of_node
else
    echo "skipped: node is not installed"
fi
