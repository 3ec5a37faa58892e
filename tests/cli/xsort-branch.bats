#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The final merge for a pipe is divided among threads, and gives the same result.
. "$BATS_TEST_DIRNAME/suite.bash"

setup() { begin_test tmp; }

# Runs of half a megabyte, so that there are enough of them.
branched()
{
	"$xsort" -S 16M --run-size=512K -T tmp --stats=stats "$@" | cat
	return "${PIPESTATUS[0]}"
}
branches() { sed -n 's/.*"merge_branches": *\([0-9]*\).*/\1/p' stats; }

# Keys of which there are many equal ones.
keyed() { "$xgen" records --seed=7 --bytes=12M | tr ' ' _ | sed 's/^..\(.\)\(.\)/\1 \2/'; }

@test "branches by the number of threads, and the same result" {
	keyed >in
	sort in >want
	for threads in 1 2 8; do
		branched --parallel=$threads in >out
		cmp out want
		[ "$(branches)" = $((threads > 4 ? 3 : threads - 1)) ]
		# What was planned again counts all spilled runs, those of branches too.
		spilled=$(sed -n 's/.*"spilled_runs": *\([0-9]*\).*/\1/p' stats)
		[ "$(sed -n '/"replan"/,/strategies/s/.*"runs": *\([0-9]*\).*/\1/p' stats)" = "$spilled" ]
	done
	[ "$(ls -A tmp)" = '' ]
}

@test "equal keys keep their order, and -u keeps the first" {
	keyed >in
	sort -s -k1,1 in >want
	sort -u -k1,1 in >first
	for threads in 2 4; do
		branched --parallel=$threads -s -k1,1 in | cmp - want
		[ "$(branches)" = $((threads - 1)) ]
		branched --parallel=$threads -s -r -k1,1 in >out
		sort -s -r -k1,1 in | cmp - out
		branched --parallel=$threads -u -k1,1 in | cmp - first
	done
}

@test "--top ends branches early, --count counts over them" {
	keyed >in
	branched --parallel=3 --top=30000 -k1,1 in >out
	[ "$(branches)" = 2 ]
	sort -k1,1 in | head -n 30000 | cmp - out
	branched --parallel=3 -u --count -k1,1 in >out
	sort -s -k1,1 in | cut -c1 | uniq -c | awk '{ print $1 }' >want
	awk '{ print $1 }' out | cmp - want
}

@test "a reader that goes away ends them" {
	keyed >in
	branched --parallel=4 in | head -n 5 >out
	sort in | head -n 5 | cmp - out
	[ "$(ls -A tmp)" = '' ]
}

# And records larger than a branch's buffers.
keyed_and_large()
{
	local i

	keyed
	for i in 9 z 3 1 5; do
		echo "$i$(head -c 300000 /dev/zero | tr '\0' m)"
	done
}

@test "records larger than a branch's buffers, packed pages" {
	keyed_and_large >in
	sort in >want
	branched --parallel=3 in | cmp - want
	[ "$(branches)" = 2 ]
	branched --parallel=3 --spill-compression=lz4 in | cmp - want
	[ "$(branches)" = 2 ]
}

@test "the same in a locale, with keys by strxfrm" {
	export LOCPATH=$BATS_TEST_DIRNAME/../../build/locale LC_ALL=en_US.UTF-8
	[ -d "$LOCPATH/$LC_ALL" ] || skip "needs the locale $LC_ALL in build/locale"
	keyed_and_large >in
	sort in >want
	branched --parallel=3 in | cmp - want
	[ "$(branches)" = 2 ]
}

@test "sizes set by hand disable branches" {
	keyed >in
	branched --parallel=4 --readahead=double in >/dev/null
	[ "$(branches)" = 0 ]
	branched --parallel=4 --merge-buffer=8M in >/dev/null
	[ "$(branches)" = 0 ]
	branched --parallel=4 --volume=sim:linear in >/dev/null
	[ "$(branches)" = 0 ]
}

@test "all that branches read is counted" {
	keyed >in
	branched --parallel=1 in >/dev/null
	sed -n '/"spill"/,/}/s/.*"read_bytes": *\([0-9]*\).*/\1/p' stats >want
	branched --parallel=4 in >/dev/null
	sed -n '/"spill"/,/}/s/.*"read_bytes": *\([0-9]*\).*/\1/p' stats | cmp - want
	[ -s want ]
}

@test "few descriptors: its runs stay with the one merge" {
	keyed >in
	sort in >want
	(ulimit -n 9 && branched --parallel=4 in >out)
	cmp out want
}
