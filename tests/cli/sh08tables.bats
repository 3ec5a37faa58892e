#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Shao 2008, chapter 4, in small: the table R of 15 columns in all layouts, without data, on four drives whose host takes
# no time.  scripts/experiments/sh08tables has all rows.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test
	sed 's/^ "kind"/ "host": {"compare_ns": 0, "record_ns": 0, "value_ns": 0, "request_ns": 0, "copy_ps": 0},\n&/' \
		"$BATS_TEST_DIRNAME/../../lib/dev/models/cheetah36es-like.json" >drive.json
	seq -f 'a%.0f f64 not null' 15 >schema
	for layout in nsm pax dsm; do
		table $layout --layout=$layout --volume="sim:$PWD/drive.json,array=raid0:4/track"
	done
	table csm --placement=semiseq --volumes=4 --cell=512 --records-per-page=63 --volume="sim:$PWD/drive.json"
	table tracks --placement=semiseq --volumes=4 --cell=8K --together="$(columns 15)" --volume="sim:$PWD/drive.json"
}

table() { "$xtable" create "$1" --no-data --schema=schema --records=8000000 "${@:2}"; }
columns() { seq -f 'a%.0f' -s, "$1"; }
# scan TABLE K: seconds.
scan()
{
	"$xtable" scan "$1" --columns="$(columns "$2")" --discard -S 1G --stats=r.json
	value elapsed_s
}
# get TABLE K: mean time of a record, in ns.
get()
{
	echo "get 1 $(columns "$2")" >w
	"$xtable" run "$1" --workload=w --runtime=20s --json >r.json
	value latency_mean_ns
}
holds() { awk "BEGIN { print \"$1\"; exit !($1) }"; }

@test "figure 4.7(a): CSM scans one column as DSM does, and all as NSM does" {
	holds "$(scan csm 1) <= 1.25 * $(scan dsm 1)"
	holds "$(scan csm 15) <= 1.1 * $(scan tracks 15)"
	holds "$(scan nsm 15) == $(scan pax 15)"
	holds "$(scan nsm 1) >= 5 * $(scan dsm 1)"
}

@test "figure 4.8(a): CSM reads a record faster than DSM, and one column as fast as NSM" {
	holds "$(get csm 1) <= 1.05 * $(get nsm 1)"
	holds "$(get csm 15) <= 1.6 * $(get nsm 15)"
	holds "$(get csm 15) <= 0.6 * $(get dsm 15)"
}

@test "figure 4.9: frames that a scan reads through a pool" {
	table few --placement=semiseq --volumes=4 --cell=512 --records-per-page=63 --volume="sim:$PWD/drive.json" \
		--overwrite --records=63000
	for pair in 1:15 2:7 3:5 5:3 7:2 8:1 15:1; do
		"$xtable" scan few --columns="$(columns "${pair%:*}")" --discard --pool=D --pool-size=1M --frame=7680 --stats=r.json
		[ "$(value misses)" = $(((1000 + ${pair#*:} - 1) / ${pair#*:})) ]
	done
}
