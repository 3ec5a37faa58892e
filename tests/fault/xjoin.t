#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# file_tags=slow
#
# Each allocation and each call for a file fails, one at a time: the
# join reports it and leaves no file, or does without and is right.

# shellcheck source=tests/fault/begin.bash
. "$(dirname "$0")/begin.bash"
needs_shim

seq -f '%g abcdefghijklmnopqrstuvwxyz' 40000 >a
seq -f '%g ABCDEFG' 1 2 60000 >b
awk 'BEGIN { for (i = 1; i <= 30000; i++) printf "%d,\"two\nlines, %d\"\n", i, i }' >a.csv
awk 'BEGIN { for (i = 1; i <= 36000; i++) printf "%d,\"other\n%d\"\n", (i > 30000 ? 1 : i), i }' >b.csv
awk 'BEGIN { for (i = 1; i <= 30000; i++) printf "{\"id\":%d,\"a\":\"left %d\"}\n", i, i }' >a.json
awk 'BEGIN { for (i = 1; i <= 36000; i++) {
	printf "{\"id\":%d.0,\"a\":\"right %d\"", (i > 30000 ? 1 : i), i
	for (k = 0; k < (i % 1000 ? 0 : 50); k++)
		printf ",\"m%d\":%d", k, k
	print "}"
} }' >b.json
seq -f '%g abcdefghijklmnopqrstuvwxyz' 1 2 80000 >c
{ seq -f '%g ABCDEFG' 2 3 65000; echo '3 late'; seq -f '%g ABCDEFG' 65003 3 90000; } >d

# One run with call number $1 of the kind $2 failing; what is wrong with it.
judge() # NUMBER CALLS ARGUMENT...
{
	local at=$1 calls=$2 status

	shift 2
	rm -f out
	timeout 60 env FAILCALL_AT="$at" FAILCALL_CALLS="$calls" LD_PRELOAD="$shim" \
		"$xjoin" --output=out -T tmp "$@" 2>err
	status=$?
	if [ "$status" = 0 ]; then
		$arrange out | cmp -s - want || echo "call $at: the result is wrong"
	elif [ "$status" != 1 ] || [ ! -s err ]; then
		echo "call $at: status $status, $(cat err)"
	elif [ -n "$(find . -name 'out*')" ]; then
		echo "call $at: a file was left"
	else
		reported=$((reported + 1))
	fi
}

sweep() # NAME CALLS ARGUMENT...
{
	local name=$1 calls=$2 n step bad='' i

	shift 2
	"$xjoin" "$@" | $arrange >want || exit 2
	rm -f count wrong
	FAILCALL_COUNT=$work/count FAILCALL_CALLS=$calls LD_PRELOAD=$shim \
		"$xjoin" --output=out -T tmp "$@" || exit 2
	n=$(tail -n 1 count) step=$((n / 40 + 1)) reported=0
	for ((i = 1; i <= n; i += step)); do
		judge "$i" "$calls" "$@" >>wrong
	done
	bad=$(cat wrong)
	[ "$reported" -gt 0 ] || bad+='no fault had any effect'
	tap_empty "$name" "$bad"
}

arrange='sort'
spilling=(-S 512K --algorithm=hybrid --direct=never --engine=sync -a1 a b)
sweep 'memory refused to a hash join' alloc "${spilling[@]}"
sweep 'files refused to a hash join' io "${spilling[@]}"
threads=(-S 12M --parallel=3 --join-memory=256K --page-size=4K --algorithm=hybrid --direct=never --engine=sync -a1 a b)
sweep 'memory refused to a hash join by three threads' alloc "${threads[@]}"
sweep 'files refused to a hash join by three threads' io "${threads[@]}"
# Keys made up, records through several pages, a key of which there is too much.
# shellcheck disable=SC2054 # the commas are meant
csv=(-S 512K --algorithm=hybrid --page-size=4K --join-memory=256K --direct=never --engine=sync --build=2 --csv
	-a1 -a2 -e , -o 0,1.2 a.csv b.csv)
sweep 'memory refused to a join of CSV' alloc "${csv[@]}"
sweep 'files refused to a join of CSV' io "${csv[@]}"
# shellcheck disable=SC2054 # as above
json=(-S 512K --algorithm=hybrid --page-size=4K --join-memory=256K --direct=never --engine=sync --build=2 --json
	-1 .id,.id -2 .id,.id -a1 -a2 a.json b.json)
sweep 'memory refused to a join of JSON lines' alloc "${json[@]}"
sweep 'files refused to a join of JSON lines' io "${json[@]}"
chosen=("${json[@]:0:7}" --json -j .id "--where=1.a is not null or 2.a <> 'x'" -o '0,1.a 2.a 2.m1' --format=csv -a1 -a2 a.json b.json)
sweep 'memory refused to columns of JSON lines' alloc "${chosen[@]}"
sweep 'files refused to columns of JSON lines' io "${chosen[@]}"
sweep 'memory refused to a merge join' alloc --algorithm=merge --nocheck-order -a1 a b
sweep 'files refused to a merge join' io --algorithm=merge --nocheck-order -a1 a b

# Requests of the engine: reported if there is no other way.
requested=("${spilling[@]}")
numbers='1 2 3 5 8 13 21 34 55 89'
requests() # NAME FAULT STATUS: %d in the fault is the request's number
{
	local bad='' i

	"$xjoin" "${requested[@]}" | sort >want || exit 2
	for i in $numbers; do
		rm -f out
		# shellcheck disable=SC2059 # it is a format
		timeout 60 "$xjoin" --output=out -T tmp "${requested[@]}" \
			--engine="fault:SCOPE=PROCESS,$(printf "$2" "$i"):sync" 2>err
		[ $? = "$3" ] || bad+="request $i: status is not $3, $(cat err)"$'\n'
		if [ "$3" = 0 ]; then
			sort out | cmp -s - want || bad+="request $i: the result is wrong"$'\n'
		else
			[ "$(wc -l <err)" = 1 ] || bad+="request $i: $(cat err)"$'\n'
			[ -z "$(find . -name 'out*')" ] || bad+="request $i: a file was left"$'\n'
		fi
	done
	tap_empty "$1" "$bad"
}
requests 'a request that fails to read ends the join with a message' KIND=READ,NTH=%d,ERROR=EIO 1
requests 'so does one that fails to write' KIND=WRITE,NTH=%d,ERROR=EIO 1
requests 'so does a full device' KIND=WRITE,NTH=%d,ERROR=ENOSPC 1

requested=("${threads[@]}")
numbers='1 2 3 5 8 13'
requests 'a failing read stops all threads' KIND=READ,NTH=%d,ERROR=EIO 1
requests 'so does a failing write' KIND=WRITE,NTH=%d,ERROR=ENOSPC 1
requested=("${spilling[@]}")
numbers='1 2 3 5 8 13 21 34 55 89'

# Inputs are not checked, spilled pages are.
noticed=0 bad=''
for i in 60 70 80 90 100; do
	"$xjoin" -T tmp "${spilling[@]}" --engine="fault:SCOPE=PROCESS,KIND=READ,NTH=$i,ERROR=FLIP:sync" >out 2>err
	[ $? = 1 ] || continue
	noticed=$((noticed + 1))
	grep -Eqx 'xjoin: tmp: offset [0-9]+: .*corrupt.*' err || bad+="request $i: $(cat err)"$'\n'
done
[ "$noticed" -gt 1 ] || bad+="noticed $noticed times"
tap_empty 'a corrupted page is reported with directory and offset' "$bad"
requests 'short transfers do no harm' NTH=%d,COUNT=3,ERROR=SHORT 0

# Index nested loops, with two indexes.
shuf -n 400 --random-source=a a >few
"$xindex" build -k1b,1 -o b.index b && "$xindex" build -k1b,1 -o a.index a || exit 2
# shellcheck disable=SC2054 # the commas are meant
requested=(-S 512K --algorithm=async-inl --max-outstanding=8 --direct=never --engine=sync --index2=b.index
	--then=a,left=2.1,key=1,index=a.index few b)
sweep 'memory refused to index nested loops' alloc "${requested[@]}"
sweep 'files refused to index nested loops' io "${requested[@]}"
requests 'a request that fails to read ends index nested loops with a message' KIND=READ,NTH=%d,ERROR=EIO 1
requests 'short transfers do them no harm' NTH=%d,COUNT=3,ERROR=SHORT 0

sorted=(-S 512K --direct=never --engine=sync -v1 -v2 c d)
sweep 'memory refused to a merge given up' alloc "${sorted[@]}"
sweep 'files refused to a merge given up' io "${sorted[@]}"
arrange='cat'
ordered=(-S 512K --direct=never --engine=sync -a1 -a2 --ordered=2 a b)
sweep 'memory refused to an ordered join' alloc "${ordered[@]}"
sweep 'files refused to an ordered join' io "${ordered[@]}"

# A record lost in the library: our own fault, and no result.
bad=''
loseone=$(realpath "$build/tests/shim/loseone.so")
for where in --output=out ''; do
	rm -f out
	# shellcheck disable=SC2086 # there may be none
	LD_LIBRARY_PATH=$build/lib LD_PRELOAD=$loseone "$build/tests/shim/xjoin" $where -T tmp \
		"${ordered[@]}" >/dev/null 2>err
	[ $? = 1 ] || bad+="status is not 1 $where"$'\n'
	grep -q '^xjoin: records were lost or doubled: this is a fault of Spindle, not of the input; please report' err ||
		bad+="$(cat err)"$'\n'
	[ "$(wc -l <err)" = 1 ] || bad+="$(cat err)"$'\n'
	[ -z "$(find . -name 'out*')" ] || bad+="a file was left"$'\n'
done
tap_empty 'a record lost by the library ends the join with a message' "$bad"
tap_done
