#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# --spill-compression: its memory, and equal results.
# no threads
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test
	export TMPDIR=$PWD
}

# value KEY: of the report's part about memory.
value()
{
	sed -n "/^  \"memory\": {/,/}/s/^ *\"$1\": \([0-9]*\),*$/\1/p" r.json
}

@test "hundreds of compressed runs are merged within -S" {
	"$xgen" --bytes=24M -o in records
	for memory in 8M 16M 64M; do
		for how in lz4 zstd; do
			"$xsort" -S $memory --run-size=32K --spill-compression=$how \
				--stats=r.json -o out in
			"$xsort" -C out
			[ "$(sed -n 's/^ *"runs": \([0-9]*\),$/\1/p' r.json | head -n 1)" -gt 500 ]
			[ "$(value overrun_bytes)" -eq 0 ]
			[ -n "${SP_TEST_VARIANT:-}" ] ||
				[ "$(value peak_bytes)" -le $(($(value limit_bytes) + (16 << 20))) ]
		done
	done
}

@test "all keys are empty, and runs by replacement selection" {
	seq 60000 >in
	for readahead in forecast extended; do
		"$xsort" -s -k2 -S 512K --run-size=32K --run-formation=replacement --readahead=$readahead in >out
		cmp in out
	done
}

@test "a merge keeps few records that are longer than its memory" {
	for i in {24..10}; do printf '%d' $i && head -c 3000000 /dev/zero | tr '\0' x && echo; done >long
	LC_ALL=C sort long >want
	"$xsort" -S 2M --parallel=1 --stats=r.json long | cmp - want
	[ -n "${SP_TEST_VARIANT:-}" ] || [ "$(value peak_bytes)" -le $(((18 << 20) + 3 * 3000010)) ]
	"$xsort" -S 2M --parallel=2 --merge-policy=eager --stats=r.json long | cmp - want
	[ -n "${SP_TEST_VARIANT:-}" ] || [ "$(value peak_bytes)" -le $(((18 << 20) + 5 * 3000010)) ]
}

@test "a few long records do not make merges of all runs small" {
	"$xgen" lines -n 200000 --seed=5 -o in
	for i in 1 2 3; do (head -c 150000 /dev/zero | tr '\0' "$i" && echo) >>in; done
	LC_ALL=C "$xsort" -S 600K --parallel=1 --stats=r.json in | cmp - <(LC_ALL=C sort in)
	[ "$(grep -m1 -o '"merges": [0-9]*' r.json | tr -dc 0-9)" -le 20 ]
}
