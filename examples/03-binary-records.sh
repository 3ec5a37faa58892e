#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Sorts binary records of 100 bytes by their first ten bytes in little memory,
# checks the order, and reads the number of runs from the report.
set -e

PATH="${EXAMPLE_BIN:-$(dirname "$0")/../build/bin}:$PATH"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

xgen records --binary --records=200000 --seed=1 >"$dir/in"
xsort --record-size=100 --bkey=0:10 -S 8M --stats="$dir/report" -o "$dir/out" "$dir/in"
xsort --record-size=100 --bkey=0:10 -c "$dir/out"
echo "in order: $(($(wc -c <"$dir/out") / 100)) records"
grep -o -m 1 '"runs": *[0-9]*' "$dir/report"
