#!/bin/sh
# SPDX-License-Identifier: MIT
#
# How long would this sort have taken on a drive of 2001?  The same data is
# sorted in the same little memory three times on a simulated machine, in
# virtual time: runs one after the other, in whole tracks, and side by side
# along the semi-sequential path, which has no rotational delay.
set -e

PATH="${EXAMPLE_BIN:-$(dirname "$0")/../build/bin}:$PATH"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

xgen records --bytes=32M --seed=1 >"$dir/in"
for placement in contiguous track semiseq; do
	xsort -S 1M --run-formation=load --volume=sim:atlas10k3-like,window=1 \
		--placement="$placement" --stats="$dir/report" -o "$dir/out" "$dir/in"
	awk -v placement="$placement" '
		/"phases"/ { phases = 1 }
		phases && /"name"/ { name = $2 }
		phases && /"elapsed_s"/ && name ~ /merge/ {
			printf "%-11s merging takes %.1f s\n", placement, $2
			exit
		}' "$dir/report"
done
