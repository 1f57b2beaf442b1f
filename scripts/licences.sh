#!/usr/bin/env bash
# Licences and sources of all that is compiled. docs/licences.md has to be the list of what goes into what is built; and
# cargo-deny looks at all workspaces, by the root's deny.toml, but for those that have one of their own.
#
# usage: scripts/licences.sh [--bless | advisories]
#        --bless     writes the list
#        advisories  also asks a database for known defects
#
# Needs a stable cargo, Python 3.9 or later, and cargo-deny (cargo install --locked cargo-deny): without it only the list
# is looked at. Without `advisories` it needs no network: a workspace whose crates are not on this machine is left out,
# and the script says so. Exits with 77 if Python is not installed, and with 1 if something is not allowed.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v python3 >/dev/null || { echo "licences.sh: python3 is not installed" >&2; exit 77; }
if [[ ${1:-} == --bless ]]; then
    python3 scripts/lib/licences.py >docs/licences.md.new
    mv docs/licences.md.new docs/licences.md
    exit
fi
python3 scripts/lib/licences.py --check
echo "docs/licences.md is the list"
command -v cargo-deny >/dev/null || { echo "skipped: cargo-deny is not installed"; exit; }
network=(--offline)
[[ -z ${1:-} ]] || network=()

status=0
for workspace in . bench bevy godot web examples/firmware examples/provider tests/canary tests/no-std tests/wasm; do
    manifest=$workspace/Cargo.toml rules=$workspace/deny.toml
    [[ -e $rules ]] || rules=deny.toml
    if ! said=$(cargo metadata "${network[@]}" --locked --quiet --format-version 1 --manifest-path "$manifest" \
        2>&1 >/dev/null); then
        # Any other failure is none of the crates that are not here.
        if [[ $said == *"but --offline was specified"* || $said == *"you're using offline mode"* ]]; then
            echo "skipped: not all crates of $workspace are here (cargo fetch --manifest-path $manifest)"
        else
            printf 'licences.sh: cargo metadata of %s fails:\n%s\n' "$workspace" "$said" >&2
            status=1
        fi
        continue
    fi
    echo "-- $workspace"
    cargo deny --log-level error "${network[@]}" --locked --manifest-path "$manifest" \
        check --config "$PWD/$rules" bans licenses sources ${1:+advisories} || status=1
done
exit "$status"
