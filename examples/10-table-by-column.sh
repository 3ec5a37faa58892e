#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Stores a table shaped like TPC-H's lineitem in columns, asks for a column of some
# records and for full records, and gets the same bytes back.
set -e -o pipefail

PATH="${EXAMPLE_BIN:-$(dirname "$0")/../build/bin}:$PATH"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

xgen --scale=0.01 -o "$dir/lineitem" lineitem
xtable load -t'|' "$dir/table" "$dir/lineitem"

echo "sum of the prices, and number of the parts shipped in 1994:"
xtable scan "$dir/table" --where "'1994-01-01' <= c11 < '1995-01-01'" --agg 'sum(c6),count()'

echo "records 7 and 4711:"
xtable get "$dir/table" 7 4711 --columns c1,c2,c11

xtable scan "$dir/table" | cmp - "$dir/lineitem"
echo "the same bytes"
