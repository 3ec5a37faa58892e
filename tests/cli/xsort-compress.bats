#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# --compress-program: runs pass through a program, and its failures are errors of xsort.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test tmp
	seq -w 200000 >sorted
	tac sorted >in
}

teardown()
{
	[ -z "$(ls tmp)" ]
}

# A program ./NAME: its text for packing and for unpacking.
program() # NAME PACK UNPACK
{
	printf '#!/bin/sh\nif [ "$1" = -d ]; then\n%s\nelse\n%s\nfi\n' "$3" "$2" >"$1"
	chmod +x "$1"
}

squeeze() # ARGUMENT...
{
	run --separate-stderr "$xsort" -S 1M -o out "$@"
}

@test "runs are packed and unpacked by the program" {
	program prog 'echo p >>packed; exec gzip -1' 'echo u >>unpacked; exec gzip -d'
	"$xsort" -S 1M --compress-program=./prog in | cmp - sorted
	[ "$(wc -l <packed)" -gt 2 ]
	[ "$(wc -l <packed)" = "$(wc -l <unpacked)" ]
}

@test "the program is found along PATH, and may keep the bytes as they are" {
	mkdir bin
	program bin/same 'exec tr 41 14' 'exec tr 41 14'
	PATH=$PWD/bin:$PATH "$xsort" -S 1M --compress-program=same in | cmp - sorted
}

@test "one thread and several passes make no difference" {
	for options in --parallel=1 --batch-size=2 "--parallel=1 --batch-size=3" --merge-policy=eager; do
		"$xsort" -S 1M $options --compress-program=gzip in | cmp - sorted
	done
}

@test "input that fits in memory starts no program" {
	seq 1000 | tac >small
	"$xsort" -n --compress-program=./absent small | cmp - <(seq 1000)
}

@test "unique, stable and reverse sorts agree with those without a program" {
	awk '{ print $1 % 1000, NR }' in >pairs
	for options in '-u -k1,1n' '-s -k1,1n' '-r' '-k1,1nr'; do
		"$xsort" -S 1M $options --compress-program=gzip pairs >with
		"$xsort" -S 1M $options pairs | cmp - with
	done
}

@test "files are merged through runs when they are more than a merge can take" {
	program prog 'echo p >>packed; exec gzip -1' 'exec gzip -d'
	split -n r/20 -d sorted part
	"$xsort" -m --batch-size=4 --compress-program=./prog part* | cmp - sorted
	[ -s packed ]
}

# As coreutils 9.9 has it in tests/sort/sort-compress.sh.
@test "a program that cannot be executed is reported, and data stays uncompressed" {
	for options in "" --parallel=1 --batch-size=2 -u --merge-policy=eager; do
		squeeze $options --compress-program=missing in
		[ "$status" -eq 0 ]
		# shellcheck disable=SC2154 # bats sets it
		[ "$stderr" = "xsort: could not run compress program 'missing': No such file or directory" ]
		cmp out sorted
	done
	squeeze --compress-program=./in in
	[ "$status" -eq 0 ]
	[ "$stderr" = "xsort: could not run compress program './in': Permission denied" ]
	cmp out sorted
	split -n l/20 -d sorted part
	squeeze -m --batch-size=4 --compress-program=./absent part*
	[ "$stderr" = "xsort: could not run compress program './absent': No such file or directory" ]
	cmp out sorted
	squeeze --compress-program=./absent none
	[ "$stderr" = "xsort: cannot read: none: No such file or directory" ]
}

@test "a program that was there for packing and is not for unpacking is an error" {
	program once 'exec cat' 'exec cat'
	mv once real
	printf '#!/bin/sh\nrm -f once\nexec ./real "$@"\n' >once
	chmod +x once
	squeeze --compress-program=./once in
	[ "$status" -eq 2 ]
	[[ $stderr == *"xsort: could not run compress program './once' -d: No such file or directory" ]]
	[ ! -e out ]
}

@test "a program that fails is an error" {
	local cat='exec cat'

	program packs "cat >/dev/null; exit 3" "$cat"
	program leaves "exit 1" "$cat"
	program stops "exit 0" "$cat"
	program dies 'kill -9 $$' "$cat"
	program unpacks "$cat" "exit 3"
	program late "$cat" "cat; exit 3"
	for p in packs leaves stops dies unpacks late; do
		squeeze --compress-program=./$p in
		echo "$p: $status, $stderr"
		[ "$status" -eq 2 ]
		# a short run fits into the pipe to a program that does not read it
		[ "$stderr" = "xsort: './$p' [-d] terminated abnormally" ] ||
			[ "$p: $stderr" = "stops: xsort: ./stops: [-d] returned other data than was written" ]
		[ ! -e out ]
	done
}

@test "a program that loses or changes something is found out" {
	local cat='exec cat'

	program short "$cat" "head -c 5000"
	program long "$cat" "cat; echo more"
	program other "$cat" "exec tr 3 4"
	for p in short long other; do
		squeeze --compress-program=./$p in
		[ "$status" -eq 2 ]
		[ "$stderr" = "xsort: ./$p: [-d] returned other data than was written" ]
	done
}

@test "programs inherit no descriptor of the sort" {
	program prog 'ls /proc/self/fd >>fds; exec cat' 'ls /proc/self/fd >>fds; exec cat'
	./prog <in >out
	sort -u fds >alone
	"$xsort" -S 1M -o out --compress-program=./prog in
	sort -u fds | cmp - alone
}

@test "other children are not waited for, and an ignored SIGCHLD does not matter" {
	(
		trap '' CHLD
		exec "$xsort" -S 1M -o out --compress-program=gzip in
	)
	cmp out sorted
	bash -c "(sleep 0.2; exit 1) & exec '$xsort' -S 1M -o out --compress-program=gzip in"
	cmp out sorted
}

@test "programs end with a sort that is ended" {
	program prog 'echo $$ >pid; exec cat' 'exec cat'
	mkfifo pipe
	"$xsort" -S 1M --compress-program=./prog pipe >out &
	local sort=$! status=0
	exec 9>pipe
	cat in >&9
	while [ ! -s pid ]; do sleep 0.01; done
	kill "$sort"
	wait "$sort" || status=$?
	exec 9>&-
	[ "$status" -eq 143 ]
	for _ in $(seq 100); do
		kill -0 "$(cat pid)" 2>/dev/null || return 0
		sleep 0.05
	done
	return 1
}

@test "a full disk under the program is the program's failure" {
	program prog 'cat 2>/dev/null >/dev/full' 'exec cat'
	squeeze --compress-program=./prog in
	[ "$status" -eq 2 ]
	[ "$stderr" = "xsort: './prog' [-d] terminated abnormally" ]
}

@test "more runs than descriptors are merged on the way" {
	program prog 'echo p >>packed; exec cat' 'exec cat'
	seq -w 1000000 | tac >many
	for options in --parallel=2 --parallel=1 --merge-policy=eager; do
		(ulimit -n 40 && "$xsort" $options -S 1M -o out --compress-program=./prog many)
		seq -w 1000000 | cmp - out
	done
	[ "$(wc -l <packed)" -gt 200 ]
	split -n r/200 -d -a 3 sorted part
	(ulimit -n 40 && "$xsort" -m --batch-size=2 -o out --compress-program=./prog part*)
	cmp out sorted
}

@test "a report tells the formats" {
	needs jq
	"$xsort" --decompress --compress-output=zstd:5 -o out.zst --stats=stats in
	jq -e '.config | .decompress == "auto" and .compress_output == "zstd" and .compress_level == 5' stats
	"$xsort" --stats=stats -o out in
	jq -e '.config | has("decompress") and .decompress == null and .compress_output == null and .compress_level == 0' stats
}
