#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Sorts and joins tables on a cluster of Ray, started on this machine; needs spindle-io[ray]:
#
#	make wheel && pip install "$(echo build/dist/spindle_io-*.whl)[ray]"
set -eu -o pipefail

PATH=${SP_BUILD:-build}/bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

command -v spindle-ray >/dev/null || { echo 'spindle-ray is not installed' && exit 0; }
xgen --scale=0.01 lineitem >"$work/lineitem"
xgen --scale=0.01 orders >"$work/orders"
spindle-ray sort --dry-run -S 64M -t'|' -k11,11 -o "$work/by-date" "$work/lineitem"
spindle-ray sort -S 64M -t'|' -k11,11 -o "$work/by-date" "$work/lineitem"
head -n 2 "$work/by-date/part-00000"
spindle-ray join -S 64M -t'|' -1 1 -2 1 --columns=1.1,1.11,2.5 -o "$work/joined" "$work/lineitem" -- "$work/orders"
cat "$work"/joined/part-* | wc -l
