#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# file_tags=slow
#
# What the world does to a running sort: signals, closed pipes, full devices,
# few descriptors, inputs that change, records that are far too long.

# shellcheck source=tests/fault/lib.bash
. "$(dirname "$0")/lib.bash"

"$xgen" records --seed=6 --bytes=20M -o in || exit 2
expect want in
head -n 1000 in >few

# signalled SIGNAL PHASE ARGUMENT...: sends it to a sort that has got so far.
# forming: it has spilled something; merging: it has begun to write its result.
signalled()
{
	local sig=$1 phase=$2 pid rc bad=''

	shift 2
	printf 'old\n' >place/out
	mkfifo pipe
	env --default-signal=INT,QUIT "$xsort" -S 1M -T tmp --parallel=1 -o place/out "$@" pipe 2>err &
	pid=$!
	exec 8>pipe
	head -c 8M in >&8
	if [ "$phase" = merging ]; then
		exec 8>&-
		until [ -n "$(find place -name 'out.*' -size +0 2>/dev/null; find "/proc/$pid/fd" -lname '*/place/#*' 2>/dev/null)" ] || ! kill -0 "$pid" 2>/dev/null; do :; done
	fi
	kill -s "$sig" "$pid" 2>/dev/null
	wait "$pid"
	rc=$?
	[ "$phase" = merging ] || exec 8>&-
	rm -f pipe
	# While merging it may be faster than we, whole or up to its last steps.
	if [ "$rc" != 0 ] || [ "$phase" != merging ]; then
		[ "$rc" = $((128 + $(kill -l "$sig"))) ] || bad="status $rc"
		[ ! -s err ] || bad+=" it said $(cat err)"
	fi
	if [ "$phase" != merging ] || [ "$(wc -c <place/out)" -lt 8388608 ]; then
		[ "$(cat place/out)" = old ] || bad+=' the output is neither the old one nor complete'
	fi
	[ -z "$(ls -A tmp)" ] || bad+=" left in -T: $(ls -A tmp)"
	[ "$(ls -A place)" = out ] || bad+=" left next to the output: $(ls -A place)"
	rm -f place/* tmp/*
	tap_empty "SIG$sig while $phase: dies by it, nothing is left" "$bad"
}
for sig in INT TERM HUP; do
	signalled "$sig" forming
	signalled "$sig" merging
done

# says STATUS WORDS ARGUMENT...
says()
{
	local want=$1 words=$2 rc

	shift 2
	"$xsort" "$@" >out 2>err
	rc=$?
	[ "$rc" = "$want" ] && grep -Eq "$words" err && return
	echo "status $rc: $(head -c 300 err)"
	return 1
}

closed_pipe() { ("$xsort" in; echo $? >rc) 2>err | head -n 1 >/dev/null; [ "$(cat rc)" = 141 ] && [ ! -s err ]; }
tap 'a closed pipe ends it by SIGPIPE' closed_pipe
ignored_pipe() { (trap '' PIPE; "$xsort" in; echo $? >rc) 2>err | head -n 1 >/dev/null; [ "$(cat rc)" = 2 ] && grep -q 'Broken pipe' err; }
tap 'with SIGPIPE ignored it says so' ignored_pipe
if [ -w /dev/full ]; then
	full() { "$xsort" "$1" >/dev/full 2>err; [ $? = 2 ] && grep -q 'No space left on device' err; }
	tap 'a full device for a small result is an error' full few
	tap 'and for a large one' full in
fi
limited() { (ulimit -f 2000; exec "$xsort" -S 1M -T tmp in -o place/new) 2>err; [ $? = 2 ] && grep -q 'File too large' err && [ -z "$(ls -A place)$(ls -A tmp)" ]; }
tap 'a file size limit: an error, no files left' limited
limited_trace() { (ulimit -f 64; exec timeout 60 "$xsort" -S 1M -T tmp --page-size=4K --run-size=64K --trace=trace in) >/dev/null 2>err; [ $? = 2 ] && grep -q 'File too large' err; }
tap 'also with a trace of the requests that are still under way then' limited_trace
expect sorted-few few
seven() { (ulimit -n 7 && "$xsort" -S 1M -T tmp -T . -T tmp -T . in) | cmp - want; }
tap 'seven descriptors do for a sort through temporary space' seven
seven_merge()
{
	local names=()

	for _ in 1 2 3 4 5 6 7 8; do names+=(sorted-few); done
	(ulimit -n 7 && "$xsort" -T tmp -m "${names[@]}" >out) && "$xsort" -C out && [ "$(wc -l <out)" = 8000 ]
}
tap 'and for merging more files than that' seven_merge

tap 'a missing temporary directory is an error' \
	says 2 "^xsort: cannot create temporary file in '/nonexistent': No such file" -S 1M -T /nonexistent in
tap 'a folder is not an input' says 2 '^xsort: read failed: tmp: Is a directory' tmp
tap 'a missing input is an error' says 2 '^xsort: cannot read: missing: No such file' few missing
if [ "$(id -u)" = 0 ]; then
	tap_skip 'an unreadable input is an error' 'root may read everything'
else
	cp few secret && chmod 0 secret
	tap 'an unreadable input is an error' says 2 '^xsort: cannot read: secret: Permission denied' secret
fi
helper_dies() { printf '#!/bin/sh\nkill -9 $$\n' >helper && chmod +x helper && says 2 'terminated abnormally' -S 1M -T tmp --compress-program=./helper in; }
tap 'a killed compression program is an error' helper_dies

# An input that becomes shorter while it is read is an error; one that was read before, sorted whole.
shrinks()
{
	local pid

	cp in change
	"$xsort" -S 1M -T tmp --parallel=1 change >out 2>err &
	pid=$!
	until grep -q change <(ls -l /proc/"$pid"/fd 2>/dev/null) || ! kill -0 "$pid" 2>/dev/null; do :; done
	truncate -s 3M change
	if wait "$pid"; then
		"$xsort" in | cmp - out
	else
		[ $? = 2 ] && grep -q '^xsort: change: .*has become shorter while it was read$' err && [ ! -s out ]
	fi || { cat err; return 1; }
}
tap 'an input that shrinks while it is read is an error' shrinks
grows()
{
	local pid

	cp in change
	"$xsort" -S 1M -T tmp --parallel=1 change >out 2>err &
	pid=$!
	until grep -q change <(ls -l /proc/"$pid"/fd 2>/dev/null) || ! kill -0 "$pid" 2>/dev/null; do :; done
	cat few >>change
	wait "$pid" || { echo "status $?: $(cat err)"; return 1; }
	"$xsort" -C out && [ "$(wc -l <out)" -ge "$(wc -l <in)" ]
}
tap 'one that grows gives at least what there was' grows

long_line()
{
	{ echo b; head -c 100M /dev/zero | tr '\0' x; echo; echo a; } >long
	"$xsort" -S 8M -T tmp long >out || return
	[ "$(wc -c <out)" = "$(wc -c <long)" ] && [ "$(head -c 4 out)" = "$(printf 'a\nb\n')" ] && "$xsort" -C out
}
tap 'a line of 100 MB is sorted within -S 8M and three times the line' long_line
rm -f long out
nul() { printf 'b\0\na\0z\na\0' | "$xsort" | od -An -c | tr -d ' \n'; }
tap 'NUL bytes and a missing last newline' test "$(nul)" = 'a\0\na\0z\nb\0\n'
empty() { [ -z "$("$xsort" /dev/null)" ] && : >none && "$xsort" none -o none2 && [ ! -s none2 ] && [ -e none2 ]; }
tap 'an empty input gives an empty result' empty
tap_done
