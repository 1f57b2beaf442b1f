#!/bin/sh
# Runs tests that drive the core, and prints the lines of the core that no test runs, and the share of
# those that are run. Arguments name the packages whose tests are run. See docs/testing.md, "Coverage".
#
#     scripts/coverage.sh
#     scripts/coverage.sh porous-proto porous-tests
#
# Needs cargo-llvm-cov, and LLVM's tools of the compiler's version: as a component of rustup, or named by
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
