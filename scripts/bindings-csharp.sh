#!/usr/bin/env bash
# Builds bindings/csharp and bindings/unity with Mono's compiler, and runs their tests and the example against the
# library of porous-ffi. Unity, Mirror and Netcode are not needed: the tests have stubs of what the transports call.
#
# usage: scripts/bindings-csharp.sh [PART]...
#        Only tests whose names have one of these parts; by default all.
#
# Needs a stable cargo and Debian's packages; installs missing packages if run by root. Exits with 77 if a package is
# missing and cannot be installed, and with 1 if a step fails.
set -euo pipefail
cd "$(dirname "$0")/.."

export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0
mkdir -p "${CARGO_TARGET_DIR:=target}/bindings-csharp"
CARGO_TARGET_DIR=$(cd "$CARGO_TARGET_DIR" && pwd)
export CARGO_TARGET_DIR
work=$CARGO_TARGET_DIR/bindings-csharp
source scripts/lib/steps.sh

if ! has mcs || ! has mono; then
    need mono-mcs mono-runtime libmono-system-core4.0-cil
fi

# The oldest C# that Unity's projects have, as far as this compiler tells versions apart. The second variant is
# that of newer ones, with spans, and the third is checked by the compiler alone.
compile() {
    local out=$1
    shift
    mcs -langversion:7.2 -warn:4 -warnaserror -debug -out:"$work/$out" "$@"
}
binding=(bindings/csharp/Porous.cs)
thread=(bindings/csharp/PorousThread.cs)
transports=(bindings/unity/mirror/*.cs bindings/unity/netcode/*.cs bindings/unity/tests/Stubs.cs)
tests=(bindings/csharp/tests/*.cs bindings/unity/tests/*Tests.cs)

run "the library" cargo build --package porous-ffi
run "compile: one file alone" compile Porous.dll -target:library "${binding[@]}"
run "compile: as in Unity for iOS" compile Unity.dll -target:library \
    -define:UNITY_5_3_OR_NEWER,UNITY_2021_2_OR_NEWER,UNITY_IOS "${binding[@]}" "${thread[@]}" "${transports[@]}"
run "compile: tests" compile tests.exe "${binding[@]}" "${thread[@]}" "${transports[@]}" "${tests[@]}"
run "compile: tests with spans" compile spans.exe -define:NETSTANDARD2_1_OR_GREATER \
    "${binding[@]}" "${thread[@]}" "${transports[@]}" "${tests[@]}"
run "compile: the example" compile echo.exe "${binding[@]}" bindings/csharp/examples/Echo.cs
awk '/^```csharp/ { on = 1; next } /^```/ && on { exit } on' bindings/csharp/README.md >"$work/Readme.cs"
run "compile: the program of the README" compile readme.exe "${binding[@]}" "$work/Readme.cs"

export LD_LIBRARY_PATH=$CARGO_TARGET_DIR/debug${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} POROUS_ROOT=.
# No test waits longer than 30 s for anything.
for variant in tests spans; do
    run "run: $variant" timeout 300 mono --debug "$work/$variant.exe" "$@"
    sed 's/^/    /' "$log"
done
run "run: the example" timeout 60 mono --debug "$work/echo.exe"
sed 's/^/    /' "$log"
