#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# diskprobe finds a drive that vdisk emulates in real time, slowed down so that
# this computer's lateness is small compared with a revolution.  That takes five minutes of a quiet machine:
# SP_TEST_LONG=1 scripts/run-tests tests/cli/vdisk-probe.bats
# bats file_tags=slow
. "$BATS_TEST_DIRNAME/suite.bash"
load keys

setup()
{
	[ -n "${SP_TEST_LONG:-}" ] || skip "takes five minutes, and a quiet machine: SP_TEST_LONG=1"
	[ -x "$vdisk" ] || skip "needs libfuse3, without which vdisk is not built"
	[ -r /dev/fuse ] && [ -w /dev/fuse ] || skip "/dev/fuse cannot be used here"
	[ "$(id -u)" -eq 0 ] || needs fusermount3
	begin_test
	mkdir m
	pid=
}

teardown()
{
	[ -z "$pid" ] || kill "$pid" || true
}

# The track of every block, without its angle.
tracks()
{
	seq 0 1385 | xargs "$diskprobe" --geometry="$1" tracks | sed 's/ angle .*//'
}

@test "tiny through vdisk is found as in virtual time, in less than ten minutes" {
	needs jq
	"$vdisk" --dilation=4 tiny m >out 2>err 3>&- &
	pid=$!
	for ((i = 0; i < 200; i++)); do
		[ -s out ] && break
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.05
	done
	[ -s out ] || skip "FUSE may not be used here: $(head -n 1 err)"
	"$diskprobe" sim:tiny,noise=20us -o sim.json >/dev/null
	run -0 timeout 600 "$diskprobe" "$(<out)" -o real.json
	late=$(jq '.late_us.p99 | floor' m/status)
	tracks sim.json >sim.txt
	tracks real.json >real.txt || true
	cmp sim.txt real.txt || [ "$late" -gt 1000 ] || return 1
	cmp -s sim.txt real.txt || skip "this computer is late by $late us"
	[[ $output == *": rotating: "* ]]
}
