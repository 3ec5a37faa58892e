#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# file_tags=slow
#
# A sort with --resume is killed at, and fails in, every fifth call that makes data durable, one at a time;
# the same command, perhaps with other -S and --parallel, then makes the right result.  SP_TEST_FULL=1: at
# each call.

in_memory=yes
# shellcheck source=tests/fault/begin.bash
. "$(dirname "$0")/begin.bash"
needs_shim

seq 80000 | awk '{ print ($1 * 7919) % 20011, $1 }' >in
calls='pwrite fsync rename unlink ftruncate'

# again ARGUMENT...: says what is wrong with the sort that continues from d.
again()
{
	"$xsort" --resume=d -o out "$@" in 2>err || echo "status $?: $(head -c 300 err)"
	cmp -s out want || echo 'a wrong result'
	[ ! -e d ] || echo 'd is left'
}

# sweep FIRST SECOND SHIM...: each $step-th call of a sort with the arguments in FIRST; on with SECOND.
# The first call differs from sweep to sweep.
full=${SP_TEST_FULL:-} sweeps=0
step=$((full ? 1 : 11))
sweep()
{
	local -n first=$1 second=$2
	local n=$((1 + sweeps++ % step)) bad=''

	shift 2
	"$xsort" "${first[@]}" in >want
	while rm -rf d out hit && {
		env FAILCALL_HIT=hit FAILCALL_AT=$n FAILCALL_CALLS="$calls" FAILCALL_FD_MIN=3 "$@" \
			LD_PRELOAD="$shim" "$xsort" "${first[@]}" --resume=d -o out in
		[ -e hit ]
	} >/dev/null 2>&1; do
		bad+=$(again "${second[@]}" | sed "s/^/call $n: /")
		n=$((n + step))
	done
	tap_empty "${first[*]}, ${1#FAILCALL_}: on with ${second[*]} after each of many calls" \
		"$bad$([ $n -gt 15 ] || echo "only $n calls")"
}

# shellcheck disable=SC2034 # by name
{
	plain=(-n -S 600K --parallel=1)
	threads=(-n -S 600K --parallel=2)
	more=(-n -S 2M --parallel=3)
	merged=(-s -k1n -S 600K --fan-in=3)
	merged_more=(-s -k1n -S 1M --parallel=1)
	counted=(-k1n -u --count -S 600K)
	packed=(-k1 --spill-compression=lz4 -S 600K)
	unique=(-u '-k1,1' -S 600K --parallel=2)
	top=(-n --limit=3000 -S 600K --parallel=1)
	top_merged=(-k2n --limit=10000 -S 600K --fan-in=2 --run-size=150K --parallel=1)
	top_unique=(-u '-k1,1n' --limit=5000 -S 600K --fan-in=2 --run-size=150K)
	top_counted=(-u --count '-k1,1n' --limit=5000 -S 600K --fan-in=3)
	headed=(--header=2 -n -S 600K)
	csv=(--csv --header -t ' ' -u --count '-k1,1n' -S 600K --fan-in=3)
}
sweep plain more FAILCALL_KILL=1
sweep threads threads FAILCALL_KILL=1
sweep merged merged_more FAILCALL_KILL=1
sweep counted counted FAILCALL_KILL=1
sweep packed packed FAILCALL_KILL=1
sweep unique unique FAILCALL_KILL=1
sweep top top FAILCALL_KILL=1
sweep headed headed FAILCALL_KILL=1
step=$((full ? 9 : 47))
for options in top_merged top_unique top_counted csv; do
	sweep $options $options FAILCALL_KILL=1
done
step=$((full ? 1 : 11))
sweep threads plain FAILCALL_ERRNO=ENOSPC
sweep plain plain FAILCALL_SHORT=1

# done_sort ARGUMENT...: a sort that is killed when its result has its name already.
done_sort()
{
	rm -rf d out
	env FAILCALL_AT=1 FAILCALL_CALLS=unlink FAILCALL_FD_MIN=3 FAILCALL_KILL=1 LD_PRELOAD="$shim" \
		"$xsort" --resume=d "$@" >/dev/null 2>&1
	[ -e d/spindle.journal ] || echo 'not killed'
}

# A result that is complete is that of the same command alone.
bad=$(done_sort -n -S 600K -o out in)
"$xsort" -n in | cmp - out >/dev/null 2>&1 || bad+=' not complete'
"$xsort" -r -S 600K --resume=d -o out in 2>err && bad+=' other keys find it done'
bad+=$("$xsort" -n in >want && again -n -S 600K)
cp in both
bad+=$(done_sort -n -S 600K -o both both)
"$xsort" -n -S 600K --resume=d -o both both || bad+=' in place: not found done'
cmp -s both want || bad+=' in place: a wrong result'
tap_empty 'killed when the result has its name' "$bad"

# Whatever has been done to a file since the kill: the same command again is refused, or gives the
# result of what the inputs are now.
tampers=('echo 0 >>F' 'truncate -s -1000 F' ': >F' 'cp in2 F' 'cp F g && rm F && mv g F' 'touch -d 12:00 F'
	'cp -p F g && tr 1 2 <g >F && touch -r g F' ':')

# tampered FILE SIZE OUT INPUT...: after a kill with the result's name, and each of the above.
tampered()
{
	local file=$1 out=$3 bad='' t before
	local sort=("$xsort" -n -S "$2" --resume=d -o "$3" "${@:4}")

	for t in "${tampers[@]}"; do
		cp in io
		cp in2 other
		bad+=$(done_sort "${sort[@]:1:3}" "${sort[@]:5}")
		eval "${t//F/$file}"
		"$xsort" -n "${@:4}" >want
		[ "$t" != : ] || cp "$out" want
		before=$(cksum io other "$out" 2>&1)
		if "${sort[@]}" 2>err; then
			cmp -s want "$out" || bad+="$t: a wrong result with status 0"$'\n'
			[ ! -e d ] || bad+="$t: d is left"$'\n'
		else
			grep -q ': remove .* to start again$' err || bad+="$t: $(<err)"$'\n'
			[ "$before" = "$(cksum io other "$out" 2>&1)" ] || bad+="$t: a file has changed"$'\n'
			rm -r d
			"${sort[@]}" && cmp -s want "$out" || bad+="$t: no new begin"$'\n'
		fi
	done
	tap_empty "-S $2 -o ${*:3} is done, and then $file is tampered with" "$bad"
}
seq 3000 >in2
tampered io 600K io io
tampered io 100M io io
tampered io 600K io other io
tampered other 600K io other io
tampered out 600K out io
tampered io 600K out io
tampered other 100M out io other

# Killed at every third call, the result over its input, to which a line is then appended.
bad=''
for ((n = 1; ; n += 3)); do
	rm -rf d hit
	cp in io
	{ env FAILCALL_HIT=hit FAILCALL_AT=$n FAILCALL_CALLS="$calls" FAILCALL_FD_MIN=3 FAILCALL_KILL=1 \
		LD_PRELOAD="$shim" "$xsort" -n -S 600K --resume=d -o io io; } >/dev/null 2>&1
	[ -e hit ] || break
	[ $((n % 2)) = 0 ] || echo 0 >>io
	"$xsort" -n io >want
	"$xsort" -n -S 600K --resume=d -o io io 2>err ||
		{ rm -r d && "$xsort" -n -S 600K --resume=d -o io io 2>>err; } || bad+="call $n: $(<err)"
	cmp -s io want || bad+="call $n: a wrong result"
done
tap_empty "killed at every third of $n calls, and the input appended to" "$bad"
tap_done
