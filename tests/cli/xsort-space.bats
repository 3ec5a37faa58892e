#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# no threads
# Temporary space: the need of a sort, and the free space.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	needs gzip jq
	begin_test
	seq -w 300000 >in
	# More than any disk has; nothing of it is stored.
	truncate -s 4T huge 2>/dev/null || skip "no sparse file of 4 TB here"
	huge=()
	for _ in $(seq 2000); do huge+=(huge); done
}

@test "--require-space ends before anything is written" {
	run -2 --separate-stderr "$xsort" --require-space -T. -S 1M --record-size=4096 -o out "${huge[@]}"
	[ -z "$output" ]
	[ ! -e out ]
	[[ $stderr == "xsort: the sort might need 7.8 PiB of temporary space, and "*" are free: -T needs a folder with 7.8 PiB free"$'\n'"xsort: nothing was sorted, because of --require-space" ]]
	"$xsort" --require-space -T. -T. -S 1M -r in | cmp - <(tac in)
	"$xsort" --require-space -S 64M -T no/such/directory in | cmp - in
	run -2 "$xsort" --require-space -S 1M -T no/such/directory in
	[[ $output == *"no/such/directory: No such file or directory" ]]
}

@test "without it that is a warning, but not under the name sort" {
	ln -s "$(command -v "$xsort")" sort
	ulimit -f 100 # so that it soon ends
	for program in "$xsort" ./sort; do
		# Zeros, of which whole records would be kept once.
		run ! --separate-stderr "$program" -T. -S 1M --record-size=4096 --bkey=0:8 -o out "${huge[@]}"
		[ ! -e out ]
		if [ "$program" = ./sort ]; then
			[[ $stderr != *warning* ]]
		else
			[[ $stderr == "xsort: warning: the sort might need 7.8 PiB of temporary space, and "* ]]
		fi
	done
	run -0 --separate-stderr "$xsort" -S 64M -o /dev/null in
	[ -z "$stderr" ]
}

@test "the size of pipes and compressed inputs is unknown" {
	cat in | run -0 --separate-stderr "$xsort" -S 1M -T. -o out
	[ -z "$stderr" ]
	gzip -c in >in.gz
	for input in <(cat in) "in.gz --decompress"; do
		# shellcheck disable=SC2086 # two words
		run -2 "$xsort" --require-space -S 1M -o out2 $input
		[[ $output == "xsort: --require-space: the size of the input is unknown: "* ]]
		[ ! -e out2 ]
	done
	"$xsort" --require-space --decompress -S 4M -T. in | cmp - in
	for option in -c -m --volume=sim:tiny --splitters=2; do
		run -2 "$xsort" --require-space $option in
	done
}

@test "--explain tells of threads without enough memory" {
	seq 1000000 | shuf >in
	run --separate-stderr -0 "$xsort" --explain -S 1M --parallel=64 in
	[[ $stderr == *"At most 2 of 64 threads form runs"* ]]
	"$xsort" --explain --stats=out -S 1M --parallel=64 in
	grep -q '"threads": 2' out
	grep -q '"max_threads": 64' out
	"$xsort" -S 1M --parallel=64 --trace-tasks=log in >/dev/null
	[ "$(grep -c 'form/parts.c:work' log)" = 1 ] # and the first thread
	run --separate-stderr -0 "$xsort" --explain -S 64M --parallel=2 in
	[[ $stderr != *"form runs"* ]]
}

@test "--explain tells the space and the plan in words, as estimates" {
	run -0 --separate-stderr "$xsort" --explain -T. -S 1M in
	[[ $stderr == *"The device is unknown"*"the plan assumes"* ]]
	[[ $stderr == "Estimates, made before any data is read:"* ]]
	[[ $stderr == *"does not fit into 1.0 MiB of memory"*"Temporary space: at most 2.0 MiB needed; "*" free"* ]]
	run -0 --separate-stderr "$xsort" --explain -T. -S 1M --record-size=4096 "${huge[@]}"
	[[ $stderr == *"That might not be enough."* ]]
	awk 'length > 80 { bad = 1 } END { exit bad }' <<<"$stderr"
	run -0 --separate-stderr "$xsort" --explain -S 64M in
	[[ $stderr == *"fits into 64.0 MiB of memory: no temporary files."* ]]
	: >empty
	run -0 --separate-stderr "$xsort" --explain empty
	[[ $stderr == *"The input, at most 1 byte, fits into "*": no temporary files."* ]]
	truncate -s 400M sparse
	run -0 --separate-stderr "$xsort" --explain -T. -S 2G sparse
	[[ $stderr == *"The input, 400.0 MiB, fits into 2.0 GiB of memory"* ]]
	[[ $stderr != *"does not fit"* ]]
	run -0 --separate-stderr "$xsort" --explain -S 1M <(cat in)
	[[ $stderr == *"the input is unknown"*"the need is unknown"* ]]
	gzip -c in >in.gz
	run -0 --separate-stderr "$xsort" --explain -S 4M --decompress in.gz
	[[ $stderr == *"the input is unknown"* ]]
	awk 'length > 80 { bad = 1 } END { exit bad }' <<<"$stderr"
}

@test "only as much of a tmpfs counts as there is memory" {
	[ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] || skip "/dev/shm is not a tmpfs"
	run -0 --separate-stderr "$xsort" --explain -T /dev/shm -S 1M in
	[[ $stderr == *" free, "*" of it memory."* ]]
	run -2 --separate-stderr "$xsort" --require-space -T /dev/shm -S 1M --record-size=4096 -o out "${huge[@]}"
}

@test "with --limit only the first records of each run need space" {
	"$xsort" --explain --stats=all.json -S 1M in
	"$xsort" --explain --stats=top.json -S 1M --limit=100 in
	all=$(jq .plan.spill_bytes all.json) top=$(jq .plan.spill_bytes top.json)
	[ "$top" -gt 0 ]
	[ "$top" -lt $((all / 10)) ]
}

@test "merges reuse the space of runs that several threads have written" {
	"$xgen" records --bytes=12M >records
	for parallel in $(few 1 2 4); do
		"$xsort" -S 1M --parallel=$parallel --fan-in=4 -T. --stats=s.json -o out records
		# With a file for each thread, of which none is reused, it is 9 MB.
		[ "$(jq .spill.recycled_bytes s.json)" -gt 12000000 ]
	done
}

@test "if temporary data finds no space, the message names options that help" {
	shim=$(realpath -e "$build/tests/shim/failcall.so") || skip "no shim in this build"
	seq 300000 >numbers
	export FAILCALL_CALLS="write pwrite fallocate" FAILCALL_AT=1 FAILCALL_TIMES=0 FAILCALL_ERRNO=ENOSPC FAILCALL_FD_MIN=3
	run -2 env LD_PRELOAD="$shim" "$xsort" -S 1M -T. --engine=sync --parallel=1 -o out numbers
	[[ $output == "xsort: "*" failed: "*": No space left on device: -T "*" free, and --spill-compression=lz4 needs less space" ]]
	ln -s "$(realpath "$xsort")" sort
	run -2 env LD_PRELOAD="$shim" ./sort -S 1M -T. -o out numbers
	[[ $output != *--spill-compression* ]]
	run -1 env LD_PRELOAD="$shim" "$xjoin" -S 1M -T. --engine=sync --parallel=1 --algorithm=grace numbers numbers
	[[ $output == "xjoin: "*": No space left on device: -T "* ]]
}

# advised: the folder that $output names.
advised()
{
	local dir=${output#*: -T }

	[[ $output == *": -T "*" has "*" free"* ]] || return
	echo "${dir%% has *}"
}

@test "the folder that the message names is of another file system than the full one" {
	shim=$(realpath -e "$build/tests/shim/failcall.so") || skip "no shim in this build"
	[ "$(stat -c %d /dev/shm 2>/dev/null)" != "$(stat -c %d .)" ] && [ -w /dev/shm ] || skip "one file system"
	seq 300000 >numbers
	export FAILCALL_CALLS="write pwrite fallocate" FAILCALL_AT=1 FAILCALL_TIMES=0 FAILCALL_ERRNO=ENOSPC FAILCALL_FD_MIN=3
	run -2 env LD_PRELOAD="$shim" TMPDIR=/dev/shm "$xsort" -S 1M -T. --engine=sync --parallel=1 -o out numbers
	dir=$(advised)
	[ "$(stat -c %d "$dir")" != "$(stat -c %d .)" ]
	run -1 env LD_PRELOAD="$shim" TMPDIR=/dev/shm "$xjoin" -S 1M -T. --engine=sync --parallel=1 --algorithm=grace numbers numbers
	dir=$(advised)
	[ "$(stat -c %d "$dir")" != "$(stat -c %d .)" ]
	# Every file system is given.
	run -2 env LD_PRELOAD="$shim" "$xsort" -S 1M -T. -T/dev/shm -T/tmp -T/var/tmp --engine=sync --parallel=1 -o out numbers
	[[ $output == *": -T needs a folder with "*" free, and "* ]]
}

@test "for a missing folder, the message names one with space" {
	seq 300000 >numbers
	run -2 env TMPDIR=/nowhere "$xsort" -S 1M -o out numbers
	[[ $output == "xsort: cannot create temporary file in '/nowhere': No such file or directory: -T "* ]]
	dir=$(advised)
	[ -w "$dir" ]
	"$xsort" -S 1M -T "$dir" -n numbers | cmp - numbers
	run -1 env TMPDIR=/nowhere "$xjoin" -S 1M --algorithm=grace numbers numbers
	advised
	ln -s "$(realpath "$xsort")" sort
	run -2 ./sort -S 1M -T/nowhere numbers
	[ "$output" = "sort: cannot create temporary file in '/nowhere': No such file or directory" ]
}
