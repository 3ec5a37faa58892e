#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# no threads
#
# Where the system grants no threads (the limit on processes), or none of io_uring's
# calls (a container's filter): without --engine another engine is used.
# If the control group has less memory than -S, there is a warning.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	shim=$build/tests/shim/confine.so
	[ -e "$shim" ] || skip 'no shim in this build'
	begin_test
	# Root becomes nobody there.
	chmod 777 .
	export TMPDIR=$PWD
}

# confined HOW COMMAND...: as tests/shim/confine.c says.
confined()
{
	CONFINE=$1 LD_PRELOAD=$shim "${@:2}"
}

possible()
{
	confined "$1" true || skip "no '$1' here"
}

# engine FILE: the engine of the spill in a report.
engine()
{
	sed -n '/^  "io": {/,/^  }/s/^ *"engine": "\(.*\)",*$/\1/p' "$1"
}

sorts()
{
	possible "$1"
	"$xgen" records --seed=5 --bytes=9M -o in
	"$xsort" in >want
	for more in '' --direct=never --direct=always --parallel=3 --spill-compression=lz4; do
		# shellcheck disable=SC2086 # nothing, where it is empty
		confined "$1" "$xsort" -S 1M $more --stats=report in >out
		cmp out want
		[ "$(engine report)" != io_uring ]
	done
}

@test "xsort without threads" { sorts threads; }
@test "xsort where io_uring is forbidden" { sorts eperm; }
@test "xsort where there is no io_uring" { sorts enosys; }
@test "xsort without threads and io_uring" { sorts threads,eperm; }

joins()
{
	possible "$1"
	seq -f '%g abcdefghijklmnopqrstuvwxyz' 90000 >a
	seq -f '%g ABCDEFG' 1 2 150000 >b
	"$xjoin" a b | "$xsort" >want
	for direct in never always; do
		confined "$1" "$xjoin" -S 1M --algorithm=hybrid --direct=$direct --stats=report a b >out
		"$xsort" out | cmp - want
		[ "$(engine report)" != io_uring ]
	done
}

@test "xjoin without threads" { joins threads; }
@test "xjoin where io_uring is forbidden" { joins eperm; }
@test "xjoin where there is no io_uring" { joins enosys; }

benches()
{
	possible "$1"
	confined "$1" "$aiobench" run --create --size=1M --direct=0 --rw=randwrite --depth=8 \
		--io_size=1M --stats=report c/file
	[ "$(engine report)" != io_uring ]
	grep -q '"requests": 256,' report
}

@test "aiobench where io_uring is forbidden" { mkdir c && benches eperm; }
@test "aiobench without threads" { mkdir c && chmod 777 c && benches threads; }

@test "an engine asked for by name that is forbidden is one error" {
	possible eperm
	"$xgen" records --seed=5 --bytes=3M -o in
	run -2 --separate-stderr confined eperm "$xsort" -S 1M --engine=io_uring in
	# shellcheck disable=SC2154 # run sets it
	[ "$stderr" = 'xsort: open failed: io_uring: Operation not permitted' ]
	[ -z "$output" ]
	run -1 --separate-stderr confined enosys "$xjoin" -S 512K --algorithm=hybrid --engine=io_uring in in
	[ "$stderr" = 'xjoin: io_uring: Function not implemented' ]
	run -2 --separate-stderr confined eperm "$aiobench" run --engine=io_uring --io_size=4K in
	[ "$stderr" = 'aiobench: io_uring: Operation not permitted' ]
}

@test "an engine asked for by name that gets no threads is one error" {
	possible threads
	mkdir -m 777 tmp
	"$xgen" records --seed=5 --bytes=3M -o in
	run --separate-stderr confined threads "$xsort" -S 1M -T tmp --direct=never --engine=io_uring in
	# Some file systems need no threads.
	if [ "$status" = 0 ]; then
		"$xsort" in | cmp - <(echo "$output")
	else
		[ "$status" = 2 ]
		# shellcheck disable=SC2154 # run sets it
		[[ $stderr == 'xsort: '*': io_uring gets no thread: the limit on processes is reached' ]]
		[ "$(wc -l <<<"$stderr")" = 1 ]
		[ -z "$output" ]
	fi
	[ -z "$(ls tmp)" ]
}

@test "xsort --debug without threads" {
	possible threads
	seq 20000 >in
	"$xsort" -nr --debug in >want 2>/dev/null
	confined threads "$xsort" -nr --debug in >out 2>/dev/null
	cmp out want
}

@test "aiobench with the engine sync needs no thread for one class, and reports the need for two" {
	possible threads
	head -c 64K /dev/zero >in
	confined threads "$aiobench" run --engine=sync --direct=0 --io_size=64K --stats=report in
	grep -q '"requests": 16,' report
	run -2 --separate-stderr confined threads "$aiobench" run --engine=sync --direct=0 --io_size=64K \
		--class=a:share=50% --class=b:share=50% in
	[ "$stderr" = 'aiobench: each class needs a thread with the engine "sync": Resource temporarily unavailable' ]
}

# warned COMMAND...: the warning in a control group of 64 MB.
warned()
{
	{ confined group "$@" >/dev/null; } 2>&1
}

in_group()
{
	mkdir -p proc/self "sys/fs/cgroup/$1"
	echo "$2" >proc/self/cgroup
	echo 67108864 >"sys/fs/cgroup/$1/$3"
	printf 'a 1\n' >in
	said='warning: -S asks for 104857600 bytes of memory, but the control group is limited to 67108864'
	[ "$(warned "$xsort" -S 100M in)" = "xsort: $said" ]
	[ "$(warned "$xjoin" -S 100M in in)" = "xjoin: $said" ]
	for program in "$xsort" "$xjoin -a1 in"; do
		# shellcheck disable=SC2086 # words are wanted
		[ -z "$(warned $program -S 64M in)" ]
		# shellcheck disable=SC2086
		[ -z "$(warned $program in)" ]
	done
	ln -s "$(realpath "$xsort")" sort
	[ -z "$(warned ./sort -S 100M in)" ]
}

@test "a control group with less memory than -S (version 2)" { in_group a/b 0::/a/b memory.max; }
@test "a control group with less memory than -S (version 1)" {
	in_group memory/a/b 4:memory:/a/b memory.limit_in_bytes
}
