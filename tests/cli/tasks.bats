#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The log of tasks of a run is complete, for any number of threads.
. "$BATS_TEST_DIRNAME/suite.bash"

setup() { begin_test tmp; }

# Every task that was started has ended and was joined, and every item that was needed was handed
# over; the times of tasks add up to that of the process.  $1: the log; $2: the minimum of tasks.
complete()
{
	python3 - "$1" "$2" <<-'EOT'
		import json, sys

		events = [json.loads(line) for line in open(sys.argv[1])]
		def values(name, *keys):
		    return [tuple(e[k] for k in keys) for e in events if e["event"] == name]
		started, ended = values("start", "started"), values("end", "task")
		joined = values("join", "joined")
		assert values("open", "schema") == [("spindle.tasks/1",)] and events[-1]["event"] == "close"
		assert len(started) >= int(sys.argv[2]), len(started)
		assert sorted(started) == sorted(ended) == sorted(joined) == sorted(set(joined))
		assert set(values("need", "channel", "number")) <= set(values("give", "channel", "number"))
		last = {}
		for e in events:
		    assert e["cpu_ns"] >= last.get(e["task"], 0), e
		    last[e["task"]] = e["cpu_ns"]
		total, process = sum(last.values()), events[-1]["process_cpu_ns"]
		assert 0.85 * process <= total <= 1.01 * process, (total, process)
	EOT
}

# The arguments make a complete log with 1, 2 and 8 threads, and the same result as without a log;
# with 8 threads it has at least $1 tasks.
logged()
{
	local least=$1 n

	shift
	"$@" >want
	for n in $(few 1 2 8); do
		"$@" --parallel=$n --trace-tasks=log$n >got
		cmp want got
		complete log$n $((n > 2 ? least : 0))
	done
}

@test "sorting" {
	needs python3
	"$xgen" records -n 200000 -o r
	logged 3 "$xsort" -S 64M --engine=sync r
	logged 10 "$xsort" -S 12M --engine=sync r
	logged 3 "$xsort" -S 64M --compress-output=zstd --engine=sync r
	"$xsort" -S 12M --engine=sync --parallel=8 --trace-tasks=log r -o out
	complete log 10
	grep -q '"kind":"sort/merge/ranges.c:sp__range_work"' log
}

@test "joining" {
	needs python3
	"$xgen" lineitem --scale 0.03 --shuffle -o lineitem
	"$xgen" orders --scale 0.03 -o orders
	logged 20 "$xjoin" -S 64M -t'|' -j1 --algorithm=hybrid --engine=sync lineitem orders
	# The result of a part is larger than its buffers.
	awk 'BEGIN { for (i = 0; i < 60000; i++) print i % 97, "probe", i }' >probe
	awk 'BEGIN { for (i = 0; i < 1000; i++) print i % 97, "build", i }' >build
	logged 3 "$xjoin" -S 64M --algorithm=hybrid --build=2 --engine=sync probe build
	sort -k1,1 lineitem -o lineitem -t'|'
	sort -k1,1 orders -o orders -t'|'
	logged 20 "$xjoin" -S 64M -t'|' -j1 --algorithm=merge --engine=sync lineitem orders
}

@test "indexes and tables" {
	needs python3
	"$xgen" lineitem --scale 0.03 -o lineitem
	for n in $(few 1 8); do
		rm -f i t u
		"$xindex" build -t'|' -k1,1 --engine=sync --parallel=$n --trace-tasks=log -o i lineitem
		complete log 0
		"$xtable" load -t'|' --engine=sync --parallel=$n --trace-tasks=log t lineitem
		complete log $((n > 2 ? 5 : 0))
		"$xtable" convert --layout=nsm --engine=sync --parallel=$n --trace-tasks=log t u
		complete log 1
	done
	logged 2 "$xtable" scan --format=text t
}

@test "the log is no input and no other output" {
	seq 10 >n
	run -2 "$xsort" --trace-tasks=n n
	[[ $output == *"--trace-tasks"* ]]
	run -2 "$xsort" --trace-tasks=t --trace=t n
	run -2 "$xsort" -c --trace-tasks=t n
	run -2 "$xsort" --trace-tasks=/dev/full n
	[[ $output == *"/dev/full"* ]]
	[ "$(seq 10)" = "$(cat n)" ]
}
