#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Run formation by several threads: nothing waits for ever, and any memory is enough.
. "$BATS_TEST_DIRNAME/suite.bash"

setup() { begin_test tmp; }

@test "input that needs more memory than planned is stored by many threads" {
	seq 250000 | sed 's/$/ x/' | shuf --random-source=<(yes) >in
	sort in >want
	for threads in 5 8 16; do
		for memory in 6M 8M 9M 10M 11M; do
			"$xsort" -S $memory --parallel=$threads -T tmp in -o out
			cmp out want
		done
	done
	[ "$(ls -A tmp)" = '' ]
}

# Repeated records have extended a slot before the threads start.
@test "threads that take blocks have a slot each" {
	awk 'BEGIN {
		srand(3)
		for (i = 0; i < 12; i++) {
			printf "%d,\"", i
			n = 1000 + int(59000 * rand())
			for (k = 0; k < n; k++)
				printf "\"\",\"\"\n"
			print "\",1"
		}
		for (i = 0; i < 150000; i++)
			printf "%d,x\n", int(1000000 * rand())
	}' >in
	"$xsort" --csv --header --parallel=1 in >want
	for threads in 2 3 4 8; do
		for memory in 2M 3M; do
			timeout 60 "$xsort" --csv --header --parallel=$threads -S $memory -T tmp in -o out
			cmp out want
			timeout 60 "$xsort" --csv --header --parallel=$threads -S $memory -T tmp <in | cmp - want
		done
	done
}
