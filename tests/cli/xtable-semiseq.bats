#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Tables along the tracks of one or several simulated drives: the same records as in any layout,
# before and after changes; their times; and what is refused.

# shellcheck source=tests/cli/lanes.bash
. "$BATS_TEST_DIRNAME/lanes.bash"

placement=semiseq
volume=sim:cheetah36es-like

@test "records come back from one drive and from several, also after changes" {
	inputs
	same --volume=$volume
	same --volume=$volume --volumes=4
	same --volume=$volume --volumes=3 --cell=4K
	same --volume=$volume --volumes=2 --cell=1K --depth-rows=2 --empty-lane
	same --volume=$volume --volumes=5 --records-per-page=500 --together=c1,c2,c3
}

@test "records come back from drives with zones, serpentines and blocks of 4 KB" {
	inputs
	same --volume=sim:tiny --volumes=3
	same --volume=sim:serpentine --volumes=2
	same --volume=sim:atlas10k3-like --cell=4K
	same --volume=sim:serpentine --cell=1K
	same --volume=sim:nearline6t-like
}

@test "info names drives, cells on consecutive tracks, hop and unused space" {
	inputs
	"$xtable" load t ab -t'|' --placement=semiseq --volumes=4 --volume=$volume
	run "$xtable" info t
	[[ $output = *"layout: csm"* ]]
	[[ $output = *"placement: semiseq on 4 drives, "*" cells on consecutive tracks, hops of "* ]]
	"$xtable" info t --json | grep -q '"placement": "semiseq"'
}

@test "a column is read at the speed of the drives, a record within a revolution" {
	for i in $(seq 15); do echo "c$i f64"; done >schema
	"$xtable" create t --no-data --schema=schema --records=800000 --empty-lane \
		--placement=semiseq --volumes=4 --volume=$volume
	"$xtable" create n --no-data --schema=schema --records=800000 --layout=nsm \
		--volume=$volume,array=raid0:4/track
	run "$xtable" info t
	[[ $output = *"A-pages: 12699 of 63 records"* ]]
	[[ $output = *" 4 cells on consecutive tracks"* ]]
	awk -v one="$(seconds scan t --columns c1)" -v all="$(seconds scan t)" \
		-v rows="$(seconds scan n)" -v get="$(seconds get t 12345)" 'BEGIN {
		exit !(one < 0.2 * rows && all < rows && get < 0.008) }'
	for p in 1 2; do
		"$xtable" scan t --columns c3 --discard --parallel=$p --trace=trace.$p
	done
	cmp trace.1 trace.2
}

@test "several tables share the drives, and clients use all of them" {
	printf 'a i64\nb i64\n' >schema
	for t in 1 2; do
		"$xtable" create t$t --no-data --schema=schema --records=100000 --placement=semiseq \
			--volumes=2 --skip-size=$((t * 20))M --volume=$volume
	done
	printf 'client 3\nget 1 t1.* uniform; get 2 t2.b uniform\n' >mix
	for p in 1 2; do
		"$xtable" run --workload=mix t1 t2 --runtime=2s --parallel=$p --trace=trace.$p >out
	done
	cmp trace.1 trace.2
	# Cells of the tables are on different tracks, of both drives.
	awk '/^R/ { drive = int($3 / 36e9); at = $3 - drive * 36775526400; n[$2 drive]++
		if (at < ($2 == "t1" ? 20 : 40) * 1048576 || at > ($2 == "t1" ? 40 : 60) * 1048576) bad++ }
		END { exit bad || n["t10"] < 10 || n["t11"] < 10 || n["t20"] < 10 || n["t21"] < 10 }' trace.1
	refuse 'skipped space go with the placements' load t schema --skip-size=1M
}

# refuse TEXT COMMAND...: the command ends with status 2 and one message that has the text.
refuse()
{
	local text=$1
	shift
	run --separate-stderr "$xtable" "$@"
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	# shellcheck disable=SC2154 # run sets it
	grep -q "$text" <<<"$stderr" && [ "$(wc -l <<<"$stderr")" -eq 1 ]
}

@test "what cannot lie along tracks is refused" {
	inputs
	refuse 'has no known tracks' load t a --placement=semiseq
	refuse 'has no known tracks' load t a --placement=semiseq --volume=sim:flash
	refuse 'go with the layout csm' load t a --placement=semiseq --layout=nsm --volume=$volume
	refuse 'go with the placement semiseq' load t a --volumes=2
	refuse 'contiguous, semiseq or mems' load t a --placement=track --volume=$volume
	refuse 'at most 7 are possible' load t a -t'|' --placement=semiseq --depth-rows=8 \
		--volume=$volume
	refuse 'not a multiple of the block size 4096' load t a --placement=semiseq --cell=512 \
		--volume=sim:nearline6t-like
	seq -f '%.0f|1|2' 60000 >many
	refuse 'no place for record .* choose larger drives' load t many -t'|' \
		--placement=semiseq --volume=sim:tiny
	[ ! -e t ]
	"$xtable" load t a -t'|' --placement=semiseq --volumes=2 --volume=$volume
	refuse 'and this one has' scan t --volume=sim:atlas10k3-like
}
