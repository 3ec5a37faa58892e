#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The parts of a final merge that keep one record of each group, and threads that number records.

# shellcheck source=tests/delay/lib.bash
. "$(dirname "$0")/lib.bash"

"$xgen" records --seed=7 --bytes=9M >many
# The first quarter comes again, in other runs.
{ cat many && head -c 2250000 many; } >again
sort -u again >want-unique
sort again | uniq -c >want-counted
awk '!seen[$0]++' again >want-kept

unique()
{
	"$xsort" -u -S 16M --run-size=512K -T tmp --parallel="${threads[$1 % 3]}" again >out 2>err
	same want-unique $?
}

counted()
{
	"$xsort" -u --count -S 16M --run-size=512K -T tmp --parallel="${threads[$1 % 3]}" again >out 2>err
	same want-counted $?
}

kept()
{
	"$xsort" -u --keep-order -S 2M -T tmp --parallel="${threads[$1 % 3]}" again >out 2>err
	same want-kept $?
}

# Few lines come again.
{ cat many && head -c 9000 many; } >rarely
awk '!seen[$0]++' rarely >want-rarely

rarely()
{
	if [ $(($1 % 2)) = 0 ]; then
		"$xsort" -u --keep-order -S 2M -T tmp --parallel="${threads[$1 % 3]}" rarely >out 2>err
	else
		"$xsort" -u --keep-order -S 2M -T tmp --parallel="${threads[$1 % 3]}" < <(cat rarely) >out 2>err
	fi
	same want-rarely $?
}

seeds unique
seeds counted
seeds kept
seeds rarely
tap_done
