#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# no threads
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

@test "texts that were moved before those of earlier records come back" {
	seq 0 12287 | awk -v OFS='|' '{ print $1, "t" $1 }' >a
	"$xtable" load t a -t'|' --placement=$placement --volume=$volume --cell=1K --records-per-page=128
	for row in 5 4 3 2 1 0; do
		seq $((row * 2048)) $((row * 2048 + 2047)) >keys
		"$xtable" update t --keys=keys --set="c2=a text that is longer than the one before"
	done
	sed 's/|.*/|a text that is longer than the one before/' a >b
	"$xtable" scan t | cmp - b
	"$xtable" scan t --pool=F | cmp - b
}

@test "a journal that does not fit on a drive is refused, and the next drive keeps its cells" {
	seq 20000 | awk -v OFS='|' '{ print $1, $1 * 7, "t" $1 }' >a
	"$xtable" load t a -t'|' --placement=$placement --volumes=3 --volume=sim:tiny
	"$xtable" append t a
	run -2 "$xtable" update t --set=c2=5 --where 'c1 > 3'
	[[ $output = *"a drive of 709632 bytes has no space for the journal of the change"* ]]
	"$xtable" check t
	"$xtable" scan t | cmp - <(cat a a)
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
	refuse 'skipped space need the placement' load t schema --skip-size=1M
}

# row QUERY-OUTPUT ROW: the number of requests and the milliseconds of a row.
row() { sed -n "s/^ *$2 //p" <<<"$1" | awk '{ print $3, $6; exit }'; }

@test "explain predicts a table along tracks before it is loaded, and as it is stored" {
	for i in $(seq 15); do echo "c$i f64"; done >schema
	on="--placement=semiseq --volumes=4 --volume=$volume"
	# shellcheck disable=SC2086
	"$xtable" create t --no-data --schema=schema --records=200000 $on
	# shellcheck disable=SC2086
	planned=$("$xtable" explain --schema=schema --records=200000 $on -S 64M -q 'scan c1,c9')
	stored=$("$xtable" explain t -S 64M -q 'scan c1,c9')
	"$xtable" scan t --columns c1,c9 -S 64M --discard --stats=stats >out
	s=$(sed -n 's/.*"elapsed_s": \([0-9.e-]*\).*/\1/p' stats | head -1)
	n=$(sed -n 's/.*"read_requests": \([0-9]*\).*/\1/p' stats | head -1)
	awk -v n="$n" -v s="$s" '{ e = $2 / s / 1000 - 1; print $0, n, s, e
		exit !($1 == n && e < 0.1 && e > -0.1) }' <<<"$(row "$stored" 'stored csm semiseq')"
	# A table that would be loaded has data, which are printed.
	awk -v n="$n" -v s="$s" '{ e = $2 - s * 1000; print $0, n, s, e
		exit !($1 == n && e > 2 && e < 8) }' <<<"$(row "$planned" 'csm semiseq')"
	run -0 "$xtable" explain --schema=schema --records=200000 --placement=semiseq -q 'get 1 *'
	[[ $output = *"csm semiseq - semiseq follows the tracks"* ]]
}

@test "auto takes the tracks if they are faster, and if there are any" {
	seq 120000 | awk -v OFS='|' '{ print $1, $1 * 3, $1 * 5, $1 * 7, $1 * 11, $1 * 13 }' >ab
	printf 'scan c1,c3\n2 get 1 *\n' >w
	auto="load t ab -t| --overwrite --layout=auto --workload=w --placement=auto --volumes=4"
	# shellcheck disable=SC2086
	"$xtable" $auto --volume=$volume
	"$xtable" info t --json | grep -q '"placement": "semiseq"'
	"$xtable" scan t | cmp - ab
	# shellcheck disable=SC2086
	"$xtable" $auto --volume=sim:flash
	"$xtable" info t --json | grep -q '"placement": "contiguous"'
	refuse 'auto needs the layout auto' load t ab -t'|' --overwrite --placement=auto \
		--volume=$volume
	refuse 'need the placement semiseq' explain t -q 'scan c1' --volumes=2
}

@test "what cannot lie along tracks is refused" {
	inputs
	refuse 'has no known tracks' load t a --placement=semiseq
	refuse 'has no known tracks' load t a --placement=semiseq --volume=sim:flash
	refuse 'need the layout csm' load t a --placement=semiseq --layout=nsm --volume=$volume
	refuse 'need the placement semiseq' load t a --volumes=2
	refuse 'contiguous, semiseq or mems' load t a --placement=track --volume=$volume
	refuse 'the maximum is 7' load t a -t'|' --placement=semiseq --depth-rows=8 \
		--volume=$volume
	refuse 'not a multiple of the block size 4096' load t a --placement=semiseq --cell=512 \
		--volume=sim:nearline6t-like
	seq -f '%.0f|1|2' 60000 >many
	refuse 'no space for record .* choose larger drives' load t many -t'|' \
		--placement=semiseq --volume=sim:tiny
	seq 3000 | awk '{ printf "%d|%0300d\n", $1, $1 }' >texts
	printf 'a i32\nb text\n' >schema
	refuse 'no space for the texts: choose larger drives, or more of them' load t texts -t'|' \
		--schema=schema --placement=semiseq --volume=sim:tiny
	[ ! -e t ]
	"$xtable" load t a -t'|' --placement=semiseq --volumes=2 --volume=$volume
	refuse 'and this one has' scan t --volume=sim:atlas10k3-like
}

@test "a table along tracks moves to other drives, and back to a file" {
	needs jq
	inputs
	"$xtable" load t a -t'|' --placement=semiseq --volumes=2 --volume=$volume
	"$xtable" convert t moved --placement=semiseq --volumes=3 --to-volume=sim:atlas10k3-like
	run -0 "$xtable" info moved --json
	[ "$(jq -r '.volume, .volumes' <<<"$output" | paste -sd' ')" = "sim:atlas10k3-like 3" ]
	"$xtable" check moved
	"$xtable" scan moved | cmp - a
	"$xtable" convert moved sled --placement=mems --to-volume=sim:mems-thesis
	"$xtable" scan sled | cmp - a
	"$xtable" convert sled file
	"$xtable" scan file | cmp - a
	refuse 'no such model' convert t u --to-volume=sim:none
	refuse 'must be simulated or its own file' convert t u --to-volume=dir:.
	refuse 'does not go with --geometry' convert t u --to-volume=sim:flash --geometry=g
	[ ! -e u ]
}

@test "an aim of writes makes updates of full records faster, and reads slower, as predicted" {
	needs jq
	seq -f 'a%.0f f64 not null' 15 >schema
	for aim in read write; do
		"$xtable" create $aim --no-data --schema=schema --records=800000 --placement=semiseq --volumes=4 \
			--cell=512 --records-per-page=63 --aim=$aim --volume=sim:cheetah36es-like
		"$xtable" info $aim --json | jq .hop_blocks >$aim.hop
		for query in get update; do
			echo "$query 1 *" >w
			"$xtable" run $aim --workload=w --runtime=60s --json --journal=no --changed-size=1M |
				jq '.kinds[0].latency_mean_ns / 1e6' >$aim.$query
		done
		ms=$("$xtable" explain $aim -q 'get 1 *' | awk '$1 == "stored" { print $NF }')
		awk -v p="$ms" -v m="$(<$aim.get)" 'BEGIN { print p, m; exit !(p > 0.95 * m && p < 1.05 * m) }'
	done
	[ "$(<read.hop)" -lt "$(<write.hop)" ]
	awk -v r="$(<read.get)" -v w="$(<write.get)" 'BEGIN { print r, w; exit !(r < w && w < 1.2 * r) }'
	awk -v r="$(<read.update)" -v w="$(<write.update)" 'BEGIN { print r, w; exit !(w < 0.85 * r) }'
	refuse 'an aim of writes need the placement semiseq' load t schema --aim=write
	[ ! -e t ]
}
