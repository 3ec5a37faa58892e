#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Sorts a CSV file by a column: fields may hold commas, quotes and newlines, the
# first record is a header, and the second column is a number.
set -e

PATH="${EXAMPLE_BIN:-$(dirname "$0")/../build/bin}:$PATH"

xsort --csv --header -t, -k2,2nr -k1,1 <<'CSV'
city,inhabitants,note
"Lyon",522250,
"Washington, D.C.",689545,"on the
Potomac"
Bern,134591,"called ""Mutz"""
Quito,2011388,
CSV
