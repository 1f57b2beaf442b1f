# A server of the library that sends everything back, for programs that talk to it. To be sourced after `steps.sh` by a
# script whose `work` is a folder of its own, and which has built the example `echo` of porous-std.
# shellcheck shell=bash

# talk PROGRAM ARGUMENT...: runs a program in Python with the address of a server and with these arguments. Both it and
# the server have to be content.
talk() {
    local program=$1 address=$work/address server status=0
    shift
    : >"$address"
    "$CARGO_TARGET_DIR/debug/examples/echo" >"$address" &
    server=$!
    for ((tries = 0; tries < 300; tries++)); do
        [[ -s $address ]] && break
        sleep 0.1
    done
    timeout 200 python3 "$program" "$(head -n 1 "$address")" "$@" || status=$?
    ((status == 0)) || kill "$server" 2>/dev/null || true
    wait "$server" || status=1
    cat "$address"
    return "$status"
}
