#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# file_tags=slow
#
# Each allocation and each call for a file fails, one at a time: a plan of scans, filter,
# sorts and a merge join says so, or does without and is right.

# shellcheck source=tests/fault/begin.bash
. "$(dirname "$0")/begin.bash"
needs_shim
program=$build/examples/07-join-two-files

"$xgen" --scale=0.005 -o orders orders || exit 2
"$xgen" --scale=0.005 -o lineitem lineitem || exit 2
"$program" orders lineitem >want || exit 2

# One run with call number $1 of the kind $2 failing; what is wrong with it.
judge() # NUMBER CALLS
{
	local status

	timeout 60 env FAILCALL_AT="$1" FAILCALL_CALLS="$2" FAILCALL_FD_MIN=3 LD_PRELOAD="$shim" \
		"$program" orders lineitem >out 2>err
	status=$?
	if [ "$status" = 0 ]; then
		cmp -s out want || echo "call $1: the result is wrong"
	elif [ "$status" != 1 ] || [ "$(wc -l <err)" != 1 ]; then
		echo "call $1: status $status, $(cat err)"
	elif ! cmp -s out <(head -c "$(stat -c %s out)" want); then
		echo "call $1: rows before the error are wrong"
	else
		reported=$((reported + 1))
	fi
}

sweep() # NAME CALLS
{
	local n step bad i

	rm -f count wrong
	FAILCALL_COUNT=$work/count FAILCALL_CALLS=$2 FAILCALL_FD_MIN=3 LD_PRELOAD=$shim \
		"$program" orders lineitem >out || exit 2
	n=$(tail -n 1 count) step=$((n / 100 + 1)) reported=0
	for ((i = 1; i <= n; i += step)); do
		judge "$i" "$2" >>wrong
	done
	bad=$(cat wrong)
	[ "$reported" -gt 0 ] || bad+='no fault had any effect'
	tap_empty "$1" "$bad"
}

sweep 'memory refused to a plan' alloc
sweep 'files refused to a plan' io
tap_done
