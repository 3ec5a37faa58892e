#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Tables at the locations of a sled of MEMS storage: the same records as in any layout, before and
# after changes; the sweeps that a scan of some columns takes; and what is refused.

# shellcheck source=tests/cli/lanes.bash
. "$BATS_TEST_DIRNAME/lanes.bash"

placement=mems
volume=sim:mems-thesis

@test "records come back from a sled, also after changes" {
	inputs
	same --volume=$volume
	same --volume=$volume --empty-lane --together=c1,c2,c3
	same --volume=$volume --cell=1K --records-per-page=700
	same --volume=sim:mems-g2 --cell=2K
	same --volume=sim:mems-g2 --records-per-page=40
}

@test "a table grows by cylinders, and other data lie between them" {
	inputs
	"$xtable" load t a -t'|' --placement=mems --volume=$volume
	cp a all
	for i in 1 2 3; do
		records $((1000 * i)) 10000 >more.txt
		"$xtable" append t more.txt
		cat more.txt >>all
	done
	"$xtable" scan t | cmp - all
	"$xtable" check t
	run "$xtable" info t
	[[ $output = *"placement: mems, "*" A-pages at each location of the sled, "* ]]
	"$xtable" info t --json | grep -q '"placement": "mems"'
}

# fifteen COUNT: R of 15 columns, with an empty lane at the locations of the sled and as rows.
fifteen()
{
	for i in $(seq 15); do echo "c$i f64"; done >schema
	"$xtable" create t --no-data --schema=schema --records="$1" --empty-lane \
		--placement=mems --volume=$volume
	"$xtable" create n --no-data --schema=schema --records="$1" --layout=nsm --volume=$volume
}

# Rows take 6 sweeps of a cylinder for 162 A-pages of 16 cells; k columns take ceil(6 k / 16).
@test "a scan of k of 15 columns takes ceil(6 k / 16) sweeps, within 10 %" {
	fifteen 400000
	run "$xtable" info t
	[[ $output = *"A-pages: 6350 of 63 records"* ]]
	[[ $output = *"mems, 6 A-pages at each location of the sled, "* ]]
	rows=$(seconds scan n)
	pages=$("$xtable" info n --json | sed -n 's/.*"pages": \([0-9]*\).*/\1/p')
	columns=
	for k in $(seq 15); do
		columns+=${columns:+,}c$k
		echo "$k $(seconds scan t --columns $columns)"
	done >seconds.txt
	awk -v rows="$rows" -v blocks=$((pages * 16)) '{
		want = int((6 * $1 + 15) / 16)
		sweeps = $2 / (rows / blocks * 6350 * 16 / 6)
		print $1, $2, sweeps, want
		bad += !(sweeps > 0.98 * want && sweeps < 1.1 * want)
		bad += $1 == 15 && !($2 < 1.1 * rows)
	} END { exit NR != 15 || bad }' seconds.txt
}

@test "any columns take as many sweeps as the first ones, and a record one pass" {
	fifteen 400000
	awk -v first="$(seconds scan t --columns c1,c2,c3,c4,c5)" \
		-v any="$(seconds scan t --columns c15,c2,c9,c6,c12)" 'BEGIN {
		exit !(any > 0.97 * first && any < 1.03 * first) }'
	for record in 12345 399999 77; do
		"$xtable" get t $record --discard --trace=trace
		awk '$1 == "R" { n++; if (n > 1 && $7 != done) exit 1; done = $7 } END {
			exit n != 15 }' trace
		awk -v t="$(seconds get t $record)" -v n="$(seconds get n $record)" 'BEGIN {
			exit !(t < 1.15 * n) }'
	done
}

@test "explain predicts a scan of the sled" {
	fifteen 100000
	echo 'scan c2,c5,c7' >workload
	ms=$("$xtable" explain t --workload=workload | awk '$1 == "stored" { print $NF }')
	awk -v ms="$ms" -v s="$(seconds scan t --columns c2,c5,c7)" 'BEGIN {
		exit !(ms > 970 * s && ms < 1030 * s) }'
}

@test "what has no place on a sled is refused" {
	inputs
	refuse 'the volume is not MEMS storage' load t a --placement=mems
	refuse 'the volume is not MEMS storage' load t a --placement=mems --volume=sim:flash
	refuse 'the volume is not MEMS storage' load t a --placement=mems \
		--volume=$volume,array=raid0:2
	refuse 'need the layout csm' load t a --placement=mems --layout=nsm --volume=$volume
	refuse 'need the placement semiseq' load t a --placement=mems --volumes=2 --volume=$volume
	refuse 'need the placement semiseq' load t a --placement=mems --depth-rows=2 \
		--volume=$volume
	refuse 'a location of the sled has 96 cells, an A-page' load t a -t'|' --placement=mems \
		--records-per-page=8000 --volume=$volume
	refuse 'reads 16 blocks in a pass, not a multiple of a cell of 32' load t a -t'|' \
		--placement=mems --cell=16K --volume=$volume
	refuse 'contiguous, semiseq or mems' load t a --placement=track --volume=$volume
	printf 'a i32\n' >schema
	refuse 'no space for record .*: choose a larger device' create t --no-data --schema=schema \
		--records=2000000000 --placement=mems --volume=$volume
	[ ! -e t ]
	"$xtable" load t a -t'|' --placement=mems --volume=$volume
	refuse 'and this one has' scan t --volume=sim:mems-g2
}
