# Functions that run the steps of a script which needs Debian's packages, and print their names, their
# times and why they failed. To be sourced by a script whose `work` is a folder of its own.
# shellcheck shell=bash

MISSING=77
log=$(mktemp "$work/log.XXXXXX")
trap 'rm "$log"' EXIT

fail() {
    echo "${0##*/}: $*" >&2
    exit 1
}

lacks() {
    echo "${0##*/}: $*" >&2
    exit "$MISSING"
}

# run NAME COMMAND...: prints one line if the command succeeds, and all of its output if it fails.
run() {
    local name=$1 start=$SECONDS
    shift
    if ! "$@" >"$log" 2>&1; then
        cat "$log" >&2
        echo "${0##*/}: $name: failed: $*" >&2
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

# one_at_a_time COMMAND...: waits for another script that installs packages: apt itself does not.
one_at_a_time() {
    flock "${BASH_SOURCE[0]}" "$@"
}

updated=0
update_lists() {
    ((updated)) || failure=$MISSING run "lists of packages" one_at_a_time apt-get update
    updated=1
}

# need PACKAGE...: installs the packages that are missing.
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
    failure=$MISSING run "${missing[*]}" one_at_a_time env DEBIAN_FRONTEND=noninteractive \
        apt-get install --yes --no-install-recommends "${missing[@]}"
}
