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
source scripts/lib/echo.sh

has python3 || need python3
run "Python: all vectors" python3 docs/vectors/porous.py
run "the server" cargo build --quiet --package porous-std --example echo
# In front of the line with its time stands what it says, its seed above all.
talk docs/vectors/talk.py ${1:+--seed "$1"}
