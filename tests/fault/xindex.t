#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# file_tags=slow
#
# Each allocation, each call for a file and each request of xindex fails, one at a time: status 0 and
# the right result, or 2 with one message, and then the old index is there as it was.
# SP_TEST_FULL=1: each request.

# shellcheck source=tests/fault/sweep.bash
. "$(dirname "$0")/sweep.bash" || exit 2
# shellcheck source=tests/fault/begin.bash
. "$(dirname "$0")/begin.bash"
needs_shim

seq 20000 | awk '{ print ($1 * 7919) % 20011, $1 }' >s
seq 0 97 20100 >keys
build=(build -k1n --page-size=512 -S 512K -T tmp s)
lookup=(lookup i --keys=keys -S 512K)
range=(range i --lo 500 --hi 700)
check=(check i)
"$xindex" "${build[@]}" -o i && cp i good && "$xindex" "${lookup[@]}" >want.lookup &&
	"$xindex" "${range[@]}" >want.range && "$xindex" "${check[@]}" >want.check || exit 2

# judge COMMAND: what is wrong with the run that ended with status, if anything is.
judge()
{
	case $status in
	0) [ "$1" = build ] || cmp -s "want.$1" out || echo 'status 0 and a wrong result' ;;
	2)
		messages xindex
		[ "$messages" = 1 ] || echo "not one message"
		;;
	*) echo "status $status" ;;
	esac
	if [ "$1" = build ]; then
		cmp -s i good || echo 'the index is neither old nor new'
		[ "$(find . -name 'i?*')" = '' ] || echo 'a file was left next to it'
	fi
	holds tmp || echo 'left in -T'
}

# once COMMAND ARGUMENT...: says what is wrong.
once()
{
	local command=$1 what
	local -n line=$1

	shift
	if [ "$command" = build ]; then
		"${wrap[@]}" "$xindex" "${line[@]}" "$@" -o i >out 2>err
	else
		"${wrap[@]}" "$xindex" "${line[@]}" "$@" >out 2>err
	fi
	status=$?
	what=$(judge "$command")
	[ -z "$what" ] || printf '%s: %s\n' "$what" "$(head -c 300 err)"
}

# requests COMMAND KIND LEAST ARGUMENT...: requests that fail, one after the other, later ones each seventh.
requests()
{
	local command=$1 kind=$2 least=$3 i=1 bad=''

	shift 3
	while [ $i -lt 60 ]; do
		once "$command" "--engine=fault:SCOPE=PROCESS,KIND=$kind,NTH=$i,ERROR=EIO:$engine" "$@" >wrong
		[ ! -s wrong ] || bad+="request $i: $(cat wrong)"$'\n'
		[ $status = 2 ] || break
		i=$((i + (full || i < 5 ? 1 : 7)))
	done
	[ $i -gt "$least" ] || bad+="only $((i - 1)) requests failed"
	tap_empty "$command: ${kind,,} requests, of the first $((i - 1)), that fail are reported ($engine)" "$bad"
}

wrap=() full=${SP_TEST_FULL:-}
for command in build lookup range check; do
	sweep $command alloc $((full ? 40 : 16))
	for call in open read pread write pwrite close fsync ftruncate rename; do
		sweep $command $call $((full ? 6 : 4))
	done
done
engine=sync
requests build READ 3
requests build WRITE 3
requests lookup READ 50
requests range READ 50
requests lookup READ 50 --direct
engine=sim
requests build WRITE 3 --volume=sim:atlas10k3-like,files=both
requests lookup READ 50 --volume=sim:atlas10k3-like,files=both
requests range READ 3 --volume=sim:atlas10k3-like,files=both
requests check READ 3 --volume=sim:atlas10k3-like,files=both

# A source that lost the nanoseconds of its time is cut while it is compared.
moving()
{
	local i=1 bad='' time

	while :; do
		cp s m && touch -d '2024-05-06 07:08:09.5 UTC' m && "$xindex" build -o j m
		touch -d '2024-05-06 07:08:09 UTC' m
		rm -f hit
		env FAILCALL_CALLS=open FAILCALL_AT=$i FAILCALL_CUT="$work/m" FAILCALL_HIT=hit \
			LD_PRELOAD="$shim" "$xindex" "$@" >/dev/null 2>&1
		[ -e hit ] || break
		time=$("$xindex" stat j | sed -n 's/^source modified: //p')
		case $time in
		'2024-05-06 07:08:09.'[05]00000000' UTC') ;;
		*) bad+="open $i: the index has the time $time"$'\n' ;;
		esac
		i=$((i + 1))
	done
	[ $i -gt 5 ] || bad+="only $((i - 1)) calls"
	tap_empty "$1: an index gets no time of a source that it was not compared with" "$bad"
}
moving check j
moving lookup j 7
all_swept
tap_done
