#!/usr/bin/env bash
# Installs what the tests of real networks need (docs/testing.md, "Real networks"), where it is missing:
# Debian's packages, as root. Does nothing where all is there.
set -euo pipefail

missing=()
for program in ip:iproute2 nft:nftables conntrack:conntrack; do
    command -v "${program%:*}" >/dev/null || missing+=("${program#*:}")
done
((${#missing[@]})) || exit 0
apt-get update >/dev/null
DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}" >/dev/null
echo "installed: ${missing[*]}"
