#!/usr/bin/env bash
# Installs the packages of Debian that the tests of the C interface and of what stands on it need
# (docs/testing.md, "The C interface") and that are missing. Needs root if there are any.
set -euo pipefail

missing=()
for program in gcc:gcc g++:g++ nm:binutils valgrind:valgrind clang:clang tcc:tcc abidiff:abigail-tools make:make \
    cmake:cmake pkg-config:pkg-config mcs:mono-mcs mono:mono-runtime luajit:luajit python3:python3; do
    command -v "${program%:*}" >/dev/null || missing+=("${program#*:}")
done
[[ -e /usr/lib/mono/4.5/System.Core.dll ]] || missing+=(libmono-system-core4.0-cil)
((${#missing[@]})) || exit 0
# Steps that install packages as well may run beside this one: they wait for the same lock.
lock=$(dirname "$0")/lib/steps.sh
flock "$lock" apt-get update >/dev/null
DEBIAN_FRONTEND=noninteractive flock "$lock" apt-get install --yes --no-install-recommends "${missing[@]}" >/dev/null
echo "installed: ${missing[*]}"
