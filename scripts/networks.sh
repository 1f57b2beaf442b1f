#!/usr/bin/env bash
# Installs the packages of Debian that the tests of real networks need (docs/testing.md, "Real networks")
# and that are missing. Needs root if there are any.
set -euo pipefail

missing=()
for program in ip:iproute2 nft:nftables conntrack:conntrack; do
    command -v "${program%:*}" >/dev/null || missing+=("${program#*:}")
done
[[ -e /usr/lib/nginx/modules/ngx_stream_js_module.so ]] || missing+=(nginx libnginx-mod-stream libnginx-mod-stream-js)
((${#missing[@]})) || exit 0
# Steps that install packages as well may run beside this one: they wait for the same lock.
lock=$(dirname "$0")/lib/steps.sh
flock "$lock" apt-get update >/dev/null
DEBIAN_FRONTEND=noninteractive flock "$lock" apt-get install --yes --no-install-recommends "${missing[@]}" >/dev/null
echo "installed: ${missing[*]}"
