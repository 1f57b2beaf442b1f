#!/usr/bin/env bash
# Shows that the core runs everywhere: on targets without std, in WebAssembly, with 32 bits, with
# big-endian numbers, and with the oldest compiler that it states. docs/portability.md tells more.
#
# usage: scripts/portability.sh [builds|sample|wasm|msrv|golden|s390x|i686|windows|systems]...
#        By default all but `sample`, which is half of `builds`.
#
# Needs a stable cargo and Debian's packages; installs missing packages if run by root. Builds are kept
# under target/portability, so that the next run is quick. Exits with 77 if a package is missing and
# cannot be installed, and with 1 if a step fails.
set -euo pipefail
cd "$(dirname "$0")/.."

# Crates that need no std, and the targets that they are built for.
CRATES=(porous-proto porous-smoltcp porous-message porous-crypto porous-token)
TARGETS=(thumbv7em-none-eabihf riscv32imac-unknown-none-elf aarch64-unknown-none wasm32-unknown-unknown)
# Systems whose linker and libraries are not needed to check what is compiled for them.
SYSTEMS=(x86_64-pc-windows-msvc aarch64-pc-windows-msvc aarch64-apple-darwin aarch64-apple-ios aarch64-linux-android armv7-linux-androideabi x86_64-unknown-freebsd x86_64-unknown-netbsd x86_64-unknown-openbsd x86_64-unknown-linux-musl)
# Crates that state the workspace's `rust-version`.
MSRV_CRATES=(porous-proto porous-sim porous-udp porous-std porous-mio porous-tokio porous-message-derive porous-message porous-crypto porous-token porous-metrics porous-trace porous-ffi)

export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS
mkdir -p "${CARGO_TARGET_DIR:=target}/portability"
work=$(cd "$CARGO_TARGET_DIR/portability" && pwd)
source scripts/lib/steps.sh
source scripts/lib/bare.sh

# Checked, not built: what a target lacks, such as words for atomics, shows in the check already. The firmware and the
# module for WebAssembly are built. In one call, as each crate alone would check the core again, with its features.
checked() {
    local target
    need_compiler
    for target in "$@"; do
        case $target in
        wasm32-*) need_core "$target" 0 ;; # The step `wasm` builds for it.
        *) need_core "$target" ;;
        esac
        run "$target: ${CRATES[*]}" bare_cargo check --locked --profile unoptimized --target "$target" \
            "${CRATES[@]/#/--package=}"
        # A feature that needs std must fail, because there is no std (E0463) and for no other reason:
        # otherwise the builds above would prove nothing.
        ! bare_cargo check --locked --target "$target" --package porous-proto \
            --features audit >"$log" 2>&1 || fail "$target: it builds with std too"
        grep -q E0463 "$log" || fail "$target: $(<"$log")"
    done
}

builds() {
    checked "${TARGETS[@]}"
}

# A machine of 32 bits, and the target that `wasm` builds for.
sample() {
    checked "${TARGETS[0]}" "${TARGETS[-1]}"
}

wasm() {
    local target=wasm32-unknown-unknown
    need_compiler
    has node || need nodejs
    need_core "$target" 0
    cargo fmt --check --manifest-path tests/wasm/Cargo.toml
    run "$target: a module" bare_cargo build --locked --release --target "$target" \
        --manifest-path tests/wasm/Cargo.toml
    run "$target: two modules in node" \
        node tests/wasm/run.mjs "$work/bare/$target/release/porous_wasm.wasm"
    sed 's/^/    /' "$log"
}

# need_old_compiler VERSION: unpacks Debian's rustc of this version, which cannot be installed beside
# another version.
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
        # A wrapper, so that only this compiler finds its libraries.
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
    local version
    version=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
    need_old_compiler "$version"
    CARGO_TARGET_DIR=$work/msrv RUSTC=$work/rustc-$version/rustc \
        run "rustc $version: ${#MSRV_CRATES[@]} crates" \
        cargo check --locked --all-features "${MSRV_CRATES[@]/#/--package=}"
}

# Arguments of `emulated`: a target, the prefix of its tools, and its emulator.
S390X=(s390x-unknown-linux-gnu s390x-linux-gnu qemu-s390x)
I686=(i686-unknown-linux-gnu i686-linux-gnu qemu-i386)

# emulated TARGET TOOLS EMULATOR ARGUMENT...: tests for another machine, under an emulator, at the level of
# optimization `level`, by default 1.
emulated() {
    local target=$1 tools=$2 emulator=$3 variable libc=${2%%-*} passed
    shift 3
    need_compiler
    need qemu-user "gcc-$tools" "libc6-dev-${libc/i686/i386}-cross"
    variable=CARGO_TARGET_${target//-/_}
    variable=${variable^^}
    run "$target: ${*:2}${POROUS_FIRST_ID:+, ids from $POROUS_FIRST_ID}" \
        env CARGO_TARGET_DIR="$work/emulated" RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 \
        "CARGO_PROFILE_UNOPTIMIZED_OPT_LEVEL=${level:-1}" \
        "${variable}_LINKER=$tools-gcc" "${variable}_RUNNER=$emulator -L /usr/$tools" \
        cargo test --locked --profile unoptimized -Zbuild-std=std,panic_abort,test --target "$target" "$@"
    passed=$(awk '/^test result: ok/ { n += $4 } END { print n + 0 }' "$log")
    ((passed > 0)) && ! grep -q '^test result: ok. 0 passed' "$log" ||
        fail "$target: a program ran no test: $*"
    echo "    $passed tests passed"
}

# The test of a trace whose digest stands in the code, and those of the bits that docs/message.md shows.
golden() {
    # These few tests take half a minute, and to optimize all that they are made of minutes.
    local level=0
    # The same packages in both: with others, the core would be compiled twice, with other features.
    local packages=(--package porous-tests --package porous-message)
    emulated "${S390X[@]}" "${packages[@]}" --test determinism -- a_session_is_the_same_on_every_machine
    emulated "${S390X[@]}" "${packages[@]}" --test streams --test endpoint -- examples:: wire::
}

# Tests of the core, of messages, and of several hosts. `wraps` starts programs, which an emulator of one
# program cannot, so the second run of the scenarios does the same: its ids wrap at 32 bits.
all_tests() {
    emulated "$@" --package porous-proto --lib
    emulated "$@" --package porous-message --lib --test streams --test endpoint
    emulated "$@" --package porous-tests --test scenarios
    POROUS_FIRST_ID=$(((1 << 32) - 8)) \
        emulated "$@" --package porous-tests --test scenarios
}

s390x() {
    all_tests "${S390X[@]}"
}

i686() {
    all_tests "${I686[@]}"
}

# need_wine: adds the library of random numbers that Rust programs expect of Windows and that Wine 8 lacks.
need_wine() {
    local library=$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll
    [[ ! -e $library ]] || return 0
    run "wine: a folder of its own" "$wine" wineboot --init
    cat >"$work/bcryptprimitives.c" <<'END'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE to, SIZE_T length) {
    return SystemFunction036(to, (ULONG)length);
}
END
    run "wine: bcryptprimitives.dll" x86_64-w64-mingw32-gcc -shared -O2 -o "$library" \
        "$work/bcryptprimitives.c" -ladvapi32
}

# on_windows ARGUMENT...: runs `cargo test` for Windows, under wine.
on_windows() {
    local passed variable=CARGO_TARGET_X86_64_PC_WINDOWS_GNU
    run "windows: $*" env CARGO_TARGET_DIR="$work/windows" RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 \
        CARGO_PROFILE_UNOPTIMIZED_OPT_LEVEL=1 \
        "${variable}_LINKER=x86_64-w64-mingw32-gcc" "${variable}_RUNNER=$wine" \
        cargo test --locked --profile unoptimized -Zbuild-std=std,panic_abort,test --target x86_64-pc-windows-gnu "$@"
    passed=$(awk '/^test result: ok/ { n += $4 } END { print n + 0 }' "$log")
    ((passed > 0)) || fail "windows: no test ran: $*"
    echo "    $passed tests passed"
}

# Tests of the core and of the drivers that Windows has. Wine binds sockets to addresses that the machine
# does not have (192.0.2.1), which Windows refuses: the tests that expect a refusal are left out.
windows() {
    local wine=/usr/lib/wine/wine64
    local -x WINEPREFIX=$work/wine WINEDEBUG=-all
    need_compiler
    need gcc-mingw-w64-x86-64-win32 wine64
    need_wine
    on_windows --package porous-proto --lib
    on_windows --package porous-udp --package porous-std --package porous-mio --lib --tests -- \
        --skip without_a_loopback_interface_there_is_an_error \
        --skip errors_tell_what_was_to_be_bound --skip the_first_address_that_works_is_bound
}

# Every crate, the program and their tests, checked with the standard library from its source.
systems() {
    local system
    need_compiler
    for system in "${SYSTEMS[@]}"; do
        CARGO_TARGET_DIR=$work/systems RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 \
            run "$system: ${#MSRV_CRATES[@]} crates, the program, and their tests" \
            cargo check --locked --profile unoptimized -Zbuild-std=std,panic_abort,test --target "$system" \
            "${MSRV_CRATES[@]/#/--package=}" --package porous-cli --lib --bins --tests
    done
}

(($#)) || set -- builds wasm msrv golden s390x i686 windows systems
for step in "$@"; do
    case $step in
    builds | sample | wasm | msrv | golden | s390x | i686 | windows | systems) "$step" ;;
    *) fail "no such step: $step" ;;
    esac
done
