#!/bin/sh
# SPDX-License-Identifier: MIT
#
#	examples/tpcc/run.sh [LAYOUT [WAREHOUSES [OPTION...]]]
#
# Runs a mix like that of TPC-C on a simulated array of four drives, in virtual time: 100 clients on
# tables of 10 warehouses (0.8 GB) without data, which take no space.  LAYOUT: nsm, pax, dsm or csm.
# Further options are those of `xtable run`.
set -e

here=$(dirname "$0")
PATH="${EXAMPLE_BIN:-$here/../../build/bin}:$PATH"
layout=${1:-csm}
warehouses=${2:-10}
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

table warehouse "$warehouses"
table district $((warehouses * 10))
table customer $((warehouses * 30000))
table history $((warehouses * 30000))
table new_order $((warehouses * 9000))
table orders $((warehouses * 30000))
table order_line $((warehouses * 300000))
table item 100000
table stock $((warehouses * 100000))

xtable run "$dir"/*.table --workload="$here/mix" --journal=no --runtime=120s --ramp-time=60s "$@"
