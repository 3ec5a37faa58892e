#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Run formation by several threads: nothing waits for ever, and any memory is enough.
. "$BATS_TEST_DIRNAME/suite.bash"

setup() { begin_test tmp; }

@test "input that needs more memory than planned is stored by many threads" {
	seq 250000 | sed 's/$/ x/' | shuf --random-source=<(yes) >in
	sort in >want
	for threads in $(few 5 8 16); do
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
	for threads in $(few 2 3 4 8); do
		for memory in 2M 3M; do
			timeout 60 "$xsort" --csv --header --parallel=$threads -S $memory -T tmp in -o out
			cmp out want
			timeout 60 "$xsort" --csv --header --parallel=$threads -S $memory -T tmp <in | cmp - want
		done
	done
}

# Not in the page cache: two threads have one that reads, and more take turns.
@test "a file on a device is sorted by any number of threads, no more than processors" {
	"$xgen" lines --seed=5 --bytes=6M >in
	"$xgen" lines --seed=6 --bytes=2M >second
	sort in second >want
	sort -s -k2,2 in second >want-stable
	for threads in $(few 1 2 3 8); do
		for memory in 2M 5M 40M; do
			for options in '' '-s -k2,2'; do
				for file in in second; do
					dd if=/dev/null of=$file conv=notrunc,fdatasync oflag=nocache count=0 2>said ||
						skip "no cold files"
				done
				# shellcheck disable=SC2086 # several options
				"$xsort" $options --parallel=$threads -S $memory -T tmp --stats=stats in second -o out
				cmp out "want${options:+-stable}"
				max=$(sed -n 's/.*"max_threads": *\([0-9]*\),.*/\1/p' stats)
				[ "$max" -le $threads ]
				# On a file system in memory, nothing is read from a device.
				grep -q '"input_engine": *"read"' stats || [ "$max" -le "$(nproc)" ]
			done
		done
	done
	[ "$(ls -A tmp)" = '' ]
}
