#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Clients on tables: their requests, their times and changes, and what is refused.

# shellcheck source=tests/cli/suite.bash
. "$BATS_TEST_DIRNAME/suite.bash"
load keys

volume=sim:cheetah36es-like
records=60000

model() { python3 "$BATS_TEST_DIRNAME/xtable_clients.py" "$@"; }

schema() { printf 'a i32\nb i16\nc i32\nd i64\ne char(30)\n' >schema; }

# blank NAME [OPTION...]: a table without data.
blank()
{
	schema
	"$xtable" create "$1" --no-data --schema=schema --records=$records --volume=$volume "${@:2}"
}

# full NAME [OPTION...]: a table with data.
full()
{
	schema
	awk 'BEGIN { for (i = 0; i < 20000; i++)
		printf "%d|%d|%d|%d|%s\n", i, i % 100, i % 1000, i * i, "t" i }' >text
	"$xtable" load "$1" text -t'|' --schema=schema "${@:2}"
}

# reads_as_get OPTION...: the requests of a client are those of get, for the rows of the model.
reads_as_get()
{
	blank t.x --overwrite "$@"
	echo 'get 1 a' >w
	"$xtable" run t.x --workload=w --runtime=1s --seed=5 --trace=trace >out
	model rows 5 0 $records 12 >rows
	grep '^R' trace | head -n 12 | cut -d ' ' -f 3,4 >got
	while read -r row; do
		"$xtable" get t.x "$row" --columns a --discard --trace=one
		grep '^R' one | cut -d ' ' -f 3,4
	done <rows >want
	cmp got want
}

@test "a client reads the records of the model, as get does" {
	needs jq python3
	reads_as_get --layout=nsm
	reads_as_get --placement=semiseq --volumes=3
	"$xtable" run t.x --workload=w --runtime=1s --seed=5 --volume=$volume >given
	cmp given out
}

# covers FILE: the cells of the trace are in reads of that one.
covers()
{
	grep '^R' "$1" | awk '{ print $3, 0, $4 }' >in
	grep '^R' trace | awk '{ print $3, 1, $4 }' | sort -n -k1,1 -k2,2 in - |
		awk '!$2 { if ($1 + $3 > end) end = $1 + $3; next } { n++; if ($1 + $3 > end) bad++ }
			END { print n, bad + 0; exit !n || bad }'
}

@test "nodes of an index are cells of the table, on any number of drives" {
	schema
	echo 'index 3 get 1 a' >w
	for drives in "$volume --placement=semiseq" "$volume --placement=semiseq --volumes=3" \
		"sim:mems-g2 --placement=mems"; do
		# Whole A-pages, so a scan reads all cells.
		# shellcheck disable=SC2086
		"$xtable" create t --no-data --schema=schema --records=60000 --records-per-page=200 \
			--volume=$drives --overwrite
		"$xtable" scan t --discard --trace=all
		"$xtable" run t --workload=w --runtime=1s --trace=trace >out
		covers all
	done
}

@test "throughput and latencies are those of the requests" {
	needs jq python3
	blank t --layout=nsm
	printf 'client 7 think 2ms\n3 get 1 a\nget 1 b zipf 0.9\n' >w
	"$xtable" run t --workload=w --runtime=20s --ramp-time=1s --trace=trace --json >r.json
	model ended trace r.json
	model law r.json
	has_keys r.json sim
	[ "$(jq .result.measured_s r.json)" = 20 ]
}

@test "several kinds of clients on several tables share the device" {
	needs jq python3
	blank t1.table
	blank t2.table --layout=pax
	printf 'client 20\nget 1 t1.a,b; update 2 t1.b same\n2 index 2 get 3 t2.*\nclient 1\nscan t2.a\n' |
		sed 's/get 1 t1/get 2 t1/' >w
	"$xtable" run t1.table t2.table --workload=w --runtime=20s --journal=no --stats=r.json >out
	model law r.json
	grep -q '20 clients:' out
	grep -q 'index 2 get 3 t2' out
	[ "$(jq '[.kinds[].lines[].transactions > 0] | all' r.json)" = true ]
}

@test "equal seeds give equal results, for any number of threads" {
	needs jq
	blank t
	printf 'client 5\nget 3 *; update 1 b\ninsert 2 t\ndelete 1 t last 10\n' >w
	for n in 1 2; do
		"$xtable" run t --workload=w --runtime=2s --journal=no --seed=3 --parallel=$n \
			--trace=trace$n >out$n
	done
	cmp out1 out2
	cmp trace1 trace2
	"$xtable" run t --workload=w --runtime=2s --journal=no --seed=4 --trace=trace3 >out3
	run ! cmp trace1 trace3
	# The table is as before.
	[ "$("$xtable" info t --json | jq .records)" = $records ]
}

@test "without a journal the cell changed least recently is written first" {
	needs jq python3
	blank t --layout=nsm --cell=4K
	echo 'update 1 b' >w
	"$xtable" run t --workload=w --runtime=5s --journal=no --changed-size=80K --trace=trace >out
	model lru trace 20 4096
}

@test "changed cells leave with the frame that was used least recently" {
	needs jq python3
	blank t --layout=nsm --cell=4K
	echo 'update 1 b' >w
	"$xtable" run t --workload=w --runtime=5s --journal=no --seed=2 --pool=F --pool-size=100K \
		--frame=4K --changed-size=1M --trace=trace --json >r.json
	fits_schema r.json
	model rows 2 0 $records 3000 >rows
	model pool trace r.json rows "$("$xtable" info t --json | jq .records_per_page)"
	[ "$(jq '.pool | .hits + .misses == .lookups and .misses > 20' r.json)" = true ]
}

# Addresses differ from run to run.
@test "clients of a pool in virtual time have one result" {
	needs jq
	blank t
	printf 'client 3\nget 4 a,b; get 2 *\nscan c\n' >w
	for manager in S D; do
		for _ in 1 2 3 4 5 6; do
			"$xtable" run t --workload=w --runtime=1s --ramp-time=3s --pool=$manager --pool-size=16M \
				--frame=1M --seed=1 --json >r.json
			jq -c '[.pool, .sim]' r.json
		done >"all.$manager"
		[ "$(sort -u "all.$manager" | wc -l)" = 1 ]
	done
}

@test "a pool that holds a table reads no cell when it has them" {
	needs jq
	blank t
	printf 'client 3\nget 4 a,b; get 2 *\nscan c\n' >w
	for manager in F S D; do
		"$xtable" run t --workload=w --runtime=20s --ramp-time=60s --pool=$manager --pool-size=16M \
			--frame=1M --json >r.json
		[ "$(jq '.result.requests == 0 and .pool.hits > 1000' r.json)" = true ]
	done
}

@test "clients change a table through its journal" {
	needs jq
	for layout in nsm csm; do
		full t --layout=$layout --overwrite
		printf 'client 3\nget 5 *\nupdate 4 b,e\ninsert 7 t\ndelete 2 t\nscan a\n' >w
		"$xtable" run t --workload=w --runtime=500ms --json >r.json
		"$xtable" check t
		inserted=$(($("$xtable" info t --json | jq .records) - 20000))
		[ "$inserted" -ge "$(jq '[.kinds[].lines[] | select(.text | startswith("insert"))
			.transactions] | add * 7' r.json)" ]
		[ $((inserted % 7)) = 0 ]
		[ "$("$xtable" info t --json | jq .deleted)" -gt 0 ]
		# Values of inserted records are their numbers.
		run -0 "$xtable" get t 20003 --columns a,d
		[ -z "$output" ] || [ "$output" = "20003|20003" ]
	done
}

@test "clients change a table with data in virtual time, too" {
	full t --volume=$volume
	printf 'client 4\nget 5 *\nupdate 4 b\n' >w
	"$xtable" run t --workload=w --runtime=3s --seed=1 >out1
	"$xtable" check t
	full t --volume=$volume --overwrite
	"$xtable" run t --workload=w --runtime=3s --seed=1 >out2
	cmp out1 out2
}

@test "an interrupt ends a run, which says so" {
	needs jq
	full t
	printf 'client 2 think 5ms\nget 5 *\n' >w
	"$xtable" run t --workload=w --runtime=60s --json >r.json 2>err &
	pid=$!
	sleep 1
	kill -TERM $pid
	wait $pid
	grep -q 'stopped after' err
	[ "$(jq '.result.stopped and .result.measured_s < 30 and .kinds[0].transactions > 0' r.json)" = true ]
}

@test "a client that ends no transaction is named" {
	blank t
	printf 'client 1\nget 1 a\nclient 2\nscan *; scan *\n' >w
	run -1 "$xtable" run t --workload=w --runtime=20ms
	[[ $output == *"client 1 of kind 2 completed no transaction"* ]]
	[[ $output == *"client 2 of kind 2 completed no transaction"* ]]
	[[ $output != *"of kind 1"* ]]
}

# refuses REASON LINE...: the workload of these lines is refused for this reason.
refuses()
{
	printf '%s\n' "${@:2}" >w
	run -2 "$xtable" run t1.table t2.table --workload=w --runtime=1ms
	[[ $output == *"$1"* ]] || { echo "$output"; false; }
}

@test "a workload that is wrong is refused with line and word" {
	blank t1.table
	blank t2.table
	refuses "line 2: there is no table 't3'" '# a comment' 'scan t3.a'
	refuses "line 1: the table has no column 'x'" 'scan t1.x'
	refuses "line 1: 'seek': a step must be" 'seek t1.a'
	refuses "line 1: 'b': columns of several tables are TABLE.COLUMNS" 'scan b'
	refuses "line 2: 'thin': only think can follow" 'scan t1.a' 'client 4 thin 3ms'
	refuses "line 1: client needs a number" 'client'
	refuses "at most 10000" 'client 10001'
	refuses "the preceding clients have no transactions" 'client 1' 'client 2' 'scan t1.a'
	refuses "the last clients have no transactions" 'scan t1.a' 'client 2'
	refuses "the table has $records records, not 60001" "get 1 t1.a last 60001"
	refuses "records are uniform" "get 1 t1.a everywhere"
	refuses "same needs an earlier step" "get 1 t1.a same"
	refuses "same needs an earlier step" "get 1 t1.a ; get 1 t2.a same"
	refuses "from 1 to 100000" "get 0 t1.a"
	refuses "from 1 to 100000" "get 100001 t1.a"
	refuses "at most 16 reads of an index" "index 17 get 1 t1.a"
	refuses "needs an exponent" "get 1 t1.a zipf x"
	refuses "unexpected text after the end of a step" "scan t1.a t2.b"
	refuses "the file has no queries" ''
	refuses "need --journal=no" 'insert 1 t1'
	run -2 "$xtable" run t1.table ./t1.table --workload=w
	[[ $output == *"has the name of"* ]]
	run -2 "$xtable" run t1.table
	[[ $output == *"--workload"* ]]
	run -2 "$xtable" run t1.table --workload=w --changed-size=1M
	[[ $output == *"--journal=no"* ]]
}

@test "tables that cannot run together are refused" {
	blank t1
	full t2
	echo 'update 1 t2.b' >w
	run -2 "$xtable" run t2 --workload=w --journal=no
	[[ $output == *"through its journal"* ]]
	echo 'get 1 t1.a' >w
	run -2 "$xtable" run t1 t2 --workload=w
	[[ $output == *"lies on"* ]]
	"$xtable" run t1 t2 --workload=w --volume=$volume --runtime=100ms
	schema
	printf 'x text\n' >texts
	printf 'hello\n' | "$xtable" load t3 --schema=texts
	echo 'get 1 x' >w
	run -2 "$xtable" run t3 --workload=w
	[[ $output == *"column 'x' is a text"* ]]
	printf '' | "$xtable" load t4 --schema=schema
	echo 'get 1 a' >w
	run -2 "$xtable" run t4 --workload=w
	[[ $output == *"has no records"* ]]
}

@test "clients join the columns of dsm in virtual time" {
	needs jq
	sed 's/^ "kind"/ "host": {"compare_ns": 500000, "record_ns": 500000, "value_ns": 0, "copy_ps": 0},\n&/' \
		"$BATS_TEST_DIRNAME/../../lib/dev/models/cheetah36es-like.json" >slow.json
	volume=sim:$PWD/slow.json blank t --layout=dsm
	echo 'get 1 a,b,c,d' >w
	for how in none tuple; do
		"$xtable" run t --workload=w --runtime=60s --dsm-join=$how --json >$how.json
	done
	awk -v none="$(jq '.kinds[0].latency_mean_ns' none.json)" -v tuple="$(jq '.kinds[0].latency_mean_ns' tuple.json)" \
		'BEGIN { print none, tuple; exit !(tuple - none > 2.4e6 && tuple - none < 3.6e6) }'
}
