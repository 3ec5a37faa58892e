#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# file_tags=slow
#
# Every request of the engine, and every call for a file, fails, one at a time.

# shellcheck source=tests/fault/lib.bash
. "$(dirname "$0")/lib.bash"

"$xgen" records --seed=5 --bytes=3M -o in || exit 2
expect want in
args=(-S 1M in) inner=sync

# requests KIND: how many there are of a kind, found by trying.
requests()
{
	local lo=1 hi=2 mid

	hit() { "$xsort" -T tmp --engine="fault:SCOPE=PROCESS,KIND=$1,NTH=$2,ERROR=EIO:$inner" "${args[@]}" >/dev/null 2>&1; [ $? -eq 2 ]; }
	hit "$1" 1 || { echo 0; return; }
	while hit "$1" "$hi"; do lo=$hi hi=$((hi * 2)); done
	while [ $((hi - lo)) -gt 1 ]; do
		mid=$(((lo + hi) / 2))
		if hit "$1" "$mid"; then lo=$mid; else hi=$mid; fi
	done
	echo "$lo"
}

# sweep NAME KIND ERROR N [strict]
sweep()
{
	local i bad='' what

	[ "$4" -gt 0 ] || bad='no request could fail'
	for i in $(steps "$4"); do
		run --engine="fault:SCOPE=PROCESS,KIND=$2,NTH=$i,ERROR=$3:$inner" --trace=trace \
			"${args[@]}"
		what=$(judge want "${5:-}")
		[ -z "$what" ] || bad+="request $i: $what"$'\n'
	done
	tap_empty "$1" "$bad"
}

reads=$(requests READ) writes=$(requests WRITE)
tap "the sort reads and writes through the engine ($reads, $writes requests)" \
	test "$reads" -gt 4 -a "$writes" -gt 4
sweep 'a read that fails ends the sort with a message' READ EIO "$reads" strict
sweep 'a write that fails ends the sort with a message' WRITE EIO "$writes" strict
sweep 'a full device ends the sort with a message' WRITE ENOSPC "$writes" strict

bad=''
for i in $(steps "$((reads + writes))"); do
	run --engine="fault:SCOPE=PROCESS,NTH=$i,COUNT=3,ERROR=SHORT:sync" "${args[@]}"
	what=$(judge want)
	[ "$status" = 0 ] || what+="status $status: $(cat err)"
	[ -z "$what" ] || bad+="request $i: $what"$'\n'
done
tap_empty 'short transfers do no harm' "$bad"

# Only spilled pages are checked; a changed byte of the input is not an error.
bad='' noticed=0
for i in $(steps "$reads"); do
	run --engine="fault:SCOPE=PROCESS,KIND=READ,NTH=$i,ERROR=FLIP:sync" "${args[@]}" --stats=stats
	if [ "$status" = 2 ]; then
		noticed=$((noticed + 1))
		grep -Eq '^xsort: .*tmp.*offset [0-9]+.*corrupt' err || bad+="request $i: $(cat err)"$'\n'
	elif [ "$(wc -c <place/out)" != "$(wc -c <want)" ]; then
		bad+="request $i: a wrong length"$'\n'
	fi
	rm -f place/* stats
done
tap_empty 'a corrupted page is reported with file and offset' "$bad"
tap "and it is noticed ($noticed times)" test "$noticed" -gt 0

# The engine is that of simulated volumes for these, and a real one for the rest.
args=(-S 1M --page-size=16K --run-size=128K "--volume=sim:ide300-like,cache=256K,files=both" in)
inner=auto
reads=$(requests READ) writes=$(requests WRITE)
sweep 'on a simulated machine a read that fails ends the sort' READ EIO "$reads" strict
sweep 'and so does a write' WRITE EIO "$writes" strict
args=(-S 1M --run-size=128K --volume=sim:atlas10k3-like --placement=semiseq in)
writes=$(requests WRITE)
sweep 'a full device under runs placed by tracks, too' WRITE ENOSPC "$writes" strict

# The final merge of many runs, in a thread of its own.
"$xgen" records --seed=6 --bytes=9M -o large || exit 2
expect large-want large
args=(-S 16M --run-size=512K --parallel=3 large) inner=auto
reads=$(requests READ) bad=''
[ "$reads" -gt 0 ] || bad='no request could fail'
for i in $(steps "$reads" 12); do
	run --engine="fault:SCOPE=PROCESS,KIND=READ,NTH=$i,ERROR=EIO:$inner" --trace=trace "${args[@]}"
	what=$(judge large-want strict)
	[ -z "$what" ] || bad+="request $i: $what"$'\n'
	run --engine="fault:SCOPE=PROCESS,KIND=READ,NTH=$i,COUNT=3,ERROR=SHORT:$inner" "${args[@]}"
	what=$(judge large-want)
	[ "$status" = 0 ] || what+="status $status: $(cat err)"
	[ -z "$what" ] || bad+="short, request $i: $what"$'\n'
done
tap_empty "reads of many runs that fail ($reads requests)" "$bad"

# The calls of the C library (or `which` of them), for each path through them.
# calls NAME ARGUMENT...
calls()
{
	local name=$1 n i bad='' what call runs=0 reported=0

	shift
	for call in ${which:-open read write pread pwrite close rename ftruncate fallocate}; do
		rm -f count
		wrap=(env FAILCALL_COUNT="$work/count" FAILCALL_CALLS="$call" FAILCALL_FD_MIN=3 LD_PRELOAD="$shim")
		run "$@"
		n=$(tail -n 1 count 2>/dev/null || echo 0)
		for i in $(steps "${n:-0}" 6); do
			wrap=(env FAILCALL_AT="$i" FAILCALL_CALLS="$call" FAILCALL_FD_MIN=3 LD_PRELOAD="$shim")
			run "$@"
			runs=$((runs + 1)) reported=$((reported + (status == 2)))
			what=$(judge "${wanted:-want}")
			[ -z "$what" ] || bad+="$call $i of $n: $what"$'\n'
		done
	done
	wrap=()
	[ "$reported" -gt 0 ] || bad+='no fault had any effect'
	tap_empty "$name: every failing call is reported ($reported of $runs), or harmless" "$bad"
}
if [ -e "$shim" ]; then
	calls 'in memory' in
	calls 'through temporary space' -S 1M --engine=sync in
	calls 'on a simulated machine' -S 1M --volume=sim:linear,files=both in
	"$xsort" in -o sorted
	calls 'merging' -m sorted --engine=sync
	split -a 1 -n l/5 large piece.
	for file in piece.?; do "$xsort" "$file" -o "$file"; done
	wanted=large-want which='open read' calls 'merging several files' -m -S 16M --parallel=3 piece.?
	{ cat large && head -n 30000 large; } >again
	sort -u large >unique-want
	wanted=unique-want which='open read write pread pwrite close ftruncate' \
		calls '-u in parts that close up' -u -S 16M --run-size=512K --parallel=3 again
	sort again | uniq -c >counted-want
	wanted=counted-want which='read write pwrite ftruncate' \
		calls '-u --count in parts' -u --count -S 16M --run-size=512K --parallel=3 again
	awk '!seen[$0]++' again >kept-want
	wanted=kept-want which='open read write pread pwrite close' \
		calls '-u --keep-order of keys that repeat' -u --keep-order -S 1M again
	wanted=in which='open read write pread pwrite close' \
		calls '-u --keep-order of others' -u --keep-order -S 512K in
	gzip -k in
	wanted=in which='open read write pread pwrite close' \
		calls '-u --keep-order of what is read once' -u --keep-order -S 512K --decompress in.gz
	which='open read pread' calls 'decompressing' -S 1M --decompress in.gz
	which='open read pread' calls 'decompressing what is found' -S 1M --auto-compression in.gz
	calls 'with compression' -S 1M --engine=sync --spill-compression=lz4 in
else
	tap_skip 'failing calls' 'no shim in this build'
fi
tap_done
