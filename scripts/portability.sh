#!/usr/bin/env bash
# Shows that the core runs everywhere: on targets without std, in WebAssembly, with 32 bits, with
# big-endian numbers, and with the oldest compiler that it states. docs/portability.md tells more.
#
# usage: scripts/portability.sh [builds|wasm|msrv|golden|s390x|i686]...
#        All by default, but `golden`, which is the part of `s390x` that is quick.
#
# Needs a stable cargo and Debian's packages; installs what is missing if it may. What it builds is
# kept under target/portability, and the next run is quick. Fails with 77 if something that it needs
# is missing and cannot be installed, and with 1 if something is wrong.
set -euo pipefail
cd "$(dirname "$0")/.."

# Crates that need no std, and the targets that they are built for.
CRATES=(porous-proto porous-smoltcp porous-message)
TARGETS=(thumbv7em-none-eabihf riscv32imac-unknown-none-elf aarch64-unknown-none wasm32-unknown-unknown)
# Crates that state the workspace's `rust-version`.
MSRV_CRATES=(porous-proto porous-sim porous-udp porous-std porous-mio porous-message-derive porous-message)

COMPILER=(rustc-web rust-web-src rust-web-llvm lld-22)
MISSING=77

export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS
mkdir -p "${CARGO_TARGET_DIR:=target}/portability"
work=$(cd "$CARGO_TARGET_DIR/portability" && pwd)
log=$(mktemp "$work/log.XXXXXX")
trap 'rm "$log"' EXIT

fail() {
    echo "portability: $*" >&2
    exit 1
}

lacks() {
    echo "portability: $*" >&2
    exit "$MISSING"
}

# run NAME COMMAND...: one line for what went well, and all that was said for what did not.
run() {
    local name=$1 start=$SECONDS
    shift
    if ! "$@" >"$log" 2>&1; then
        cat "$log" >&2
        echo "portability: $name: failed: $*" >&2
        exit "${failure:-1}"
    fi
    printf '%-72s ok, %3d s\n' "$name" $((SECONDS - start))
}

has() {
    command -v "$1" >/dev/null
}

is_installed() {
    dpkg-query --show --showformat '${db:Status-Status}\n' "$@" 2>/dev/null | grep -qx installed
}

updated=0
update_lists() {
    ((updated)) || failure=$MISSING run "lists of packages" apt-get update
    updated=1
}

# need PACKAGE...: installs those that are missing.
need() {
    local package missing=()
    if ! has dpkg-query || ! has apt-get; then
        lacks "needs Debian's packages $*"
    fi
    for package in "$@"; do
        is_installed "$package" || missing+=("$package")
    done
    ((${#missing[@]})) || return 0
    ((EUID == 0)) || lacks "not installed, and only root may: ${missing[*]}"
    update_lists
    failure=$MISSING run "${missing[*]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install --yes --no-install-recommends "${missing[@]}"
}

# The compiler of these steps, whichever version Debian has now, and its sysroot.
need_compiler() {
    need "${COMPILER[@]}"
    sysroot=$work/sysroot-$(dpkg-query --show --showformat '${Version}' rustc-web)
}

# need_core TARGET: builds `core` and `alloc` for a target, once, and nothing else: what needs `std`
# cannot be compiled.
need_core() {
    local target=$1 source=$sysroot/source lib=$sysroot/lib/rustlib/$1/lib
    [[ ! -e $lib ]] || return 0
    mkdir -p "$source/src" "$lib.new"
    # Without optimizations: of these libraries, only that they are there is of interest.
    cat >"$source/Cargo.toml" <<'END'
[workspace]
[package]
name = "nothing"
edition = "2024"
[profile.release]
opt-level = 0
END
    echo '#![no_std]' >"$source/src/lib.rs"
    CARGO_TARGET_DIR=$sysroot/target RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 \
        run "$target: core and alloc" cargo build --manifest-path "$source/Cargo.toml" \
        -Zbuild-std=core,alloc --release --target "$target"
    cp "$sysroot/target/$target"/release/deps/lib{core,alloc,compiler_builtins}-*.rlib "$lib.new"
    mv "$lib.new" "$lib"
}

# Cargo for targets that have nothing but `core` and `alloc`.
bare_cargo() {
    CARGO_TARGET_DIR=$work/bare CARGO_ENCODED_RUSTFLAGS=--sysroot=$sysroot RUSTC=/usr/bin/rustc \
        cargo "$@"
}

builds() {
    local target crate
    need_compiler
    for target in "${TARGETS[@]}"; do
        need_core "$target"
        for crate in "${CRATES[@]}"; do
            run "$target: $crate" bare_cargo build --locked --target "$target" --package "$crate"
        done
        # It must fail with std, and for this reason and no other.
        ! bare_cargo build --locked --target "$target" --package porous-proto \
            --features audit >"$log" 2>&1 || fail "$target: it builds with std too"
        grep -q E0463 "$log" || fail "$target: $(<"$log")"
    done
}

wasm() {
    local target=wasm32-unknown-unknown
    need_compiler
    has node || need nodejs
    need_core "$target"
    cargo fmt --check --manifest-path tests/wasm/Cargo.toml
    run "$target: a module" bare_cargo build --locked --release --target "$target" \
        --manifest-path tests/wasm/Cargo.toml
    run "$target: two modules in node" \
        node tests/wasm/run.mjs "$work/bare/$target/release/porous_wasm.wasm"
    sed 's/^/    /' "$log"
}

# need_old_compiler VERSION: unpacks Debian's rustc of this version; it cannot be installed beside
# another one.
need_old_compiler() {
    local version=$1 root=$work/rustc-$1 deb llvm package
    [[ ! -e $root ]] || return 0
    if ! has dpkg-deb || ! has apt-get; then
        lacks "needs Debian's package rustc-web $version"
    fi
    ((EUID != 0)) || update_lists
    deb=$(apt-cache madison rustc-web | awk -v begin="$version." 'index($3, begin) == 1 { print $3 }')
    [[ $deb ]] || lacks "there is no package rustc-web $version here"
    llvm=$(apt-cache depends "libstd-rust-web-$version" | grep -o 'libllvm[0-9]*') ||
        fail "which LLVM does rustc-web $version need?"
    rm -rf "$root.new"
    mkdir -p "$root.new"
    (
        cd "$root.new"
        failure=$MISSING run "rustc $version" apt-get download "$llvm" \
            rustc-web="$deb" libstd-rust-web-dev="$deb" "libstd-rust-web-$version=$deb"
        for package in ./*.deb; do
            dpkg-deb --extract "$package" .
            rm "$package"
        done
        # Its libraries are for nobody else.
        cat >rustc <<'END'
#!/bin/sh
root=$(dirname "$0")
libraries=$(echo "$root"/usr/lib/*-linux-gnu)
LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec "$root/usr/bin/rustc" "$@"
END
        chmod +x rustc
    )
    mv "$root.new" "$root"
}

msrv() {
    local version crate
    version=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
    need_old_compiler "$version"
    for crate in "${MSRV_CRATES[@]}"; do
        CARGO_TARGET_DIR=$work/msrv RUSTC=$work/rustc-$version/rustc \
            run "rustc $version: $crate" \
            cargo build --locked --all-features --package "$crate"
    done
}

# A target, the prefix of its tools, and its emulator.
S390X=(s390x-unknown-linux-gnu s390x-linux-gnu qemu-s390x)
I686=(i686-unknown-linux-gnu i686-linux-gnu qemu-i386)

# emulated TARGET TOOLS EMULATOR ARGUMENT...: tests for another machine, under an emulator.
emulated() {
    local target=$1 tools=$2 emulator=$3 variable libc=${2%%-*} passed
    shift 3
    need_compiler
    need qemu-user "gcc-$tools" "libc6-dev-${libc/i686/i386}-cross"
    variable=CARGO_TARGET_${target//-/_}
    variable=${variable^^}
    run "$target: ${*:2}${POROUS_FIRST_ID:+, ids from $POROUS_FIRST_ID}" \
        env CARGO_TARGET_DIR="$work/emulated" RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 \
        "${variable}_LINKER=$tools-gcc" "${variable}_RUNNER=$emulator -L /usr/$tools" \
        cargo test --locked -Zbuild-std=std,panic_abort,test --target "$target" "$@"
    passed=$(awk '/^test result: ok/ { n += $4 } END { print n + 0 }' "$log")
    ((passed > 0)) || fail "$target: no test ran: $*"
    echo "    $passed tests passed"
}

# The traces whose digest stands in the code, and the bits that the document of messages shows.
golden() {
    emulated "${S390X[@]}" --package porous-tests --test scenarios determinism::
    emulated "${S390X[@]}" --package porous-message --test streams --test endpoint -- \
        examples:: wire::
}

# Tests of the core, of messages, and of several hosts. `wraps` starts programs, which an emulator of one program
# cannot; what it does is done here, where 32 bits end.
all_tests() {
    emulated "$@" --package porous-proto --lib
    emulated "$@" --package porous-message --lib --test streams --test endpoint
    emulated "$@" --package porous-tests --test scenarios -- --skip wraps::
    POROUS_FIRST_ID=$(((1 << 32) - 8)) \
        emulated "$@" --package porous-tests --test scenarios -- --skip wraps::
}

s390x() {
    all_tests "${S390X[@]}"
}

i686() {
    all_tests "${I686[@]}"
}

(($#)) || set -- builds wasm msrv s390x i686
for step in "$@"; do
    case $step in
    builds | wasm | msrv | golden | s390x | i686) "$step" ;;
    *) fail "no such step: $step" ;;
    esac
done
