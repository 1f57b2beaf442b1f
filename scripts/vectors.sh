#!/usr/bin/env bash
# Makes the examples of sealed connections in docs/vectors a second time, without the library: all of them in
# Python, and tokens and a ticket, as a backend makes them, in Python, Node, Go and C#. The tests of porous-crypto
# and porous-token compare them with what the library makes.
#
# Needs Python and its package `cryptography`; installs Debian's packages if run by root and either is missing.
# Node, Go and .NET are not installed: what they make is left out where they are missing.
# Exits with 77 if something that it needs cannot be installed, and with 1 if an example differs.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p "${CARGO_TARGET_DIR:=target}/vectors"
work=$(cd "$CARGO_TARGET_DIR/vectors" && pwd)
source scripts/lib/steps.sh

# Not all programs make a token of version 1: that needs ChaCha20-Poly1305.
version_1='^(token|psk) = '
version_2='^((token|psk) of version 2|ticket) = '

# mints EXAMPLES COMMAND...: fails unless the command prints these examples.
mints() {
    local examples=$1
    shift
    "$@" >"$work/minted.txt"
    diff "$work/minted.txt" <(grep -E "$examples" docs/vectors/sealed.txt)
}

# A file alone is a program since .NET 10.
has_dotnet() {
    local version
    has dotnet && version=$(dotnet --version 2>/dev/null) && ((${version%%.*} >= 10))
}

python=python3
if ! "$python" -c 'import cryptography' 2>/dev/null; then
    # Debian's package is for Debian's Python, which need not be the first one here.
    python=/usr/bin/python3
    need python3 python3-cryptography
fi
run "Python: all examples" "$python" docs/vectors/seal.py --check
run "Python: tokens and a ticket" mints "$version_1|$version_2" "$python" docs/vectors/mint.py
if has node; then
    run "Node: tokens and a ticket" mints "$version_1|$version_2" node docs/vectors/mint.js
else
    echo "skipped: node is not installed"
fi
if has go; then
    export GOCACHE=$work/go GOTOOLCHAIN=local
    run "Go: a token and a ticket" mints "$version_2" go run docs/vectors/mint.go
else
    echo "skipped: go is not installed"
fi
if has_dotnet; then
    export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1
    run "C#: a token and a ticket" mints "$version_2" dotnet run docs/vectors/mint.cs
else
    echo "skipped: .NET 10 is not installed"
fi
