#!/usr/bin/env bash
# Installs the C interface below the target folder, and uses it as others do: by pkg-config, by CMake, beside
# another library of Rust, and from the guide. docs/c.md tells how.
#
# Needs a C compiler, pkg-config, CMake and the binutils; installs Debian's packages if run by root. Exits with 77
# if a package is missing and cannot be installed, and with 1 if something fails.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p "${CARGO_TARGET_DIR:=target}/installed"
export CARGO_TARGET_DIR
work=$(cd "$CARGO_TARGET_DIR/installed" && pwd)
source scripts/lib/steps.sh
need binutils cmake gcc g++ make pkg-config

# How a library is put together is the same without optimizations, which take the compiler most of its time. The
# one without std is compiled as it is for consoles: what it asks of C's depends on them.
export CARGO_PROFILE_RELEASE_OPT_LEVEL=0

prefix=$work/prefix
rm -rf "$prefix" "$work/cmake" "$work/moved"
run "install" scripts/install-c "$prefix"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
strict="-std=c99 -Wall -Wextra -Werror -pedantic"
hello=porous-ffi/tests/c/hello.c

says_hello() {
    [[ $(timeout 60 "$1") == hello ]]
}

# `run` looks at what a function returns: so each command says by `&&` that it has to succeed.
# By pkg-config, shared; and with all libraries that the static one names.
shared() {
    # shellcheck disable=SC2046,SC2086
    cc $strict "$hello" $(pkg-config --cflags --libs porous) -Wl,-rpath,"$prefix/lib" -o "$work/shared" &&
        ldd "$work/shared" | grep "$prefix/lib/libporous.so.0.1" &&
        says_hello "$work/shared"
}
static() {
    # shellcheck disable=SC2046,SC2086
    cc $strict "$hello" $(pkg-config --cflags porous) "$prefix/lib/libporous.a" \
        $(pkg-config --static --libs porous | tr ' ' '\n' | grep -v -e '^-lporous$' -e ^-L) -o "$work/static" &&
        ! ldd "$work/static" | grep porous &&
        says_hello "$work/static"
}
run "a program by pkg-config, shared" shared
run "a program by pkg-config, static" static

# By CMake, from an installation that was moved elsewhere.
by_cmake() {
    cp -a "$prefix" "$work/moved" &&
        cmake -S porous-ffi/tests/install -B "$work/cmake" -DCMAKE_PREFIX_PATH="$work/moved" &&
        cmake --build "$work/cmake" &&
        says_hello "$work/cmake/shared" &&
        says_hello "$work/cmake/static"
}
refuses() {
    ! cmake -S porous-ffi/tests/install -B "$work/other" -DCMAKE_PREFIX_PATH="$prefix" -DVERSION="$1"
}
run "a project of CMake" by_cmake
run "a project of CMake that needs a later version" refuses 0.2
run "a project of CMake that needs an earlier version" refuses 0.0

# Nothing but the functions of the header is to be seen.
functions() {
    cc -E -P "$prefix/include/porous.h" | grep -oE '\bporous_[a-z0-9_]+\(' | tr -d '(' | sort -u
}
only_ours() {
    (($(functions | wc -l) > 50)) &&
        diff <(functions) <(nm --dynamic --defined-only "$prefix/lib/libporous.so" | awk '{ print $3 }' | sort -u) &&
        diff <(functions) <(nm --extern-only --defined-only "$prefix/lib/libporous.a" | awk 'NF == 3 { print $3 }' | sort -u) &&
        readelf --dynamic "$prefix/lib/libporous.so" | grep 'soname: \[libporous.so.0.1\]'
}
run "only the functions of the header are to be seen" only_ours

# What the guide says, as it stands there.
guide() {
    sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" docs/c.md | grep -v '^```'
}
steps_of_the_guide() {
    [[ $(guide sh | sed "s,/tmp/porous,$prefix,g" | bash -e 2>/dev/null | tail -n 1) == hello ]] &&
        (($(guide sh | wc -l) == 3))
}
cpp_of_the_guide() {
    [[ $(guide bash | sed "s,/tmp/porous,$prefix,g" | timeout 60 bash -e | tail -n 1) == hello ]]
}
sockets_of_the_guide() {
    guide c >"$work/own_socket.c" &&
        cc $strict "$work/own_socket.c" -I"$prefix/include" -L"$prefix/lib" -lporous -Wl,-rpath,"$prefix/lib" \
            -o "$work/own_socket" &&
        says_hello "$work/own_socket"
}
run "the guide: an echo in three commands" steps_of_the_guide
run "the guide: an echo in C++" cpp_of_the_guide
run "the guide: sockets of the program's own" sockets_of_the_guide

# For consoles: without the standard library of Rust, with memory from the program. Such a library asks for little
# of C's, and for nothing of the system's.
bare() {
    cargo rustc --package porous-ffi --locked --profile bare --lib --crate-type staticlib \
        --no-default-features --features hooks,seal &&
        scripts/prelink "$CARGO_TARGET_DIR/bare/libporous.a" "$work/libporous-bare.a" &&
        cc -std=c11 -Wall -Wextra -Werror -pedantic -DPOROUS_HOOKS -DPOROUS_WITHOUT_STD -I"$prefix/include" \
            porous-ffi/tests/bare/hooks.c "$work/libporous-bare.a" -o "$work/bare" &&
        "$work/bare" &&
        echo '#include "porous.hpp"' | c++ -std=c++17 -Wall -Wextra -Werror -pedantic -fsyntax-only \
            -DPOROUS_HOOKS -DPOROUS_WITHOUT_STD -I"$prefix/include" -x c++ -
}
asks_for() {
    readelf --symbols --wide "$1" | awk '$7 == "UND" && $8 != "" { print $8 }' | sort -u
}
asks_for_little() {
    asks_for "$work/libporous-bare.a" && diff <(asks_for "$work/libporous-bare.a") porous-ffi/tests/bare/needs.txt
}
hooks() {
    cargo rustc --package porous-ffi --locked --release --lib --crate-type staticlib --features hooks &&
        cc -std=c11 -Wall -Wextra -Werror -pedantic -DPOROUS_HOOKS -I"$prefix/include" \
            porous-ffi/tests/bare/hooks.c "$CARGO_TARGET_DIR/release/libporous.a" -lpthread -ldl -lm -o "$work/hooked" &&
        "$work/hooked"
}
run "without the standard library of Rust" bare
run "what is needed without it" asks_for_little
run "memory of the program's own, with it" hooks

# Another library of Rust in the same program, which has the same inner names.
beside_rust() {
    rustc --edition 2024 --crate-type staticlib -O porous-ffi/tests/install/other.rs -o "$work/libother.a" &&
        cc $strict -I"$prefix/include" porous-ffi/tests/install/two.c "$prefix/lib/libporous.a" "$work/libother.a" \
            -lpthread -ldl -lm -o "$work/two" &&
        timeout 60 "$work/two"
}
run "two libraries of Rust in one program" beside_rust
