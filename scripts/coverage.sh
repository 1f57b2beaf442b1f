#!/bin/sh
# Which lines of the core are run by the tests that drive it: prints those that are not, and the
# figure. The packages whose tests are run can be named. See docs/testing.md, "Coverage".
#
#     scripts/coverage.sh
#     scripts/coverage.sh porous-proto porous-tests
#
# Needs cargo-llvm-cov, and LLVM's tools of the compiler's version: a component of rustup, or
# LLVM_COV and LLVM_PROFDATA.
set -eu
cd "$(dirname "$0")/.."
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 CARGO_LLVM_COV_SETUP=no
lcov=target/coverage.lcov

[ $# -gt 0 ] || set -- porous-proto porous-tests porous-fuzz
for package; do
    shift
    set -- "$@" --package "$package"
done
cargo llvm-cov "$@" --lib --tests --lcov --output-path "$lcov"
scripts/coverage.awk "$lcov"
