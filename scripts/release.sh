#!/usr/bin/env bash
# What a release needs. By itself, and in .ci/run: all manifests and the changelog name one version, and every crate that
# is to be published is packed, with both licences and a README, in the order in which a registry has to get them.
# Nothing is uploaded, tagged or changed.
#
# usage: scripts/release.sh [build | ready]
#        build  compiles each crate from what was packed as well, and from nothing else of this folder
#        ready  all that has to be right on the day: build as a dry run of `cargo publish`, a clean tree, no such tag yet,
#               a date in the changelog, licences, advisories, and what earlier releases say (scripts/compat.sh). Then
#               it prints the commands of the release.
#
# Needs a stable cargo of 1.90 or later; `ready` cargo-deny and the network. Exits with 1 if a crate cannot be packed, or
# something is missing or does not agree.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0
target=${CARGO_TARGET_DIR:-target}
mode=${1:-pack}
case $mode in
pack | build | ready) ;;
*)
    echo "release.sh: no such mode: $mode" >&2
    exit 1
    ;;
esac

bad=0
wrong() {
    echo "release.sh: $*" >&2
    bad=1
}

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)

# Of packages, and of those that depend on them. What is never published has 0.0.0.
manifests=(Cargo.toml ./*/Cargo.toml ./*/*/Cargo.toml bindings/python/pyproject.toml)
while IFS=: read -r file line; do
    wrong "$file says another version than $version: $line"
done < <(grep -HE '^version = "|^porous-[a-z-]* = .*version = "' "${manifests[@]}" |
    grep -vE "[^.]version = \"($version|0\.0\.0)\"|:version = \"($version|0\.0\.0)\"")
grep -qE "^## $version - (unreleased|[0-9]{4}-[0-9]{2}-[0-9]{2})$" CHANGELOG.md ||
    wrong "CHANGELOG.md has no section '## $version - DATE'"

crates=()
for manifest in porous-*/Cargo.toml; do
    grep -q '^publish = false' "$manifest" || crates+=("${manifest%/Cargo.toml}")
done
names=()
for crate in "${crates[@]}"; do
    names+=(--package "$crate")
done

# Local changes are allowed, so that the script can be tried before a commit.
case $mode in
pack) cargo package --quiet --allow-dirty --no-verify "${names[@]}" ;;
build) cargo package --quiet --allow-dirty "${names[@]}" ;;
ready) cargo publish --quiet --dry-run "${names[@]}" ;;
esac

for crate in "${crates[@]}"; do
    package=$target/package/$crate-$version.crate
    files=$(tar -tzf "$package")
    for file in Cargo.toml README.md LICENSE-MIT LICENSE-APACHE; do
        grep -qx "$crate-$version/$file" <<<"$files" || wrong "$crate: its package has no $file"
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

[[ $mode == ready ]] || exit 0

echo
[[ -z $(git status --porcelain) ]] || wrong "the tree has changes that are not committed"
! git rev-parse --verify --quiet "refs/tags/v$version" >/dev/null || wrong "there is a tag v$version already"
! grep -q "^## $version - unreleased" CHANGELOG.md || wrong "CHANGELOG.md has no date for $version yet"
if command -v cargo-deny >/dev/null; then
    scripts/licences.sh advisories || wrong "licences, sources or advisories: see above"
else
    wrong "cargo-deny is not installed (cargo install --locked cargo-deny)"
fi
mapfile -t releases < <(git tag --list 'v[0-9]*')
if ((${#releases[@]})); then
    scripts/compat.sh "${releases[@]}" || wrong "an earlier release does not understand this one, or is not understood"
fi
((bad == 0))

cat <<COMMANDS
ready. After .ci/run and the rest of CONTRIBUTING.md, "How to release", have passed on this very commit:

  git tag --sign v$version --message "porous $version"
  git push origin v$version
  cargo publish --workspace      # in the order above; what cannot be taken back comes last
COMMANDS
