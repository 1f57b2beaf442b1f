#!/usr/bin/env bash
# The page of `porous demo --html` in a browser without a screen: light and dark, wide and narrow. The pictures are
# left below the target folder, and a program looks at each: is the background as it should be, are all curves there?
#
# usage: scripts/pages.sh
#        POROUS names the program, if it is there already.
#
# Needs a stable cargo, Python 3 and Chromium; installs Debian's if run by root and they are missing. Exits with 77 if
# they cannot be installed, and with 1 if a page does not look as it should.
set -euo pipefail
cd "$(dirname "$0")/.."

export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0 PYTHONDONTWRITEBYTECODE=1
mkdir -p "${CARGO_TARGET_DIR:=target}/pages"
CARGO_TARGET_DIR=$(cd "$CARGO_TARGET_DIR" && pwd)
export CARGO_TARGET_DIR
work=$CARGO_TARGET_DIR/pages
source scripts/lib/steps.sh

# picture NAME WIDTH HEIGHT OPTION...: what the page looks like in a window of this size.
picture() {
    local name=$1 width=$2 height=$3
    shift 3
    rm -rf "$work/profile" "$work/$name.png"
    # Without the network, which the page must not need.
    timeout 60 chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --hide-scrollbars --user-data-dir="$work/profile" \
        --window-size="$width,$height" --screenshot="$work/$name.png" "$@" "file://$work/demo.html"
    [[ -s $work/$name.png ]]
}

has python3 || need python3
has chromium || need chromium
if [[ -z ${POROUS:-} ]]; then
    run "porous" cargo build --quiet --package porous-cli
    POROUS=$CARGO_TARGET_DIR/debug/porous
fi
run "a demo" "$POROUS" demo --clients 3 --seconds 3 --loss 5 --seed 1 --html "$work/demo.html"
run "light" picture light 800 1600
run "dark" picture dark 800 600 --blink-settings=preferredColorScheme=0
run "narrow" picture narrow 400 1500
run "all curves, light and dark" python3 scripts/lib/look.py "$work"
