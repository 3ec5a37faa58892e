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
