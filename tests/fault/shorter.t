#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# file_tags=slow
#
# An input is cut to half its size before each of many calls.  A tool says so with status 2, or gives
# the result of the whole file (cut after its end), or of the half (cut before its beginning).

# shellcheck source=tests/fault/begin.bash
. "$(dirname "$0")/begin.bash"
needs_shim

export TMPDIR=$work
TRIES=12

# outcome COMMAND...: the result of the command and of $then after it, or its message.
then=''
outcome()
{
	rm -rf out result d
	"$@" >result 2>err
	status=$?
	if [ -s err ]; then
		head -c 200 err
	else
		${then:-cat out} >>result 2>/dev/null
		echo "$status $(cksum <result)"
	fi
}

# cut CALLS FILE COMMAND...: cuts FILE before many of the CALLS, one at a time.
cut()
{
	local calls=$1 file=$2 bad='' said=0 all half got n step total

	shift 2
	cp "$file" whole
	all=$(outcome "$@")
	rm -f count
	outcome env FAILCALL_CALLS="$calls" FAILCALL_COUNT=count LD_PRELOAD="$shim" "$@" >/dev/null
	total=$(<count)
	truncate -s $(($(stat -c %s whole) / 2)) "$file"
	half=$(outcome "$@")
	step=$(((total + TRIES - 1) / TRIES))
	for ((n = 1; n <= total; n += step)); do
		cat whole >"$file"
		got=$(outcome env FAILCALL_AT=$n FAILCALL_CUT="$file" FAILCALL_CALLS="$calls" \
			LD_PRELOAD="$shim" "$@")
		case $got in
		*"$file: "*'has become shorter while it was read' | *"$file: the input ends before the last element" | *"$file: has changed while it was sorted: "*) said=$((said + 1)) ;;
		"$all" | "$half") ;;
		*) bad+="call $n: $got"$'\n' ;;
		esac
	done
	cat whole >"$file"
	[ $said -gt 0 ] || bad+="never said in $total calls"
	tap_empty "$(basename "$1") ${*:2}: $file becomes shorter" "$bad"
}

seq 90000 | awk '{ printf "%d %06d\n", ($1 * 7919) % 20011, $1 }' >in
sort in >sorted
seq 0 9 20010 | sort >small
gzip -c in >a.gz && cat a.gz a.gz >in.gz
{ echo header; cat in; } >headed
sed 's/ /,/' in >in.csv

r='read pread'
cut "$r" in "$xsort" --engine=sync -S 1M in
cut "$r" in "$xsort" --engine=sync --direct=never --parallel=1 in
cut "$r" in "$xsort" -u --count -k1,1 -S 1M in
cut "$r" in "$xsort" --limit=5 in
awk '{ print NR, $0 }' in >different
cut "$r" different "$xsort" -u --keep-order -S 512K --engine=sync different
cut "$r" different "$xsort" -u --keep-order -S 512K --engine=sync --parallel=1 different
cut "$r" in "$xsort" -u --keep-order -k2,2 -S 512K --engine=sync in
cut "$r" headed "$xsort" --header headed
cut "$r" in.csv "$xsort" --csv in.csv
cut "$r" in.gz "$xsort" --decompress in.gz
cut "$r" sorted "$xsort" -c sorted
cut "$r" sorted "$xsort" -m small sorted
cut "$r" in "$xsort" -o out small in
cut "$r" in "$xsort" --resume=d -o out -S 600K in
for algorithm in hybrid grace shj nested; do
	cut "$r" in "$xjoin" --engine=sync --algorithm=$algorithm -S 1M small in
	cut "$r" in "$xjoin" --engine=sync --algorithm=$algorithm -S 1M in small
done
cut "$r" sorted "$xjoin" --algorithm=merge small sorted
cut "$r" sorted "$xjoin" small sorted

then="$xindex range out --lo 500 --hi 700"
cut "$r" in "$xindex" build -k1,1 -o out in
then=''
"$xindex" build -k1,1 -o i in

# Calls that the C library makes for its streams are seen by the memory they take.
TRIES=100
cut malloc small "$xindex" lookup i --keys=small
sed 's/.*/in/' small | tr '\n' '\0' >names
truncate -s 9000 names
cut "$r" names "$xsort" -c --files0-from=names
"$xsort" --trace=trace -S 600K in >/dev/null
cp trace half && cat half >>trace
cut malloc trace "$blockseq" trace

"$cube" create c --dims 300x30 --dtype=u32
seq 9000 | awk '{ printf "%d,%d,%d\n", $1 % 300, $1 % 30, $1 }' >points
head -c 36000 in >raw
then="$cube export c --format raw"
cut malloc points "$cube" load c points --format csv
cut pread raw "$cube" load c raw --format raw
tap_done
