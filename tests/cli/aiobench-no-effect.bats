#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# An option that an engine, the kernel or a limit makes void is named, and such runs are not compared.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test
	head -c 1M /dev/zero >t
}

# without OPTION REASON ARGUMENT...: the run ignores OPTION; a line and the report say so.
without()
{
	local option=$1 reason=$2

	shift 2
	run -0 --separate-stderr "$aiobench" run --direct=0 --io_size=64K --stats=s.json "$@"
	# shellcheck disable=SC2154
	[[ $stderr == *"aiobench: warning: $option had no effect: $reason"* ]]
	[ "$(grep -c -e "$option had no" <<<"$stderr")" -eq 1 ]
	grep -q "\"option\": \"$option\"" s.json
}

@test "files and buffers that an engine cannot register are named" {
	for engine in libaio sync null; do
		without --fixedbufs "the engine $engine cannot register" --fixedbufs --engine=$engine t
		without --registerfiles "the engine $engine cannot" --registerfiles --engine=$engine t
		grep -q '"fixed_buffers": false' s.json
	done
	without --registerfiles 'a simulated target' --registerfiles sim:atlas10k3-like
	without --direct=0 'a simulated target' sim:atlas10k3-like
}

@test "a limit on locked memory is named" {
	local as=()

	if [ "$(id -u)" -eq 0 ]; then
		needs setpriv
		as=(setpriv --bounding-set -ipc_lock)
	fi
	run "${as[@]}" bash -c "ulimit -l 64; '$aiobench' run --direct=0 --engine=io_uring --fixedbufs \
		--depth=64 --bs=16K --io_size=1M --stats=s.json t 2>&1"
	[[ $output != *warning* ]] || [[ $output == *'locked memory is limited to 65536 bytes (ulimit -l)'* ]]
	[ "$status" -eq 0 ] || skip 'no io_uring here'
	[[ $output == *warning* ]] || skip 'this kernel does not limit buffers here'
	run -2 "$aiobench" compare s.json s.json
	[[ $output == *'s.json: cannot be compared: --fixedbufs had no effect: locked memory'* ]]
}

@test "a priority class that is not permitted is named" {
	local as=()

	if [ "$(id -u)" -eq 0 ]; then
		needs setpriv
		as=(setpriv '--bounding-set=-sys_nice,-sys_admin')
	fi
	run -0 "${as[@]}" "$aiobench" run --direct=0 --engine=libaio --io_size=64K --stats=s.json \
		--class=a:prio=rt/0 --class=b:prio=be/4 t
	grep -q '"prio_fallback": true' s.json || skip 'class rt is permitted here'
	[[ $output == *'warning: prio of --class had no effect: class rt needs CAP_SYS_NICE'* ]]
	[ "$(grep -c CAP_SYS_NICE <<<"$output")" -eq 1 ]
	run -2 "$aiobench" compare s.json s.json
	[[ $output == *'s.json: cannot be compared: prio of --class had no effect: class rt needs'* ]]
}

@test "watch refuses a sample rate where nothing is sampled" {
	run -2 "$aiobench" watch --source=trace --sample_rate=9 1
	[[ ${lines[0]} == *'--sample_rate and --source=trace are incompatible'* ]]
}

@test "settings that are the same in effect are not compared" {
	run -2 "$aiobench" compare --direct=0 --engine=libaio --runtime=0.2 --a= --b=--fixedbufs t
	[[ ${lines[-1]} == *'setting B cannot be compared: --fixedbufs had no effect'* ]]
	run -2 "$aiobench" compare --direct=0 --engine=libaio --runtime=0.2 --a=--registerfiles --b= t
	[[ ${lines[-1]} == *'setting A cannot be compared: --registerfiles had no effect'* ]]
	run -0 "$aiobench" compare --direct=0 --engine=libaio --runtime=0.2 --a= --b=--depth=2 t
}

@test "options that contradict others are named" {
	without --rwmixread '--rw is not a mix' --rwmixread=30 t
	without --rate_process 'no class has a rate' --rate_process=poisson t
	without --depth 'each class has a depth of its own' --depth=9 --class=a:depth=2 t
	without --rate_iops 'each class has a depth or rate' --rate_iops=99999 --class=a:depth=2 t
	without --iodepth_batch 'sync has one request' --engine=sync --depth=4 --iodepth_batch=4 t
	without 'prio of --class' 'the engine null' --engine=null --class=a:prio=be/1 t
	run -2 "$aiobench" mix --scans --shares=50 t
	[[ ${lines[-1]} == *'--shares and --scans are incompatible' ]]
	run -2 "$aiobench" run --create --size=1M sim:atlas10k3-like
	[[ ${lines[-1]} == *'cannot be created' ]]
}

@test "options that take effect are not named" {
	run -0 --separate-stderr "$aiobench" run --direct=0 --io_size=64K --rw=randrw --rwmixread=30 --overwrite \
		--rate_iops=99999 --rate_process=poisson --engine=libaio --stats=s.json t
	[ -z "$stderr" ]
	grep -q '"no_effect": \[\]' s.json
	run -0 --separate-stderr "$aiobench" sweep --direct=0 --depth=2 --runtime=0.2 --fixedbufs \
		--engine=libaio --stats=s.json t
	[[ $stderr == *'--fixedbufs had no effect'* ]]
	grep -q '"option": "--fixedbufs"' s.json
}
