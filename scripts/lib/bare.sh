# Functions that build for targets that have nothing but `core` and `alloc`. To be sourced after
# `steps.sh`. The sysroots lie in the folder `work`.
# shellcheck shell=bash

COMPILER=(rustc-web rust-web-src rust-web-llvm lld-22)

# Installs the compiler, in the version that Debian has now, and sets `sysroot` to a folder of its own.
need_compiler() {
    need "${COMPILER[@]}"
    sysroot=$work/sysroot-$(dpkg-query --show --showformat '${Version}' rustc-web)
}

# need_core TARGET [OPT_LEVEL]: makes `core` and `alloc` for a target, once, and nothing else, so that code which needs
# `std` cannot be compiled. Without a level only what a check needs, which takes the compiler two thirds of the time.
need_core() {
    local target=$1 level=${2:-0} source=$sysroot/source lib=$sysroot/lib/rustlib/$1/lib
    local command=build kind=rlib
    [[ ${2:-} ]] || command=check kind=rmeta
    [[ ! -e $lib ]] || return 0
    mkdir -p "$source/src" "$lib.new"
    cat >"$source/Cargo.toml" <<END
[workspace]
[package]
name = "nothing"
edition = "2024"
[profile.release]
opt-level = $level
END
    echo '#![no_std]' >"$source/src/lib.rs"
    CARGO_TARGET_DIR=$sysroot/target RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_ENCODED_RUSTFLAGS=-Cembed-bitcode=yes \
        run "$target: core and alloc" cargo "$command" --manifest-path "$source/Cargo.toml" \
        -Zbuild-std=core,alloc --release --target "$target"
    cp "$sysroot/target/$target"/release/deps/lib{core,alloc,compiler_builtins}-*.$kind "$lib.new"
    mv "$lib.new" "$lib"
}

# bare_cargo ARGUMENT...: cargo for targets that have nothing but `core` and `alloc`. The array `bare_flags` are
# further arguments for the compiler.
bare_flags=()
bare_cargo() {
    local flags
    flags=$(printf '\x1f%s' "--sysroot=$sysroot" "${bare_flags[@]}")
    CARGO_TARGET_DIR=$work/bare CARGO_ENCODED_RUSTFLAGS=${flags:1} RUSTC=/usr/bin/rustc cargo "$@"
}
