#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Tables of groups of several threads, and the sort that combines them.

# shellcheck source=tests/delay/lib.bash
. "$(dirname "$0")/lib.bash"

seq 60000 | awk '{ print ($1 * 7919) % 997, $1 % 100 / 4, ($1 * 31) % 10007 }' >in
few=(-k 1 --agg 'count(), sum(2), median(3), last(3)')
many=(-k 3 -k 1 --agg 'count(), sum(2)' --order=first)
"$xgroup" --parallel=1 "${few[@]}" in >want-few
"$xgroup" --parallel=1 "${many[@]}" in >want-many

# In memory, and spilled.
few()
{
	"$xgroup" -S "$((1 + $1 % 2 * 63))M" -T tmp --parallel="${threads[$1 % 3]}" "${few[@]}" in >out 2>err
	same want-few $?
}
many()
{
	"$xgroup" -S "$((1 + $1 % 2))M" -T tmp --parallel="${threads[$1 % 3]}" "${many[@]}" in >out 2>err
	same want-many $?
}

tap "the groups are those of awk" cmp <(cut -d' ' -f1,2 want-few) \
	<(awk '{ n[$1]++ } END { for (k in n) print k, n[k] }' in | sort)
seeds few
seeds many
tap_done
