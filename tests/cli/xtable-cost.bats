#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# no threads
#
# What xtable says about the cost of layouts, and what it does with it.

# shellcheck source=tests/cli/suite.bash
. "$BATS_TEST_DIRNAME/suite.bash"
load keys

# The table t of 18617 records of 15 f64, and its text r.txt.
table()
{
	"$xgen" r --seed=7 --bytes=5400000 >r.txt
	"$xtable" load t r.txt -t '|'
}

# figure LAYOUT N: the Nth number of the line of a layout.
figure() { awk -v layout="$1" -v n="$2" '$1 == layout { print $(n + 1); exit }' <<<"$output"; }

@test "the requests and bytes of a scan are those of its trace" {
	table
	run -0 "$xtable" explain t -q 'scan c2,c9'
	scan=$output
	"$xtable" scan t --columns c2,c9 --trace=trace >/dev/null
	requests=$(grep -c '^R' trace)
	bytes=$(awk '/^R/ { n += $4 } END { printf "%.3f", n / 1e6 }' trace)
	output=$(sed -n 's/^stored *//p' <<<"$scan")
	[ "$(figure csm 3)" = "$requests.0" ]
	[ "$(figure csm 5)" = "$bytes" ]
}

@test "explain --run takes the time of the table as it is stored" {
	needs jq
	table
	run -0 "$xtable" explain t -q 'scan c2' -q 'update 5 c1' --run --stats=e.json
	[[ $output == *measured* ]]
	jq -e '.candidates | map(select(.stored)) | .[0].costs |
		(.[0].measured_s > 0) and (.[1].measured_s == null)' e.json
	run -2 "$xtable" explain r.txt -t '|' -q 'scan c2' --run
	[[ $output == *"--run needs a table"* ]]
}

@test "reports of comparisons have the promised keys and form" {
	needs jq
	table
	"$xtable" compare t -q 'scan c2' -q '3 get 7 *' --volume=sim:flash --stats=r.json \
		--placement=semiseq >/dev/null
	has_keys r.json
	fits_schema r.json
	[ "$(jq -c '[.candidates[].layout]' r.json | cut -c 1-25)" = '["nsm","pax","dsm","csm",' ]
	[ "$(jq '.queries[1].weight' r.json)" = 3 ]
}

@test "auto loads what explain says that it chooses" {
	table
	echo 'scan c3' >scans
	echo 'get 1000 *' >gets
	"$xtable" load a r.txt -t '|' --layout=auto --workload=scans
	run -0 "$xtable" info a
	[[ $output == *"columns: 15 in 15 column groups"* ]]
	"$xtable" load b r.txt -t '|' --layout=auto --workload=gets
	run -0 "$xtable" info b
	[[ $output == *"columns: 15 in 1 column groups"* ]]
	"$xtable" scan a | cmp - r.txt
	"$xtable" scan b | cmp - r.txt
}

@test "mistakes in a workload name file, line and nearest column" {
	table
	printf 'scan c1\n# nothing\n2 get 5 c16\n' >w
	run -2 "$xtable" explain t --workload=w
	[[ $output == *"w: line 3: the table has no column 'c16'; the nearest name is 'c1"* ]]
	run -2 "$xtable" explain t -q 'scan c1 where c2'
	[[ $output == *"needs the share of records"* ]]
	run -2 "$xtable" compare t -q 'scan c1'
	[[ $output == *"--volume=sim:MODEL"* ]]
	run -2 "$xtable" load x r.txt --layout=auto
	[[ $output == *"needs --workload"* ]]
}

# times PARALLEL: virtual time of commands on a table, in nanoseconds.
times()
{
	local opts="-S 64M --parallel=$1 --volume=sim:flash --stats=s.json"

	timed()
	{
		# shellcheck disable=SC2086
		"$xtable" "$@" $opts >/dev/null 2>&1
		awk '/"elapsed_s"/ { sub(",", "", $2); printf "%.0f\n", $2 * 1e9; exit }' s.json
	}
	rm -f v
	timed load v t.txt -t ,
	timed scan v
	timed scan v --columns=c3 --where='c1 < 3000 and c2 < 50'
	timed scan v --agg='sum(c2)' --where='c1 > 100'
	timed get v 17 19999 3
	timed update v --set=c2=5 --where='c1 = 2500'
	timed delete v 9
	timed append v t.txt
}

@test "virtual time is the same on every machine and for all numbers of threads" {
	seq 20000 | awk '{ print $1 "," $1 * 7919 % 1000 "," $1 / 4 }' >t.txt
	run -0 times 1
	one=$output
	run -0 times 2
	[ "$output" = "$one" ]
	[ "$(paste -sd ' ' <<<"$one")" = "6237840 966145 325652 1089180 232828 3542834 2488980 8508598" ]
}

# counted COMMAND...: its report has the requests and bytes of its trace.  Neither an input nor the
# output of convert is in that.
counted()
{
	"$xtable" "$@" --trace=trace --stats=r.json >/dev/null
	awk '/^[RW]/ { n[$1]++; b[$1] += $4 }
		END { print n["W"] + 0, b["W"] + 0, n["R"] + 0, b["R"] + 0 }' trace >is
	echo "$(value write_requests) $(value write_bytes) $(value read_requests) $(value read_bytes)" >counted
	echo "$1: $(cat counted), in the trace $(cat is)"
	case $1 in
	load | append) sed -i 's/ [0-9]* [0-9]*$//' counted is ;;
	convert) sed -i 's/^[0-9]* [0-9]* //' counted is ;;
	esac
	cmp is counted
}

@test "a report counts all requests of a command" {
	seq 30000 | awk '{ print $1 "," $1 * 7919 % 1000 ",text " $1 * 31 % 977 }' >t.txt
	counted load v t.txt -t , --types c3:text --volume=sim:flash
	counted delete v 9 20000
	counted scan v
	counted scan v --columns=c3 --where='c1 < 3000 and c2 < 50'
	counted get v 17 29999 3
	counted index v c2
	counted get v --by=c2 7
	counted update v --set=c2=5 --where='c1 = 2500'
	counted update v --set=c3="'new'" 4 5
	counted append v t.txt
	counted check v
	counted convert v w --layout=nsm
	[ "$(value write_bytes)" -ge 900000 ]
}
