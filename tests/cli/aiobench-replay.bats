#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
. "$BATS_TEST_DIRNAME/suite.bash"
load keys

@test "the keys of its report are those that are promised" {
	echo 'R a 0 4096 0 0 10 4096' > t.trace
	"$aiobench" replay --fixedbufs --stats=r.json t.trace sim:linear > /dev/null
	has_keys r.json result.no_effect[] sim
}

@test "the trace of a sort is done again on files and on a simulated drive" {
	seq 200000 | tac > big
	"$xsort" -S 256K --trace=t.trace -o sorted big
	requests=$(awk '!/^#/ && $8 > 0' t.trace | wc -l)
	run -0 "$aiobench" replay --replay_no_stall --create=sparse --remove --direct=0 --stats=r.json t.trace out
	[ "$(value requests)" = "$requests" ]
	[ "$(value kind)" = '"replay"' ]
	[ "$(value recorded_times)" = false ]
	[[ $output == *"replay: of "* ]]
	[ ! -e out ]
	run -0 "$aiobench" replay --overwrite --stats=r.json t.trace sim:ultrastar36lzx-like
	[ "$(value requests)" = "$requests" ]
	[ "$(value simulated)" = true ]
}

@test "times can be recorded ones, faster, or none" {
	printf '%s\n' '# spindle-trace/1' 'R a 0 4096 0 0 10 4096' 'R a 8192 4096 24576 200000000 200000010 4096' > t.trace
	head -c 64K /dev/zero > f
	run -0 "$aiobench" replay --direct=0 --stats=r.json t.trace f
	awk -v s="$(value elapsed_s)" 'BEGIN { exit !(s >= 0.2 && s < 2) }'
	[[ $output == *"idle"* && $output == *"at recorded times (100 %)"* ]]
	run -0 "$aiobench" replay --direct=0 --replay_time_scale=1000 --stats=r.json t.trace f
	awk -v s="$(value elapsed_s)" 'BEGIN { exit !(s >= 0.02 && s < 0.2) }'
	run -0 "$aiobench" replay --direct=0 --replay_no_stall --stats=r.json t.trace f
	awk -v s="$(value elapsed_s)" 'BEGIN { exit !(s < 0.2) }'
}

@test "a trace that cannot be replayed is refused with the reason" {
	head -c 64K /dev/zero > f
	run -2 "$aiobench" replay f
	[[ $output == *"replay needs a trace and a target"* ]]
	run -2 "$aiobench" replay absent f
	[[ $output == *"absent: No such file or directory"* ]]
	echo 'R a x 4096 0 0 10 4096' > t.trace
	run -2 "$aiobench" replay t.trace f
	[[ $output == *"t.trace: line 1: offset is not a number of bytes"* ]]
	echo 'R a 65536 4096 0 0 10 4096' > t.trace
	run -2 "$aiobench" replay --direct=0 t.trace f
	[[ $output == *"f: is too small: the trace needs 69632 bytes of it"* ]]
	echo 'W a 0 4096 0 0 10 4096' > t.trace
	run -2 "$aiobench" replay --direct=0 t.trace f
	[[ $output == *"its data would be lost"* ]]
	cmp f <(head -c 64K /dev/zero)
	run -2 "$aiobench" replay --class a: t.trace f
	[[ $output == *"aiobench replay: unrecognized option '--class'"* ]]
}

@test "an interrupted replay reports the requests until then" {
	printf '%s\n' 'R a 0 4096 0 0 10 4096' 'R a 8192 4096 0 60000000000 60000000010 4096' > t.trace
	head -c 64K /dev/zero > f
	"$aiobench" replay --direct=0 --stats=r.json t.trace f > out &
	pid=$!
	sleep 0.5
	kill -TERM $pid
	wait $pid
	grep -q "stopped before the end" out
	[ "$(value requests)" = 1 ]
}

@test "a trace that was cut off is refused, also within its last number" {
	"$aiobench" run --io_size=40K --trace=t.trace sim:linear
	head -c -3 t.trace > cut.trace
	[[ $(tail -n 1 cut.trace) == *" 40" ]]
	run -2 "$aiobench" replay cut.trace sim:linear
	[[ $output == *"cut.trace: line 12: is cut off: there is no end of line" ]]
}
