#!/usr/bin/env bash
# Compares the binary interface of the C header with the one that programs were compiled for, which
# `porous-ffi/abi` keeps. What was added passes. What was changed or removed fails: a program that was compiled
# before would break.
#
# usage: scripts/abi.sh [--bless | --against FOLDER]
#        --bless writes the interface as it is now. Raise POROUS_ABI with it, if the change breaks programs.
#        --against names the folder of another interface that was kept, such as that of a release.
#
# It is the header that is looked at, through a library of empty functions: a host's inside, which the library's
# own debug information tells, is nobody's interface. That the library has these functions with these types is
# shown by the tests of porous-ffi, which write the header from its code.
#
# Needs a C compiler and abigail-tools; installs Debian's packages if run by root. Exits with 77 if a package is
# missing and cannot be installed, and with 1 if the interface has changed.
set -euo pipefail
cd "$(dirname "$0")/.."
# What is compared is sorted, in the order of what is kept.
export LC_ALL=C

mkdir -p "${CARGO_TARGET_DIR:=target}/abi"
work=$(cd "$CARGO_TARGET_DIR/abi" && pwd)
source scripts/lib/steps.sh
need abigail-tools gcc

name=porous-0.1
kept=porous-ffi/abi/$name
if [[ ${1:-} == --against ]]; then
    kept=$2/$name
    # Releases whose first two numbers differ need not have the same interface, and their libraries other names.
    [[ -e $kept.xml ]] || { echo "skipped: $2 keeps another interface than $name"; exit; }
fi
awk '/^POROUS_API/ { is_function = 1 }
    is_function && /;$/ { sub(/;$/, " { __builtin_trap(); }"); is_function = 0 }
    { print }' porous-ffi/include/porous.h >"$work/porous.c"
# From its folder: what is kept names the file as the compiler was told.
(cd "$work" && gcc -std=c99 -g -O0 -w -fPIC -shared -Wl,-soname,libporous.so.0.1 porous.c -o libporous.so)
abidw --no-show-locs --no-comp-dir-path --no-corpus-path --out-file "$work/porous.xml" "$work/libporous.so"
# Debug information knows no macros, and a number that means something else breaks programs as well.
gcc -std=c99 -dM -E porous-ffi/include/porous.h |
    awk '$2 ~ /^POROUS_/ && NF == 3 && $2 !~ /^POROUS_(API|H)$/ { print $2, $3 }' | sort >"$work/porous.txt"
if [[ ${1:-} == --bless ]]; then
    cp "$work/porous.xml" "$kept.xml"
    cp "$work/porous.txt" "$kept.txt"
    echo "written: $kept.xml, $kept.txt"
    exit
fi
# Its answer is a sum: 1 and 2 for errors, 4 for any change, 8 for one that breaks programs.
status=0
abidiff --no-added-syms "$kept.xml" "$work/porous.xml" || status=$?
changed=$(comm -23 "$kept.txt" "$work/porous.txt")
[[ -z $changed ]] || echo "these numbers have changed, or are gone:"$'\n'"$changed"
((status == 0)) && [[ -z $changed ]] || fail "the interface has changed: scripts/abi.sh --bless, if that is meant"
echo "the interface is the one that programs were compiled for, or has more"
