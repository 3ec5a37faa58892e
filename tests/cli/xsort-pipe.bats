#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The final merge of many runs for a pipe, with one thread and with more.
. "$BATS_TEST_DIRNAME/suite.bash"

setup() { begin_test tmp; }

# Runs of half a megabyte, so that there are enough of them.
piped()
{
	"$xsort" -S 16M --run-size=512K -T tmp --stats=stats "$@" | cat
	return "${PIPESTATUS[0]}"
}

# Keys of which there are many equal ones.
keyed() { "$xgen" records --seed=7 --bytes=12M | tr ' ' _ | sed 's/^..\(.\)\(.\)/\1 \2/'; }

@test "the result does not depend on the number of threads" {
	keyed >in
	sort in >want
	for threads in $(few 1 2 8); do
		piped --parallel=$threads in >out
		cmp out want
		# What was planned again counts all spilled runs.
		spilled=$(sed -n 's/.*"spilled_runs": *\([0-9]*\).*/\1/p' stats)
		[ "$(sed -n '/"replan"/,/strategies/s/.*"runs": *\([0-9]*\).*/\1/p' stats)" = "$spilled" ]
	done
	[ "$(ls -A tmp)" = '' ]
}

@test "equal keys keep their order, and -u keeps the first" {
	keyed >in
	sort -s -k1,1 in >want
	sort -u -k1,1 in >first
	for threads in $(few 2 4); do
		piped --parallel=$threads -s -k1,1 in | cmp - want
		piped --parallel=$threads -s -r -k1,1 in >out
		sort -s -r -k1,1 in | cmp - out
		piped --parallel=$threads -u -k1,1 in | cmp - first
	done
}

@test "--limit ends it early, --count counts" {
	keyed >in
	piped --parallel=3 --limit=30000 -k1,1 in >out
	sort -k1,1 in | head -n 30000 | cmp - out
	piped --parallel=3 -u --count -k1,1 in >out
	sort -s -k1,1 in | cut -c1 | uniq -c | awk '{ print $1 }' >want
	awk '{ print $1 }' out | cmp - want
}

@test "a reader that goes away ends it" {
	keyed >in
	piped --parallel=4 in | head -n 5 >out
	sort in | head -n 5 | cmp - out
	[ "$(ls -A tmp)" = '' ]
}

# And records larger than the output buffers.
keyed_and_large()
{
	local i

	keyed
	for i in 9 z 3 1 5; do
		echo "$i$(head -c 300000 /dev/zero | tr '\0' m)"
	done
}

@test "records larger than the output buffers, packed pages" {
	keyed_and_large >in
	sort in >want
	piped --parallel=3 in | cmp - want
	piped --parallel=3 --spill-compression=lz4 in | cmp - want
}

@test "the same in a locale, with keys by strxfrm" {
	export LOCPATH=$BATS_TEST_DIRNAME/../../build/locale LC_ALL=en_US.UTF-8
	[ -d "$LOCPATH/$LC_ALL" ] || skip "needs the locale $LC_ALL in build/locale"
	keyed_and_large >in
	sort in >want
	piped --parallel=3 in | cmp - want
}

@test "sizes set by hand, a simulated machine" {
	keyed >in
	sort in >want
	for option in --readahead=double --merge-buffer=8M --volume=sim:linear; do
		piped --parallel=4 $option in | cmp - want
	done
}

# spilled KIND: bytes read or written of temporary data.
spilled() { sed -n '/"spill"/,/}/s/.*"'"$1"'_bytes": *\([0-9]*\).*/\1/p' stats; }

@test "one thread reads each page once, others those at cuts up to four times" {
	keyed >in
	piped --parallel=1 in >/dev/null
	[ "$(spilled read)" = "$(spilled write)" ]
	piped --parallel=4 in >/dev/null
	again=$((3 * $(value merge_parts stats) * $(value spilled_runs stats) * $(value page_bytes stats)))
	[ "$again" -gt 0 ]
	[ "$(spilled read)" -ge "$(spilled write)" ]
	[ "$(spilled read)" -le $(($(spilled write) + again)) ]
}

@test "few descriptors" {
	keyed >in
	sort in >want
	(ulimit -n 9 && piped --parallel=4 in >out)
	cmp out want
}

@test "the final merge of a pipe is divided among threads" {
	seq -w 2000000 | "$xsort" -S 32M --parallel=2 -T tmp -k1.3 --stats=stats | md5sum >out
	seq -w 2000000 | sort -k1.3 | md5sum | cmp - out
	grep -q '"merge_parts": [1-9]' stats
}
