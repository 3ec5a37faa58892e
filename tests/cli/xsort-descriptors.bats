#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# bats file_tags=slow
#
# Few descriptors: fan-in and temporary space adapt to their number.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	shim=$build/tests/shim/failcall.so
	begin_test
	mkdir m
}

# parts N: files m/0001 and so on with a line each.
parts()
{
	for i in $(seq -f %04g "$1"); do echo "$i" >"m/$i"; done
}

# limited LIMIT COMMAND...: it runs with this many descriptors.
limited()
{
	local limit=$1

	shift
	(exec 3>&- 4>&- 5>&- 6>&-; ulimit -n "$limit" && "$@")
}

@test "-m merges twice as many files as there are descriptors" {
	parts 1000
	for limit in 7 8 10 16 31 32 33 64 200 500; do
		cat $(seq -f m/%04g $((2 * limit))) >want
		for options in '' --parallel=1 --parallel=4 --engine=sync --engine=io_uring; do
			[[ $options != --engine=io_uring || $limit -ge 12 ]] || continue
			limited $limit "$xsort" -m $options $(seq -f m/%04g $((2 * limit))) >out ||
				{ echo "# limit $limit $options"; false; }
			cmp want out
			limited $limit "$xsort" -m $options -o out $(seq -f m/%04g $((2 * limit)))
			cmp want out
		done
	done
}

@test "inherited descriptors and pipes count" {
	parts 40
	(seq -f %04g 40; seq -w 99) | sort >want
	ulimit -n 32
	exec 11</dev/null 12</dev/null 13</dev/null 14</dev/null 15</dev/null
	"$xsort" -m <(seq -w 1 3 99) <(seq -w 2 3 99) <(seq -w 3 3 99) m/* >out
	cmp want out
}

@test "spilled runs, programs, joins and indexes" {
	seq 30000 | awk '{ print ($1 * 7919) % 30011, "payload payload" }' >in
	sort in >want
	awk '{ print $1, "x" }' in >other
	sort other | join want - >joined
	for limit in 7 8 10 12 16 20 31 32 40; do
		limited $limit "$xsort" -S 600K in | cmp - want
		limited $limit "$xsort" -S 600K --parallel=4 -o out in
		cmp want out
		limited $limit "$xsort" -S 600K --compress-program=gzip -o out in 2>err
		cmp want out
		[ ! -s err ] || grep -q "^xsort: could not run compress program 'gzip': Too many open files$" err
		limited $limit "$xjoin" -S 400K --output=out in other
		sort out | cmp - joined
		limited $limit "$xindex" build -S 1M -o index other
		"$xindex" check index
	done
}

@test "the merge continues with fewer files if the kernel refuses one" {
	[ -e "$shim" ] || skip "no shim in this build"
	parts 20
	cat m/* >want
	for error in EMFILE ENFILE; do
		for times in 1 2; do
			for at in $(seq 24); do
				echo old >out
				if FAILCALL_CALLS=open FAILCALL_ERRNO=$error FAILCALL_AT=$at FAILCALL_TIMES=$times \
					LD_PRELOAD=$shim "$xsort" -m -o out m/* 2>err; then
					cmp want out
				else
					echo "# $error at $at, $times times: $(<err)"
					grep -qE '^xsort: open failed: (out|m/0001): Too many open files' err
					[ "$(<out)" = old ]
				fi
			done
		done
	done
}
