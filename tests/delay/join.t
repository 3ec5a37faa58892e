#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Joins that spill, and those that sort their result.

# shellcheck source=tests/delay/lib.bash
. "$(dirname "$0")/lib.bash"

"$xgen" orders --seed=1 --scale=0.004 -o orders || exit 2
"$xgen" lineitem --seed=1 --scale=0.004 -o lineitem || exit 2
sort -t'|' -k1,1 lineitem >l && sort -t'|' -k1,1 orders >o && join -t'|' l o | sort >want || exit 2
orders=('' --ordered=1 --ordered=2)
# In some megabytes several threads probe.
memory=('-S 1M' '-S 12M' '-S 12M --join-memory=256K' '-S 12M --join-memory=512K')

a_join()
{
	local rc

	# shellcheck disable=SC2086 # words
	from lineitem "$1" "$xjoin" ${memory[$1 % 4]} -T tmp -t'|' --parallel="${threads[$1 % 3]}" \
		${orders[$1 / 3 % 3]:+"${orders[$1 / 3 % 3]}"} - orders >unsorted 2>err
	rc=$?
	sort unsorted >out
	same want $rc
}

seeds a_join
tap_done
