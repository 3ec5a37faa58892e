#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
. "$BATS_TEST_DIRNAME/suite.bash"
load keys

@test "the keys of its report are those that are promised" {
	"$aiobench" preflight --depth=5 --stats=r.json sim:linear > /dev/null
	has_keys r.json preflight preflight.layers[] preflight.remarks[]
}

@test "a simulated device: reports whether the scheduler heeds priorities" {
	run -0 "$aiobench" preflight --depth=10 sim:linear
	[[ ${lines[0]} == "sim:linear: priorities do not act" && $output == *"scheduler noop does not distinguish"* ]]
	run -0 "$aiobench" preflight --depth=10 --stats=r.json sim:linear,sched=strict
	[[ ${lines[0]} == *"priorities act" ]]
	grep -q '"kind": "preflight"' r.json
	grep -q '"priorities_act": "yes"' r.json
}

@test "a file: reports the layers below it and changes nothing" {
	echo x > t
	run -0 "$aiobench" preflight --depth=64 t
	[[ ${lines[0]} == "t: priorities "* ]]
	[ "$(cat t)" = x ]
	run -0 "$aiobench" preflight --direct=0 t
	[[ ${lines[0]} == "t: priorities do not act" && $output == *"buffered reads have the priority of their thread"* ]]
	run -0 "$aiobench" preflight --class a:prio=be/0 --class b: t
	[[ $output != *"all requests have the same priority"* ]]
	run -0 "$aiobench" preflight --class a:prio=be/4 --class b: t
	[[ $output == *"all requests have the same priority"* ]]
}

@test "an invalid target is reported" {
	run -2 "$aiobench" preflight absent
	[[ $output == *"absent: No such file or directory" ]]
	run -2 "$aiobench" preflight .
	[[ $output == *"neither a regular file nor a block device"* ]]
	run -2 "$aiobench" preflight
	[[ $output == *"missing target"* ]]
}

@test "a run with priorities reports it first, one without does not" {
	run -0 "$aiobench" run --runtime=5 --depth=10 --stats=r.json sim:linear --class a:share=10,prio=rt --class b:
	[[ ${lines[0]} == "sim:linear: priorities do not act" ]]
	grep -q '"priorities_act": "no"' r.json
	run -0 "$aiobench" run --runtime=5 --stats=r.json sim:linear
	[[ $output != *priorities* ]]
	run ! grep -q priorities_act r.json
}

@test "a replay and policies with priorities report it first, too" {
	"$aiobench" run --runtime=1 --depth=10 --trace=t.trace sim:linear --class a:share=50,prio=rt --class b:
	run -0 "$aiobench" replay --stats=r.json t.trace sim:linear
	[[ ${lines[0]} == "sim:linear: priorities do not act" ]]
	grep -q '"priorities_act": "no"' r.json
	"$aiobench" run --runtime=1 --depth=10 --trace=t.trace sim:linear
	run -0 "$aiobench" replay --stats=r.json t.trace sim:linear
	[[ $output != *priorities* ]]
	run -0 "$aiobench" policy --load=scan --size=64M --runtime=1 --stats=r.json sim:linear
	[[ ${lines[0]} == "sim:linear: priorities do not act" ]]
	grep -q '"priorities_act": "no"' r.json
	run -0 "$aiobench" policy --load=scan --size=64M --runtime=1 --priorities=no --stats=r.json sim:linear
	[[ $output != *"priorities do not act"* ]]
}

@test "a file that is to be created is judged by its folder" {
	mkdir d
	run -0 "$aiobench" run --engine=sync --direct=0 --create=sparse --remove --size=1M --io_size=64K d/t \
		--class a:prio=idle --class b:
	[[ ${lines[0]} == "d/t: priorities "* ]]
}
