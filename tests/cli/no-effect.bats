#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# An option that cannot take effect is refused where another option is the cause, and named where an engine, the kernel
# or a limit is.  aiobench-no-effect.bats has those of aiobench.

bats_require_minimum_version 1.5.0

setup()
{
	export LC_ALL=C
	bin=${BIN:-$BATS_TEST_DIRNAME/../../build/bin}
	cd "$BATS_TEST_TMPDIR" || return
}

# refused MESSAGE COMMAND...: the message is the first line on standard error, and nothing is done.
refused()
{
	local message=$1

	shift
	run --separate-stderr "$@" </dev/null
	# shellcheck disable=SC2154
	[[ ${stderr_lines[0]} == *"$message"* ]] || { echo "$*: $stderr" && false; }
	[ "$status" -ge 1 ]
	[ -z "$output" ]
}

@test "xgen refuses what the order of keys does not heed" {
	for kind in lines records; do
		refused '--theta does not apply to --order=few' "$bin/xgen" $kind -n 3 --order=few --theta=2
		refused '--nearly does not apply to --order=zipf' "$bin/xgen" $kind -n 3 --order=zipf --nearly=0.2
		refused '--distinct does not apply to --order=uniform' "$bin/xgen" $kind -n 3 --distinct=9
		refused '--distinct does not apply to --order=sorted' "$bin/xgen" $kind -n 3 --order=sorted --distinct=9
	done
	run -0 "$bin/xgen" lines -n 3 --distinct=9 --theta=2 --order=zipf
	run -0 "$bin/xgen" lines -n 3 --nearly=0.5 --order=nearly
}

@test "diskprobe refuses what an answer or a probe does not heed" {
	local probe="a device to probe, not --geometry"

	"$bin/diskprobe" --quick -o g.json sim:tiny >/dev/null
	for option in --quick --full --overwrite=0:1M --seed=3 --output=o --plot=p.svg --require --stats=s; do
		refused "${option%%=*} needs $probe" "$bin/diskprobe" --geometry=g.json "$option" adjacent 0
		refused "${option%%=*} needs $probe" "$bin/diskprobe" --geometry=g.json "$option" tracks 0
	done
	[ ! -e o ]
	[ ! -e s ]
	[ ! -e p.svg ]
	refused "--output needs $probe" "$bin/diskprobe" --geometry=g.json -o o --verify sim:tiny
	for option in --step=2 --conservatism=3 --write; do
		refused "${option%%=*} needs adjacent LBN" "$bin/diskprobe" --geometry=g.json "$option" tracks 0
		refused "${option%%=*} needs adjacent LBN" "$bin/diskprobe" "$option" sim:tiny
	done
	run -0 "$bin/diskprobe" --geometry=g.json --verify --seed=3 --stats=s sim:tiny
	[ -s s ]
	run -0 "$bin/diskprobe" --geometry=g.json adjacent 0 --step=2 --conservatism=3 --write
}
