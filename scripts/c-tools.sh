#!/usr/bin/env bash
# Installs the packages of Debian that the tests of the C interface need (docs/testing.md, "The C interface")
# and that are missing. Needs root if there are any.
set -euo pipefail

missing=()
for program in gcc:gcc g++:g++ nm:binutils valgrind:valgrind; do
    command -v "${program%:*}" >/dev/null || missing+=("${program#*:}")
done
((${#missing[@]})) || exit 0
apt-get update >/dev/null
DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}" >/dev/null
echo "installed: ${missing[*]}"
