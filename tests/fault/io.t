#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# file_tags=slow
#
# Requests of the engine, and calls for a file, fail, one at a time.  SP_TEST_FULL=1: more of them.

# shellcheck source=tests/fault/lib.bash
. "$(dirname "$0")/lib.bash"
full=${SP_TEST_FULL:-}
few=$((full ? 12 : 2))

"$xgen" records --seed=5 --bytes=1M -o in || exit 2
expect want in
args=(-S 512K in) inner=sync

# count: sets reads and writes, the requests of a run without a fault.
count()
{
	run --engine="fault:SCOPE=PROCESS,NTH=1000000,ERROR=EIO:$inner" --trace=trace "${args[@]}"
	reads=$(grep -c '^R' trace) writes=$(grep -c '^W' trace)
	rm -f place/*
}

# sweep NAME KIND ERROR N [strict]
sweep()
{
	local i bad='' what

	[ "$4" -gt 0 ] || bad='no request could fail'
	for i in $(steps "$4" $few); do
		run --engine="fault:SCOPE=PROCESS,KIND=$2,NTH=$i,ERROR=$3:$inner" --trace=trace \
			"${args[@]}"
		what=$(judge want "${5:-}")
		[ -z "$what" ] || bad+="request $i: $what"$'\n'
	done
	tap_empty "$1" "$bad"
}

count
tap "the sort reads and writes through the engine ($reads, $writes requests)" \
	test "$reads" -gt 4 -a "$writes" -gt 4
sweep 'a read that fails ends the sort with a message' READ EIO "$reads" strict
sweep 'a write that fails ends the sort with a message' WRITE EIO "$writes" strict
sweep 'a full device ends the sort with a message' WRITE ENOSPC "$writes" strict

bad=''
for i in $(steps "$((reads + writes))" $few); do
	run --engine="fault:SCOPE=PROCESS,NTH=$i,COUNT=3,ERROR=SHORT:sync" "${args[@]}"
	what=$(judge want)
	[ "$status" = 0 ] || what+="status $status: $(cat err)"
	[ -z "$what" ] || bad+="request $i: $what"$'\n'
done
tap_empty 'short transfers do no harm' "$bad"

# Only spilled pages are checked; a changed byte of the input is not an error.
bad='' noticed=0
for i in $(steps "$reads" $few); do
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
args=(-S 512K --page-size=16K --run-size=64K "--volume=sim:ide300-like,cache=256K,files=both" in)
inner=auto
count
sweep 'on a simulated machine a read that fails ends the sort' READ EIO "$reads" strict
sweep 'and so does a write' WRITE EIO "$writes" strict
args=(-S 512K --run-size=64K --volume=sim:atlas10k3-like --placement=semiseq in)
count
sweep 'a full device under runs placed by tracks, too' WRITE ENOSPC "$writes" strict

# The final merge of many runs, in a thread of its own.
"$xgen" records --seed=6 --bytes=3M -o large || exit 2
expect large-want large
args=(-S 8M --run-size=160K --page-size=4K --parallel=3 large) inner=auto bad=''
count
[ "$reads" -gt 0 ] || bad='no request could fail'
for i in $(steps "$reads" $few); do
	run --engine="fault:SCOPE=PROCESS,KIND=READ,NTH=$i,ERROR=EIO:$inner" --trace=trace "${args[@]}"
	what=$(judge large-want strict)
	[ -z "$what" ] || bad+="request $i: $what"$'\n'
	run --engine="fault:SCOPE=PROCESS,KIND=READ,NTH=$i,COUNT=3,ERROR=SHORT:$inner" "${args[@]}"
	what=$(judge large-want)
	[ "$status" = 0 ] || what+="status $status: $(cat err)"
	[ -z "$what" ] || bad+="short, request $i: $what"$'\n'
done
tap_empty "reads of many runs that fail ($reads requests)" "$bad"

# The calls of the C library (or `which` of them), for each path through them; `near` as the second of "steps".
# calls NAME ARGUMENT...
calls()
{
	local name=$1 n i bad='' what call runs=0 reported=0

	shift
	for call in ${which:-open read write pread pwrite close rename ftruncate fallocate}; do
		rm -f count
		wrap=(counts "$call")
		run "$@"
		n=$(tail -n 1 count 2>/dev/null || echo 0)
		for i in $(steps "${n:-0}" $((full ? 6 : ${near:-1}))); do
			wrap=(fails "$i" "$call")
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
	calls 'through temporary space' -S 512K --engine=sync in
	calls 'on a simulated machine' -S 512K --volume=sim:linear,files=both in
	"$xsort" in -o sorted
	calls 'merging' -m sorted --engine=sync
	split -a 1 -n l/5 large piece.
	for file in piece.?; do "$xsort" "$file" -o "$file"; done
	wanted=large-want near=2 which='open read' calls 'merging several files' -m -S 8M --parallel=3 piece.?
	{ cat large && head -n 10000 large; } >again
	sort -u large >unique-want
	wanted=unique-want which='open read write pread pwrite close ftruncate' \
		calls '-u in parts that close up' -u -S 8M --run-size=160K --page-size=4K --parallel=3 again
	sort again | uniq -c >counted-want
	wanted=counted-want which='read write pwrite ftruncate' \
		calls '-u --count in parts' -u --count -S 8M --run-size=160K --page-size=4K --parallel=3 again
	awk '!seen[$0]++' again >kept-want
	wanted=kept-want which='open read write pread pwrite close' \
		calls '-u --keep-order of keys that repeat' -u --keep-order -S 512K again
	wanted=in which='open read write pread pwrite close' \
		calls '-u --keep-order of others' -u --keep-order -S 512K in
	gzip -k in
	wanted=in which='open read write pread pwrite close' \
		calls '-u --keep-order of what is read once' -u --keep-order -S 512K --decompress in.gz
	near=2 which='open read pread' calls 'decompressing' -S 512K --decompress in.gz
	near=2 which='open read pread' calls 'decompressing what is found' -S 512K --auto-compression in.gz
	tr -dc 'a-zA-Z0-9\n' <large | head -n 9000 | awk '{ printf "{\"k\":[\"%s\"],\"n\":%d}\n", $1, NR }' >json
	"$xsort" --json -k .k json >json-want
	wanted=json-want which='open read write pread pwrite' calls 'lines of JSON' --json -k .k -S 512K json
	calls 'with compression' -S 512K --engine=sync --spill-compression=lz4 in
else
	tap_skip 'failing calls' 'no shim in this build'
fi
tap_done
