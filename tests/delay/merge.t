#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The branches of a final merge, to its end and to a reader that goes away.

# shellcheck source=tests/delay/lib.bash
. "$(dirname "$0")/lib.bash"

"$xgen" records --seed=7 --bytes=9M >many
sort many >want

merged() { from many "$1" "$xsort" -S 16M --run-size=512K -T tmp --parallel="${threads[$1 % 3]}" 2>err; }

a_merge()
{
	merged "$1" >out
	same want $?
}

an_abandoned_merge()
{
	local lines=$(($1 * 13 % 9000))

	merged "$1" | head -n $lines >out
	head -n $lines want >some
	same some 0
}

seeds a_merge
seeds an_abandoned_merge
tap_done
