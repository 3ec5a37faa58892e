#!/bin/sh
# SPDX-License-Identifier: MIT
#
#	examples/tpch/run.sh [LAYOUT [SCALE [OPTION...]]]
#
# Scans the columns of four queries of TPC-H on a simulated array of four drives, in virtual time.
# The tables have no data, and take no space.  SCALE: in hundredths, 100 is 1 GB of text.  LAYOUT:
# nsm, pax, dsm or csm.  Further options are those of `xtable run`.
set -e

here=$(dirname "$0")
PATH="${EXAMPLE_BIN:-$here/../../build/bin}:$PATH"
layout=${1:-csm}
scale=${2:-100}
[ $# -lt 2 ] || shift
[ $# -lt 1 ] || shift
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# table NAME RECORDS
table()
{
	xtable create "$dir/$1.table" --no-data --schema="$here/$1.schema" --records="$2" \
		--layout="$layout" --volume='sim:cheetah36es-like,array=raid0:4/track'
}

table lineitem $((scale * 60012))
table orders $((scale * 15000))
table part $((scale * 2000))

xtable run "$dir"/*.table --workload="$here/queries" --runtime=300s "$@"
