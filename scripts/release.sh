#!/usr/bin/env bash
# What a release needs, as far as it can be done without a registry: every crate that is to be published is packed,
# with both licences and a README, in the order in which a registry has to get them; and with `build` each is
# compiled from what was packed, and from nothing else of this folder.
#
# usage: scripts/release.sh [build]
#        `cargo publish --workspace` then publishes them, in the same order.
#
# Needs a stable cargo of 1.90 or later. Exits with 1 if a crate cannot be packed, or something is missing in it.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0
target=${CARGO_TARGET_DIR:-target}

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)
crates=()
for manifest in porous-*/Cargo.toml; do
    grep -q '^publish = false' "$manifest" || crates+=("${manifest%/Cargo.toml}")
done
names=()
for crate in "${crates[@]}"; do
    names+=(--package "$crate")
done

verify=--no-verify
[[ ${1:-} != build ]] || verify=
# Local changes are allowed, so that the script can be tried before a commit.
cargo package --quiet --allow-dirty ${verify:+"$verify"} "${names[@]}"

bad=0
for crate in "${crates[@]}"; do
    package=$target/package/$crate-$version.crate
    files=$(tar -tzf "$package")
    for file in Cargo.toml README.md LICENSE-MIT LICENSE-APACHE; do
        grep -qx "$crate-$version/$file" <<<"$files" || {
            echo "$crate: its package has no $file" >&2
            bad=1
        }
    done
    printf '%-24s %4d files, %5d kB\n' "$crate" "$(wc -l <<<"$files")" "$(($(stat -c %s "$package") / 1000))"
done
((bad == 0))

# Those without dependencies among the others first.
echo
echo "in this order:"
left=("${crates[@]}")
while ((${#left[@]})); do
    later=()
    for crate in "${left[@]}"; do
        needs=$(sed -n '/^\[dependencies\]/,/^\[dev-/s/^\(porous-[a-z]*\(-derive\)\?\)[ .].*/\1/p' "$crate/Cargo.toml")
        if grep -qxF "$needs" <<<"$(printf '%s\n' "${left[@]}")" && [[ $needs ]]; then
            later+=("$crate")
        else
            echo "  $crate"
        fi
    done
    ((${#later[@]} < ${#left[@]})) || {
        echo "crates that need each other: ${later[*]}" >&2
        exit 1
    }
    left=("${later[@]}")
done
