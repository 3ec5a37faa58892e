#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
. "$BATS_TEST_DIRNAME/suite.bash"
load keys

@test "--help and --version are answered on standard output" {
	run -0 --separate-stderr "$aiobench" --help
	[[ $output == *--depth* && -z $stderr ]]
	run -0 --separate-stderr "$aiobench" watch --help
	[[ $output == *--sample_rate* && $output != *--depth* && -z $stderr ]]
	run -0 "$aiobench" --version
	[[ $output == "aiobench (Spindle) "* ]]
}

@test "a command and a target are needed" {
	run -2 "$aiobench"
	[[ $output == *"missing command"* ]]
	run -2 "$aiobench" walk x
	[[ $output == *"unknown command: 'walk'"* ]]
	run -2 "$aiobench" --depth 4 run f
	[[ $output == *"the command comes before its options"* ]]
	run -2 "$aiobench" run
	[[ $output == *"missing target"* ]]
}

@test "a simulated drive is measured in virtual time, the same every time" {
	run -0 "$aiobench" run --depth=4 --bs=16K --runtime=20 --stats=r.json sim:linear,merge=no
	[[ $output == *"of virtual time"* && $output == *"all        default"*"46.7 ms"* ]]
	[ "$(value schema)" = '"spindle.aiobench/1"' ]
	cp r.json first.json
	"$aiobench" run --depth=4 --bs=16K --runtime=20 --stats=r.json sim:linear,merge=no
	cmp r.json first.json
}

@test "reads and writes of a mix are reported apart" {
	needs jq
	run -0 "$aiobench" run --rw=randrw --rwmixread=70 --depth=4 --runtime=20 --stats=r.json sim:linear
	[[ $output == *"  reads "*"  writes "* ]]
	run -0 jq -e '.result | .reads.requests + .writes.requests == .requests and
		.reads.requests == .read_requests and .reads.latency_stddev_ns > 0' r.json
	run -0 "$aiobench" run --runtime=20 --stats=r.json sim:linear
	[[ $output != *" reads "* && $output != *" writes "* ]]
	run -0 jq -e '.classes[0].writes | .requests == 0 and .latency_mean_ns == null' r.json
}

@test "a file is created, used and removed as requested" {
	run -0 "$aiobench" run --direct=0 --create --size=1M --io_size=4M --depth=8 --stats=r.json t
	[ "$(stat -c %s t)" = 1048576 ]
	[ "$(value requests)" = 1024 ]
	[ "$(value errors)" = 0 ]
	run -2 "$aiobench" run --direct=0 --create --size=1M --io_size=4M t
	[ "$output" = "aiobench: t: File exists; --overwrite instead of --create allows to write to it" ]
	rm t
	run -0 "$aiobench" run --direct=0 --create=sparse --remove --size=1M --io_size=1M --rw=randwrite t
	[ ! -e t ]
}

@test "data are not overwritten unless that is allowed" {
	head -c 65536 /dev/zero > t
	run -2 "$aiobench" run --direct=0 --rw=randwrite --io_size=64K t
	[[ $output == *"its data would be lost (--overwrite"* ]]
	run -2 "$aiobench" run --direct=0 --io_size=64K --class a:share=50 --class b:op=rw t
	[[ $output == *"would be lost"* ]]
	cmp t <(head -c 65536 /dev/zero)
	run -0 "$aiobench" run --direct=0 --rw=write --io_size=64K --overwrite t
	! cmp -s t <(head -c 65536 /dev/zero)
}

@test "every engine reads a file" {
	head -c 1M /dev/zero > t
	for e in auto sync libaio io_uring; do
		run "$aiobench" run --direct=0 --engine=$e --depth=4 --io_size=256K --stats=r.json t
		if [ "$e" != auto ] && [ "$status" = 2 ]; then
			continue # not on this system
		fi
		[ "$status" = 0 ]
		[ "$(value requests)" = 64 ]
	done
	run -0 "$aiobench" run --engine=io_uring --fixedbufs --registerfiles --direct=0 --io_size=256K --depth=16 \
		--iodepth_batch=4 --iodepth_batch_complete_min=4 --iodepth_batch_complete_max=8 --stats=r.json t ||
		skip "no io_uring here"
	[ "$(value requests)" = 64 ]
}

# moments OPTION...: at how many moments sixteen requests were submitted.
moments()
{
	"$aiobench" run --direct=0 --engine=libaio --depth=16 --io_size=64K --trace=b.trace "$@" t > /dev/null &&
		grep -v '^#' b.trace | cut -d' ' -f6 | sort -u | wc -l
}

@test "requests are submitted one in a call, or in batches" {
	head -c 1M /dev/zero > t
	run moments
	[ "$status" = 0 ] || skip "no libaio here"
	[ "$output" -gt 4 ]
	[ "$(moments --iodepth_batch=4)" = 4 ]
	[ "$(moments --iodepth_batch=16)" = 1 ]
}

@test "a run continues after errors, but one with only errors is not a measurement" {
	head -c 1M /dev/zero > t
	run -0 "$aiobench" run --engine=fault:ERROR=EIO,COUNT=15:sync --continue_on_error --io_size=64K t
	[[ $output == *"15 of Input/output error"* ]]
	run -2 "$aiobench" run --engine=fault:ERROR=EIO,COUNT=0:sync --continue_on_error --io_size=64K --stats=r.json t
	[[ $output == *"16 of Input/output error"*"aiobench: all requests failed: Input/output error" ]]
	[ "$(value requests)" = 0 ]
}

@test "direct requests are aligned, or refused with the reason" {
	head -c 1M /dev/zero > t
	"$aiobench" run --io_size=4K t || skip "no direct I/O here"
	run -2 "$aiobench" run --bs=1000 --io_size=64K t
	[[ $output == *"direct requests must be multiples of "*"class all have 1000"* ]]
	run -2 "$aiobench" run --offset=100 --io_size=64K t
	[[ $output == *"offset must be a multiple"* ]]
}

@test "a target that is too small or none is refused" {
	head -c 1000 /dev/zero > t
	run -2 "$aiobench" run --direct=0 t
	[[ $output == *"too small for requests of 4096 bytes"* ]]
	run -2 "$aiobench" run --direct=0 --size=1M t
	[[ $output == *"is too small: it has 1000 bytes"* ]]
	run -2 "$aiobench" run --direct=0 .
	[[ $output == *"neither a regular file nor a block device"* ]]
	run -2 "$aiobench" run absent
	[[ $output == *"absent: No such file or directory; --create --size=SIZE creates it" ]]
	for target in nowhere/absent /dev/absent; do
		run -2 "$aiobench" run $target
		[ "$output" = "aiobench: $target: No such file or directory" ]
	done
	run -2 "$aiobench" run sim:nosuch
	[[ $output == *"ultrastar36lzx-like"* ]]
}

@test "classes have their own requests, and a line each" {
	run -0 "$aiobench" run --runtime=30 --stats=r.json --depth=20 sim:linear,sched=strict \
		--class high:share=10%,prio=rt/2,op=randwrite,size=8K \
		--class low:prio=idle,pattern=stride:64K
	[[ $output == *"high       rt/2"* && $output == *"low        idle"* && $output == *"total  "* ]]
	grep -q '"pattern": "strided"' r.json
	run -2 "$aiobench" run --class a:share=60 --class b:share=60 sim:linear
	[[ $output == *"add up to 120 %"* ]]
	run -2 "$aiobench" run --class a:colour=red sim:linear
	[[ $output == *"colour"*"share"* ]]
	run -2 "$aiobench" run --class a:prio=high sim:linear
	[[ $output == *"rt or be (optionally with /0 to /7), idle or default"* ]]
	run -2 "$aiobench" run --class a:depth=3,share=5 sim:linear
	[[ $output == *"share goes with neither depth nor rate"* ]]
}

@test "values that cannot be meant are refused, not rounded or wrapped" {
	run -2 "$aiobench" run --runtime=1 --depth=1.5 sim:linear
	[[ $output == *"--depth argument '1.5' is not a whole number"* ]]
	run -2 "$aiobench" run --runtime=1 --class a:depth=2.5 sim:linear
	[[ $output == *"--class a: 'depth=2.5': depth is a whole number from 1 to 4096"* ]]
	run -2 "$aiobench" run --runtime=1 --class :depth=1 sim:linear
	[[ $output == *"--class '': a class is a name, a colon and KEY=VALUE,..."* ]]
	run -2 "$aiobench" run --runtime=1 sim:linear,page=5K
	[[ $output == *"sim: page is a power of 2 from 512 to 1M" ]]
	run -2 "$aiobench" run --runtime=1 --class a:size=4294971392 sim:linear
	[[ $output == *"--class a: 'size=4294971392': size is a size from 1 to 1G"* ]]
	run -2 "$aiobench" run --runtime=0 sim:linear
	[[ $output == *"--runtime argument '0' is zero"* ]]
	run -2 "$aiobench" run --runtime=1 --status-interval=0 sim:linear
	[[ $output == *"--status-interval argument '0' is zero"* ]]
	run -2 "$aiobench" run --runtime=1 --class a --class a sim:linear
	[[ $output == *"two classes are named 'a'"* ]]
	run -2 "$aiobench" policy --runtime=1 --clients=0.5 sim:linear
	run -2 "$aiobench" policy --runtime=1 --batch=1.5 sim:linear
	[[ $output == *"not a whole number"* ]]
}

@test "files created for a measurement that cannot begin are removed" {
	"$aiobench" run --create=sparse --remove --size=1M --io_size=4K t || skip "no direct I/O here"
	run -2 "$aiobench" run --create --size=1M --bs=1000 t
	[[ $output == *"must be multiples"* ]]
	[ ! -e t ]
	run -2 "$aiobench" policy --create --remove --size=8M --bs=1000 --runtime=1 t
	[ ! -e t ]
	echo mine > t
	run -2 "$aiobench" run --create --size=1M --bs=1000 t
	run -2 "$aiobench" policy --create --remove --size=8M --runtime=1 t
	[ "$(cat t)" = mine ]
}

@test "if intervals cannot be written the rest is reported, and it fails" {
	[ -c /dev/full ] || skip "no /dev/full here"
	run -2 "$aiobench" run --runtime=20 --status-interval=1 --status=/dev/full --stats=r.json sim:linear
	[[ $output == *"aiobench: /dev/full: "*"of virtual time"* ]]
	[ "$(grep -c /dev/full <<<"$output")" = 1 ]
	[ "$(value elapsed_s)" = 20.0 ]
}

@test "on a terminal a line shows the progress and is erased" {
	needs script
	head -c 1M /dev/zero > t
	TERM=xterm script -qec "'$aiobench' run --direct=0 --runtime=1.2 t" out > x
	grep -q ' of 1.2 s, [0-9]* IOPS, mean latency ' out
	grep -q $'\r\033\\[K' out
	TERM=xterm script -qec "'$aiobench' policy --load=scan --size=64M --runtime=1 sim:linear" out > x
	grep -q 'run 1 of 3: scan, conservative' out
	[[ $("$aiobench" run --direct=0 --runtime=1.2 t 2>&1) != *" of 1.2 s"* ]]
}

@test "on a narrow terminal that line stays in one row" {
	needs script
	head -c 1M /dev/zero > t
	TERM=xterm script -qec "stty cols 12; '$aiobench' sweep --direct=0 --depth=2 --runtime=1.2 t 2>&1 > x" out > x
	grep -q $'\raiobench: ' out
	tr '\r' '\n' < out | grep -v '^Script' | awk '/^aiobench:/ { sub(/\033.*/, ""); if (length($0) > 11) exit 1 }'
	TERM=xterm script -qec "stty cols 1; '$aiobench' run --direct=0 --runtime=1.2 t 2>&1 > x" out > x
	! grep -q 'aiobench: ' out
}

@test "a target without a name is named" {
	run -2 "$aiobench" run ""
	[ "$output" = "aiobench: '': No such file or directory" ]
	run -2 "$aiobench" sweep sim:
	[[ $output == "aiobench: sim: the name of a model is missing" ]]
}

@test "options of another command are refused, not passed over" {
	run -2 "$aiobench" run --source=stat --runtime=1 sim:linear
	[[ $output == *"aiobench run: unrecognized option '--source=stat'"* ]]
	run -2 "$aiobench" run --replay_no_stall --runtime=1 sim:linear
	[[ $output == *"aiobench run: unrecognized option '--replay_no_stall'"* ]]
	run -2 "$aiobench" watch --depth=4 --runtime=100ms 1
	[[ $output == *"aiobench watch: unrecognized option '--depth=4'"* ]]
}

@test "warnings that are not in the report are printed next to it" {
	head -c 1M /dev/zero > t
	run -0 "$aiobench" run --direct=0 --engine=sync --depth=16 --io_size=64K t
	[[ $output == *"warning: --depth had no effect: sync has one request at a time for each class"* ]]
	run -0 "$aiobench" run --direct=0 --engine=sync --class a:share=10 --class b --io_size=64K t
	[[ $output == *"warning: share of --class had no effect: sync"* ]]
	run -0 "$aiobench" run --direct=0 --engine=sync --class a --class b --io_size=64K t
	[[ $output != *warning* ]]
	run -0 "$aiobench" run --direct=0 --io_size=64K t t t
	[[ ${lines[0]} == "t and 2 more: engine "* ]]
}

@test "a report that cannot be written or read is an error with the reason" {
	[ -c /dev/full ] || skip "no /dev/full here"
	run -2 "$aiobench" run --runtime=1 --stats=/dev/full sim:linear
	[[ $output == *"write failed: /dev/full: No space left on device"* ]]
	run -2 "$aiobench" compare . .
	[[ $output == *"Is a directory"* ]]
}

@test "starvation is reported" {
	run -0 "$aiobench" run --runtime=20 sim:linear,sched=strict:aging=10s \
		--class a:depth=10,prio=rt --class b:depth=10,prio=idle
	[[ $output == *"starved: b (others were served "* ]]
}

@test "intervals are lines of JSON" {
	"$aiobench" run --runtime=20 --status-interval=5 --status=s.json sim:linear
	[ "$(wc -l < s.json)" = 4 ]
	[ "$(grep -c '^{"begin_s":.*"classes":\[{"name":"all"' s.json)" = 4 ]
	run -2 "$aiobench" run --status=s.json sim:linear
	[[ $output == *"--status needs --status-interval"* ]]
}

@test "a rate is kept, and waiting counts from when a request was due" {
	run -0 "$aiobench" run --runtime=20 --rate_iops=50 --depth=4 --stats=r.json sim:linear
	[ "$(value requests)" -ge 999 ]
	[ "$(value requests)" -le 1001 ]
}

@test "a trace has every request" {
	"$aiobench" run --io_size=40K --depth=3 --trace=t.trace sim:linear
	[ "$(grep -vc '^#' t.trace)" = 10 ]
	[ "$(awk '!/^#/ { print $1, $4, $8 }' t.trace | sort -u)" = "R 4096 4096" ]
}

@test "an interrupted run reports the measurements so far" {
	head -c 1M /dev/zero > t
	"$aiobench" run --direct=0 --runtime=60 --stats=r.json t > out &
	pid=$!
	sleep 0.3
	kill -TERM $pid # INT is ignored in the background
	wait $pid
	grep -q "stopped before the end" out
	[ "$(value stopped)" = true ]
	[ "$(value requests)" -gt 0 ]
}

@test "an interrupt while a target is created removes it, and says so" {
	"$aiobench" run --create --size=2G t 2>err &
	until [ -e t ]; do kill -0 $!; done
	kill -TERM $!
	status=0
	wait $! || status=$?
	[ "$status" = 2 ]
	[ "$(cat err)" = 'aiobench: t: stopped while it was created' ]
	[ ! -e t ]
}

# removed_after STATUS COMMAND SIGNAL...: the file of a run that ends by a signal is removed.
removed_after()
{
	local expected=$1 command=$2 signal=$3 status=0

	(ulimit -c 0; exec "$aiobench" "$command" --direct=0 --create=sparse --remove --size=8M --runtime=60 t \
		>/dev/null 2>&1) &
	until [ -s t ]; do kill -0 $!; done
	kill "-$signal" $!
	wait $! || status=$?
	echo "# $command $signal: $status"
	[ "$status" = "$expected" ]
	[ ! -e t ]
}

@test "--remove removes the file after any end" {
	removed_after 131 run QUIT
	removed_after 131 sweep QUIT
	removed_after 131 policy QUIT
	"$aiobench" run --direct=0 --create=sparse --remove --size=8M --runtime=60 t >/dev/null 2>&1 &
	until [ -s t ]; do kill -0 $!; done
	kill -TERM $!
	wait $! || [ $? = 2 ]
	[ ! -e t ]
	# the file ends, so reads fail
	for how in --size=8M --continue_on_error; do
		"$aiobench" run --direct=0 --create=sparse --remove --size=8M --runtime=2 $how t >/dev/null 2>err &
		until [ -s t ]; do kill -0 $!; done
		: >t
		status=0
		wait $! || status=$?
		[ "$status" = 2 ] || [ "$how" = --continue_on_error ]
		[ ! -e t ]
	done
	[ -c /dev/full ] || skip "no /dev/full here"
	for command in run sweep policy; do
		run -2 "$aiobench" $command --direct=0 --create=sparse --remove --size=8M --runtime=20ms --stats=/dev/full t
		[ ! -e t ]
	done
}

@test "numbers, times and sizes that are none are refused" {
	run -2 "$aiobench" run --runtime=ten sim:linear
	[[ $output == *"invalid --runtime argument 'ten': valid are times such as 10, 500ms, 20us, 2m and 1h" ]]
	for option in bs size offset stride io_size; do
		run -2 "$aiobench" run --$option=4KB sim:linear
		[[ $output == *"invalid suffix in --$option argument '4KB': valid sizes are such as 512b, 4K, "* ]]
	done
	run -2 "$aiobench" run --rwmixread=half sim:linear
	[[ $output == *"invalid --rwmixread argument 'half': valid are shares such as 30 and 30%" ]]
	run -2 "$aiobench" mix --shares=,1 sim:linear
	[[ $output == *"invalid --shares argument ',1': valid is a list such as 0,10,50" ]]
	run -2 "$aiobench" run --engine=steam sim:linear
	[[ $output == *"invalid argument 'steam' for '--engine'"*"- 'io_uring'"*"- 'sync'"* ]]
	run -2 "$aiobench" run --depth=0 sim:linear
	[[ $output == *"--depth argument '0' is not within 1 and 4096"* ]]
	run -2 "$aiobench" run --bs=0 sim:linear
	[[ $output == *"--bs argument '0'"* ]]
	run -2 "$aiobench" run --rw=scribble sim:linear
	[[ $output == *"scribble"* ]]
	run -2 "$aiobench" run --direct=yes sim:linear
	[[ $output == *"0 or 1"* ]]
	run -2 "$aiobench" run --iodepth_batch_complete_min=5 --depth=4 sim:linear
	[[ $output == *"batches of completions must fit into the depth"* ]]
}

@test "a full device is an error of the report" {
	[ -e /dev/full ] || skip "no /dev/full"
	run -2 "$aiobench" run --runtime=1 --stats=/dev/full sim:linear
	[[ $output == *"/dev/full"* ]]
}

# filling RUNTIME: while the page cache fills, 200 requests a second are too many for the drive.
filling()
{
	"$aiobench" run --steady --runtime="$1" --rate_iops=200 --direct=0 --size=4M --stats=r.json sim:linear,cache=64M
}

@test "a run ends at a steady state, and says so" {
	run -0 filling 60
	[[ $output == *", 11.00 s of virtual time"* ]]
	[[ $output == *"steady state: reached after 11 rounds of 1 s; the last 5: 200.0 IOPS, range 0.0 %, slope +0.0 %"* ]]
	"$BATS_TEST_DIRNAME/../../scripts/report-fields" r.json | grep 'steady' > fields
	printf '%s\n' 'config.steady_round_s 1.0' 'result.steady.reached true' 'result.steady.rounds 11' \
		'result.steady.window.'{'0.end_s 7.0','0.iops 200.0','1.end_s 8.0','1.iops 200.0','2.end_s 9.0','2.iops 200.0'} \
		'result.steady.window.'{'3.end_s 10.0','3.iops 200.0','4.end_s 11.0','4.iops 200.0'} \
		'result.steady.iops 200.0' 'result.steady.range 0.0' 'result.steady.slope 0.0' | diff - fields
	run -0 filling 5
	[[ $output == *"steady state: not reached in 5 rounds of 1 s; the last 5: 171.6 IOPS, range 63.5 %, slope +64.3 %"* ]]
	[ "$(value reached)" = false ]
	mv r.json filling.json
	run -0 "$aiobench" run --steady=3 --io_size=1M --stats=r.json sim:linear
	[[ $output == *"steady state: not reached in 0 rounds of 3 s" ]]
	[ "$(value slope)" = null ]
	has_keys filling.json config.classes[] result.no_effect[] result.steady sim
}

@test "a run that cannot end at a steady state is refused" {
	run -2 "$aiobench" run --steady --runtime=4 sim:linear
	[[ $output == "aiobench: a steady state takes 5 rounds of 1 s, and the run ends after 4 s" ]]
	run -2 "$aiobench" run --steady=0 sim:linear
	[[ $output == *"--steady argument '0' is zero"* ]]
	run -2 "$aiobench" sweep --steady sim:linear
	[[ $output == *"unrecognized option '--steady'"* ]]
	run -2 "$aiobench" compare --runtime=40 --a=--steady --b= sim:linear
	[[ $output == *"unrecognized option '--steady'"* ]]
}

@test "an offset of a class beyond the end is blamed, and not the size" {
	head -c 1M /dev/zero > t
	"$aiobench" run --runtime=10ms t > /dev/null || skip "no direct I/O here"
	run -2 "$aiobench" run --class a:offset=32 --runtime=10ms t
	[[ $output == *'the offset of class a is 32' && $output != *' have 4096'* ]]
	run -2 "$aiobench" run --class a:size=100 --runtime=10ms t
	[[ $output == *'class a have 100' ]]
}

@test "many measurements without time for a request are an error" {
	head -c 1M /dev/zero > t
	for command in sweep "mix --shares=50" "compare --a="; do
		# shellcheck disable=SC2086
		run -2 "$aiobench" $command --direct=0 --runtime=1us t
		[[ ${lines[-1]} == 'aiobench: no measurement was long enough for a request: --runtime gives more time' ]]
	done
}
