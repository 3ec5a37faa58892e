#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
. "$BATS_TEST_DIRNAME/suite.bash"
load keys

# A device that can be watched, or nothing.
device()
{
	local d
	for d in /sys/block/*/stat; do
		d=${d%/stat}
		[ -r "$d/stat" ] && echo "${d##*/}" && return
	done
}

@test "a device is watched: a histogram, lines of JSON and a report" {
	d=$(device)
	[ -n "$d" ] || skip "no block device here"
	COLUMNS=40 run -0 "$aiobench" watch --runtime=300ms --status-interval=100ms --status=s.json --stats=r.json "$d"
	[[ ${lines[0]} == "$d: "*" samples, "* && $output == *"stat: requests in the device's queue"* ]]
	[ "$(awk '{ if (length($0) > n) n = length($0) } END { print n }' <<<"$(sed '1,/outstanding/d' <<<"$output")")" -le 40 ]
	[ "$(grep -c '^{"begin_s":.*"depth_mean_exact":' s.json)" -ge 2 ]
	[ "$(value kind)" = '"watch"' ]
	[ "$(value source)" = '"stat"' ]
	[ "$(value samples)" -gt 1 ]
	run -0 "$aiobench" watch --runtime=100ms --source=inflight --sample_rate=100 --stats=r.json "$d"
	[ "$(value source)" = '"inflight"' ]
	[ "$(value depth_mean_exact)" = null ]
}

@test "a process is watched through its rings, at the depth that it has" {
	head -c 4M /dev/zero > f
	"$aiobench" run --direct=0 --engine=io_uring --io_size=4K f >/dev/null 2>&1 || skip "no io_uring here"
	"$aiobench" run --direct=0 --engine=io_uring --depth=32 --runtime=60 f >/dev/null &
	pid=$!
	for _ in {1..50}; do
		[ -n "$(find /proc/$pid/fd -lname 'anon_inode:\[io_uring\]' 2>/dev/null)" ] && break
		sleep 0.1
	done
	run "$aiobench" watch --runtime=300ms --stats=r.json $pid
	kill -TERM $pid
	wait $pid
	[ "$status" = 0 ] || skip "the system does not show rings: $output"
	[ "$(value source)" = '"fdinfo"' ]
	[ "$(value depth_max)" -le 32 ]
	[ "$(value rings)" = 1 ]
}

@test "every request is traced where that can be had" {
	d=$(device)
	[ -n "$d" ] || skip "no block device here"
	"$aiobench" watch --source=trace --runtime=100ms --stats=r.json "$d" > out 2>&1 &
	pid=$!
	rc=0
	wait $pid || rc=$?
	[ $rc != 2 ] || skip "no trace here: $(cat out)"
	[ $rc = 0 ]
	[ "$(value source)" = '"trace"' ]
	[ ! -e /sys/kernel/tracing/instances/spindle-$pid ]
}

@test "a watch removes what a killed one has left in the kernel" {
	d=$(device)
	[ -n "$d" ] || skip "no block device here"
	"$aiobench" watch --source=trace --runtime=60 "$d" > out 2>&1 &
	pid=$!
	left=/sys/kernel/tracing/instances/spindle-$pid
	for _ in {1..50}; do
		[ -e "$left/per_cpu" ] && break
		sleep 0.1
	done
	kill -KILL $pid || true
	rc=0
	wait $pid || rc=$?
	[ $rc != 2 ] || skip "no trace here: $(cat out)"
	[ -e "$left" ]
	run -0 "$aiobench" watch --source=trace --runtime=100ms "$d"
	[ ! -e "$left" ]
}

@test "a picture shows it over time and by number" {
	needs gnuplot
	d=$(device)
	[ -n "$d" ] || skip "no block device here"
	run -0 "$aiobench" watch --runtime=1 --status-interval=1ms --status=s.json --plot=w.svg "$d"
	[[ $output != *warning* ]]
	grep -q "</svg>" w.svg
	grep -q "Outstanding requests over time" w.svg
	run -0 "$aiobench" watch --runtime=250ms --plot=w.png "$d"
	[ "$(head -c 4 w.png | tail -c 3)" = PNG ]
}

@test "the keys of its report are those that are promised" {
	d=$(device)
	[ -n "$d" ] || skip "no block device here"
	"$aiobench" watch --runtime=100ms --stats=r.json "$d" > /dev/null
	has_keys r.json
}

@test "an interrupt gives the report; it also ends with the process" {
	d=$(device)
	[ -n "$d" ] || skip "no block device here"
	"$aiobench" watch --stats=r.json "$d" > out &
	pid=$!
	sleep 0.4
	kill -TERM $pid
	wait $pid
	[ "$(value stopped)" = true ]
	grep -q "^mean " out
}

@test "an invalid target is refused with the reason" {
	run -2 "$aiobench" watch nosuchdevice
	[[ $output == *"nosuchdevice: No such file or directory" ]]
	run -2 "$aiobench" watch 4194305
	[[ $output == *"the process does not exist"* ]]
	run -2 "$aiobench" watch .
	[[ $output == *"neither a block device nor the number of a process"* ]]
	run -2 "$aiobench" watch $$
	[[ $output == *"has no io_uring that can be read"* ]]
	run -2 "$aiobench" watch --source=fdinfo nosuchdevice
	[[ $output == *"has no source 'fdinfo'"* ]]
	run -2 "$aiobench" watch --source=magic nosuchdevice
	[[ $output == *"magic"* ]]
}

@test "on a terminal a line shows the outstanding requests" {
	d=$(device)
	[ -n "$d" ] || skip "no block device here"
	needs script
	TERM=xterm script -qec "'$aiobench' watch --runtime=1.2 $d" out > x
	grep -q ' s, outstanding: mean [0-9.]*, at most [0-9]*, now [0-9]' out
	[[ $("$aiobench" watch --runtime=0.7 "$d" 2>&1) != *"at most"* ]]
}
