# A function that keeps this machine's folders out of what is compiled, so that it has the same length everywhere: a
# place where a program may panic names a file. To be sourced.
# shellcheck shell=bash

# without_folders: sets the array `remap` to arguments for the compiler. The crates that the code depends on have to be
# here: their folder is named after the registry that they come from.
without_folders() {
    local sources
    remap=()
    for sources in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/* "$PWD" /usr/lib/rustlib/src; do
        remap+=("--remap-path-prefix=$sources=")
    done
}
