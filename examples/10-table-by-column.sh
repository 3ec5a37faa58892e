#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Stores a table shaped like TPC-H's lineitem in columns, asks for columns of some
# records and for full records, and gets the same bytes back.
set -e

PATH="${EXAMPLE_BIN:-$(dirname "$0")/../build/bin}:$PATH"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

xgen --scale=0.01 -o "$dir/lineitem" lineitem
xtable load -t'|' "$dir/table" "$dir/lineitem"

echo "orders with parts shipped in 1994, and their prices:"
xtable scan "$dir/table" --columns c1,c6 --where "'1994-01-01' <= c11 < '1995-01-01'" --limit 2

echo "records 7 and 4711:"
xtable get "$dir/table" 7 4711 --columns c1,c2,c11

xtable scan "$dir/table" | cmp - "$dir/lineitem"
echo "the same bytes"
