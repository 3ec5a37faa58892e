#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# file_tags=slow
#
# Each allocation, each call for a file and each request of xgroup fails, one at a time: status 0 and
# the right result, or 2 with one message, and then the old output is there as it was.  The same for
# a process that is killed.  SP_TEST_FULL=1: more of the calls.

# shellcheck source=tests/fault/sweep.bash
. "$(dirname "$0")/sweep.bash" || exit 2
# shellcheck source=tests/fault/begin.bash
. "$(dirname "$0")/begin.bash"
needs_shim

seq 12000 | awk '{ print "k" ($1 * 7919) % 9973, $1 % 100 / 4, $1 "e-12" }' >in
mkdir place
# shellcheck disable=SC2034 # by name
memory=(-k 1 -S 64M --parallel=2 --agg 'sum(2), median(2), ~p10(2), sum(3), last(1)' in)
# shellcheck disable=SC2034
spilled=(-k 1 -S 1M --parallel=2 --order='sum(2):r' --agg 'sum(2), distinct(2), var(3)' in)
# shellcheck disable=SC2034
alone=(-k 1:r -S 1M --parallel=1 --agg 'count(), list(2), ~p90(3)' in)
# shellcheck disable=SC2034,SC2016
expressions=(-k 'substr($1, 1, 3) as k' -S 1M --parallel=2 --where "\$2 > 1 and upper(\$1) like 'K%'"
	--agg "sum(\$2 * 2) as s, max(replace(\$1, 'k', 'kk'))" --having 's + 1 > 0 or k is null' in)
# shellcheck disable=SC2034,SC2016
pivot=(-k 'substr($1, 1, 3) as k' --pivot='$2 * 4' -S 1M --parallel=2 in)
# shellcheck disable=SC2034
shares=(-k 1 -S 1M --parallel=2 --percent '--cumulative=percent(count())' in)
printf 'a,b,c\n' | cat - <(tr ' ' , <in) | "$xtable" load --csv --header --layout=csm t - || exit 2
# shellcheck disable=SC2034
table=(-k a -S 1M --parallel=2 --agg 'sum(b), max(c), last(a)' t)
awk '{ printf "{\"k\":\"%s\",\"v\":{\"n\":%s,\"t\":\"%s\\t\"}}\n", $1, $2, $3 }' in >in.json
# shellcheck disable=SC2034
json=(--json -k .k -S 1M --parallel=2 --agg 'sum(.v.n), last(.v.t)' --where '.v.n > 1' in.json)
for command in memory spilled table alone expressions pivot shares json; do
	declare -n line=$command
	"$xgroup" "${line[@]}" >want.$command || exit 2
done
echo old >old

judge()
{
	case $status in
	0) cmp -s "want.$1" place/out || echo 'status 0 and a wrong result' ;;
	2)
		messages xgroup
		[ "$messages" = 1 ] || echo 'not one message'
		cmp -s old place/out || echo 'the old output is not as it was'
		;;
	*) echo "status $status" ;;
	esac
	holds place out || echo 'a file was left next to the output'
	holds tmp || echo 'left in -T'
}

once()
{
	local what
	local -n line=$1

	echo old >place/out
	"${wrap[@]}" "$xgroup" -T tmp -o place/out "${line[@]}" "${@:2}" >out 2>err
	status=$?
	what=$(judge "$1")
	[ -z "$what" ] || printf '%s: %s\n' "$what" "$(head -c 300 err)"
}

requests()
{
	local kind=$1 i=1 bad=''

	while [ $i -lt 60 ]; do
		once spilled "--engine=fault:SCOPE=PROCESS,KIND=$kind,NTH=$i,ERROR=EIO:sync" >wrong
		[ ! -s wrong ] || bad+="request $i: $(cat wrong)"$'\n'
		[ $status = 2 ] || break
		i=$((i + (full || i < 5 ? 1 : 7)))
	done
	[ $i -gt 3 ] || bad+="only $((i - 1)) requests failed"
	tap_empty "${kind,,} requests, of the first $((i - 1)), that fail are reported" "$bad"
}

wrap=() full=${SP_TEST_FULL:-}
for command in memory spilled table alone expressions pivot shares json; do
	sweep $command alloc $((full ? 200 : 10))
	for call in open read pread write pwrite close ftruncate rename; do
		sweep $command $call $((full ? 20 : 3))
	done
done
requests READ
requests WRITE

# Killed at any time: the output is the old or the new one.
bad='' early=0
for i in $(seq 1 $((full ? 100 : 8))); do
	cp old place/out
	# shellcheck disable=SC2154 # by name
	{ timeout -s KILL "0.0$((i % 10))$((i * 7 % 10))" "$xgroup" -T tmp -o place/out "${spilled[@]}"; } 2>/dev/null
	cmp -s place/out want.spilled || { cmp -s old place/out && early=$((early + 1)); } || bad+="run $i: the output is neither"$'\n'
	[ "$(ls -A place)" = out ] || bad+="run $i: left $(ls -A place)"$'\n'
done
rm -rf tmp && mkdir tmp
tap_empty "killed: the output is the old one ($early times) or the new one" "$bad"

# A file for each group: those that are there are complete.
# shellcheck disable=SC2016
by=(-S 1M --parallel=2 -k 'substr($1, 1, 2)')
once()
{
	local what='' file

	rm -rf place && mkdir place
	"${wrap[@]}" "$xgroup" -T tmp "${by[@]}" --split='place/%s' in >out 2>err
	status=$?
	for file in place/*; do
		[ ! -e "$file" ] || cmp -s "$file" "groups/${file#place/}" || what+="$file is not complete; "
	done
	case $status in
	0) [ "$(ls place)" = "$(ls groups)" ] || what+='status 0, and files are missing' ;;
	2) grep -q '^xgroup: .' err || what+='no message' ;;
	*) what+="status $status" ;;
	esac
	[ -z "$what" ] || printf '%s: %s\n' "$what" "$(head -c 300 err)"
}
mkdir groups && "$xgroup" "${by[@]}" --split='groups/%s' in || exit 2
for call in alloc open pwrite close link; do
	sweep split $call $((full ? 60 : 6))
done
all_swept
tap_done
