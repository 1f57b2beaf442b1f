#!/usr/bin/env bash
# porous in browsers: the workspace `web`, the modules that browsers load, and the page of the arena.
#
# usage: scripts/web.sh [check|docs|modules|bless|node|browsers]...
#        By default all but bless.
#
#        check     formatting, lints, and the tests without a browser
#        docs      documentation
#        modules   builds the modules anew: their JavaScript and types have to be those that are committed, byte for
#                  byte. Compilers differ in the modules themselves, which the next step compares by what they do.
#        bless     writes what is committed
#        node      the module that is committed and, if it was built, the new one, in node
#        browsers  the page and the tests in Chromium, and in Firefox if it is there. The pictures of the page are left
#                  below the target folder.
#
# Needs a stable cargo; `modules` and `bless` Debian's compiler and the source of its library, the others node and
# Chromium. Installs what is missing if run by root. Exits with 77 if something cannot be installed, and with 1 if a step
# fails.
set -euo pipefail
cd "$(dirname "$0")/.."

export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS
mkdir -p "${CARGO_TARGET_DIR:=target}/web"
work=$(cd "$CARGO_TARGET_DIR/web" && pwd)
export CARGO_TARGET_DIR=$work
source scripts/lib/steps.sh
source scripts/lib/folders.sh

# The packages that are modules, and the folders of what is made of them.
MODULES=(porous-wasm porous-play)
declare -A FOLDERS=([porous-wasm]=web/porous-wasm/pkg [porous-play]=web/play/pkg)

web_cargo() {
    cargo "$1" --locked --manifest-path web/Cargo.toml "${@:2}"
}

web_linted() {
    scripts/linted "$1" --locked --manifest-path web/Cargo.toml "${@:2}"
}

check() {
    run "formatting" cargo fmt --all --check --manifest-path web/Cargo.toml
    run "lints" web_linted test --quiet --workspace --all-targets --no-run
    run "one host on sessions and a socket" web_linted test --workspace --lib --test sessions
    run "examples of the documentation" web_linted test --workspace --doc
}

docs() {
    RUSTDOCFLAGS="-D warnings" run "documentation" web_cargo doc --quiet --workspace --no-deps --document-private-items
}

# build FOLDER: writes the modules, their JavaScript and their types below the folder.
build() {
    local module name flags
    need rustc-web rust-web-src rust-web-llvm lld-22
    run "what makes JavaScript of modules" web_linted build --quiet --package bindgen
    # Without the places of panics, which no browser shows, and without the folders of this machine.
    without_folders
    flags=-Zlocation-detail=none$(printf '\x1f%s' "${remap[@]}")
    # With the standard library from its source: Debian has none for WebAssembly that is compiled.
    CARGO_ENCODED_RUSTFLAGS=$flags CARGO_TARGET_DIR=$work/wasm RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 \
        run "modules" web_cargo build --quiet -Zbuild-std=std,panic_abort --profile wasm \
        --target wasm32-unknown-unknown "${MODULES[@]/#/--package=}"
    for module in "${MODULES[@]}"; do
        name=${module//-/_}
        rm -rf "${1:?}/$module"
        mkdir -p "$1/$module"
        run "$module: JavaScript and types" "$work/debug/bindgen" \
            "$work/wasm/wasm32-unknown-unknown/wasm/$name.wasm" "$1/$module" "$name"
        printf '    %s bytes, %s by gzip\n' "$(stat -c %s "$1/$module/${name}_bg.wasm")" \
            "$(gzip -9 -c "$1/$module/${name}_bg.wasm" | wc -c)"
    done
}

modules() {
    local module file
    build "$work/fresh"
    for module in "${MODULES[@]}"; do
        for file in "$work/fresh/$module"/*.js "$work/fresh/$module"/*.ts; do
            cmp "$file" "${FOLDERS[$module]}/${file##*/}" ||
                fail "$module has changed: scripts/web.sh bless"
        done
    done
}

bless() {
    local module
    build "$work/fresh"
    for module in "${MODULES[@]}"; do
        mkdir -p "${FOLDERS[$module]}"
        cp "$work/fresh/$module"/* "${FOLDERS[$module]}"
    done
}

node_tests() {
    local folder
    has node || need nodejs
    for folder in web/porous-wasm/pkg "$work/fresh/porous-wasm"; do
        [[ -d $folder ]] || continue
        run "in node: ${folder#"$work/"}" node --test-reporter=tap web/porous-wasm/test.mjs "$folder"
    done
}

browsers() {
    local browser
    has python3 || need python3
    has chromium || need chromium
    run "the arena and its tests" web_linted test --quiet --no-run --workspace --all-targets
    for browser in chromium firefox-esr; do
        if has "$browser"; then
            rm -rf "$work/pages-$browser"
            mkdir -p "$work/pages-$browser"
            POROUS_BROWSER=$browser POROUS_PICTURES=$work/pages-$browser \
                run "$browser" web_linted test --quiet --workspace --test browser
        else
            echo "skipped: $browser is not here"
        fi
    done
    run "the page, light and dark, wide and narrow" python3 scripts/lib/look_web.py "$work/pages-chromium"
}

(($#)) || set -- check docs modules node browsers
for step in "$@"; do
    case $step in
    check | docs | modules | bless | browsers) "$step" ;;
    node) node_tests ;;
    *) fail "no such step: $step" ;;
    esac
done
