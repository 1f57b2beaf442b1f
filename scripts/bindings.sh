#!/usr/bin/env bash
# Runs the tests and examples of bindings against the library for C.
#
# usage: scripts/bindings.sh [python|lua]...
#        By default both.
#
# Needs a stable cargo, Python 3.9 or later, and LuaJIT; installs Debian's packages if run by root and one is missing.
# Exits with 77 if a package is missing and cannot be installed, and with 1 if a test fails.
set -euo pipefail
cd "$(dirname "$0")/.."

export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0
mkdir -p "${CARGO_TARGET_DIR:=target}/bindings"
CARGO_TARGET_DIR=$(cd "$CARGO_TARGET_DIR" && pwd)
export CARGO_TARGET_DIR
work=$CARGO_TARGET_DIR/bindings
source scripts/lib/steps.sh

# A test that waits for something that never comes is ended.
MOST_SECONDS=300

# in_folder FOLDER COMMAND...: runs a command in a folder, for a limited time.
in_folder() {
    local folder=$1
    shift
    (cd "$folder" && timeout "$MOST_SECONDS" "$@")
}

# says_hello COMMAND...: fails unless a command prints "hello" and nothing else.
says_hello() {
    [[ $("$@") == hello ]]
}

python() {
    has python3 || need python3
    run "Python: tests" in_folder bindings/python/tests \
        env PYTHONPATH=.. PYTHONDONTWRITEBYTECODE=1 python3 -X dev -W error -m unittest
    run "Python: the example" says_hello in_folder bindings/python \
        env PYTHONDONTWRITEBYTECODE=1 python3 examples/echo.py "$POROUS_LIB"
}

lua() {
    has luajit || need luajit
    run "LuaJIT: tests, and the example" in_folder bindings/lua luajit test.lua
}

(($#)) || set -- python lua
run "the library" cargo build --quiet --package porous-ffi
export POROUS_LIB=$CARGO_TARGET_DIR/debug/libporous.so
for binding in "$@"; do
    case $binding in
    python | lua) "$binding" ;;
    *) fail "no such binding: $binding" ;;
    esac
done
