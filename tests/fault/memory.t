#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# file_tags=slow
#
# Allocations fail, one at a time: "memory exhausted" and status 2,
# or the sort does without; never a crash.  SP_TEST_FULL=1: five times as many.

# shellcheck source=tests/fault/lib.bash
. "$(dirname "$0")/lib.bash"

needs_shim
locale=$(cd "$OLDPWD" && realpath build/locale 2>/dev/null)

"$xgen" lines --words=3 --seed=4 --bytes=1M -o in || exit 2
head -n 300 in >few
head -c 200K in >few-more
"$xsort" few >sorted || exit 2

locale_env=(env)
steps=3
[ -z "${SP_TEST_FULL:-}" ] || steps=16

# sweep NAME ARGUMENT...: each allocation fails.
sweep()
{
	local name=$1 n i bad='' what runs=0 reported=0

	shift
	expect want "$@"
	"${locale_env[@]}" "$xsort" "$@" >want-locale || exit 2
	rm -f count
	wrap=("${locale_env[@]}" FAILCALL_COUNT="$work/count" FAILCALL_CALLS=alloc LD_PRELOAD="$shim")
	run "$@"
	n=$(tail -n 1 count 2>/dev/null || echo 0)
	rm -f count
	"${wrap[@]}" "$xsort" --version >version
	loading=$(tail -n 1 count 2>/dev/null || echo 0)
	rm -f count
	"${wrap[@]}" LC_ALL=C "$xsort" --version >version
	loading=$((loading - $(tail -n 1 count 2>/dev/null || echo 0)))
	# Of what loading the locale takes a few will do.
	for i in $(steps "$loading" 3) $(steps $((n - loading)) "$steps" | awk -v n="$loading" '{ print $1 + n }'); do
		wrap=("${locale_env[@]}" FAILCALL_AT="$i" FAILCALL_CALLS=alloc LD_PRELOAD="$shim")
		run "$@"
		runs=$((runs + 1)) reported=$((reported + (status == 2)))
		[ "$status" != 2 ] || grep -Eq 'memory (exhausted|allocation failed)|[Cc]annot allocate memory' err ||
			bad+="allocation $i: $(cat err)"$'\n'
		# If the locale cannot be loaded, GNU sort uses C.
		cmp -s place/out want-locale && cp want place/out
		what=$(judge want)
		[ -z "$what" ] || bad+="allocation $i of $n: $what"$'\n'
	done
	wrap=()
	[ "$reported" -gt 0 ] || bad+='no fault had any effect'
	tap_empty "$name: refused memory is reported ($reported of $runs), or not needed" "$bad"
}
sweep 'a small sort' few
sweep 'numbers, keys, unique' -k2,2n -k1,1 -u few
awk '{ printf "{\"k\":\"%d\\t\",\"n\":[%d]}\n", NR % 7, NR }' few >few.json
sweep 'lines of JSON' --json -k .k -k .n:r few.json
sweep 'through temporary space' -S 512K in
sweep 'through temporary space, compressed' -S 512K --spill-compression=zstd in
sweep 'in the order of the input' -u --keep-order -S 512K in
gzip -k in
sweep 'in the order of the input, kept' -u --keep-order -S 512K --decompress in.gz
sweep 'in the order of the input, sorted' -u --keep-order -S 512K in in
# Less would stay in memory.
small=(-S 512K --run-size=32K --page-size=4K)
sweep 'on a simulated machine' "${small[@]}" --volume=sim:linear,cache=64K,fs=group,files=both few-more
sweep 'placed by tracks' "${small[@]}" --volume=sim:tiny --placement=semiseq few-more
sweep 'on mirrored pairs' "${small[@]}" --volume=sim:atlas10k3-like,array=raid10:4 few-more
sweep 'merging' -m sorted sorted sorted
if [ -n "$locale" ] && [ -e "$locale/en_US.UTF-8" ]; then
	locale_env=(env LOCPATH="$locale" LC_ALL=en_US.UTF-8)
	sweep 'in a locale' -k2 few
	sweep 'in a locale, through temporary space' -S 512K in
else
	tap_skip 'in a locale' 'needs the locale en_US.UTF-8 in build/locale'
fi

bad='' reported=0
for i in $(seq 40); do
	FAILCALL_AT=$i FAILCALL_CALLS=alloc LD_PRELOAD=$shim "$xsort" -c few >out 2>err
	status=$?
	case $status in
	1) grep -q disorder err || bad+="allocation $i: $(cat err)"$'\n' ;;
	2) reported=$((reported + 1)); grep -q '[Mm]emory' err || bad+="allocation $i: $(cat err)"$'\n' ;;
	*) bad+="allocation $i: status $status"$'\n' ;;
	esac
done
[ "$reported" -gt 0 ] || bad+='no fault had any effect'
tap_empty 'checking: refused memory is reported, or not needed' "$bad"
tap_done
