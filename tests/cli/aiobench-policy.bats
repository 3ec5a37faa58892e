#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
. "$BATS_TEST_DIRNAME/suite.bash"
load keys

# values KEY: all of them, on one line.
values() { sed -n "s/.*\"$1\": \([^,]*\),\{0,1\}\$/\1/p" r.json | xargs; }

@test "every load runs under every policy, the same every time" {
	run -0 "$aiobench" policy --size=64M --runtime=5 --stats=r.json sim:linear
	[[ $output == *"virtual time"* && $output == *"share of the time"* ]]
	[ "$(value kind)" = '"policy"' ]
	[ "$(values load)" = "scan scan scan range range range update update update update update" ]
	[ "$(values submission | tr ' ' '\n' | sort | uniq -c | xargs)" = \
		"2 adaptive 6 aggressive 3 conservative" ]
	mv r.json first.json
	"$aiobench" policy --size=64M --runtime=5 --stats=r.json sim:linear
	cmp r.json first.json
	has_keys r.json runs[].sim preflight preflight.layers[] preflight.remarks[]
}

@test "options select the load and the policies" {
	run -0 "$aiobench" policy --size=64M --runtime=1 --load=range,scan --submission=agg \
		--priorities=no --critical=0 --stats=r.json sim:linear
	[ "$(values load)" = "scan range" ]
	[ "$(values submission)" = "aggressive aggressive" ]
	[ "$(values priorities)" = "false false" ]
	[[ $(values name) != *critical* ]]
	run -0 "$aiobench" policy --size=64M --load=scan --submission=conservative --passes=1 \
		--bs=4K --compute=1ms --priorities=yes --urgent=rt/2 --background=be/7 --stats=r.json sim:linear
	[ "$(value pages)" = 16384 ]
	[ "$(values prio)" = "rt/2 be/7" ]
	[ "$(value passes)" = 1 ]
}

@test "while a slow query works nothing is outstanding" {
	"$aiobench" policy --size=16M --load=scan --submission=con --passes=1 --critical=0 \
		--compute=10ms --stats=r.json sim:linear,merge=no
	# The first page, 4.6875 ms; then each page 10 ms.
	[ "$(value elapsed_s)" = 10.2446875 ]
	[[ $(value idle_share) == 0.531* ]]
}

@test "an update has a log on a drive of its own" {
	"$aiobench" policy --table=64M --load=update --submission=con --passes=1 --critical=0 --compute=1ms \
		--log=2K --victims=oldest --frames-needed=extent --stats=r.json sim:ultrastar36lzx-like,array=linear:2
	[ "$(values name)" = "read write urgent log" ]
	grep -q '"log_bytes": 2048' r.json
	grep -q '"victims": "oldest"' r.json
	grep -q '"frames_needed": "extent"' r.json
	run -2 "$aiobench" policy --table=4T --load=update --log=2K sim:linear
	[[ $output == *"too small for table and log"* ]]
}

@test "a thread reads an extent with one request" {
	"$aiobench" policy --size=64M --load=scan --submission=con --passes=1 --critical=0 --threads=1 \
		--stats=r.json sim:linear
	[ "$(value requests)" = 64 ]
	[ "$(value pages)" = 4096 ]
	run -2 "$aiobench" policy --load=range --threads=1 --size=64M sim:linear
	[[ $output == *"queries do not share their reads"* ]]
	run -2 "$aiobench" policy --load=scan --threads=1 --extent=65536 --bs=1M sim:linear
	[[ $output == *"too large for one request of a thread"* ]]
	run -0 "$aiobench" policy --direct=0 --create=reserved --remove --size=72M --table=8M --runtime=20ms --threads=1 \
		--load=scan,update --log=1K --buffer=60 --extent=16 f
	[[ $output != *"requests failed"* ]]
}

@test "an extent above the threshold is read as a whole" {
	"$aiobench" policy --size=64M --load=range --submission=con --passes=20 --critical=0 --extent-threshold=13 \
		--stats=r.json sim:linear
	[ "$(value extent_threshold)" = 13 ]
	run -2 "$aiobench" policy --size=64M --load=range --submission=agg --extent-threshold=13 sim:linear
	[[ $output == *"one page at a time"* ]]
}

@test "a file is made, used by all runs and removed" {
	run -0 "$aiobench" policy --direct=0 --create=reserved --remove --size=8M --runtime=50ms \
		--stats=r.json t
	[ ! -e t ]
	[ "$(values load)" = "scan scan scan range range range update update update update update" ]
	[[ $output != *"requests failed"* ]]
	run -0 "$aiobench" policy --direct=0 --create --size=8M --runtime=20ms --load=scan t
	[ "$(stat -c %s t)" = 8388608 ]
}

@test "data are not overwritten unless that is allowed" {
	head -c 8M /dev/zero > t
	run -0 "$aiobench" policy --direct=0 --runtime=20ms --stats=r.json t
	[ "$(values load)" = "scan scan scan range range range" ]
	run -2 "$aiobench" policy --direct=0 --runtime=20ms --load=update t
	[[ $output == *"its data would be lost"* ]]
	cmp t <(head -c 8M /dev/zero)
	run -0 "$aiobench" policy --direct=0 --runtime=20ms --load=update --overwrite t
}

@test "an update not asked for is skipped if the table is too large for it" {
	run -0 "$aiobench" policy --runtime=100ms --stats=r.json sim:linear
	[[ $output == *"the table of an update has at most"*"update is skipped"* ]]
	[ "$(values load)" = "scan scan scan range range range" ]
	run -2 "$aiobench" policy --load=update --runtime=100ms sim:linear
	[[ $output == *"the table of an update has at most"* ]]
}

@test "invalid combinations are refused with the reason" {
	run -2 "$aiobench" policy
	[[ $output == *"missing target"* ]]
	run -2 "$aiobench" policy --load=walk sim:linear
	[[ $output == *"walk"* ]]
	run -2 "$aiobench" policy --load=scan --submission=adaptive sim:linear
	[[ $output == *"nothing to run"* ]]
	run -2 "$aiobench" policy --rw=write sim:linear
	[[ $output == *"aiobench policy: unrecognized option '--rw=write'"* ]]
	run -2 "$aiobench" policy --size=1M sim:linear
	[[ $output == *"extents"* ]]
	run -2 "$aiobench" policy --engine=sync --direct=0 --create --size=8M t
	[[ $output == *"sync"* ]]
	[ ! -e t ]
	run -2 "$aiobench" run --load=scan sim:linear
	[[ $output == *"aiobench run: unrecognized option '--load=scan'"* ]]
}

# refused MESSAGE OPTION...: with one line, before any run, and without a file.
refused()
{
	run -2 "$aiobench" policy --direct=0 --runtime=100ms --stats=r.json "${@:2}"
	echo "${*:2}: $output"
	[[ ${#lines[@]} = 1 && $output == *"$1"* && ! -e r.json && ! -e f ]]
}

@test "options that one of several runs would refuse are refused before the first" {
	head -c 8M /dev/zero >t
	refused "queries do not share their reads" --load=scan,range --threads=1 sim:linear
	refused "queries do not share their reads" --threads=1 --create --size=8M f
	refused "one page at a time" --load=range --extent-threshold=13 --size=64M sim:linear
	refused "one page at a time" --load=scan,range --submission=con --extent-threshold=13 --size=64M sim:linear
	refused "smaller than an extent" --load=range --submission=con --extent-threshold=64 --size=64M sim:linear
	refused "at most 4194304 pages" --load=scan,update sim:linear
	refused "too small for table and log" --load=scan,update --log=1K --create --size=8M f
	refused "must not be 0" --load=scan,update --preflush=0 --size=64M sim:linear
	refused "its data would be lost" --load=scan,update t
	refused "two runs or more" --load=scan --trace=x --size=64M sim:linear
	[ ! -e x ]
	[ "$(id -u)" = 0 ] || refused "CAP_SYS_NICE" --load=scan --urgent=rt t
	[ "$(id -u)" = 0 ] || refused "CAP_SYS_NICE" --urgent=rt --create --size=8M f
	cmp t <(head -c 8M /dev/zero)
	"$aiobench" policy --size=64M --load=scan --submission=con --passes=1 --trace=x sim:linear
	[ -s x ]
}

@test "an option that no run heeds is refused" {
	local at="--size=64M sim:linear" option
	# shellcheck disable=SC2086 # words are wanted
	for option in victims=oldest frames-needed=page log=1K steal=3 flow=3 preflush=2 buffer=50 clients=2 query=9 batch=2; do
		refused "--${option%=*} concerns " --load=scan --$option $at
	done
	# shellcheck disable=SC2086
	for option in ahead=3 batch=2 urgent=be/1 background=be/7; do
		refused "--${option%=*} concerns " --load=range --submission=con --$option $at
	done
	# shellcheck disable=SC2086
	for option in steal=3 preflush=2; do
		refused "--${option%=*} concerns " --load=update --submission=agg --$option $at
	done
	# shellcheck disable=SC2086
	for option in flow=3 ahead=3; do
		refused "--${option%=*} concerns " --load=update --submission=ada,con --$option $at
	done
	# shellcheck disable=SC2086
	for option in urgent=be/1 background=be/7; do
		refused "--${option%=*} concerns " --priorities=no --$option $at
	done
	head -c 8M /dev/zero >t
	refused "--log concerns updates" --log=1K t
	refused "at most 4194304 pages" --log=1K sim:linear
	refused "nothing to run for scan" --load=scan,update --submission=ada --size=64M sim:linear
	refused "nothing to run for adaptive" --load=scan --submission=ada,con --size=64M sim:linear
	run -0 "$aiobench" policy --runtime=1 --load=range --submission=con --extent-threshold=13 --buffer=50 $at
	run -0 "$aiobench" policy --runtime=1 --load=scan,update --steal=3 --flow=3 --preflush=2 --victims=oldest \
		--frames-needed=page --ahead=3 --threads=2 --urgent=be/1 --background=be/7 $at
}

@test "an interrupt ends the runs, and the measurements so far are reported" {
	"$aiobench" policy --direct=0 --create --size=8M --remove --runtime=30 --stats=r.json t \
		> out 2> err &
	sleep 0.7
	kill -TERM $!
	wait $!
	[[ $(<out) == *"(stopped)"* ]]
	[ "$(values load)" = scan ]
	[ ! -e t ]
}

@test "policies are drawn" {
	needs gnuplot
	run -0 "$aiobench" policy --size=64M --runtime=1 --plot=p.png sim:linear
	[ "$(head -c 4 p.png | tail -c 3)" = PNG ]
	run -0 --separate-stderr "$aiobench" policy --size=64M --runtime=1 --load=scan --critical=0 \
		--plot=p.svg sim:linear
	grep -q '</svg>' p.svg
	[ -z "$stderr" ]
}
