#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# file_tags=slow
#
# Outputs: killed at any moment, a tool leaves only the old file; an obstacle that keeps a new one from
# being made is an error, and the old file stays; what is written in place says so when it fails.

# shellcheck source=tests/fault/lib.bash
. "$(dirname "$0")/lib.bash"

seq -w 60000 | sort -R --random-source=<(yes) >in
sort in >sorted
expect want in
seq -w 1 3 60000 >other
"$xjoin" in other | sort >joined

# left: what is in place/ besides the output.
left() { find place -mindepth 1 ! -name out; }

# killed NAME WANTED COMMAND...: 60 times at moments spread over its life.  The output is
# the old one or complete (in any order), and nothing else is there.
killed()
{
	local name=$1 wanted=$2 bad='' took i pid

	shift 2
	took=$({ TIMEFORMAT=%R; time "$@"; } 2>&1)
	sort place/out | cmp -s - "$wanted" || bad="not killed: $took"$'\n'
	for ((i = 1; i <= 60; i++)); do
		echo old >place/out
		"$@" &
		pid=$!
		sleep "$(awk -v t="$took" -v i="$i" 'BEGIN { print t * i / 60 }')"
		kill -9 "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
		[ "$(cat place/out)" = old ] || sort place/out | cmp -s - "$wanted" || bad+="kill $i: a part of the output"$'\n'
		# A process of its own gives the file its name, to its end.
		for _ in {1..100}; do
			[ -n "$(left)" ] || break
			sleep 0.05
		done
		[ -z "$(left)" ] || bad+="kill $i: left: $(left)"$'\n'
		rm -rf place tmp
		mkdir place tmp
	done
	tap_empty "$name: 60 times killed, nothing is left" "$bad"
}

# Only there are files without a name.
case $(stat -f -c %T .) in
ext2/ext3 | xfs | btrfs | tmpfs)
	killed 'xsort' sorted "$xsort" -S 1M -T tmp -o place/out in
	killed 'xjoin' joined "$xjoin" -S 1M -T tmp --output=place/out in other
	;;
*) tap_skip 'SIGKILL leaves nothing' "not known of this file system: $(stat -f -c %T .)" ;;
esac
[ -e "$shim" ] || { tap_skip 'what fails once' 'no shim in this build'; tap_done; exit; }

# with ERROR CALLS COMMAND...: all of these calls fail with it.
with()
{
	local error=$1 calls=$2

	shift 2
	FAILCALL_ERRNO=$error FAILCALL_CALLS=$calls FAILCALL_AT=1 FAILCALL_TIMES=0 LD_PRELOAD=$shim "$@"
}

# refused WORDS STATUS COMMAND...: it ends so, and the old output stays.
refused()
{
	local words=$1 want=$2 rc

	shift 2
	echo old >place/out
	"$@" 2>err
	rc=$?
	[ "$rc" = "$want" ] && [ "$(cat place/out)" = old ] && [ -z "$(left)" ] && grep -q "$words" err && return
	echo "# status $rc, $(left) $(cat err)"
	return 1
}
for error in ENOSPC EDQUOT EIO EMFILE ENFILE; do
	tap "xsort, $error for the new file: the old one stays" \
		refused '^xsort: open failed: place/out: ' 2 with $error tmpfile "$xsort" -S 1G -o place/out in
	tap "xjoin, $error for the new file: the old one stays" \
		refused '^xjoin: place/out: ' 1 with $error tmpfile "$xjoin" -S 1G --output=place/out in other
done
tap 'no memory for the new file: the old one stays' \
	refused '^xsort: memory exhausted' 2 with ENOMEM tmpfile "$xsort" -S 1G -o place/out in
for call in link rename; do
	tap "$call fails: the old one stays" \
		refused '^xsort: .* failed: place/out: Input/output error' 2 with EIO $call "$xsort" -S 1G -o place/out in
	tap "and that of xjoin" \
		refused '^xjoin: place/out: Input/output error' 1 with EIO $call "$xjoin" -S 1G --output=place/out in other
done

# The system refuses the name at the end, although the file can be written.
copied()
{
	local want=$1

	shift
	echo old >place/out
	before=$(stat -c %i place/out)
	"$@" 2>err && sort place/out | cmp -s - "$want" && [ -z "$(left)" ] && [ "$before" = "$(stat -c %i place/out)" ] ||
		{ echo "# $? $(left) $(cat err)"; return 1; }
}
for error in EBUSY EXDEV EPERM EACCES; do
	tap "$error of rename: the result is copied into the old file" \
		copied sorted with $error rename "$xsort" -S 1G -o place/out in
	tap "that of xjoin too" \
		copied joined with $error rename "$xjoin" -S 1G --output=place/out in other
done
tap 'from a file with a temporary name too' \
	copied sorted with EOPNOTSUPP tmpfile,rename "$xsort" -S 1G -o place/out in
linked() { rm -f place/out; with EPERM link "$xsort" -S 1G -o place/out in && cmp place/out want && [ -z "$(left)" ]; }
tap 'a new file is copied too if no name can be given' linked
tap 'a new file with a name goes too when it cannot be renamed' \
	refused '^xsort: .* failed: place/out: ' 2 with 22 tmpfile,rename "$xsort" -S 1G -o place/out in

# Where there are no files without a name, signals still leave nothing.
for tool in sort join; do
	named()
	{
		local pid

		rm -f pipe place/*
		mkfifo pipe
		if [ "$tool" = sort ]; then
			with EOPNOTSUPP tmpfile exec "$xsort" -m -T tmp -o place/out pipe sorted &
		else
			with EOPNOTSUPP tmpfile exec "$xjoin" -T tmp --output=place/out pipe sorted &
		fi
		pid=$!
		exec 8>pipe
		until [ -n "$(left)" ] || ! kill -0 "$pid" 2>/dev/null; do :; done
		left >seen
		kill -TERM "$pid"
		wait "$pid"
		exec 8>&-
		grep -q '^place/out\.......$' seen && [ -z "$(ls -A place)" ]
	}
	tap "x$tool without O_TMPFILE: a signal removes the file with a name" named
done
named_result() { with EOPNOTSUPP tmpfile "$xsort" -o place/out in && cmp place/out want && [ -z "$(left)" ]; }
tap 'and a result is complete there' named_result

# In place: several links.
gone()
{
	echo old >place/out
	ln -f place/out place/second
	"$@" 2>err
	local rc=$?
	rm -f place/second
	[ "$rc" -gt 0 ] && grep -q 'the old content is gone' err || { echo "# $rc $(cat err)"; return 1; }
}
limited() { (ulimit -f 64; exec "$@"); }
tap 'a failure in place says that the old content is gone' \
	gone limited "$xsort" -S 1G -o place/out in
tap 'that of xjoin too' gone limited "$xjoin" -S 1G --output=place/out in other
tap 'that of xgen too' gone limited "$xgen" lines -n 100000 -o place/out
tap 'that of a trace too' gone limited "$aiobench" run --io_size=8M --trace=place/out sim:linear
tap_done
